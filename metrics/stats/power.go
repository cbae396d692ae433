package stats

import "math"

// A Design says what a comparison is to find: a true difference with chance Power when
// p <= Alpha counts as found.
type Design struct {
	Alpha float64 // two-sided, in (0, 1)
	Power float64 // in (0, 1)
}

// DefaultDesign is what is asked for unless told otherwise.
var DefaultDesign = Design{Alpha: 0.05, Power: 0.8}

// Detectable is the least difference, in magnitude, that a t test with df > 0 degrees of
// freedom finds as designed with the given standard error: (t_(1-α/2) + t_power) se. That
// the difference might be found with the wrong sign is left out of account. It is
// undefined for a negative or not finite se, and for a design out of range.
func (d Design) Detectable(se, df float64) (mde float64, ok bool) {
	if !validLevel(d.Alpha) || !validLevel(d.Power) || !(se >= 0) || math.IsInf(se, 0) || !(df > 0) {
		return 0, false
	}
	sign := 1.0
	if d.Power < 0.5 {
		sign = -1
	}
	return (studentPoint(1-d.Alpha, df) + sign*studentPoint(math.Abs(2*d.Power-1), df)) * se, true
}
