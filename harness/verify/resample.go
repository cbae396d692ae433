package verify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// The bootstraps that statistics.method may ask for.
const (
	bca        = "bca"
	percentile = "percentile"
)

const (
	draws        = 4000   // of every bootstrap interval
	mostDrawn    = 10_000 // clusters from which on a bootstrap is not drawn again
	mostListed   = 10     // clusters up to which all resamples may be listed
	sigmas       = 6      // how far the chances of two bootstraps may be apart
	drawnAnother = 0.01   // of the width: what the way of drawing may change
)

// A between is a number that is known up to the error of drawing.
type between struct{ low, high float64 }

func (b between) String() string { return fmt.Sprintf("%.6g to %.6g", b.low, b.high) }

// An anyOf is one of several texts.
type anyOf []string

// A resampled distribution is what a quotient of sums is over clusters drawn with
// replacement. Its draws are others than those of the run.
type resampled struct {
	value  float64
	values []float64 // sorted
	chance []float64 // of each value
	error  float64   // standard deviation of a chance of one half, of this and of the run's draws
	a      float64   // acceleration
	hasA   bool
	sure   bool // hasA is not for a rounding error to decide
}

// resample draws the clusters of a sample. It is nil where there is nothing to draw, or where
// all resamples agree.
func (v *verification) resample(s *sample, value float64) *resampled {
	n := len(s.clusters)
	if n < 2 {
		return nil
	}
	y, x := make([]float64, n), make([]float64, n)
	for i, c := range s.clusters {
		y[i], x[i] = float(c.y), float(c.x)
	}
	r := &resampled{value: value}
	type drawn struct{ value, chance float64 }
	var all []drawn
	if n <= mostListed && choices(2*n-1, n) <= float64(v.s.Statistics.Resamples) {
		var list func(i, left int, sumY, sumX, chance float64)
		list = func(i, left int, sumY, sumX, chance float64) {
			if i == n-1 {
				sumY, sumX = sumY+float64(left)*y[i], sumX+float64(left)*x[i]
				if sumX != 0 {
					all = append(all, drawn{sumY / sumX, chance})
				}
				return
			}
			for k := 0; k <= left; k++ {
				// k of what is left: each of the units from i on is as likely.
				p := choices(left, k) * math.Pow(1/float64(n-i), float64(k)) * math.Pow(1-1/float64(n-i), float64(left-k))
				list(i+1, left-k, sumY+float64(k)*y[i], sumX+float64(k)*x[i], chance*p)
			}
		}
		list(0, n, 0, 0, 1)
	} else {
		chances := rand.New(rand.NewPCG(uint64(n), 77))
		for range draws {
			sumY, sumX := 0.0, 0.0
			for range n {
				k := chances.IntN(n)
				sumY, sumX = sumY+y[k], sumX+x[k]
			}
			if sumX != 0 {
				all = append(all, drawn{sumY / sumX, 1})
			}
		}
		r.error = math.Sqrt(1/float64(draws)+1/float64(v.s.Statistics.Resamples)) / 2
	}
	slices.SortFunc(all, func(a, b drawn) int {
		if a.value < b.value {
			return -1
		} else if a.value > b.value {
			return 1
		}
		return 0
	})
	total := 0.0
	for _, d := range all {
		total += d.chance
	}
	for _, d := range all {
		r.values, r.chance = append(r.values, d.value), append(r.chance, d.chance/total)
	}
	if len(all) == 0 || r.values[len(all)-1]-r.values[0] <= 1e-14*math.Abs(value) {
		return nil
	}
	r.accelerate(y, x)
	return r
}

// choices is n over k.
func choices(n, k int) float64 {
	c := 1.0
	for i := 1; i <= k; i++ {
		c = c * float64(n-k+i) / float64(i)
	}
	return math.Round(c)
}

// accelerate leaves out one cluster at a time.
func (r *resampled) accelerate(y, x []float64) {
	n := float64(len(y))
	sumY, sumX := 0.0, 0.0
	for i := range y {
		sumY, sumX = sumY+y[i], sumX+x[i]
	}
	without, mean := make([]float64, len(y)), 0.0
	for i := range y {
		if sumX-x[i] == 0 {
			r.sure = true
			return
		}
		without[i] = (sumY - y[i]) / (sumX - x[i])
		mean += without[i] / n
	}
	squares, cubes := 0.0, 0.0
	for _, t := range without {
		squares, cubes = squares+math.Pow(mean-t, 2), cubes+math.Pow(mean-t, 3)
	}
	if squares > 0 {
		r.a, r.hasA = cubes/(6*math.Pow(squares, 1.5)), true
	}
	r.sure = squares > 1e-24*max(mean*mean, 1e-24)*n
}

// quantile is the least value with a share of at least p at or below it, infinite where p is
// no share.
func (r *resampled) quantile(p float64) float64 {
	if p <= 0 {
		return math.Inf(-1)
	}
	sum := 0.0
	for i, c := range r.chance {
		if sum += c; sum >= p {
			return r.values[i]
		}
	}
	return math.Inf(1)
}

// around is where the p-quantile of the run's draws must be, for a p between two numbers.
func (r *resampled) around(low, high float64) between {
	off := func(p float64) float64 { return sigmas*r.error*2*math.Sqrt(max(0, p*(1-p))) + 1e-9 }
	slack := near * max(1, math.Abs(r.value))
	if r.error > 0 {
		// The quantiles of draws lie between two of them, and of many clusters the run
		// draws weights.
		off2 := 2 / float64(draws)
		low, high = low-off2, high+off2
		slack += drawnAnother * (r.quantile(.975) - r.quantile(.025))
	}
	return between{r.quantile(low-off(low)) - slack, r.quantile(high+off(high)) + slack}
}

// interval gives the ends of an interval, and which methods may have made it.
func (r *resampled) interval(method string, level float64) (low, high between, methods anyOf) {
	tail := (1 - level) / 2
	low, high = r.around(tail, tail), r.around(1-tail, 1-tail)
	if method == percentile {
		return low, high, anyOf{method}
	}
	below := 0.0 // the share of what is below the value, and half of what equals it
	for i, value := range r.values {
		if same(value, r.value) {
			below += r.chance[i] / 2
		} else if value < r.value {
			below += r.chance[i]
		}
	}
	off := sigmas * r.error
	first, last := below-off, below+off
	if r.sure && !r.hasA || r.error == 0 && (below <= 1e-12 || below >= 1-1e-12) {
		return low, high, anyOf{percentile}
	}
	if first <= 0 || last >= 1 || !r.sure {
		// Nearly all resamples are on one side: whether some are on the other is chance, and
		// with it whether there is a correction, and how large.
		everything := between{r.values[0] - 1, r.values[len(r.values)-1] + 1}
		return everything, everything, anyOf{method, percentile}
	}
	z := distuv.UnitNormal.Quantile(1 - tail)
	shares := func(z float64) (least, most float64, defined bool) {
		least, most = math.Inf(1), math.Inf(-1)
		for _, share := range []float64{first, below, last} {
			bias := distuv.UnitNormal.Quantile(share)
			scale := 1 - r.a*(bias+z)
			if scale <= 0 {
				return 0, 1, false
			}
			p := distuv.UnitNormal.CDF(bias + (bias+z)/scale)
			least, most = min(least, p), max(most, p)
		}
		return least, most, true
	}
	l1, l2, ok1 := shares(-z)
	h1, h2, ok2 := shares(z)
	methods = anyOf{method}
	if !ok1 || !ok2 {
		methods = anyOf{method, percentile}
	}
	return r.around(l1, l2), r.around(h1, h2), methods
}
