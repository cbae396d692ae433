package stats

import "math"

// A Predicted row is one that a judge scored, and perhaps people, too.
type Predicted struct {
	Cluster string
	Judge   float64
	Human   Number
}

// PPIClusters is [PPI] for rows that share clusters, labelled and other rows
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
// however many others there are. With one row a cluster it is PPI up to the
// correction for few rows. It is undefined for fewer than two labelled rows or no
// other; SE and the interval also where either kind of rows lies in one cluster,
// and where the labels are all alike: that they might have varied is then beyond
// them.
func PPIClusters(rows []Predicted, level float64) Prediction {
	var human, judge, others []float64
	for _, r := range rows {
		if r.Human.Defined {
			human, judge = append(human, r.Human.Value), append(judge, r.Judge)
		} else {
			others = append(others, r.Judge)
		}
	}
	lambda := tuned(human, judge, others)
	out := predict(human, judge, others, level, lambda)
	if !out.Value.Defined {
		return out
	}
	out.SE, out.Bounds = Number{}, Bounds{}
	if constant(human) {
		return out
	}
	meanOther, rest := meanOf(others), 0.0
	for i, y := range human {
		rest += (y - lambda*judge[i]) / float64(len(human))
	}
	labelled, other := clusterErrors{codes: make(map[string]int)}, clusterErrors{codes: make(map[string]int)}
	for _, r := range rows {
		if r.Human.Defined {
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
		out.Bounds = around(out.Value.Value, studentPoint(level, max(1, df))*se)
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
