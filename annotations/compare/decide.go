package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// manySides is up to how many sides every two are compared. Of more, each is compared with the
// best, and there are no ranks.
const manySides = 20

// A contest is which sides of a group a quantity compares, and over which questions.
type contest struct {
	group  *group
	q      Quantity
	values []Value         // of each side
	in     []int           // sides that are compared
	ranges bool            // the value of some side is a range
	common map[uint64]bool // questions with a value on all of these sides; nil for a base and one other run, where the pairs of rows are the same questions
	barred string          // why the sides cannot be compared by it
}

// decide compares the sides on the deciding metrics, with simultaneous intervals, then on the
// other metrics, and at last on the deciding metrics within slices.
func (c *comparison) decide() error {
	deciding := c.Metrics
	if len(deciding) == 0 {
		var err error
		if deciding, err = c.lead(); err != nil {
			return err
		}
	}
	var contests []*contest
	family := 0
	for _, q := range deciding {
		for _, g := range c.groups {
			x, err := c.contest(g, q)
			if err != nil {
				return err
			}
			contests = append(contests, x)
			if n := len(x.in); c.from >= 0 {
				family += max(n-1, 0)
			} else {
				family += n * (n - 1) / 2
			}
		}
	}
	for i, x := range contests {
		m, err := c.metric(x, &tester{c.level, max(family, 1)}, i == 0)
		if err != nil {
			return err
		}
		m.Deciding, m.Family = true, family
		if m.shown() {
			c.result.Metrics = append(c.result.Metrics, *m)
		}
		for _, v := range x.values {
			if v.Reason != "" && v.Low == nil && x.barred == "" {
				c.result.SetAside = append(c.result.SetAside, Aside{v.Name, x.q.String(), v.Reason})
			}
		}
	}
	more := c.More
	if len(c.Metrics) == 0 && len(more) == 0 {
		more = slices.Concat(leading, named(c.base.components...))
	}
	done := slices.Clone(deciding)
	for _, q := range more {
		if q.Metric.Name == metrics.HallucinationScore.String() { // 1 less the rate
			q = named(metrics.HallucinationRate.String())[0]
		}
		if slices.ContainsFunc(done, func(o Quantity) bool { return o.Metric.Name == q.Metric.Name && o.Micro == q.Micro }) {
			continue
		}
		done = append(done, q)
		for _, g := range c.groups {
			x, err := c.contest(g, q)
			if err != nil {
				return err
			}
			m, err := c.metric(x, &tester{level: c.level}, false)
			if err != nil {
				return err
			}
			if m.shown() {
				c.result.Metrics = append(c.result.Metrics, *m)
			}
		}
	}
	return c.slicewise(contests)
}

// shown reports whether some side has anything of the metric.
func (m *Metric) shown() bool {
	return slices.ContainsFunc(m.Sides, func(v Value) bool { return v.Own != nil || v.Low != nil || v.OwnRows > 0 })
}

// lead is the leading metric: the first that is a number for all sides that are compared.
func (c *comparison) lead() ([]Quantity, error) {
	for _, q := range leading {
		if q.Metric.Name == overall && ofPlaces(c.base.components) {
			continue
		}
		most := 0
		ranges := false
		for _, g := range c.groups {
			x, err := c.contest(g, q)
			if err != nil {
				return nil, err
			}
			most, ranges = max(most, len(x.in)), ranges || x.ranges || x.barred != ""
		}
		if most > 1 && !ranges {
			return []Quantity{q}, nil
		}
	}
	return nil, nil
}

