package stats

import (
	"math"
	"slices"
)

// A ZeroMethod says what Wilcoxon's test does with differences of 0.
type ZeroMethod string

const (
	// DropZeros leaves zeros out before ranks are given.
	//
	// Source: Wilcoxon 1945.
	DropZeros ZeroMethod = "wilcox"
	// RankZeros ranks zeros with the rest and then leaves them out.
	//
	// Source: Pratt 1959.
	RankZeros ZeroMethod = "pratt"
)

// A Wilcoxon is the outcome of a signed-rank test. It tests whether differences
// are symmetric about 0, which is not whether their mean is 0.
type Wilcoxon struct {
	Used        int64   // differences other than 0
	Plus, Minus float64 // sums of the ranks of positive and negative differences

	P      float64 // exact two-sided p over the signs of the ranks as they are, tied ones included; 1 if all are 0
	HasP   bool    // false for more than maxExactRanks differences, or for none
	Z      float64 // (Plus - mean) / sd
	HasZ   bool    // false if all differences are 0
	Normal float64 // two-sided p of Z
	// Corrected is that with a continuity correction of 1/2. Both are 1 if all
	// differences are 0, and undefined if HasNormal is false, without differences.
	Corrected float64
	HasNormal bool
}

// maxExactRanks is for how many differences all signs are counted.
const maxExactRanks = 500

// SignedRank is Wilcoxon's signed-rank test of the differences d, each of a unit
// of its own. Ties share the mean of their ranks.
func SignedRank(d []float64, zeros ZeroMethod) Wilcoxon {
	var w Wilcoxon
	if len(d) == 0 {
		return w
	}
	w.Normal, w.Corrected, w.HasNormal = 1, 1, true
	doubled := w.rank(d, zeros)
	if w.Used == 0 {
		w.P, w.HasP = 1, true
		return w
	}
	total, squares := 0.0, 0.0
	for _, r := range doubled {
		total += float64(r) / 2
		squares += float64(r) * float64(r) / 4
	}
	far, sd := w.Plus-total/2, math.Sqrt(squares/4)
	w.Z, w.HasZ = far/sd, true
	w.Normal = normalTails(w.Z)
	w.Corrected = normalTails(max(0, math.Abs(far)-0.5) / sd)
	if len(doubled) <= maxExactRanks {
		w.P, w.HasP = exactRanks(doubled, int(math.Round(2*w.Plus))), true
	}
	return w
}

// rank sets Used, Plus and Minus and returns twice the ranks, which are integers.
func (w *Wilcoxon) rank(d []float64, zeros ZeroMethod) (doubled []int) {
	sorted := slices.Clone(d)
	if zeros == DropZeros {
		sorted = slices.DeleteFunc(sorted, func(v float64) bool { return v == 0 })
	}
	slices.SortFunc(sorted, func(a, b float64) int {
		switch {
		case math.Abs(a) < math.Abs(b):
			return -1
		case math.Abs(a) > math.Abs(b):
			return 1
		}
		return 0
	})
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && math.Abs(sorted[to]) == math.Abs(sorted[from]) {
			to++
		}
		twice := from + 1 + to // the mean of ranks from+1 … to, twice
		for _, v := range sorted[from:to] {
			switch {
			case v > 0:
				w.Plus += float64(twice) / 2
			case v < 0:
				w.Minus += float64(twice) / 2
			default:
				continue
			}
			w.Used++
			doubled = append(doubled, twice)
		}
		from = to
	}
	return doubled
}

// exactRanks is the two-sided p of twice the sum of positive ranks.
func exactRanks(doubled []int, plus int) float64 {
	total := 0
	for _, r := range doubled {
		total += r
	}
	chance := make([]float64, total+1)
	chance[0] = 1
	reach := 0
	for _, r := range doubled {
		reach += r
		for j := reach; j >= 0; j-- {
			half := chance[j] / 2
			if j >= r {
				half += chance[j-r] / 2
			}
			chance[j] = half
		}
	}
	low, high := 0.0, 0.0
	for j, c := range chance {
		if j <= plus {
			low += c
		}
		if j >= plus {
			high += c
		}
	}
	return min(1, 2*min(low, high))
}
