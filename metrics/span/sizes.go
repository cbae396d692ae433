package span

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

	truthMatches []TruthMatch
	predMatches  []PredMatch
	order        byStart
	pairing      pairing
}

// Sizes measures T, P and P⁺. The spans need not be normalized; empty ones
// count nothing, and starts must not be negative. tolerance is in code points,
// 0 to [MaxTolerance]; a widened start is clamped at 0, a widened end is not.
func (c *Comparer) Sizes(truth, pred []Span, tolerance int64) Sizes {
	c.truth = append(appendRuns(c.truth[:0], truth), run{endOfLine, endOfLine})
	c.pred = append(appendRuns(c.pred[:0], pred), run{endOfLine, endOfLine})
	var s Sizes
	s.Truth, s.Pred, s.Union = measure(c.truth, c.pred)
	s.Overlap = s.Truth + s.Pred - s.Union
	if tolerance == 0 {
		s.WidePred, s.WideOverlap, s.WideUnion = s.Pred, s.Overlap, s.Union
		return s
	}
	// Widening keeps the order of the starts, so the runs stay sorted.
	last := len(c.pred) - 1
	for i, r := range c.pred[:last] {
		c.pred[i] = r.widen(uint64(tolerance))
	}
	_, s.WidePred, s.WideUnion = measure(c.truth, c.pred)
	s.WideOverlap = s.Truth + s.WidePred - s.WideUnion
	return s
}

// measure returns the sizes of the unions of a, of b, and of both. Both slices
// are sorted and end with endOfLine.
func measure(a, b []run) (sizeA, sizeB, union int64) {
	// Each point is counted when the sweep over starts first covers it: beyond
	// the furthest end seen so far.
	var endA, endB, end uint64
	for {
		if a[0].lo <= b[0].lo {
			x := a[0]
			if x.lo == endOfLine {
				return sizeA, sizeB, union
			}
			sizeA += beyond(x, endA)
			union += beyond(x, end)
			endA, end = max(endA, x.hi), max(end, x.hi)
			a = a[1:]
			continue
		}
		x := b[0]
		sizeB += beyond(x, endB)
		union += beyond(x, end)
		endB, end = max(endB, x.hi), max(end, x.hi)
		b = b[1:]
	}
}

// beyond is the number of points of r at or after end.
func beyond(r run, end uint64) int64 {
	return max(0, int64(r.hi-max(r.lo, min(end, r.hi))))
}
