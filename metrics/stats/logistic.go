package stats

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Logistic gives the chance of a yes: 1/(1 + exp(-(Intercept + Weights·x))).
type Logistic struct {
	Intercept float64   `json:"intercept"`
	Weights   []float64 `json:"weights"`
}

func logistic(z float64) float64 {
	if z < 0 {
		e := math.Exp(z)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-z))
}

// Why there is no fit.
var (
	ErrOneClass  = errors.New("all items are of one class")
	errNoMinimum = errors.New("the fit does not converge")
	errNoItems   = errors.New("no items")
)

// FitLogistic fits a logistic regression by penalised maximum likelihood: each
// feature is centred and divided by its standard deviation, and half of ridge > 0
// times the sum of the squared weights of those is added to the negative log
// likelihood. The intercept is not penalised. So there is always exactly one
// minimum, also where a feature separates the classes wholly; the weights of a
// feature that does not vary are 0. The result is in the scale of x.
//
// It is found by Newton's method with halved steps, to a gradient below 1e-9, and is
// the same for the same items in the same order.
//
// Source: le Cessie & van Houwelingen 1992; the scale is that of glmnet.
func FitLogistic(x [][]float64, positive []bool, ridge float64) (*Logistic, error) {
	if len(x) == 0 {
		return nil, errNoItems
	}
	yes := 0
	for _, p := range positive {
		if p {
			yes++
		}
	}
	if yes == 0 || yes == len(positive) {
		return nil, ErrOneClass
	}
	k := len(x[0])
	mean, sd := make([]float64, k), make([]float64, k)
	for j := range k {
		for i := range x {
			mean[j] += x[i][j] / float64(len(x))
		}
		for i := range x {
			sd[j] += (x[i][j] - mean[j]) * (x[i][j] - mean[j]) / float64(len(x))
		}
		if sd[j] = math.Sqrt(sd[j]); sd[j] <= 1e-12*math.Abs(mean[j]) {
			sd[j] = math.Inf(1) // it does not vary: its scaled values are 0
		}
	}
	scaled := make([][]float64, len(x))
	for i := range x {
		scaled[i] = make([]float64, k+1)
		scaled[i][0] = 1
		for j := range k {
			scaled[i][j+1] = (x[i][j] - mean[j]) / sd[j]
		}
	}
	w, err := newton(scaled, positive, ridge)
	if err != nil {
		return nil, err
	}
	out := &Logistic{Intercept: w[0], Weights: make([]float64, k)}
	for j := range k {
		out.Weights[j] = w[j+1] / sd[j]
		out.Intercept -= out.Weights[j] * mean[j]
	}
	return out, nil
}

// newton minimises the penalised negative log likelihood; x has a leading 1.
func newton(x [][]float64, positive []bool, ridge float64) ([]float64, error) {
	const rounds, halvings, small = 100, 40, 1e-9
	k := len(x[0])
	w := make([]float64, k)
	loss := func(w []float64) float64 {
		sum := 0.0
		for i := range x {
			z := dot(w, x[i])
			if positive[i] {
				z = -z
			}
			sum += max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
		}
		for _, v := range w[1:] {
			sum += ridge / 2 * v * v
		}
		return sum
	}
	best := loss(w)
	for range rounds {
		gradient, hessian := mat.NewVecDense(k, nil), mat.NewSymDense(k, nil)
		for i := range x {
			p := logistic(dot(w, x[i]))
			off := p
			if positive[i] {
				off = p - 1
			}
			for a := range k {
				gradient.SetVec(a, gradient.AtVec(a)+off*x[i][a])
				for b := a; b < k; b++ {
					hessian.SetSym(a, b, hessian.At(a, b)+p*(1-p)*x[i][a]*x[i][b])
				}
			}
		}
		for a := 1; a < k; a++ {
			gradient.SetVec(a, gradient.AtVec(a)+ridge*w[a])
			hessian.SetSym(a, a, hessian.At(a, a)+ridge)
		}
		if mat.Norm(gradient, math.Inf(1)) < small*float64(len(x)) {
			return w, nil
		}
		var factor mat.Cholesky
		var step mat.VecDense
		if !factor.Factorize(hessian) || factor.SolveVecTo(&step, gradient) != nil {
			return nil, errNoMinimum
		}
		moved := false
		size := 1.0
		for range halvings {
			next := make([]float64, k)
			for a := range k {
				next[a] = w[a] - size*step.AtVec(a)
			}
			if v := loss(next); v < best {
				w, best, moved = next, v, true
				break
			}
			size /= 2
		}
		if !moved { // no step makes it less: rounding is all that is left
			return w, nil
		}
	}
	return nil, errNoMinimum
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}
