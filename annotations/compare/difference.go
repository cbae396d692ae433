package compare

import (
	"cmp"
	"fmt"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A tester knows how differences are computed.
type tester struct{ level, power float64 }

// difference compares a quantity over the rows of a pairing.
func (t *tester) difference(p *pairing, q Quantity) (Difference, error) {
	d := Difference{Metric: q.Metric.Name, Agg: q.agg(), Direction: int(q.Metric.Direction), Outcome: Unknown, Warnings: []string{}}
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
	case q.Micro && left > 0:
		d.Reason = runs.NotPooledText
	case undecided:
		d.Reason = runs.WithheldText(runs.Undecided, nil, nil)
	case !p.paired:
		t.sideBySide(&d, p, q, [2]*series{base, other})
	case q.Micro:
		p.count(&d, base, other)
		t.pairedRatio(&d, p, q, base, other)
	default:
		p.count(&d, base, other)
		t.pairedMean(&d, p, q, base, other)
		if q.Metric.Corrigible() {
			err = t.correct(&d, p, &q.Metric, base, other)
		}
	}
	return d, err
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

// both reports whether a pair is defined on both sides.
func (p *pairing) both(at int, base, other *series) bool {
	return base.has[p.first.rows[at]] && other.has[p.second[at]]
}

// count counts the pairs that are defined on both sides, the others, and which side has
// more.
func (p *pairing) count(d *Difference, base, other *series) {
	for at, row := range p.first.rows {
		if !p.both(at, base, other) {
			d.Undefined++
			continue
		}
		switch a, b := base.value[row], other.value[p.second[at]]; {
		case b > a:
			d.Higher++
		case b < a:
			d.Lower++
		default:
			d.Same++
		}
	}
	d.N = d.Higher + d.Lower + d.Same
}

// pairedMean compares means over the same rows.
func (t *tester) pairedMean(d *Difference, p *pairing, q Quantity, base, other *series) {
	n := len(p.first.rows)
	of := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)} // of the base, the new side, and the difference
	x := make([]float64, n)
	for at, row := range p.first.rows {
		if p.both(at, base, other) {
			a, b := base.value[row], other.value[p.second[at]]
			of[0][at], of[1][at], of[2][at], x[at] = a, b, b-a, 1
		}
	}
	units := p.units()
	sums := units.Sums(x)
	var means [3]*stats.Quotient
	for i := range of {
		if means[i] = stats.NewQuotient(units.Sums(of[i]), sums); means[i] == nil {
			d.Reason = ibid.NoData.String()
			return
		}
	}
	d.Base, d.New = new(means[0].Value), new(means[1].Value)
	t.compare(d, p, means[2], units.Documents(func(row int) bool { return x[row] != 0 }), q.Metric.Max-q.Metric.Min)
}

// pairedRatio compares ratios of sums over the same rows.
func (t *tester) pairedRatio(d *Difference, p *pairing, q Quantity, base, other *series) {
	n := len(p.first.rows)
	var sides [2]struct{ y, x []float64 }
	for i := range sides {
		sides[i].y, sides[i].x = make([]float64, n), make([]float64, n)
	}
	for at, row := range p.first.rows {
		if p.both(at, base, other) {
			sides[0].y[at], sides[0].x[at] = base.num[row], base.den[row]
			sides[1].y[at], sides[1].x[at] = other.num[p.second[at]], other.den[p.second[at]]
		}
	}
	units := p.units()
	var ratios [2]*stats.Quotient
	for i := range sides {
		if ratios[i] = stats.NewQuotient(units.Sums(sides[i].y), units.Sums(sides[i].x)); ratios[i] != nil {
			*[]**float64{&d.Base, &d.New}[i] = new(ratios[i].Value)
		}
	}
	if ratios[0] == nil || ratios[1] == nil {
		d.Reason = ibid.ZeroDenominator.String()
		return
	}
	documents := units.Documents(func(row int) bool { return sides[0].x[row] != 0 || sides[1].x[row] != 0 })
	t.compare(d, p, ratios[1].Minus(ratios[0]), documents, widest(q))
}

// widest is the largest difference that there can be of a ratio.
func widest(q Quantity) float64 {
	low, high := runs.Bounds(&q.Metric, true)
	return high - low
}

// compare sets difference, interval, p-value, and what would have been found.
func (t *tester) compare(d *Difference, p *pairing, of *stats.Quotient, documents *stats.Documents, width float64) {
	s := of.Spread(documents)
	c := s.Difference(of.Value, width, t.level)
	c.NameGiven(func(document int32) string {
		key := p.units().keys[document]
		return cmp.Or(p.base.run.nameOf(key), p.other.run.nameOf(key))
	})
	d.Clusters, d.Method, d.Test, d.P = c.Clusters, string(c.Method), c.Test, c.P.Pointer()
	d.Diff, d.Low, d.High = c.Nullable()
	d.Warnings = append(d.Warnings, stats.Texts(c.Warnings)...)
	if c.HasSE {
		d.SE = new(c.SE)
	}
	if c.DF.Known() && c.SE > 0 {
		if mde, ok := t.design().Detectable(c.SE, c.DF.Value); ok && mde <= width {
			d.MDE = new(mde)
		}
	}
}

