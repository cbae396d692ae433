package verify

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// columns are the numbers of all rows, NaN where there is none, and what groups them.
type columns struct {
	numbers  map[string][]float64
	systems  []string
	slices   []map[string][]string // values by key, of each row
	clusters []string

	ids       []string
	documents [][]string // that the rows touch, of clusters by documents
}

func (c *columns) add(r record) {
	if c.numbers == nil {
		c.numbers = make(map[string][]float64)
	}
	n := len(c.systems)
	for name, v := range r {
		var x float64
		switch y := v.(type) {
		case nil:
			x = math.NaN()
		case int64:
			x = float64(y)
		case float64:
			x = y
		default:
			continue
		}
		column := c.numbers[name]
		for len(column) < n {
			column = append(column, math.NaN())
		}
		c.numbers[name] = append(column, x)
	}
	system := textOf(r["system"])
	c.systems = append(c.systems, system)
	in := make(map[string][]string)
	for _, key := range []string{"provider", "model"} {
		if v, ok := r.text(key); ok {
			in[key] = []string{v}
		}
	}
	tags, _ := r["tags"].(map[string]any)
	for key, v := range tags {
		if _, taken := in[key]; !taken && key != "provider" && key != "model" {
			in[key] = []string{textOf(v)}
		}
	}
	for column, key := range map[string]string{"source_types": "source_type", "source_statuses": "source_status"} {
		delete(in, key)
		if list, ok := textsOf(r[column]); ok {
			in[key] = list
		}
	}
	c.slices = append(c.slices, in)
	c.ids = append(c.ids, textOf(r["id"]))
	documents, _ := textsOf(r["documents"])
	c.documents = append(c.documents, documents)
	cluster := "id\x00" + textOf(r["id"])
	if v, ok := r.text("cluster"); ok {
		cluster = "cluster\x00" + v
	}
	c.clusters = append(c.clusters, cluster)
}

// at is a number of a row; known is false if it has none.
func (c *columns) at(name string, row int) (v float64, known bool) {
	column := c.numbers[name]
	if row >= len(column) || math.IsNaN(column[row]) {
		return 0, false
	}
	return column[row], true
}

// any reports whether some row has a number in the column.
func (c *columns) any(name string) bool {
	return slices.ContainsFunc(c.numbers[name], func(v float64) bool { return !math.IsNaN(v) })
}

// sum adds up terms of a row; what is not known adds nothing.
func (c *columns) sum(terms []term, row int) (v float64) {
	for _, t := range terms {
		x, _ := c.at(t.column, row)
		v += t.factor * x
	}
	return v
}

// A group are the rows of a system and a slice.
type group struct {
	system, slice string
	rows          []int
	dependence    *dependence // nil if its rows share no documents
}

func (v *verification) groups() []group {
	var all []group
	in := make(map[[2]string]int)
	enter := func(system, slice string, row int) {
		k, ok := in[[2]string{system, slice}]
		if !ok {
			k = len(all)
			in[[2]string{system, slice}] = k
			all = append(all, group{system: system, slice: slice})
		}
		if row >= 0 {
			all[k].rows = append(all[k].rows, row)
		}
	}
	enter("", "", -1)
	for row, system := range v.table.systems {
		enter("", "", row)
		enter(system, "", row)
		for _, key := range v.s.Slices {
			if key == "system" {
				continue
			}
			for _, value := range v.table.slices[row][key] {
				enter("", key+"="+value, row)
				enter(system, key+"="+value, row)
			}
		}
	}
	return all
}

// summary computes summary.parquet from the numbers of the rows.
func (v *verification) summary() error {
	have := make(map[[4]string]record)
	var order [][4]string
	_, err := readTable(filepath.Join(v.dir, runs.SummaryFile), func(r record) error {
		key := [4]string{textOf(r["system"]), textOf(r["slice"]), textOf(r["metric"]), textOf(r["agg"])}
		have[key] = r
		order = append(order, key)
		return nil
	})
	if err != nil {
		return err
	}
	name := func(k [4]string) string {
		return strings.TrimSpace(strings.Join([]string{k[3] + "(" + k[2] + ")", "system=" + k[0], k[1]}, " "))
	}
	items := slices.Clone(metrics)
	for count := range strings.FieldsSeq(summaryCounts) {
		items = append(items, metric{name: count, kind: "count", min: 0, max: math.Inf(1)})
	}
	details := []string{
		"set_tolerance_jaccard", "mean_exact_jaccard", "mean_tolerance_jaccard", "mean_best_exact_jaccard", "mean_snapped_jaccard",
		"span_precision", "span_recall", "span_f1", "boundary_error_start", "boundary_error_end",
	}
	for _, g := range v.groups() {
		g.dependence = v.depend(&g)
		if g.dependence != nil && g.dependence.much {
			v.report.Skipped = append(v.report.Skipped, Skipped{runs.SummaryFile, "intervals of system=" + g.system + " " + g.slice, "too many rows that share documents to go through all pairs"})
		}
		for i := range items {
			m := &items[i]
			if !v.s.Reporting.DetailedSpanAnalysis && slices.Contains(details, m.name) ||
				!v.s.Reporting.HallucinationDetails && slices.Contains([]string{"contradiction_rate", "contradicted_claims", "hallucinated_claims"}, m.name) {
				continue
			}
			for agg, want := range v.summarize(&g, m) {
				key := [4]string{g.system, g.slice, m.name, agg}
				r, ok := have[key]
				if !ok {
					v.differ(runs.SummaryFile, "metric", name(key), "no such row", want["estimate"])
					continue
				}
				delete(have, key)
				v.compare(runs.SummaryFile, name(key), r, want)
			}
		}
	}
	for _, key := range order {
		if _, left := have[key]; left {
			v.differ(runs.SummaryFile, "metric", name(key), "a row", "none")
		}
	}
	return nil
}

