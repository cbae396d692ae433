package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"ibid"

	"gonum.org/v1/gonum/mathext"
)

// A TestMethod names how a p-value was computed.
type TestMethod string

const (
	// SignFlipExact counts all assignments of signs.
	SignFlipExact TestMethod = "sign-flip-exact"
	// SignFlipSampled draws assignments of signs.
	SignFlipSampled TestMethod = "sign-flip-sampled"
	// SwapExact counts all ways to swap two systems in clusters.
	SwapExact TestMethod = "swap-exact"
	// SwapSampled draws ways to swap two systems in clusters.
	SwapSampled TestMethod = "swap-sampled"
	// StudentT is the t test with clusters less one degrees of freedom.
	StudentT TestMethod = "t"
	// WelchT is the t test of two samples of unlike variance.
	WelchT TestMethod = "welch-t"
	// McNemarMidP is the mid-p McNemar test.
	McNemarMidP TestMethod = "mcnemar-midp"
)

// A Test is the outcome of a test of the hypothesis that nothing differs.
//
// P, Greater and Less can be read only if Reason is ibid.Defined.
type Test struct {
	P       float64 // two-sided, in (0, 1]
	Greater float64 // chance of a difference at least as large as seen
	Less    float64 // chance of one at most as large
	Reason  ibid.Reason

	Method   TestMethod
	Clusters int64 // that were flipped or counted, those without a difference included
	Samples  int64 // assignments drawn, 0 if the test is exact
	Seed     uint64

	// MinP is the smallest two-sided p that so many clusters can give.
	MinP     float64
	Warnings []Warning
}

// ibid.Defined reports whether t has a p-value.
func (t *Test) Defined() bool { return t.Reason == ibid.Defined }

// WarnAt adds a warning if no data of so many clusters could be significant at
// alpha.
func (t *Test) WarnAt(alpha float64) {
	if t.Defined() && t.MinP > alpha {
		need := ClustersNeeded(1 - alpha)
		t.Warnings = append(t.Warnings, Warning{
			Code: SmallestP, Have: t.Clusters, Need: need,
			Text: fmt.Sprintf("need >= %d clusters for p <= %.4g, have %d: the smallest possible p is %.2g", need, alpha, t.Clusters, t.MinP),
		})
	}
}

// smallestP is 2/2^n, at most 1.
func smallestP(n int64) float64 { return min(1, math.Ldexp(2, -int(min(n, 1000)))) }

// A McNemar compares two systems by rows that only one of them got right.
type McNemar struct {
	B, C int64 // rows that only the first, only the second got right
	N    int64 // all rows

	Diff ibid.Number // (B-C)/N, undefined without rows
	SE   ibid.Number // of Diff, Wald, undefined without rows

	Exact float64 // two-sided binomial p, 1 if B+C = 0
	MidP  float64 // Exact less the chance of what was seen; recommended
	// Chi2 and Corrected, (B-C)²/(B+C) without and with continuity correction, have
	// p-values that are good from B+C = 25 on. They are undefined if B+C = 0.
	Chi2, PChi2           float64
	Corrected, PCorrected float64
	HasChi2               bool
}

// NewMcNemar tests whether b and c, of n rows, differ by more than chance. Rows
// must be independent of each other; clustered ones need [SignFlip]. Counts must
// not be negative, nor n below b+c.
//
// Source: McNemar 1947; mid-p: Fagerland, Lydersen & Laake 2013.
func NewMcNemar(b, c, n int64) McNemar {
	m := McNemar{B: b, C: c, N: n, Exact: 1, MidP: 1}
	d, s := float64(b-c), float64(b+c)
	if n > 0 {
		m.Diff = Of(d / float64(n))
		m.SE = Of(math.Sqrt(s-d*d/float64(n)) / float64(n))
	}
	if b+c == 0 {
		return m
	}
	low := float64(min(b, c))
	if b != c {
		tail := mathext.RegIncBeta(s-low, low+1, 0.5)
		m.Exact = min(1, 2*tail)
		m.MidP = min(1, 2*tail-halfBinomial(s, low))
	}
	m.HasChi2 = true
	m.Chi2 = d * d / s
	m.PChi2 = normalTails(math.Sqrt(m.Chi2))
	corrected := max(0, math.Abs(d)-1)
	m.Corrected = corrected * corrected / s
	m.PCorrected = normalTails(math.Sqrt(m.Corrected))
	return m
}

// halfBinomial is the chance of k heads in n fair throws.
func halfBinomial(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return math.Exp(a - b - c - n*math.Ln2)
}

// Flips counts verdicts of yes and no that were given twice, row by row: those that
// became yes, and those that became no. Verdicts of one row depend on each other,
// rows do not. The zero Flips is empty.
type Flips struct {
	Verdicts     int64 // given twice
	Gained, Lost int64 // that became yes, that became no
	rows         []float64
}

// AddRow counts a row of verdicts, of which some became yes and some became no.
func (f *Flips) AddRow(verdicts, gained, lost int64) {
	f.Verdicts += verdicts
	f.Gained += gained
	f.Lost += lost
	f.rows = append(f.rows, float64(gained-lost))
}

// Rows is the number of rows added.
func (f *Flips) Rows() int64 { return int64(len(f.rows)) }

// Test tests whether verdicts flip one way more than the other: McNemar's mid-p where
// every row has one verdict, else the sign flip over rows, which draws samples where
// it is not exact. Under the hypothesis that both times the same judge answered, the
// two answers to a row could be swapped.
//
// It is undefined without rows, and 1 if nothing flipped.
//
// Source: Fagerland, Lydersen & Laake 2013; Fisher 1935.
func (f *Flips) Test(samples int, seed uint64) Test {
	if f.Verdicts > f.Rows() || f.Rows() == 0 {
		return SignFlip(f.rows, samples, seed)
	}
	return Test{
		Method: McNemarMidP, P: NewMcNemar(f.Gained, f.Lost, f.Verdicts).MidP, Clusters: f.Rows(), MinP: smallestP(f.Rows() + 1),
	}
}

// Holm adjusts p-values of which each is to be read by itself, so that the chance
// of one false discovery among all of them stays below the level: the i-th
// smallest of m becomes the largest (m-j+1) p_j of all j <= i, at most 1. A nil p
// is undefined, is not counted and stays nil. The order is that of ps.
//
// Source: Holm 1979.
func Holm(ps []*float64) []*float64 {
	order := ascending(ps)
	out := make([]*float64, len(ps))
	largest := 0.0
	for i, at := range order {
		largest = min(1, max(largest, float64(len(order)-i)**ps[at]))
		out[at] = new(largest)
	}
	return out
}

// BenjaminiHochberg adjusts p-values so that of those below the level no more than
// that share are false discoveries on average: the i-th smallest of m becomes the
// smallest m/j p_j of all j >= i, at most 1. A nil p is undefined, is not counted
// and stays nil. The order is that of ps.
//
// Source: Benjamini & Hochberg 1995.
func BenjaminiHochberg(ps []*float64) []*float64 {
	order := ascending(ps)
	out := make([]*float64, len(ps))
	smallest := 1.0
	for i := len(order) - 1; i >= 0; i-- {
		smallest = min(smallest, float64(len(order))/float64(i+1)**ps[order[i]])
		out[order[i]] = new(smallest)
	}
	return out
}

// ascending are the places of the defined p-values, smallest first.
func ascending(ps []*float64) []int {
	var order []int
	for i, p := range ps {
		if p != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(*ps[i], *ps[j]) })
	return order
}
