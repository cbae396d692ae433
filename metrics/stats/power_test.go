package stats

import (
	"math"
	"testing"
)

// TestHalfWidths: as many items as are said to be needed show a kappa and a share as exactly
// as was asked for, and one less does not.
func TestHalfWidths(t *testing.T) {
	for _, half := range []float64{0.02, 0.1, 0.3} {
		_, n := NKappa(0.3, 0.6, half, 0.95)
		if w := KappaHalfWidth(0.3, 0.6, n, 0.95); !w.Known() || w.Value > half || KappaHalfWidth(0.3, 0.6, n-1, 0.95).Value <= half && n > 2 {
			t.Errorf("%d items show a kappa to %v, want %v", n, w, half)
		}
	}
	if KappaHalfWidth(0.3, 0.6, 1, 0.95).Known() || !KappaHalfWidth(0.3, 0.6, 2, 0.95).Known() {
		t.Error("one item shows a kappa, or two show none")
	}
	// By hand: 1.96 · √(0.2·0.8/100) = 0.0784; of 101 items all but one are seen, so 0.00784.
	for _, tt := range []struct {
		n, population int64
		want          float64
	}{{100, 0, 0.0784}, {100, 101, 0.00784}, {100, 100, 0}, {1, 1, 0}, {1, 0, 0.784}, {100, 1_000_000_000, 0.0784}} {
		if w := ProportionHalfWidth(0.2, tt.n, tt.population, 0.95); !w.Known() || math.Abs(w.Value-tt.want) > 1e-4*tt.want {
			t.Errorf("%d of %d items show a share to %v, want %v", tt.n, tt.population, w, tt.want)
		}
	}
	if ProportionHalfWidth(0.2, 0, 0, 0.95).Known() {
		t.Error("no items show a share")
	}
}

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
