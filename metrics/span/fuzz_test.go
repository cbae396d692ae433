package span

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// decode reads spans of small coordinates from bytes: two keys, starts below
// 40, lengths from -1 to 14.
func decode(data []byte) []Span {
	var spans []Span
	for ; len(data) >= 2; data = data[2:] {
		start := int32(data[0] % 40)
		spans = append(spans, Span{Key: int32(data[0]>>7) - 1, Start: start, End: start - 1 + int32(data[1]%16)})
	}
	return spans
}

func usable(spans []Span) []Span {
	return slices.DeleteFunc(spans, func(s Span) bool { return s.Len() == 0 })
}

func FuzzNormalize(f *testing.F) {
	f.Add([]byte{0, 5, 3, 9}, []byte{4, 8, 200, 3})
	f.Add([]byte{4, 3, 6, 4}, []byte{})
	f.Fuzz(func(t *testing.T, x, y []byte) {
		a, b := decode(x), decode(y)
		na, nb := Normalize(nil, a), Normalize(nil, b)
		for i, s := range na {
			if s.Len() == 0 || i > 0 && (compare(na[i-1], s) >= 0 || na[i-1].Key == s.Key && na[i-1].End >= s.Start) {
				t.Fatalf("Normalize(%v) = %v is not normal at %d", a, na, i)
			}
		}
		if got, want := length(na), int64(len(pointsOf(a...))); got != want {
			t.Errorf("length(Normalize(%v)) = %d, want %d", a, got, want)
		}
		if got, want := new(Comparer).Sizes(na, nb, 0).Overlap, common(pointsOf(a...), pointsOf(b...)); got != want {
			t.Errorf("overlap of %v and %v = %d, want %d", na, nb, got, want)
		}
	})
}

// atLeast appends to dst the code points in k or more of the spans.
func atLeast(c *Comparer, dst, spans []Span, k int) []Span {
	c.truth = appendRuns(c.truth[:0], spans)
	for _, r := range c.marked(k) {
		dst = append(dst, r.span())
	}
	return dst
}

func FuzzAtLeast(f *testing.F) {
	f.Add([]byte{0, 5, 3, 9, 3, 9}, uint8(2))
	f.Fuzz(func(t *testing.T, x []byte, k uint8) {
		spans, least := usable(decode(x)), int(k%4)+1
		depth := map[point]int{}
		for _, s := range spans {
			for p := range pointsOf(s) {
				depth[p]++
			}
		}
		want := map[point]bool{}
		for p, n := range depth {
			if n >= least {
				want[p] = true
			}
		}
		var c Comparer
		got := atLeast(&c, nil, spans, least)
		if !slices.Equal(got, Normalize(nil, got)) {
			t.Fatalf("atLeast(%v, %d) = %v is not normal", spans, least, got)
		}
		if n := common(pointsOf(got...), want); n != int64(len(want)) || length(got) != n {
			t.Errorf("atLeast(%v, %d) = %v shares %d of %d code points", spans, least, got, n, len(want))
		}
	})
}

