package stats

import "math"

// A ChangePoint is the place where one shift of the mean explains a series best.
type ChangePoint struct {
	Found       bool    // the series is long enough
	Left        int     // defined values before the change
	Index       int     // position in the series of the first value after it
	Gain        float64 // reduction of the sum of squares
	MeanLeft    float64
	MeanRight   float64
	P           Number // exact permutation p-value, up to exactLength values
	LeastLength int    // values needed on either side
}

// exactLength is the longest series of which all orders are tried.
const exactLength = 8

// FindChange finds the single shift with least values on either side, at least 1,
// that leaves the smallest sum of squares; the earliest of equals.
func FindChange(series []Number, least int) ChangePoint {
	x, at := defined(series)
	c := ChangePoint{LeastLength: least}
	if len(x) < 2*least || len(x) < 2 {
		return c
	}
	c.Found = true
	c.Left, c.Gain = bestSplit(x, least)
	c.Index = at[c.Left]
	c.MeanLeft, c.MeanRight = meanOf(x[:c.Left]), meanOf(x[c.Left:])
	if len(x) <= exactLength {
		c.P = Of(permutationP(x, least, c.Gain))
	}
	return c
}

func bestSplit(x []float64, least int) (left int, gain float64) {
	var total, sum float64
	for _, v := range x {
		total += v
	}
	n := float64(len(x))
	left, gain = least, -1
	for k := 1; k <= len(x)-least; k++ {
		sum += x[k-1]
		if k < least {
			continue
		}
		a, b := float64(k), n-float64(k)
		d := sum/a - (total-sum)/b
		// The first of equals, also of those that differ by rounding.
		if g := a * b / n * d * d; g > gain+1e-12*math.Abs(gain) {
			left, gain = k, g
		}
	}
	return left, max(0, gain)
}

// permutationP is the share of all orders of x whose best split gains as much.
func permutationP(x []float64, least int, gain float64) float64 {
	y := append([]float64(nil), x...)
	var reached, all float64
	var permute func(k int)
	permute = func(k int) {
		if k == len(y) {
			all++
			if _, g := bestSplit(y, least); g >= gain*(1-1e-9) {
				reached++
			}
			return
		}
		for i := k; i < len(y); i++ {
			y[k], y[i] = y[i], y[k]
			permute(k + 1)
			y[k], y[i] = y[i], y[k]
		}
	}
	permute(0)
	return reached / all
}

// A PettittTest asks whether the distribution of a series changed once, by ranks.
type PettittTest struct {
	K     Number // max |U|
	Left  int    // defined values before the change
	Index int    // position in the series of the first value after it
	P     Number // approximate
}

// Pettitt tests a series. It is undefined for fewer than two values.
//
// Source: Pettitt 1979, with p = 2 exp(-6K²/(n³+n²)), at most 1.
func Pettitt(series []Number) PettittTest {
	x, at := defined(series)
	var out PettittTest
	if len(x) < 2 {
		return out
	}
	most := -1.0
	u := 0.0
	for t := range len(x) - 1 {
		// Moving x[t] to the left adds its signs against all others: those
		// against values on the left cancel.
		for _, v := range x {
			u += sign(x[t] - v)
		}
		if math.Abs(u) > most {
			most, out.Left, out.Index = math.Abs(u), t+1, at[t+1]
		}
	}
	n := float64(len(x))
	out.K, out.P = Of(most), Of(min(1, 2*math.Exp(-6*most*most/(n*n*n+n*n))))
	return out
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
