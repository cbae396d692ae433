package stats

import (
	"crypto/sha256"
	"math"
	"slices"
	"strings"
)

// A StratifiedMean is the mean of a population of which each stratum was sampled
// on its own.
type StratifiedMean struct {
	Value Number
	SE    Number // with the finite population correction
	DF    Number // degrees of freedom: items less strata
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
	type hashed struct {
		hash [sha256.Size]byte
		id   string
	}
	all := make([]hashed, len(ids))
	for i, id := range ids {
		all[i] = hashed{sha256.Sum256([]byte(seed + "\x00" + stratum + "\x00" + id)), id}
	}
	slices.SortFunc(all, func(a, b hashed) int {
		if c := slices.Compare(a.hash[:], b.hash[:]); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	out := make([]string, 0, min(n, len(all)))
	for _, h := range all[:min(n, len(all))] {
		out = append(out, h.id)
	}
	return out
}
