package stats

import "gonum.org/v1/gonum/stat/distuv"

// clopperPearson is the exact binomial interval for k successes in n trials,
// 0 <= k <= n: its coverage is never below the level, so it suits guarantees. It
// is undefined for n = 0.
//
// Source: Clopper & Pearson 1934, as beta quantiles.
func clopperPearson(k, n, level float64) Estimate {
	e := startProportion(k, n, level)
	if !e.Defined() {
		return e
	}
	tail := (1 - level) / 2
	low, high := 0.0, 1.0
	if k > 0 {
		low = betaQuantile(tail, k, n-k+1)
	}
	if k < n {
		high = betaQuantile(1-tail, k+1, n-k)
	}
	e.setEnds("clopper-pearson", low, high)
	return e
}

// betaQuantile is the p-quantile of a beta distribution with both shapes > 0.
func betaQuantile(p, alpha, beta float64) float64 {
	return distuv.Beta{Alpha: alpha, Beta: beta}.Quantile(p)
}
