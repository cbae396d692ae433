package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// NormalQuantile is the z with P(|Z| <= z) = level for a standard normal Z, 0 <
// level < 1.
func NormalQuantile(level float64) float64 {
	return -distuv.UnitNormal.Quantile((1 - level) / 2)
}

// normalTails is P(|Z| >= |z|) for a standard normal Z.
func normalTails(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// studentPoint is the t with P(|T| <= t) = level for Student's t with df > 0 degrees of
// freedom, which need not be whole.
func studentPoint(level, df float64) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}
	return -t.Quantile((1 - level) / 2)
}

// studentTails is P(|T| >= |t|) for Student's t with df > 0 degrees of freedom.
func studentTails(t, df float64) float64 {
	// The incomplete beta function at df/(df+t²), written so that a large t does not
	// overflow.
	return mathext.RegIncBeta(df/2, 0.5, 1/(1+t*t/df))
}

// LowestShare is the lower limit of a share that k of n > 0 items have, one-sided at a level: the
// exact binomial one, which is above the share in at most 1 - level of cases.
//
// Source: Clopper & Pearson 1934, as a beta quantile.
func LowestShare(k, n, level float64) float64 {
	if k == 0 {
		return 0
	}
	return distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(1 - level)
}
