package stats

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
)

// An Allocation is how many items to draw from each stratum.
type Allocation struct {
	Strata map[string]int
	Total  int
	Target int // before strata were raised to their minimum
}

// Allocate draws max(⌈rate·N⌉, minTotal) of N items, at most all of them, in
// proportion to the sizes of the strata: each gets the whole part of its quota,
// then the largest remainders one more, ties going to the larger stratum and
// then in byte order. A stratum that has items is then raised to minPerStratum,
// as far as it has them. Everything is exact: rate is in [0, 1].
func Allocate(sizes map[string]int, rate *big.Rat, minTotal, minPerStratum int) Allocation {
	all := 0
	for _, n := range sizes {
		all += n
	}
	target := min(all, max(ceil(new(big.Rat).Mul(rate, big.NewRat(int64(all), 1))), minTotal))
	weights := make(map[string]*big.Rat, len(sizes))
	for key, n := range sizes {
		weights[key] = big.NewRat(int64(n), 1)
	}
	a := Allocation{Strata: largestRemainder(weights, sizes, target), Target: target}
	for key, n := range sizes {
		a.Strata[key] = max(a.Strata[key], min(minPerStratum, n))
		a.Total += a.Strata[key]
	}
	return a
}

// Neyman draws n items where they say most: in proportion to size times standard
// deviation, or to size if nothing varies. A stratum that would have to give more
// than it has gives all, and the others share the rest.
//
// Source: Neyman 1934.
func Neyman(sizes map[string]int, sd map[string]float64, n int) Allocation {
	a := Allocation{Strata: make(map[string]int, len(sizes))}
	open := maps.Clone(sizes)
	rest := n
	for len(open) > 0 {
		quota := largestRemainder(neymanWeights(open, sd), open, rest)
		capped := false
		for key, size := range open {
			if quota[key] >= size {
				a.Strata[key], capped = size, true
				rest -= size
				delete(open, key)
			}
		}
		if !capped {
			maps.Copy(a.Strata, quota)
			break
		}
	}
	for _, k := range a.Strata {
		a.Total += k
	}
	a.Target = a.Total
	return a
}

func neymanWeights(sizes map[string]int, sd map[string]float64) map[string]*big.Rat {
	weights := make(map[string]*big.Rat, len(sizes))
	varies := false
	for key, n := range sizes {
		s := new(big.Rat)
		s.SetFloat64(sd[key])
		weights[key] = s.Mul(s, big.NewRat(int64(n), 1))
		varies = varies || weights[key].Sign() > 0
	}
	if !varies {
		for key, n := range sizes {
			weights[key] = big.NewRat(int64(n), 1)
		}
	}
	return weights
}

// largestRemainder shares n by weights.
func largestRemainder(weights map[string]*big.Rat, sizes map[string]int, n int) map[string]int {
	total := new(big.Rat)
	for _, w := range weights {
		total.Add(total, w)
	}
	out := make(map[string]int, len(weights))
	for key := range weights {
		out[key] = 0
	}
	if total.Sign() == 0 || n <= 0 {
		return out
	}
	keys := slices.Sorted(maps.Keys(weights))
	remainder := make(map[string]*big.Rat, len(keys))
	left := n
	for _, key := range keys {
		quota := new(big.Rat).Mul(weights[key], big.NewRat(int64(n), 1))
		quota.Quo(quota, total)
		whole := floor(quota)
		out[key] = whole
		left -= whole
		remainder[key] = quota.Sub(quota, big.NewRat(int64(whole), 1))
	}
	slices.SortStableFunc(keys, func(a, b string) int {
		return cmp.Or(remainder[b].Cmp(remainder[a]), cmp.Compare(sizes[b], sizes[a]))
	})
	for _, key := range keys[:left] {
		out[key]++
	}
	return out
}

func floor(r *big.Rat) int { return int(new(big.Int).Div(r.Num(), r.Denom()).Int64()) }

func ceil(r *big.Rat) int {
	n := floor(r)
	if !r.IsInt() {
		n++
	}
	return n
}
