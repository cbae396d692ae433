// Package span does arithmetic on half-open intervals of text.
//
// Every offset counts Unicode code points, zero-based; package dataset converts
// bytes, UTF-16 units, pages and blocks at the edge. The package knows neither
// texts nor files: a [Span] is three integers, and sets of code points are
// always intervals, never sets of characters.
package span

import (
	"math/bits"
)

// A Span is the half-open interval [Start, End) of code points in the place
// that Key stands for.
//
// Key is a small code that the caller assigns to each distinct (document, page)
// of one comparison; only its equality and order matter. A Span with
// Start >= End is empty.
type Span struct {
	Key, Start, End int32
}

// Len is the number of code points in s, 0 if s is empty.
func (s Span) Len() int64 { return max(0, int64(s.End)-int64(s.Start)) }

// A Jaccard is the exact quotient |x∩y| / |x∪y| of two spans of one key, each
// as given or widened. Both sizes fit: a union that overlaps is one interval of
// less than 2^32 code points.
type Jaccard struct{ Overlap, Union uint32 }

// disjoint is the Jaccard of a span without partner.
var disjoint = Jaccard{0, 1}

// Float is the quotient rounded to the nearest float64.
func (j Jaccard) Float() float64 { return float64(j.Overlap) / float64(j.Union) }

// Exact reports whether the two spans are equal.
func (j Jaccard) Exact() bool { return j.Overlap == j.Union }

// Compare returns -1, 0 or 1 as j is less than, equal to or greater than k. It
// is exact.
func (j Jaccard) Compare(k Jaccard) int {
	a, b := uint64(j.Overlap)*uint64(k.Union), uint64(k.Overlap)*uint64(j.Union)
	return precedes(b, a) - precedes(a, b)
}

// A Fraction is the exact quotient Num / Den of two sizes of sets, Num ≥ 0 and
// Den > 0.
type Fraction struct{ Num, Den int64 }

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
