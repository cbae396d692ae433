package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// Metrics that are often undefined by their definition, so that it says nothing of the
// data.
var oftenUndefined = []string{"boundary_error_start", "boundary_error_end", "consistency_variance", "alce_precision"}

// commonest is the reason, of those that count, that most rows have which lack a metric; "" of
// none.
func commonest(reasons map[string]int64, counts func(why ibid.Reason) bool) string {
	most := ""
	for why, n := range reasons {
		if counts(ibid.ReasonOf(why)) && (most == "" || n > reasons[most] || n == reasons[most] && why < most) {
			most = why
		}
	}
	return most
}

// mostReason says for which reason most rows lack the metric of a row of the summary.
func mostReason(row *runs.SummaryRow) string {
	if why := commonest(row.Reasons, func(ibid.Reason) bool { return true }); why != "" {
		return ", most because of " + why
	}
	return ""
}

// definedOf is how much of the rows that count has the metric of a row of the summary, and
// whether that is too little: rows that lack it for a reason that says nothing of the system do
// not count.
func definedOf(row *runs.SummaryRow) (fewDefined, bool) {
	if row.DefinedShare == nil || *row.DefinedShare >= metrics.MinDefined || slices.Contains(oftenUndefined, row.Metric) {
		return fewDefined{}, false
	}
	all := row.N + row.Undefined
	f := fewDefined{metric: row.Metric, defined: float64(row.N), rows: all}
	for why, n := range row.Reasons {
		if metrics.Excuses(ibid.ReasonOf(why)) {
			f.rows -= n
		}
	}
	f.why = commonest(row.Reasons, func(why ibid.Reason) bool { return !metrics.Excuses(why) })
	if share := *row.DefinedShare; share < f.defined/float64(all) { // some rows count in part
		f.defined, f.noText = share*float64(all), true
	}
	return f, f.rows > 0 && f.defined < metrics.MinDefined*float64(f.rows)
}

// tooFewDefined says why the metric of a row of a summary is known of too few rows to be judged
// by, "" if it is not.
func tooFewDefined(row *runs.SummaryRow) string {
	f, few := definedOf(row)
	if !few {
		return ""
	}
	text := fmt.Sprintf("defined for %s of %d rows, below min_defined %v", rowsText(f.defined), f.rows, metrics.MinDefined)
	switch {
	case f.why != "":
		text += fmt.Sprintf(": %d have %s", row.Reasons[f.why], f.why)
	case f.noText:
		text += ": claims that cite no known text do not count"
	}
	return text
}

// addFewDefined adds to each system the metrics that are known of some of its rows, and of surely
// less than [metrics.MinDefined] of those that count.
func addFewDefined(sums map[string]*systemSums, summary []runs.SummaryRow) {
	for i := range summary {
		r := &summary[i]
		s := sums[r.System]
		if f, few := definedOf(r); few && s != nil && isShare(f.rows-int64(f.defined), f.rows, 1-metrics.MinDefined) {
			s.few = append(s.few, f)
		}
	}
	for _, s := range sums {
		slices.SortFunc(s.few, func(a, b fewDefined) int {
			return cmp.Compare(orderOf(a.metric), orderOf(b.metric))
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

// rowsText prints a number of rows, of which some may count in part.
func rowsText(n float64) string { return strconv.FormatFloat(n, 'g', 4, 64) }