// summarize computes the summary of a metric over a group, by its agg.
func (v *verification) summarize(g *group, m *metric) map[string]record {
	macro, micro := newQuantity(g), newQuantity(g)
	for at, row := range g.rows {
		value, known := v.table.at(m.name, row)
		if !known {
			continue
		}
		macro.add(at, v.table.clusters[row], value, 1)
		if len(m.num) > 0 {
			micro.add(at, v.table.clusters[row], v.table.sum(m.num, row), v.table.sum(m.den, row))
		}
	}
	n := macro.alone.rows
	out := map[string]record{"macro": v.line(g, m, macro, n, false)}
	if len(m.num) > 0 {
		out["micro"] = v.line(g, m, micro, n, true)
	} else if m.kind == "binary" {
		out["micro"] = v.line(g, m, macro, n, true)
	}
	if m.bounded || m.name == "citation_coverage" {
		v.cover(g, m, out)
	}
	return out
}

// A quantity is what a number rests on: the rows by their clusters alone, and as they share
// documents.
type quantity struct {
	of         *dependence
	alone      *sample
	components *sample
	y, x, rows []float64 // of each unit
}

func newQuantity(g *group) *quantity {
	q := &quantity{of: g.dependence, alone: newSample()}
	if q.of == nil {
		return q
	}
	q.components = newSample()
	units := len(q.of.documents)
	q.y, q.x, q.rows = make([]float64, units), make([]float64, units), make([]float64, units)
	return q
}

// add adds the at-th row of the group.
func (q *quantity) add(at int, cluster string, y, x float64) {
	q.alone.add(cluster, y, x)
	if q.of == nil {
		return
	}
	n := q.of.unit[at]
	if q.of.kind == "components" {
		q.components.add(fmt.Sprint(q.of.component[n]), y, x)
		return
	}
	q.components.add(fmt.Sprint(n), y, x) // the units, for their number
	q.y[n], q.x[n], q.rows[n] = q.y[n]+y, q.x[n]+x, q.rows[n]+1
}

// sample is what the interval rests on.
func (q *quantity) sample(ratio float64) *sample {
	if q.of == nil {
		return q.alone
	}
	s := q.components
	if s.how = "/" + q.of.kind; q.of.kind == "pairs" && !q.of.much {
		_, x := s.totals()
		s.pairs = q.of.variance(q.y, q.x, q.rows, ratio, float(x))
	}
	return s
}

// line is one line of the summary.
func (v *verification) line(g *group, m *metric, q *quantity, n int64, micro bool) record {
	level := v.s.Statistics.Level
	r := record{
		"n": n, "undefined": int64(len(g.rows)) - n, "unscored": int64(0), "coverage": nil, "num": nil, "den": nil,
		"estimate": nil, "ci_low": nil, "ci_high": nil, "method": nil, "level": level, "clusters": int64(0), "se": nil, "naive_low": nil, "naive_high": nil,
		"bound_low": nil, "bound_high": nil, "defined_share": nil,
	}
	if len(g.rows) > 0 {
		r["defined_share"] = float64(n) / float64(len(g.rows))
	}
	s := q.alone
	r["clusters"] = int64(len(s.clusters))
	value, known := s.ratio()
	if q.of != nil {
		s = q.sample(value)
		r["clusters"] = s.spread().clusters
		if !known && q.of.kind == "pairs" {
			r["clusters"] = int64(0)
		}
	}
	if !known {
		return r
	}
	r["estimate"] = value
	if micro {
		y, x := s.totals()
		r["num"], r["den"] = float(y), float(x)
	}
	ci := v.interval(m, s, value, micro)
	if ci.known {
		r["se"] = ci.se
	}
	naive := ci
	if q.of != nil {
		naive = v.interval(m, q.alone, value, micro)
	}
	apart := max(math.Abs(naive.low-ci.low)/max(1, math.Abs(ci.low)), math.Abs(naive.high-ci.high)/max(1, math.Abs(ci.high)))
	if naive.known && (!ci.known || apart > near) {
		r["naive_low"], r["naive_high"] = naive.low, naive.high
	} else if naive.known && apart > rounding {
		delete(r, "naive_low") // whether they are one is a matter of rounding
		delete(r, "naive_high")
	}
	if ci.known && v.s.Reporting.ConfidenceIntervals {
		r["ci_low"], r["ci_high"], r["method"] = ci.low, ci.high, ci.method
		v.redraw(g, s, value, r)
	}
	if q.of != nil && q.of.much {
		for _, name := range []string{"ci_low", "ci_high", "method", "clusters", "se", "naive_low", "naive_high"} {
			delete(r, name)
		}
	}
	return r
}

