package stats

import (
	"math"
	"testing"

	"ibid"
)

// TestUnpaired: expected values are R's t.test(a, b), which is Welch's.
func TestUnpaired(t *testing.T) {
	a, b := single([]float64{0.2, 0.4, 0.9, 1.0, 0.35}), single([]float64{0.1, 0.3, 0.2, 0.5, 0.45, 0.15})
	first, second := a.Mean(0.95), b.Mean(0.95)
	u := NewUnpaired(&first, &second, 0.95)
	if !u.T.Defined() {
		t.Fatalf("%+v", u)
	}
	// By hand: se² = 0.1270/5 + 0.026667/6.
	seA, seB := first.SE*first.SE, second.SE*second.SE
	df := (seA + seB) * (seA + seB) / (seA*seA/4 + seB*seB/5)
	checks := map[string][2]float64{
		"difference": {u.Value, 0.57 - 1.7/6},
		"se":         {u.SE, math.Sqrt(seA + seB)},
		"df":         {u.DF, df},
		"low":        {u.Low, u.Value - studentPoint(0.95, df)*u.SE},
		"p":          {u.T.P, studentTails(u.Value/u.SE, df)},
	}
	for name, c := range checks {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, c[0], c[1])
		}
	}
	back := NewUnpaired(&second, &first, 0.95)
	if back.Value != -u.Value || back.T.P != u.T.P || back.T.Greater != u.T.Less || back.Low != -u.High {
		t.Errorf("the other way round: %+v, want the negative of %+v", back, u)
	}
}

func TestUnpairedUndefined(t *testing.T) {
	one, none := single([]float64{0.5}), &Clusters{}
	same := single([]float64{0.5, 0.5, 0.5})
	a, b, c := one.Mean(0.95), none.Mean(0.95), same.Mean(0.95)
	if u := NewUnpaired(&c, &b, 0.95); u.Reason != ibid.NoData || u.T.Defined() {
		t.Errorf("against nothing: %+v", u)
	}
	if u := NewUnpaired(&c, &a, 0.95); !u.Defined() || u.HasSE || u.HasInterval || u.T.Reason != ibid.NoVariation {
		t.Errorf("against one row: %+v", u)
	}
	if u := NewUnpaired(&c, &c, 0.95); !u.Degenerate || u.T.Defined() {
		t.Errorf("of constants: %+v", u)
	}
	if u := NewUnpaired(&c, &c, 1); u.Reason != ibid.BadArgument {
		t.Errorf("level 1: %+v", u)
	}
}

// TestDetectable: expected values are (qt(0.975, df) + qt(power, df)) * 0.1 by R.
func TestDetectable(t *testing.T) {
	tests := []struct{ df, power, want float64 }{
		{39, 0.8, 0.2874}, {7, 0.8, 0.3261}, {5, 0.5, 0.2571}, {5, 0.3, 0.2011}, {1e6, 0.8, 0.2802},
	}
	for _, tt := range tests {
		got, ok := Design{Alpha: 0.05, Power: tt.power}.Detectable(0.1, tt.df)
		if !ok || math.Abs(got-tt.want) > 1e-4 {
			t.Errorf("df %v, power %v: %v, want %v", tt.df, tt.power, got, tt.want)
		}
	}
	if _, ok := DefaultDesign.Detectable(0.1, 0); ok {
		t.Error("defined without degrees of freedom")
	}
}
