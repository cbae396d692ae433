package stats

import "gonum.org/v1/gonum/stat/distuv"

// normalQuantile is the z with P(|Z| <= z) = level for a standard normal Z.
func normalQuantile(level float64) float64 {
	return -distuv.UnitNormal.Quantile((1 - level) / 2)
}

// studentQuantile is the t with P(|T| <= t) = level for Student's t with df > 0
// degrees of freedom.
func studentQuantile(level float64, df int64) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}
	return -t.Quantile((1 - level) / 2)
}

// betaQuantile is the p-quantile of a beta distribution with both shapes > 0.
func betaQuantile(p, alpha, beta float64) float64 {
	return distuv.Beta{Alpha: alpha, Beta: beta}.Quantile(p)
}