// offsets compares the share of quotes that stand at their offsets.
func (t *tester) offsets(p *pairing) (Difference, error) {
	d, ok := metrics.Lookup(metrics.OffsetAccuracy.String())
	if !ok {
		return Difference{}, nil
	}
	return t.difference(p, Quantity{Metric: d})
}

// NotPaired is the reason why there is no difference between sides that answered
// different questions: which questions these are is part of what differs.
const NotPaired = "not paired: the sides have no question in common"

// sideBySide sets what either side has where they have no question in common.
func (t *tester) sideBySide(d *Difference, p *pairing, q Quantity, s [2]*series) {
	var values [2]*float64
	for i, rows := range []*rowSet{p.base, p.other} {
		e := rows.estimate(q, s[i], t.level)
		values[i], _, _ = e.Nullable()
		d.N += e.N
		d.Undefined += int64(len(rows.rows)) - e.N
		d.Clusters += e.Clusters
	}
	d.Base, d.New, d.Reason = values[0], values[1], NotPaired
}

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

// design is what minimum detectable effects are for.
func (t *tester) design() stats.Design { return stats.Design{Alpha: 1 - t.level, Power: t.power} }

// conclude sets the outcome once p-values are adjusted.
func (d *Difference) conclude(level float64) {
	switch {
	case d.Adjusted == nil || d.Diff == nil:
		d.Outcome = Unknown
	case *d.Adjusted > 1-level || *d.Diff == 0:
		d.Outcome = Undecided
	case d.Direction == 0:
		d.Outcome = Different
	case (*d.Diff > 0) == (d.Direction > 0):
		d.Outcome = Better
	default:
		d.Outcome = Worse
	}
}

// ppiMethod is how a correction by labelled pairs is named.
const ppiMethod = "ppi++"

// people are what labels make of the run's rows, by the key of the answer and by metric;
// none if nobody labelled a row, or the judge was not measured by the labels.
func (r *Run) people() (map[uint64]map[string]float64, error) {
	if r.labelled != nil {
		return r.labelled, nil
	}
	rows, err := runs.Labelled().ReadIfAny(r.Dir)
	if err != nil {
		return nil, err
	}
	r.labelled = make(map[uint64]map[string]float64, len(rows))
	for _, row := range rows {
		r.labelled[answerKey(stats.Key(idPrefix, row.ID), row.System)] = row.Values
	}
	return r.labelled, nil
}

// human is what labels make of a metric of a row.
func (r *Run) human(labelled map[uint64]map[string]float64, row int32, metric string) ibid.Number {
	if v, ok := labelled[r.answer(row)][metric]; ok {
		return stats.Of(v)
	}
	return ibid.Number{}
}

// correct adds the difference without the judge's errors, over the pairs that are defined
// on both sides.
func (t *tester) correct(d *Difference, p *pairing, m *metrics.Definition, base, other *series) error {
	first, err := p.base.run.people()
	if err != nil {
		return err
	}
	second, err := p.other.run.people()
	if err != nil || len(first) == 0 || len(second) == 0 {
		return err
	}
	var judge [3][]float64 // of the base, the new side, and the difference
	var human [3][]ibid.Number
	in := &pairing{base: p.base, other: p.other, first: &rowSet{run: p.first.run, system: p.first.system}}
	labelled := int64(0)
	for at, row := range p.first.rows {
		if !p.both(at, base, other) {
			continue
		}
		j := p.second[at]
		in.first.rows, in.second = append(in.first.rows, row), append(in.second, j)
		a, b := p.base.run.human(first, row, d.Metric), p.other.run.human(second, j, d.Metric)
		both := ibid.Number{}
		if a.Known() && b.Known() {
			both = stats.Of(b.Value - a.Value)
			labelled++
		}
		for i, v := range []float64{base.value[row], other.value[j], other.value[j] - base.value[row]} {
			judge[i], human[i] = append(judge[i], v), append(human[i], []ibid.Number{a, b, both}[i])
		}
	}
	if labelled < stats.FewestLabels {
		return nil
	}
	units, width := in.units(), m.Max-m.Min
	e, _ := stats.PPI(judge[2], human[2], units.Rows, -width, width, t.level)
	if !e.HasInterval {
		return nil
	}
	d.Corrected = &Corrected{Diff: e.Value, Low: e.Low, High: e.High, Labelled: labelled, Method: ppiMethod}
	for i, to := range []**float64{&d.Corrected.Base, &d.Corrected.New} {
		side, _ := stats.PPI(judge[i], human[i], units.Rows, m.Min, m.Max, t.level)
		*to, _, _ = side.Nullable()
	}
	return nil
}

// doubt warns of a difference that the judge's errors may have made.
func (d *Difference) doubt() {
	c := d.Corrected
	decided := d.Outcome == Better || d.Outcome == Worse || d.Outcome == Different
	if c == nil || !decided || (c.Low > 0 && *d.Diff > 0) || (c.High < 0 && *d.Diff < 0) {
		return
	}
	d.Warnings = append(d.Warnings, fmt.Sprintf("corrected for the judge's errors it is %+.3f [%.3f, %.3f]: people's labels do not confirm it", c.Diff, c.Low, c.High))
}
