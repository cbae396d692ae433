package stats

import (
	"math"

	"ibid"
)

// Wilson is Wilson's score interval for k successes in n trials, 0 <= k <= n,
//
//	(k + z²/2 ± z sqrt(k(n-k)/n + z²/4)) / (n + z²)
//
// k and n may be real (effective counts). At k = 0 the low end is exactly 0, at
// k = n the high end exactly 1. It is undefined for n = 0.
//
// Source: Wilson 1927; method 3 of Newcombe 1998.
func Wilson(k, n, level float64) Estimate {
	e := startProportion(k, n, level)
	if e.Defined() {
		e.Effective = n
		low, high := wilson(k, n, NormalQuantile(level))
		e.setEnds(WilsonScore, low, high)
	}
	return e
}

func startProportion(k, n, level float64) Estimate {
	e := Estimate{Level: level, Num: k, Den: n}
	switch {
	case !validLevel(level) || !(0 <= k && k <= n) || math.IsInf(n, 0):
		e.Reason = ibid.BadArgument
	case n == 0:
		e.Reason = ibid.NoData
	default:
		e.Value = k / n
		e.N, e.Clusters = int64(n), int64(n)
	}
	return e
}

// wilson is the interval for 0 <= k <= n, n > 0. The low end is taken from the
// product of both ends, k²/(n(n+z²)), because the difference cancels for small k.
func wilson(k, n, z float64) (low, high float64) {
	z2 := z * z
	upper := k + z2/2 + z*math.Sqrt(k*(n-k)/n+z2/4)
	low, high = k*(k/n)/upper, min(1, upper/(n+z2))
	if k == n {
		high = 1
	}
	return low, high
}
