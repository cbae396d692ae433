package parquet

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// derivedFields are three numbers and two quotients of them, which are not stored.
var derivedFields = []Field{
	{Name: "ratio", Kind: Double, Of: &Quotient{Num: []Multiple{{"both", 2}}, Den: []Multiple{{"left", 1}, {"right", 1}}}},
	{Name: "both", Kind: Int64},
	{Name: "left", Kind: Int32},
	{Name: "right", Kind: Double},
	{Name: "share", Kind: Double, Of: &Quotient{Num: []Multiple{{"right", 1}}, Den: []Multiple{{"both", 1}}}},
}

func derivedTable(t *testing.T, fields []Field) *Table {
	t.Helper()
	table, err := NewTable(fields)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if i != 2 {
			table.AppendInt(1, int64(i%4))
		}
		if i != 3 {
			table.AppendInt(2, int64(i))
		}
		table.AppendDouble(3, 0.5*float64(i))
		table.EndRow()
	}
	return table
}

func writePart(t *testing.T, table *Table, change func([]byte) []byte) string {
	t.Helper()
	var out bytes.Buffer
	var e Encoder
	if err := e.EncodePart(&out, table); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "part.parquet")
	data := out.Bytes()
	if change != nil {
		data = change(data)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDerived: a column that is not stored is read as the quotient that it is, from a part,
// from parts that were joined, and from one that was split off again.
func TestDerived(t *testing.T) {
	part := writePart(t, derivedTable(t, derivedFields), nil)
	var joined, split bytes.Buffer
	if err := Join(&joined, derivedFields, []Part{{Path: part}, {Path: part}}, map[string]string{"a": "b"}); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "whole.parquet")
	if err := os.WriteFile(whole, joined.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Split(whole, []int{1}, func(_ int, write func(io.Writer) error) error { return write(&split) }); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(part); !bytes.Equal(data, split.Bytes()) {
		t.Error("a part that was split off has other bytes")
	}
	for path, groups := range map[string]int{part: 1, whole: 2} {
		f, err := OpenResult(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if !reflect.DeepEqual(f.Fields(), derivedFields) || f.RowGroups() != groups {
			t.Fatalf("%+v in %d row groups", f.Fields(), f.RowGroups())
		}
		if _, ours := f.Metadata()[derivedKey]; ours || !f.file.LeavesOut("share") || f.file.LeavesOut("both") {
			t.Errorf("metadata %v", f.Metadata())
		}
		for name, want := range map[string][]any{
			// both: 0 1 - 3 0 1, left: 0 1 2 - 4 5, right: 0 .5 1 1.5 2 2.5
			"ratio": {nil, 2 / 1.5, nil, nil, 0.0, 2 / 7.5},
			"share": {nil, 0.5, nil, 0.5, nil, 2.5},
		} {
			var v ColumnValues
			if err := f.ReadColumn(groups-1, name, &v); err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				if got := v.Cell(i); got.Null != (w == nil) || w != nil && got.Double != w {
					t.Errorf("%s of row %d: %+v, want %v", name, i, got, w)
				}
			}
			if !f.MayHoldInts(0, name, []int64{7}) || !f.MayHoldText(0, name, "x") {
				t.Errorf("%s has bounds", name)
			}
		}
		row, err := f.ReadRow(1)
		if err != nil || row[0].Double != 2/1.5 || row[4].Double != 0.5 {
			t.Errorf("%v, %v", row, err)
		}
		if err := f.Verify(); err != nil {
			t.Error(err)
		}
	}
}

// TestDerivedDamaged: what the metadata says of columns that are not there is an error of a
// damaged file.
func TestDerivedDamaged(t *testing.T) {
	for _, text := range []string{
		`{}`, `[{"name": "both", "at": 0}]`, `[{"name": "", "at": 0}]`, `[{"name": "x", "at": -1}]`, `[{"name": "x", "at": 4}]`,
		`[{"name": "x", "at": 0, "num": [{"column": "id", "factor": 1}]}]`, `[{"name": "x", "at": 0, "num": [{"column": "none", "factor": 1}]}]`,
		`[{"name": "x", "at": 0}, {"name": "x", "at": 1}]`,
		`[{"name": "x", "at": 0}, {"name": "y", "at": 0, "den": [{"column": "x", "factor": 1}]}]`,
	} {
		fields, err := insertDerived([]Field{{Name: "id", Kind: String}, {Name: "both", Kind: Int64}, {Name: "c", Kind: Int64}}, text)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, %v", text, fields, err)
		}
	}
	path := writePart(t, derivedTable(t, derivedFields), func(data []byte) []byte {
		return bytes.Replace(data, []byte(`"column":"right"`), []byte(`"column":"wrong"`), 1)
	})
	if _, err := OpenResult(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}
