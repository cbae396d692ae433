package harness

import (
	"cmp"
	"slices"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// addFewDefined adds to each system the metrics that are known of some of its rows, and of surely
// less than [metrics.MinDefined] of those that count.
func addFewDefined(sums map[string]*systemSums, summary []runs.SummaryRow) {
	for i := range summary {
		r := &summary[i]
		s := sums[r.System]
		if f, few := r.FewDefined(); few && s != nil && isShare(f.Rows-int64(f.Defined), f.Rows, 1-metrics.MinDefined) {
			s.few = append(s.few, f)
		}
	}
	for _, s := range sums {
		slices.SortFunc(s.few, func(a, b runs.FewDefined) int {
			return cmp.Compare(orderOf(a.Metric), orderOf(b.Metric))
		})
	}
}

// mayBeFew reports whether [addFewDefined] looks at a row of a summary: the mean of a metric over
// all rows of a system, of which not all have it.
func mayBeFew(r *runs.SummaryRow) bool {
	return r.System != "" && r.Slice == "" && r.Agg == runs.Macro && r.N > 0 && r.DefinedShare != nil && *r.DefinedShare < metrics.MinDefined && orderOf(r.Metric) >= 0
}

// orderOf is the place of a metric among the definitions, -1 of what is none.
func orderOf(metric string) int {
	return slices.IndexFunc(metrics.Definitions(), func(d metrics.Definition) bool { return d.Name == metric })
}
