package cli

import (
	"cmp"
	"io"
	"math"
	"path/filepath"
	"slices"

	"ibid/configs"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
	"ibid/report"
)

// overallMetric orders the rows unless --gate names another metric.
const overallMetric = "overall_citation_accuracy"

// A rowGate is a condition on the value that one row has; without an Op, only the
// metric whose value is shown.
type rowGate struct {
	configs.Gate
	metric string
}

func parseRowGate(expr string) (*rowGate, error) {
	g, err := configs.ParseGate(expr)
	if err != nil {
		return nil, err
	}
	if g.Func != configs.Estimate || g.Micro || len(g.Slices) > 0 {
		return nil, usagef("--gate: %s is about many rows", g).with("a condition on one row is METRIC OP NUMBER, such as char_f1 >= 0.5")
	}
	d, ok := metrics.Lookup(g.Metric)
	if !ok {
		return nil, usagef("--gate: no metric is called %s", g.Metric).with(harness.NearestMetric(g.Metric))
	}
	return &rowGate{g, d.Name}, nil
}

// badness orders the rows. The farther a value is from what is wanted, the worse;
// rows without a value come last.
func (g *rowGate) badness(r *report.FailingRow) float64 {
	switch {
	case r.Value == nil:
		return math.Inf(-1)
	case g.Op == "":
		return -*r.Value
	}
	return math.Abs(*r.Value - g.Number)
}

// How many failing rows are listed unless --limit says otherwise: as many as people read
// in text and Markdown, all in forms that programs read, and in JUnit as many as CI
// systems can show.
const (
	failingRead  = 20
	failingJUnit = 10_000
)

// showFailing lists the rows that fail, the worst limit of them (0 = all, -1 = as many
// as the format has); with a gate, those that do not meet it.
func (a *app) showFailing(dir string, m *runs.Manifest, expr string, limit int) error {
	if err := a.formats(tableFormats...); err != nil {
		return err
	}
	gate := &rowGate{metric: overallMetric}
	if expr != "" {
		var err error
		if gate, err = parseRowGate(expr); err != nil {
			return err
		}
	}
	if limit < 0 && (a.format == "text" || a.format == "markdown") {
		limit = failingRead
	}
	view, known, done, err := failingRows(dir, m, gate, max(limit, 0))
	defer done()
	switch {
	case err != nil:
		return err
	case view == nil:
		return usagef("%s does not say which rows fail: an earlier version made it", dir).with("ibid rescore " + quote(dir))
	}
	if err := a.write(func(w io.Writer) error { return view.Write(w, a.format, a.textOptions()) }); err != nil {
		return err
	}
	if view.Gate != "" && !known && m.Rows > 0 {
		a.say("%s is undefined in every row that could be scored", view.Metric)
		a.hint("ask something that the run can tell: --failing --gate 'citation_density > 0'")
	}
	return nil
}

// failingRows finds the rows that fail, the worst first, and keeps the first limit of
// them (0 = all). A gate with a condition leaves those out that meet it or have no value
// for it. known reports whether some row, failing or not, has a value. The view is nil
// if the run is of an earlier version, which did not say which rows fail. The caller
// calls done when the view was written.
func failingRows(dir string, m *runs.Manifest, gate *rowGate, limit int) (view *report.Failing, known bool, done func(), err error) {
	done = func() {}
	f, err := parquet.OpenResult(filepath.Join(dir, runs.RowsFile))
	if err != nil {
		return nil, false, done, err
	}
	saysWhy := f.Has("fails_because")
	if err := f.Close(); err != nil || !saysWhy {
		return nil, false, done, err
	}
	view = &report.Failing{Run: m, Metric: gate.metric}
	if gate.Op != "" {
		view.Gate = gate.String()
	}
	var spill *failingSpill
	columns := append([]string{"id", "system", "row", gate.metric}, report.WhyColumns...)
	err = runs.Rows().Scan(dir, columns, func(_ int64, row *runs.Row) error {
		value := row.Number(gate.metric)
		known = known || value != nil
		if row.FailsBecause == "" {
			return nil
		}
		view.Failing++
		switch {
		case view.Gate == "" || row.Error != "" || value != nil && !gate.Met(*value):
			view.Add(report.NewFailingRow(row, value))
			if 0 < limit && limit <= failingChunk/2 {
				if len(view.Rows) >= 2*limit {
					gate.worst(view, limit)
				}
			} else if len(view.Rows) >= failingChunk {
				if spill == nil {
					if spill, err = newFailingSpill(gate); err != nil {
						return err
					}
					done = func() { spill.Close() }
				}
				return gate.spill(view, spill)
			}
		case value == nil:
			view.Undefined++
		}
		return nil
	})
	if spill == nil || err != nil {
		gate.worst(view, cmp.Or(limit, len(view.Rows)))
		return view, known, done, err
	}
	if err := gate.spill(view, spill); err != nil {
		return view, known, done, err
	}
	view.Stream(int64(limit), spill.each)
	return view, known, done, nil
}

// compare orders rows, the worst first.
func (g *rowGate) compare(x, y *report.FailingRow) int {
	return cmp.Or(cmp.Compare(g.badness(y), g.badness(x)), cmp.Compare(y.Problem, x.Problem))
}

// worst sorts the rows, the worst first, and keeps so many. Rows that are equally bad
// stay in the order of the input.
func (g *rowGate) worst(view *report.Failing, limit int) {
	slices.SortStableFunc(view.Rows, func(x, y report.FailingRow) int { return g.compare(&x, &y) })
	view.Keep(limit)
}

// spill moves the rows to a file, sorted.
func (g *rowGate) spill(view *report.Failing, to *failingSpill) error {
	g.worst(view, len(view.Rows))
	err := to.add(view.Rows)
	clear(view.Rows)
	view.Rows = view.Rows[:0]
	return err
}
