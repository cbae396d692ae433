//go:build unix

package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestMeans: the mean of each cell's values is that of its quantiles.
func TestMeans(t *testing.T) {
	const n = 100_000
	for _, c := range cells {
		sum := 0.0
		for i := range n {
			sum += c.values.quantile((float64(i) + 0.5) / n)
		}
		if math.Abs(sum/n-c.values.mean) > 1e-5 {
			t.Errorf("%s: mean %v, want %v", c.name, sum/n, c.values.mean)
		}
	}
}

// TestDesigns: each row touches different documents, and the same seed makes the same rows.
func TestDesigns(t *testing.T) {
	for _, c := range cells {
		rows, again := c.design(rand.New(rand.NewPCG(1, 2))), c.design(rand.New(rand.NewPCG(1, 2)))
		if len(rows) == 0 || len(rows) != len(again) {
			t.Errorf("%s: %d rows and %d", c.name, len(rows), len(again))
		}
		for _, docs := range rows {
			seen := make(map[int]bool)
			for _, d := range docs {
				seen[d] = true
			}
			if len(docs) == 0 || len(seen) != len(docs) {
				t.Errorf("%s: a row on %v", c.name, docs)
			}
		}
	}
}
