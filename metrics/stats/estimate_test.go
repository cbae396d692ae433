package stats

import (
	"math"
	"testing"
)

func TestClustersNeeded(t *testing.T) {
	tests := []struct {
		level float64
		want  int64
	}{{0.5, 2}, {0.9, 5}, {0.95, 6}, {0.99, 8}, {0.999, 11}, {0, 2}, {1, 2}, {math.NaN(), 2}}
	for _, tt := range tests {
		if got := ClustersNeeded(tt.level); got != tt.want {
			t.Errorf("ClustersNeeded(%v) = %d, want %d", tt.level, got, tt.want)
		}
	}
}
