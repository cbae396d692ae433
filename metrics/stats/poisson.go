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

const (
	// poissonBlock is how many units are weighted for all replicates before the
	// next ones: their keys and sums stay in the first cache.
	poissonBlock = 1024
	// weightBits bound the sum of the weights of a block: it is 1024 on average, and
	// to reach 4096 it would have to be 96 standard deviations away.
	weightBits = 12
)

// poisson draws weights by replicate and key. It adds integers, so that neither
// the order of the units nor the number of workers can change a sum.
func (u *Units) poisson(stat Statistic, o Resampling) []float64 {
	count := (o.Resamples + lanes - 1) / lanes
	groups := make([]weightGroup, count)
	for g := range groups {
		groups[g] = groupOf(o.Seed, g)
	}
	packs := packColumns(u.sums)
	values := make([]float64, o.Resamples)
	// Each worker has replicates of its own, so there is nothing to merge.
	inParallel(o.Workers, count, func(from, to int) {
		totals := make([][]int64, len(u.sums))
		for c := range totals {
			totals[c] = make([]int64, lanes*(to-from))
		}
		for i := range packs {
			packs[i].add(u.keys, groups[from:to], totals)
		}
		sums := make([]float64, len(u.sums))
		for r := lanes * from; r < min(lanes*to, o.Resamples); r++ {
			for i := range packs {
				packs[i].floats(totals, r-lanes*from, sums)
			}
			values[r] = valueOf(stat, sums)
		}
	})
	return values
}

// A pack is one column of integers, or two of them in one word so that both cost
// one multiplication: low + high<<shift.
type pack struct {
	values    []int64
	low, high int // columns; high is -1 if there is none
	shift     uint
	lowUnit   float64 // what 1 of the low column stands for; that of the high one is 1
}

// packColumns packs every pair of columns of which the second is made of counts
// that leave room for the first, and every other column alone.
func packColumns(columns [][]float64) []pack {
	var packs []pack
	for c := 0; c < len(columns); c++ {
		if c+1 < len(columns) {
			if p, ok := packPair(columns, c); ok {
				packs = append(packs, p)
				c++
				continue
			}
		}
		packs = append(packs, packOne(columns, c))
	}
	return packs
}

// weightedRoom is how many bits a number may have so that sums over n units fit an
// int64: the sum of their weights is below 2n+64 for all practical purposes.
func weightedRoom(n int) int { return 62 - bits.Len(uint(2*n+64)) }

// packOne makes integers of a column.
func packOne(columns [][]float64, c int) pack {
	column := columns[c]
	p := pack{values: make([]int64, len(column)), low: c, high: -1}
	p.lowUnit = unitOf(column, weightedRoom(len(column)))
	for i, v := range column {
		p.values[i] = int64(math.RoundToEven(v / p.lowUnit))
	}
	return p
}

// leastPrecision is how many bits numbers that are not whole keep at least.
const leastPrecision = 30

// packPair packs columns c and c+1.
func packPair(columns [][]float64, c int) (p pack, ok bool) {
	low, high := columns[c], columns[c+1]
	highBits, counts := sizeOf(high)
	lowBits, whole := sizeOf(low)
	room := min(62-2*weightBits-highBits, weightedRoom(len(low)))
	if !counts || highBits > weightedRoom(len(high)) || room < leastPrecision && !(whole && lowBits <= room) {
		return pack{}, false
	}
	p = pack{values: make([]int64, len(low)), low: c, high: c + 1, lowUnit: unitOf(low, room)}
	p.shift = uint(room + weightBits + 1) // and one for the sign
	for i, v := range low {
		p.values[i] = int64(math.RoundToEven(v/p.lowUnit)) + int64(high[i])<<p.shift
	}
	return p, true
}

// sizeOf is the least n with all numbers of a column below 2^n in magnitude, and
// whether all are whole.
func sizeOf(column []float64) (n int, whole bool) {
	largest := 0.0
	whole = true
	for _, v := range column {
		largest = max(largest, math.Abs(v))
		whole = whole && v == math.Trunc(v)
	}
	_, n = math.Frexp(largest)
	return max(n, 0), whole
}

// unitOf is the unit in which a column is rounded to integers below 2^room, 1 if
// it is whole already.
func unitOf(column []float64, room int) float64 {
	largest := 0.0
	for _, v := range column {
		largest = max(largest, math.Abs(v))
	}
	if n, whole := sizeOf(column); whole && n <= room {
		return 1
	}
	_, exp := math.Frexp(largest)
	return math.Ldexp(1, exp-room)
}

// add adds the weighted columns of all units to totals, which have lanes elements
// for each group.
func (p *pack) add(keys []uint64, groups []weightGroup, totals [][]int64) {
	for from := 0; from < len(keys); from += poissonBlock {
		to := min(from+poissonBlock, len(keys))
		block, values := keys[from:to], p.values[from:to]
		for g := range groups {
			for lane, sum := range groups[g].weightedSums(block, values) {
				if p.high >= 0 {
					low := sum << (64 - p.shift) >> (64 - p.shift)
					totals[p.high][lanes*g+lane] += (sum - low) >> p.shift
					sum = low
				}
				totals[p.low][lanes*g+lane] += sum
			}
		}
	}
}

// floats are the sums of replicate r.
func (p *pack) floats(totals [][]int64, r int, sums []float64) {
	sums[p.low] = float64(totals[p.low][r]) * p.lowUnit
	if p.high >= 0 {
		sums[p.high] = float64(totals[p.high][r])
	}
}
