package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	rows  map[string]int64 // of each row, as id/system: its position in that run
	sizes map[string]int64 // how many verdicts a row has
	// excerpts says that the texts at hand are those that a run kept: what was found in all
	// of them is taken from the verdicts.
	excerpts bool
	// elsewhere: a verdict is on what a claim does not cite. In the columns of a run, where
	// each claim has a line for it, only one with a support counts.
	elsewhere bool
}

// openKept opens a table of verdicts in dir.
func openKept(table *runs.Table[runs.Judgment], dir string, info judge.Info) (*keptVerdicts, error) {
	v := &keptVerdicts{info: info, table: table, dir: dir, rows: make(map[string]int64), sizes: make(map[string]int64)}
	return v, table.Scan(dir, []string{"id", "system", "row", "evidence", "support"}, func(_ int64, r *runs.Judgment) error {
		row := r.ID + "/" + r.System
		v.elsewhere = v.elsewhere || r.Evidence == runs.ElsewhereEvidence && r.Support != nil
		v.rows[row], v.sizes[row] = r.Row, v.sizes[row]+1
		return nil
	})
}

// read reads the verdicts on some rows, as id/system: of each what counts, then the votes.
// Those of another program are at hand.
func (v *keptVerdicts) read(rows []string) (map[string][]runs.Judgment, error) {
	var positions []int64
	of := make(map[string][]runs.Judgment)
	for _, row := range rows {
		if at, known := v.rows[row]; known {
			of[row], positions = nil, append(positions, at)
		}
	}
	if len(positions) == 0 {
		return nil, nil
	}
	slices.Sort(positions)
	return of, v.table.ScanOf(v.dir, nil, slices.Compact(positions), func(_ int64, r *runs.Judgment) error {
		row := r.ID + "/" + r.System
		if _, asked := of[row]; asked && r.Annotator == nil {
			of[row] = append(of[row], *r)
		}
		return nil
	})
}

// Info is that of the judge of the other run.
func (v *keptVerdicts) Info() judge.Info { return v.info }

// suspectedIn is what verdicts say looked written for the judge in their row.
func suspectedIn(all []runs.Judgment) []string {
	for i := range all {
		if len(all[i].Suspected) > 0 {
			return all[i].Suspected
		}
	}
	return nil
}

// has reports whether there is a verdict on a row.
func (v *keptVerdicts) has(row string) bool {
	return v.sizes[row] > 0 || len(v.told[row]) > 0
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

// splitIn are the claims that a model made of the sentences of a row in the other run, as
// its verdicts say, nil if it made none.
func splitIn(all []runs.Judgment, sentences int) (out [][]string) {
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
	return out
}

// Judge reads the verdict on one row, see [keptVerdicts.verdict].
func (v *keptVerdicts) Judge(_ context.Context, r *judge.Request) (*judge.Verdict, error) {
	all, err := v.read([]string{r.Row})
	if err != nil {
		return nil, err
	}
	return v.verdict(r, all[r.Row])
}

// verdict returns the verdict on the row of a request, all being those of it that were read.
// What is wrong with a line of a file is a failure of its row.
func (v *keptVerdicts) verdict(r *judge.Request, all []runs.Judgment) (*judge.Verdict, error) {
	out, err := v.assemble(r, all, cmp.Or(v.file, runs.VerdictsFile))
	if _, failed := errors.AsType[*judge.RowFailure](err); err != nil && !failed && v.file != "" {
		err = &judge.RowFailure{Row: r.Row, Reason: judge.BadVerdict, Err: err}
	}
	return out, err
}

// assemble puts together what file has of the row of a request.
func (v *keptVerdicts) assemble(r *judge.Request, all []runs.Judgment, file string) (*judge.Verdict, error) {
	if v.told != nil {
		var err error
		if all, err = matched(v.told[r.Row], r); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, &judge.RowFailure{Row: r.Row, Reason: judge.NoReply, Err: fmt.Errorf("%s has no verdict on it", cmp.Or(v.file, "the run"))}
	}
	if !slices.ContainsFunc(all, func(s runs.Judgment) bool { return s.Unscored == "" }) {
		failure := &judge.RowFailure{Row: r.Row, Reason: judge.Reason(all[0].Unscored)}
		if all[0].Why != "" {
			failure.Err = errors.New(all[0].Why)
		}
		return nil, failure
	}
	out := judge.NewVerdict(len(r.Claims))
	for i := range all {
		s := &all[i]
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

// opinionIn is the opinion of that vote of a model, added to those of v if it is new.
func opinionIn(v *judge.Verdict, model string, vote int) []judge.ClaimVerdict {
	for i := range v.Opinions {
		if o := &v.Opinions[i]; o.Model == model && o.Vote == vote {
			return o.Claims
		}
	}
	claims := judge.NewVerdict(len(v.Claims)).Claims
	v.Opinions = append(v.Opinions, judge.Opinion{Model: model, Vote: vote, Claims: claims})
	return claims
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
	if s.Unscored != "" {
		absent := v.Absent
		*v = judge.UnscoredClaim(judge.Reason(s.Unscored), s.Why)
		v.Absent = absent + int(orZero(s.Absent))
		return nil
	}
	var overlap ibid.Number
	if s.Overlap != nil {
		overlap = ibid.Some(*s.Overlap)
	}
	switch s.Evidence {
	case runs.ClaimEvidence:
		v.Factual, v.NeedsCitation, v.Precheck = triOf(s.Factual), triOf(s.NeedsCitation), s.Settled
		v.Surplus = int(orZero(s.Surplus))
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
		v.Joint, v.JointWhy, v.Overlap = support, s.Why, overlap
		v.Contradicted, v.Absent = triOf(s.Contradicted), int(orZero(s.Absent))
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
			Support: support, Relevant: triOf(s.Relevant), Quote: s.Quote, Aligned: s.Aligned, Why: s.Why, Overlap: overlap, Precheck: s.Settled,
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
