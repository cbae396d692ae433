package span

import (
	"cmp"
	"math/bits"
	"slices"
)

// Sizes are the sizes, in code points, of two sets and of what they share. The
// sets are T, the union of the truth spans, and P, the union of the predicted
// ones; P⁺ is the union of the predicted spans widened by the tolerance.
type Sizes struct {
	Truth, Pred, Overlap, Union      int64 // |T|, |P|, |T∩P|, |T∪P|
	WidePred, WideOverlap, WideUnion int64 // |P⁺|, |T∩P⁺|, |T∪P⁺|
}

// A Comparer compares predicted spans with truth spans. It holds scratch
// memory: the zero value is ready, one is not safe for concurrent use, and once
// warm it does not allocate.
type Comparer struct {
	truth, pred []run // sorted
	wide        []run // pred, widened
	common      []run // what several annotators marked

	truthMatches []TruthMatch
	predMatches  []PredMatch
	sweep        sweep
	pairing      pairing
}

// Sizes measures T, P and P⁺. The spans need not be normalized; empty ones
// count nothing, and starts must not be negative. tolerance is in code points,
// 0 to [MaxTolerance]; a widened start is clamped at 0, a widened end is not.
func (c *Comparer) Sizes(truth, pred []Span, tolerance int64) (s Sizes) {
	t, p, wide := appendRuns(c.truth[:0], truth), appendRuns(c.pred[:0], pred), c.wide[:0]
	few := len(t)*len(p) <= fewPairs
	if few || tolerance > 0 {
		wide = slices.Grow(wide, len(p)+1)
		for _, r := range p { // widening keeps the order of the starts
			wide = append(wide, r.widen(uint64(tolerance)))
		}
	}
	s.Truth, s.Pred, s.WidePred = disjoin(t), disjoin(p), disjoin(wide)
	if few {
		s.Overlap, s.WideOverlap = sharedByPairs(t, p, wide)
	} else {
		last := run{endOfLine, endOfLine}
		t, p = append(t, last), append(p, last)
		s.Overlap = shared(t, p)
		if tolerance > 0 {
			wide = append(wide, last)
			s.WideOverlap = shared(t, wide)
		} else {
			s.WidePred, s.WideOverlap = s.Pred, s.Overlap
		}
	}
	c.truth, c.pred, c.wide = t, p, wide
	s.Union, s.WideUnion = s.Truth+s.Pred-s.Overlap, s.Truth+s.WidePred-s.WideOverlap
	return s
}

// disjoin cuts off each of sorted runs what earlier ones cover, and returns the number of
// points that they cover.
func disjoin(r []run) int64 {
	var n, end uint64
	for i, x := range r {
		lo, hi := max(end, x.lo), max(end, x.hi)
		r[i] = run{lo, hi}
		n += hi - lo
		end = hi
	}
	return int64(n)
}

// fewPairs is the number of pairs of runs up to which looking at all of them is faster
// than going along the line.
const fewPairs = 16

// sharedByPairs is [shared] of a and b and of a and c, which is as long as b, without the
// ends of the line.
func sharedByPairs(a, b, c []run) (withB, withC int64) {
	var n, m uint64
	c = c[:len(b)]
	for _, x := range a {
		for i, y := range b {
			n += overlap(x, y)
			m += overlap(x, c[i])
		}
	}
	return int64(n), int64(m)
}

// shared is the number of points that both a and b cover, which are sorted and disjoint
// and end with endOfLine. Which of them ends first is as good as random, so it is computed
// with and not branched on.
func shared(a, b []run) int64 {
	var n uint64
	i, j := 0, 0
	for range len(a) + len(b) - 2 {
		x, y := a[i], b[j]
		n += overlap(x, y)
		first := precedes(x.hi, y.hi)
		i += first
		j += 1 - first
	}
	return int64(n)
}

// overlap is the number of points in both x and y. It compiles to no branch.
func overlap(x, y run) uint64 {
	lo := max(x.lo, y.lo)
	return max(lo, min(x.hi, y.hi)) - lo
}

// A TruthMatch says how well one truth span x was found. y⁺ is the prediction y
// widened by the tolerance; only predictions of the key of x count.
type TruthMatch struct {
	// Pred is the index of the best prediction by tolerance Jaccard
	// |x∩y⁺| / |x∪y⁺|; ties go to the larger exact Jaccard |x∩y| / |x∪y|, then
	// to the larger |x∩y|, then to the lower index. It is -1 if no y⁺ overlaps
	// x. Exact and Tolerance are those of this pair.
	Pred             int32
	Exact, Tolerance Jaccard

	// BestExactPred is the prediction with the largest exact Jaccard, the
	// lowest index on ties, or -1 if none overlaps x.
	BestExactPred int32
	BestExact     Jaccard

	// SnappedPred is the prediction with the largest snapped Jaccard; ties go
	// to the larger exact Jaccard, then to the lower index. -1 if none y⁺
	// overlaps x.
	SnappedPred           int32
	Snapped, SnappedExact Jaccard

	ExactHit    bool // some prediction has the bounds of x
	BoundaryHit bool // some prediction has both bounds within the tolerance
}

