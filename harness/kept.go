package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ibid"
	"ibid/dataset/runs"
	"ibid/judge"
)

// keptVerdicts are those of another run, or of another program. It is the judge of a run
// that is made from them: it asks nobody.
type keptVerdicts struct {
	info  judge.Info
	file  string            // that a run with judge: recorded names; "" if the run is made from another
	told  map[string][]told // of another program, by rows as id/system; nil if it has the columns of a run
	table *runs.Table[runs.Judgment]
	dir   string
	first map[string]int64 // of each row, as id/system: its first verdict
	sizes map[string]int64 // how many verdicts a row has
	ends  []int64          // of each row group of the file
	// excerpts says that the texts at hand are those that a run kept: what was found in all
	// of them is taken from the verdicts.
	excerpts bool
	apart    bool // the verdicts on some row do not stand together in one row group
	// elsewhere: a verdict is on what a claim does not cite. In the columns of a run, where
	// each claim has a line for it, only one with a support counts.
	elsewhere bool

	mu    sync.Mutex
	parts []keptPart // that were read last
}

// A keptPart is one row group.
type keptPart struct {
	begin int64
	rows  []runs.Judgment
}

// keptParts is how many row groups are kept: workers read them in order, side by
// side.
const keptParts = 16

// openKept opens a table of verdicts in dir.
func openKept(table *runs.Table[runs.Judgment], dir string, info judge.Info) (*keptVerdicts, error) {
	v := &keptVerdicts{info: info, table: table, dir: dir, first: make(map[string]int64), sizes: make(map[string]int64)}
	f, err := runs.OpenFrame(filepath.Join(dir, table.File))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = f.Each(func(b *runs.Block) error {
		v.ends = append(v.ends, b.First+int64(b.Len()))
		return nil
	})
	if err != nil {
		return nil, err
	}
	last := ""
	return v, table.Scan(dir, []string{"id", "system", "evidence", "support"}, func(at int64, r *runs.Judgment) error {
		row := r.ID + "/" + r.System
		v.elsewhere = v.elsewhere || r.Evidence == runs.ElsewhereEvidence && r.Support != nil
		v.sizes[row]++
		_, known := v.first[row]
		if !known {
			v.first[row] = at
		} else if row != last || slices.Contains(v.ends, at) {
			v.apart = true
		}
		last = row
		return nil
	})
}

// Info is that of the judge of the other run.
func (v *keptVerdicts) Info() judge.Info { return v.info }

// suspected is what looked written for the judge in the row.
func (v *keptVerdicts) suspected(row string) []string {
	all, err := v.of(row)
	if err != nil {
		return nil // verdict says so
	}
	for i := range all {
		if len(all[i].Suspected) > 0 {
			return slices.Clone(all[i].Suspected)
		}
	}
	return nil
}

// has reports whether there is a verdict on a row.
func (v *keptVerdicts) has(row string) bool {
	_, known := v.first[row]
	return known || len(v.told[row]) > 0
}

// counts are how many verdicts there are on each row.
func (v *keptVerdicts) counts() map[string]int64 {
	if v.told == nil {
		return v.sizes
	}
	out := make(map[string]int64, len(v.told))
	for row, all := range v.told {
		out[row] = int64(len(all))
	}
	return out
}

// of returns the verdicts on a row: what counts, then the votes.
func (v *keptVerdicts) of(row string) ([]runs.Judgment, error) {
	at, known := v.first[row]
	if !known {
		return nil, nil
	}
	part, err := v.part(at)
	if err != nil {
		return nil, err
	}
	all := part.rows[at-part.begin:]
	var out []runs.Judgment
	for i := range all {
		r := &all[i]
		if r.ID+"/"+r.System != row {
			break
		}
		if r.Annotator == nil {
			out = append(out, *r)
		}
	}
	return out, nil
}

