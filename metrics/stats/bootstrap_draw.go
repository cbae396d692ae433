package stats

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// multinomial draws every replicate from a stream of its own.
func (u *Units) multinomial(stat Statistic, o Resampling) []float64 {
	values := make([]float64, o.Resamples)
	inParallel(o.Workers, o.Resamples, func(from, to int) {
		sums := make([]float64, len(u.sums))
		for r := from; r < to; r++ {
			s := NewStream(o.Seed, uint64(r))
			clear(sums)
			for range u.Len() {
				i := s.IntN(u.Len())
				for c, column := range u.sums {
					sums[c] += column[i]
				}
			}
			values[r] = valueOf(stat, sums)
		}
	})
	return values
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
