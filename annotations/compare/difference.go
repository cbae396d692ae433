package compare

import (
	"cmp"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A tester knows how differences are computed: the intervals of family differences hold together
// with a chance of level (Bonferroni). With a family of 0 each interval stands alone, and there is
// neither p nor word.
type tester struct {
	level  float64
	family int
}

// difference compares a quantity over the pairs whose question is common; nil are all questions.
func (t *tester) difference(p *pairing, q Quantity, common map[uint64]bool) (Difference, error) {
	d := Difference{Warnings: []string{}}
	base, other, err := p.series(q)
	if err != nil {
		return d, err
	}
	undecided, err := p.undecidable(&q.Metric)
	left := base.countLeft(p.first.rows) + other.countLeft(p.second)
	if left > 0 {
		d.Warnings = append(d.Warnings, runs.LeftOutText(left))
	}
	switch {
	case err != nil:
		return d, err
	case !p.paired:
		d.Reason = NotPaired
	case q.Micro && left > 0:
		d.Reason = runs.NotPooledText
	case undecided:
		d.Reason = runs.WithheldText(runs.Undecided, nil, nil)
	default:
		t.paired(&d, p, q, [2]*series{base, other}, common)
		t.conclude(&d, q.Metric.Direction)
	}
	return d, nil
}

// undecidable reports whether too much of a metric is undecided on one side.
func (p *pairing) undecidable(d *metrics.Definition) (bool, error) {
	first, second := p.first.rows, p.second
	if !p.paired {
		first, second = p.base.rows, p.other.rows
	}
	undecided, err := p.base.run.undecidable(d, first)
	if err != nil || undecided {
		return undecided, err
	}
	return p.other.run.undecidable(d, second)
}

// countLeft counts those of the rows that count as worst, because something is left out of them.
func (s *series) countLeft(rows []int32) (n int64) {
	for _, row := range rows {
		if s.lacks(row) {
			n++
		}
	}
	return n
}

// lacks reports whether the value of a row is the worst because something is left out.
func (s *series) lacks(row int32) bool { return int(row) < len(s.left) && s.left[row] }

// paired compares means, or ratios of sums, over the same rows.
func (t *tester) paired(d *Difference, p *pairing, q Quantity, sides [2]*series, common map[uint64]bool) {
	n := len(p.first.rows)
	var y, x [2][]float64 // by side, of each pair
	for i := range sides {
		y[i], x[i] = make([]float64, n), make([]float64, n)
	}
	counts := make([]bool, n)
	for at, row := range p.first.rows {
		rows := [2]int32{row, p.second[at]}
		switch {
		case common != nil && !common[p.base.question(row)]:
			continue
		case !sides[0].has[rows[0]] || !sides[1].has[rows[1]]:
			d.Undefined++
			continue
		}
		counts[at] = true
		for i, s := range sides {
			if y[i][at], x[i][at] = s.value[rows[i]], 1; q.Micro {
				y[i][at], x[i][at] = s.num[rows[i]], s.den[rows[i]]
			}
		}
		switch a, b := sides[0].value[rows[0]], sides[1].value[rows[1]]; {
		case a == b:
			d.Same++
		case b > a == (q.Metric.Direction != metrics.LowerIsBetter):
			d.Better++
		default:
			d.Worse++
		}
	}
	d.N = d.Better + d.Worse + d.Same
	units := p.units()
	var means [2]*stats.Quotient
	for i := range means {
		if means[i] = stats.NewQuotient(units.Sums(y[i]), units.Sums(x[i])); means[i] == nil {
			d.Reason = ibid.NoData.String()
			if d.N > 0 {
				d.Reason = ibid.ZeroDenominator.String()
			}
			continue
		}
		*[]**float64{&d.BaseMean, &d.NewMean}[i] = new(means[i].Value)
	}
	if means[0] == nil || means[1] == nil {
		return
	}
	low, high := runs.Bounds(&q.Metric, q.Micro)
	of := means[1].Minus(means[0])
	if !q.Micro { // as the mean of differences
		for at, v := range y[0] {
			y[1][at] -= v
		}
		of, low, high = stats.NewQuotient(units.Sums(y[1]), units.Sums(x[1])), q.Metric.Min, q.Metric.Max
	}
	t.compare(d, p, of, units.Documents(func(at int) bool { return counts[at] && (x[0][at] != 0 || x[1][at] != 0) }), high-low)
}

// compare sets difference, interval, p-value, and what would have been found.
func (t *tester) compare(d *Difference, p *pairing, of *stats.Quotient, documents *stats.Documents, width float64) {
	family := float64(max(t.family, 1))
	level := 1 - (1-t.level)/family
	s := of.Spread(documents)
	c := s.Difference(of.Value, width, level)
	c.NameGiven(func(document int32) string {
		key := p.units().keys[document]
		return cmp.Or(p.base.run.nameOf(key), p.other.run.nameOf(key))
	})
	d.Clusters = c.Clusters
	d.Warnings = append(d.Warnings, stats.Texts(c.Warnings)...)
	d.Diff, d.Low, d.High = c.Nullable()
	if c.HasSE {
		d.SE = new(c.SE)
	}
	if c.P.Known() {
		d.P = new(min(1, family*c.P.Value))
	}
	if c.DF.Known() && c.SE > 0 {
		if mde, ok := (stats.Design{Alpha: 1 - level, Power: stats.DefaultDesign.Power}).Detectable(c.SE, c.DF.Value); ok && mde <= width {
			d.MDE = new(mde)
		}
	}
}

// conclude sets the word of a difference that decides, and takes back what the others do not have.
func (t *tester) conclude(d *Difference, direction metrics.Direction) {
	apart := d.Low != nil && (*d.Low > 0 || *d.High < 0)
	switch {
	case d.Diff == nil || t.family == 0:
	case d.Better+d.Worse == 0: // nothing that could be by chance
		d.Word, d.Low, d.High, d.SE, d.P, d.MDE, d.Warnings = Same, nil, nil, nil, nil, nil, []string{}
	case d.Low == nil:
	case !apart:
		d.Word = Tied
	case direction == 0:
		d.Word = Different
	case (*d.Diff > 0) == (direction > 0):
		d.Word = Better
	default:
		d.Word = Worse
	}
	if t.family == 0 {
		d.P = nil
	}
	if apart {
		d.MDE = nil
	}
}

// NotPaired is the reason why there is no difference between sides that answered
// different questions: which questions these are is part of what differs.
const NotPaired = "not paired: the sides have no question in common"

// estimate is a quantity over the rows of a side, as a summary has it.
func (s *rowSet) estimate(q Quantity, values *series, level float64) stats.Estimate {
	y, x := make([]float64, len(s.rows)), make([]float64, len(s.rows))
	n := int64(0)
	for at, row := range s.rows {
		if !values.has[row] {
			continue
		}
		n++
		if y[at], x[at] = values.value[row], 1; q.Micro {
			y[at], x[at] = values.num[row], values.den[row]
		}
	}
	units := s.units()
	low, high := runs.Bounds(&q.Metric, q.Micro)
	e := stats.NewQuotient(units.Sums(y), units.Sums(x)).Within(units.Documents(func(row int) bool { return x[row] != 0 }), low, high, level)
	e.N = n
	return e
}
