package span

import (
	"cmp"
	"slices"
)

// windowLimit is the number of predictions up to which looking at all of them
// is faster than sorting them.
const windowLimit = 16

// byStart is the order of spans by their start on the line. It narrows the
// predictions that a truth span is compared with.
type byStart struct {
	index    []int32
	start    []uint64 // of the span index[i]
	furthest []uint64 // largest end of the spans index[:i+1]
}

// reset sorts the spans.
func (o *byStart) reset(spans []Span) {
	o.index, o.start, o.furthest = o.index[:0], o.start[:0], o.furthest[:0]
	for i := range spans {
		o.index = append(o.index, int32(i))
	}
	slices.SortFunc(o.index, func(a, b int32) int {
		return cmp.Or(cmp.Compare(runOf(spans[a]).lo, runOf(spans[b]).lo), cmp.Compare(a, b))
	})
	var end uint64
	for _, i := range o.index {
		r := runOf(spans[i])
		end = max(end, r.hi)
		o.start = append(o.start, r.lo)
		o.furthest = append(o.furthest, end)
	}
}

// window returns the indices of a few spans, all of the key of x; every span
// that overlaps x when widened is among them.
func (o *byStart) window(x Span, tolerance int64) []int32 {
	near := runOf(x).widen(uint64(tolerance)) // stays within the key
	lo, _ := slices.BinarySearch(o.furthest, near.lo+1)
	hi, _ := slices.BinarySearch(o.start, near.hi)
	return o.index[lo:hi]
}
