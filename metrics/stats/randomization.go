package stats

import (
	"math"
	"math/bits"
	"slices"

	"ibid"
)

const (
	maxEnumeratedFlips = 20      // differences other than 0 of which all 2^n signs are tried
	maxFlipSteps       = 1 << 20 // steps from 0 to the largest sum, for the exact distribution
	maxFlipWork        = 1 << 27 // steps of it over all differences
)

// SignFlip is Fisher's randomisation test that the differences d, one per cluster,
// are as likely to be negative as positive:
//
//	P = #{s in {-1,+1}^n : |Σ s_i d_i| >= |Σ d_i|} / 2^n
//
// Sums that differ by less than 1e-9 Σ|d| count as equal. It is exact for up to 20
// differences other than 0, and for more if they are multiples of a common number
// and not too many; else samples assignments are drawn, and with b of them as far
// out P = (b+1)/(samples+1), which is never 0. The result depends on the
// differences and the seed, not on their order.
//
// It is undefined without differences, and 1 if there is only one or all are 0. The
// differences must be finite.
//
// Source: Fisher 1935; Phipson & Smyth 2010.
func SignFlip(d []float64, samples int, seed uint64) Test {
	t := Test{Method: SignFlipExact, Clusters: int64(len(d)), MinP: smallestP(int64(len(d)))}
	if len(d) == 0 {
		t.Reason = ibid.NoData
		return t
	}
	f := newFlips(d)
	if f == nil {
		t.Reason = ibid.OutOfRange
		return t
	}
	switch {
	case len(f.sizes) <= maxEnumeratedFlips:
		f.enumerate(&t)
	case f.steps != nil:
		f.convolve(&t)
	case samples < 1:
		t.Reason = ibid.BadArgument
	default:
		t.Method, t.Samples, t.Seed = SignFlipSampled, int64(samples), seed
		f.sample(&t, samples, seed)
	}
	return t
}

// flips are the differences other than 0, without their signs and in ascending
// order: the distribution under the hypothesis depends on nothing else.
type flips struct {
	sizes    []float64
	observed float64 // Σd
	tie      float64 // sums closer than this are equal
	steps    []int   // sizes as multiples of their common measure; nil if there is none
}

// newFlips is nil if a difference is not finite or too large.
func newFlips(d []float64) *flips {
	var sum, size Exact
	f := &flips{}
	for _, v := range d {
		sum.Add(v)
		size.Add(math.Abs(v))
		if v != 0 {
			f.sizes = append(f.sizes, math.Abs(v))
		}
	}
	total, ok := size.Float64()
	if !ok {
		return nil
	}
	f.observed, _ = sum.Float64()
	f.tie = 1e-9 * total
	slices.Sort(f.sizes)
	f.measure(total)
	return f
}

// measure finds the common measure of the sizes by Euclid's algorithm, in which a
// remainder of rounding counts as none.
func (f *flips) measure(total float64) {
	if len(f.sizes) == 0 {
		return
	}
	largest := f.sizes[len(f.sizes)-1]
	least := max(total/maxFlipSteps, 1e-6*largest)
	unit := 0.0
	for _, v := range f.sizes {
		for a := v; a > least/2; {
			unit, a = a, math.Mod(unit, a)
			if unit-a < 1e-9*largest {
				a = 0
			}
		}
		if unit < least {
			return
		}
	}
	steps, sum := make([]int, len(f.sizes)), 0
	for i, v := range f.sizes {
		k := math.Round(v / unit)
		if math.Abs(v-float64(k*unit)) > 1e-9*v {
			return
		}
		steps[i] = int(k)
		sum += int(k)
	}
	if sum <= maxFlipSteps && sum*len(steps) <= maxFlipWork {
		f.steps = steps
	}
}

// enumerate goes through all assignments in Gray code order, which changes one
// sign at a time; the sum is set anew now and then to keep rounding down.
func (f *flips) enumerate(t *Test) {
	n := len(f.sizes)
	all := 1 << n
	var two, greater, less int
	sum := 0.0
	for i := range all {
		gray := i ^ i>>1
		if i%1024 == 0 {
			sum = f.signed(gray)
		} else {
			k := bits.TrailingZeros(uint(i))
			if gray>>k&1 == 1 {
				sum += 2 * f.sizes[k]
			} else {
				sum -= 2 * f.sizes[k]
			}
		}
		f.count(sum, &two, &greater, &less)
	}
	t.P, t.Greater, t.Less = float64(two)/float64(all), float64(greater)/float64(all), float64(less)/float64(all)
}

