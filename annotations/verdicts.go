package annotations

import (
	"errors"
	"io/fs"
	"strconv"

	"ibid"
	"ibid/dataset/runs"
)

// The kinds of questions about support, see [VerdictKey.Question].
const (
	ClaimSupport    = "claim support"
	CitationSupport = "citation support"
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

// ReadVerdicts reads what the judge of a finished run said. Claims and citations
// without an id are named by their position, from 0.
func ReadVerdicts(dir string) (Verdicts, error) {
	return FindVerdicts(dir, func(*VerdictKey) bool { return true })
}

// FindVerdicts reads those verdicts of [ReadVerdicts] that wants is true of.
func FindVerdicts(dir string, wants func(*VerdictKey) bool) (Verdicts, error) {
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

// ReadOverlaps reads how much of each claim stands in what it cites, of a judge that compares
// words.
func ReadOverlaps(dir string) (Verdicts, error) {
	out := make(Verdicts)
	return out, runs.Verdicts.Scan(dir, []string{"id", "system", "claim", "claim_id", "evidence", "overlap"}, func(_ int64, v *runs.Judgment) error {
		if v.Evidence == runs.JointEvidence && v.Overlap != nil && v.Claim != nil {
			out[VerdictKey{ID: v.ID, System: v.System, Kind: ibid.SupportLabel, Claim: nameOf(v.ClaimID, *v.Claim)}] = *v.Overlap
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

// AddPairs adds what the run in dir says of the pairs of a citation and the one
// claim that cites it, which is what it says of the citation. Of other pairs a run
// does not keep what the judge said. It returns the first document of each question, if
// there is one; their keys have no kind.
func (v Verdicts) AddPairs(dir string) (documents map[VerdictKey]string, err error) {
	type place struct {
		id, system string
		claim      int32
	}
	claims := make(map[place]string)
	err = runs.Claims.Scan(dir, []string{"id", "system", "claim", "claim_id"}, func(_ int64, c *runs.Claim) error {
		claims[place{c.ID, c.System, c.Number}] = nameOf(c.ClaimID, c.Number)
		return nil
	})
	if err != nil {
		return nil, err
	}
	documents = make(map[VerdictKey]string)
	return documents, runs.Citations.Scan(dir, []string{"id", "system", "citation", "citation_id", "doc", "claims"}, func(_ int64, c *runs.Citation) error {
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
