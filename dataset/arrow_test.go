package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	pqt "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
	"ibid/dataset/parquet"
)

// arrowSchema is what a data frame library makes of a dataset: everything
// nullable, lists of structs, and columns of which it has seen nothing but
// nulls or empty lists.
func arrowSchema(integer arrow.DataType) *arrow.Schema {
	span := arrow.StructOf(
		arrow.Field{Name: "doc", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "page", Type: integer, Nullable: true},
		arrow.Field{Name: "start", Type: integer, Nullable: true},
		arrow.Field{Name: "end", Type: integer, Nullable: true},
		arrow.Field{Name: "extra", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		arrow.Field{Name: "unit", Type: arrow.Null, Nullable: true},
	)
	document := arrow.StructOf(
		arrow.Field{Name: "doc", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "pages", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	)
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "query", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "answer", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "system", Type: arrow.Null, Nullable: true},
		{Name: "citations", Type: arrow.ListOf(span), Nullable: true},
		{Name: "truth", Type: arrow.ListOf(arrow.Null), Nullable: true},
		{Name: "documents", Type: arrow.ListOf(document), Nullable: true},
		{Name: "tags", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String), Nullable: true},
		{Name: "made_at", Type: arrow.FixedWidthTypes.Timestamp_ns, Nullable: true},
	}, nil)
}

// arrowJSON is row i of the file and what a reader should make of it.
func arrowJSON(i int) (json string, want ibid.Answer) {
	want = ibid.Answer{ID: fmt.Sprintf("id-%d", i), Query: "q", Answer: fmt.Sprint("Zoë ", i), System: "default"}
	citations, truth, documents, tags := "null", "null", "null", "null"
	var parts []string
	for k := range i % 5 {
		switch k {
		case 1:
			parts = append(parts, `{"doc": null, "page": null, "start": null, "end": null, "extra": true, "unit": null}`)
			want.Citations = append(want.Citations, ibid.Citation{DocNull: true})
		default:
			parts = append(parts, fmt.Sprintf(`{"doc": "d%d", "page": %d, "start": %d, "end": 100000, "extra": null, "unit": null}`, i%9, k, i))
			want.Citations = append(want.Citations, ibid.Citation{
				Doc: fmt.Sprintf("d%d", i%9), Page: ibid.Some(int64(k)), Start: ibid.Some(int64(i)), End: ibid.Some[int64](100000),
			})
		}
	}
	if i%3 > 0 {
		citations, want.HasCitations = "["+strings.Join(parts, ",")+"]", true
	} else {
		want.Citations = nil
	}
	if i%4 == 0 {
		truth, want.HasTruth = "[]", true
	}
	if i%2 == 0 {
		documents, want.HasDocuments = `[{"doc": "a", "pages": ["x", ""]}, {"doc": "b", "pages": []}, {"doc": "c", "pages": null}]`, true
		want.Documents = []ibid.Document{{Doc: "a", HasPages: true, Pages: []string{"x", ""}}, {Doc: "b", HasPages: true}, {Doc: "c"}}
	}
	if i%7 > 0 {
		tags = `[{"key": "topic", "value": "t"}, {"key": "lang", "value": "de"}, {"key": "none", "value": null}]`
		want.Tags = []ibid.Tag{{Key: "lang", Value: "de"}, {Key: "topic", Value: "t"}}
	}
	json = fmt.Sprintf(`{"id": %q, "query": "q", "answer": %q, "system": null, "citations": %s, "truth": %s, "documents": %s, "tags": %s, "made_at": null}`,
		want.ID, want.Answer, citations, truth, documents, tags)
	return json, want
}

func TestReadArrowFiles(t *testing.T) {
	const n = 120
	var lines strings.Builder
	want := make([]ibid.Answer, n)
	for i := range n {
		var json string
		json, want[i] = arrowJSON(i)
		lines.WriteString(json + "\n")
	}
	codecs := []compress.Compression{
		compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd,
	}
	for _, integer := range []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
		record, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrowSchema(integer), jsonLines(lines.String()))
		if err != nil {
			t.Fatal(err)
		}
		for _, dictionary := range []bool{true, false} {
			for _, version := range []pqt.DataPageVersion{pqt.DataPageV1, pqt.DataPageV2} {
				for _, codec := range codecs {
					t.Run(fmt.Sprintf("%s/dictionary=%t/v%d/%s", integer, dictionary, version+1, codec), func(t *testing.T) {
						path := filepath.Join(t.TempDir(), "a.parquet")
						writeArrow(t, path, record, pqt.NewWriterProperties(
							pqt.WithDictionaryDefault(dictionary), pqt.WithDataPageVersion(version), pqt.WithCompression(codec),
							pqt.WithDataPageSize(200), pqt.WithBatchSize(16), pqt.WithMaxRowGroupLength(50), pqt.WithDictionaryPageSizeLimit(300)))
						if diff := diffRows(readRows(t, open(t, path, ReadOptions{}), 41), place(want, path)); diff != "" {
							t.Errorf("(-want +got):\n%s", diff)
						}
					})
				}
			}
		}
	}
}