// signed is the sum with a plus where signs has a 1.
func (f *flips) signed(signs int) float64 {
	sum := 0.0
	for k, v := range f.sizes {
		if signs>>k&1 == 1 {
			sum += v
		} else {
			sum -= v
		}
	}
	return sum
}

func (f *flips) count(sum float64, two, greater, less *int) {
	if math.Abs(sum) >= math.Abs(f.observed)-f.tie {
		*two++
	}
	if sum >= f.observed-f.tie {
		*greater++
	}
	if sum <= f.observed+f.tie {
		*less++
	}
}

// convolve computes the distribution of the sum on its grid.
func (f *flips) convolve(t *Test) {
	unit := f.sizes[0] / float64(f.steps[0])
	total := 0
	for _, k := range f.steps {
		total += k
	}
	// chance[total+j] is that of the sum j.
	chance, next := make([]float64, 2*total+1), make([]float64, 2*total+1)
	chance[total] = 1
	reach := 0
	for _, k := range f.steps {
		clear(next[total-reach-k : total+reach+k+1])
		for j := total - reach; j <= total+reach; j++ {
			half := chance[j] / 2
			next[j-k] += half
			next[j+k] += half
		}
		reach += k
		chance, next = next, chance
	}
	at := int(math.Round(f.observed / unit))
	far := max(at, -at)
	for j := -total; j <= total; j++ {
		c := chance[total+j]
		if j >= far || j <= -far {
			t.P += c
		}
		if j >= at {
			t.Greater += c
		}
		if j <= at {
			t.Less += c
		}
	}
	t.P, t.Greater, t.Less = min(1, t.P), min(1, t.Greater), min(1, t.Less)
}

const flipBlock = 64 // sizes that share a word of signs

// sample draws assignments.
func (f *flips) sample(t *Test, samples int, seed uint64) {
	two, greater, less := 1, 1, 1
	for _, sum := range signedSums(f.sizes, samples, seed) {
		f.count(sum, &two, &greater, &less)
	}
	n := float64(samples + 1)
	t.P, t.Greater, t.Less = float64(two)/n, float64(greater)/n, float64(less)/n
}

// signedSums are sums of the sizes with random signs, which depend on the seed, the
// sample and the place of the size alone. Eight sizes at a time are added by a table
// of all their signed sums, so that a sample costs an eighth of an addition each.
func signedSums(sizes []float64, samples int, seed uint64) []float64 {
	sums := make([]float64, samples)
	for from := 0; from < len(sizes); from += flipBlock {
		block := sizes[from:min(from+flipBlock, len(sizes))]
		var tables [flipBlock / 8][256]float64
		for k := range tables {
			fillSigned(&tables[k], block, 8*k)
		}
		group := NewStream(seed, uint64(from), 'S')
		start := group.Uint64()
		for r := range sums {
			word := mix(start + uint64(r)*golden)
			// Written out, because a loop over the tables takes half as long again.
			sum := tables[0][word&255]
			sum += tables[1][word>>8&255]
			sum += tables[2][word>>16&255]
			sum += tables[3][word>>24&255]
			sum += tables[4][word>>32&255]
			sum += tables[5][word>>40&255]
			sum += tables[6][word>>48&255]
			sum += tables[7][word>>56]
			sums[r] += sum
		}
	}
	return sums
}

// fillSigned fills in the sums of up to eight sizes from the one at from on: those of
// the first k of them with either sign of the next.
func fillSigned(table *[256]float64, sizes []float64, from int) {
	clear(table[:])
	n := 1 // sums so far
	for _, v := range sizes[min(from, len(sizes)):min(from+8, len(sizes))] {
		for signs, sum := range table[:n] {
			table[signs], table[signs+n] = sum-v, sum+v
		}
		n *= 2
	}
	for ; n < len(table); n *= 2 { // signs of sizes that are not there change nothing
		copy(table[n:2*n], table[:n])
	}
}

