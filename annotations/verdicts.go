package annotations

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/runs"
)

// The kinds of questions about support, see [VerdictKey.Question].
const (
	ClaimSupport    = "claim support"
	CitationSupport = "citation support"

	ElsewhereSupport = "support elsewhere" // of a claim that cites nothing
)

// A VerdictKey names one question that a judge was asked: about a claim, about a
// citation, or about the pair of both. What it is not about is "".
type VerdictKey struct {
	ID, System      string
	Kind            string // as in [ibid.Label]
	Claim, Citation string
}

// Name names the question for people.
func (k VerdictKey) Name() string {
	name := k.ID + "/" + k.System
	if k.Claim != "" {
		name += " claim " + k.Claim
	}
	if k.Citation != "" {
		name += " citation " + k.Citation
	}
	return name + " " + k.Kind
}

// Question names the kind of question, in which support of a claim and support of
// a citation are two.
func (k VerdictKey) Question() string {
	switch {
	case k.Kind != ibid.SupportLabel:
		return k.Kind
	case k.Citation != "":
		return CitationSupport
	}
	return ClaimSupport
}

// Verdicts are a judge's answers: a degree of support in [0, 1], or yes (1) and
// no (0).
type Verdicts map[VerdictKey]float64

// ReadVerdicts reads what the judge of a finished run said of the questions that wants is true
// of. Claims and citations without an id are named by their position, from 0.
func ReadVerdicts(dir string, wants func(*VerdictKey) bool) (Verdicts, error) {
	v := make(Verdicts)
	add := func(key VerdictKey, kind string, answer *float64) {
		if key.Kind = kind; answer != nil && wants(&key) {
			v[key] = *answer
		}
	}
	err := runs.Claims.Scan(dir, []string{"id", "system", "claim", "claim_id", "support", "factual", "needs_citation"},
		func(_ int64, c *runs.Claim) error {
			key := VerdictKey{ID: c.ID, System: c.System, Claim: nameOf(c.ClaimID, c.Number)}
			add(key, ibid.SupportLabel, c.Support)
			add(key, ibid.FactualLabel, yesOrNo(c.Factual))
			add(key, ibid.NeedsCitationLabel, yesOrNo(c.NeedsCitation))
			return nil
		})
	if err == nil {
		err = runs.Citations.Scan(dir, []string{"id", "system", "citation", "citation_id", "support", "relevant"},
			func(_ int64, c *runs.Citation) error {
				key := VerdictKey{ID: c.ID, System: c.System, Citation: nameOf(c.CitationID, c.Number)}
				add(key, ibid.SupportLabel, c.Support)
				add(key, ibid.RelevantLabel, yesOrNo(c.Relevant))
				return nil
			})
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the run has no judge
	}
	return v, err
}

// An Overlap is how much of a claim stands in what it cites, and whether all of it does, word for
// word.
type Overlap struct {
	Share  float64
	Stands bool
}

// ByOverlap is between what a judge that compares words says of a claim, in the column why, and
// the threshold that decided.
const ByOverlap = "; overlap "

// ReadOverlaps reads what a judge that compares words saw of claims.
func ReadOverlaps(dir string) (map[VerdictKey]Overlap, error) {
	out := make(map[VerdictKey]Overlap)
	return out, runs.Verdicts.Scan(dir, []string{"id", "system", "claim", "claim_id", "evidence", "support", "overlap", "why"}, func(_ int64, v *runs.Judgment) error {
		if v.Evidence == runs.JointEvidence && v.Overlap != nil && v.Claim != nil {
			out[VerdictKey{ID: v.ID, System: v.System, Kind: ibid.SupportLabel, Claim: nameOf(v.ClaimID, *v.Claim)}] = Overlap{
				*v.Overlap, v.Support != nil && !strings.Contains(v.Why, ByOverlap),
			}
		}
		return nil
	})
}

// yesOrNo is 1 or 0, nil if nobody said.
func yesOrNo(answer *bool) *float64 {
	switch {
	case answer == nil:
		return nil
	case *answer:
		return new(1.0)
	}
	return new(0.0)
}

// Cited is what questions are about. Their keys have no kind.
type Cited struct {
	Documents map[VerdictKey]string   // the first of each that cites some
	Elsewhere map[VerdictKey]*float64 // of claims that cite nothing: their support elsewhere, nil if nobody said
}

// AddPairs adds what the run in dir says of the pairs of a citation and the one
// claim that cites it, which is what it says of the citation. Of other pairs a run
// does not keep what the judge said. It returns what is cited.
func (v Verdicts) AddPairs(dir string) (*Cited, error) {
	type place struct {
		id, system string
		claim      int32
	}
	claims := make(map[place]string)
	out := &Cited{Documents: make(map[VerdictKey]string), Elsewhere: make(map[VerdictKey]*float64)}
	err := runs.Claims.Scan(dir, []string{"id", "system", "claim", "claim_id", "citations", "elsewhere_support"}, func(_ int64, c *runs.Claim) error {
		name := nameOf(c.ClaimID, c.Number)
		claims[place{c.ID, c.System, c.Number}] = name
		if len(c.Citations) == 0 {
			key := VerdictKey{ID: c.ID, System: c.System, Claim: name}
			if out.Elsewhere[key] = nil; c.Elsewhere != nil {
				out.Elsewhere[key] = c.Elsewhere.Support
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	documents := out.Documents
	return out, runs.Citations.Scan(dir, []string{"id", "system", "citation", "citation_id", "doc", "claims"}, func(_ int64, c *runs.Citation) error {
		key := VerdictKey{ID: c.ID, System: c.System, Citation: nameOf(c.CitationID, c.Number)}
		documents[key] = c.Doc
		for _, claim := range c.Claims {
			of := VerdictKey{ID: c.ID, System: c.System, Claim: claims[place{c.ID, c.System, claim}]}
			if documents[of] == "" {
				documents[of] = c.Doc
			}
			of.Citation = key.Citation
			documents[of] = c.Doc
		}
		if len(c.Claims) != 1 {
			return nil
		}
		for _, kind := range []string{ibid.SupportLabel, ibid.RelevantLabel} {
			key.Kind, key.Claim = kind, ""
			if score, ok := v[key]; ok {
				key.Claim = claims[place{c.ID, c.System, c.Claims[0]}]
				v[key] = score
			}
		}
		return nil
	})
}

// nameOf is an id, or else the position.
func nameOf(id string, position int32) string {
	if id == "" {
		return strconv.Itoa(int(position))
	}
	return id
}
