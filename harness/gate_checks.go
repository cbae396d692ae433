package harness

import (
	"fmt"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// checkGates refuses gates over metrics that do not exist, that the summary of this
// run will not have, or that need a baseline where there can be none.
func checkGates(c *configs.Config, baseline bool) error {
	if err := checkAccepted(c); err != nil {
		return err
	}
	for _, g := range c.Gates() {
		if g.Func == configs.AgreedOn {
			if names := append([]string{compare.AgreedTruth}, ibid.LabelKinds()...); !slices.Contains(names, g.Metric) {
				return g.Refuse("annotators agree on no such thing", "one of "+strings.Join(names, ", "))
			}
			continue
		}
		d, ok := metrics.Lookup(g.Metric)
		switch {
		case !ok:
			return g.Refuse("no metric of that name", NearestMetric(g.Metric))
		case d.Kind == metrics.Quantity && !slices.ContainsFunc(runs.SummaryCounts(), func(c metrics.Definition) bool { return c.Name == d.Name }):
			return g.Refuse("no summary has "+d.Name, "it is a column of rows.parquet")
		case g.Micro && len(d.Num) == 0 && d.Kind != metrics.Binary:
			return g.Refuse(d.Name+" has no micro value", "leave micro() out")
		case g.Func == configs.Total && d.Kind != metrics.Quantity:
			return g.Refuse(d.Name+" is no count", "sum() is the total of a count, such as sum(missing_citations) <= 3")
		case (g.Func == configs.Low || g.Func == configs.High) && d.Kind == metrics.Quantity && !g.Diff:
			return g.Refuse(d.Name+" is a count: it has no interval", "leave "+string(g.Func)+"() out: the mean a row; or sum("+d.Name+"), the total")
		case g.Diff && !baseline:
			return NoBase(g)
		}
		if low, high := gateRange(g, &d); g.Number < low || g.Number > high {
			return g.Refuse(fmt.Sprintf("%v is beyond the values that it can have, [%v, %v]", g.Number, low, high), "shares are fractions: 0.05 is 5 %")
		}
		_, slice, several := g.Group()
		why := ""
		if key, _, sliced := strings.Cut(slice, "="); sliced && !slices.Contains(c.Slices, key) {
			why = key + " is not among the slices of the run"
		} else if several {
			why = compare.SeveralGroups
		}
		if why != "" {
			return g.Refuse(why, "a gate can name one system and one of the slices that the run makes: [system=a][lang=de]")
		}
	}
	return nil
}

// NoBase is the error for a gate that compares with another run where there is none.
func NoBase(g configs.Gate) error {
	return g.Refuse("diff() compares with another run", "name it: ibid run … --baseline RUN, or ibid gate RUN BASE")
}

// gateRange is where the values are that a gate can look at: a limit beyond would decide
// nothing.
func gateRange(g configs.Gate, d *metrics.Definition) (low, high float64) {
	if g.Diff {
		return d.Min - d.Max, d.Max - d.Min
	}
	return d.Min, d.Max
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
	if near := ibid.Nearest(name, MetricNames()); near != "" {
		return "did you mean " + near + "?"
	}
	return "ibid help metrics lists them all"
}
