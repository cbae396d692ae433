package stats

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"ibid"
)

// A Resampling says how clusters are resampled.
type Resampling struct {
	Resamples int    // replicates to draw, at least 2
	Seed      uint64 // of all streams
	Workers   int    // goroutines; at most 1 means one. The result does not depend on it

	// Scheme is how, [ByCount] if it is "".
	Scheme Scheme
}

// A Scheme is a way of drawing clusters with replacement.
type Scheme string

const (
	// ByCount enumerates where there are no more distinct resamples than would be
	// drawn, draws clusters where there are at most MaxMultinomial, and draws
	// Poisson weights for more.
	ByCount Scheme = ""
	// Enumerated goes through all distinct resamples with their chances. It is
	// exact; for more than MaxEnumerated clusters it is ByCount.
	Enumerated Scheme = "enumerated"
	// Multinomial draws as many clusters as there are, with replacement.
	//
	// Source: Efron 1979.
	Multinomial Scheme = "multinomial"
	// Poisson gives every cluster a Poisson(1) weight, which is a function of the
	// seed, the replicate and the key of the cluster alone. It is slightly wider than
	// Multinomial, of which it is the limit for many clusters.
	//
	// Source: Chamandy, Muralidharan, Najmi & Naidu 2012.
	Poisson Scheme = "poisson"
)

const (
	// MaxEnumerated is the most clusters whose resamples are enumerated: there are
	// 92,378 distinct ones of 10.
	MaxEnumerated = 10
	// MaxMultinomial is the most clusters that are drawn one by one. From there on
	// the difference between both schemes is below a thousandth of the width.
	MaxMultinomial = 2000
)

// A Bootstrap is the distribution of a statistic over resamples of clusters. The
// zero Bootstrap has no distribution.
type Bootstrap struct {
	Value  float64     // of the statistic over the clusters themselves
	Reason ibid.Reason // ibid.Defined, or why there is no Value

	N         int64 // rows
	Clusters  int64
	Scheme    Scheme
	Resamples int64   // of the distribution: drawn, or n^n if all were enumerated
	Seed      uint64  // not used if all were enumerated
	Undefined float64 // share of resamples whose statistic was undefined, which are left out

	// Degenerate says that all resamples agree. It is not evidence of certainty.
	Degenerate bool

	SE    float64 // standard deviation of the distribution
	HasSE bool

	// Bias is BCa's z0, Φ⁻¹ of the share of resamples below Value, those equal to
	// it counted half; Acceleration its a, from leaving out one cluster at a time.
	Bias            float64
	HasBias         bool
	Acceleration    float64
	HasAcceleration bool

	replicates distribution
}

// Bootstrap resamples the units. The distribution is undefined for fewer than two
// of them, and if the statistic of the units themselves is.
func (u *Units) Bootstrap(stat Statistic, o Resampling) *Bootstrap {
	return Bootstraps([]*Units{u}, []Statistic{stat}, o)[0]
}

// Bootstraps is [Units.Bootstrap] of several statistics, each of units of its own. What
// is drawn of as many units is the same, and is drawn once.
func Bootstraps(units []*Units, list []Statistic, o Resampling) []*Bootstrap {
	out := make([]*Bootstrap, len(units))
	sorted := make([]*Units, len(units)) // nil where nothing is resampled
	totals := make([][]float64, len(units))
	alike := make(map[int][]int) // by number of units that are drawn one by one
	for k, u := range units {
		b := &Bootstrap{N: u.rows, Clusters: int64(u.Len()), Seed: o.Seed}
		out[k] = b
		var ok bool
		totals[k], ok = u.totals()
		switch {
		case o.Resamples < 2:
			b.Reason = ibid.BadArgument
		case u.Len() == 0:
			b.Reason = ibid.NoData
		case !ok:
			b.Reason = ibid.OutOfRange
		default:
			if b.Value, ok = list[k](totals[k]); !ok {
				b.Reason = ibid.ZeroDenominator
			}
		}
		if b.Reason != ibid.Defined || u.Len() < 2 {
			continue
		}
		sorted[k] = u.canonical()
		switch b.Scheme = schemeOf(u.Len(), o); b.Scheme {
		case Enumerated:
			b.replicates = sorted[k].enumerate(list[k])
			b.Resamples = int64(math.Pow(float64(u.Len()), float64(u.Len())))
		case Multinomial:
			alike[u.Len()] = append(alike[u.Len()], k)
			b.Resamples = int64(o.Resamples)
		default:
			b.replicates = drawn(sorted[k].poisson(list[k], o))
			b.Resamples = int64(o.Resamples)
		}
	}
	for n, which := range alike {
		for at, values := range multinomial(n, which, sorted, list, o) {
			out[which[at]].replicates = drawn(values)
		}
	}
	for k, b := range out {
		if sorted[k] != nil {
			b.describe()
			b.Acceleration, b.HasAcceleration = sorted[k].jackknife(list[k], totals[k])
		}
	}
	return out
}

