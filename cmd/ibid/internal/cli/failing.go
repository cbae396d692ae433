package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
	"ibid/report"
)

// defaultRowGate is what a row has to meet unless --gate says otherwise.
const defaultRowGate = "overall_citation_accuracy >= 0.5"

// A rowGate is a condition on the value that one row has.
type rowGate struct {
	configs.Gate
	metric  string
	isCount bool
}

func parseRowGate(expr string) (*rowGate, error) {
	g, err := configs.ParseGate(expr)
	if err != nil {
		return nil, err
	}
	if g.Func != configs.Estimate || g.Micro || len(g.Slices) > 0 {
		return nil, &usageError{
			err:  fmt.Errorf("--gate: %s is about many rows", g),
			hint: "a condition on one row is METRIC OP NUMBER, such as char_f1 >= 0.5",
		}
	}
	d, ok := metrics.Lookup(g.Metric)
	if !ok {
		return nil, &usageError{err: fmt.Errorf("--gate: no metric is called %s", g.Metric), hint: harness.NearestMetric(g.Metric)}
	}
	isCount := slices.ContainsFunc(metrics.CountDefinitions(), func(c metrics.Definition) bool { return c.Name == d.Name })
	return &rowGate{g, d.Name, isCount}, nil
}

// value is what the gate looks at in a row, nil where that is undefined.
func (g *rowGate) value(row runs.Record) *float64 {
	cell := row[g.metric]
	switch {
	case cell.Null:
		return nil
	case g.isCount:
		return new(float64(cell.Int))
	}
	return new(cell.Double)
}

// badness puts the rows in order: the farther from what is wanted the worse, and
// rows that could not be scored last.
func (g *rowGate) badness(r report.FailingRow) float64 {
	if r.Value == nil {
		return math.Inf(-1)
	}
	return math.Abs(*r.Value - g.Number)
}

func (a *app) showFailing(dir string, m *runs.Manifest, expr string) error {
	if err := a.formats(tableFormats...); err != nil {
		return err
	}
	view, err := failingRows(dir, m, expr)
	if err != nil {
		return err
	}
	if err := a.write(func(w io.Writer) error { return view.Write(w, a.format, a.style()) }); err != nil {
		return err
	}
	if view.Undefined+m.Errors == m.Rows && m.Rows > 0 {
		a.say("%s is undefined in every row that could be scored", view.Metric)
		a.hint("ask something that the run can tell: --failing --gate 'citation_density > 0'")
	}
	return nil
}

// failingRows finds the rows that do not meet a condition, the worst first.
func failingRows(dir string, m *runs.Manifest, expr string) (*report.Failing, error) {
	gate, err := parseRowGate(expr)
	if err != nil {
		return nil, err
	}
	view := &report.Failing{Run: m, Gate: gate.String(), Metric: gate.metric}
	err = runs.ScanRows(dir, append([]string{gate.metric}, report.WhyColumns...), func(key runs.RowKey, row runs.Record) {
		value := gate.value(row)
		switch {
		case key.Error != "", value != nil && !gate.Met(*value):
			view.Rows = append(view.Rows, report.NewFailingRow(key, value, row))
		case value == nil:
			view.Undefined++
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(view.Rows, func(x, y report.FailingRow) int { return cmp.Compare(gate.badness(y), gate.badness(x)) })
	return view, nil
}
