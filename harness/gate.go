package harness

import (
	"fmt"
	"slices"
	"strings"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// checkGates refuses gates over metrics that do not exist, or that the summary
// of this run will not have.
func checkGates(c *configs.Config) error {
	for _, g := range c.Gates() {
		d, ok := metrics.Lookup(g.Metric)
		switch {
		case !ok:
			return g.Refuse("no metric of that name", NearestMetric(g.Metric))
		case g.Micro && len(d.Num) == 0 && d.Kind != metrics.Binary:
			return g.Refuse(d.Name+" has no micro value", "leave micro() out")
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

// EvaluateGates looks up each gate in a run's summary. Gates must have passed the
// checks of a [Job.Plan].
func EvaluateGates(gates []configs.Gate, summary []runs.SummaryRow, minCoverage float64) []runs.GateResult {
	results := make([]runs.GateResult, len(gates))
	for i, g := range gates {
		results[i] = evaluateGate(g, summary, minCoverage)
	}
	return results
}

func evaluateGate(g configs.Gate, summary []runs.SummaryRow, minCoverage float64) runs.GateResult {
	out := runs.GateResult{Gate: g.String(), Verdict: runs.NoVerdict}
	row, why := gateRow(g, summary)
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
	case row.Coverage != nil && *row.Coverage < minCoverage:
		out.Reason = fmt.Sprintf("coverage %.3f is below min_coverage %v", *row.Coverage, minCoverage)
	case g.Met(*out.Value):
		out.Verdict = runs.Passed
	default:
		out.Verdict = runs.Failed
	}
	return out
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
