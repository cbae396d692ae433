package span

import (
	"math/big"
)

// The slow and obviously right versions of everything in this package: sets of
// single code points, exact rationals, and trying every matching.

type point struct{ key, pos int32 }

func pointsOf(spans ...Span) map[point]bool {
	set := map[point]bool{}
	for _, s := range spans {
		for p := s.Start; p < s.End; p++ {
			set[point{s.Key, p}] = true
		}
	}
	return set
}

func common(a, b map[point]bool) int64 {
	var n int64
	for p := range a {
		if b[p] {
			n++
		}
	}
	return n
}

func widened(s Span, tolerance int64) Span {
	return Span{s.Key, int32(max(0, int64(s.Start)-tolerance)), s.End + int32(tolerance)}
}

func widenedAll(spans []Span, tolerance int64) []Span {
	var all []Span
	for _, s := range spans {
		if s.Len() > 0 {
			all = append(all, widened(s, tolerance))
		}
	}
	return all
}

func slowSizes(truth, pred []Span, tolerance int64) Sizes {
	t, p := pointsOf(truth...), pointsOf(pred...)
	w := pointsOf(widenedAll(pred, tolerance)...)
	s := Sizes{Truth: int64(len(t)), Pred: int64(len(p)), Overlap: common(t, p), WidePred: int64(len(w)), WideOverlap: common(t, w)}
	s.Union = s.Truth + s.Pred - s.Overlap
	s.WideUnion = s.Truth + s.WidePred - s.WideOverlap
	return s
}

// rat is the Jaccard of two single spans.
func rat(x, y Span) *big.Rat {
	a, b := pointsOf(x), pointsOf(y)
	both := common(a, b)
	return big.NewRat(both, int64(len(a))+int64(len(b))-both)
}

func slowSnapped(x, y Span, tolerance int64) *big.Rat {
	t := min(tolerance, x.Len()/4)
	s := y
	if d := int64(y.Start) - int64(x.Start); -t <= d && d <= t {
		s.Start = x.Start
	}
	if d := int64(y.End) - int64(x.End); -t <= d && d <= t {
		s.End = x.End
	}
	if s.Start >= s.End {
		s = y
	}
	return rat(x, s)
}

// lexCompare compares keys element by element.
func lexCompare(a, b []*big.Rat) int {
	for i := range a {
		if d := a[i].Cmp(b[i]); d != 0 {
			return d
		}
	}
	return 0
}

// argmax returns the lowest index with the largest key among those that count,
// or -1.
func argmax(n int, counts func(int) bool, key func(int) []*big.Rat) int {
	best := -1
	var bestKey []*big.Rat
	for j := range n {
		if !counts(j) {
			continue
		}
		if k := key(j); best < 0 || lexCompare(k, bestKey) > 0 {
			best, bestKey = j, k
		}
	}
	return best
}

// slowPairs tries every matching of distinct spans. It returns the best list of
// pairs, sorted by truth.
func slowPairs(truth, pred []Span, minOverlap *big.Rat) []Pair {
	repeats := func(spans []Span, i int) bool {
		for _, s := range spans[:i] {
			if s == spans[i] {
				return true
			}
		}
		return false
	}
	var best, current []Pair
	bestSum, sum := new(big.Rat), new(big.Rat)
	used := make([]bool, len(pred))
	better := func() bool {
		if len(current) != len(best) {
			return len(current) > len(best)
		}
		// Matchings are tried in lexicographic order of their pairs except that
		// leaving a span out comes last, so the first of equals is the lowest.
		return sum.Cmp(bestSum) > 0
	}
	var try func(i int)
	try = func(i int) {
		if i == len(truth) {
			if better() {
				best = append(best[:0:0], current...)
				bestSum.Set(sum)
			}
			return
		}
		if !repeats(truth, i) {
			for j := range pred {
				if used[j] || repeats(pred, j) || truth[i].Key != pred[j].Key {
					continue
				}
				w := rat(truth[i], pred[j])
				if w.Cmp(minOverlap) < 0 {
					continue
				}
				used[j] = true
				current = append(current, Pair{i, j})
				sum.Add(sum, w)
				try(i + 1)
				sum.Sub(sum, w)
				current = current[:len(current)-1]
				used[j] = false
			}
		}
		try(i + 1)
	}
	try(0)
	return best
}
