package stats

import (
	"math"
	"testing"
)

// TestTouchedF1, by hand: two of three units touch one of one, 2·(2/3)·1/(2/3+1) = 0.8.
func TestTouchedF1(t *testing.T) {
	for _, tt := range []struct {
		p    UnitPair
		want float64 // -1: undefined
	}{
		{UnitPair{FirstUnits: 3, SecondUnits: 1, FirstTouched: 2, SecondTouched: 1}, 0.8},
		{UnitPair{FirstUnits: 3, SecondUnits: 1}, 0},
		{UnitPair{FirstUnits: 3}, 0},
		{UnitPair{}, -1},
	} {
		got := tt.p.TouchedF1()
		if got.Known() != (tt.want >= 0) || got.Known() && math.Abs(got.Value-tt.want) > 1e-12 {
			t.Errorf("%+v: %v, want %v", tt.p, got, tt.want)
		}
	}
}
