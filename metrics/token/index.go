// Package token divides a text into word tokens and converts between the units
// in which people count positions in it: code points, UTF-8 bytes and UTF-16
// code units.
//
// Every offset that leaves the package counts Unicode code points, zero-based,
// and every interval is half-open. A text is a plain string; the package knows
// neither documents nor files.
package token

import "sort"

// An Index holds the tokens of one text: token i is the half-open interval
// [Starts[i], Ends[i]) of code points. Tokens are not empty, do not overlap and
// stand in the order of the text. The zero Index is that of a text without
// tokens.
//
// An Index is safe for concurrent use while nobody changes it.
type Index struct {
	Starts, Ends []int32
}

// Len is the number of tokens.
func (x *Index) Len() int { return len(x.Starts) }

// Range returns the tokens that the code points [start, end) touch, as the
// half-open range [lo, hi) of token numbers. A token is touched if at least one
// of its code points is. The range is empty (lo = hi) if there is none; lo then
// is the number of tokens that end at or before start, so that the ranges of a
// sorted set of spans are sorted, too. start may lie past the end of the text.
//
// It takes O(log n) steps in n tokens and does not allocate.
func (x *Index) Range(start, end int32) (lo, hi int) {
	lo = sort.Search(len(x.Ends), func(i int) bool { return x.Ends[i] > start })
	if start >= end {
		return lo, lo
	}
	hi = lo + sort.Search(len(x.Starts)-lo, func(i int) bool { return x.Starts[lo+i] >= end })
	return lo, hi
}

// newIndex returns an empty index with room for n tokens.
func newIndex(n int) *Index {
	return &Index{Starts: make([]int32, 0, n), Ends: make([]int32, 0, n)}
}

// add appends the token [start, end), given in code points.
func (x *Index) add(start, end int32) {
	x.Starts = append(x.Starts, start)
	x.Ends = append(x.Ends, end)
}