// A PredMatch says where one predicted span belongs. Truth is the truth span
// with the largest snapped Jaccard; ties go to the larger exact Jaccard, then
// to the lower index. It is -1 if y⁺ overlaps no truth span of its key.
type PredMatch struct {
	Truth                     int32
	Exact, Tolerance, Snapped Jaccard
	Touches                   bool // the prediction itself shares a code point with some truth span
}

// Matches is what [Comparer.Match] found. Its slices are valid until the next
// call.
type Matches struct {
	Truth []TruthMatch // one per truth span
	Pred  []PredMatch  // one per predicted span

	// Pairs is the one-to-one matching, sorted by truth index. Identical spans
	// of one side take part once, as the first of them.
	Pairs                       []Pair
	DistinctTruth, DistinctPred int // spans of each side, identical ones counted once
}

// Match compares every truth span with every predicted span of its key.
//
// No span may be empty or begin below 0. tolerance is in code points, 0 to
// [MaxTolerance]. minOverlap, in (0, 1], is the least exact Jaccard of a pair
// of the one-to-one matching, compared with the quotient rounded to float64,
// so that 4/5 reaches 0.8.
//
// Time is O(n log n + overlapping pairs), and what the matching of [Pair] needs
// where several spans compete; [Comparer.Pairs] counts them before.
func (c *Comparer) Match(truth, pred []Span, tolerance int64, minOverlap float64) Matches {
	c.truthMatches = fill(c.truthMatches[:0], len(truth), noTruthMatch)
	c.predMatches = fill(c.predMatches[:0], len(pred), noPredMatch)
	c.pairing.reset(truth, pred, minOverlap)
	if len(pred) <= windowLimit {
		c.compareAll(truth, pred, tolerance)
	} else {
		c.compareInOrder(truth, pred, tolerance)
	}
	pairs := c.pairing.solve(len(pred) <= windowLimit)
	return Matches{
		Truth: c.truthMatches, Pred: c.predMatches,
		Pairs: pairs, DistinctTruth: c.pairing.distinctTruth, DistinctPred: c.pairing.distinctPred,
	}
}

// Pairs is how many pairs of a truth span and a predicted span, widened by the tolerance,
// overlap. Time is O(n log n).
func (c *Comparer) Pairs(truth, pred []Span, tolerance int64) int64 {
	o := &c.sweep
	o.begin, o.end = o.begin[:0], o.end[:0]
	for _, y := range pred {
		r := runOf(y).widen(uint64(tolerance))
		o.begin, o.end = append(o.begin, r.lo), append(o.end, r.hi)
	}
	slices.Sort(o.begin)
	slices.Sort(o.end)
	n := int64(0)
	for _, x := range truth {
		r := runOf(x)
		begun, _ := slices.BinarySearch(o.begin, r.hi)
		ended, _ := slices.BinarySearch(o.end, r.lo+1)
		n += int64(begun - ended)
	}
	return n
}

// compareAll compares every truth span with every prediction.
func (c *Comparer) compareAll(truth, pred []Span, tolerance int64) {
	wide := c.wide[:0]
	for _, y := range pred {
		wide = append(wide, runOf(y).widen(uint64(tolerance)))
	}
	c.wide = wide
	// Which ones overlap is as good as random: a bit for each says so, without a branch.
	const together = 64 / windowLimit
	for from := 0; from < len(truth); from += together {
		var overlapping uint64
		for i := min(len(truth), from+together) - 1; i >= from; i-- {
			r, hits := runOf(truth[i]), 0
			for j := len(wide) - 1; j >= 0; j-- {
				w := wide[j]
				hits = hits<<1 | precedes(r.lo, w.hi)&precedes(w.lo, r.hi)
			}
			overlapping = overlapping<<windowLimit | uint64(hits)
		}
		for ; overlapping != 0; overlapping &= overlapping - 1 {
			at := bits.TrailingZeros64(overlapping)
			i, j := from+at/windowLimit, at%windowLimit
			c.compare(int32(i), truth[i], int32(j), pred[j], tolerance)
		}
	}
}

// fill returns n copies of v in the memory of dst, whose elements are lost.
func fill[T any](dst []T, n int, v T) []T {
	dst = slices.Grow(dst[:0], n)[:n]
	for i := range dst {
		dst[i] = v
	}
	return dst
}

var (
	noTruthMatch = TruthMatch{
		Pred: -1, Exact: disjoint, Tolerance: disjoint,
		BestExactPred: -1, BestExact: disjoint,
		SnappedPred: -1, Snapped: disjoint, SnappedExact: disjoint,
	}
	noPredMatch = PredMatch{Truth: -1, Exact: disjoint, Tolerance: disjoint, Snapped: disjoint}
)

