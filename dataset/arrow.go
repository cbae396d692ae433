package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"ibid/dataset/parquet"
)

// arrowKinds are the types of columns in Arrow and in Spark.
var arrowKinds = [...]struct {
	arrow arrow.DataType
	spark string
}{
	parquet.Int32:      {arrow.PrimitiveTypes.Int32, "INT"},
	parquet.Int64:      {arrow.PrimitiveTypes.Int64, "BIGINT"},
	parquet.Double:     {arrow.PrimitiveTypes.Float64, "DOUBLE"},
	parquet.Bool:       {arrow.FixedWidthTypes.Boolean, "BOOLEAN"},
	parquet.String:     {arrow.BinaryTypes.String, "STRING"},
	parquet.ListInt32:  {arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32), "ARRAY<INT>"},
	parquet.ListString: {arrow.ListOfNonNullable(arrow.BinaryTypes.String), "ARRAY<STRING>"},
	parquet.MapString:  {arrowMap(arrow.BinaryTypes.String), "MAP<STRING, STRING>"},
	parquet.MapInt64:   {arrowMap(arrow.PrimitiveTypes.Int64), "MAP<STRING, BIGINT>"},
	parquet.MapDouble:  {arrowMap(arrow.PrimitiveTypes.Float64), "MAP<STRING, DOUBLE>"},
}

// arrowMap is a map of texts to values that are never null.
func arrowMap(values arrow.DataType) arrow.DataType {
	m := arrow.MapOf(arrow.BinaryTypes.String, values)
	m.SetItemNullable(false)
	return m
}

// An ArrowTable is the form of tables of results that leave as an Arrow IPC stream: the
// format in which other programs, and Arrow libraries of any version, take over tables
// without parsing. Columns have the names and kinds of results: int32, int64, float64, bool,
// utf8, list<int32>, list<utf8>, map<utf8, utf8>.
type ArrowTable struct {
	fields []parquet.Field
	schema *arrow.Schema
	bytes  []byte // the schema as a message
}

// NewArrowTable makes the form. All columns are nullable: row and id are not known of every
// row.
func NewArrowTable(fields []parquet.Field, metadata map[string]string) (*ArrowTable, error) {
	var columns []arrow.Field
	for _, f := range fields {
		columns = append(columns, arrow.Field{Name: f.Name, Type: arrowKinds[f.Kind].arrow, Nullable: true})
	}
	m := arrow.MetadataFrom(metadata)
	schema := arrow.NewSchema(columns, &m)
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(schema)).Close(); err != nil {
		return nil, err
	}
	const end = 8 // bytes, of the stream
	return &ArrowTable{fields, schema, b.Bytes()[:b.Len()-end]}, nil
}

// SparkDDL is the schema as Spark's mapInArrow and from_ddl take it.
func (t *ArrowTable) SparkDDL() string {
	var columns []string
	for _, f := range t.fields {
		columns = append(columns, "`"+strings.ReplaceAll(f.Name, "`", "``")+"` "+arrowKinds[f.Kind].spark)
	}
	return strings.Join(columns, ", ")
}

// An ArrowWriter writes the records of a table as a stream.
type ArrowWriter struct {
	out *bufio.Writer
	ipc *ipc.Writer
}

// Begin writes the schema.
func (t *ArrowTable) Begin(w io.Writer) (*ArrowWriter, error) {
	if _, err := w.Write(t.bytes); err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(w, 1<<18)
	return &ArrowWriter{out, ipc.NewWriter(&skipping{out, len(t.bytes)}, ipc.WithSchema(t.schema))}, nil
}

// skipping leaves out the schema, which the library writes with the first record.
type skipping struct {
	out  io.Writer
	left int
}

func (s *skipping) Write(b []byte) (int, error) {
	skip := min(s.left, len(b))
	s.left -= skip
	n, err := s.out.Write(b[skip:])
	return skip + n, err
}

// Write writes a record; all of it has left when Write returns.
func (w *ArrowWriter) Write(record arrow.Record) error {
	return errors.Join(w.ipc.Write(record), w.out.Flush())
}

// Close writes the end of the stream.
func (w *ArrowWriter) Close() error { return errors.Join(w.ipc.Close(), w.out.Flush()) }

// appendArrow adds a column to a builder of its type.
func appendArrow(b array.Builder, v *parquet.ColumnValues) {
	var begin func(valid bool) // a list or map, of these keys and elements
	var keys *array.StringBuilder
	elements := b
	switch b := b.(type) {
	case *array.MapBuilder:
		begin, keys, elements = b.Append, b.KeyBuilder().(*array.StringBuilder), b.ItemBuilder()
	case *array.ListBuilder:
		begin, elements = b.Append, b.ValueBuilder()
	}
	for i, valid := range v.Valid[:v.Rows] {
		switch {
		case !valid:
			b.AppendNull()
		case begin == nil:
			appendValue(b, v, i)
		default:
			begin(true)
			for k := v.Offsets[i]; k < v.Offsets[i+1]; k++ {
				if keys != nil {
					keys.Append(v.Keys[k])
				}
				appendValue(elements, v, int(k))
			}
		}
	}
}

// appendValue adds value k of a column to a builder of its type.
func appendValue(b array.Builder, v *parquet.ColumnValues, k int) {
	switch b := b.(type) {
	case *array.Int32Builder:
		b.Append(int32(v.Ints[k]))
	case *array.Int64Builder:
		b.Append(v.Ints[k])
	case *array.Float64Builder:
		b.Append(v.Doubles[k])
	case *array.BooleanBuilder:
		b.Append(v.Ints[k] != 0)
	case *array.StringBuilder:
		b.Append(v.Strings[k])
	default:
		panic(fmt.Sprintf("dataset: no column for %T", b))
	}
}

// A Record is rows as Arrow has them.
type Record = arrow.Record

// An Origin says where the rows of a batch come from.
type Origin struct {
	Row   func(i int) (row int64, ok bool) // the input's number of row i of the batch
	First int64                            // the place that the table has for the first row of the batch
	NoID  func(i int) bool                 // it has no id
}

// Record makes an Arrow record of the rows of a table. The column row of the table holds the
// position of each row in the batch. The record shares no memory with the table.
func (t *ArrowTable) Record(table *parquet.Table, from *Origin) (arrow.Record, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, t.schema)
	defer b.Release()
	b.Reserve(table.Rows())
	for c, f := range t.fields {
		v := *table.Column(c)
		switch { // the table keeps its own
		case f.Name == "row":
			v.Ints, v.Valid = slices.Clone(v.Ints), slices.Clone(v.Valid)
			for i, place := range v.Ints {
				v.Ints[i], v.Valid[i] = from.Row(int(place - from.First))
			}
		case f.Name == "id" && from.NoID != nil:
			v.Valid = slices.Clone(v.Valid)
			for i := range v.Valid {
				v.Valid[i] = !from.NoID(i)
			}
		}
		size := 0
		for _, texts := range [][]string{v.Strings, v.Keys} {
			for _, text := range texts {
				size += len(text)
			}
		}
		if size > math.MaxInt32 {
			return nil, fmt.Errorf("column %s of one batch has %d bytes of text: send smaller batches", f.Name, size)
		}
		appendArrow(b.Field(c), &v)
	}
	return b.NewRecord(), nil
}
