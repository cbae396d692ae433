package span

import "slices"

// Normalize appends the normal form of s to dst and returns it: empty spans are
// dropped, the rest sorted by key and start, overlapping and touching ones
// merged. Every set of code points has exactly one such form, so two sets are
// equal if their normal forms are. Starts must not be negative. It takes
// O(n log n) steps; dst may be s[:0].
func Normalize(dst, s []Span) []Span {
	from := len(dst)
	for _, x := range s {
		if x.Start < x.End {
			dst = append(dst, x)
		}
	}
	out := dst[from:]
	if !slices.IsSortedFunc(out, compare) {
		slices.SortFunc(out, compare)
	}
	return dst[:from+len(mergeTouching(out))]
}

// compare orders by key, start and end.
func compare(a, b Span) int {
	x, y := runOf(a), runOf(b)
	switch {
	case x.lo != y.lo:
		if x.lo < y.lo {
			return -1
		}
		return 1
	case x.hi < y.hi:
		return -1
	case x.hi > y.hi:
		return 1
	}
	return 0
}

// Length is the number of code points in a normalized set.
func Length(set []Span) int64 {
	var n int64
	for _, x := range set {
		n += x.Len()
	}
	return n
}

// Overlap is the number of code points that two normalized sets share. It
// takes O(n+m) steps.
func Overlap(a, b []Span) int64 {
	var n int64
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := runOf(a[i]), runOf(b[j])
		if lo, hi := max(x.lo, y.lo), min(x.hi, y.hi); lo < hi {
			n += int64(hi - lo)
		}
		if x.hi <= y.hi {
			i++
		} else {
			j++
		}
	}
	return n
}

// AtLeast appends to dst, in normal form, the code points that lie in k or more
// of the spans, and returns it. With the normalized sets of several annotators
// one after the other in spans, these are the code points that at least k of
// them marked. k must be positive.
func (c *Comparer) AtLeast(dst, spans []Span, k int) []Span {
	c.truth = appendRuns(c.truth[:0], spans)
	c.pred = c.pred[:0]
	for _, r := range c.truth {
		c.pred = append(c.pred, run{lo: r.hi})
	}
	sortRuns(c.pred)
	starts, ends := c.truth, c.pred
	from, depth := len(dst), 0
	var open uint64
	for i, j := 0, 0; j < len(ends); {
		// Ends come first at equal points: touching spans do not overlap.
		if i < len(starts) && starts[i].lo < ends[j].lo {
			depth++
			if depth == k {
				open = starts[i].lo
			}
			i++
			continue
		}
		if depth == k {
			dst = append(dst, run{open, ends[j].lo}.span())
		}
		depth--
		j++
	}
	return dst[:from+len(mergeTouching(dst[from:]))]
}

// mergeTouching merges neighbours of a sorted slice that touch, in place.
func mergeTouching(s []Span) []Span {
	if len(s) == 0 {
		return s
	}
	last := 0
	for _, x := range s[1:] {
		if x.Key == s[last].Key && x.Start <= s[last].End {
			s[last].End = max(s[last].End, x.End)
			continue
		}
		last++
		s[last] = x
	}
	return s[:last+1]
}
