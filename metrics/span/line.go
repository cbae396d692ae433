package span

import (
	"cmp"
	"slices"
)

// A run is a half-open interval of the line on which all keys lie one behind
// the other: key k owns the 2^32 points from k·2^32 on. Spans of different keys
// then never touch, because an end, even widened by the largest tolerance, is
// at most 2^32-2, and one comparison orders by key and start at once.
type run struct{ lo, hi uint64 }

// endOfLine follows every run.
const endOfLine = 1<<64 - 1

// MaxTolerance is the largest tolerance that span arithmetic takes.
const MaxTolerance = MaxEnd

// origin is the point of the line where the key begins. Flipping the sign bit
// keeps the order of negative keys.
func origin(key int32) uint64 { return uint64(uint32(key)^1<<31) << 32 }

func runOf(s Span) run {
	o := origin(s.Key)
	return run{o + uint64(s.Start), o + uint64(s.End)}
}

// span is the inverse of runOf.
func (r run) span() Span {
	return Span{
		Key:   int32(uint32(r.lo>>32) ^ 1<<31),
		Start: int32(uint32(r.lo)),
		End:   int32(uint32(r.lo) + uint32(r.hi-r.lo)),
	}
}

// widen moves both ends outwards, the start not before that of its key.
func (r run) widen(tolerance uint64) run {
	return run{r.lo - min(tolerance, r.lo&(1<<32-1)), r.hi + tolerance}
}

// appendRuns appends the non-empty spans of s to dst, sorted by key and start.
func appendRuns(dst []run, s []Span) []run {
	from := len(dst)
	for _, x := range s {
		if x.Start < x.End {
			dst = append(dst, runOf(x))
		}
	}
	sortRuns(dst[from:])
	return dst
}

// rankLimit is the length up to which counting ranks beats every sort that
// branches on the data.
const rankLimit = 8

func sortRuns(r []run) {
	if len(r) < 2 {
		return
	}
	if len(r) > rankLimit {
		slices.SortFunc(r, func(a, b run) int { return cmp.Compare(a.lo, b.lo) })
		return
	}
	var sorted [rankLimit]run
	for i, x := range r {
		rank := 0
		for _, y := range r[:i] {
			rank += precedes(y.lo, x.lo+1) // earlier ones go first on ties
		}
		for _, y := range r[i+1:] {
			rank += precedes(y.lo, x.lo)
		}
		sorted[rank%rankLimit] = x
	}
	copy(r, sorted[:len(r)])
}

// precedes is 1 if a < b, else 0. It compiles to no branch.
func precedes(a, b uint64) int {
	n := 0
	if a < b {
		n = 1
	}
	return n
}
