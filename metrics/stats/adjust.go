package stats

import (
	"cmp"
	"slices"
)

// Holm adjusts p-values of which each is to be read by itself, so that the chance
// of one false discovery among all of them stays below the level: the i-th
// smallest of m becomes the largest (m-j+1) p_j of all j <= i, at most 1. A nil p
// is undefined, is not counted and stays nil. The order is that of ps.
//
// Source: Holm 1979.
func Holm(ps []*float64) []*float64 {
	order := ascending(ps)
	out := make([]*float64, len(ps))
	largest := 0.0
	for i, at := range order {
		largest = min(1, max(largest, float64(len(order)-i)**ps[at]))
		out[at] = new(largest)
	}
	return out
}

// BenjaminiHochberg adjusts p-values so that of those below the level no more than
// that share are false discoveries on average: the i-th smallest of m becomes the
// smallest m/j p_j of all j >= i, at most 1. A nil p is undefined, is not counted
// and stays nil. The order is that of ps.
//
// Source: Benjamini & Hochberg 1995.
func BenjaminiHochberg(ps []*float64) []*float64 {
	order := ascending(ps)
	out := make([]*float64, len(ps))
	smallest := 1.0
	for i := len(order) - 1; i >= 0; i-- {
		smallest = min(smallest, float64(len(order))/float64(i+1)**ps[order[i]])
		out[order[i]] = new(smallest)
	}
	return out
}

// ascending are the places of the defined p-values, smallest first.
func ascending(ps []*float64) []int {
	var order []int
	for i, p := range ps {
		if p != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(*ps[i], *ps[j]) })
	return order
}