// contest finds the sides that can be compared by a quantity, and the questions that all of them
// have a value for. Of systems of a run those are set aside that have a value for too few of the
// questions that at least half of all sides answered: leaving out hard questions must not pay. A
// run may be of a part of the questions.
func (c *comparison) contest(g *group, q Quantity) (*contest, error) {
	x := &contest{group: g, q: q}
	var answered map[uint64]int // by how many sides
	var few tooFew
	asked := int64(0)
	if c.result.By != "run" {
		answered = make(map[uint64]int)
		for _, s := range g.rows {
			for _, row := range s.rows {
				answered[s.question(row)]++
			}
		}
		shared := false
		for _, n := range answered {
			shared = shared || n > 1
			if 2*n >= len(g.rows) {
				asked++
			}
		}
		if !shared {
			answered = nil // the sides stand side by side
		}
	}
	for i, s := range g.rows {
		if i > 0 && !c.Force {
			x.barred = cmp.Or(x.barred, strings.Join(barred(g.rows[0].run, s.run, &q.Metric), "; "))
		}
		v := Value{Name: c.result.Sides[i].Name}
		values, err := s.run.series(q)
		if err != nil {
			return nil, err
		}
		together := 1 - (1-c.level)/float64(len(g.rows))
		e := s.estimate(q, values, together)
		v.Own, v.CILow, v.CIHigh = e.Nullable()
		v.OwnRows = e.N
		if err := s.withhold(&v, q, values, together); err != nil {
			return nil, err
		}
		switch {
		case v.Reason != "":
			v.Own, x.ranges = nil, true
		case answered != nil:
			v.Reason, err = few.of(s, q, values, func(row int32) bool { return 2*answered[s.question(row)] >= len(g.rows) }, asked)
		}
		if err != nil {
			return nil, err
		}
		if v.Reason == "" && v.OwnRows > 0 {
			x.in = append(x.in, i)
		}
		x.values = append(x.values, v)
	}
	if c.from < 0 || len(x.in) > 2 {
		return x, x.findCommon()
	}
	return x, nil
}

// tooFew says of the sides of one run which have a metric of too few of the questions that count.
type tooFew struct {
	known   func(row int32) float64 // a question counts in part where some claims or citations have no known text
	excused []bool                  // rows of the run that lack it for a reason that says nothing of the side
}

func (f *tooFew) of(s *rowSet, q Quantity, values *series, counts func(row int32) bool, asked int64) (why string, err error) {
	if f.known == nil {
		if f.known, err = s.run.known(&q.Metric); err != nil {
			return "", err
		}
	}
	defined := 0.0
	for _, row := range s.rows {
		if values.has[row] && counts(row) && !values.lacks(row) {
			defined += f.known(row)
		}
	}
	if defined >= metrics.MinDefined*float64(asked) {
		return "", nil
	}
	if f.excused == nil {
		if f.excused, err = s.run.excused(q.Metric.Name); err != nil {
			return "", err
		}
	}
	for _, row := range s.rows {
		if f.excused[row] && counts(row) {
			asked--
		}
	}
	if defined >= metrics.MinDefined*float64(asked) && defined > 0 {
		return "", nil
	}
	return fmt.Sprintf("defined for %.4g of %d questions that at least half of the sides answered", defined, asked), nil
}

// findCommon finds the questions that all sides in the contest have a value for.
func (x *contest) findCommon() error {
	have := make(map[uint64]int)
	for _, i := range x.in {
		s := x.group.rows[i]
		values, err := s.run.series(x.q)
		if err != nil {
			return err
		}
		for _, row := range s.rows {
			if values.has[row] {
				have[s.question(row)]++
			}
		}
	}
	x.common = make(map[uint64]bool)
	for question, n := range have {
		if n == len(x.in) {
			x.common[question] = true
		}
	}
	return nil
}

