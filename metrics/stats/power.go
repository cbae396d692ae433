package stats

import (
	"math"

	"ibid"
)

// A Design says what a comparison is planned for: to find a true difference with
// chance Power when p <= Alpha counts as found.
type Design struct {
	Alpha float64 // two-sided, in (0, 1)
	Power float64 // in (0, 1)
}

// DefaultDesign is what is asked for unless told otherwise.
var DefaultDesign = Design{Alpha: 0.05, Power: 0.8}

func (d Design) valid() bool { return validLevel(d.Alpha) && validLevel(d.Power) }

// reach is how many standard errors a difference must have to be found.
func (d Design) reach() float64 { return NormalQuantile(1-d.Alpha) + normalPoint(d.Power) }

// Detectable is the least difference, in magnitude, that a comparison with the
// given standard error finds as planned: (z_(1-α/2) + z_power) se. That the
// difference might be found with the wrong sign is left out of account. It is
// undefined for a negative or not finite se, and for a design out of range.
func (d Design) Detectable(se float64) (mde float64, ok bool) {
	if !d.valid() || !(se >= 0) || math.IsInf(se, 0) {
		return 0, false
	}
	return d.reach() * se, true
}

// DetectableBy is Detectable for a t test with df > 0 degrees of freedom, which
// needs more with few clusters: (t_(1-α/2) + t_power) se.
func (d Design) DetectableBy(se, df float64) (mde float64, ok bool) {
	if !d.valid() || !(se >= 0) || math.IsInf(se, 0) || !(df > 0) {
		return 0, false
	}
	sign := 1.0
	if d.Power < 0.5 {
		sign = -1
	}
	return (studentPoint(1-d.Alpha, df) + sign*studentPoint(math.Abs(2*d.Power-1), df)) * se, true
}

// PairedSE is the standard error of the mean of n differences with standard
// deviation sd, whose variance is deff times that of independent ones (the design
// effect of clusters). It is undefined for n < 1.
func PairedSE(sd, n, deff float64) (se float64, ok bool) {
	if !(sd >= 0 && n >= 1 && deff > 0) {
		return 0, false
	}
	return sd * math.Sqrt(deff/n), true
}

// Required is how many differences find a true mean difference of delta as
// planned, at least 2:
//
//	ceil(((z_(1-α/2) + z_power) sd / delta)² deff)
//
// It is undefined for delta = 0.
func (d Design) Required(sd, delta, deff float64) (n int64, ok bool) {
	if !d.valid() || delta == 0 || !(sd >= 0 && deff > 0) {
		return 0, false
	}
	ratio := d.reach() * sd / delta
	return atLeastTwo(ratio * ratio * deff)
}

// atLeastTwo rounds up.
func atLeastTwo(n float64) (int64, bool) {
	if !(n < 1<<62) {
		return 0, false
	}
	return max(2, int64(math.Ceil(n))), true
}

// PowerOf is the chance that a two-sided z test at alpha finds a true difference
// of delta when its standard error is se, either sign included. It is undefined
// unless se > 0.
func PowerOf(delta, se, alpha float64) (power float64, ok bool) {
	if !validLevel(alpha) || !(se > 0) {
		return 0, false
	}
	z, shift := NormalQuantile(1-alpha), math.Abs(delta)/se
	return normalCDF(shift-z) + normalCDF(-shift-z), true
}

// McNemarRequired is how many rows McNemar's test needs when a share p10 of them is
// right for the first system only and p01 for the second only:
//
//	n = (z_(1-α/2) sqrt(ψ) + z_power sqrt(ψ - δ²))² / δ²,  ψ = p10 + p01, δ = p10 - p01
//
// raw is n before rounding up. It is undefined for p10 = p01.
//
// Source: Connor 1987.
func (d Design) McNemarRequired(p10, p01 float64) (n int64, raw float64, ok bool) {
	psi, delta := p10+p01, p10-p01
	if !d.valid() || delta == 0 || !(p10 >= 0 && p01 >= 0 && psi <= 1) {
		return 0, 0, false
	}
	root := NormalQuantile(1-d.Alpha)*math.Sqrt(psi) + normalPoint(d.Power)*math.Sqrt(psi-delta*delta)
	raw = root * root / (delta * delta)
	n, ok = atLeastTwo(raw)
	return n, raw, ok
}

// NProportion is how many of population items must be looked at to know a share
// that is about p to ± half. population 0 means without end. n0 is the number
// that a population without end needs. It is at least 1.
//
// Source: Cochran 1977, §4.
func NProportion(p, half float64, population int64, level float64) (n0 float64, n int64) {
	z := NormalQuantile(level)
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
	z := NormalQuantile(level)
	return q, max(2, int64(math.Ceil(z*z*q/(half*half))))
}

// KappaHalfWidth is the ± to which n items labelled by two people show a kappa
// that is about kappa; undefined for n < 2.
func KappaHalfWidth(prevalence, kappa float64, n int64, level float64) ibid.Number {
	if n < 2 {
		return ibid.Number{}
	}
	return Of(NormalQuantile(level) * math.Sqrt(kappaVariance(prevalence, kappa)/float64(n)))
}

// ProportionHalfWidth is the ± to which n of population items show a share that
// is about p, 0 if those are all; undefined for n < 1. Population 0 means without end.
func ProportionHalfWidth(p float64, n, population int64, level float64) ibid.Number {
	if n < 1 {
		return ibid.Number{}
	}
	correction := 1.0
	if population > 0 {
		correction = math.Sqrt(float64(max(0, population-n)) / float64(max(1, population-1)))
	}
	return Of(NormalQuantile(level) * correction * math.Sqrt(p*(1-p)/float64(n)))
}

func kappaVariance(p, kappa float64) float64 {
	off := p * (1 - p) * (1 - kappa)
	shares := []float64{p*p + kappa*p*(1-p), off, off, (1-p)*(1-p) + kappa*p*(1-p)}
	c := ContingencyOf(2, shares)
	se := c.Kappa(Unweighted, 0.95).SE
	return se.Value * se.Value
}
