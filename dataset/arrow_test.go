package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	pqt "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"ibid"
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
