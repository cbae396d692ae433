package judge_test

import (
	"math"
	"testing"
)

// auroc is the chance that a positive item scores above a negative one, ties
// counted half.
func auroc(positive []bool, score []float64) float64 {
	wins, pairs := 0.0, 0.0
	for i, p := range positive {
		for j, q := range positive {
			if !p || q {
				continue
			}
			pairs++
			switch {
			case score[i] > score[j]:
				wins++
			case score[i] == score[j]:
				wins += 0.5
			}
		}
	}
	return wins / pairs
}

// kappa is Cohen's kappa of two lists of labels below k.
func kappa(k int, a, b []int) float64 {
	n := float64(len(a))
	agree := 0.0
	ca, cb := make([]float64, k), make([]float64, k)
	for i := range a {
		if a[i] == b[i] {
			agree++
		}
		ca[a[i]]++
		cb[b[i]]++
	}
	chance := 0.0
	for i := range k {
		chance += ca[i] * cb[i] / n / n
	}
	return (agree/n - chance) / (1 - chance)
}

// binary turns scores into labels: 1 above the threshold.
func binary(score []float64, threshold float64) []int {
	labels := make([]int, len(score))
	for i, s := range score {
		if s > threshold {
			labels[i] = 1
		}
	}
	return labels
}

// threeClass turns scores into 0 supported, 1 partially, 2 not supported, by
// the nearest of 1, 0.5 and 0.
func threeClass(score []float64) []int {
	labels := make([]int, len(score))
	for i, s := range score {
		switch {
		case s > 0.75:
		case s > 0.25:
			labels[i] = 1
		default:
			labels[i] = 2
		}
	}
	return labels
}

func truths(positive []bool) []int {
	labels := make([]int, len(positive))
	for i, p := range positive {
		if p {
			labels[i] = 1
		}
	}
	return labels
}

// TestAgreementStatistics checks the statistics of these tests by hand.
func TestAgreementStatistics(t *testing.T) {
	if got := auroc([]bool{true, true, false, false}, []float64{0.9, 0.5, 0.5, 0.1}); got != 3.5/4 {
		t.Errorf("auroc = %v, want 0.875", got)
	}
	// Agreement 3/4, by chance 1/2.
	if got := kappa(2, []int{0, 0, 1, 1}, []int{0, 1, 1, 1}); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("kappa = %v, want 0.5", got)
	}
}
