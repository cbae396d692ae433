package stats

import (
	"encoding/json"
	"math"
)

// A Number is a statistic that may not be defined. The zero Number is not
// defined. As JSON it is a number or null.
type Number struct {
	Value   float64 // 0 unless Defined
	Defined bool
}

// Of is the defined number v; a v that is not finite is not defined.
func Of(v float64) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number{}
	}
	return Number{Value: v, Defined: true}
}

// FractionOf is num/den, undefined if den is 0.
func FractionOf(num, den float64) Number {
	if den == 0 {
		return Number{}
	}
	return Of(num / den)
}

// Pointer is nil for a number that is not defined.
func (n Number) Pointer() *float64 {
	if !n.Defined {
		return nil
	}
	return &n.Value
}

// MarshalJSON writes null for a number that is not defined.
func (n Number) MarshalJSON() ([]byte, error) { return json.Marshal(n.Pointer()) }

// UnmarshalJSON reads null as a number that is not defined.
func (n *Number) UnmarshalJSON(data []byte) error {
	var v *float64
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*n = Number{}
	if v != nil {
		*n = Of(*v)
	}
	return nil
}

// Bounds are the ends of an interval that may not be defined.
type Bounds struct{ Low, High Number }

// Defined reports whether there is an interval.
func (b Bounds) Defined() bool { return b.Low.Defined && b.High.Defined }

// around is v ± half.
func around(v, half float64) Bounds { return Bounds{Of(v - half), Of(v + half)} }
