package span

import "math/bits"

// A Fraction is the exact quotient Num / Den of two sizes, 0 ≤ Num ≤ Den and
// Den > 0.
type Fraction struct{ Num, Den int64 }

// zero is the fraction of a span without partner.
var zero = Fraction{0, 1}

// Float is the quotient rounded to the nearest float64.
func (f Fraction) Float() float64 { return float64(f.Num) / float64(f.Den) }

// Compare returns -1, 0 or 1 as f is less than, equal to or greater than g. It
// is exact.
func (f Fraction) Compare(g Fraction) int {
	h1, l1 := bits.Mul64(uint64(f.Num), uint64(g.Den))
	h2, l2 := bits.Mul64(uint64(g.Num), uint64(f.Den))
	switch {
	case h1 < h2 || h1 == h2 && l1 < l2:
		return -1
	case h1 > h2 || l1 > l2:
		return 1
	}
	return 0
}