// part is the row group that holds a verdict.
func (v *keptVerdicts) part(at int64) (keptPart, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	g, _ := slices.BinarySearch(v.ends, at+1)
	p := keptPart{}
	if g > 0 {
		p.begin = v.ends[g-1]
	}
	if i := slices.IndexFunc(v.parts, func(o keptPart) bool { return o.begin == p.begin }); i >= 0 {
		return v.parts[i], nil
	}
	all := make([]int64, v.ends[g]-p.begin)
	for i := range all {
		all[i] = p.begin + int64(i)
	}
	err := v.table.ScanSome(v.dir, nil, all, func(_ int64, r *runs.Judgment) error {
		p.rows = append(p.rows, *r)
		return nil
	})
	if err != nil {
		return keptPart{}, err
	}
	if len(v.parts) == keptParts {
		v.parts = v.parts[1:]
	}
	v.parts = append(v.parts, p)
	return p, nil
}

// split returns the claims that a model made of the sentences of a row in the other run,
// nil if it made none.
func (v *keptVerdicts) split(row string, sentences int) ([][]string, error) {
	all, err := v.of(row)
	if err != nil {
		return nil, err
	}
	var out [][]string
	for i := range all {
		sentence, _, made := strings.Cut(all[i].ClaimID, ".")
		k, err := strconv.Atoi(sentence)
		if !made || err != nil || k < 0 || k >= sentences || all[i].Evidence != runs.ClaimEvidence || all[i].Vote != nil {
			continue
		}
		if out == nil {
			out = make([][]string, sentences)
		}
		out[k] = append(out[k], all[i].ClaimText)
	}
	return out, nil
}

// Judge returns the verdict that the other run has on the row.
func (v *keptVerdicts) Judge(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if v.file == "" {
		return v.verdict(r, runs.VerdictsFile)
	}
	out, err := v.verdict(r, v.file)
	if _, failed := errors.AsType[*judge.RowFailure](err); err != nil && !failed {
		err = &judge.RowFailure{Row: r.Row, Reason: judge.BadVerdict, Err: err}
	}
	return out, err
}

// verdict puts together what file has of the row of a request.
func (v *keptVerdicts) verdict(r *judge.Request, file string) (*judge.Verdict, error) {
	all, err := v.of(r.Row)
	if v.told != nil {
		all, err = matched(v.told[r.Row], r)
	}
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &judge.RowFailure{Row: r.Row, Reason: judge.NoReply, Err: fmt.Errorf("%s has no verdict on it", cmp.Or(v.file, "the run"))}
	}
	out := &judge.Verdict{Claims: unjudged(len(r.Claims))}
	for i := range all {
		s := &all[i]
		if s.Unscored != "" {
			failure := &judge.RowFailure{Row: r.Row, Reason: judge.Reason(s.Unscored)}
			if s.Why != "" {
				failure.Err = errors.New(s.Why)
			}
			return nil, failure
		}
		if s.Claim == nil || int(*s.Claim) >= len(r.Claims) {
			return nil, fmt.Errorf("row %s: %s has a verdict on claim %v of %d", r.Row, file, s.Claim, len(r.Claims))
		}
		to := out.Claims
		if s.Vote != nil {
			to = opinionIn(out, s.Model, int(*s.Vote))
		} else if s.Tampering != "" && s.Tampering != ibid.TamperingSuspected { // which is looked for anew
			out.Tampering = s.Tampering
		}
		if err := restore(s, r, to); err != nil {
			return nil, fmt.Errorf("row %s: %s: %w", r.Row, file, err)
		}
	}
	if v.told != nil {
		completeTold(out, r, all)
	}
	return out, nil
}

// unjudged are verdicts that say nothing of n claims.
func unjudged(n int) []judge.ClaimVerdict {
	out := make([]judge.ClaimVerdict, n)
	for c := range out {
		out[c].ElsewhereEvidence = -1
	}
	return out
}

