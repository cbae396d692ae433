package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// yesChance is that of a yes at x.
func yesChance(l *Logistic, x []float64) float64 { return logistic(l.Intercept + dot(l.Weights, x)) }

// TestFitLogistic: at the minimum the penalised score equations hold, which is the
// definition and knows nothing of the way there.
func TestFitLogistic(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, ridge := range []float64{1e-6, 1, 100} {
		n := 400
		x, positive := make([][]float64, n), make([]bool, n)
		for i := range n {
			x[i] = []float64{r.NormFloat64(), 1000 + 50*r.NormFloat64(), 7}
			positive[i] = r.Float64() < logistic(0.5+1.5*x[i][0]-0.02*(x[i][1]-1000))
		}
		l, err := FitLogistic(x, positive, ridge)
		if err != nil {
			t.Fatal(err)
		}
		if l.Weights[2] != 0 {
			t.Errorf("ridge %g: a constant has weight %v", ridge, l.Weights[2])
		}
		for j := range 2 {
			mean, sd, score := 0.0, 0.0, 0.0
			for i := range x {
				mean += x[i][j] / float64(n)
			}
			for i := range x {
				sd += (x[i][j] - mean) * (x[i][j] - mean) / float64(n)
			}
			sd = math.Sqrt(sd)
			for i := range x {
				y := 0.0
				if positive[i] {
					y = 1
				}
				score += (y - yesChance(l, x[i])) * (x[i][j] - mean) / sd
			}
			if want := ridge * l.Weights[j] * sd; math.Abs(score-want) > 1e-5 {
				t.Errorf("ridge %g, feature %d: score %v, want %v", ridge, j, score, want)
			}
		}
		if ridge < 1 && (math.Abs(l.Weights[0]-1.5) > 0.5 || math.Abs(l.Weights[1]+0.02) > 0.01) {
			t.Errorf("weights %v, planted 1.5 and -0.02", l.Weights)
		}
	}
}

func TestFitLogisticEdges(t *testing.T) {
	// Without a penalty there is no finite maximum.
	x := [][]float64{{0}, {0.1}, {0.9}, {1}}
	l, err := FitLogistic(x, []bool{false, false, true, true}, 1)
	if err != nil || yesChance(l, x[0]) > 0.5 || yesChance(l, x[3]) < 0.5 || math.Abs(l.Weights[0]) > 10 {
		t.Errorf("separated: %+v, %v", l, err)
	}
	if _, err := FitLogistic(x, []bool{true, true, true, true}, 1); !errors.Is(err, ErrOneClass) {
		t.Errorf("one class: %v", err)
	}
	if _, err := FitLogistic(nil, nil, 1); err == nil {
		t.Error("no items: no error")
	}
	again, err := FitLogistic(x, []bool{false, false, true, true}, 1)
	if err != nil || again.Intercept != l.Intercept || again.Weights[0] != l.Weights[0] {
		t.Errorf("twice: %+v and %+v", l, again)
	}
}