// metric compares the sides of a contest. The first metric ranks the sides.
func (c *comparison) metric(x *contest, t *tester, first bool) (*Metric, error) {
	m := &Metric{
		Metric: x.q.Metric.Name, Agg: x.q.agg(), System: x.group.system, Direction: int(x.q.Metric.Direction), Reason: x.barred,
		Sides: x.values, Differences: []Difference{}, Leaders: []string{}, Questions: int64(len(x.common)),
	}
	if x.barred == "" && x.common != nil && len(x.common) == 0 && len(x.in) > 1 {
		m.Reason = NotPaired
	}
	if m.Reason != "" {
		return m, nil
	}
	order, err := c.order(x, m)
	if err != nil {
		return nil, err
	}
	better := make(map[[2]int]bool)
	for n, base := range order {
		if n > 0 && (c.from >= 0 || len(order) > manySides) {
			break
		}
		for _, other := range order[n+1:] {
			d, err := c.difference(x, t, base, other)
			if err != nil {
				return nil, err
			}
			better[[2]int{base, other}], better[[2]int{other, base}] = d.Word == Worse, d.Word == Better
			if d.Reason == NotPaired {
				m.Reason = NotPaired
			} else if n == 0 {
				if m.Differences = append(m.Differences, d); x.common == nil {
					m.Questions, m.Sides[base].Estimate, m.Sides[other].Estimate = d.N, d.BaseMean, d.NewMean
				}
			}
		}
	}
	c.bound(x, m)
	if c.from >= 0 {
		return m, nil
	}
	if t.family > 0 && len(x.common) > 0 && len(order) > 1 && m.Direction != 0 {
		for _, i := range order {
			if !better[[2]int{order[0], i}] {
				m.Leaders = append(m.Leaders, m.Sides[i].Name)
			}
		}
	}
	for _, i := range order {
		if !first || len(m.Leaders) == 0 || len(order) > manySides {
			break
		}
		rank := [2]int{1, len(order)}
		for _, j := range order {
			if better[[2]int{j, i}] {
				rank[0]++
			}
			if better[[2]int{i, j}] {
				rank[1]--
			}
		}
		c.result.Sides[i].Rank = &rank
	}
	return m, nil
}

// order are the sides in the contest: the base, else the best, before the others. It sets the
// estimates over the common questions.
func (c *comparison) order(x *contest, m *Metric) ([]int, error) {
	order := slices.Clone(x.in)
	for _, i := range order {
		s := x.group.rows[i]
		if x.common == nil {
			continue
		}
		kept := &rowSet{run: s.run, system: s.system}
		for _, row := range s.rows {
			if x.common[s.question(row)] {
				kept.rows = append(kept.rows, row)
			}
		}
		values, err := s.run.series(x.q)
		if err != nil {
			return nil, err
		}
		e := kept.estimate(x.q, values, c.level)
		m.Sides[i].Estimate, _, _ = e.Nullable()
	}
	if c.from >= 0 {
		if at := slices.Index(order, c.from); at >= 0 {
			return append([]int{c.from}, slices.Delete(order, at, at+1)...), nil
		}
		return nil, nil
	}
	sign := cmp.Or(float64(m.Direction), 1)
	slices.SortStableFunc(order, func(a, b int) int {
		a, b = b, a
		if m.Sides[a].Estimate == nil || m.Sides[b].Estimate == nil {
			return 0
		}
		return cmp.Compare(sign**m.Sides[a].Estimate, sign**m.Sides[b].Estimate)
	})
	return order, nil
}

// difference compares two sides of a contest.
func (c *comparison) difference(x *contest, t *tester, base, other int) (Difference, error) {
	p := x.group.pairing(base, other)
	d, err := t.difference(p, x.q, x.common)
	d.Base, d.New = c.result.Sides[base].Name, c.result.Sides[other].Name
	if err != nil || d.Diff == nil {
		return d, err
	}
	doubt, err := p.doubt(&x.q.Metric, c.level)
	if doubt != "" {
		d.Word = ""
		d.Warnings = append(d.Warnings, "no verdict: "+doubt)
	}
	return d, err
}

