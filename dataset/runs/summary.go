package runs

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"

	"ibid/dataset"
	"ibid/metrics/stats"
)

// The two ways of aggregating a metric over rows.
const (
	Macro = "macro" // mean of the rows' values
	Micro = "micro" // quotient of sums over rows
)

// A SummaryRow is one number of a run's summary: a metric over the rows of one
// system and slice. Fields that are not defined are nil.
type SummaryRow struct {
	System string // "" = all systems pooled
	Slice  string // "" = all rows, or key=value
	Metric string
	Agg    string // Macro or Micro

	N         int64    // rows where the metric is defined
	Num, Den  *float64 // of a micro value
	Undefined int64    // rows where it is not
	Unscored  int64    // items that should have been judged and were not
	Coverage  *float64 // scored / scorable items, of judged metrics

	Estimate        *float64
	Low, High       *float64 // interval at Level
	Level           float64
	Method          string
	Clusters        int64
	BoundLow        *float64 // estimate if every unscored item were worst
	BoundHigh       *float64 // estimate if every unscored item were best
	Corrected       *float64 // judge-corrected estimate
	CorrectedLow    *float64
	CorrectedHigh   *float64
	CorrectedMethod string
	Warnings        []string
}

// compareSummary orders rows as the file does.
func compareSummary(a, b SummaryRow) int {
	return cmp.Or(cmp.Compare(a.System, b.System), cmp.Compare(a.Slice, b.Slice),
		cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Agg, b.Agg))
}

// Fill takes over what an estimator says.
func (r *SummaryRow) Fill(e *stats.Estimate) {
	r.Level, r.Clusters = e.Level, e.Clusters
	if e.Defined() {
		r.Estimate = new(e.Value)
	}
	if e.HasInterval {
		r.Low, r.High, r.Method = new(e.Low), new(e.High), string(e.Method)
	}
	for _, w := range e.Warnings {
		r.Warnings = append(r.Warnings, w.Text)
	}
}

// WriteSummary writes rows, sorted, as summary.parquet.
func WriteSummary(dir string, rows []SummaryRow) error {
	slices.SortFunc(rows, compareSummary)
	t, err := dataset.NewTable(summaryFields)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].append(t)
	}
	return dataset.WriteFile(filepath.Join(dir, SummaryFile), func(w io.Writer) error {
		var e dataset.Encoder
		return e.EncodePart(w, t)
	})
}

// append adds the row to a table of summaryFields, in their order.
func (r *SummaryRow) append(t *dataset.Table) {
	c := 0
	next := func() int { c++; return c - 1 }
	number := func(v *float64) {
		if v == nil {
			t.AppendNull(next())
		} else {
			t.AppendDouble(next(), *v)
		}
	}
	for _, s := range []string{r.System, r.Slice, r.Metric, r.Agg} {
		t.AppendString(next(), s)
	}
	t.AppendInt(next(), r.N)
	number(r.Num)
	number(r.Den)
	t.AppendInt(next(), r.Undefined)
	t.AppendInt(next(), r.Unscored)
	number(r.Coverage)
	number(r.Estimate)
	number(r.Low)
	number(r.High)
	number(&r.Level)
	appendText(t, next(), r.Method)
	t.AppendInt(next(), r.Clusters)
	for _, v := range []*float64{r.BoundLow, r.BoundHigh, r.Corrected, r.CorrectedLow, r.CorrectedHigh} {
		number(v)
	}
	appendText(t, next(), r.CorrectedMethod)
	t.AppendStrings(next(), r.Warnings)
	t.EndRow()
}

// ReadSummary reads the summary of the finished run in dir, in file order.
func ReadSummary(dir string) ([]SummaryRow, error) {
	f, err := dataset.OpenResult(filepath.Join(dir, SummaryFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows := make([]SummaryRow, 0, f.Rows())
	for g := range f.RowGroups() {
		group := make([]SummaryRow, f.GroupRows(g))
		into := make([][]any, len(group))
		for i := range group {
			into[i] = group[i].fields()
		}
		for c, field := range summaryFields {
			var column dataset.ColumnValues
			if err := f.ReadColumn(g, field.Name, &column); err != nil {
				return nil, err
			}
			for i := range group {
				if column.Valid[i] {
					setCell(into[i][c], column.Cell(i))
				}
			}
		}
		rows = append(rows, group...)
	}
	return rows, nil
}

// fields are where the columns of summaryFields go, in their order.
func (r *SummaryRow) fields() []any {
	return []any{
		&r.System, &r.Slice, &r.Metric, &r.Agg, &r.N, &r.Num, &r.Den, &r.Undefined, &r.Unscored, &r.Coverage,
		&r.Estimate, &r.Low, &r.High, &r.Level, &r.Method, &r.Clusters, &r.BoundLow, &r.BoundHigh,
		&r.Corrected, &r.CorrectedLow, &r.CorrectedHigh, &r.CorrectedMethod, &r.Warnings,
	}
}

// setCell takes over a cell that is not null.
func setCell(field any, cell dataset.Cell) {
	switch f := field.(type) {
	case *string:
		*f = cell.Text
	case *int64:
		*f = cell.Int
	case *float64:
		*f = cell.Double
	case **float64:
		*f = new(cell.Double)
	case *[]string:
		*f = cell.Texts
	}
}

func appendText(t *dataset.Table, column int, s string) {
	if s == "" {
		t.AppendNull(column)
	} else {
		t.AppendString(column, s)
	}
}