// opinionIn is the opinion of that vote of a model, added to those of v if it is new.
func opinionIn(v *judge.Verdict, model string, vote int) []judge.ClaimVerdict {
	for i := range v.Opinions {
		if o := &v.Opinions[i]; o.Model == model && o.Vote == vote {
			return o.Claims
		}
	}
	v.Opinions = append(v.Opinions, judge.Opinion{Model: model, Vote: vote, Claims: unjudged(len(v.Claims))})
	return v.Opinions[len(v.Opinions)-1].Claims
}

// restore puts one recorded verdict into those on the claims of its row.
func restore(s *runs.Judgment, r *judge.Request, all []judge.ClaimVerdict) error {
	v := &all[*s.Claim]
	if s.Evidence == runs.ClaimEvidence && s.ClaimText != r.Claims[*s.Claim].Text {
		return fmt.Errorf("claim %d is %q, in the data it is %q", *s.Claim, s.ClaimText, r.Claims[*s.Claim].Text)
	}
	support, err := supportOf(s)
	if err != nil {
		return err
	}
	switch s.Evidence {
	case runs.ClaimEvidence:
		v.Factual, v.NeedsCitation, v.Precheck = triOf(s.Factual), triOf(s.NeedsCitation), s.Settled
		if s.Sufficient != nil {
			v.Sufficient = make([][]int, 0, len(s.Sufficient))
		}
		for _, set := range s.Sufficient {
			var evidence []int
			for name := range strings.SplitSeq(set, "+") {
				e := slices.IndexFunc(r.Evidence, func(e judge.Evidence) bool { return strconv.Itoa(e.Citation) == name })
				if e < 0 {
					return fmt.Errorf("sufficient %q: there is no such evidence", set)
				}
				evidence = append(evidence, e)
			}
			v.Sufficient = append(v.Sufficient, evidence)
		}
	case runs.JointEvidence:
		v.Joint, v.JointWhy = support, s.Why
		v.Contradicted = triOf(s.Contradicted)
		if s.Votes != nil {
			v.Votes = int(*s.Votes)
		}
	case runs.ElsewhereEvidence:
		v.Elsewhere, v.ElsewhereQuote, v.ElsewhereAligned = support, s.Quote, s.Aligned
		if s.Start != nil && s.End != nil {
			v.ElsewherePlace = &judge.Place{Doc: s.Doc, Start: int32(*s.Start), End: int32(*s.End)}
			if s.Page != nil {
				v.ElsewherePlace.Page = *s.Page
			}
		}
	default:
		number, isCitation := strings.CutPrefix(s.Evidence, runs.CitationEvidence)
		citation, err := strconv.Atoi(number)
		if !isCitation || err != nil || !slices.Contains(r.Claims[*s.Claim].Citations, int32(citation)) {
			return fmt.Errorf("evidence %q of claim %d: there is none", s.Evidence, *s.Claim)
		}
		check := judge.Check{
			Evidence: slices.IndexFunc(r.Evidence, func(e judge.Evidence) bool { return e.Citation == citation }), Citation: citation,
			Support: support, Relevant: triOf(s.Relevant), Quote: s.Quote, Aligned: s.Aligned, Why: s.Why, Precheck: s.Settled,
		}
		if s.QuoteStart != nil && s.QuoteEnd != nil {
			check.QuoteAt = judge.Interval{Start: int32(*s.QuoteStart), End: int32(*s.QuoteEnd)}
		}
		v.Checks = append(v.Checks, check)
	}
	return nil
}

// supportOf is the support of a recorded verdict.
func supportOf(s *runs.Judgment) (ibid.Support, error) {
	var out ibid.Support
	if s.Label == ibid.Undecided.String() {
		return ibid.Undecidable(), nil
	}
	if s.Support != nil {
		out = ibid.Scored(*s.Support)
	}
	if s.Label != "" {
		degree, err := ibid.ParseDegree(s.Label)
		if err != nil {
			return out, err
		}
		out.Degree = degree
	}
	return out, nil
}

func triOf(b *bool) ibid.Tri {
	if b == nil {
		return ibid.Unset
	}
	return ibid.TriOf(*b)
}
