package span

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"ibid"
)

const last = ibid.MaxEnd

func TestNormalize(t *testing.T) {
	tests := []struct {
		name string
		in   []Span
		want []Span
	}{
		{"nothing", nil, nil},
		{"only empty", []Span{{0, 4, 4}, {0, 9, 3}}, nil},
		{"touching", []Span{{0, 5, 9}, {0, 0, 5}}, []Span{{0, 0, 9}}},
		{"nested", []Span{{0, 0, 9}, {0, 3, 5}}, []Span{{0, 0, 9}}},
		{"other key at the same place", []Span{{1, 0, 9}, {0, 3, 5}}, []Span{{0, 3, 5}, {1, 0, 9}}},
		{"negative key", []Span{{0, 0, 1}, {-1, 0, last}}, []Span{{-1, 0, last}, {0, 0, 1}}},
		{"end of the last key touches nothing", []Span{{7, last - 1, last}, {8, 0, 1}}, []Span{{7, last - 1, last}, {8, 0, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Normalize(nil, tt.in); !slices.Equal(got, tt.want) {
				t.Errorf("Normalize(%v) = %v, want %v", tt.in, got, tt.want)
			}
			prefix := []Span{{9, 9, 99}}
			if got := Normalize(prefix, tt.in); !slices.Equal(got[1:], tt.want) || got[0] != prefix[0] {
				t.Errorf("Normalize(%v, %v) = %v, want the normal form behind the prefix", prefix, tt.in, got)
			}
		})
	}
}

func TestSizesAtTheEdge(t *testing.T) {
	var c Comparer
	full := []Span{{0, 0, last}}
	got := c.Sizes(full, []Span{{0, 1, last}}, MaxTolerance)
	want := Sizes{
		Truth: last, Pred: last - 1, Overlap: last - 1, Union: last,
		WidePred: 2 * last, WideOverlap: last, WideUnion: 2 * last,
	}
	if got != want {
		t.Errorf("Sizes = %+v, want %+v", got, want)
	}
	// The widened end of one key must not reach the next.
	got = c.Sizes([]Span{{1, 0, 10}}, []Span{{0, last - 1, last}}, MaxTolerance)
	want = Sizes{Truth: 10, Pred: 1, Union: 11, WidePred: 2*last - (last - 1) + (last - 1), WideUnion: 2*last + 10}
	if got != want {
		t.Errorf("Sizes across keys = %+v, want %+v", got, want)
	}
}

func TestMatchAtTheEdge(t *testing.T) {
	var c Comparer
	truth, pred := []Span{{0, 0, last}}, []Span{{0, 1, last}, {0, 0, last - 1}}
	m := c.Match(truth, pred, MaxTolerance, 1e-9).Truth[0]
	if m.Pred != 1 || m.Tolerance != (Jaccard{last, 2*last - 1}) {
		t.Errorf("best by tolerance = %d with %v, want 1 with %d/%d", m.Pred, m.Tolerance, last, 2*last-1)
	}
	if m.Snapped != (Jaccard{last, last}) || m.BestExact != (Jaccard{last - 1, last}) {
		t.Errorf("snapped %v, best exact %v, want 1 and %d/%d", m.Snapped, m.BestExact, last-1, last)
	}
}

func TestSnap(t *testing.T) {
	tests := []struct {
		name       string
		a, b, c, d int64
		tolerance  int64
		want       Jaccard
	}{
		{"equal", 10, 30, 10, 30, 5, Jaccard{20, 20}},
		{"both ends near", 10, 30, 13, 27, 5, Jaccard{20, 20}},
		{"a quarter of the truth", 10, 30, 5, 35, 9, Jaccard{20, 20}},
		{"more than a quarter", 10, 30, 4, 30, 9, Jaccard{20, 26}},
		{"short truth is not forgiven", 10, 13, 11, 13, 10, Jaccard{2, 3}},
		{"would be empty", 100, 140, 92, 95, 10, disjoint},
		{"no tolerance", 10, 30, 11, 30, 0, Jaccard{19, 20}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := snap(tt.a, tt.b, tt.c, tt.d, tt.tolerance, jaccard(tt.a, tt.b, tt.c, tt.d)); got != tt.want {
				t.Errorf("snap([%d,%d), [%d,%d), %d) = %v, want %v", tt.a, tt.b, tt.c, tt.d, tt.tolerance, got, tt.want)
			}
		})
	}
}

func TestSnappingNeverLowers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50_000 {
		room := 1 + rng.Int64N(80)
		a, c := rng.Int64N(room), rng.Int64N(room)
		b, d := a+1+rng.Int64N(room), c+1+rng.Int64N(room)
		exact := jaccard(a, b, c, d)
		if got := snap(a, b, c, d, rng.Int64N(20), exact); got.Compare(exact) < 0 {
			t.Fatalf("[%d,%d) and [%d,%d): snapped %v < exact %v", a, b, c, d, got, exact)
		}
	}
}

