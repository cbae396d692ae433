package compare

import (
	"fmt"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// ParseQuantity reads the name or alias of a metric or count, such as char_f1, or
// micro(char_f1) for its pooled value.
func ParseQuantity(text string) (Quantity, error) {
	name, micro := strings.CutPrefix(strings.TrimSpace(text), "micro(")
	if micro {
		inner, ok := strings.CutSuffix(name, ")")
		if !ok {
			return Quantity{}, fmt.Errorf("%s: a ) is missing", text)
		}
		name = strings.TrimSpace(inner)
	}
	d, ok := metrics.Lookup(name)
	if !ok {
		return Quantity{}, &UnknownMetricError{Name: name}
	}
	if micro && len(d.Num) == 0 && d.Kind != metrics.Binary {
		return Quantity{}, fmt.Errorf("%s has no micro value", d.Name)
	}
	return Quantity{Metric: d, Micro: micro && d.Kind != metrics.Binary}, nil
}

// An UnknownMetricError is a name that no metric has.
type UnknownMetricError struct{ Name string }

func (e *UnknownMetricError) Error() string { return "no metric " + e.Name }

// agg is how a quantity is named in a summary.
func (q Quantity) agg() string {
	if q.Micro {
		return runs.Micro
	}
	return runs.Macro
}

// overall is the score that a run is judged by unless other metrics are declared.
const overall = "overall_citation_accuracy"

// headlineOf are overall and its components. Of a run with one component overall
// is that component, and only the latter is left out.
func headlineOf(components []string) []Quantity {
	names := []string{overall}
	if len(components) > 1 {
		names = append(names, components...)
	}
	var all []Quantity
	for _, name := range names {
		if d, ok := metrics.Lookup(name); ok {
			all = append(all, Quantity{Metric: d})
		}
	}
	return all
}

// others are all quantities that are not among those given.
func others(headline []Quantity) []Quantity {
	var all []Quantity
	add := func(q Quantity) {
		same := func(h Quantity) bool { return h.Metric.Name == q.Metric.Name && h.Micro == q.Micro }
		if !slices.ContainsFunc(headline, same) {
			all = append(all, q)
		}
	}
	for _, d := range metrics.Definitions() {
		add(Quantity{Metric: d})
		if len(d.Num) > 0 {
			add(Quantity{Metric: d, Micro: true})
		}
	}
	for _, d := range metrics.CountDefinitions()[:runs.ContractCounts] {
		add(Quantity{Metric: d})
	}
	return all
}