// jsonLines makes a JSON array of lines.
func jsonLines(lines string) *strings.Reader {
	return strings.NewReader("[" + strings.ReplaceAll(strings.TrimSpace(lines), "\n", ",") + "]")
}

func writeArrow(t testing.TB, path string, record arrow.Record, props *pqt.WriterProperties) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(record.Schema(), f, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWriteArrow(t *testing.T) {
	f := everyKindFile(t, 300, map[string]string{"b": "2", "a": "1"})
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
		if w := f.Fields()[c]; field.Name != w.Name || field.Nullable == w.Required || field.Type.String() != arrowNames[w.Kind] {
			t.Errorf("column %d: %v, want %+v", c, field, w)
		}
	}
	if diff := cmp.Diff(f.Metadata, r.Schema().Metadata().ToMap()); diff != "" {
		t.Errorf("metadata: -want +got\n%s", diff)
	}
	var want [][]storedCell
	for k := range f.RowGroups() {
		first := len(want)
		want = append(want, make([][]storedCell, f.GroupRows(k))...)
		for _, field := range f.Fields() {
			var v parquet.ColumnValues
			if err := f.ReadColumn(k, field.Name, nil, &v); err != nil {
				t.Fatal(err)
			}
			for i := range v.Rows {
				want[first+i] = append(want[first+i], cellOf(&v, i))
			}
		}
	}
	row := int64(0)
	for r.Next() {
		for i := range int(r.Record().NumRows()) {
			for c, column := range r.Record().Columns() {
				if diff := cmp.Diff(want[row][c], arrowCell(column, i), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("row %d, %s: -want +got\n%s", row, f.Fields()[c].Name, diff)
				}
			}
			row++
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	if row != f.Rows() {
		t.Errorf("%d rows of %d", row, f.Rows())
	}
}

// everyKindFile opens a file of two row groups, the first of n rows, with an
// optional and a required column of each kind.
func everyKindFile(t *testing.T, n int, metadata map[string]string) *parquet.ResultFile {
	t.Helper()
	var fields []parquet.Field
	for k := parquet.Int32; k <= parquet.MapDouble; k++ {
		fields = append(fields, parquet.Field{Name: fmt.Sprint("optional ", k), Kind: k}, parquet.Field{Name: fmt.Sprint("required ", k), Kind: k, Required: true})
	}
	table := parquet.NewTable(fields)
	dir := t.TempDir()
	var encoder parquet.Encoder
	var parts []parquet.Part
	for part, rows := range []int{n, n / 3} {
		table.Reset()
		for i := range rows {
			for c, f := range fields {
				if f.Required || (i+c)%3 > 0 {
					appendAny(table, c, i)
				}
			}
			table.EndRow()
		}
		var b bytes.Buffer
		if err := encoder.EncodePart(&b, table); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, parquet.Part{Path: filepath.Join(dir, fmt.Sprint("part", part))})
		if err := os.WriteFile(parts[part].Path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "all.parquet")
	if err := WriteFile(path, func(w io.Writer) error { return parquet.Join(w, fields, parts, metadata) }); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// appendAny appends to column c some value that i makes.
func appendAny(table *parquet.Table, c, i int) {
	text := fmt.Sprint("näme ", i%7)
	switch table.Fields()[c].Kind {
	case parquet.Int32, parquet.Int64:
		table.At(c).AppendInt(int64(i%100 - 3))
	case parquet.Double:
		table.At(c).AppendDouble(float64(i) / 7)
	case parquet.Bool:
		table.At(c).AppendBool(i%2 == 0)
	case parquet.String:
		table.At(c).AppendString(text)
	case parquet.ListInt32:
		table.At(c).AppendInts([]int32{1, 2, int32(i)}[:i%4])
	case parquet.ListString:
		table.At(c).AppendStrings([]string{text, "", "b"}[:i%4])
	case parquet.MapString:
		table.At(c).AppendMap([]string{"a", "b", "c"}[:i%4], []string{text, "", "d"}[:i%4])
	case parquet.MapInt64:
		table.At(c).AppendIntMap([]string{"a", "b", text}[:i%4], []int64{1, -2, int64(i)}[:i%4])
	case parquet.MapDouble:
		table.At(c).AppendDoubleMap([]string{"a", "b", text}[:i%4], []float64{1, -2, float64(i) / 8}[:i%4])
	}
}

// A storedCell is one value of a result: the one of Int, Double, Text, Ints, or Texts
// that its column's kind calls for, and Keys beside values for a map.
type storedCell struct {
	Null   bool
	Int    int64 // Int32, Int64, Bool (0 or 1)
	Double float64
	Text   string
	Ints   []int64
	Floats []float64
	Texts  []string
	Keys   []string // Keys[i] has the value Texts[i], Ints[i] or Floats[i]
}

// cellOf is row i of a column.
func cellOf(v *parquet.ColumnValues, i int) storedCell {
	c := storedCell{Null: !v.Valid[i]}
	switch v.Kind {
	case parquet.Int32, parquet.Int64, parquet.Bool:
		c.Int = v.Ints[i]
	case parquet.Double:
		c.Double = v.Doubles[i]
	case parquet.String:
		c.Text = v.Strings[i]
	case parquet.ListInt32:
		c.Ints = slices.Clone(v.Ints[v.Offsets[i]:v.Offsets[i+1]])
	case parquet.ListString:
		c.Texts = slices.Clone(v.Strings[v.Offsets[i]:v.Offsets[i+1]])
	case parquet.MapString:
		c.Keys = slices.Clone(v.Keys[v.Offsets[i]:v.Offsets[i+1]])
		c.Texts = slices.Clone(v.Strings[v.Offsets[i]:v.Offsets[i+1]])
	case parquet.MapInt64:
		c.Keys = slices.Clone(v.Keys[v.Offsets[i]:v.Offsets[i+1]])
		c.Ints = slices.Clone(v.Ints[v.Offsets[i]:v.Offsets[i+1]])
	case parquet.MapDouble:
		c.Keys = slices.Clone(v.Keys[v.Offsets[i]:v.Offsets[i+1]])
		c.Floats = slices.Clone(v.Doubles[v.Offsets[i]:v.Offsets[i+1]])
	}
	return c
}

// arrowCell is value i of a column.
func arrowCell(a arrow.Array, i int) storedCell {
	if a.IsNull(i) {
		return storedCell{Null: true}
	}
	var c storedCell
	switch a := a.(type) {
	case *array.Int32:
		c.Int = int64(a.Value(i))
	case *array.Int64:
		c.Int = a.Value(i)
	case *array.Float64:
		c.Double = a.Value(i)
	case *array.Boolean:
		if a.Value(i) {
			c.Int = 1
		}
	case *array.String:
		c.Text = a.Value(i)
	case *array.Map:
		start, end := a.ValueOffsets(i)
		for j := start; j < end; j++ {
			c.Keys = append(c.Keys, a.Keys().(*array.String).Value(int(j)))
			switch items := a.Items().(type) {
			case *array.Int64:
				c.Ints = append(c.Ints, items.Value(int(j)))
			case *array.Float64:
				c.Floats = append(c.Floats, items.Value(int(j)))
			default:
				c.Texts = append(c.Texts, items.(*array.String).Value(int(j)))
			}
		}
	case *array.List:
		start, end := a.ValueOffsets(i)
		for j := start; j < end; j++ {
			element := arrowCell(a.ListValues(), int(j))
			if _, ok := a.ListValues().(*array.Int32); ok {
				c.Ints = append(c.Ints, element.Int)
			} else {
				c.Texts = append(c.Texts, element.Text)
			}
		}
	}
	return c
}

// arrowNames are the Arrow types of the kinds.
var arrowNames = map[parquet.ColumnKind]string{
	parquet.Int32: "int32", parquet.Int64: "int64", parquet.Double: "float64", parquet.Bool: "bool", parquet.String: "utf8",
	parquet.ListInt32: "list<item: int32>", parquet.ListString: "list<item: utf8>", parquet.MapString: "map<utf8, utf8, items_non_nullable>",
	parquet.MapInt64: "map<utf8, int64, items_non_nullable>", parquet.MapDouble: "map<utf8, float64, items_non_nullable>",
}

// A file without rows is a schema and no batch.
func TestWriteArrowOfNothing(t *testing.T) {
	f := everyKindFile(t, 0, nil)
	var out bytes.Buffer
	if err := WriteArrow(&out, f); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if r.Next() || r.Err() != nil || len(r.Schema().Fields()) != len(f.Fields()) {
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
			columns := []parquet.ColumnValues{{Kind: parquet.String, Strings: tt.text}}
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
	f := everyKindFile(t, 300, nil)
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

var errDiskFull = errors.New("disk full")

// A failingWriter takes a number of writes and then none.
type failingWriter struct{ left int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errDiskFull
	}
	return len(b), nil
}
