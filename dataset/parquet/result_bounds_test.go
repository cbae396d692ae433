package parquet

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMayHold: bounds leave out what a row group cannot have, and nothing else.
func TestMayHold(t *testing.T) {
	table, err := NewTable([]Field{{Name: "row", Kind: Int64, Required: true}, {Name: "page", Kind: Int32}, {Name: "list", Kind: ListInt32}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		table.AppendInt(0, int64(-4+2*i))
		table.AppendInt(1, int64(-1+i))
		table.AppendInts(2, []int32{7})
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
		value  int64
		want   bool
	}{
		{"row", -5, false},
		{"row", -4, true},
		{"row", -3, true},
		{"row", 0, true},
		{"row", 1, false},
		{"page", -2, false},
		{"page", -1, true},
		{"page", 1, true},
		{"page", 2, false},
		{"list", 1, true},
		{"none", 1, true},
	} {
		if got := f.MayHoldInt(0, tt.column, tt.value); got != tt.want {
			t.Errorf("MayHoldInt(%s, %d) = %v, want %v", tt.column, tt.value, got, tt.want)
		}
	}
}
