package stats

import "sort"

// An Isotonic is a non-decreasing function fitted to points: linear between the
// distinct X, constant beyond the first and the last.
type Isotonic struct {
	X      []float64 // distinct, ascending
	Fitted []float64
}

// FitIsotonic is the non-decreasing least-squares fit of y on x, by pooling
// adjacent violators; equal x are pooled first. Weights must be positive; nil
// means 1 each. Do not report on the items it was fitted to.
//
// Source: Barlow et al. 1972.
func FitIsotonic(x, y, weights []float64) *Isotonic {
	type block struct {
		sum, weight float64
		points      int // distinct x
	}
	f := &Isotonic{}
	var blocks []block
	order := byValue(x)
	for k := 0; k < len(order); {
		at := x[order[k]]
		b := block{points: 1}
		for ; k < len(order) && x[order[k]] == at; k++ {
			w := 1.0
			if weights != nil {
				w = weights[order[k]]
			}
			b.sum, b.weight = b.sum+w*y[order[k]], b.weight+w
		}
		f.X = append(f.X, at)
		for n := len(blocks); n > 0 && blocks[n-1].sum*b.weight >= b.sum*blocks[n-1].weight; n = len(blocks) {
			last := blocks[n-1]
			b = block{last.sum + b.sum, last.weight + b.weight, last.points + b.points}
			blocks = blocks[:n-1]
		}
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		for range b.points {
			f.Fitted = append(f.Fitted, b.sum/b.weight)
		}
	}
	return f
}

// At is the value of the function, undefined if it was fitted to nothing.
func (f *Isotonic) At(x float64) Number {
	n := len(f.X)
	if n == 0 {
		return Number{}
	}
	i := sort.SearchFloat64s(f.X, x)
	switch {
	case i == n:
		return Of(f.Fitted[n-1])
	case i == 0 || f.X[i] == x:
		return Of(f.Fitted[i])
	}
	share := (x - f.X[i-1]) / (f.X[i] - f.X[i-1])
	return Of(f.Fitted[i-1] + share*(f.Fitted[i]-f.Fitted[i-1]))
}
