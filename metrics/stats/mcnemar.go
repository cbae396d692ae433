package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// A McNemar compares two systems by rows that only one of them got right.
type McNemar struct {
	B, C int64 // rows that only the first, only the second got right
	N    int64 // all rows

	Diff float64 // (B-C)/N, 0 without rows
	SE   float64 // of Diff, Wald

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
		m.Diff = d / float64(n)
		m.SE = math.Sqrt(s-d*d/float64(n)) / float64(n)
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