func schemeOf(units int, o Resampling) Scheme {
	switch {
	case o.Scheme == Multinomial, o.Scheme == Poisson:
		return o.Scheme
	case units <= MaxEnumerated && (o.Scheme == Enumerated || distinctResamples(units) <= o.Resamples):
		return Enumerated
	case units <= MaxMultinomial:
		return Multinomial
	}
	return Poisson
}

// describe sums up the replicates.
func (b *Bootstrap) describe() {
	d := b.replicates
	b.Undefined = d.undefined
	if d.len() == 0 {
		return
	}
	// Sums of the same numbers in another order differ in their last bits, and
	// must count as equal.
	spread := d.values[d.len()-1] - d.values[0]
	noise := 1e-9*spread + 1e-14*math.Abs(b.Value)
	if spread <= 1e-14*math.Abs(b.Value) {
		b.Degenerate, b.HasSE, b.HasBias = true, true, true
		return
	}
	b.SE, b.HasSE = d.deviation(), true
	share := d.below(b.Value-noise) + (d.below(b.Value+noise)-d.below(b.Value-noise))/2
	if share > 0 && share < 1 {
		b.Bias, b.HasBias = normalPoint(share), true
	}
}

// Percentile is the percentile interval: the (1-level)/2 and 1-(1-level)/2
// quantiles of the distribution. It is undefined for fewer than two clusters. Its
// coverage is below the level for few clusters; see [Bootstrap.BCa].
//
// Source: Efron 1979.
func (b *Bootstrap) Percentile(level float64) Estimate {
	e := b.start(level, PercentileBootstrap)
	if !e.Defined() || b.replicates.len() == 0 {
		return e
	}
	if b.Degenerate {
		e.setDegenerate()
		return e
	}
	tail := (1 - level) / 2
	e.setInterval(b.replicates.quantile(tail), b.replicates.quantile(1-tail))
	return e
}

// BCa is the bias-corrected and accelerated interval: the quantiles at the levels
// of [Bootstrap.Levels]. Where the bias or the acceleration is undefined it is the
// percentile interval; Method and Warnings say so.
//
// Source: Efron 1987.
func (b *Bootstrap) BCa(level float64) Estimate {
	low, high, ok := b.Levels(level)
	if !ok || b.Degenerate {
		e := b.Percentile(level)
		if e.HasInterval && !b.Degenerate {
			e.warn(NoBCa, "BCa cannot be computed here: the interval is the percentile one")
		}
		return e
	}
	e := b.start(level, BCaBootstrap)
	if e.Defined() {
		e.setInterval(b.replicates.quantile(low), b.replicates.quantile(high))
	}
	return e
}

// Levels are the shares of the distribution below both ends of the BCa interval,
//
//	Φ(z0 + (z0 ± z) / (1 - a (z0 ± z)))
//
// They are undefined if the bias or the acceleration is, or if 1 - a (z0 ± z) is
// not positive.
func (b *Bootstrap) Levels(level float64) (low, high float64, ok bool) {
	if !b.HasBias || !b.HasAcceleration || !validLevel(level) {
		return 0, 0, false
	}
	z := NormalQuantile(level)
	shift := func(z float64) float64 {
		w := b.Bias + z
		scale := 1 - float64(b.Acceleration*w)
		ok = ok && scale > 0
		return normalCDF(b.Bias + w/scale)
	}
	ok = true
	low, high = shift(-z), shift(z)
	return low, high, ok
}

