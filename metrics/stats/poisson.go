package stats

import (
	"math"
	"math/bits"
)

// poissonSteps are the values of the distribution function of Poisson(1) at 0, 1,
// 2, … up to where it is 1 in a float64.
var poissonSteps = func() []float64 {
	var steps []float64
	p, total := 1/math.E, 0.0
	for k := 1.0; total+p > total; k++ {
		total += p
		steps = append(steps, total)
		p /= k
	}
	return steps
}()

// PoissonWeight is the Poisson(1) variate of the uniform number u in [0, 1): the
// least k with u < P(W <= k).
func PoissonWeight(u float64) int {
	k := 0
	for k < len(poissonSteps) && u >= poissonSteps[k] {
		k++
	}
	return k
}

const (
	laneBits  = 12 // of a random word decide nearly every weight
	lanes     = 5  // weights from one word
	undecided = 1 << 7
)

// poissonTable has the weight of each u in [i, i+1)/2^laneBits, or undecided if
// it is not the same for all of them, which happens once in 600 draws.
var poissonTable = func() *[1 << laneBits]uint8 {
	var table [1 << laneBits]uint8
	for i := range table {
		low := PoissonWeight(float64(i) / (1 << laneBits))
		high := PoissonWeight(math.Nextafter(float64(i+1)/(1<<laneBits), 0))
		table[i] = uint8(low)
		if low != high {
			table[i] = undecided
		}
	}
	return &table
}()

// A weightGroup is what tells the five replicates of a group from all others.
type weightGroup struct{ a, b uint64 }

// groupOf are the replicates from lanes*group on.
func groupOf(seed uint64, group int) weightGroup {
	s := NewStream(seed, uint64(group), 'P')
	return weightGroup{s.Uint64(), s.Uint64()}
}

// word is the random word that the group draws the weights of a unit from: the
// halves of a product of 128 bits, folded. Keys must be spread over all words, as
// those of [Key] are.
//
// Source: the mixing step of Wang Yi's wyhash.
func (g weightGroup) word(key uint64) uint64 {
	hi, lo := bits.Mul64(key^g.a, g.b)
	return hi ^ lo
}

// weightOf is the weight that the given lane of a word draws.
func weightOf(word uint64, lane int) int64 {
	i := word >> (laneBits * lane) & (1<<laneBits - 1)
	if w := poissonTable[i]; w != undecided {
		return int64(w)
	}
	// The lane gives the first bits of u; the rest come from another word.
	s := NewStream(word, uint64(lane))
	return int64(PoissonWeight((float64(i) + s.Float64()) / (1 << laneBits)))
}

// weightsOf are the weights that the lanes of a word draw.
func weightsOf(word uint64) (w0, w1, w2, w3, w4 int64) {
	return weightOf(word, 0), weightOf(word, 1), weightOf(word, 2), weightOf(word, 3), weightOf(word, 4)
}

// weightedSums are the sums of values, weighted by the five replicates of a group.
// The lookups stand here because a call would take as long as all the rest.
func (g weightGroup) weightedSums(keys []uint64, values []int64) [lanes]int64 {
	const mask = 1<<laneBits - 1
	table := poissonTable
	values = values[:len(keys)]
	var s0, s1, s2, s3, s4 int64
	for i, key := range keys {
		word := g.word(key)
		w0 := int64(table[word&mask])
		w1 := int64(table[word>>laneBits&mask])
		w2 := int64(table[word>>(2*laneBits)&mask])
		w3 := int64(table[word>>(3*laneBits)&mask])
		w4 := int64(table[word>>(4*laneBits)&mask])
		if (w0|w1|w2|w3|w4)&undecided != 0 {
			w0, w1, w2, w3, w4 = weightsOf(word)
		}
		v := values[i]
		s0 += w0 * v
		s1 += w1 * v
		s2 += w2 * v
		s3 += w3 * v
		s4 += w4 * v
	}
	return [lanes]int64{s0, s1, s2, s3, s4}
}
