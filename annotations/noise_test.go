package annotations

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestMeasureNoise: variances that scores were drawn with come out again, with
// items judged a different number of times.
func TestMeasureNoise(t *testing.T) {
	const judge, sample = 0.1, 0.2
	rng := rand.New(rand.NewPCG(3, 4))
	var scores [][]float64
	for i := range 20_000 {
		at, again := 0.5+sample*rng.NormFloat64(), make([]float64, 1+i%3)
		for k := range again {
			again[k] = at + judge*rng.NormFloat64()
		}
		scores = append(scores, again)
	}
	n := MeasureNoise(scores)
	if n.Items != 20_000 || math.Abs(n.Judge/(judge*judge)-1) > 0.03 || math.Abs(n.Sample/(sample*sample)-1) > 0.03 {
		t.Errorf("variance of a judgment %v, of items %v", n.Judge, n.Sample)
	}
	if share, ok := n.Share(); !ok || math.Abs(share-0.2) > 0.01 {
		t.Errorf("the judge's part is %v", share)
	}
	if math.Abs(n.MeanSE()-judge/math.Sqrt(20_000)) > 2e-5 {
		t.Errorf("se of the mean %v", n.MeanSE())
	}
	// By hand: means 2 and 5, 2 within items over 1 judgment more than items; 6 between them,
	// each judged 4/3 times on average.
	if n := MeasureNoise([][]float64{{1, 3}, {5}}); n.Judge != 2 || math.Abs(n.Sample-3) > 1e-12 || n.Items != 2 || n.Judgments != 3 {
		t.Errorf("%+v, want variances of 2 and 3", n)
	} else if share, ok := n.Share(); !ok || math.Abs(share-0.4) > 1e-12 {
		t.Errorf("the judge's part is %v of 2 + 3", share)
	}
	if n := MeasureNoise([][]float64{{1, 9}, {5}}); n.Judge != 32 || n.Sample != 0 {
		t.Errorf("%+v, want no variance of items", n)
	}
	if n := MeasureNoise([][]float64{{1, 1}, {1, 1}}); n.Judge != 0 || n.Sample != 0 {
		t.Errorf("without any spread: %+v", n)
	} else if _, ok := n.Share(); ok {
		t.Error("nothing varied, and yet the judge has a part in it")
	}
	if MeasureNoise([][]float64{{1}, {0}}) != nil || MeasureNoise([][]float64{{1, 0}}) != nil {
		t.Error("noise without a second judgment, or of one item only")
	}
}
