package dataset

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"ibid/dataset/parquet"
)

func TestTranslate(t *testing.T) {
	tables := [][]byte{
		{0, 1, 2, 3, 4}, {1, 4}, {0, 1, 3, 4}, {1, 3, 4}, {0, 1, 4}, {0, 1, 2, 4}, {0, 1, 2, 3, 3, 4, 5, 6}, {0, 0, 0, 1}, {1}, {3, 3, 5, 5, 5, 6},
	}
	rng := rand.New(rand.NewPCG(4, 1))
	for _, table := range tables {
		leaf := boundLeaf{Leaf: parquet.Leaf{Def: len(table) - 1}}
		var from []int // the level from which on the code is at least 1, 2 …
		for code := range table[len(table)-1] {
			from = append(from, slices.IndexFunc(table, func(c byte) bool { return c > code }))
		}
		if err := leaf.setCodes("", from); err != nil {
			t.Fatal(err)
		}
		for n := range 40 {
			levels, want := make([]byte, n), make([]byte, n)
			for i := range levels {
				levels[i] = byte(rng.IntN(len(table)))
				want[i] = table[levels[i]]
			}
			leaf.translate(levels)
			if !bytes.Equal(levels, want) {
				t.Errorf("table %v: %v, want %v", table, levels, want)
			}
		}
	}
}
