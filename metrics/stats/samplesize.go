package stats

import "math"

// NProportion is how many of population items must be looked at to know a share
// that is about p to ± half. population 0 means without end. n0 is the number
// that a population without end needs. It is at least 1.
//
// Source: Cochran 1977, §4.
func NProportion(p, half float64, population int64, level float64) (n0 float64, n int64) {
	z := normalQuantile(level)
	n0 = z * z * p * (1 - p) / (half * half)
	need := n0
	if population > 0 {
		need = n0 / (1 + (n0-1)/float64(population))
	}
	n = max(1, int64(math.Ceil(need)))
	if population > 0 {
		n = min(n, population)
	}
	return n0, n
}

// NKappa is how many items two people must both label to know a kappa that is
// about kappa to ± half, where either calls a share prevalence of them positive.
// q is the variance of kappa times the number of items. It is at least 2.
//
// Source: the large-sample variance of Fleiss, Cohen & Everitt 1969.
func NKappa(prevalence, kappa, half, level float64) (q float64, n int64) {
	q = kappaVariance(prevalence, kappa)
	z := normalQuantile(level)
	return q, max(2, int64(math.Ceil(z*z*q/(half*half))))
}

// KappaHalfWidth is the ± to which n items labelled by two people show a kappa
// that is about kappa; undefined for n < 2.
func KappaHalfWidth(prevalence, kappa float64, n int64, level float64) Number {
	if n < 2 {
		return Number{}
	}
	return Of(normalQuantile(level) * math.Sqrt(kappaVariance(prevalence, kappa)/float64(n)))
}

// ProportionHalfWidth is the ± to which n of population items show a share that
// is about p; undefined for n < 1. Population 0 means without end.
func ProportionHalfWidth(p float64, n, population int64, level float64) Number {
	if n < 1 {
		return Number{}
	}
	correction := 1.0
	if population > 1 {
		correction = math.Sqrt(float64(population-n) / float64(population-1))
	}
	return Of(normalQuantile(level) * correction * math.Sqrt(p*(1-p)/float64(n)))
}

func kappaVariance(p, kappa float64) float64 {
	off := p * (1 - p) * (1 - kappa)
	shares := []float64{p*p + kappa*p*(1-p), off, off, (1-p)*(1-p) + kappa*p*(1-p)}
	c := ContingencyOf(2, shares)
	se := c.Kappa(Unweighted, 0.95).SE
	return se.Value * se.Value
}
