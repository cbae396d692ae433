package compare

import (
	"fmt"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A tester knows how differences are computed.
type tester struct {
	level     float64
	power     float64
	method    string // analytic, bca or percentile
	resamples int
	seed      uint64
	workers   int
}

// resampling is that of a bootstrap.
func (t *tester) resampling() stats.Resampling {
	return stats.Resampling{Resamples: t.resamples, Seed: t.seed, Workers: t.workers}
}

// difference compares a quantity over the rows that pass the filters of both
// files; of pairs the base's row decides.
func (t *tester) difference(p *pairing, q Quantity, inBase, inOther filter) (Difference, error) {
	d := Difference{Metric: q.Metric.Name, Agg: q.agg(), Direction: int(q.Metric.Direction), Outcome: Unknown, Warnings: []string{}}
	base, other, err := p.series(q)
	if err != nil {
		return d, err
	}
	switch {
	case len(p.pairs) == 0:
		t.sideBySide(&d, p, q, [2]*series{base, other}, [2]filter{inBase, inOther})
	case q.Micro:
		t.pairedRatio(&d, p, base, other, inBase)
	default:
		list := t.pairedMean(&d, p, q, base, other, inBase)
		if q.Metric.Corrigible() {
			err = t.correct(&d, p, base, other, list)
		}
	}
	return d, err
}

// compared lists the pairs that pass the filter and are defined on both sides, and
// counts the others and which side has more.
func (p *pairing) compared(d *Difference, base, other *series, in filter) [][2]int {
	var list [][2]int
	for _, pair := range p.pairs {
		if !in.keeps(pair[0]) {
			continue
		}
		if !base.has[pair[0]] || !other.has[pair[1]] {
			d.Undefined++
			continue
		}
		list = append(list, pair)
		switch a, b := base.value[pair[0]], other.value[pair[1]]; {
		case b > a:
			d.Higher++
		case b < a:
			d.Lower++
		default:
			d.Same++
		}
	}
	d.N = int64(len(list))
	return list
}

// pairedMean compares means over the same rows, and returns which those are.
func (t *tester) pairedMean(d *Difference, p *pairing, q Quantity, base, other *series, in filter) [][2]int {
	list := p.compared(d, base, other, in)
	a, b, codes := make([]float64, len(list)), make([]float64, len(list)), make([]int, len(list))
	var sides [2]stats.Clusters
	var sums stats.Grouper
	clusters := clusterCodes{}
	for i, pair := range list {
		a[i], b[i] = other.value[pair[1]], base.value[pair[0]]
		codes[i] = clusters.code(p.base.run.clusters[pair[0]])
		sides[0].AddRow(b[i])
		sides[1].AddRow(a[i])
		sums.Add(codes[i], a[i]-b[i])
	}
	d.setSides(sides[0].Mean(t.level), sides[1].Mean(t.level))
	paired := stats.NewPaired(a, b, codes, t.level)
	e := paired.Estimate
	flips, units := clusterSums(&sums, clusters)
	if t.method != "analytic" && e.HasInterval {
		// The estimate and its standard error stay.
		e = e.WithInterval(t.interval(units.Bootstrap(stats.Quotient, t.resampling())))
	}
	t.setEstimate(d, &e)
	t.setMDE(d, float64(e.Clusters-1))
	if !e.Defined() {
		return list
	}
	if q.Metric.Kind == metrics.Binary {
		m := stats.NewMcNemar(d.Higher, d.Lower, d.N)
		d.McNemar = &McNemar{OnlyNew: m.B, OnlyBase: m.C, Exact: m.Exact, MidP: m.MidP}
		if d.Clusters == d.N {
			d.P, d.Test = new(m.MidP), string(stats.McNemarMidP)
			return list
		}
	}
	t.setTest(d, stats.SignFlip(flips, t.resamples, t.seed))
	return list
}

// clusterSums are the sums of differences by cluster, alone and as units of a
// bootstrap. It leaves the grouper empty.
func clusterSums(g *stats.Grouper, clusters clusterCodes) (sums []float64, units *stats.Units) {
	keys := clusters.keys()
	units = stats.NewUnits(2)
	g.Each(func(code int, y, x float64, rows int64, _ bool) {
		sums = append(sums, y)
		units.Add(keys[code], rows, y, x)
	})
	return sums, units
}

// interval is the interval that the method asks for.
func (t *tester) interval(b *stats.Bootstrap) stats.Estimate {
	if t.method == string(stats.PercentileBootstrap) {
		return b.Percentile(t.level)
	}
	return b.BCa(t.level)
}

// pairedRatio compares ratios of sums over the same rows.
func (t *tester) pairedRatio(d *Difference, p *pairing, base, other *series, in filter) {
	list := p.compared(d, base, other, in)
	clusters := clusterCodes{}
	var first, second stats.Grouper
	for _, pair := range list {
		code := clusters.code(p.base.run.clusters[pair[0]])
		first.AddRatio(code, other.num[pair[1]], other.den[pair[1]])
		second.AddRatio(code, base.num[pair[0]], base.den[pair[0]])
	}
	units := ratioUnits(&first, &second, clusters)
	var sides [2]stats.Clusters
	second.Drain(&sides[0])
	first.Drain(&sides[1])
	d.setSides(sides[0].DeltaT(t.level), sides[1].DeltaT(t.level))
	e := t.interval(units.Bootstrap(stats.QuotientDifference, t.resampling()))
	t.setEstimate(d, &e)
	t.setMDE(d, float64(e.Clusters-1))
	if e.Defined() {
		t.setTest(d, units.SwapTest(t.resamples, t.seed))
	}
}

// ratioUnits have the sums of the new side before those of the base.
func ratioUnits(first, second *stats.Grouper, clusters clusterCodes) *stats.Units {
	type sums struct {
		y, x float64
		rows int64
	}
	all := make([]sums, len(clusters))
	second.Each(func(code int, y, x float64, rows int64, _ bool) { all[code] = sums{y, x, rows} })
	keys := clusters.keys()
	units := stats.NewUnits(4)
	first.Each(func(code int, y, x float64, rows int64, _ bool) {
		units.Add(keys[code], rows, y, x, all[code].y, all[code].x)
	})
	return units
}

// offsets compares the share of quotes that stand at their offsets.
func (t *tester) offsets(p *pairing) (Difference, error) {
	d, ok := metrics.Lookup(metrics.OffsetAccuracy)
	if !ok {
		return Difference{}, nil
	}
	return t.difference(p, Quantity{Metric: d}, nil, nil)
}

// NotPaired is the reason why there is no difference between sides that answered
// different questions: which questions these are is part of what differs.
const NotPaired = "not paired: the sides have no question in common"

// sideBySide sets what either side has where they have no question in common.
func (t *tester) sideBySide(d *Difference, p *pairing, q Quantity, s [2]*series, in [2]filter) {
	var e [2]stats.Estimate
	for i, rows := range []*rowSet{p.base, p.other} {
		clusters := clusterCodes{}
		var g stats.Grouper
		var c stats.Clusters
		for _, row := range rows.rows {
			switch {
			case !in[i].keeps(row):
			case !s[i].has[row]:
				d.Undefined++
			case q.Micro:
				g.AddRatio(clusters.code(rows.run.clusters[row]), s[i].num[row], s[i].den[row])
			default:
				g.Add(clusters.code(rows.run.clusters[row]), s[i].value[row])
			}
		}
		g.Drain(&c)
		if e[i] = c.Mean(t.level); q.Micro {
			e[i] = c.DeltaT(t.level)
		}
		d.N += e[i].N
		d.Clusters += e[i].Clusters
	}
	d.setSides(e[0], e[1])
	d.Reason = NotPaired
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

// A rowName names a row of a run.
type rowName struct{ id, system string }

// people are what labels make of the run's rows, by metric; none if nobody
// labelled a row, or the judge was not measured by the labels.
func (r *Run) people() (map[rowName]map[string]float64, error) {
	if r.labelled != nil {
		return r.labelled, nil
	}
	rows, err := runs.ReadLabelled(r.Dir)
	if err != nil {
		return nil, err
	}
	r.labelled = make(map[rowName]map[string]float64, len(rows))
	for _, row := range rows {
		r.labelled[rowName{row.ID, row.System}] = row.Values
	}
	return r.labelled, nil
}

// human is what labels make of a metric of a row.
func (r *Run) human(labelled map[rowName]map[string]float64, row int, metric string) ibid.Number {
	if v, ok := labelled[rowName{r.ids[row], r.systems[row]}][metric]; ok {
		return stats.Of(v)
	}
	return ibid.Number{}
}

// correct adds the difference without the judge's errors, over the pairs of list.
func (t *tester) correct(d *Difference, p *pairing, base, other *series, list [][2]int) error {
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
	for _, pair := range list {
		b := stats.Predicted{Cluster: p.base.run.clusters[pair[0]], Judge: base.value[pair[0]], Human: p.base.run.human(first, pair[0], d.Metric)}
		n := stats.Predicted{Cluster: b.Cluster, Judge: other.value[pair[1]], Human: p.other.run.human(second, pair[1], d.Metric)}
		both := stats.Predicted{Cluster: b.Cluster, Judge: n.Judge - b.Judge}
		if b.Human.Known() && n.Human.Known() {
			both.Human = stats.Of(n.Human.Value - b.Human.Value)
			labelled++
		}
		sides[0], sides[1], differences = append(sides[0], b), append(sides[1], n), append(differences, both)
	}
	if labelled < stats.FewestLabels {
		return nil
	}
	e := stats.PPIClusters(differences, t.level)
	if !e.Bounds.Defined() {
		return nil
	}
	d.Corrected = &Corrected{
		Base: stats.PPIClusters(sides[0], t.level).Value.Pointer(), New: stats.PPIClusters(sides[1], t.level).Value.Pointer(),
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
