package parquet

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMayHold: bounds leave out what a row group cannot have, and nothing else.
func TestMayHold(t *testing.T) {
	table := NewTable([]Field{{Name: "row", Kind: Int64, Required: true}, {Name: "page", Kind: Int32}, {Name: "list", Kind: ListInt32}})
	for i := range 3 {
		table.At(0).AppendInt(int64(-4 + 2*i))
		table.At(1).AppendInt(int64(-1 + i))
		table.At(2).AppendInts([]int32{7})
		table.EndRow()
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var e Encoder
	if err := e.EncodePart(w, table); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, tt := range []struct {
		column string
		values []int64
		want   bool
	}{
		{"row", []int64{-5}, false},
		{"row", []int64{-4}, true},
		{"row", []int64{-3}, true},
		{"row", []int64{0}, true},
		{"row", []int64{1}, false},
		{"page", []int64{-2}, true}, // it has no bounds
		{"row", []int64{-9, -5, 1}, false},
		{"row", []int64{-9, -2, 1}, true},
		{"row", nil, false},
		{"list", []int64{1}, true},
		{"none", []int64{1}, true},
	} {
		if got := f.MayHoldInts(0, tt.column, tt.values); got != tt.want {
			t.Errorf("MayHoldInts(%s, %d) = %v, want %v", tt.column, tt.values, got, tt.want)
		}
	}
}