// ShareAtMost is the share of the distribution at or below v. The share at or
// below 0 is known as the bootstrap p-value of a difference, but is none: it says
// how much of the interval's tail lies there. For a test see [SignFlip].
//
// Source: Koehn 2004.
func (b *Bootstrap) ShareAtMost(v float64) (share float64, ok bool) {
	d := b.replicates
	if d.len() == 0 {
		return 0, false
	}
	spread := d.values[d.len()-1] - d.values[0]
	noise := 1e-9*spread + 1e-14*math.Abs(v)
	return d.below(math.Nextafter(v+noise, math.Inf(1))), true
}

// start makes the estimate that an interval goes with.
func (b *Bootstrap) start(level float64, method Method) Estimate {
	e := Estimate{
		Value: b.Value, Reason: b.Reason, Level: level, Method: method, N: b.N, Clusters: b.Clusters,
		SE: b.SE, HasSE: b.HasSE,
	}
	if !validLevel(level) {
		e.Value, e.Reason, e.SE, e.HasSE = 0, ibid.BadArgument, 0, false
	}
	if e.Defined() {
		e.warnClusters(b.Clusters)
	}
	if e.Defined() && b.Undefined > 0 {
		e.warn(DroppedResamples, fmt.Sprintf("a share of %.2g of the resamples was left out: they divide by 0", b.Undefined))
	}
	return e
}

// A distribution is the values of a statistic over resamples, sorted.
type distribution struct {
	values    []float64
	upTo      []float64 // chance of a value at most values[i]; nil if all values are draws
	undefined float64   // chance of no value
}

// drawn makes the distribution of replicates, NaN where they are undefined.
func drawn(values []float64) distribution {
	slices.Sort(values) // NaN first
	first, _ := slices.BinarySearchFunc(values, 0, func(v float64, _ int) int {
		if math.IsNaN(v) {
			return -1
		}
		return 1
	})
	return distribution{values: values[first:], undefined: float64(first) / float64(len(values))}
}

func (d *distribution) len() int { return len(d.values) }

// below is the chance of a value below v.
func (d *distribution) below(v float64) float64 {
	i, _ := slices.BinarySearch(d.values, v)
	switch {
	case i == 0:
		return 0
	case d.upTo == nil:
		return float64(i) / float64(d.len())
	}
	return d.upTo[i-1]
}

// quantile is the p-quantile: of draws that of [SampleQuantile], of an enumeration
// the least value with a chance of at least p at or below it.
func (d *distribution) quantile(p float64) float64 {
	if d.upTo == nil {
		q, _ := SampleQuantile(d.values, p)
		return q
	}
	// The chances are sums of rounded numbers.
	i, _ := slices.BinarySearch(d.upTo, p-1e-12)
	return d.values[min(i, d.len()-1)]
}

// deviation is the standard deviation.
func (d *distribution) deviation() float64 {
	if d.upTo == nil {
		mean := 0.0
		for _, v := range d.values {
			mean += v / float64(d.len())
		}
		squares := 0.0
		for _, v := range d.values {
			squares += float64((v - mean) * (v - mean))
		}
		return math.Sqrt(squares / float64(d.len()-1))
	}
	mean, last := 0.0, 0.0
	for i, v := range d.values {
		mean += float64(v * (d.upTo[i] - last))
		last = d.upTo[i]
	}
	variance := 0.0
	last = 0
	for i, v := range d.values {
		variance += float64((v - mean) * (v - mean) * (d.upTo[i] - last))
		last = d.upTo[i]
	}
	return math.Sqrt(variance)
}

// multinomial draws every replicate of n units from a stream of its own, for the chosen
// ones of several statistics of as many units each.
func multinomial(n int, which []int, units []*Units, list []Statistic, o Resampling) [][]float64 {
	values := make([][]float64, len(which))
	for at := range values {
		values[at] = make([]float64, o.Resamples)
	}
	inParallel(o.Workers, o.Resamples, func(from, to int) {
		picked := make([]int32, n)
		var sums []float64
		for r := from; r < to; r++ {
			s := NewStream(o.Seed, uint64(r))
			for i := range picked {
				picked[i] = int32(s.IntN(n))
			}
			for at, k := range which {
				sums = sums[:0]
				for columns := units[k].sums; len(columns) > 0; columns = columns[min(2, len(columns)):] {
					a, b := sumOfTwo(columns[0], columns[min(1, len(columns)-1)], picked)
					sums = append(sums, a, b)
				}
				values[at][r] = valueOf(list[k], sums[:len(units[k].sums)])
			}
		}
	})
	return values
}

