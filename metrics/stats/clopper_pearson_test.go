package stats

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
	e.setEnds("clopper-pearson", LowestShare(k, n, 1-tail), 1-LowestShare(n-k, n, 1-tail))
	return e
}
