package harness

import (
	"fmt"
	"slices"
	"strings"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// checkGates refuses gates over metrics that do not exist, that the summary of this
// run will not have, or that need a baseline where there is none.
func checkGates(c *configs.Config, baseline bool) error {
	for _, g := range c.Gates() {
		d, ok := metrics.Lookup(g.Metric)
		switch {
		case !ok:
			return g.Refuse("no metric of that name", NearestMetric(g.Metric))
		case g.Micro && len(d.Num) == 0 && d.Kind != metrics.Binary:
			return g.Refuse(d.Name+" has no micro value", "leave micro() out")
		case g.Func.NeedsBaseline() && !baseline:
			return g.Refuse(string(g.Func)+"() compares with another run", "name it: ibid run … --baseline RUN, or ibid gate RUN BASE")
		}
		if _, _, err := gateGroup(g, c.Slices); err != nil {
			return g.Refuse(err.Error(), "a gate can name one system and one of the slices that the run makes: [system=a][lang=de]")
		}
	}
	return nil
}

// gateGroup is the system and slice of the summary that a gate looks at.
func gateGroup(g configs.Gate, sliceKeys []string) (system, slice string, err error) {
	for _, f := range g.Slices {
		switch {
		case f.Key == "system" && system == "":
			system = f.Value
		case f.Key != "system" && slice == "" && slices.Contains(sliceKeys, f.Key):
			slice = f.Key + "=" + f.Value
		case f.Key != "system" && slice == "":
			return "", "", fmt.Errorf("%s is not among the slices of the run", f.Key)
		default:
			return "", "", fmt.Errorf("more than one system or slice")
		}
	}
	return system, slice, nil
}

// MetricNames are the names that gates take: those of metrics and counts, aliases
// included.
func MetricNames() []string {
	var names []string
	for _, d := range append(metrics.Definitions(), metrics.CountDefinitions()...) {
		names = append(append(names, d.Name), d.Aliases...)
	}
	return names
}

// NearestMetric is the hint for a name that no metric has.
func NearestMetric(name string) string {
	if near := configs.Nearest(name, MetricNames()); near != "" {
		return "did you mean " + near + "?"
	}
	return "ibid help metrics lists them all"
}

// Evidence is what gates are asked of.
type Evidence struct {
	Summary     []runs.SummaryRow
	MinCoverage float64
	Baseline    *Baseline // of gates with diff and p; nil if there is none
}

// Ask looks up each gate. Gates must have passed the checks of a [Job.Plan]. The
// error is one of reading the runs.
func (e *Evidence) Ask(gates []configs.Gate) ([]runs.GateResult, error) {
	results := make([]runs.GateResult, len(gates))
	for i, g := range gates {
		var err error
		if g.Func.NeedsBaseline() {
			results[i], err = e.askDifference(g)
		} else {
			results[i] = e.askSummary(g)
		}
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// askSummary asks a gate about one run.
func (e *Evidence) askSummary(g configs.Gate) runs.GateResult {
	out := runs.GateResult{Gate: g.String(), Verdict: runs.NoVerdict}
	row, why := gateRow(g, e.Summary)
	if row == nil {
		out.Reason = why
		return out
	}
	switch g.Func {
	case configs.Low:
		out.Value = row.Low
	case configs.High:
		out.Value = row.High
	default:
		out.Value = row.Estimate
	}
	switch {
	case out.Value == nil && row.Estimate != nil:
		out.Reason = fmt.Sprintf("no interval: only an estimate over %d rows", row.N)
	case out.Value == nil:
		out.Reason = fmt.Sprintf("undefined: %d rows, %d of them undefined", row.N+row.Undefined, row.Undefined)
	case uncovered(row, e.MinCoverage):
		out.Reason = coverageReason(row, e.MinCoverage)
	default:
		out.Verdict = verdictOf(g, *out.Value)
	}
	return out
}

func verdictOf(g configs.Gate, value float64) runs.Verdict {
	if g.Met(value) {
		return runs.Passed
	}
	return runs.Failed
}

// uncovered reports whether a row of a summary rests on too little.
func uncovered(row *runs.SummaryRow, minCoverage float64) bool {
	return row.Coverage != nil && *row.Coverage < minCoverage
}

func coverageReason(row *runs.SummaryRow, minCoverage float64) string {
	return fmt.Sprintf("coverage %.3f is below min_coverage %v", *row.Coverage, minCoverage)
}

// gateRow finds the row of the summary that a gate looks at.
func gateRow(g configs.Gate, summary []runs.SummaryRow) (*runs.SummaryRow, string) {
	d, _ := metrics.Lookup(g.Metric)
	agg := runs.Macro
	if g.Micro {
		agg = runs.Micro
	}
	var keys []string
	for _, f := range g.Slices {
		keys = append(keys, f.Key)
	}
	system, slice, err := gateGroup(g, keys)
	if err != nil {
		return nil, err.Error()
	}
	for i := range summary {
		r := &summary[i]
		if r.System == system && r.Slice == slice && r.Metric == d.Name && r.Agg == agg {
			return r, ""
		}
	}
	return nil, "the run has no rows of " + strings.TrimSpace(system+" "+slice)
}