// compare enters the pair of truth span i and prediction j, of one key, into
// what is known of both.
func (c *Comparer) compare(i int32, x Span, j int32, y Span, tolerance int64) {
	m := &c.truthMatches[i]
	a, b := int64(x.Start), int64(x.End)
	s, e := int64(y.Start), int64(y.End)
	wide := jaccard(a, b, max(0, s-tolerance), e+tolerance)
	if wide.Overlap == 0 {
		return // then nothing else overlaps: snapping moves an end by no more than the tolerance
	}
	exact := jaccard(a, b, s, e)
	snapped := snap(a, b, s, e, tolerance, exact)
	m.ExactHit = m.ExactHit || x == y
	m.BoundaryHit = m.BoundaryHit || near(s, a, tolerance) && near(e, b, tolerance)
	if m.Pred < 0 || betterWide(wide, exact, j, m) {
		m.Pred, m.Exact, m.Tolerance = j, exact, wide
	}
	if m.SnappedPred < 0 || betterSnapped(snapped, exact, j, m.Snapped, m.SnappedExact, m.SnappedPred) {
		m.SnappedPred, m.Snapped, m.SnappedExact = j, snapped, exact
	}
	q := &c.predMatches[j]
	if q.Truth < 0 || betterSnapped(snapped, exact, i, q.Snapped, q.Exact, q.Truth) {
		q.Truth, q.Exact, q.Tolerance, q.Snapped = i, exact, wide, snapped
	}
	if exact.Overlap == 0 {
		return
	}
	q.Touches = true
	if d := exact.Compare(m.BestExact); d > 0 || d == 0 && j < m.BestExactPred {
		m.BestExactPred, m.BestExact = j, exact
	}
	c.pairing.consider(i, j, exact)
}

// betterWide reports whether prediction j beats the best by tolerance so far.
func betterWide(wide, exact Jaccard, j int32, m *TruthMatch) bool {
	d := cmp.Or(wide.Compare(m.Tolerance), exact.Compare(m.Exact), cmp.Compare(exact.Overlap, m.Exact.Overlap))
	return d > 0 || d == 0 && j < m.Pred
}

// betterSnapped reports whether the span with the given index beats the best by
// snapped Jaccard so far.
func betterSnapped(snapped, exact Jaccard, index int32, bestSnapped, bestExact Jaccard, best int32) bool {
	d := cmp.Or(snapped.Compare(bestSnapped), exact.Compare(bestExact))
	return d > 0 || d == 0 && index < best
}

// jaccard compares [a, b) with [c, d), neither of them empty.
func jaccard(a, b, c, d int64) Jaccard {
	both := min(b, d) - max(a, c)
	if both <= 0 {
		return disjoint
	}
	return Jaccard{uint32(both), uint32(max(b, d) - min(a, c))}
}

// snap returns the snapped Jaccard of truth [a, b) and prediction [c, d): an
// end of the prediction no further from the truth's than the tolerance and a
// quarter of the truth counts as equal. It is exact, their plain Jaccard, if
// snapping would empty the prediction.
func snap(a, b, c, d, tolerance int64, exact Jaccard) Jaccard {
	t := min(tolerance, (b-a)/4)
	if near(c, a, t) {
		c = a
	}
	if near(d, b, t) {
		d = b
	}
	if c >= d {
		return exact
	}
	return jaccard(a, b, c, d)
}

func near(x, y, tolerance int64) bool { return x-y <= tolerance && y-x <= tolerance }

// windowLimit is the number of predictions up to which looking at all of them
// is faster than sorting them.
const windowLimit = 16

// sweep goes along the line and knows which predictions are open.
type sweep struct {
	truth, pred []int32  // in the order of their starts
	wide        []run    // predictions, widened, in that order
	open        []int32  // places in pred of those that have begun and not ended
	begin, end  []uint64 // of widened predictions, each sorted
}

// byStart returns the indices of spans in the order of their starts.
func byStart(index []int32, spans []Span) []int32 {
	index = index[:0]
	for i := range spans {
		index = append(index, int32(i))
	}
	slices.SortFunc(index, func(a, b int32) int {
		return cmp.Or(cmp.Compare(runOf(spans[a]).lo, runOf(spans[b]).lo), cmp.Compare(a, b))
	})
	return index
}

// compareInOrder compares each truth span with the predictions that, widened, overlap it,
// and with no others.
func (c *Comparer) compareInOrder(truth, pred []Span, tolerance int64) {
	o := &c.sweep
	o.truth, o.pred = byStart(o.truth, truth), byStart(o.pred, pred)
	o.wide, o.open = o.wide[:0], o.open[:0]
	for _, j := range o.pred {
		// Widening keeps the order of the starts.
		o.wide = append(o.wide, runOf(pred[j]).widen(uint64(tolerance)))
	}
	next := 0 // place in pred of the first that has not begun
	for _, i := range o.truth {
		x := truth[i]
		r := runOf(x)
		for ; next < len(o.wide) && o.wide[next].lo <= r.lo; next++ {
			o.open = append(o.open, int32(next))
		}
		kept := o.open[:0]
		for _, k := range o.open {
			if o.wide[k].hi > r.lo {
				kept = append(kept, k)
				c.compare(i, x, o.pred[k], pred[o.pred[k]], tolerance)
			}
		}
		o.open = kept
		for k := next; k < len(o.wide) && o.wide[k].lo < r.hi; k++ {
			c.compare(i, x, o.pred[k], pred[o.pred[k]], tolerance)
		}
	}
}
