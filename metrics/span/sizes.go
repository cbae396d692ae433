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
	t, p := c.truth[:len(c.truth)-1], c.pred[:len(c.pred)-1]
	var s Sizes
	s.Truth, s.Pred = size(t), size(p)
	s.Union = unionSize(c.truth, c.pred)
	s.Overlap = s.Truth + s.Pred - s.Union
	if tolerance == 0 || len(p) == 0 {
		s.WidePred, s.WideOverlap, s.WideUnion = s.Pred, s.Overlap, s.Union
		return s
	}
	// Widening keeps the order of the starts, so the runs stay sorted.
	for i, r := range p {
		p[i] = r.widen(uint64(tolerance))
	}
	s.WidePred = size(p)
	s.WideUnion = unionSize(c.truth, c.pred)
	s.WideOverlap = s.Truth + s.WidePred - s.WideUnion
	return s
}

// size is the number of points that sorted runs cover.
func size(r []run) int64 {
	// Each point is counted when the sweep over starts first covers it: beyond
	// the furthest end seen so far.
	var n, end uint64
	for _, x := range r {
		last := max(end, x.hi)
		n += last - max(end, x.lo)
		end = last
	}
	return int64(n)
}

// unionSize is the number of points that a, b or both cover. Both slices are
// sorted and end with endOfLine. Which of them comes next is as good as random,
// so it is computed with and not branched on.
func unionSize(a, b []run) int64 {
	var n, end uint64
	i, j := 0, 0
	for range len(a) + len(b) - 2 {
		x, y := a[i], b[j]
		fromB := precedes(y.lo, x.lo)
		i += 1 - fromB
		j += fromB
		lo, hi := x.lo, x.hi
		if fromB != 0 {
			lo = y.lo
		}
		if fromB != 0 {
			hi = y.hi
		}
		last := max(end, hi)
		n += last - max(end, lo)
		end = last
	}
	return int64(n)
}
