package compare

import (
	"cmp"
	"slices"

	"ibid/metrics"
	"ibid/metrics/stats"
)

// rank orders the sides by a quantity. Of k sides, the intervals of the k(k-1)/2
// differences are made at the level 1 - (1-level)/(k(k-1)/2), so that with a chance
// of level all of them hold (Bonferroni); whoever is beyond 0 is surely better.
// Ranks that follow from intervals that hold together hold together, too.
//
// Source: Bonferroni; ranks as in Klein, Wright & Wieczorek 2020.
func (c *comparison) rank(q Quantity) (Ranking, error) {
	out := Ranking{Metric: q.Metric.Name, Agg: q.agg(), Direction: int(q.Metric.Direction), Places: []Place{}}
	k := len(c.sides)
	joint := c.tester
	joint.level = 1 - (1-c.level)/float64(k*(k-1)/2)
	alone := 1 - (1-c.level)/float64(k)
	for i, s := range c.sides {
		p, ok, err := c.place(s, q, alone)
		if err != nil {
			return out, err
		}
		if p.Side = i; ok {
			out.Places = append(out.Places, p)
		}
	}
	better := make(map[[2]int]bool) // surely
	for a := range k {
		for b := a + 1; b < k; b++ {
			p := c.pairings[[2]int{a, b}]
			if p == nil {
				p = pair(c.sides[a], c.sides[b])
			}
			d, err := joint.difference(p, q, nil, nil)
			if err != nil {
				return out, err
			}
			if d.Low == nil || *d.Low == *d.High {
				continue // an interval without width is no certainty
			}
			sign := cmp.Or(float64(out.Direction), 1)
			low, high := sign**d.Low, sign**d.High
			better[[2]int{b, a}] = min(low, high) > 0
			better[[2]int{a, b}] = max(low, high) < 0
		}
	}
	out.settle(better)
	return out, nil
}

// place estimates one side by itself.
func (c *comparison) place(s *rowSet, q Quantity, level float64) (Place, bool, error) {
	alone := *c
	alone.level = level
	e, err := alone.estimate(s, q)
	p := Place{Estimate: e.Value}
	if e.HasInterval {
		p.Low, p.High = new(e.Low), new(e.High)
	}
	return p, e.Defined(), err
}

// estimate is a quantity over the rows of a side, as a summary has it.
func (c *comparison) estimate(s *rowSet, q Quantity) (stats.Estimate, error) {
	values, err := s.run.series(q)
	if err != nil {
		return stats.Estimate{}, err
	}
	clusters := clusterCodes{}
	var g stats.Grouper
	for _, row := range s.rows {
		switch code := clusters.code(s.run.clusters[row]); {
		case !values.has[row]:
		case q.Micro:
			g.AddRatio(code, values.num[row], values.den[row])
		default:
			g.Add(code, values.value[row])
		}
	}
	var sums stats.Clusters
	g.Drain(&sums)
	switch unit := q.Metric.Min == 0 && q.Metric.Max == 1; {
	case q.Micro && unit:
		return sums.Ratio(c.level), nil
	case q.Micro:
		return sums.DeltaT(c.level), nil
	case q.Metric.Kind == metrics.Binary:
		return sums.Proportion(c.level), nil
	}
	return sums.MeanEffective(c.level), nil
}

// settle bounds the ranks and sorts the places.
func (r *Ranking) settle(better map[[2]int]bool) {
	n := len(r.Places)
	for i := range r.Places {
		p := &r.Places[i]
		p.Best, p.Worst = 1, n
		for _, other := range r.Places {
			if better[[2]int{other.Side, p.Side}] {
				p.Best++
			}
			if better[[2]int{p.Side, other.Side}] {
				p.Worst--
			}
		}
		p.Sure = n > 1 && p.Worst == 1
		p.Tied = n > 1 && p.Best == 1 && p.Worst > 1
	}
	sign := cmp.Or(float64(r.Direction), 1)
	slices.SortStableFunc(r.Places, func(a, b Place) int { return cmp.Compare(sign*b.Estimate, sign*a.Estimate) })
}
