package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// AgreedTruth is what gates call agreement on marked places.
const AgreedTruth = "truth"

// AskGates asks the gates of c of the finished run m in dir. Those with diff compare with the run
// in baseline or, if system is not "", the system that they name with that one of the run; without
// either they are not asked, and if the baseline is gone they have no verdict. Gates must have
// passed the checks of a run.
func AskGates(dir string, m *runs.Manifest, c *configs.Config, baseline, system string) ([]runs.GateResult, error) {
	gates := c.Gates()
	if len(gates) == 0 {
		return nil, nil
	}
	summary, err := summaryFor(dir, gates)
	if err != nil {
		return nil, err
	}
	e := &evidence{dir: dir, summary: summary, minCoverage: c.MinCoverage, signs: m.Signs, accept: c.Accept}
	if system != "" {
		baseline = dir
	}
	needs := slices.ContainsFunc(gates, func(g configs.Gate) bool { return g.Diff })
	if !needs || baseline == "" {
		return e.ask(gates)
	}
	b, err := openBaseline(baseline, dir, system, gates)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b = &baselineRun{why: "the run that it is compared with, " + baseline + ", is gone: ibid history " + filepath.Dir(dir) + " --accept RUN names another"}
	case err != nil:
		return nil, err
	}
	defer b.Close()
	e.base = b
	return e.ask(gates)
}

// summaryFor reads the rows of the summary of the run in dir that gates can look at.
func summaryFor(dir string, gates []configs.Gate) ([]runs.SummaryRow, error) {
	wanted := make(map[string]bool) // slices
	for _, g := range gates {
		if _, slice, several := g.Group(); !several {
			wanted[slice] = true
		}
	}
	return runs.ReadSummaryOf(dir, func(k runs.SummaryKey) bool { return wanted[k.Slice] })
}

// evidence is what gates are asked of.
type evidence struct {
	summary     []runs.SummaryRow // those of the systems and slices that gates name
	minCoverage float64
	dir         string       // of the run
	base        *baselineRun // the run that gates with diff compare with; nil without one
	signs       []runs.Sign
	accept      []string // names of signs that take no verdict
}

// signed says which sign takes the verdict from a gate over a metric of a system, "" if
// none does.
func (e *evidence) signed(signs []runs.Sign, system, metric string) string {
	for i := range signs {
		s := &signs[i]
		if s.Name != runs.MinDefinedSign && s.Counts(system, metric) && !slices.Contains(e.accept, s.Name) {
			return fmt.Sprintf("%s; accept: [%s] gives a verdict all the same", s.Sentence(), s.Name)
		}
	}
	return ""
}

// tooFewDefined is the sign min_defined, of the rows that a gate is about.
func (e *evidence) tooFewDefined(row *runs.SummaryRow) string {
	if slices.Contains(e.accept, runs.MinDefinedSign) {
		return ""
	}
	return row.TooFewDefined()
}