func FuzzSizes(f *testing.F) {
	f.Add([]byte{0, 5, 3, 9}, []byte{4, 8}, uint8(3))
	f.Add([]byte{}, []byte{1, 9}, uint8(0))
	var c Comparer
	f.Fuzz(func(t *testing.T, x, y []byte, tol uint8) {
		truth, pred, tolerance := decode(x), decode(y), int64(tol%12)
		if got, want := c.Sizes(truth, pred, tolerance), slowSizes(truth, pred, tolerance); got != want {
			t.Errorf("Sizes(%v, %v, %d) = %+v, want %+v", truth, pred, tolerance, got, want)
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add([]byte{0, 5, 3, 9}, []byte{4, 8}, uint8(3))
	f.Add([]byte{0, 11, 4, 11, 8, 11}, []byte{1, 11, 5, 11, 9, 11}, uint8(2))
	var c Comparer
	f.Fuzz(func(t *testing.T, x, y []byte, tol uint8) {
		// Enough predictions for both ways of finding candidates.
		truth, pred := usable(decode(x[:min(len(x), 24)])), usable(decode(y[:min(len(y), 60)]))
		checkMatches(t, c.Match(truth, pred, int64(tol%12), 0.5), truth, pred, int64(tol%12))
	})
}

func checkMatches(t *testing.T, m Matches, truth, pred []Span, tolerance int64) {
	t.Helper()
	near := func(x Span) func(int) bool {
		return func(j int) bool { return pred[j].Key == x.Key && rat(x, widened(pred[j], tolerance)).Sign() > 0 }
	}
	size := func(x, y Span) *big.Rat { return big.NewRat(common(pointsOf(x), pointsOf(y)), 1) }
	for i, x := range truth {
		got := m.Truth[i]
		if want := argmax(len(pred), near(x), func(j int) []*big.Rat {
			return []*big.Rat{rat(x, widened(pred[j], tolerance)), rat(x, pred[j]), size(x, pred[j])}
		}); int(got.Pred) != want {
			t.Errorf("truth %d of %v, pred %v, tolerance %d: best by tolerance %d, want %d", i, truth, pred, tolerance, got.Pred, want)
		} else if want >= 0 {
			checkFraction(t, "tolerance", got.Tolerance, rat(x, widened(pred[want], tolerance)))
			checkFraction(t, "exact", got.Exact, rat(x, pred[want]))
		}
		if want := argmax(len(pred), func(j int) bool { return pred[j].Key == x.Key && rat(x, pred[j]).Sign() > 0 },
			func(j int) []*big.Rat { return []*big.Rat{rat(x, pred[j])} }); int(got.BestExactPred) != want {
			t.Errorf("truth %d of %v, pred %v: best exact %d, want %d", i, truth, pred, got.BestExactPred, want)
		} else if want >= 0 {
			checkFraction(t, "best exact", got.BestExact, rat(x, pred[want]))
		}
		if want := argmax(len(pred), near(x), func(j int) []*big.Rat {
			return []*big.Rat{slowSnapped(x, pred[j], tolerance), rat(x, pred[j])}
		}); int(got.SnappedPred) != want {
			t.Errorf("truth %d of %v, pred %v, tolerance %d: best snapped %d, want %d", i, truth, pred, tolerance, got.SnappedPred, want)
		} else if want >= 0 {
			checkFraction(t, "snapped", got.Snapped, slowSnapped(x, pred[want], tolerance))
		}
		if want := slices.Contains(pred, x); got.ExactHit != want {
			t.Errorf("truth %d of %v, pred %v: exact hit %v, want %v", i, truth, pred, got.ExactHit, want)
		}
		if want := slices.ContainsFunc(pred, func(y Span) bool {
			ds, de := int64(y.Start-x.Start), int64(y.End-x.End)
			return y.Key == x.Key && max(ds, -ds) <= tolerance && max(de, -de) <= tolerance
		}); got.BoundaryHit != want {
			t.Errorf("truth %d of %v, pred %v, tolerance %d: boundary hit %v, want %v", i, truth, pred, tolerance, got.BoundaryHit, want)
		}
	}
	all := pointsOf(truth...)
	for j, y := range pred {
		got := m.Pred[j]
		want := argmax(len(truth), func(i int) bool { return near(truth[i])(j) }, func(i int) []*big.Rat {
			return []*big.Rat{slowSnapped(truth[i], y, tolerance), rat(truth[i], y)}
		})
		if int(got.Truth) != want {
			t.Errorf("pred %d of %v, truth %v, tolerance %d: best truth %d, want %d", j, pred, truth, tolerance, got.Truth, want)
		}
		if want := common(pointsOf(y), all) > 0; got.Touches != want {
			t.Errorf("pred %d of %v, truth %v: touches %v, want %v", j, pred, truth, got.Touches, want)
		}
	}
}

func checkFraction(t *testing.T, what string, got Jaccard, want *big.Rat) {
	t.Helper()
	if big.NewRat(int64(got.Overlap), int64(got.Union)).Cmp(want) != 0 {
		t.Errorf("%s Jaccard = %d/%d, want %v", what, got.Overlap, got.Union, want)
	}
}

func FuzzPairs(f *testing.F) {
	f.Add([]byte{0, 11, 4, 11, 8, 11}, []byte{1, 11, 5, 11, 9, 11}, uint8(20))
	f.Add([]byte{0, 11, 0, 11, 8, 11}, []byte{0, 11, 1, 11, 1, 11}, uint8(50))
	var c Comparer
	f.Fuzz(func(t *testing.T, x, y []byte, least uint8) {
		truth, pred := usable(decode(x[:min(len(x), 12)])), usable(decode(y[:min(len(y), 12)]))
		checkPairs(t, &c, truth, pred, int64(least%100)+1)
	})
}

func checkPairs(t *testing.T, c *Comparer, truth, pred []Span, percent int64) {
	t.Helper()
	want := slowPairs(truth, pred, big.NewRat(percent, 100))
	got := c.Match(truth, pred, 0, float64(percent)/100).Pairs
	if !slices.Equal(got, want) {
		t.Errorf("pairs of %v and %v from %d%% on = %v, want %v", truth, pred, percent, got, want)
	}
}

// TestPairsRandom concentrates on crowded places, where many matchings tie.
func TestPairsRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var c Comparer
	crowd := func() []Span {
		spans := make([]Span, rng.IntN(7))
		room := 3 + rng.Int32N(8)
		for i := range spans {
			s := rng.Int32N(room)
			spans[i] = Span{Start: s, End: s + 1 + rng.Int32N(room)}
		}
		return spans
	}
	for range 4_000 {
		checkPairs(t, &c, crowd(), crowd(), 1+rng.Int64N(60))
		if t.Failed() {
			return
		}
	}
}

// length is the number of code points in a normalized set.
func length(set []Span) int64 {
	var n int64
	for _, x := range set {
		n += x.Len()
	}
	return n
}
