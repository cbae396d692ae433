package stats

import "math"

// A Predicted row is one that a judge scored, and perhaps people, too.
type Predicted struct {
	Cluster string
	Judge   float64
	Human   Number
}

// PPIClusters is [PPI] for rows that share clusters, labelled and other rows
// alike: the standard error sums what each row adds to the estimate by cluster,
//
//	se² = G/(G-1) Σ_g (Σ_{i in g} s_i)²
//
// with s_i = (y_i - λ f_i - mean)/n for a labelled row and λ (F_i - mean)/N for
// another, and the interval has t(G-1). With one row a cluster it is PPI up to
// the correction for few rows. It is undefined for fewer than two labelled rows or
// no other; SE and the interval also for fewer than two clusters, and where the
// labels are all alike: that they might have varied is then beyond them.
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
	meanOther, rest := meanOf(others), 0.0
	for i, y := range human {
		rest += (y - lambda*judge[i]) / float64(len(human))
	}
	codes := make(map[string]int)
	var sums []float64
	for _, r := range rows {
		k, ok := codes[r.Cluster]
		if !ok {
			k = len(sums)
			codes[r.Cluster] = k
			sums = append(sums, 0)
		}
		if r.Human.Defined {
			sums[k] += (r.Human.Value - lambda*r.Judge - rest) / float64(len(human))
		} else {
			sums[k] += lambda * (r.Judge - meanOther) / float64(len(others))
		}
	}
	out.SE, out.Bounds = Number{}, Bounds{}
	g := float64(len(sums))
	if g < 2 || constant(human) {
		return out
	}
	var total float64
	for _, s := range sums {
		total += s * s
	}
	se := math.Sqrt(g / (g - 1) * total)
	out.SE, out.Bounds = Of(se), around(out.Value.Value, studentQuantile(level, int64(len(sums))-1)*se)
	return out
}
