package stats

import "math"

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
		t.Reason = NoData
		return t
	}
	totals, ok := u.totals()
	if !ok {
		t.Reason = OutOfRange
		return t
	}
	observed, ok := QuotientDifference(totals)
	if !ok {
		t.Reason = ZeroDenominator
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
		t.Reason = BadArgument
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
