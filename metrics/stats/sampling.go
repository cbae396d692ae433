package stats

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math/big"
	"slices"
	"strings"
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
	a := Allocation{Strata: largestRemainder(sizes, target), Target: target}
	for key, n := range sizes {
		a.Strata[key] = max(a.Strata[key], min(minPerStratum, n))
		a.Total += a.Strata[key]
	}
	return a
}

// largestRemainder shares n in proportion to sizes.
func largestRemainder(sizes map[string]int, n int) map[string]int {
	all := 0
	out := make(map[string]int, len(sizes))
	for key, size := range sizes {
		all += size
		out[key] = 0
	}
	if all == 0 || n <= 0 {
		return out
	}
	keys := slices.Sorted(maps.Keys(sizes))
	remainder := make(map[string]*big.Rat, len(keys))
	left := n
	for _, key := range keys {
		quota := big.NewRat(int64(sizes[key])*int64(n), int64(all))
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
