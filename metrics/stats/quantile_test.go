package stats

import (
	"math"
	"testing"
)

// TestSampleQuantile: expected values are R's quantile(type = 7).
func TestSampleQuantile(t *testing.T) {
	values := []float64{1, 2, 4, 8, 16}
	tests := []struct{ p, want float64 }{
		{0, 1}, {0.25, 2}, {0.3, 2.4}, {0.5, 4}, {0.9, 12.8}, {0.975, 15.2}, {1, 16},
	}
	for _, tt := range tests {
		if got, ok := SampleQuantile(values, tt.p); !ok || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("quantile %v = %v, %v, want %v", tt.p, got, ok, tt.want)
		}
	}
	if q, ok := SampleQuantile([]float64{3}, 0.7); !ok || q != 3 {
		t.Errorf("quantile of one value = %v, %v", q, ok)
	}
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		if _, ok := SampleQuantile(values, p); ok {
			t.Errorf("quantile %v is defined", p)
		}
	}
	if _, ok := SampleQuantile(nil, 0.5); ok {
		t.Error("a quantile of nothing is defined")
	}
}

// TestTails: expected values are R's 2*pnorm(-z) and 2*pt(-t, df).
func TestTails(t *testing.T) {
	tests := []struct {
		name      string
		got, want float64
	}{
		{"normal 1.96", normalTails(1.96), 0.04999579029644087},
		{"normal 8", normalTails(-8), 1.244192114854357e-15},
		{"t 2 df 5", studentTails(2, 5), 0.1019394788298584},
		{"t -2 df 5", studentTails(-2, 5), 0.1019394788298584},
		{"t 0", studentTails(0, 3), 1},
		{"normal below 1.96", normalCDF(1.96), 0.9750021048517795},
		{"normal below -9", normalCDF(-9), 1.128588405953841e-19},
		{"normal point", normalPoint(0.975), 1.959963984540054},
		{"t 12.706 df 1", studentTails(12.706204736432095, 1), 0.05},
	}
	for _, tt := range tests {
		if math.Abs(tt.got-tt.want) > 1e-8*math.Max(tt.want, 1e-8) {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}
