package stats

import (
	"math"

	"ibid"
)

// FewestLabels is how many labelled items a prediction-powered mean should have:
// with fewer its interval, which takes the mean of their differences from the
// judge for normal, promises more than it keeps.
const FewestLabels = 10

// A Prediction is a prediction-powered mean: what people would have said of all
// items, estimated from their labels of some and a judge's scores of all.
type Prediction struct {
	Value  ibid.Number
	SE     ibid.Number
	Bounds             // Value ± z SE, not clipped; of [PPIClusters] within its bounds
	Lambda ibid.Number // how much the judge counts, 0 to 1
}

// predict is the prediction-powered mean: human and judge are the labels and the judge's
// scores of the labelled items, others the judge's scores of the items without a label.
// With the λ of [tuned] its variance is least.
//
//	λ mean(others) + mean(human - λ judge)
//
// It is unbiased whatever the judge is worth, if the labelled items are a random
// sample of all. It is undefined for fewer than two labelled items or no other.
//
// Source: Angelopoulos et al. 2023, "Prediction-powered inference" and "PPI++".
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
	out.Bounds = around(v, NormalQuantile(level)*se)
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

// A Predicted row is one that a judge scored, and perhaps people, too.
type Predicted struct {
	Cluster string
	Judge   float64
	Human   ibid.Number
}

// PPIClusters is the prediction-powered mean with the tuning of PPI++ (see [predict]) for rows that share clusters, labelled and other rows
// alike. Each row adds s_i to the error of the estimate: (y_i - λ f_i - mean)/n if
// it is labelled, λ (F_i - mean)/N if not. With a_g and b_g the sums of the
// labelled and of the other rows of a cluster, and G_a and G_b the clusters that
// have such rows,
//
//	se² = A + B + 2 Σ_g a_g b_g,  A = G_a/(G_a-1) Σ_g a_g²,  B = G_b/(G_b-1) Σ_g b_g²
//
// and the interval has t with the degrees of freedom of Satterthwaite,
//
//	(A + B)² / (A²/(G_a-1) + B²/(G_b-1))
//
// so that labels of a few clusters promise no more than those clusters can tell,
// however many others there are. With one row a cluster it is that of independent rows up to the
// correction for few rows. It is undefined for fewer than two labelled rows or no
// other; SE and the interval also where either kind of rows lies in one cluster,
// and where the labels are all alike: that they might have varied is then beyond
// them.
//
// low and high are the bounds of the metric, -width and width for differences of it, or
// infinite. Within bounds the interval is on the logit scale, and none if the mean is
// not strictly between them: being unbiased it may be beyond.
func PPIClusters(rows []Predicted, level, low, high float64) Prediction {
	var human, judge, others []float64
	for _, r := range rows {
		if r.Human.Known() {
			human, judge = append(human, r.Human.Value), append(judge, r.Judge)
		} else {
			others = append(others, r.Judge)
		}
	}
	lambda := tuned(human, judge, others)
	out := predict(human, judge, others, level, lambda)
	if !out.Value.Known() {
		return out
	}
	out.SE, out.Bounds = ibid.Number{}, Bounds{}
	if constant(human) {
		return out
	}
	meanOther, rest := meanOf(others), 0.0
	for i, y := range human {
		rest += (y - lambda*judge[i]) / float64(len(human))
	}
	labelled, other := clusterErrors{codes: make(map[string]int)}, clusterErrors{codes: make(map[string]int)}
	for _, r := range rows {
		if r.Human.Known() {
			labelled.add(r.Cluster, (r.Human.Value-lambda*r.Judge-rest)/float64(len(human)))
		} else {
			other.add(r.Cluster, lambda*(r.Judge-meanOther)/float64(len(others)))
		}
	}
	if len(labelled.sums) < 2 || len(other.sums) < 2 {
		return out
	}
	a, b := labelled.variance(), other.variance()
	se := math.Sqrt(max(0, a+b+2*labelled.product(&other)))
	out.SE = Of(se)
	if se > 0 {
		df := (a + b) * (a + b) / (a*a/labelled.freedom() + b*b/other.freedom())
		half, width := studentPoint(level, max(1, df))*se, high-low
		switch v := out.Value.Value; {
		case math.IsInf(width, 0):
			out.Bounds = around(v, half)
		case low < v && v < high:
			bottom, top := onLogit(v, half, low, width)
			out.Bounds = Bounds{Of(bottom), Of(top)}
		}
	}
	return out
}

// clusterErrors are what rows add to the error of an estimate, summed by cluster,
// the clusters in the order in which they come.
type clusterErrors struct {
	codes    map[string]int
	clusters []string
	sums     []float64
}

func (c *clusterErrors) add(cluster string, v float64) {
	k, ok := c.codes[cluster]
	if !ok {
		k = len(c.sums)
		c.codes[cluster] = k
		c.clusters, c.sums = append(c.clusters, cluster), append(c.sums, 0)
	}
	c.sums[k] += v
}

// freedom is the number of clusters less one.
func (c *clusterErrors) freedom() float64 { return float64(len(c.sums) - 1) }

func (c *clusterErrors) variance() (v float64) {
	for _, s := range c.sums {
		v += s * s
	}
	return v * (c.freedom() + 1) / c.freedom()
}

// product sums the products of two kinds of rows over the clusters that have both.
func (c *clusterErrors) product(o *clusterErrors) (v float64) {
	for i, cluster := range c.clusters {
		if k, ok := o.codes[cluster]; ok {
			v += c.sums[i] * o.sums[k]
		}
	}
	return v
}
