package span

import (
	"cmp"
	"fmt"
	"slices"

	"ibid"
)

// A run is a half-open interval of the line on which all keys lie one behind
// the other: key k owns the 2^32 points from k·2^32 on. Spans of different keys
// then never touch, because an end, even widened by the largest tolerance, is
// at most 2^32-2, and one comparison orders by key and start at once.
type run struct{ lo, hi uint64 }

// endOfLine follows every run.
const endOfLine = 1<<64 - 1

// MaxTolerance is the largest tolerance that span arithmetic takes.
const MaxTolerance = ibid.MaxEnd

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
	dst = slices.Grow(dst, len(s)+1) // and the end of the line
	for _, x := range s {
		if x.Start < x.End {
			dst = append(dst, runOf(x))
		}
	}
	sortRuns(dst[from:])
	return dst
}

// rankLimit is the number of runs up to which counting ranks beats every sort that
// branches on the data.
const rankLimit = 8

func sortRuns(r []run) {
	switch {
	case len(r) < 2:
		return
	case len(r) == 2:
		r[0], r[1] = inOrder(r[0], r[1])
		return
	case len(r) == 3:
		a, b := inOrder(r[0], r[1])
		b, c := inOrder(b, r[2])
		r[0], r[1] = inOrder(a, b)
		r[2] = c
		return
	case len(r) > rankLimit:
		if !inLine(r) {
			slices.SortFunc(r, func(a, b run) int { return cmp.Compare(a.lo, b.lo) })
		}
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

// inLine reports whether runs are sorted, as those of many files are.
func inLine(r []run) bool {
	for i := 1; i < len(r); i++ {
		if r[i].lo < r[i-1].lo {
			return false
		}
	}
	return true
}

// inOrder returns two runs, that which begins first before the other. It compiles to no
// branch.
func inOrder(a, b run) (first, second run) {
	swap := b.lo < a.lo
	first, second = a, b
	if swap {
		first.lo = b.lo
	}
	if swap {
		first.hi = b.hi
	}
	if swap {
		second.lo = a.lo
	}
	if swap {
		second.hi = a.hi
	}
	return first, second
}

// precedes is 1 if a < b, else 0. It compiles to no branch.
func precedes(a, b uint64) int {
	n := 0
	if a < b {
		n = 1
	}
	return n
}

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

// Combine appends to dst, in normal form, what a policy makes of the spans that
// several annotators marked, one set each: the code points in at least one set
// ([ibid.PolicyUnion]), in more than half of them ([ibid.PolicyMajority]) or in all
// ([ibid.PolicyIntersection]). Sets need not be normalized; nobody has two votes for
// one code point. Starts must not be negative. Without sets there is nothing to add.
//
// Other policies combine nothing: they take the marks of one annotator, whom their
// users choose.
func (c *Comparer) Combine(dst []Span, policy ibid.Policy, sets [][]Span) []Span {
	c.truth = c.truth[:0]
	for _, set := range sets {
		from := len(c.truth)
		c.truth = appendRuns(c.truth, set)
		c.truth = c.truth[:from+len(mergeRuns(c.truth[from:]))]
	}
	for _, r := range c.marked(quorum(policy, len(sets))) {
		dst = append(dst, r.span())
	}
	return dst
}

// An Interval is the half-open stretch [Start, End) of a line that may be longer
// than any text, such as several texts laid one after the other.
type Interval struct{ Start, End int64 }

// CombineIntervals is [Comparer.Combine] for intervals of one line. What lies below 0
// is cut off.
func (c *Comparer) CombineIntervals(policy ibid.Policy, sets [][]Interval) []Interval {
	c.truth = c.truth[:0]
	for _, set := range sets {
		from := len(c.truth)
		for _, x := range set {
			if start := max(x.Start, 0); start < x.End {
				c.truth = append(c.truth, run{uint64(start), uint64(x.End)})
			}
		}
		sortRuns(c.truth[from:])
		c.truth = c.truth[:from+len(mergeRuns(c.truth[from:]))]
	}
	var out []Interval
	for _, r := range c.marked(quorum(policy, len(sets))) {
		out = append(out, Interval{int64(r.lo), int64(r.hi)})
	}
	return out
}

// quorum is how many of n annotators must have marked what a policy keeps.
func quorum(policy ibid.Policy, n int) int {
	switch policy {
	case ibid.PolicyUnion:
		return 1
	case ibid.PolicyMajority:
		return n/2 + 1
	case ibid.PolicyIntersection:
		return max(n, 1)
	}
	panic(fmt.Sprintf("span: policy %q combines no marks", policy))
}

// marked returns the points that lie in k or more of the runs in c.truth, as sorted
// runs that do not touch. They are good until the next call of a method.
func (c *Comparer) marked(k int) []run {
	sortRuns(c.truth)
	c.pred = c.pred[:0]
	for _, r := range c.truth {
		c.pred = append(c.pred, run{lo: r.hi})
	}
	sortRuns(c.pred)
	starts, ends := c.truth, c.pred
	c.common = c.common[:0]
	depth := 0
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
			c.common = append(c.common, run{open, ends[j].lo})
		}
		depth--
		j++
	}
	return mergeRuns(c.common)
}

// mergeRuns merges neighbours of sorted runs that overlap or touch, in place.
func mergeRuns(r []run) []run {
	merged := r[:0]
	for _, x := range r {
		if last := len(merged) - 1; last >= 0 && x.lo <= merged[last].hi {
			merged[last].hi = max(merged[last].hi, x.hi)
			continue
		}
		merged = append(merged, x)
	}
	return merged
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
