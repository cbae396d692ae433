package stats

import (
	"math"

	"ibid"
)

// Student tests whether the value is 0, with t and the clusters or effective documents less one.
func (e *Estimate) Student() Test { return e.tTest(0) }

// tTest tests whether the value is null with t(clusters-1). It is undefined where
// there is no standard error or it is 0.
func (e *Estimate) tTest(null float64) Test {
	t := Test{Method: StudentT, Clusters: e.Clusters, Reason: e.Reason}
	if !t.Defined() {
		return t
	}
	if !e.HasSE || e.SE == 0 {
		t.Reason = ibid.NoVariation
		return t
	}
	df := float64(e.Clusters - 1)
	if e.spread != nil {
		df = max(1, e.spread.Effective-1)
	}
	t.fill((e.Value-null)/e.SE, df)
	return t
}

// fill sets the p-values of a t statistic.
func (t *Test) fill(statistic, df float64) {
	t.P = studentTails(statistic, df)
	t.Greater, t.Less = t.P/2, 1-t.P/2
	if statistic < 0 {
		t.Greater, t.Less = t.Less, t.Greater
	}
}

// Unpaired compares two systems on rows that have nothing in common.
type Unpaired struct {
	Estimate // Value, SE, interval and level of a - b; N and Clusters of both together
	T        Test
	DF       float64 // degrees of freedom, 0 if there is no standard error
}

// NewUnpaired compares the estimates a and b, means or ratios of sums of two
// systems that share neither rows nor clusters: a - b with the standard error
// sqrt(se_a² + se_b²) and Welch and Satterthwaite's degrees of freedom
//
//	(se_a² + se_b²)² / (se_a⁴/(G_a-1) + se_b⁴/(G_b-1))
//
// Its interval and test are undefined where a standard error is undefined, or both
// are 0.
//
// Source: Welch 1947, over clusters.
func NewUnpaired(a, b *Estimate, level float64) Unpaired {
	u := Unpaired{Estimate: Estimate{Level: level, Method: WelchInterval, N: a.N + b.N, Clusters: a.Clusters + b.Clusters}}
	switch {
	case !validLevel(level):
		u.Reason = ibid.BadArgument
	case !a.Defined():
		u.Reason = a.Reason
	case !b.Defined():
		u.Reason = b.Reason
	}
	u.T = Test{Method: WelchT, Clusters: u.Clusters, Reason: u.Reason}
	if !u.Defined() {
		return u
	}
	u.Value = a.Value - b.Value
	u.warnClusters(min(a.Clusters, b.Clusters))
	u.T.Reason = ibid.NoVariation
	if !a.HasSE || !b.HasSE {
		return u
	}
	va, vb := a.SE*a.SE, b.SE*b.SE
	u.SE, u.HasSE = math.Hypot(a.SE, b.SE), true
	if va+vb == 0 {
		u.setDegenerate()
		return u
	}
	u.T.Reason = ibid.Defined
	u.DF = float64((va+vb)*(va+vb)) / (float64(va*va)/float64(a.Clusters-1) + float64(vb*vb)/float64(b.Clusters-1))
	u.T.fill(u.Value/u.SE, u.DF)
	half := float64(studentPoint(level, u.DF) * u.SE)
	u.setInterval(u.Value-half, u.Value+half)
	return u
}
