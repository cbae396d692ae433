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