// maxEnumeratedSwaps is up to how many clusters all ways to swap are tried.
const maxEnumeratedSwaps = 16

// SwapTest is Fisher's randomisation test that two ratios of sums over the same
// clusters differ by chance: if nothing differs, either system's sums could be the
// other's, cluster by cluster. P is the share of the 2^G ways to swap them in which
// the difference of the ratios is at least as large as seen,
//
//	|R_first - R_second|,  R = Σy / Σx
//
// For more than 16 clusters samples ways are drawn, and with b of them as far out
// P = (b+1)/(samples+1). A way that leaves a ratio undefined counts as far out. The
// units must have four sums as for [QuotientDifference]; the result depends on
// neither their order nor their keys.
//
// It is undefined without units, and if a ratio of the units themselves is.
//
// Source: Fisher 1935; Phipson & Smyth 2010.
func (u *Units) SwapTest(samples int, seed uint64) Test {
	n := int64(u.Len())
	t := Test{Method: SwapExact, Clusters: n, MinP: smallestP(n)}
	if n == 0 {
		t.Reason = ibid.NoData
		return t
	}
	totals, ok := u.totals()
	if !ok {
		t.Reason = ibid.OutOfRange
		return t
	}
	observed, ok := QuotientDifference(totals)
	if !ok {
		t.Reason = ibid.ZeroDenominator
		return t
	}
	s := newSwaps(u, totals, observed)
	switch {
	case len(s.dy) <= maxEnumeratedSwaps:
		for signs := range 1 << len(s.dy) {
			var dy, dx float64
			for k := range s.dy {
				sign := float64(2*(signs>>k&1) - 1)
				dy += sign * s.dy[k]
				dx += sign * s.dx[k]
			}
			s.count(dy, dx)
		}
	case samples < 1:
		t.Reason = ibid.BadArgument
		return t
	default:
		t.Method, t.Samples, t.Seed = SwapSampled, int64(samples), seed
		s.sample(samples, seed)
	}
	all := float64(s.ways)
	t.P, t.Greater, t.Less = float64(s.two)/all, float64(s.greater)/all, float64(s.less)/all
	return t
}

// swaps are what changes when clusters are swapped: with y and x the sums of both
// systems together and dy, dx the differences, each with the sign of its cluster,
// the ratios are (y+Σdy)/(x+Σdx) and (y-Σdy)/(x-Σdx).
type swaps struct {
	y, x                     float64
	dy, dx                   []float64
	observed, tie            float64
	two, greater, less, ways int64
}

func newSwaps(u *Units, totals []float64, observed float64) *swaps {
	s := &swaps{y: totals[0] + totals[2], x: totals[1] + totals[3], observed: observed}
	s.tie = 1e-9*math.Abs(observed) + 1e-12
	sorted := &Units{keys: make([]uint64, u.Len()), sums: u.sums}
	sorted = sorted.canonical()
	for i := range sorted.keys {
		dy, dx := sorted.sums[0][i]-sorted.sums[2][i], sorted.sums[1][i]-sorted.sums[3][i]
		if dy != 0 || dx != 0 { // else a swap changes nothing
			s.dy, s.dx = append(s.dy, dy), append(s.dx, dx)
		}
	}
	return s
}

func (s *swaps) count(dy, dx float64) {
	s.ways++
	d, ok := QuotientDifference([]float64{s.y + dy, s.x + dx, s.y - dy, s.x - dx})
	if !ok {
		s.two, s.greater, s.less = s.two+1, s.greater+1, s.less+1
		return
	}
	if math.Abs(d) >= math.Abs(s.observed)-s.tie {
		s.two++
	}
	if d >= s.observed-s.tie {
		s.greater++
	}
	if d <= s.observed+s.tie {
		s.less++
	}
}

// sample draws ways to swap, with the tables of [flips.sample].
func (s *swaps) sample(samples int, seed uint64) {
	dy := signedSums(s.dy, samples, seed)
	dx := signedSums(s.dx, samples, seed)
	s.two, s.greater, s.less, s.ways = 1, 1, 1, 1
	for r := range dy {
		s.count(dy[r], dx[r])
	}
}
