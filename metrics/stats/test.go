package stats

import (
	"fmt"
	"math"
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
// P, Greater and Less can be read only if Reason is Defined.
type Test struct {
	P       float64 // two-sided, in (0, 1]
	Greater float64 // chance of a difference at least as large as seen
	Less    float64 // chance of one at most as large
	Reason  Reason

	Method   TestMethod
	Clusters int64 // that were flipped or counted, those without a difference included
	Samples  int64 // assignments drawn, 0 if the test is exact
	Seed     uint64

	// MinP is the smallest two-sided p that so many clusters can give.
	MinP     float64
	Warnings []Warning
}

// Defined reports whether t has a p-value.
func (t *Test) Defined() bool { return t.Reason == Defined }

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
