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

// Took is what the answers of a system took; of all systems, if it is "".
func (r *Run) Took(system string) (Took, error) { return side(r, system, nil).took() }

// took reads what the answers of the rows took. A value that no answer can take,
// below 0 or not finite, is not known.
func (s *rowSet) took() (t Took, err error) {
	for _, of := range []struct {
		column string
		mean   **Mean
	}{
		{"answer_cost_usd", &t.CostUSD},
		{"answer_tokens", &t.Tokens},
		{"answer_latency_ms", &t.LatencyMillis},
	} {
		values, has, err := s.run.numbers(of.column)
		if err != nil {
			return t, err
		}
		var m Mean
		for _, i := range s.rows {
			if v := values[i]; has[i] && v >= 0 && !math.IsInf(v, 0) {
				m.N++
				m.Value += (v - m.Value) / float64(m.N)
			}
		}
		if m.N > 0 {
			*of.mean = &m
		}
	}
	return t, nil
}
