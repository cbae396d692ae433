package compare

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// analytic is the method whose intervals are not resampled.
const analytic = "analytic"

// A tester knows how differences are computed.
type tester struct {
	level     float64
	power     float64
	method    string // analytic, cr1, bca or percentile
	resamples int
	seed      uint64
	workers   int
}

func (t *tester) resampling() stats.Resampling {
	return stats.Resampling{Resamples: t.resamples, Seed: t.seed, Workers: t.workers}
}

// difference compares a quantity over the rows of a pairing.
func (t *tester) difference(p *pairing, q Quantity) (Difference, error) {
	d := Difference{Metric: q.Metric.Name, Agg: q.agg(), Direction: int(q.Metric.Direction), Outcome: Unknown, Warnings: []string{}}
	base, other, err := p.series(q)
	if err != nil {
		return d, err
	}
	switch {
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

// meanSums are what the difference of two means over pairs rests on.
type meanSums struct {
	differences stats.Clusters
	flips       []float64 // sums of each cluster
	sizes       []float64 // and its pairs, nil if each is a pair
}

// meanSums adds up the differences by the clusters of pairs, and into units unless they are
// nil.
func (p *pairing) meanSums(pairs *rowSet, base, other *series, units *stats.Units) *meanSums {
	out := &meanSums{flips: make([]float64, 0, len(pairs.rows))}
	if pairs.clusterOrder() == nil {
		for at := range pairs.rows {
			if p.both(at, base, other) {
				y := p.change(at, base, other)
				out.differences.AddRow(y)
				out.flips = append(out.flips, y)
				if units != nil {
					units.Add(pairs.cluster(int32(at)), 1, y, 1)
				}
			}
		}
		out.deleteEach()
		return out
	}
	var cluster clusterSums
	pairs.eachCluster(func(at int32) bool {
		if !p.both(int(at), base, other) {
			return false
		}
		cluster.add(p.change(int(at), base, other), 1)
		return true
	}, func(key uint64) {
		y, x, rows := cluster.addTo(&out.differences)
		out.flips, out.sizes = append(out.flips, y), append(out.sizes, x)
		if units != nil {
			units.Add(key, rows, y, x)
		}
	})
	out.deleteEach()
	return out
}

func (m *meanSums) deleteEach() {
	m.differences.DeleteEach(func(yield func(y, x float64) bool) {
		for i, y := range m.flips {
			x := 1.0
			if m.sizes != nil {
				x = m.sizes[i]
			}
			if !yield(y, x) {
				return
			}
		}
	})
}

// change is how much the other side has more in a pair.
func (p *pairing) change(at int, base, other *series) float64 {
	return other.value[p.second[at]] - base.value[p.first.rows[at]]
}

// rest says in m how pairs depend on each other.
func (p *pairing) rest(m *meanSums, pairs *rowSet, base, other *series) {
	of := pairs.pairsOf()
	if of == nil {
		m.differences.Named(pairs.how())
		return
	}
	if pairs.unit == nil {
		var u stats.UnitErrors
		if m.differences.Errors(&u, of) {
			for k, at := range of.Kept {
				if p.both(int(at), base, other) {
					u.Add(k, p.change(int(at), base, other), 1)
				} else {
					u.Skip(k)
				}
			}
			m.differences.Rest(&u)
		}
		return
	}
	sums := make([]stats.Sum, of.Units)
	for at := range pairs.rows {
		if p.both(at, base, other) {
			s := &sums[pairs.unit[at]]
			s.Y, s.X, s.Rows = s.Y+p.change(at, base, other), s.X+1, s.Rows+1
		}
	}
	m.differences.RestOn(of, slices.Values(sums))
}

// pairedMean compares means over the same rows.
func (t *tester) pairedMean(d *Difference, p *pairing, q Quantity, base, other *series) {
	resampled := t.method == string(stats.BCaBootstrap) || t.method == string(stats.PercentileBootstrap)
	var sides [2]stats.Clusters
	for at, row := range p.first.rows {
		if p.both(at, base, other) {
			sides[0].AddRow(base.value[row])
			sides[1].AddRow(other.value[p.second[at]])
		}
	}
	d.setSides(sides[0].Mean(t.level), sides[1].Mean(t.level))
	width := q.Metric.Max - q.Metric.Min
	if t.method == runs.CR1 {
		width = math.Inf(1)
	}
	pairs := p.byDocuments()
	var units *stats.Units
	if resampled {
		units = stats.NewUnits(2)
	}
	sums := p.meanSums(pairs, base, other, units)
	var naive stats.Estimate // each pair a cluster
	switch {
	case pairs == p.first:
	case pairs.clusterOrder() == nil:
		naive = sums.differences.DifferenceWithin(t.level, width)
	default:
		naive = p.meanSums(p.first, base, other, nil).differences.DifferenceWithin(t.level, width)
	}
	p.rest(sums, pairs, base, other)
	e := sums.differences.DifferenceWithin(t.level, width)
	if pairs != p.first {
		d.NaiveLow, d.NaiveHigh = runs.NaiveEnds(&e, &naive)
	}
	exchangeable := pairs.pairsOf() == nil
	if resampled && e.HasInterval && exchangeable {
		// The estimate and its standard error stay.
		e = e.WithInterval(t.interval(units.Bootstrap(stats.Quotient, t.resampling())))
		e.Method = e.Method.By(pairs.how())
	}
	t.setEstimate(d, &e)
	t.setMDE(d, float64(e.Clusters-1))
	if !e.Defined() {
		return
	}
	if q.Metric.Kind == metrics.Binary {
		m := stats.NewMcNemar(d.Higher, d.Lower, d.N)
		d.McNemar = &McNemar{OnlyNew: m.B, OnlyBase: m.C, Exact: m.Exact, MidP: m.MidP}
		if d.Clusters == d.N && exchangeable {
			d.P, d.Test = new(m.MidP), string(stats.McNemarMidP)
			return
		}
	}
	if !exchangeable {
		t.setStudent(d, &e)
		return
	}
	t.setTest(d, stats.SignFlip(sums.flips, t.resamples, t.seed))
}

// setStudent sets the p-value of pairs that share documents as no clusters do.
func (t *tester) setStudent(d *Difference, e *stats.Estimate) {
	d.Warnings = append(d.Warnings, stats.NotExchangeableText)
	t.setTest(d, e.Student())
}

// interval is the interval that the method asks for.
func (t *tester) interval(b *stats.Bootstrap) stats.Estimate {
	if t.method == string(stats.PercentileBootstrap) {
		return b.Percentile(t.level)
	}
	return b.BCa(t.level)
}

// ratioUnits are the sums of either side by the clusters of pairs.
func (p *pairing) ratioUnits(pairs *rowSet, base, other *series) (*stats.Units, [2]stats.Clusters) {
	var sides [2]stats.Clusters
	var first, second clusterSums // of the new side and of the base
	units := stats.NewUnits(4)
	pairs.eachCluster(func(at int32) bool {
		if !p.both(int(at), base, other) {
			return false
		}
		i, j := p.first.rows[at], p.second[at]
		first.add(other.num[j], other.den[j])
		second.add(base.num[i], base.den[i])
		return true
	}, func(key uint64) {
		y, x, rows := first.addTo(&sides[1])
		baseY, baseX, _ := second.addTo(&sides[0])
		units.Add(key, rows, y, x, baseY, baseX)
	})
	return units, sides
}

// pairedRatio compares ratios of sums over the same rows.
func (t *tester) pairedRatio(d *Difference, p *pairing, q Quantity, base, other *series) {
	pairs := p.byDocuments()
	units, sides := p.ratioUnits(pairs, base, other)
	a, b := sides[0].DeltaT(t.level), sides[1].DeltaT(t.level)
	d.setSides(a, b)
	var e stats.Estimate
	if pairs.pairsOf() != nil && a.Defined() && b.Defined() {
		e = t.dependentRatio(p, pairs, q, base, other, &a, &b)
	} else {
		e = t.ratioDifference(units, q)
		e.Method = e.Method.By(pairs.how())
	}
	if pairs != p.first {
		alone, _ := p.ratioUnits(p.first, base, other)
		naive := t.ratioDifference(alone, q)
		d.NaiveLow, d.NaiveHigh = runs.NaiveEnds(&e, &naive)
	}
	t.setEstimate(d, &e)
	t.setMDE(d, float64(e.Clusters-1))
	switch {
	case !e.Defined():
	case pairs.pairsOf() != nil:
		t.setStudent(d, &e)
	default:
		t.setTest(d, units.SwapTest(t.resamples, t.seed))
	}
}

// ratioDifference is the difference of two ratios over units that are clusters.
func (t *tester) ratioDifference(units *stats.Units, q Quantity) stats.Estimate {
	if t.method == analytic {
		return units.RatioDifference(t.level, widest(q))
	}
	return t.interval(units.Bootstrap(stats.QuotientDifference, t.resampling()))
}

// widest is the largest difference that there can be of a ratio.
func widest(q Quantity) float64 {
	if q.Metric.Min == 0 && q.Metric.Max == 1 {
		return 1
	}
	return math.Inf(1)
}

// dependentRatio is the difference of the ratios of both sides over pairs that depend on each
// other, linearised: a pair adds (y - R x)/Σx of the new side less that of the base.
func (t *tester) dependentRatio(p *pairing, pairs *rowSet, q Quantity, base, other *series, a, b *stats.Estimate) stats.Estimate {
	sums := make([]stats.Sum, pairs.dependence.Units)
	n := int64(0)
	for at, i := range p.first.rows {
		if !p.both(at, base, other) {
			continue
		}
		n++
		j, s := p.second[at], &sums[pairs.unitOf(at)]
		s.Y += (other.num[j]-b.Value*other.den[j])/b.Den - (base.num[i]-a.Value*base.den[i])/a.Den
		s.Rows++
	}
	spread := pairs.dependence.Spread(sums, 0, 1)
	return spread.Difference(b.Value-a.Value, widest(q), n, t.level)
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
	var e [2]stats.Estimate
	for i, rows := range []*rowSet{p.base, p.other} {
		sums := rows.sums(q, s[i])
		if e[i] = sums.Mean(t.level); q.Micro {
			e[i] = sums.DeltaT(t.level)
		}
		d.N += e[i].N
		d.Undefined += int64(len(rows.rows)) - e[i].N
		d.Clusters += e[i].Clusters
	}
	d.setSides(e[0], e[1])
	d.Reason = NotPaired
}

// sums are those of a quantity by cluster, or by document.
func (s *rowSet) sums(q Quantity, values *series) *stats.Clusters {
	s = s.byDocuments()
	var sums, again stats.Clusters
	s.eachSum(q, values, func(cluster *clusterSums) { cluster.addTo(&sums) })
	if of := s.pairsOf(); of != nil {
		units := make([]stats.Sum, of.Units)
		for at, row := range s.rows {
			switch u := &units[s.unitOf(at)]; {
			case !values.has[row]:
			case q.Micro:
				u.Y, u.X, u.Rows = u.Y+values.num[row], u.X+values.den[row], u.Rows+1
			default:
				u.Y, u.X, u.Rows = u.Y+values.value[row], u.X+1, u.Rows+1
			}
		}
		sums.RestOn(of, slices.Values(units))
		return &sums
	}
	if sums.Named(s.how()); !q.Micro && sums.Len() < sums.Rows() {
		sums.DeleteEach(func(yield func(y, x float64) bool) {
			s.eachSum(q, values, func(cluster *clusterSums) {
				y, x, _ := cluster.addTo(&again)
				yield(y, x)
			})
		})
	}
	return &sums
}

// eachSum calls end with the sums of each cluster, which it empties.
func (s *rowSet) eachSum(q Quantity, values *series, end func(*clusterSums)) {
	var cluster clusterSums
	s.eachCluster(func(at int32) bool {
		row := s.rows[at]
		switch {
		case !values.has[row]:
			return false
		case q.Micro:
			cluster.add(values.num[row], values.den[row])
		default:
			cluster.add(values.value[row], 1)
		}
		return true
	}, func(uint64) { end(&cluster) })
}

// setSides sets what either side has.
func (d *Difference) setSides(base, other stats.Estimate) {
	d.Base, _, _ = base.Nullable()
	d.New, _, _ = other.Nullable()
}

// setEstimate sets difference, interval and standard error.
func (t *tester) setEstimate(d *Difference, e *stats.Estimate) {
	d.Clusters, d.Method = e.Clusters, string(e.Method)
	d.Warnings = append(d.Warnings, stats.Texts(e.Warnings)...)
	if !e.Defined() {
		d.Reason, d.Method = e.Reason.String(), ""
		return
	}
	if d.Diff, d.Low, d.High = e.Nullable(); !e.HasInterval {
		d.Method = ""
	}
	if e.HasSE {
		d.SE = new(e.SE)
	}
}

// setMDE sets the minimum detectable effect. Where no variation was seen there is
// none to plan with.
func (t *tester) setMDE(d *Difference, df float64) {
	if d.SE == nil || *d.SE == 0 {
		return
	}
	if mde, ok := t.design().Detectable(*d.SE, df); ok {
		d.MDE = new(mde)
	}
}

// design is what minimum detectable effects are for.
func (t *tester) design() stats.Design { return stats.Design{Alpha: 1 - t.level, Power: t.power} }

// setTest sets the p-value. That no p could be small enough needs no saying where
// it was said that there are too few clusters for an interval.
func (t *tester) setTest(d *Difference, test stats.Test) {
	if d.Clusters >= stats.ClustersNeeded(t.level) {
		test.WarnAt(1 - t.level)
	}
	d.Warnings = append(d.Warnings, stats.Texts(test.Warnings)...)
	if test.Defined() {
		d.P, d.Test = new(test.P), string(test.Method)
	}
}

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
	rows, err := runs.ReadLabelled(r.Dir)
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
	sides := [2][]stats.Predicted{}
	var differences []stats.Predicted
	labelled := int64(0)
	pairs := p.byDocuments()
	for at, row := range p.first.rows {
		if !p.both(at, base, other) {
			continue
		}
		j := p.second[at]
		cluster := string(binary.BigEndian.AppendUint64(nil, pairs.component(int32(at)))) // only which rows share it matters
		b := stats.Predicted{Cluster: cluster, Judge: base.value[row], Human: p.base.run.human(first, row, d.Metric)}
		n := stats.Predicted{Cluster: cluster, Judge: other.value[j], Human: p.other.run.human(second, j, d.Metric)}
		both := stats.Predicted{Cluster: cluster, Judge: n.Judge - b.Judge}
		if b.Human.Known() && n.Human.Known() {
			both.Human = stats.Of(n.Human.Value - b.Human.Value)
			labelled++
		}
		sides[0], sides[1], differences = append(sides[0], b), append(sides[1], n), append(differences, both)
	}
	if labelled < stats.FewestLabels {
		return nil
	}
	width := m.Max - m.Min
	e := stats.PPIClusters(differences, t.level, -width, width)
	if !e.Bounds.Defined() {
		return nil
	}
	d.Corrected = &Corrected{
		Base: stats.PPIClusters(sides[0], t.level, m.Min, m.Max).Value.Pointer(), New: stats.PPIClusters(sides[1], t.level, m.Min, m.Max).Value.Pointer(),
		Diff: e.Value.Value, Low: e.Low.Value, High: e.High.Value, Labelled: labelled, Method: ppiMethod,
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
