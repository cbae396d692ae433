package cli

import (
	"cmp"
	"io"
	"math"
	"slices"

	"ibid"
	"ibid/configs"
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
	view, known, err := failingRows(dir, m, gate, max(limit, 0))
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

// failingChunk is how many failing rows are in memory at one time; tests set it.
var failingChunk = 1 << 17

// failingRows finds the rows that fail, the worst first, and keeps the first limit of
// them (0 = all). A gate with a condition leaves those out that meet it or have no value
// for it. known reports whether some row, failing or not, has a value. The view is nil
// if the run is of an earlier version, which did not say which rows fail.
func failingRows(dir string, m *runs.Manifest, gate *rowGate, limit int) (view *report.Failing, known bool, err error) {
	f, err := runs.OpenRows(dir)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if !f.Has("fails_because") {
		return nil, false, nil
	}
	view = &report.Failing{Run: m, Metric: gate.metric}
	if gate.Op != "" {
		view.Gate = gate.String()
	}
	at, known, err := gate.find(f, view, cmp.Or(limit, math.MaxInt/2))
	if err != nil {
		return view, known, err
	}
	if len(at) <= failingChunk {
		view.Rows, err = gate.read(dir, at)
		return view, known, err
	}
	view.Stream(int64(limit), func(limit int64, yield func(*report.FailingRow) error) error {
		for chunk := range slices.Chunk(at[:limit], failingChunk) {
			rows, err := gate.read(dir, chunk)
			if err != nil {
				return err
			}
			for i := range rows {
				if err := yield(&rows[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return view, known, nil
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
func (g *rowGate) find(f *runs.Frame, view *report.Failing, limit int) (at []int64, known bool, err error) {
	var worst []failingPlace
	keep := func() {
		slices.SortStableFunc(worst, func(x, y failingPlace) int {
			return cmp.Or(cmp.Compare(y.badness, x.badness), cmp.Compare(y.problem, x.problem))
		})
		worst = worst[:min(limit, len(worst))]
	}
	found := int64(0)
	err = f.Each(func(b *runs.Block) error {
		because, failure, systems := b.Column("fails_because"), b.Column("error"), b.Texts("system")
		values, has := b.Numbers(g.metric)
		if b.Err() != nil {
			return b.Err()
		}
		for i := range b.Len() {
			var value *float64
			if has[i] {
				known, value = true, new(values[i])
			}
			if !because.Valid[i] || !g.leaves(view, failure.Valid[i], value) {
				continue
			}
			problem, _ := metrics.ParseProblem(because.Strings[i])
			view.Count(systems[i], problem)
			found++
			if worst = append(worst, failingPlace{b.First + int64(i), g.badness(value), problem}); len(worst) >= 2*limit {
				keep()
			}
		}
		return nil
	})
	if err != nil {
		return nil, known, err
	}
	keep()
	view.Left = found - int64(len(worst))
	for _, w := range worst {
		at = append(at, w.at)
	}
	return at, known, nil
}

// read reads the rows at those places of rows.parquet, in their order.
func (g *rowGate) read(dir string, at []int64) ([]report.FailingRow, error) {
	rows := make([]report.FailingRow, len(at))
	place := make(map[int64]int, len(at))
	for k, row := range at {
		place[row] = k
	}
	columns := append([]string{"id", "system", "row", g.metric}, report.WhyColumns...)
	return rows, runs.Rows().ScanSome(dir, columns, slices.Sorted(slices.Values(at)), func(row int64, r *runs.Row) error {
		rows[place[row]] = report.NewFailingRow(r, r.Number(g.metric))
		return nil
	})
}