// ask looks up each gate. The error is one of reading the runs.
func (e *evidence) ask(gates []configs.Gate) ([]runs.GateResult, error) {
	results := make([]runs.GateResult, len(gates))
	for i, g := range gates {
		var err error
		if g.Func == configs.AgreedOn {
			results[i], err = e.askAgreement(g)
		} else if g.Diff {
			results[i], err = e.askDifference(g)
		} else {
			results[i], err = e.askSummary(g)
		}
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// askAgreement asks a gate about the agreement of annotators: the statistic that decides
// about what they agree on.
func (e *evidence) askAgreement(g configs.Gate) (runs.GateResult, error) {
	out := runs.GateResult{Gate: g.String(), Verdict: runs.NoVerdict, Reason: "no two annotators said anything of one item about " + g.Metric}
	rows, err := runs.Agreement.ReadIfAny(e.dir)
	if err != nil {
		return out, err
	}
	for i := range rows {
		r := &rows[i]
		if r.Verdict == "" || r.Kind == runs.SpanAgreement != (g.Metric == AgreedTruth) || r.Kind == runs.LabelAgreement && r.Slice != "kind="+g.Metric {
			continue
		}
		if r.Estimate == nil {
			out.Reason = r.Statistic + ": " + strings.Join(r.Warnings, "; ")
			return out, nil
		}
		out.Value, out.Reason, out.Verdict = r.Estimate, "", verdictOf(g, *r.Estimate)
		return out, nil
	}
	return out, nil
}

// askSummary asks a gate about one run.
func (e *evidence) askSummary(g configs.Gate) (runs.GateResult, error) {
	out := runs.GateResult{Gate: g.String(), Verdict: runs.NoVerdict}
	row, why := gateRow(g, e.summary)
	if row == nil {
		out.Reason = why
		return out, nil
	}
	sign := e.signed(e.signs, row.System, row.Metric)
	few, coverage := e.tooFewDefined(row), coverageReason(row, e.minCoverage)
	switch g.Func {
	case configs.Low:
		out.Value = row.Low
	case configs.High:
		out.Value = row.High
	case configs.Total:
		if row.Estimate != nil {
			out.Value = new(math.Round(*row.Estimate * float64(row.N)))
		}
	default:
		out.Value = row.Estimate
	}
	low, high, err := e.rangeOf(g, row)
	if err != nil {
		return out, err
	}
	switch {
	case sign != "":
		out.Reason = sign
	case row.Reason == runs.Undecided && few == "" && low != nil && high != nil && settled(g, *low, *high):
		out.Verdict, out.Reason = verdictOf(g, *low), runs.WithheldText(row.Reason, row.BoundLow, row.BoundHigh)
	case row.Reason != "":
		out.Reason = runs.WithheldText(row.Reason, row.BoundLow, row.BoundHigh)
	case out.Value == nil && row.Estimate != nil:
		out.Reason = noInterval(row.N)
	case out.Value == nil:
		out.Reason = "no value: there are no rows"
		if rows := row.N + row.Undefined; rows > 0 {
			out.Reason = fmt.Sprintf("no value: undefined in %d of %d rows%s", row.Undefined, rows, row.MostReason())
		}
	case coverage != "":
		out.Reason = coverage
	case few != "":
		out.Reason = few
	case g.Micro && notPooled(row, e.summary):
		out.Reason = runs.NotPooledText
	default:
		out.Verdict = verdictOf(g, *out.Value)
		if row.Undefined > 0 {
			out.Detail = fmt.Sprintf("over %d of %d rows: %d undefined%s", row.N, row.N+row.Undefined, row.Undefined, row.MostReason())
		}
		if row.Given > 0 && out.Value != row.Estimate {
			out.Detail = strings.TrimPrefix(out.Detail+"; "+strings.Join(row.Warnings, "; "), "; ")
		}
	}
	return out, nil
}

// rangeOf is where what a gate looks at may lie, if the row's value is a range: the value, or an
// end of its interval, which is below the value, or above it, wherever that is.
func (e *evidence) rangeOf(g configs.Gate, row *runs.SummaryRow) (low, high *float64, err error) {
	low, high = row.BoundLow, row.BoundHigh
	if row.Reason != runs.Undecided || low == nil || g.Func != configs.Low && g.Func != configs.High {
		return low, high, nil
	}
	run, err := Open(e.dir)
	if err != nil {
		return nil, nil, err
	}
	defer run.Close()
	d, _ := metrics.Lookup(row.Metric)
	from, to, err := run.Ends(row.System, row.Slice, Quantity{Metric: d, Micro: g.Micro}, row.Level)
	if g.Func == configs.Low {
		return from, high, err
	}
	return low, to, err
}

// settled reports whether a gate ends in the same way wherever the value is.
func settled(g configs.Gate, low, high float64) bool {
	inside := low < g.Number && g.Number < high
	return g.Met(low) == g.Met(high) && !(g.Op == "==" && inside)
}

// noInterval is why an end of an interval over n rows or pairs is not known.
func noInterval(n int64) string {
	if n == 1 {
		return "1 question: no interval"
	}
	return fmt.Sprintf("an estimate over %d rows, without an interval", n)
}

// notPooled reports whether a pooled value is over fewer rows than the mean of the metric, since
// something is left out in the others.
func notPooled(row *runs.SummaryRow, summary []runs.SummaryRow) bool {
	return slices.ContainsFunc(summary, func(r runs.SummaryRow) bool {
		return r.System == row.System && r.Slice == row.Slice && r.Metric == row.Metric && r.Agg == runs.Macro && r.N > row.N
	})
}

func verdictOf(g configs.Gate, value float64) runs.Verdict {
	if g.Met(value) {
		return runs.Passed
	}
	return runs.Failed
}

// coverageReason says that a row of a summary rests on too little, "" if it does not.
func coverageReason(row *runs.SummaryRow, minCoverage float64) string {
	if row.Coverage == nil || *row.Coverage >= minCoverage {
		return ""
	}
	return fmt.Sprintf("coverage %.3f is below min_coverage %v", *row.Coverage, minCoverage)
}

// gateRow finds the row of the summary that a gate looks at.
func gateRow(g configs.Gate, summary []runs.SummaryRow) (*runs.SummaryRow, string) {
	d, _ := metrics.Lookup(g.Metric)
	agg := runs.Macro
	if g.Micro {
		agg = runs.Micro
	}
	system, slice, several := g.Group()
	if several {
		return nil, SeveralGroups
	}
	for i := range summary {
		r := &summary[i]
		if r.System == system && r.Slice == slice && r.Metric == d.Name && r.Agg == agg {
			return r, ""
		}
	}
	return nil, "the run has no rows of " + cmp.Or(strings.TrimSpace(system+" "+slice), g.Metric)
}

// SeveralGroups is why a gate cannot be asked.
const SeveralGroups = "more than one system or slice"