// redraw replaces the interval of a line by that of a bootstrap, where the run asked for one
// and there is something to draw. Rows that depend on each other in pairs are no clusters
// that could be drawn.
func (v *verification) redraw(g *group, s *sample, value float64, r record) {
	method := v.s.Statistics.Method
	if method != bca && method != percentile || s.pairs != nil || g.dependence != nil && g.dependence.kind == "pairs" {
		return
	}
	if len(s.clusters) > mostDrawn {
		v.undrawn(g, len(s.clusters))
		for _, name := range []string{"ci_low", "ci_high", "method"} {
			delete(r, name)
		}
		return
	}
	drawn := v.resample(s, value)
	if drawn == nil {
		return
	}
	low, high, methods := drawn.interval(method, v.s.Statistics.Level)
	for i := range methods {
		methods[i] += s.how
	}
	r["ci_low"], r["ci_high"], r["method"] = low, high, methods
}

// undrawn says once of a group that its bootstrap is not drawn again.
func (v *verification) undrawn(g *group, clusters int) {
	columns := "ci_low, ci_high, method of system=" + g.system + " " + g.slice
	if !slices.ContainsFunc(v.report.Skipped, func(s Skipped) bool { return s.Column == columns }) {
		v.report.Skipped = append(v.report.Skipped, Skipped{runs.SummaryFile, columns, fmt.Sprintf("a bootstrap of %d clusters is not drawn again: at most %d", clusters, mostDrawn)})
	}
}

func (v *verification) interval(m *metric, s *sample, value float64, micro bool) interval {
	w, level := s.spread(), v.s.Statistics.Level
	switch {
	case micro && len(m.num) > 0:
		return w.ratioInterval(value, level, m.min == 0 && m.max == 1, v.s.Statistics.Method == runs.CR1)
	case m.kind == "binary":
		return w.shareInterval(value, level, s.rows)
	}
	return w.meanInterval(value, level, m.min, m.max, v.s.Statistics.Method == runs.CR1)
}

// cover completes lines with what was scored, and what the rest could change.
func (v *verification) cover(g *group, m *metric, out map[string]record) {
	if !v.judged {
		return
	}
	var scorable, unscored, num, low, high, rows, known float64
	lacking, some := false, false
	var without []term // items left out because no text of them is known
	for _, t := range m.scorable {
		if strings.HasPrefix(t.column, "no_text_") {
			without = append(without, term{t.column, -t.factor})
		}
	}
	for _, row := range g.rows {
		of := v.table.sum(m.scorable, row)
		scorable, unscored, num = scorable+of, unscored+v.table.sum(m.unscored, row), num+v.table.sum(m.num, row)
		value, defined := v.table.at(m.name, row)
		l, bounded := v.table.at(m.name+"_low", row)
		h, _ := v.table.at(m.name+"_high", row)
		switch {
		case bounded:
			low, high, rows, some = low+l, high+h, rows+1, true
		case defined:
			low, high, rows = low+value, high+value, rows+1
		}
		if defined {
			share := 1.0
			if left := v.table.sum(without, row); left > 0 {
				lacking = true
				if of+left > 0 {
					share = max(0, of) / (of + left)
				}
			}
			known += share
		}
	}
	for agg, r := range out {
		r["unscored"] = int64(unscored)
		if lacking {
			r["defined_share"] = known / float64(len(g.rows))
		}
		if scorable > 0 {
			r["coverage"] = (scorable - unscored) / scorable
		}
		switch {
		case agg == "micro" && m.min == 0 && m.max == 1 && scorable > 0:
			r["bound_low"], r["bound_high"] = num/scorable, (num+unscored)/scorable
		case agg == "macro" && rows > 0 && (some || unscored == 0): // some metrics have no bounds
			r["bound_low"], r["bound_high"] = low/rows, high/rows
		case agg == "macro" && v.table.any(m.name+"_low"): // none of these rows has them, others have
			delete(r, "bound_low")
			delete(r, "bound_high")
		}
	}
}
