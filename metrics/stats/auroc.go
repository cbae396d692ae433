package stats

import (
	"math"

	"ibid"
)

// AUROCLogitT is the interval of [ClusteredAUROC]: ± t times the standard error over
// clusters on the logit scale, carried back to (0, 1).
const AUROCLogitT Method = "auroc-logit-t"

// auroc is the chance that a positive item has a higher score than a negative
// one, ties counting half: the area under the ROC curve. It is undefined without
// items of either kind.
func auroc(scores []float64, positive []bool) ibid.Number {
	ranks := Ranks(scores)
	var sum, p, n float64
	for i, yes := range positive {
		if yes {
			p++
			sum += ranks[i]
		} else {
			n++
		}
	}
	return FractionOf(sum-p*(p+1)/2, p*n)
}

// ClusteredAUROC is [auroc] with an interval over clusters; clusters has the name of
// each item's. Rows of one cluster need not be independent, and a cluster may have
// items of both kinds.
//
// The interval is t on the logit scale, with as many degrees of freedom as the kind
// that is in fewer clusters has clusters, less one. Without standard error or with an
// AUROC of 0 or 1 it is Wilson's with that t and that number of trials. It is undefined where a
// kind is in fewer than two clusters.
//
// Source: Obuchowski 1997, equations 3 to 7, for the standard error.
func ClusteredAUROC(scores []float64, positive []bool, clusters []string, level float64) Estimate {
	e := Estimate{Level: level, Method: AUROCLogitT, N: int64(len(scores)), Reason: ibid.ZeroDenominator}
	area := auroc(scores, positive)
	if !area.Known() {
		return e
	}
	e.Value, e.Reason = area.Value, ibid.Defined
	c := aurocClusters(aurocComponents(scores, positive), positive, clusters, e.Value)
	e.Clusters = c.all
	if c.least < 2 {
		e.warn(OneCluster, "all items of one kind share a cluster, so there is no interval")
		return e
	}
	e.auroc(c.stdErr(), float64(c.least))
	return e
}

// auroc sets the interval of an AUROC with a standard error, where the kind of item that is
// in fewer clusters has so many.
func (e *Estimate) auroc(se, least float64) {
	e.SE, e.HasSE = se, true
	if e.SE == 0 || e.Value == 0 || e.Value == 1 {
		e.Method, e.Effective = WilsonClusterT, least
		e.setInterval(wilson(e.Value*least, least, studentPoint(e.Level, least-1)))
		return
	}
	logit := math.Log(e.Value / (1 - e.Value))
	half := studentPoint(e.Level, least-1) * e.SE / (e.Value * (1 - e.Value))
	e.setInterval(logistic(logit-half), logistic(logit+half))
}

// DependentAUROC is [auroc] of items that depend on each other as of says; units has the
// unit of each. A positive item adds its component less the AUROC over the positive items to
// the error, a negative one over the negative items; what they add up to has the standard
// error of [Dependence.Spread]. There are as many degrees of freedom as the kind with fewer
// effective documents has of them, less one; with fewer than two there is no interval.
func DependentAUROC(scores []float64, positive []bool, units []int32, of *Dependence, level float64) Estimate {
	e := Estimate{Level: level, Method: AUROCLogitT, N: int64(len(scores)), Reason: ibid.ZeroDenominator}
	area := auroc(scores, positive)
	if !area.Known() {
		return e
	}
	e.Value, e.Reason = area.Value, ibid.Defined
	var kinds [2]float64
	for _, yes := range positive {
		kinds[kindOf(yes)]++
	}
	var sums [3][]Sum // of negative items, of positive ones, and of all
	for i := range sums {
		sums[i] = make([]Sum, of.Units)
	}
	for i, v := range aurocComponents(scores, positive) {
		kind := kindOf(positive[i])
		for _, k := range []int{kind, 2} {
			s := &sums[k][units[i]]
			s.Y, s.Rows = s.Y+(v-e.Value)/kinds[kind], s.Rows+1
		}
	}
	all := of.Spread(sums[2], 0, 1)
	least := min(all.Effective, of.Spread(sums[0], 0, 1).Effective, of.Spread(sums[1], 0, 1).Effective)
	if e.Clusters, e.how = int64(all.Effective), all.How; least < 2 {
		e.warn(OneCluster, "all items of one kind share a document, so there is no interval")
		return e
	}
	e.auroc(all.SE, least)
	return e
}

// aurocComponents are, for each positive item, the share of the negative ones that it
// scores above, and for each negative item the share of the positive ones that score
// above it; ties count half.
func aurocComponents(scores []float64, positive []bool) []float64 {
	var own [2][]float64
	for i, s := range scores {
		own[kindOf(positive[i])] = append(own[kindOf(positive[i])], s)
	}
	all := Ranks(scores)
	within := [2][]float64{Ranks(own[0]), Ranks(own[1])}
	next := [2]int{}
	out := make([]float64, len(scores))
	for i := range scores {
		k := kindOf(positive[i])
		below := (all[i] - within[k][next[k]]) / float64(len(own[1-k]))
		next[k]++
		if out[i] = below; k == 0 {
			out[i] = 1 - below
		}
	}
	return out
}

func kindOf(positive bool) int {
	if positive {
		return 1
	}
	return 0
}

// An aurocSpread is what the components of an AUROC add up to over clusters.
type aurocSpread struct {
	all, least int64      // clusters; those of the kind that is in fewer
	in         [2]float64 // clusters that have negative and positive items
	items      [2]float64
	squares    [2]float64 // of the deviations of clusters
	product    float64
}

func aurocClusters(components []float64, positive []bool, clusters []string, area float64) aurocSpread {
	type sums struct{ n, dev [2]float64 }
	index := make(map[string]int)
	var of []sums // in the order in which clusters come, so that sums have one order
	for i, v := range components {
		at, known := index[clusters[i]]
		if !known {
			at = len(of)
			index[clusters[i]] = at
			of = append(of, sums{})
		}
		k := kindOf(positive[i])
		of[at].n[k]++
		of[at].dev[k] += v - area
	}
	out := aurocSpread{all: int64(len(of))}
	for _, s := range of {
		for k := range 2 {
			if s.n[k] > 0 {
				out.in[k]++
				out.items[k] += s.n[k]
				out.squares[k] += s.dev[k] * s.dev[k]
			}
		}
		out.product += s.dev[0] * s.dev[1]
	}
	out.least = int64(min(out.in[0], out.in[1]))
	return out
}

// stdErr needs two clusters of either kind.
func (a *aurocSpread) stdErr() float64 {
	variance := 0.0
	for k := range 2 {
		variance += a.in[k] / (a.in[k] - 1) * a.squares[k] / (a.items[k] * a.items[k])
	}
	g := float64(a.all)
	variance += 2 * g / (g - 1) * a.product / (a.items[0] * a.items[1])
	return math.Sqrt(max(0, variance))
}

// logistic is the inverse of the logit.
func logistic(z float64) float64 {
	if z < 0 {
		e := math.Exp(z)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-z))
}
