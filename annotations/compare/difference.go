package compare

import (
	"encoding/binary"
	"fmt"
	"math"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A tester knows how differences are computed.
type tester struct {
	level     float64
	power     float64
	method    string // analytic, cr1, bca or percentile
	resamples int
	seed      uint64
	workers   int
}

// resampling is that of a bootstrap.
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
		t.pairedRatio(&d, p, base, other)
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

// pairedMean compares means over the same rows.
func (t *tester) pairedMean(d *Difference, p *pairing, q Quantity, base, other *series) {
	resampled := t.method == string(stats.BCaBootstrap) || t.method == string(stats.PercentileBootstrap)
	var sides [2]stats.Clusters
	var differences stats.Clusters // by cluster
	var cluster clusterSums
	flips, sizes := make([]float64, 0, d.N), make([]float64, 0, d.N)
	units := stats.NewUnits(2)
	p.first.eachCluster(func(at int32) bool {
		if !p.both(int(at), base, other) {
			return false
		}
		a, b := base.value[p.first.rows[at]], other.value[p.second[at]]
		sides[0].AddRow(a)
		sides[1].AddRow(b)
		cluster.add(b-a, 1)
		return true
	}, func(key uint64) {
		y, x, rows := cluster.addTo(&differences)
		flips, sizes = append(flips, y), append(sizes, x)
		if resampled {
			units.Add(key, rows, y, x)
		}
	})
	d.setSides(sides[0].Mean(t.level), sides[1].Mean(t.level))
	width := q.Metric.Max - q.Metric.Min
	if t.method == runs.CR1 {
		width = math.Inf(1)
	}
	differences.DeleteEach(func(yield func(y, x float64) bool) {
		for i, y := range flips {
			if !yield(y, sizes[i]) {
				return
			}
		}
	})
	e := differences.DifferenceWithin(t.level, width)
	if resampled && e.HasInterval {
		// The estimate and its standard error stay.
		e = e.WithInterval(t.interval(units.Bootstrap(stats.Quotient, t.resampling())))
	}
	t.setEstimate(d, &e)
	t.setMDE(d, float64(e.Clusters-1))
	if !e.Defined() {
		return
	}
	if q.Metric.Kind == metrics.Binary {
		m := stats.NewMcNemar(d.Higher, d.Lower, d.N)
		d.McNemar = &McNemar{OnlyNew: m.B, OnlyBase: m.C, Exact: m.Exact, MidP: m.MidP}
		if d.Clusters == d.N {
			d.P, d.Test = new(m.MidP), string(stats.McNemarMidP)
			return
		}
	}
	t.setTest(d, stats.SignFlip(flips, t.resamples, t.seed))
}

// interval is the interval that the method asks for.
func (t *tester) interval(b *stats.Bootstrap) stats.Estimate {
	if t.method == string(stats.PercentileBootstrap) {
		return b.Percentile(t.level)
	}
	return b.BCa(t.level)
}

// pairedRatio compares ratios of sums over the same rows.
func (t *tester) pairedRatio(d *Difference, p *pairing, base, other *series) {
	var sides [2]stats.Clusters
	var first, second clusterSums // of the new side and of the base
	units := stats.NewUnits(4)
	p.first.eachCluster(func(at int32) bool {
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
	d.setSides(sides[0].DeltaT(t.level), sides[1].DeltaT(t.level))
	e := t.interval(units.Bootstrap(stats.QuotientDifference, t.resampling()))
	t.setEstimate(d, &e)
	t.setMDE(d, float64(e.Clusters-1))
	if e.Defined() {
		t.setTest(d, units.SwapTest(t.resamples, t.seed))
	}
}

// offsets compares the share of quotes that stand at their offsets.
func (t *tester) offsets(p *pairing) (Difference, error) {
	d, ok := metrics.Lookup(metrics.OffsetAccuracy)
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

// sums are those of a quantity by cluster.
func (s *rowSet) sums(q Quantity, values *series) *stats.Clusters {
	var sums, again stats.Clusters
	s.eachSum(q, values, func(cluster *clusterSums) { cluster.addTo(&sums) })
	if !q.Micro && sums.Len() < sums.Rows() {
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
	if base.Defined() {
		d.Base = new(base.Value)
	}
	if other.Defined() {
		d.New = new(other.Value)
	}
}

// setEstimate sets difference, interval and standard error.
func (t *tester) setEstimate(d *Difference, e *stats.Estimate) {
	d.Clusters, d.Method = e.Clusters, string(e.Method)
	for _, w := range e.Warnings {
		d.Warnings = append(d.Warnings, w.Text)
	}
	if !e.Defined() {
		d.Reason, d.Method = e.Reason.String(), ""
		return
	}
	d.Diff = new(e.Value)
	if e.HasInterval {
		d.Low, d.High = new(e.Low), new(e.High)
	} else {
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
	if mde, ok := t.design().DetectableBy(*d.SE, df); ok {
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
	for _, w := range test.Warnings {
		d.Warnings = append(d.Warnings, w.Text)
	}
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
	for at, row := range p.first.rows {
		if !p.both(at, base, other) {
			continue
		}
		j := p.second[at]
		cluster := string(binary.BigEndian.AppendUint64(nil, p.base.run.cluster(row))) // only which rows share it matters
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
