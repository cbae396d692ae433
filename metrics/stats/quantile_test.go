package stats

import (
	"math"
	"testing"
)

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
		{"t 12.706 df 1", studentTails(12.706204736432095, 1), 0.05},
	}
	for _, tt := range tests {
		if math.Abs(tt.got-tt.want) > 1e-8*math.Max(tt.want, 1e-8) {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}