// sumOfTwo adds up the picked values of two columns, in their order: one sum waits for
// its addition while the other is made.
func sumOfTwo(first, second []float64, picked []int32) (a, b float64) {
	for _, i := range picked {
		a += first[i]
		b += second[i]
	}
	return a, b
}

// valueOf is NaN where a statistic is undefined. It does not leave this package.
func valueOf(stat Statistic, sums []float64) float64 {
	if v, ok := stat(sums); ok {
		return v
	}
	return math.NaN()
}

// inParallel calls f for parts of [0, n), from several goroutines, and waits for
// them.
func inParallel(workers, n int, f func(from, to int)) {
	const part = 256
	workers = min(workers, (n+part-1)/part)
	if workers <= 1 {
		f(0, n)
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				from := int(next.Add(part)) - part
				if from >= n {
					return
				}
				f(from, min(from+part, n))
			}
		})
	}
	wg.Wait()
}

// distinctResamples is the number of ways to choose n of n things with
// replacement, for n <= MaxEnumerated.
func distinctResamples(n int) int {
	ways := 1
	for k := 1; k < n; k++ {
		ways = ways * (n + k) / k
	}
	return ways
}

// enumerate goes through all distinct resamples.
func (u *Units) enumerate(stat Statistic) distribution {
	e := enumeration{units: u, stat: stat, sums: make([]float64, len(u.sums))}
	n := u.Len()
	for k := 1; k <= n; k++ {
		e.factorial = append(e.factorial, math.Gamma(float64(k)))
	}
	e.factorial = append(e.factorial, math.Gamma(float64(n+1)))
	e.all = e.factorial[n] / math.Pow(float64(n), float64(n))
	e.choose(0, n, 1)
	return e.distribution()
}

// An enumeration collects resamples by how often each unit is in them.
type enumeration struct {
	units     *Units
	stat      Statistic
	factorial []float64
	all       float64 // n! / n^n
	sums      []float64
	outcomes  []outcome
	undefined float64
}

// An outcome is a value of the statistic and its chance.
type outcome struct{ value, chance float64 }

// choose goes through the ways to fill a resample with left more units from the
// one at i on; ways is the product of 1/k! over the counts k of those before.
func (e *enumeration) choose(i, left int, ways float64) {
	if i == e.units.Len()-1 {
		e.with(i, left, func() { e.record(ways / e.factorial[left]) })
		return
	}
	for k := range left + 1 {
		e.with(i, k, func() { e.choose(i+1, left-k, ways/e.factorial[k]) })
	}
}

// with calls f with k times unit i in the sums.
func (e *enumeration) with(i, k int, f func()) {
	before := slices.Clone(e.sums)
	for c, column := range e.units.sums {
		e.sums[c] += float64(float64(k) * column[i])
	}
	f()
	copy(e.sums, before)
}

func (e *enumeration) record(ways float64) {
	if v, ok := e.stat(e.sums); ok {
		e.outcomes = append(e.outcomes, outcome{v, ways * e.all})
	} else {
		e.undefined += ways * e.all
	}
}

// distribution merges outcomes that differ in rounding only.
func (e *enumeration) distribution() distribution {
	d := distribution{undefined: e.undefined}
	if len(e.outcomes) == 0 {
		return d
	}
	slices.SortFunc(e.outcomes, func(a, b outcome) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	first, last := e.outcomes[0].value, e.outcomes[len(e.outcomes)-1].value
	same := 1e-12*(last-first) + 1e-15*max(math.Abs(first), math.Abs(last))
	total := 0.0
	for _, o := range e.outcomes {
		total += o.chance
		if n := d.len(); n > 0 && o.value-d.values[n-1] <= same {
			d.upTo[n-1] = total
			continue
		}
		d.values = append(d.values, o.value)
		d.upTo = append(d.upTo, total)
	}
	for i := range d.upTo {
		d.upTo[i] /= total
	}
	return d
}
