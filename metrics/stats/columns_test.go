package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestColumnsOfCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	edges := []int64{0, 1, -1, reach - 1, -reach, reach, -reach - 1, 1<<31 - 1, 1<<53 - 1, 1<<53 + 1, math.MaxInt64, math.MinInt64}
	tests := []struct {
		name string
		n    int
		draw func() int64
	}{
		{"nothing", 0, nil},
		{"counts", 1000, func() int64 { return rng.Int64N(50_000) }},
		{"large counts", 1000, func() int64 { return reach - 1 - rng.Int64N(3) }},
		{"negative counts", 1000, func() int64 { return rng.Int64N(3) - reach }},
		{"edges", 1000, func() int64 { return edges[rng.IntN(len(edges))] }},
		{"more rows than a chunk", chunkRows + 17, func() int64 { return reach - 1 - rng.Int64N(9) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ys, xs := make([]int64, tt.n), make([]int64, tt.n)
			var want, got, wantRows, gotRows Clusters
			for i := range ys {
				ys[i], xs[i] = tt.draw(), tt.draw()
				want.AddCounts(ys[i], xs[i], 1)
				wantRows.AddRow(float64(ys[i]))
			}
			got.AddRowCounts(ys, xs)
			if got != want {
				t.Errorf("by AddRowCounts %+v, by AddCounts %+v", got, want)
			}
			gotRows.AddRowInts(ys)
			if gotRows != wantRows {
				t.Errorf("by AddRowInts %+v, by AddRow %+v", gotRows, wantRows)
			}
		})
	}
}

func TestColumnsOfSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	ys := []float64{0, math.Copysign(0, -1), 0x1p-11, 0x1.fffffffffffffp-12, 0x1.fffffffffffffp19, -0x1.fffffffffffffp19, 0x1p20, -0.5, 1, 3, 1e-300, 5e-324, 1e30, math.Inf(1)}
	xs := []int64{0, 1, -1, middleFactor - 1, middleFactor, 1 << 40, math.MaxInt64}
	tests := []struct {
		name string
		n    int
		y    func() float64
		x    func() int64
	}{
		{"nothing", 0, nil, nil},
		{"sums of ratios", 1000, func() float64 { return 3 * rng.Float64() }, func() int64 { return rng.Int64N(5) }},
		{"sums of differences", 1000, func() float64 { return float64(rng.IntN(200) - 100) }, func() int64 { return rng.Int64N(5) }},
		{"negative sums", 1000, func() float64 { return -3 * rng.Float64() }, func() int64 { return rng.Int64N(5) }},
		{"edges", 2000, func() float64 { return ys[rng.IntN(len(ys)-1)] }, func() int64 { return xs[rng.IntN(len(xs))] }},
		{"not finite", 100, func() float64 { return ys[rng.IntN(len(ys))] }, func() int64 { return xs[rng.IntN(len(xs))] }},
		{"more rows than a chunk", chunkRows + 17, func() float64 { return 0x1.fffffffffffffp19 }, func() int64 { return middleFactor - 1 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ys, xs := make([]float64, tt.n), make([]int64, tt.n)
			var want, got, wantRows, gotRows Clusters
			for i := range ys {
				ys[i], xs[i] = tt.y(), tt.x()
				want.AddCluster(ys[i], float64(xs[i]), 1)
				wantRows.AddRow(ys[i])
			}
			gotRows.AddRows(ys)
			if gotRows != wantRows {
				t.Errorf("by AddRows %+v, by AddRow %+v", gotRows, wantRows)
			}
			got.AddRowSums(ys, xs)
			if got != want {
				t.Errorf("by AddRowSums %+v, by AddCluster %+v", got, want)
			}
		})
	}
}

func TestColumnOfManyRows(t *testing.T) {
	for _, most := range []float64{0x1.fffffffffffffp19, -0x1.fffffffffffffp19} {
		ys := slices.Repeat([]float64{most}, chunkRows+17)
		var want, got Clusters
		for _, y := range ys {
			want.AddRow(y)
		}
		got.AddRows(ys)
		if got != want {
			t.Errorf("by AddRows %+v, by AddRow %+v", got, want)
		}
	}
}
