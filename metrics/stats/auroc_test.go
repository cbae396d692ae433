package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// slowAUROCSE is Obuchowski's standard error as her equations 3 to 7 have it: sums over
// all pairs.
func slowAUROCSE(scores []float64, positive []bool, clusters []string) float64 {
	psi := func(x, y float64) float64 {
		switch {
		case x > y:
			return 1
		case x == y:
			return 0.5
		}
		return 0
	}
	var m, n, area float64
	for i := range scores {
		for j := range scores {
			if positive[i] && !positive[j] {
				area += psi(scores[i], scores[j])
			}
		}
		if positive[i] {
			m++
		} else {
			n++
		}
	}
	area /= m * n
	names, of := map[string]bool{}, func(c string) (v10, v01, mi, ni float64) {
		for i := range scores {
			if clusters[i] != c {
				continue
			}
			own := 0.0
			for j := range scores {
				switch {
				case positive[i] && !positive[j]:
					own += psi(scores[i], scores[j]) / n
				case !positive[i] && positive[j]:
					own += psi(scores[j], scores[i]) / m
				}
			}
			if positive[i] {
				v10, mi = v10+own, mi+1
			} else {
				v01, ni = v01+own, ni+1
			}
		}
		return v10, v01, mi, ni
	}
	var i10, i01, s10, s01, s11 float64
	for _, c := range clusters {
		if names[c] {
			continue
		}
		names[c] = true
		v10, v01, mi, ni := of(c)
		if mi > 0 {
			i10++
		}
		if ni > 0 {
			i01++
		}
		s10 += (v10 - mi*area) * (v10 - mi*area)
		s01 += (v01 - ni*area) * (v01 - ni*area)
		s11 += (v10 - mi*area) * (v01 - ni*area)
	}
	i := float64(len(names))
	s10 *= i10 / ((i10 - 1) * m)
	s01 *= i01 / ((i01 - 1) * n)
	s11 *= i / (i - 1)
	return math.Sqrt(s10/m + s01/n + 2*s11/(m*n))
}

func TestClusteredAUROC(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		n := 20 + r.IntN(40)
		scores, positive, clusters := make([]float64, n), make([]bool, n), make([]string, n)
		for i := range n {
			positive[i], clusters[i] = r.IntN(2) == 0, fmt.Sprint(r.IntN(9))
			scores[i] = math.Round(8*r.Float64()) / 8
			if positive[i] {
				scores[i] += 0.25
			}
		}
		e := ClusteredAUROC(scores, positive, clusters, 0.95)
		if want := slowAUROCSE(scores, positive, clusters); math.Abs(e.SE-want) > 1e-12 {
			t.Errorf("round %d: SE %v, want %v", round, e.SE, want)
		}
		if want := auroc(scores, positive).Value; e.Value != want || e.Low >= want || e.High <= want || e.Low < 0 || e.High > 1 {
			t.Errorf("round %d: %v in [%v, %v], want %v inside", round, e.Value, e.Low, e.High, want)
		}
	}
}

// TestClusteredAUROCEdges: rows that do not depend give DeLong's error; perfect
// ranking is no certainty.
func TestClusteredAUROCEdges(t *testing.T) {
	scores, positive := []float64{.9, .8, .7, .3, .2}, []bool{true, true, true, false, false}
	own := []string{"a", "b", "c", "d", "e"}
	e := ClusteredAUROC(scores, positive, own, 0.95)
	if e.Value != 1 || e.Method != WilsonClusterT || e.High != 1 || e.Low > 0.1 {
		t.Errorf("perfect ranking of two negatives: %+v", e)
	}
	// DeLong by hand: V10 = 1, 1/2; V01 = 1/2, 1. S10 = S01 = 1/8, variance 1/16+1/16.
	if e = ClusteredAUROC([]float64{3, 1, 2, 0}, []bool{true, true, false, false}, own, 0.95); e.Value != 0.75 || math.Abs(e.SE-math.Sqrt(0.125)) > 1e-15 {
		t.Errorf("DeLong: %v ± %v, want 0.75 ± %v", e.Value, e.SE, math.Sqrt(0.125))
	}
	if e = ClusteredAUROC(scores, []bool{true, true, true, true, true}, own, 0.95); e.Defined() {
		t.Errorf("one class: %v, want undefined", e.Value)
	}
	if e = ClusteredAUROC(scores, positive, []string{"a", "a", "a", "b", "b"}, 0.95); !e.Defined() || e.HasInterval {
		t.Errorf("one cluster of a kind: %+v, want no interval", e)
	}
}
