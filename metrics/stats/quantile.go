package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// SampleQuantile is the p-quantile of sorted values, 0 <= p <= 1, after Hyndman
// & Fan's definition 7, which is the default of R and NumPy: linear between the
// values at (n-1)p rounded down and up. It is undefined (ok is false) if there are
// no values or p is outside [0, 1].
//
// gonum's stat.Quantile with LinInterp is definition 4, which is another number.
//
// Source: Hyndman & Fan 1996.
func SampleQuantile(sorted []float64, p float64) (q float64, ok bool) {
	if len(sorted) == 0 || !(p >= 0 && p <= 1) {
		return 0, false
	}
	at := float64(len(sorted)-1) * p
	i := int(at)
	if i == len(sorted)-1 {
		return sorted[i], true
	}
	low, high := sorted[i], sorted[i+1]
	// The conversion forbids a fused multiply-add, which not every machine has.
	return low + float64((at-math.Floor(at))*(high-low)), true
}

// NormalQuantile is the z with P(|Z| <= z) = level for a standard normal Z, 0 <
// level < 1.
func NormalQuantile(level float64) float64 {
	return -distuv.UnitNormal.Quantile((1 - level) / 2)
}

// normalPoint is the z with P(Z <= z) = p for a standard normal Z; infinite for p
// 0 and 1.
func normalPoint(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// normalCDF is P(Z <= z) for a standard normal Z.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// normalTails is P(|Z| >= |z|) for a standard normal Z.
func normalTails(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// StudentQuantile is the t with P(|T| <= t) = level for Student's t with df > 0
// degrees of freedom, 0 < level < 1.
func StudentQuantile(level float64, df int64) float64 { return studentPoint(level, float64(df)) }

// studentPoint is StudentQuantile for degrees of freedom that need not be whole.
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

// betaQuantile is the p-quantile of a beta distribution with both shapes > 0.
func betaQuantile(p, alpha, beta float64) float64 {
	return distuv.Beta{Alpha: alpha, Beta: beta}.Quantile(p)
}
