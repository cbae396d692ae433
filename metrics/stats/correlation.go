package stats

import (
	"cmp"
	"math"
	"slices"

	"ibid"
)

// pearson is the linear correlation of x and y, which have one length. It is undefined where
// one of them is constant.
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

// PearsonOf is Pearson's correlation of x and y, -1 to 1, over units with these documents, with
// the jackknife's interval. It is undefined where either is constant.
func PearsonOf(x, y []float64, documents *Documents, level float64) Estimate {
	r := pearson(x, y)
	if !r.Known() {
		return undefined(level)
	}
	n := float64(len(x))
	mx, my := meanOf(x), meanOf(y)
	var xx, xy, yy float64
	for i := range x {
		a, b := x[i]-mx, y[i]-my
		xx, xy, yy = xx+float64(a*a), xy+float64(a*b), yy+float64(b*b)
	}
	counted, without := make([]int, len(x)), make([]float64, len(x))
	for i := range x {
		a, b, scale := x[i]-mx, y[i]-my, n/(n-1)
		counted[i] = i
		xi, yi := xx-float64(scale*a*a), yy-float64(scale*b*b)
		if xi < nearlyAll*xx || yi < nearlyAll*yy {
			without[i] = pearsonWithout(x, y, i)
			continue
		}
		without[i] = (xy - float64(scale*a*b)) / (math.Sqrt(xi) * math.Sqrt(yi))
	}
	e := jackknifed(r.Value, counted, without, nil, len(x), documents, -1, 1, level)
	e.N = int64(len(x))
	return e
}

// nearlyAll is the share of a sum of squares below which what one unit leaves of it is summed
// again: subtracting would cancel.
const nearlyAll = 1e-6

// pearsonWithout is the correlation without a unit, NaN if it is undefined.
func pearsonWithout(x, y []float64, unit int) float64 {
	without := func(of []float64) []float64 {
		return append(append(make([]float64, 0, len(of)), of[:unit]...), of[unit+1:]...)
	}
	x, y = without(x), without(y)
	xx, yy := spread(x, x), spread(y, y)
	return spread(x, y) / (math.Sqrt(xx) * math.Sqrt(yy)) // 0/0 is NaN
}
