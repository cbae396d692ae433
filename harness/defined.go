package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// Metrics that are often undefined by their definition, so that it says nothing of the
// data.
var oftenUndefined = []string{"boundary_error_start", "boundary_error_end", "consistency_variance", "alce_precision"}

// A systemMetric is a metric over the rows of a system, "" for all systems together.
type systemMetric struct{ system, metric string }

// reasonCounts count rows by the reason for which a metric has no value.
type reasonCounts map[string]int64

func (r reasonCounts) add(why string) {
	if _, ok := r[why]; !ok {
		why = strings.Clone(why) // it belongs to its column
	}
	r[why]++
}

// excused are the rows without a value for a reason that says nothing of the system.
func (r reasonCounts) excused() (n int64) {
	for why, rows := range r {
		if metrics.Excuses(why) {
			n += rows
		}
	}
	return n
}

// most is the commonest of some of the reasons.
func (r reasonCounts) most(of func(why string) bool) string {
	most := ""
	for why, n := range r {
		if of(why) && (most == "" || n > r[most] || n == r[most] && why < most) {
			most = why
		}
	}
	return most
}

// countReasons counts the rows of the run in dir in which the wanted metrics have no
// value; of those rows that are in a slice, unless in is nil.
func countReasons(dir string, wanted map[systemMetric]reasonCounts, in []bool) error {
	f, err := runs.OpenRows(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	names := make(map[string]bool)
	for w := range wanted {
		names[w.metric] = true
	}
	return f.Each(func(b *runs.Block) error {
		system := b.Texts("system")
		for name := range names {
			for i, why := range b.Reasons(name) {
				if why == "" || in != nil && !in[int(b.First)+i] {
					continue
				}
				for _, of := range []string{"", system[i]} {
					if counts, ok := wanted[systemMetric{of, name}]; ok {
						counts.add(why)
					}
				}
			}
		}
		return nil
	})
}

// mayBeFewDefined reports whether the summary alone leaves open that the metric of a row
// is known of too little.
func mayBeFewDefined(row *runs.SummaryRow, minDefined float64) bool {
	return row.DefinedShare != nil && *row.DefinedShare < minDefined && !slices.Contains(oftenUndefined, row.Metric)
}

// mayLackRows is mayBeFewDefined of the macro values over all rows of a system, of which
// [findFewDefined] says more.
func mayLackRows(r *runs.SummaryRow, minDefined float64) bool {
	return r.System != "" && r.Slice == "" && r.Agg == runs.Macro && r.N > 0 && mayBeFewDefined(r, minDefined)
}

// definedOf is how much of the rows that count has the metric of a row of the summary,
// and whether that is too little.
func definedOf(row *runs.SummaryRow, reasons reasonCounts, minDefined float64) (fewDefined, bool) {
	all := row.N + row.Undefined
	f := fewDefined{metric: row.Metric, defined: float64(row.N), rows: all - reasons.excused(), why: reasons.most(func(why string) bool { return !metrics.Excuses(why) })}
	if share := *row.DefinedShare; share < f.defined/float64(all) { // some rows count in part
		f.defined, f.noText = share*float64(all), true
	}
	return f, f.rows > 0 && f.defined < minDefined*float64(f.rows)
}

// tooFewDefined says why the metric of a row of the summary of the run in dir is known of
// too few rows to be judged by, "" if it is not. Rows are only read again where the
// summary alone cannot tell.
func tooFewDefined(dir string, row *runs.SummaryRow, minDefined float64) (string, error) {
	if !mayBeFewDefined(row, minDefined) {
		return "", nil
	}
	in, err := rowsOfSlice(dir, row.Slice)
	if err != nil {
		return "", err
	}
	reasons := make(reasonCounts)
	if err := countReasons(dir, map[systemMetric]reasonCounts{{row.System, row.Metric}: reasons}, in); err != nil {
		return "", err
	}
	f, few := definedOf(row, reasons, minDefined)
	if !few {
		return "", nil
	}
	text := fmt.Sprintf("defined for %s of %d rows, below min_defined %v", rowsText(f.defined), f.rows, minDefined)
	switch {
	case f.why != "":
		text += fmt.Sprintf(": %d have %s", reasons[f.why], f.why)
	case f.noText:
		text += ": claims that cite no known text do not count"
	}
	return text, nil
}

// mostReason says for which reason most rows lack the metric of a row of the summary.
func mostReason(dir string, row *runs.SummaryRow) (string, error) {
	if dir == "" {
		return "", nil
	}
	in, err := rowsOfSlice(dir, row.Slice)
	if err != nil {
		return "", err
	}
	reasons := make(reasonCounts)
	err = countReasons(dir, map[systemMetric]reasonCounts{{row.System, row.Metric}: reasons}, in)
	if why := reasons.most(func(string) bool { return true }); why != "" {
		return ", most because of " + why, err
	}
	return "", err
}

// findFewDefined finds the metrics of each system that are known of some rows, and of
// surely less than minDefined of those that count.
func findFewDefined(dir string, sums map[string]*systemSums, summary []runs.SummaryRow, minDefined float64) error {
	wanted := make(map[systemMetric]reasonCounts)
	order := make(map[string]int) // of metrics
	for m, d := range metrics.Definitions() {
		order[d.Name] = m
	}
	var rows []*runs.SummaryRow
	for i := range summary {
		r := &summary[i]
		_, isMetric := order[r.Metric]
		if isMetric && mayLackRows(r, minDefined) {
			rows = append(rows, r)
			wanted[systemMetric{r.System, r.Metric}] = make(reasonCounts)
		}
	}
	slices.SortFunc(rows, func(a, b *runs.SummaryRow) int {
		return cmp.Or(strings.Compare(a.System, b.System), cmp.Compare(order[a.Metric], order[b.Metric]))
	})
	if len(rows) == 0 {
		return nil
	}
	if err := countReasons(dir, wanted, nil); err != nil {
		return err
	}
	for _, r := range rows {
		f, few := definedOf(r, wanted[systemMetric{r.System, r.Metric}], minDefined)
		if s := sums[r.System]; few && isShare(f.rows-int64(f.defined), f.rows, 1-minDefined) {
			s.few, s.declared = append(s.few, f), minDefined
		}
	}
	return nil
}

// rowsText prints a number of rows, of which some may count in part.
func rowsText(n float64) string { return strconv.FormatFloat(n, 'g', 4, 64) }

// rowsOfSlice says which rows are in a slice KEY=VALUE; nil is all of them.
func rowsOfSlice(dir, slice string) ([]bool, error) {
	key, value, ok := strings.Cut(slice, "=")
	if !ok {
		return nil, nil
	}
	f, err := runs.OpenRows(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := make([]bool, f.Len())
	err = runs.ScanSlices(dir, f, key, func(row int, of string) { in[row] = in[row] || of == value })
	return in, err
}
