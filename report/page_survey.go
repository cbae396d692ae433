package report

import (
	"cmp"
	"slices"
	"strings"

	"ibid/metrics"
)

// totals count what the rows of a page hold, by system.
type totals struct {
	rows, errors, failing []int64
	citations, valid      []int64
	claims                []int64
	problem               map[string][]int64 // rows by their worst one
	status                map[string][]int64
	outcome               map[string][]int64
}

// A survey counts what all rows of the runs hold. It sees each row once and keeps
// none.
type survey struct {
	data   *pageData
	number map[string]int // of systems
	docs   map[string]*docCount
	ofRun  []map[int]bool // systems of each run
	choice *chooser
}

func newSurvey(data *pageData, choice *chooser, runs int) *survey {
	s := &survey{data: data, number: make(map[string]int), docs: make(map[string]*docCount), choice: choice}
	for range runs {
		s.ofRun = append(s.ofRun, make(map[int]bool))
	}
	t := &data.totals
	t.status, t.outcome, t.problem = make(map[string][]int64), make(map[string][]int64), make(map[string][]int64)
	data.ranges = make(map[string]*valueRange)
	for _, name := range data.systems {
		s.system(name)
	}
	return s
}

// system is the number of a system; one that has no defined number follows those of
// the summary.
func (s *survey) system(name string) int {
	n, ok := s.number[name]
	if ok {
		return n
	}
	data, t := s.data, &s.data.totals
	n = len(s.number)
	if n == len(data.systems) {
		data.systems = append(data.systems, strings.Clone(name))
	}
	s.number[data.systems[n]] = n
	for _, list := range []*[]int64{&t.rows, &t.errors, &t.failing, &t.citations, &t.valid, &t.claims} {
		*list = append(*list, 0)
	}
	for _, m := range []map[string][]int64{t.status, t.outcome, t.problem} {
		for code := range m {
			m[code] = append(m[code], 0)
		}
	}
	return n
}

// count counts the rows of a block, or all rows, of a run.
func (s *survey) count(run int, r *results) {
	for m := range r.metrics {
		s.countValues(&r.metrics[m])
	}
	for i := range r.row {
		s.countRow(run, r, i)
	}
}

func (s *survey) countValues(c *metricColumn) {
	v := s.data.ranges[c.def.Name]
	if v == nil {
		v = &valueRange{}
		s.data.ranges[c.def.Name] = v
	}
	for i, x := range c.values {
		if c.valid[i] {
			v.add(x)
		}
	}
}

func (s *survey) countRow(run int, r *results, i int) {
	data, t, l := s.data, &s.data.totals, &s.data.limits[run]
	system := s.system(r.system[i])
	s.ofRun[run][system] = true
	x := candidate{run: run, row: r.row[i], problem: l.ofRow(r, i), system: system}
	x.lead, x.hasLead = leadValue(data, r, i)
	fails := x.problem.Fails()
	t.rows[system]++
	addCode(t.problem, problemWords[x.problem].Code, system, len(data.systems))
	if r.failed[i] != "" {
		t.errors[system]++
	}
	if fails {
		t.failing[system]++
	} else {
		x.lot = lot(r.run.Manifest.Seed, r.id[i], r.system[i])
	}
	s.choice.add(x)
	citations := r.citationsOf(i)
	for k := range citations {
		c := &citations[k]
		t.citations[system]++
		if validStatus(c.status) {
			t.valid[system]++
		}
		addCode(t.status, c.status, system, len(data.systems))
		problem := l.ofCitation(r, i, c)
		data.kinds.count(l, c, problem)
		s.countDocument(c, problem)
	}
	for _, c := range r.claimsOf(i) {
		t.claims[system]++
		addCode(t.outcome, c.outcome, system, len(data.systems))
	}
}

// addCode counts a status or an outcome of a system.
func addCode(m map[string][]int64, code string, system, systems int) {
	counts := m[code]
	if counts == nil {
		counts = make([]int64, systems)
		m[strings.Clone(code)] = counts
	}
	counts[system]++
}

// leadValue is the value of the first metric, turned so that more is better.
func leadValue(data *pageData, r *results, i int) (float64, bool) {
	if len(data.lead) == 0 {
		return 0, false
	}
	column := r.metric(data.lead[0])
	v, ok := column.at(i)
	if ok && column.def.Direction == metrics.LowerIsBetter {
		v = -v
	}
	return v, ok
}

func sum(list []int64) (total int64) {
	for _, n := range list {
		total += n
	}
	return total
}

// A docCount is how often a document is cited, and how often wrongly.
type docCount struct {
	name                 string
	cited, wrong, absent int64
}

func (s *survey) countDocument(c *citation, problem metrics.Problem) {
	if c.doc == "" {
		return
	}
	d := s.docs[c.doc]
	if d == nil {
		d = &docCount{name: strings.Clone(c.doc)}
		s.docs[d.name] = d
	}
	d.cited++
	if problem.Fails() {
		d.wrong++
	}
	if c.status == "document_not_found" {
		d.absent++
	}
}

// documents are those that are cited wrongly, the most often first.
func (s *survey) documents() []*docCount {
	var order []*docCount
	for _, d := range s.docs {
		if d.wrong+d.absent > 0 {
			order = append(order, d)
		}
	}
	slices.SortFunc(order, func(x, y *docCount) int {
		return cmp.Or(cmp.Compare(y.wrong, x.wrong), cmp.Compare(x.cited, y.cited), cmp.Compare(x.name, y.name))
	})
	return order
}

// A valueRange is the least and the greatest value that rows have of a metric.
type valueRange struct {
	some   bool
	lo, hi float64
}

func (c *valueRange) add(v float64) {
	if !c.some {
		c.some, c.lo, c.hi = true, v, v
	}
	c.lo, c.hi = min(c.lo, v), max(c.hi, v)
}

// ends are the least and the greatest value; none if no row has one.
func (c *valueRange) ends() []float64 {
	if c == nil || !c.some {
		return nil
	}
	return []float64{rounded(c.lo), rounded(c.hi)}
}