// bound adds what is possible between the best, or the base, and sides whose value is a range.
func (c *comparison) bound(x *contest, m *Metric) {
	if !x.ranges {
		return
	}
	ends := func(v *Value) (low, high *float64) {
		if v.Own != nil {
			return v.Own, v.Own
		}
		return v.Low, v.High
	}
	base := max(c.from, 0)
	for i := range m.Sides {
		a, b := &m.Sides[base], &m.Sides[i]
		aLow, aHigh := ends(a)
		bLow, bHigh := ends(b)
		if i == base || !x.group.pairing(base, i).paired || a.Own != nil && b.Own != nil || aLow == nil || bLow == nil {
			continue
		}
		m.Differences = append(m.Differences, Difference{
			Base: a.Name, New: b.Name, BoundLow: new(*bLow - *aHigh), BoundHigh: new(*bHigh - *aLow),
			Reason: cmp.Or(b.Reason, a.Reason), Warnings: []string{},
		})
	}
}

// slicewise compares the deciding metrics within slices.
func (c *comparison) slicewise(contests []*contest) error {
	for _, x := range contests {
		if x.barred != "" {
			continue
		}
		of := c.result.metric(x)
		for _, key := range c.slices {
			in := make(map[*Run]map[string][]int32)
			values := make(map[string]bool)
			for _, s := range x.group.rows {
				if _, ok := in[s.run]; ok {
					continue
				}
				var err error
				if in[s.run], err = s.run.slicesBy(key); err != nil {
					return err
				}
				for value := range in[s.run] {
					values[value] = true
				}
			}
			for _, value := range slices.Sorted(maps.Keys(values)) {
				m, err := c.inSlice(x, of, in, key, value)
				if err != nil {
					return err
				}
				if len(m.Differences) > 0 {
					c.result.Metrics = append(c.result.Metrics, *m)
				}
			}
		}
	}
	return nil
}

// metric is what came of a contest; nil if it is not shown.
func (r *Result) metric(x *contest) *Metric {
	for i := range r.Metrics {
		if m := &r.Metrics[i]; m.Metric == x.q.Metric.Name && m.Agg == x.q.agg() && m.System == x.group.system {
			return m
		}
	}
	return nil
}

// inSlice compares the sides of a metric over the rows that have a value of a key.
func (c *comparison) inSlice(x *contest, of *Metric, in map[*Run]map[string][]int32, key, value string) (*Metric, error) {
	m := &Metric{Metric: x.q.Metric.Name, Agg: x.q.agg(), System: x.group.system, Slice: key + "=" + value, Direction: int(x.q.Metric.Direction), Sides: []Value{}, Leaders: []string{}}
	if of == nil {
		return m, nil
	}
	side := func(name string) int {
		return slices.IndexFunc(c.result.Sides, func(s Side) bool { return s.Name == name })
	}
	for i := range of.Differences {
		base, other := side(of.Differences[i].Base), side(of.Differences[i].New)
		p := x.group.pairing(base, other)
		within := p.inSlice(m.Slice, &x.q.Metric, in[p.base.run][value], in[p.other.run][value])
		if len(within.second) == 0 {
			continue
		}
		d, err := (&tester{level: c.level}).difference(within, x.q, x.common)
		if err != nil {
			return nil, err
		}
		if d.Base, d.New = of.Differences[i].Base, of.Differences[i].New; d.N > 0 {
			if m.Differences = append(m.Differences, d); len(m.Sides) == 0 {
				m.Sides = append(m.Sides, Value{Name: d.Base, Estimate: d.BaseMean, OwnRows: d.N})
			}
			m.Sides = append(m.Sides, Value{Name: d.New, Estimate: d.NewMean, OwnRows: d.N})
			m.Questions = d.N
		}
	}
	return m, nil
}

