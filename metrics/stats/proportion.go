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
	e := startProportion(k, n, level, WilsonScore)
	if e.Defined() {
		e.Effective = n
		e.setInterval(wilson(k, n, NormalQuantile(level)))
	}
	return e
}

// ClopperPearson is the exact binomial interval for k successes in n trials,
// 0 <= k <= n: its coverage is never below the level, so it suits guarantees. It
// is undefined for n = 0.
//
// Source: Clopper & Pearson 1934, as beta quantiles.
func ClopperPearson(k, n, level float64) Estimate {
	e := startProportion(k, n, level, ClopperPearsonExact)
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
	e.setInterval(low, high)
	return e
}

// Proportion is the share of ones among rows that are 0 or 1 (Σx must be the
// number of rows): Wilson's interval if every cluster is one row, else that of
// [Clusters.WilsonClusterT]. The interval is undefined for fewer than two clusters.
func (c *Clusters) Proportion(level float64) Estimate {
	if c.Len() < c.Rows() || c.spread != nil {
		return c.WilsonClusterT(level)
	}
	e, m := c.start(level, WilsonScore)
	if !e.checkProportion() {
		return e
	}
	if e.Clusters < 2 {
		e.warnClusters(e.Clusters)
		return e
	}
	e.SE, e.HasSE = m.stdErr(true)
	e.Effective = e.Den
	e.setInterval(wilson(e.Num, e.Den, NormalQuantile(level)))
	return e
}

// WilsonClusterT is the share of ones among rows that are 0 or 1 (Σx must be the number of
// rows) with Wilson's interval at the effective sample size
//
//	n_eff = min(n, p(1-p) / CR1² (z / t(G-1))²)
//
// which allows for CR1 being an estimate from G clusters, or, where the design effect
// cannot be estimated because p is 0 or 1 or CR1 is 0, at the number of clusters. The
// interval is undefined for fewer than two clusters.
//
// Source: Korn & Graubard 1998, the effective sample size adjusted for degrees of
// freedom.
func (c *Clusters) WilsonClusterT(level float64) Estimate {
	if c.Len() < 2 || !validLevel(level) {
		return c.wilsonCluster(level, 1)
	}
	freedom := float64(c.Len() - 1)
	if c.spread != nil {
		freedom = c.spread.Effective - 1
	}
	if freedom <= 0 {
		return c.wilsonCluster(level, 1)
	}
	shrink := NormalQuantile(level) / studentPoint(level, freedom)
	return c.wilsonCluster(level, float64(shrink*shrink))
}

// wilsonCluster multiplies the effective sample size by shrink.
func (c *Clusters) wilsonCluster(level, shrink float64) Estimate {
	e, m := c.start(level, WilsonClusterT)
	if !e.checkProportion() || !e.setStdErr(m) {
		return e
	}
	if p := e.Value; p == 0 || p == 1 || e.SE == 0 {
		if e.Effective = float64(e.Clusters); e.spread != nil {
			e.Effective = e.spread.Effective
		}
		if e.Clusters < e.N {
			e.warn(NoDesignEffect, "every row scored the same, so each cluster counts as one row")
		}
	} else {
		e.Effective = min(e.Den, p*(1-p)/(e.SE*e.SE)*shrink)
	}
	e.setInterval(wilson(e.Value*e.Effective, e.Effective, NormalQuantile(level)))
	return e
}

// checkProportion reports whether e has a value in [0, 1].
func (e *Estimate) checkProportion() bool {
	if e.Defined() && (e.Value < 0 || e.Value > 1) {
		e.Value, e.Reason = 0, ibid.BadArgument
	}
	return e.Defined()
}

func startProportion(k, n, level float64, method Method) Estimate {
	e := Estimate{Level: level, Method: method, Num: k, Den: n}
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
