package stats

import "math"

// FewestLabels is how many labelled items a prediction-powered mean should have:
// with fewer its interval, which takes the mean of their differences from the
// judge for normal, promises more than it keeps.
const FewestLabels = 10

// A Prediction is a prediction-powered mean: what people would have said of all
// items, estimated from their labels of some and a judge's scores of all.
type Prediction struct {
	Value  Number
	SE     Number
	Bounds        // Value ± z SE, not clipped
	Lambda Number // how much the judge counts, 0 to 1
}

// PPI is the prediction-powered mean with the tuning of PPI++: human and judge
// are the labels and the judge's scores of the labelled items, others the judge's
// scores of the items without a label. With λ chosen to make the variance small,
//
//	λ mean(others) + mean(human - λ judge)
//
// It is unbiased whatever the judge is worth, if the labelled items are a random
// sample of all. It is undefined for fewer than two labelled items or no other.
//
// Source: Angelopoulos et al. 2023, "Prediction-powered inference" and "PPI++".
func PPI(human, judge, others []float64, level float64) Prediction {
	return predict(human, judge, others, level, tuned(human, judge, others))
}

func predict(human, judge, others []float64, level, lambda float64) Prediction {
	n, m := len(human), len(others)
	if n < 2 || m < 1 {
		return Prediction{}
	}
	out := Prediction{Lambda: Of(lambda)}
	rest := make([]float64, n)
	for i, y := range human {
		rest[i] = y - lambda*judge[i]
	}
	v := lambda*meanOf(others) + meanOf(rest)
	se := math.Sqrt(lambda*lambda*spread(others, others)/float64(m) + spread(rest, rest)/float64(n))
	out.Value, out.SE = Of(v), Of(se)
	out.Bounds = around(v, normalQuantile(level)*se)
	return out
}

// tuned is the λ in [0, 1] of least variance; 0 for a judge that says one thing
// only.
func tuned(human, judge, others []float64) float64 {
	n, m := float64(len(human)), float64(len(others))
	if n < 2 || m < 1 {
		return 0
	}
	pooled := append(append(make([]float64, 0, len(judge)+len(others)), judge...), others...)
	variance := spread(pooled, pooled) * (n + m) / (n + m - 1)
	if variance == 0 || constant(pooled) {
		return 0
	}
	return clamp(spread(human, judge) / ((1 + n/m) * variance))
}

// spread is the covariance of x and y with the divisor n.
func spread(x, y []float64) float64 {
	mx, my := meanOf(x), meanOf(y)
	var sum float64
	for i := range x {
		sum += (x[i] - mx) * (y[i] - my)
	}
	return sum / float64(len(x))
}
