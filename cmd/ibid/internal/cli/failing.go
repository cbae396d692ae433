package cli

import (
	"cmp"
	"io"
	"math"
	"path/filepath"
	"slices"

	"ibid"
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
		return nil, ibid.Usagef("--gate: %s is about many rows", g).With("a condition on one row is METRIC OP NUMBER, such as char_f1 >= 0.5")
	}
	d, ok := metrics.Lookup(g.Metric)
	if !ok {
		return nil, ibid.Usagef("--gate: no metric is called %s", g.Metric).With(harness.NearestMetric(g.Metric))
	}
	return &rowGate{g, d.Name}, nil
}

// badness orders the rows. The farther a value is from what is wanted, the worse;
// rows without a value come last.
func (g *rowGate) badness(value *float64) float64 {
	switch {
	case value == nil:
		return math.Inf(-1)
	case g.Op == "":
		return -*value
	}
	return math.Abs(*value - g.Number)
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
		return ibid.Usagef("%s does not say which rows fail: an earlier version made it", dir).With("ibid rescore " + quote(dir))
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
	defer f.Close()
	if !f.Has("fails_because") {
		return nil, false, done, nil
	}
	view = &report.Failing{Run: m, Metric: gate.metric}
	if gate.Op != "" {
		view.Gate = gate.String()
	}
	columns := append([]string{"id", "system", "row", gate.metric}, report.WhyColumns...)
	if 0 < limit && limit <= failingChunk/2 {
		at, known, err := gate.find(f, view, limit)
		if err != nil {
			return view, known, done, err
		}
		return view, known, done, gate.read(dir, columns, at, view)
	}
	var spill *failingSpill
	err = runs.Rows().Scan(dir, columns, func(_ int64, row *runs.Row) error {
		value := row.Number(gate.metric)
		known = known || value != nil
		if row.FailsBecause == "" || !gate.leaves(view, row.Error != "", value) {
			return nil
		}
		failing := report.NewFailingRow(row, value)
		view.Count(failing.System, failing.Problem)
		view.Rows = append(view.Rows, failing)
		if len(view.Rows) < failingChunk {
			return nil
		}
		if spill == nil {
			if spill, err = newFailingSpill(gate); err != nil {
				return err
			}
			done = func() { spill.Close() }
		}
		return gate.spill(view, spill)
	})
	if spill == nil || err != nil {
		gate.sort(view.Rows)
		view.Keep(cmp.Or(limit, len(view.Rows)))
		return view, known, done, err
	}
	if err := gate.spill(view, spill); err != nil {
		return view, known, done, err
	}
	view.Stream(int64(limit), spill.each)
	return view, known, done, nil
}

// leaves counts a row that fails, and reports whether the gate leaves it in the view.
func (g *rowGate) leaves(view *report.Failing, unscored bool, value *float64) bool {
	view.Failing++
	if g.Op == "" || unscored || value != nil && !g.Met(*value) {
		return true
	}
	if value == nil {
		view.Undefined++
	}
	return false
}

// A failingPlace is where a row that fails stands, and how bad it is.
type failingPlace struct {
	at      int64 // in rows.parquet
	badness float64
	problem metrics.Problem
}

// find counts the rows that fail and returns where the worst limit of them stand, the
// worst first. It reads the few columns that say so: of many rows, few are looked at.
func (g *rowGate) find(f *parquet.ResultFile, view *report.Failing, limit int) (at []int64, known bool, err error) {
	var worst []failingPlace
	keep := func() {
		slices.SortStableFunc(worst, func(x, y failingPlace) int {
			return cmp.Or(cmp.Compare(y.badness, x.badness), cmp.Compare(y.problem, x.problem))
		})
		worst = worst[:min(limit, len(worst))]
	}
	var because, failure, values, systems parquet.ColumnValues
	columns := map[string]*parquet.ColumnValues{"fails_because": &because, "error": &failure, "system": &systems}
	if f.Has(g.metric) { // an earlier version may not have known it
		columns[g.metric] = &values
	}
	first, found := int64(0), int64(0)
	for part := range f.RowGroups() {
		for name, to := range columns {
			if err := f.ReadColumn(part, name, to); err != nil {
				return nil, known, err
			}
		}
		for i := range f.GroupRows(part) {
			var value *float64
			if len(values.Valid) > 0 && values.Valid[i] {
				known = true
				if value = new(float64); values.Kind == parquet.Double {
					*value = values.Doubles[i]
				} else {
					*value = float64(values.Ints[i])
				}
			}
			if !because.Valid[i] || !g.leaves(view, failure.Valid[i], value) {
				continue
			}
			problem, _ := metrics.ParseProblem(because.Strings[i])
			view.Count(systems.Strings[i], problem)
			found++
			if worst = append(worst, failingPlace{first + int64(i), g.badness(value), problem}); len(worst) >= 2*limit {
				keep()
			}
		}
		first += int64(f.GroupRows(part))
	}
	keep()
	view.Left = found - int64(len(worst))
	for _, w := range worst {
		at = append(at, w.at)
	}
	return at, known, nil
}

// read takes the rows at those places of rows.parquet into the view, in their order.
func (g *rowGate) read(dir string, columns []string, at []int64, view *report.Failing) error {
	view.Rows = make([]report.FailingRow, len(at))
	place := make(map[int64]int, len(at))
	for k, row := range at {
		place[row] = k
	}
	return runs.Rows().ScanSome(dir, columns, slices.Sorted(slices.Values(at)), func(row int64, r *runs.Row) error {
		view.Rows[place[row]] = report.NewFailingRow(r, r.Number(g.metric))
		return nil
	})
}

// sort sorts rows, the worst first. Rows that are equally bad stay in the order of the
// input.
func (g *rowGate) sort(rows []report.FailingRow) {
	slices.SortStableFunc(rows, func(x, y report.FailingRow) int { return g.compare(&x, &y) })
}

// compare orders rows, the worst first.
func (g *rowGate) compare(x, y *report.FailingRow) int {
	return cmp.Or(cmp.Compare(g.badness(y.Value), g.badness(x.Value)), cmp.Compare(y.Problem, x.Problem))
}

// spill moves the rows to a file, sorted.
func (g *rowGate) spill(view *report.Failing, to *failingSpill) error {
	g.sort(view.Rows)
	err := to.add(view.Rows)
	clear(view.Rows)
	view.Rows = view.Rows[:0]
	return err
}