// withhold says why a side has no number of a metric, with the ends of what it may be where they
// are known: too many items are undecided, a pooled value lacks rows, or the mean lies outside its
// bounds.
func (s *rowSet) withhold(v *Value, q Quantity, values *series, level float64) error {
	undecided, err := s.run.undecidable(&q.Metric, s.rows)
	switch {
	case err != nil:
		return err
	case q.Micro && values.countLeft(s.rows) > 0:
		v.Reason = runs.NotPooledText
		return nil
	case q.Micro && undecided:
		v.Reason = runs.WithheldText(runs.Undecided, nil, nil)
		return nil
	case q.Micro:
		return nil
	}
	b, err := s.run.boundsOf(q, values)
	if err != nil || b.known == nil && !undecided {
		return err
	}
	known := b.known
	if known == nil {
		known = values.has
	}
	low, high := s.estimate(q, &series{has: known, value: b.low}, level), s.estimate(q, &series{has: known, value: b.high}, level)
	from, lowest, _ := low.Nullable()
	to, _, highest := high.Nullable()
	switch {
	case undecided && from == nil:
		v.Reason = runs.WithheldText(runs.Undecided, nil, nil)
	case undecided:
		v.Reason = runs.WithheldText(runs.Undecided, from, to)
	case v.Own != nil && runs.IsSelective(*v.Own, *from, *to):
		v.Reason = runs.WithheldText(runs.Selective, from, to)
	default:
		return nil
	}
	v.Low, v.High, v.CILow, v.CIHigh = from, to, lowest, highest
	return nil
}

// Ends are the ends of the interval of a quantity that is a range over the rows of a system ("" is
// all) and a slice KEY=VALUE ("" is all rows): the lower one where everything undecided is worst,
// the upper one where it is best. They are nil if it is no range, or an end is not known.
func (r *Run) Ends(system, slice string, q Quantity, level float64) (low, high *float64, err error) {
	s := side(r, system, nil)
	if key, value, ok := strings.Cut(slice, "="); ok {
		in, err := r.slicesBy(key)
		if err != nil {
			return nil, nil, err
		}
		s.rows = slices.DeleteFunc(slices.Clone(s.rows), func(row int32) bool {
			_, found := slices.BinarySearch(in[value], row)
			return !found
		})
	}
	s.run = r.of(slice, &q.Metric)
	values, err := s.run.series(q)
	if err != nil {
		return nil, nil, err
	}
	var v Value
	err = s.withhold(&v, q, values, level)
	return v.CILow, v.CIHigh, err
}

// restsOnSpans reports whether a metric of a run compares places to the character.
func restsOnSpans(r *Run, m *metrics.Definition) bool {
	return m.OfSpans() || m.Name == overall && ofPlaces(r.components)
}

// ofPlaces reports whether an overall score is made of places alone: it is their overlap again.
func ofPlaces(components []string) bool {
	return slices.Equal(components, []string{"span_accuracy_score"})
}

// Leading returns the first leading metric that is known, "" if none is. components are those of
// the run's overall score.
func Leading(components []string, known func(metric string) bool) string {
	for _, q := range leading {
		if name := q.Metric.Name; known(name) && (name != overall || !ofPlaces(components)) {
			return name
		}
	}
	return ""
}

// doubt says why a metric of spans cannot be compared where the offsets of the sides hold their
// quotes in different shares, by the difference of offset_accuracy; "" if they do not: where a
// citation counts depends on how well offsets were kept, and not only on what was cited.
func (p *pairing) doubt(m *metrics.Definition, level float64) (string, error) {
	if !restsOnSpans(p.base.run, m) {
		return "", nil
	}
	if p.offsets == nil {
		d, err := (&tester{level, 1}).difference(p, named(metrics.OffsetAccuracy.String())[0], nil)
		if err != nil {
			return "", err
		}
		p.offsets = &d
	}
	o := p.offsets
	if o.P == nil || *o.P > 1-level {
		return "", nil
	}
	return fmt.Sprintf("%s differs (%.3f and %.3f, p = %.4g), so one has more quotes that are not at their offsets",
		metrics.OffsetAccuracy, *o.BaseMean, *o.NewMean, *o.P), nil
}
