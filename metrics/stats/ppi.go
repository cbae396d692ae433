package stats

import (
	"ibid"
)

// FewestLabels is how many labelled items a prediction-powered mean should have:
// with fewer its interval, which takes the mean of their differences from the
// judge for normal, promises more than it keeps.
const FewestLabels = 10

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

// PPI is the prediction-powered mean with the tuning of PPI++ of a metric between low and
// high: the judge's values of N rows and people's of some, n of them, give
//
//	λ f̄ + mean over the labelled rows of (y − λ f)
//
// with f̄ the mean of the judge's values over all rows. It is unbiased whatever the judge is
// worth, if the labelled rows are a random sample. Each row adds λ(f − f̄)/N to its error, a
// labelled one also (y − λf − mean)/n; weights are in proportion to λ/N and 1/n. It is
// undefined for fewer than two labelled rows or no other.
//
// Source: Angelopoulos et al. 2023, "Prediction-powered inference" and "PPI++".
func PPI(judge []float64, human []ibid.Number, rows *Rows, low, high, level float64) (e Estimate, lambda float64) {
	var labels, of, others []float64
	for i, h := range human {
		if h.Known() {
			labels, of = append(labels, h.Value), append(of, judge[i])
		} else {
			others = append(others, judge[i])
		}
	}
	if len(labels) < 2 || len(others) == 0 {
		return undefined(level), 0
	}
	lambda = tuned(labels, of, others)
	return predict(judge, human, rows, lambda, low, high, level), lambda
}

// predict is [PPI] for some λ, with two labelled rows or more and another one.
func predict(judge []float64, human []ibid.Number, rows *Rows, lambda, low, high, level float64) Estimate {
	var labels, of []float64
	for i, h := range human {
		if h.Known() {
			labels, of = append(labels, h.Value), append(of, judge[i])
		}
	}
	n, all := float64(len(labels)), float64(len(judge))
	// By the weight of unlabelled rows: λ mean(others) + mean(y − λ f) is the same number.
	use := lambda * all / (all - n)
	mean := meanOf(judge)
	rest := meanOf(labels) - float64(use*meanOf(of))
	errors, shares := make([]float64, len(judge)), make([]float64, len(judge))
	total := use + 1
	for i, f := range judge {
		errors[i], shares[i] = use*(f-mean)/all, use/all/total
		if h := human[i]; h.Known() {
			errors[i] += (h.Value - float64(use*f) - rest) / n
			shares[i] += 1 / n / total
		}
	}
	e := rows.within(float64(use*mean)+rest, errors, shares, low, high, level)
	e.N = int64(len(judge))
	return e
}
