package stats

import (
	"math"
	"math/big"

	"ibid"
)

// Paired compares two systems on the same rows by the differences d = a - b.
//
// Estimate is the mean difference with the interval of [Clusters.Mean], over
// clusters. Standard deviation, correlation and standard errors without the
// clusters are for planning and explanation, not for decisions.
type Paired struct {
	Estimate

	T Test // t test over clusters; undefined where the standard error is undefined or 0

	Deviation    float64 // standard deviation of d over rows, n-1 below
	HasDeviation bool

	// RowSE is the standard error of the mean difference if rows were independent,
	// UnpairedSE that if the systems had been asked different questions, too.
	// Both are defined where Deviation is.
	RowSE, UnpairedSE float64

	Correlation    float64 // of a and b over rows
	HasCorrelation bool    // false if one of them is constant
}

// NewPaired compares a with b, which must be of one length and finite; clusters
// has the number of each row's cluster, at least 0, or is nil if each row is one.
//
// The mean is undefined without rows, the standard errors for fewer than two rows
// or clusters.
//
// Source: Miller 2024, §4; CR1: Cameron & Miller 2015.
func NewPaired(a, b []float64, clusters []int, level float64) Paired {
	var rows, first, second, both Clusters
	var grouper Grouper
	for i := range a {
		d := a[i] - b[i]
		rows.AddRow(d)
		first.AddRow(a[i])
		second.AddRow(b[i])
		both.AddCluster(a[i], b[i], 1)
		if clusters != nil {
			grouper.Add(clusters[i], d)
		}
	}
	grouped := rows
	if clusters != nil {
		grouped = Clusters{}
		grouper.Drain(&grouped)
	}
	p := Paired{Estimate: grouped.Mean(level)}
	p.T = p.tTest(0)
	if se, ok := rows.CR1(); ok {
		p.RowSE, p.Deviation, p.HasDeviation = se, se*math.Sqrt(float64(len(a))), true
		seA, _ := first.CR1()
		seB, _ := second.CR1()
		p.UnpairedSE = math.Hypot(seA, seB)
		p.Correlation, p.HasCorrelation = both.correlation()
	}
	return p
}

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

// correlation is Pearson's, of y and x over clusters.
func (c *Clusters) correlation() (r float64, ok bool) {
	m := c.moments()
	if !m.inRange() {
		return 0, false
	}
	n := big.NewInt(m.clusters)
	y, x := m.y.scaled(), m.x.scaled()
	central := func(square *Exact, a, b *big.Int) *big.Int {
		s := square.scaled()
		s.Mul(s, n).Lsh(s, fracBits)
		return s.Sub(s, new(big.Int).Mul(a, b))
	}
	xy, yy, xx := central(&m.xy, x, y), central(&m.yy, y, y), central(&m.xx, x, x)
	if yy.Sign() <= 0 || xx.Sign() <= 0 {
		return 0, false
	}
	product := new(big.Float).SetPrec(floatBits).SetInt(yy)
	product.Mul(product, new(big.Float).SetPrec(floatBits).SetInt(xx))
	quotient := new(big.Float).SetPrec(floatBits).SetInt(xy)
	r, _ = quotient.Quo(quotient, product.Sqrt(product)).Float64()
	return max(-1, min(1, r)), true
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
