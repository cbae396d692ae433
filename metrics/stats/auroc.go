package stats

import (
	"math"

	"ibid"
)

// auroc is the chance that a positive item has a higher score than a negative
// one, ties counting half: the area under the ROC curve. It is undefined without
// items of either kind.
func auroc(scores []float64, positive []bool) ibid.Number {
	ranks := Ranks(scores)
	var sum, p, n float64
	for i, yes := range positive {
		if yes {
			p++
			sum += ranks[i]
		} else {
			n++
		}
	}
	return FractionOf(sum-p*(p+1)/2, p*n)
}

// AUROC is the chance that a positive row has a higher score than a negative one, ties counting
// half: the area under the ROC curve, 0 to 1. A row adds to it how far its placement, the share
// of the rows of the other kind that it is on the right side of, is from the mean. It is
// undefined without rows of either kind.
//
// Source: DeLong, DeLong & Clarke-Pearson 1988.
func AUROC(scores []float64, positive []bool, rows *Rows, level float64) Estimate {
	area := auroc(scores, positive)
	if !area.Known() {
		return undefined(level)
	}
	var kinds [2]float64
	for _, yes := range positive {
		kinds[kindOf(yes)]++
	}
	errors, shares := aurocComponents(scores, positive), make([]float64, len(scores))
	for i, yes := range positive {
		n := kinds[kindOf(yes)]
		errors[i], shares[i] = (errors[i]-area.Value)/n, 1/(2*n)
	}
	return rows.within(area.Value, errors, shares, 0, 1, level)
}

// aurocComponents are, for each positive item, the share of the negative ones that it
// scores above, and for each negative item the share of the positive ones that score
// above it; ties count half.
func aurocComponents(scores []float64, positive []bool) []float64 {
	var own [2][]float64
	for i, s := range scores {
		own[kindOf(positive[i])] = append(own[kindOf(positive[i])], s)
	}
	all := Ranks(scores)
	within := [2][]float64{Ranks(own[0]), Ranks(own[1])}
	next := [2]int{}
	out := make([]float64, len(scores))
	for i := range scores {
		k := kindOf(positive[i])
		below := (all[i] - within[k][next[k]]) / float64(len(own[1-k]))
		next[k]++
		if out[i] = below; k == 0 {
			out[i] = 1 - below
		}
	}
	return out
}

func kindOf(positive bool) int {
	if positive {
		return 1
	}
	return 0
}

// logistic is the inverse of the logit.
func logistic(z float64) float64 {
	if z < 0 {
		e := math.Exp(z)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-z))
}
