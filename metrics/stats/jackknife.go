package stats

import (
	"math"
	"slices"

	"ibid"
)

// Jackknife is what units add to a number, by what it is without each of them, in their order:
// with their mean m, (n-1)/n (m - without) of each. It is nil if the number is undefined (NaN)
// without one of them.
//
// Source: Efron & Tibshirani 1993, chapter 11.
func Jackknife(without []float64) []float64 {
	n := float64(len(without))
	mean := sumOf(without) / n
	if math.IsNaN(mean) {
		return nil
	}
	errors := make([]float64, len(without))
	for i, v := range without {
		errors[i] = (n - 1) / n * (mean - v)
	}
	return errors
}

// A Statistic is a number made of sums over units; ok is false where it is undefined.
type Statistic func(sums []float64) (v float64, ok bool)

// Jackknifed is a statistic between low and high of the sums over n units with these documents.
// What a unit adds to it is what it is without the unit, see [Jackknife]. Units have equal
// weight, unless weight is not nil. A unit whose sums, which are good until those of another are
// asked for, are all 0 does not count.
func Jackknifed(n int, units func(unit int) []float64, of Statistic, weight func(sums []float64) float64, documents *Documents, low, high, level float64) Estimate {
	var totals []float64
	for i := range n {
		sums := units(i)
		if totals == nil {
			totals = make([]float64, len(sums))
		}
		for k, v := range sums {
			totals[k] += v
		}
	}
	value, ok := 0.0, false
	if totals != nil {
		value, ok = of(totals)
	}
	if !ok {
		return undefined(level)
	}
	var counted []int
	var without, weights []float64
	rest := make([]float64, len(totals))
	for i := range n {
		sums := units(i)
		if !slices.ContainsFunc(sums, func(v float64) bool { return v != 0 }) {
			continue
		}
		for k, v := range sums {
			if rest[k] = totals[k] - v; math.Abs(rest[k]) <= rounding*math.Abs(totals[k]) {
				rest[k] = 0
			}
		}
		if weight != nil {
			weights = append(weights, weight(sums))
		}
		v, ok := of(rest)
		if !ok {
			v = math.NaN()
		}
		counted, without = append(counted, i), append(without, v)
	}
	return jackknifed(value, counted, without, weights, n, documents, low, high, level)
}

// jackknifed is a value with what it is without each of the counted units of n, and their weights
// unless they are equal.
func jackknifed(value float64, counted []int, without, weights []float64, n int, documents *Documents, low, high, level float64) Estimate {
	e := Estimate{Value: value, Reason: ibid.Defined, Level: level}
	if len(counted) < 2 {
		e.warn(OneUnit, restsOnOne)
		return e
	}
	added := Jackknife(without)
	if added == nil {
		e.warn(OneUnit, restsOnOne)
		return e
	}
	total := float64(len(counted))
	if weights != nil {
		total = sumOf(weights)
	}
	errors, shares := make([]float64, n), make([]float64, n)
	for k, i := range counted {
		errors[i], shares[i] = added[k], 1/total
		if weights != nil {
			shares[i] = weights[k] / total
		}
	}
	spread := NewShares(shares, errors, documents).Spread(errors, shares)
	return spread.Within(value, low, high, level)
}
