package span

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"ibid"
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
	f.Fuzz(func(t *testing.T, x, y []byte) { checkNormalize(t, decode(x), decode(y)) })
}

func checkNormalize(t *testing.T, a, b []Span) {
	t.Helper()
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
}

func FuzzCombine(f *testing.F) {
	f.Add([]byte{0, 5, 3, 9, 3, 9}, []byte{4, 8}, []byte{})
	f.Fuzz(func(t *testing.T, x, y, z []byte) { checkCombine(t, [][]Span{decode(x), decode(y), decode(z)}) })
}

// checkCombine counts for each code point in how many of the sets it is.
func checkCombine(t *testing.T, sets [][]Span) {
	t.Helper()
	votes := map[point]int{}
	line := make([][]Interval, len(sets)) // the spans of key 0, from below 0 on
	onLine := map[int64]int{}
	for k, set := range sets {
		for p := range pointsOf(set...) {
			votes[p]++
		}
		marked := map[int64]bool{}
		for _, s := range set {
			x := Interval{int64(s.Start) - 5, int64(s.End) - 5}
			line[k] = append(line[k], x)
			for p := max(x.Start, 0); p < x.End; p++ {
				marked[p] = true
			}
		}
		for p := range marked {
			onLine[p]++
		}
	}
	for policy, least := range map[ibid.Policy]float64{
		ibid.PolicyUnion: 1, ibid.PolicyMajority: float64(len(sets))/2 + 0.5, ibid.PolicyIntersection: float64(len(sets)),
	} {
		want := map[point]bool{}
		for p, n := range votes {
			want[p] = float64(n) >= least
		}
		got := new(Comparer).Combine(nil, policy, sets)
		if !slices.Equal(got, Normalize(nil, got)) {
			t.Fatalf("Combine(%s, %v) = %v is not normal", policy, sets, got)
		}
		kept := pointsOf(got...)
		for p := range votes {
			if kept[p] != want[p] {
				t.Errorf("Combine(%s, %v) = %v: kept %v of %d is %v", policy, sets, got, p, len(sets), kept[p])
			}
		}
		if n := common(kept, want); n != int64(len(kept)) {
			t.Errorf("Combine(%s, %v) = %v has what nobody marked", policy, sets, got)
		}
		keptLine := map[int64]bool{}
		var last int64 = -1
		for _, x := range new(Comparer).CombineIntervals(policy, line) {
			if x.Start <= last || x.End <= x.Start {
				t.Fatalf("CombineIntervals(%s, %v) is not normal at %v", policy, line, x)
			}
			last = x.End
			for p := x.Start; p < x.End; p++ {
				keptLine[p] = true
			}
		}
		for p := int64(-6); p < 70; p++ {
			if wanted := onLine[p] > 0 && float64(onLine[p]) >= least; keptLine[p] != wanted {
				t.Errorf("CombineIntervals(%s, %v): kept %d is %v", policy, line, p, keptLine[p])
			}
		}
	}
}

// TestRandom holds everything beside the slow versions, over few and many spans.
func TestRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var c Comparer
	for range 600 {
		spans := func() []Span {
			data := make([]byte, 2*rng.IntN(1+rng.IntN(30)))
			for i := range data {
				data[i] = byte(rng.Uint32())
			}
			return decode(data)
		}
		a, b, tolerance := spans(), spans(), rng.Int64N(12)
		checkNormalize(t, a, b)
		checkCombine(t, [][]Span{a, b, spans(), spans()}[:rng.IntN(5)])
		if got, want := c.Sizes(a, b, tolerance), slowSizes(a, b, tolerance); got != want {
			t.Errorf("Sizes(%v, %v, %d) = %+v, want %+v", a, b, tolerance, got, want)
		}
		a, b = usable(a), usable(b)
		checkMatches(t, c.Match(a, b, tolerance, 0.5), a, b, tolerance)
		if t.Failed() {
			return
		}
	}
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
	// Spans of one length have few different Jaccards.
	shifted := func() []Span {
		spans := make([]Span, rng.IntN(7))
		length := 3 + rng.Int32N(6)
		for i, s := range rng.Perm(9)[:len(spans)] {
			spans[i] = Span{Start: int32(s), End: int32(s) + length}
		}
		return spans
	}
	for range 4_000 {
		checkPairs(t, &c, crowd(), crowd(), 1+rng.Int64N(60))
		checkPairs(t, &c, shifted(), shifted(), 1+rng.Int64N(60))
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
