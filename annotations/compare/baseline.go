package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A baselineRun is what a run is compared with by gates with diff: another run,
// or a system of the same.
type baselineRun struct {
	base, other *Run
	lookup      *Lookup
	summary     []runs.SummaryRow // of the base, as far as gates look at it
	system      string            // of the base, if it is one of the same run
	why         string            // there can be no comparison
}

// openBaseline opens what the finished run in dir is compared with: the one in baseDir or, if
// system is not "", that system of the run itself. That they cannot be
// compared is no error: gates then have no verdict. The caller closes it.
func openBaseline(baseDir, dir, system string, gates []configs.Gate) (*baselineRun, error) {
	b := &baselineRun{system: system}
	err := b.open(baseDir, dir, gates)
	var refused *RefusedError
	if errors.As(err, &refused) {
		b.why, err = refused.Error(), nil
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *baselineRun) open(baseDir, dir string, gates []configs.Gate) (err error) {
	if b.base, err = Open(baseDir); err != nil {
		return err
	}
	if b.summary, err = summaryFor(baseDir, gates); err != nil {
		return err
	}
	if b.system != "" {
		b.lookup, err = NewLookup(b.base, b.base, b.system)
		return err
	}
	if b.other, err = Open(dir); err != nil {
		return err
	}
	if m := b.base.Manifest; m.Coverage != nil {
		if minCoverage := m.Effective().MinCoverage; *m.Coverage < minCoverage {
			b.why = fmt.Sprintf("the baseline has %d error rows of %d: coverage %.3f is below min_coverage %v", m.Errors, m.Rows, *m.Coverage, minCoverage)
		}
	}
	b.lookup, err = NewLookup(b.base, b.other, "")
	return err
}

// Close closes the runs.
func (b *baselineRun) Close() error {
	var err error
	for _, r := range []*Run{b.base, b.other} {
		if r != nil {
			err = errors.Join(err, r.Close())
		}
	}
	return err
}

// askDifference asks a gate about the difference from the baseline.
func (e *evidence) askDifference(g configs.Gate) (runs.GateResult, error) {
	out := runs.GateResult{Gate: g.String(), Verdict: runs.NoVerdict}
	b := e.base
	switch {
	case b == nil:
		out.Verdict, out.Reason = runs.NotAsked, "the first run of its series: there is nothing to compare it with"
		return out, nil
	case b.why != "":
		out.Reason = b.why
		return out, nil
	}
	if out.Reason = e.weakSide(g); out.Reason != "" {
		return out, nil
	}
	d, why, err := b.difference(g)
	if err != nil || why != "" {
		out.Reason = why
		return out, err
	}
	system, _, _ := g.Group()
	missing, of, err := b.lookup.Missing(system)
	if err != nil {
		return out, err
	}
	out.Detail = d.Describe()
	out.Value = map[configs.Func]*float64{configs.Estimate: d.Diff, configs.Low: d.Low, configs.High: d.High}[g.Func]
	switch {
	case out.Value == nil && d.Reason == NotPaired:
		out.Reason = d.Reason
	case out.Value == nil && d.Diff != nil:
		out.Reason = noInterval(d.N)
	case out.Value == nil:
		out.Reason = fmt.Sprintf("no value: %d pairs of rows have it, %d lack it", d.N, d.Undefined)
	case missing > 0 && !slices.Contains(e.accept, runs.QuestionsMissingSign):
		out.Reason = fmt.Sprintf("sign %s: %d of %d questions of the baseline are missing; accept: [%[1]s] gives a verdict all the same", runs.QuestionsMissingSign, missing, of)
	case d.Doubt != "":
		out.Reason = d.Doubt
	default:
		out.Verdict = verdictOf(g, *out.Value)
	}
	return out, nil
}

// difference looks a gate up; why says why there is no difference.
func (b *baselineRun) difference(g configs.Gate) (d Difference, why string, err error) {
	def, _ := metrics.Lookup(g.Metric)
	system, slice, several := g.Group()
	if several {
		return d, SeveralGroups, nil
	}
	d, err = b.lookup.Difference(system, slice, Quantity{Metric: def, Micro: g.Micro && def.Kind != metrics.Binary})
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		return d, refused.Error(), nil
	case errors.Is(err, ibid.ErrUsage):
		return d, err.Error(), nil
	}
	return d, "", err
}

// weakSide says which side of a gate's difference rests on too little, or has a sign that
// its input is wrong; "" if none does.
func (e *evidence) weakSide(g configs.Gate) string {
	b := e.base
	ofBase := g
	if b.system != "" {
		ofBase.Slices = nil
		for _, f := range g.Slices {
			if f.Key == "system" {
				f.Value = b.system
			}
			ofBase.Slices = append(ofBase.Slices, f)
		}
	}
	for _, side := range []struct {
		gate    configs.Gate
		summary []runs.SummaryRow
		signs   []runs.Sign
		whose   string
	}{{g, e.summary, e.signs, ""}, {ofBase, b.summary, b.base.Manifest.Signs, "the baseline's side: "}} {
		row, _ := gateRow(side.gate, side.summary)
		if row == nil {
			continue
		}
		withheld := ""
		if row.Reason != "" {
			withheld = runs.WithheldText(row.Reason, row.BoundLow, row.BoundHigh)
		}
		if why := cmp.Or(withheld, coverageReason(row, e.minCoverage), e.signed(side.signs, row.System, row.Metric), e.tooFewDefined(row)); why != "" {
			return side.whose + why
		}
	}
	return ""
}
