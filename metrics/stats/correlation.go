package stats

import (
	"cmp"
	"math"
	"slices"

	"ibid"
)

// A Correlation is a coefficient with its interval.
type Correlation struct {
	Value ibid.Number
	Bounds
	N int64
}

// Pearson is the linear correlation of x and y, which have one length, with
// Fisher's z interval, tanh(atanh r ± z/sqrt(n-3)). It is undefined where one of
// them is constant; the interval also for n < 4 and |r| = 1.
func Pearson(x, y []float64, level float64) Correlation {
	c := Correlation{Value: pearson(x, y), N: int64(len(x))}
	c.setFisher(level, func(float64) float64 { return 1 })
	return c
}

// Spearman is the correlation of the ranks of x and y, tied values having the
// mean of their ranks, with the interval of Bonett & Wright 2000.
func Spearman(x, y []float64, level float64) Correlation {
	c := Correlation{Value: pearson(Ranks(x), Ranks(y)), N: int64(len(x))}
	c.setFisher(level, func(rho float64) float64 { return 1 + rho*rho/2 })
	return c
}

// perfect is how near to 1 a correlation is taken for 1: closer is rounding.
const perfect = 1e-12

func (c *Correlation) setFisher(level float64, scale func(r float64) float64) {
	r := c.Value.Value
	if !c.Value.Known() || c.N < 4 || math.Abs(r) > 1-perfect {
		return
	}
	half := NormalQuantile(level) * math.Sqrt(scale(r)/float64(c.N-3))
	c.Bounds = Bounds{Of(math.Tanh(math.Atanh(r) - half)), Of(math.Tanh(math.Atanh(r) + half))}
}

func pearson(x, y []float64) ibid.Number {
	if len(x) < 2 || constant(x) || constant(y) {
		return ibid.Number{}
	}
	mx, my := meanOf(x), meanOf(y)
	var xx, xy, yy float64
	for i := range x {
		a, b := x[i]-mx, y[i]-my
		xx, xy, yy = xx+a*a, xy+a*b, yy+b*b
	}
	r := FractionOf(xy, math.Sqrt(xx)*math.Sqrt(yy))
	r.Value = max(-1, min(1, r.Value))
	return r
}

func constant(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

func meanOf(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Ranks are the ranks of x from 1, tied values having the mean of theirs.
func Ranks(x []float64) []float64 {
	order := byValue(x)
	ranks := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			ranks[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return ranks
}

// byValue lists the indices of x by value, then by index.
func byValue(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	return order
}

// PearsonInfluence is what each pair adds to the error of Pearson's correlation r: with x and
// y standardised, (x y - r (x² + y²)/2) / n. It is nil where there is no correlation.
func PearsonInfluence(x, y []float64) []float64 {
	x, y = standardised(x), standardised(y)
	if x == nil || y == nil {
		return nil
	}
	n, r := float64(len(x)), 0.0
	for i := range x {
		r += x[i] * y[i] / n
	}
	out := make([]float64, len(x))
	for i := range x {
		out[i] = (x[i]*y[i] - r*(x[i]*x[i]+y[i]*y[i])/2) / n
	}
	return out
}

// SpearmanInfluence is [PearsonInfluence] for Spearman's correlation: that of the ranks, and
// what a pair does to the ranks of the others.
func SpearmanInfluence(x, y []float64) []float64 {
	first, second := Ranks(x), Ranks(y)
	out := PearsonInfluence(first, second)
	if out == nil {
		return nil
	}
	a, b := standardised(first), standardised(second)
	n, r := float64(len(a)), 0.0
	for i := range a {
		r += a[i] * b[i] / n
	}
	addRankInfluence(out, x, first, a, b, r)
	addRankInfluence(out, y, second, b, a, r)
	return out
}

// addRankInfluence adds what a value of x does to the ranks of the others: it moves those
// above it up by one, those equal to it by half.
func addRankInfluence(out, x, ranks, own, other []float64, r float64) {
	n := float64(len(x))
	_, deviation := meanAndDeviation(ranks)
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	weight := func(i int) float64 { return (other[i] - r*own[i]) / (n * deviation) }
	all := 0.0 // Σ weight × rank, of which a value adds its part on average
	for i := range x {
		all += weight(i) * ranks[i]
	}
	above := 0.0
	for end := len(order); end > 0; {
		begin := end - 1
		for begin > 0 && x[order[begin-1]] == x[order[end-1]] {
			begin--
		}
		same := 0.0
		for _, i := range order[begin:end] {
			same += weight(i)
		}
		for _, i := range order[begin:end] {
			out[i] += above + same/2 - all/n
		}
		above += same
		end = begin
	}
}

// standardised has mean 0 and deviation 1; nil if nothing varies.
func standardised(x []float64) []float64 {
	mean, deviation := meanAndDeviation(x)
	if len(x) < 2 || deviation == 0 {
		return nil
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = (v - mean) / deviation
	}
	return out
}

func meanAndDeviation(x []float64) (mean, deviation float64) {
	mean = meanOf(x)
	return mean, math.Sqrt(spread(x, x))
}
