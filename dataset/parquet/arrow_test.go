package parquet

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	arrowparquet "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// arrowFile is a file of Arrow's writer, which leaves checksums out:
// 40 rows of an integer, a number, a text and an integer that is null in
// every fourth row.
func arrowFile(t *testing.T, dictionary bool) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "o", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 40 {
		b.Field(0).(*array.Int32Builder).Append(int32(1_000_000 + i))
		b.Field(1).(*array.Float64Builder).Append(0.5 + float64(i))
		b.Field(2).(*array.StringBuilder).Append("text " + string(rune('a'+i%20)))
		if o := b.Field(3).(*array.Int64Builder); i%4 == 3 {
			o.AppendNull()
		} else {
			o.Append(int64(7_000_000_000 + i))
		}
	}
	rec := b.NewRecord()
	defer rec.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, arrowparquet.NewWriterProperties(
		arrowparquet.WithDictionaryDefault(dictionary), arrowparquet.WithCompression(compress.Codecs.Uncompressed)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
