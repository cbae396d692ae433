package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestColumnsOfCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	edges := []int64{0, 1, -1, 1<<31 - 1, -1 << 31, 1 << 31, -1<<31 - 1, math.MaxInt64, math.MinInt64}
	tests := []struct {
		name string
		n    int
		draw func() int64
	}{
		{"nothing", 0, nil},
		{"counts", 1000, func() int64 { return rng.Int64N(50_000) }},
		{"large counts", 1000, func() int64 { return 1<<31 - 1 - rng.Int64N(3) }},
		{"edges", 1000, func() int64 { return edges[rng.IntN(len(edges))] }},
		{"more rows than a chunk", chunkRows + 17, func() int64 { return 1<<31 - 1 - rng.Int64N(9) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ys, xs := make([]int64, tt.n), make([]int64, tt.n)
			var want, got Clusters
			for i := range ys {
				ys[i], xs[i] = tt.draw(), tt.draw()
				want.AddCounts(ys[i], xs[i], 1)
			}
			got.AddRowCounts(ys, xs)
			if got != want {
				t.Errorf("by AddRowCounts %+v, by AddCounts %+v", got, want)
			}
		})
	}
}

func TestColumnOfManyRows(t *testing.T) {
	ys := slices.Repeat([]float64{0x1.fffffffffffffp19}, chunkRows+17)
	var want, got Clusters
	for _, y := range ys {
		want.AddRow(y)
	}
	got.AddRows(ys)
	if got != want {
		t.Errorf("by AddRows %+v, by AddRow %+v", got, want)
	}
}
