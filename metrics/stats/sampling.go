package stats

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"ibid"
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

// A StratifiedMean is the mean of a population of which each stratum was sampled
// on its own.
type StratifiedMean struct {
	Value ibid.Number
	SE    ibid.Number // with the finite population correction
	DF    ibid.Number // degrees of freedom: items less strata
}

// MeanOfStrata weights the mean of each stratum by its size. A stratum of which
// one item of several was drawn leaves SE undefined; one that has items of which
// none was drawn leaves everything undefined.
//
// Source: Cochran 1977, §5; R's survey::svymean.
func MeanOfStrata(sizes map[string]int, values map[string][]float64) StratifiedMean {
	var out StratifiedMean
	var total float64
	strata := make([]string, 0, len(sizes))
	for key, n := range sizes {
		if n > 0 {
			total += float64(n)
			strata = append(strata, key)
		}
	}
	slices.Sort(strata) // so that sums have one order
	if total == 0 {
		return out
	}
	var mean, variance, df float64
	known := true
	for _, key := range strata {
		x, size := values[key], float64(sizes[key])
		n := float64(len(x))
		if n == 0 {
			return StratifiedMean{}
		}
		weight := size / total
		mean += weight * meanOf(x)
		df += n - 1
		switch {
		case n == size: // nothing is left to chance
		case n == 1:
			known = false
		default:
			variance += weight * weight * (1 - n/size) * spread(x, x) / (n - 1)
		}
	}
	out.Value, out.DF = Of(mean), Of(df)
	if known {
		out.SE = Of(math.Sqrt(variance))
	}
	return out
}

// HashSelect draws n of the ids of a stratum: those with the smallest SHA-256 of
// seed, stratum and id, separated by zero bytes, in that order. The draw depends
// neither on the order of the ids nor on other strata, and a larger n only adds
// to it. Whoever knows the seed can foretell it.
func HashSelect(seed, stratum string, ids []string, n int) []string {
	var text []byte
	hash := func(id string) [sha256.Size]byte {
		text = append(append(append(append(append(text[:0], seed...), 0), stratum...), 0), id...)
		return sha256.Sum256(text)
	}
	type hashed struct {
		first uint64 // bytes of the hash
		at    int
	}
	all := make([]hashed, len(ids))
	for i, id := range ids {
		h := hash(id)
		all[i] = hashed{binary.BigEndian.Uint64(h[:]), i}
	}
	slices.SortFunc(all, func(a, b hashed) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		x, y := hash(ids[a.at]), hash(ids[b.at])
		return cmp.Or(bytes.Compare(x[:], y[:]), strings.Compare(ids[a.at], ids[b.at]))
	})
	out := make([]string, 0, min(n, len(all)))
	for _, h := range all[:min(n, len(all))] {
		out = append(out, ids[h.at])
	}
	return out
}
