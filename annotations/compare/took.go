package compare

import "math"

// Took is what answers took on average. Each is over the rows where it is known,
// and nil if it is in none.
type Took struct {
	CostUSD       *Mean `json:"answer_cost_usd"`   // US dollars
	Tokens        *Mean `json:"answer_tokens"`     // read and written
	LatencyMillis *Mean `json:"answer_latency_ms"` // milliseconds
}

// A Mean is the mean of N values.
type Mean struct {
	Value float64 `json:"mean"`
	N     int64   `json:"n"`
}

// TookBySystem is what the answers of each system took.
func (r *Run) TookBySystem() (map[string]Took, error) {
	all, err := r.took(r.systems.codes, len(r.systems.names))
	named := make(map[string]Took, len(all))
	for code, t := range all {
		named[r.systems.names[code]] = t
	}
	return named, err
}

// took reads what answers took, by the number of the side that each row is of, -1 for
// none. A value that no answer can take, below 0 or not finite, is not known.
func (r *Run) took(side []int32, sides int) ([]Took, error) {
	all := make([]Took, sides)
	for _, of := range []struct {
		column string
		mean   func(*Took) **Mean
	}{
		{"answer_cost_usd", func(t *Took) **Mean { return &t.CostUSD }},
		{"answer_tokens", func(t *Took) **Mean { return &t.Tokens }},
		{"answer_latency_ms", func(t *Took) **Mean { return &t.LatencyMillis }},
	} {
		means := make([]Mean, sides)
		values, has, err := r.numbers(of.column)
		if err != nil {
			return nil, err
		}
		for row, v := range values {
			if has[row] && v >= 0 && !math.IsInf(v, 0) && side[row] >= 0 {
				m := &means[side[row]]
				m.N++
				m.Value += (v - m.Value) / float64(m.N)
			}
		}
		for i := range means {
			if means[i].N > 0 {
				*of.mean(&all[i]) = &means[i]
			}
		}
	}
	return all, nil
}

// took sets what the answers of all sides took. No two sides share a row.
func (c *comparison) took() error {
	for i := 0; i < len(c.result.Sides); {
		run := c.groups[0].rows[i].run
		side := make([]int32, len(run.questions))
		for row := range side {
			side[row] = -1
		}
		from := i
		for ; i < len(c.result.Sides) && (i == from || c.result.By != "run"); i++ {
			for _, g := range c.groups {
				for _, row := range g.rows[i].rows {
					side[row] = int32(i - from)
				}
			}
		}
		all, err := run.took(side, i-from)
		if err != nil {
			return err
		}
		for k, t := range all {
			c.result.Sides[from+k].Took = t
		}
	}
	return nil
}