func TestPairs(t *testing.T) {
	tests := []struct {
		name        string
		truth, pred []Span
		least       float64
		want        []Pair
	}{
		{"none", []Span{{0, 0, 9}}, []Span{{1, 0, 9}}, 0.5, nil},
		{"exactly the threshold", []Span{{0, 0, 10}}, []Span{{0, 0, 5}}, 0.5, []Pair{{0, 0}}},
		{"4/5 reaches 0.8", []Span{{0, 0, 10}}, []Span{{0, 0, 8}}, 0.8, []Pair{{0, 0}}},
		{"repeats take part once", []Span{{0, 0, 9}, {0, 0, 9}}, []Span{{0, 0, 9}, {0, 0, 9}}, 0.5, []Pair{{0, 0}}},
		{
			"more pairs beat a better one",
			[]Span{{0, 0, 10}, {0, 0, 6}},
			[]Span{{0, 0, 10}, {0, 0, 20}},
			0.5,
			[]Pair{{0, 1}, {1, 0}},
		},
		{
			"larger total",
			[]Span{{0, 0, 10}, {0, 1, 11}},
			[]Span{{0, 1, 11}, {0, 0, 10}},
			0.5,
			[]Pair{{0, 1}, {1, 0}},
		},
		{
			"equal totals",
			[]Span{{0, 0, 10}, {0, 2, 12}},
			[]Span{{0, 1, 11}, {0, 1, 11}, {0, 1, 11}},
			0.5,
			[]Pair{{0, 0}},
		},
	}
	var c Comparer
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.Match(tt.truth, tt.pred, 10, tt.least).Pairs; !slices.Equal(got, tt.want) {
				t.Errorf("pairs of %v and %v from %v on = %v, want %v", tt.truth, tt.pred, tt.least, got, tt.want)
			}
		})
	}
}

// crowd returns n spans that all overlap each other.
func crowd(seed uint64, n int) []Span {
	rng := rand.New(rand.NewPCG(seed, 1))
	spans := make([]Span, n)
	for i := range spans {
		spans[i] = Span{Start: rng.Int32N(3000), End: 10_000 + rng.Int32N(3000)}
	}
	return spans
}

// A row whose spans all overlap must stay polynomial.
func TestCrowdedRow(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 200
	}
	var c Comparer
	begin := time.Now()
	m := c.Match(crowd(1, n), crowd(2, n), 10, 0.5)
	if got := len(m.Pairs); got < n*9/10 {
		t.Errorf("%d pairs of %d mutually overlapping spans", got, n)
	}
	if spent := time.Since(begin); spent > time.Minute {
		t.Errorf("%d mutually overlapping spans a side took %v", n, spent)
	}
}

// nested returns n spans, each of them within the one before.
func nested(n int, shift int32) []Span {
	spans := make([]Span, n)
	for i := range spans {
		spans[i] = Span{Start: int32(i), End: 2*int32(n) + 100 - int32(i) + shift}
	}
	return spans
}

// Where every span competes with every other for nearly the same Jaccard, most rows get
// their column by bidding: looking for paths alone took minutes.
func TestNestedRow(t *testing.T) {
	n := 1500
	if testing.Short() {
		n = 300
	}
	var c Comparer
	if got := len(c.Match(nested(n, 0), nested(n, 7), 10, 0.5).Pairs); got != n {
		t.Errorf("%d pairs of %d nested spans", got, n)
	}
	if bidding := &c.pairing.assignment; len(bidding.free) > n/4 {
		t.Errorf("%d of %d rows had to look for a path", len(bidding.free), n)
	}
}

// One span over all others costs no more than it overlaps.
func TestOneOverAll(t *testing.T) {
	const n = 100_000
	apart := make([]Span, n)
	for i := range apart {
		apart[i] = Span{Start: int32(i) * 10, End: int32(i)*10 + 5}
	}
	var c Comparer
	over := append([]Span{{Start: 0, End: 10 * n}}, apart...)
	if got, want := c.Pairs(apart, over, 0), int64(2*n); got != want {
		t.Errorf("%d pairs, want %d", got, want)
	}
	c.Match(apart, over, 0, 0.5)
	if got := cap(c.sweep.open); got > 1000 {
		t.Errorf("%d predictions were open at one time, want a few", got)
	}
}

