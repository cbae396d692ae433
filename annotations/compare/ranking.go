package compare

import (
	"cmp"
	"slices"
	"sort"

	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// rank orders the sides by a quantity, over the rows that all of them have a value for.
// A side that lacks the value of too many rows is set aside first, see [Ranking.Aside].
// Of k sides, the intervals of the k(k-1)/2 differences are made at the level
// 1 - (1-level)/(k(k-1)/2), so that with a chance of level all of them hold
// (Bonferroni); whoever is beyond 0 is surely better. Ranks that follow from intervals
// that hold together hold together, too. Of more than 20 sides, the intervals of the k
// values themselves are, each at 1 - (1-level)/k: those that do not overlap differ surely.
//
// Source: Bonferroni; ranks as in Klein, Wright & Wieczorek 2020.
func (c *comparison) rank(q Quantity) (Ranking, error) {
	out := Ranking{Metric: q.Metric.Name, Agg: q.agg(), Direction: int(q.Metric.Direction), Places: []Place{}, Aside: []Aside{}}
	ranked, common, err := c.contest(q, &out)
	if err != nil || len(ranked) == 0 {
		return out, err
	}
	k := len(ranked)
	joint := c.tester
	joint.level = 1 - (1-c.level)/float64(max(k*(k-1)/2, 1))
	alone := 1 - (1-c.level)/float64(k)
	kept := make(map[int]*rowSet) // rows of each side that count
	for _, i := range ranked {
		s := c.sides[i]
		kept[i] = &rowSet{run: s.run, system: s.system}
		for _, row := range s.rows {
			if common[s.question(row)] {
				kept[i].rows = append(kept[i].rows, row)
			}
		}
		p, ok, err := c.place(kept[i], q, alone)
		if err != nil {
			return out, err
		}
		if p.Side = i; ok {
			out.Places = append(out.Places, p)
		}
		if k > manySides {
			delete(kept, i)
		}
	}
	if k > manySides {
		out.settleApart()
		return out, nil
	}
	better := make(map[[2]int]bool) // surely
	for n, a := range ranked {
		for _, b := range ranked[n+1:] {
			d, err := joint.difference(pair(kept[a], kept[b]), q)
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

// contest finds the sides that can be ranked by a quantity and the questions that they
// are ranked over: those for which all of them have a value. Before, it sets aside the
// sides that have a value for too few of the questions that at least half of all sides
// answered: leaving out hard questions must not pay.
func (c *comparison) contest(q Quantity, out *Ranking) (ranked []int, common map[uint64]bool, err error) {
	answered := make(map[uint64]int)
	for _, s := range c.sides {
		for _, row := range s.rows {
			answered[s.question(row)]++
		}
	}
	asked := int64(0)
	for _, n := range answered {
		if 2*n >= len(c.sides) {
			asked++
		}
	}
	const least = metrics.MinDefined
	values := make(map[uint64]int) // sides with a value
	var known func(row int32) float64
	var withheld func(rows []int32) (string, error)
	var excused []bool // rows of the run; nil until they are asked for
	for i, s := range c.sides {
		series, err := s.run.series(q)
		if err != nil {
			return nil, nil, err
		}
		if i == 0 || s.run != c.sides[i-1].run {
			if known, err = s.run.known(&q.Metric); err != nil {
				return nil, nil, err
			}
			if withheld, err = s.run.withheld(q); err != nil {
				return nil, nil, err
			}
			excused = nil
		}
		var has []uint64
		a := Aside{Side: i, Rows: asked}
		for _, row := range s.rows {
			if k := s.question(row); series.has[row] {
				has = append(has, k)
				if 2*answered[k] >= len(c.sides) && !series.lacks(row) {
					a.Defined += known(row)
				}
			}
		}
		if a.Defined < least*float64(a.Rows) {
			if excused == nil {
				if excused, err = s.run.excused(q.Metric.Name); err != nil {
					return nil, nil, err
				}
			}
			for _, row := range s.rows {
				if excused[row] && 2*answered[s.question(row)] >= len(c.sides) {
					a.Rows--
				}
			}
		}
		if a.Reason, err = withheld(s.rows); err != nil {
			return nil, nil, err
		}
		if len(has) == 0 || a.Defined < least*float64(a.Rows) || a.Reason != "" {
			out.Aside = append(out.Aside, a)
			continue
		}
		ranked = append(ranked, i)
		for _, k := range has {
			values[k]++
		}
	}
	common = make(map[uint64]bool)
	for k, n := range values {
		if n == len(ranked) {
			common[k] = true
		}
	}
	if out.Rows = int64(len(common)); out.Rows == 0 {
		ranked = nil
	}
	return ranked, common, nil
}

// withheld returns a function that says why a metric has no estimate over some rows: too many
// items are undecided, a pooled value lacks rows, or the mean lies outside its bounds. It
// returns "" if the metric has an estimate.
func (r *Run) withheld(q Quantity) (func(rows []int32) (string, error), error) {
	values, err := r.series(q)
	if err != nil {
		return nil, err
	}
	low, bounded, err := r.numbers(q.Metric.Name + runs.LowSuffix)
	if err != nil {
		return nil, err
	}
	high, _, err := r.numbers(q.Metric.Name + runs.HighSuffix)
	return func(all []int32) (string, error) {
		undecided, err := r.undecidable(&q.Metric, all)
		switch {
		case err != nil:
			return "", err
		case q.Micro && values.countLeft(all) > 0:
			return runs.NotPooledText, nil
		case q.Micro && !undecided:
			return "", nil
		}
		var sum, least, most, defined, rows float64
		for _, row := range all {
			v := values.value[row]
			if values.has[row] {
				sum, defined = sum+v, defined+1
			}
			switch {
			case bounded[row] && !values.lacks(row):
				least, most, rows = least+low[row], most+high[row], rows+1
			case values.has[row]:
				least, most, rows = least+v, most+v, rows+1
			}
		}
		least, most = least/rows, most/rows
		switch {
		case undecided && (q.Micro || rows == 0):
			return runs.WithheldText(runs.Undecided, nil, nil), nil
		case undecided:
			return runs.WithheldText(runs.Undecided, &least, &most), nil
		case defined > 0 && runs.IsSelective(sum/defined, least, most):
			return runs.WithheldText(runs.Selective, &least, &most), nil
		}
		return "", nil
	}, err
}

// place estimates one side by itself.
func (c *comparison) place(s *rowSet, q Quantity, level float64) (Place, bool, error) {
	alone := *c
	alone.level = level
	e, err := alone.estimate(s, q)
	p := Place{Estimate: e.Value}
	_, p.Low, p.High = e.Nullable()
	return p, e.Defined(), err
}

// estimate is a quantity over the rows of a side, as a summary has it.
func (c *comparison) estimate(s *rowSet, q Quantity) (stats.Estimate, error) {
	values, err := s.run.series(q)
	if err != nil {
		return stats.Estimate{}, err
	}
	return s.estimate(q, values, c.level), nil
}

// settle bounds the ranks by who is surely better than whom.
func (r *Ranking) settle(better map[[2]int]bool) {
	for i := range r.Places {
		p := &r.Places[i]
		above, below := 0, 0
		for _, other := range r.Places {
			if better[[2]int{other.Side, p.Side}] {
				above++
			}
			if better[[2]int{p.Side, other.Side}] {
				below++
			}
		}
		p.between(above, below, len(r.Places))
	}
	r.sort()
}

// settleApart bounds the ranks by intervals that do not overlap. A place without an
// interval, or with one without width, is apart from no other.
func (r *Ranking) settleApart() {
	sign := cmp.Or(float64(r.Direction), 1)
	ends := func(p *Place) (low, high float64, ok bool) {
		if p.Low == nil || *p.Low == *p.High {
			return 0, 0, false
		}
		low, high = sign**p.Low, sign**p.High
		return min(low, high), max(low, high), true
	}
	var lows, highs []float64
	for i := range r.Places {
		if low, high, ok := ends(&r.Places[i]); ok {
			lows, highs = append(lows, low), append(highs, high)
		}
	}
	slices.Sort(lows)
	slices.Sort(highs)
	for i := range r.Places {
		above, below := 0, 0
		if low, high, ok := ends(&r.Places[i]); ok {
			above = len(lows) - sort.Search(len(lows), func(n int) bool { return lows[n] > high })
			below = sort.SearchFloat64s(highs, low)
		}
		r.Places[i].between(above, below, len(r.Places))
	}
	r.sort()
}

// between sets the ranks of a place that so many are surely above and below, of n.
func (p *Place) between(above, below, n int) {
	p.Best, p.Worst = 1+above, n-below
	p.Sure = n > 1 && p.Worst == 1
	p.Tied = n > 1 && p.Best == 1 && p.Worst > 1
}

func (r *Ranking) sort() {
	sign := cmp.Or(float64(r.Direction), 1)
	slices.SortStableFunc(r.Places, func(a, b Place) int { return cmp.Compare(sign*b.Estimate, sign*a.Estimate) })
}
