package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAUROC compares the area with its definition, over all pairs.
func TestAUROC(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 50 {
		n := 4 + r.IntN(20)
		scores, positive := make([]float64, n), make([]bool, n)
		for i := range scores {
			scores[i], positive[i] = float64(r.IntN(6)), i%3 == 0
		}
		area, pairs := 0.0, 0.0
		for i := range scores {
			for j := range scores {
				if positive[i] && !positive[j] {
					pairs++
					switch {
					case scores[i] > scores[j]:
						area++
					case scores[i] == scores[j]:
						area += 0.5
					}
				}
			}
		}
		if e := AUROC(scores, positive, NewRows[int](nil, nil), 0.95); math.Abs(e.Value-area/pairs) > 1e-12 || !e.HasInterval {
			t.Errorf("%v of %v: %+v, want %v", scores, positive, e, area/pairs)
		}
	}
}