// Many spans in one document take the path that sorts; it must agree with
// looking at every pair.
func TestManySpans(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	scatter := func(n int) []Span {
		spans := make([]Span, n)
		for i := range spans {
			s := rng.Int32N(60)
			spans[i] = Span{Key: rng.Int32N(3), Start: s, End: s + 1 + rng.Int32N(12)}
		}
		return spans
	}
	var c Comparer
	for range 4 {
		truth, pred := scatter(12), scatter(windowLimit+12)
		m := c.Match(truth, pred, 3, 0.5)
		checkMatches(t, m, truth, pred, 3)
		if got, want := c.Sizes(truth, pred, 3), slowSizes(truth, pred, 3); got != want {
			t.Errorf("Sizes = %+v, want %+v", got, want)
		}
		pairs := int64(0)
		for _, x := range truth {
			for _, y := range pred {
				if x.Key == y.Key && x.Start < y.End+3 && y.Start-3 < x.End {
					pairs++
				}
			}
		}
		if got := c.Pairs(truth, pred, 3); got != pairs {
			t.Errorf("Pairs = %d, want %d", got, pairs)
		}
		if m.DistinctPred != distinct(pred) || m.DistinctTruth != distinct(truth) {
			t.Errorf("distinct = %d, %d, want %d, %d", m.DistinctTruth, m.DistinctPred, distinct(truth), distinct(pred))
		}
	}
}

// Repeats among many spans take part once, as among few: the twin of a span is found by
// sorting there. Each side is tried as the long one.
func TestManyRepeats(t *testing.T) {
	var c Comparer
	few := []Span{{0, 0, 10}, {0, 2, 12}, {0, 30, 40}}
	var many []Span
	for i := range int32(windowLimit + 4) {
		many = append(many, Span{Key: 0, Start: 4 - i%5, End: 14 - i%5}, Span{Key: 0, Start: 500 + i, End: 501 + i})
	}
	checkPairs(t, &c, few, many, 20)
	swapped := c.Match(many, few, 0, 0.2).Pairs
	if want := []Pair{{4, 1}, {8, 0}}; !slices.Equal(swapped, want) {
		t.Errorf("pairs of many and few = %v, want %v", swapped, want)
	}
	// One span that is said often is one partner, for whichever of two it is.
	for i := 0; i < len(many); i += 2 {
		many[i] = Span{Start: 1, End: 11}
	}
	for _, got := range [][]Pair{c.Match(few, many, 0, 0.2).Pairs, c.Match(many, few, 0, 0.2).Pairs} {
		if len(got) != 1 {
			t.Errorf("%v: more than one has the same partner", got)
		}
	}
}

func distinct(spans []Span) int {
	seen := map[Span]bool{}
	for _, s := range spans {
		seen[s] = true
	}
	return len(seen)
}

// few returns the spans of n rows, k a side, about half of them overlapping.
func few(n, k int) (truth, pred [][]Span) {
	rng := rand.New(rand.NewPCG(7, 8))
	side := func() [][]Span {
		rows := make([][]Span, n)
		for i := range rows {
			for range k {
				s := rng.Int32N(2000)
				rows[i] = append(rows[i], Span{Key: rng.Int32N(2), Start: s, End: s + 20 + rng.Int32N(400)})
			}
		}
		return rows
	}
	return side(), side()
}

func TestComparerDoesNotAllocate(t *testing.T) {
	for _, k := range []int{1, 3, 12, 60} {
		t.Run(strconv.Itoa(k), func(t *testing.T) {
			truth, pred := few(50, k)
			var c Comparer
			var dst []Span
			all := func() {
				for i := range truth {
					c.Sizes(truth[i], pred[i], 10)
					c.Match(truth[i], pred[i], 10, 0.1)
					dst = c.Combine(dst[:0], ibid.PolicyMajority, [][]Span{truth[i], pred[i]})
				}
			}
			all()
			if n := testing.AllocsPerRun(10, all); n != 0 {
				t.Errorf("%v allocations over 50 rows, want 0", n)
			}
		})
	}
}

func BenchmarkSizes(b *testing.B) {
	for _, k := range []int{1, 3, 12} {
		b.Run("spans="+strconv.Itoa(k), func(b *testing.B) {
			truth, pred := few(1024, k)
			var c Comparer
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				c.Sizes(truth[i&1023], pred[i&1023], 10)
				i++
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, k := range []int{1, 3, 12} {
		b.Run("spans="+strconv.Itoa(k), func(b *testing.B) {
			truth, pred := few(1024, k)
			var c Comparer
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				c.Match(truth[i&1023], pred[i&1023], 10, 0.5)
				i++
			}
		})
	}
}

// BenchmarkAllButPairs is a row of three marks and three citations in two places, without
// the one-to-one matching: no pair reaches an overlap of 2.
func BenchmarkAllButPairs(b *testing.B) {
	truth, pred := few(1024, 3)
	var c Comparer
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.Sizes(truth[i&1023], pred[i&1023], 10)
		c.Match(truth[i&1023], pred[i&1023], 10, 2)
		i++
	}
}

func BenchmarkMatchCrowd(b *testing.B) {
	for _, n := range []int{8, 200, 2000} {
		b.Run("spans="+strconv.Itoa(n), func(b *testing.B) {
			truth, pred := crowd(1, n), crowd(2, n)
			var c Comparer
			b.ReportAllocs()
			for b.Loop() {
				c.Match(truth, pred, 10, 0.5)
			}
		})
	}
}
