package dataset

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/google/go-cmp/cmp"
)

func TestWriteArrow(t *testing.T) {
	path, _, want := joinedFile(t, map[string]string{"b": "2", "a": "1"})
	f, err := OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	if err := WriteArrow(&out, f); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for c, field := range r.Schema().Fields() {
		if w := want.fields[c]; field.Name != w.Name || field.Nullable == w.Required || field.Type.String() != arrowNames[w.Kind] {
			t.Errorf("column %d: %v, want %+v", c, field, w)
		}
	}
	if diff := cmp.Diff(f.Metadata(), r.Schema().Metadata().ToMap()); diff != "" {
		t.Errorf("metadata: -want +got\n%s", diff)
	}
	got := &resultRows{fields: want.fields}
	for r.Next() {
		for i := range int(r.Record().NumRows()) {
			row := make([]Cell, len(want.fields))
			for c, column := range r.Record().Columns() {
				row[c] = arrowCell(column, i)
			}
			got.rows = append(got.rows, row)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	sameRows(t, got, want)
}

// arrowNames are the Arrow types of the kinds.
var arrowNames = map[ColumnKind]string{
	Int32: "int32", Int64: "int64", Double: "float64", Bool: "bool", String: "utf8",
	ListInt32: "list<item: int32>", ListString: "list<item: utf8>", MapString: "map<utf8, utf8, items_non_nullable>",
}

// A file without rows is a schema and no batch.
func TestWriteArrowOfNothing(t *testing.T) {
	f, err := OpenResult(writeResult(t, "empty.parquet", encodeTable(t, (&resultRows{fields: everyKind()}).table(t))))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	if err := WriteArrow(&out, f); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if r.Next() || r.Err() != nil || len(r.Schema().Fields()) != len(everyKind()) {
		t.Errorf("a batch, or error %v, or %d columns", r.Err(), len(r.Schema().Fields()))
	}
}

// A batch ends before its text would get too long, but has a row at least.
func TestArrowBatch(t *testing.T) {
	long := strings.Repeat("x", arrowBytes)
	tests := []struct {
		name string
		text []string
		want []int // ends of batches
	}{
		{"short", []string{"a", "b", "c"}, []int{3}},
		{"long in the middle", []string{"a", long, "b", "c"}, []int{1, 2, 4}},
		{"only long", []string{long, long}, []int{1, 2}},
		{"together too long", []string{long[:arrowBytes/2], long[:arrowBytes/2], "c"}, []int{2, 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			columns := []ColumnValues{{Kind: String, Strings: tt.text}}
			var got []int
			for from := 0; from < len(tt.text); from = got[len(got)-1] {
				got = append(got, arrowBatch(columns, from, len(tt.text)))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Wherever the writer fails, its error comes back.
func TestWriteArrowWriterFails(t *testing.T) {
	path, _, _ := joinedFile(t, nil)
	f, err := OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counting := &failingWriter{left: 1 << 30}
	if err := WriteArrow(counting, f); err != nil {
		t.Fatal(err)
	}
	writes := 1<<30 - counting.left
	for _, after := range []int{0, 1, writes / 2, writes - 1} {
		if err := WriteArrow(&failingWriter{left: after}, f); !errors.Is(err, errDiskFull) {
			t.Fatalf("with a writer that fails after %d writes: %v", after, err)
		}
	}
}
