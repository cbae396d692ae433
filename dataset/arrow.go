package dataset

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"ibid/dataset/parquet"
)

// arrowBytes is about how much text a record batch holds at most, unless one row
// alone has more. Offsets of Arrow strings are int32.
const arrowBytes = 64 << 20

// WriteArrow writes the rows of f, in order, as an Arrow IPC stream: the format
// in which other programs, and Arrow libraries of any version, take over tables
// without parsing. Columns have the names and kinds of the file: int32, int64,
// float64, bool, utf8, list<int32>, list<utf8>, map<utf8, utf8>; those that are not
// [parquet.Field.Required] are nullable. The file's key-value pairs are the metadata of
// the schema. At most one row group is in memory at a time.
func WriteArrow(w io.Writer, f *parquet.ResultFile) error {
	schema := arrowSchemaOf(f)
	out := ipc.NewWriter(w, ipc.WithSchema(schema))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	columns := make([]parquet.ColumnValues, len(f.Fields()))
	for g := range f.RowGroups() {
		for i, field := range f.Fields() {
			if err := f.ReadColumn(g, field.Name, &columns[i]); err != nil {
				return err
			}
		}
		for from, rows := 0, f.GroupRows(g); from < rows; {
			to := arrowBatch(columns, from, rows)
			if err := writeBatch(out, b, columns, from, to); err != nil {
				return err
			}
			from = to
		}
	}
	return out.Close()
}

func arrowSchemaOf(f *parquet.ResultFile) *arrow.Schema {
	fields := make([]arrow.Field, len(f.Fields()))
	for i, field := range f.Fields() {
		fields[i] = arrow.Field{Name: field.Name, Type: arrowTypeOf(field.Kind), Nullable: !field.Required}
	}
	var keys, values []string
	for _, key := range slices.Sorted(maps.Keys(f.Metadata())) {
		keys, values = append(keys, key), append(values, f.Metadata()[key])
	}
	metadata := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(fields, &metadata)
}

func arrowTypeOf(k parquet.ColumnKind) arrow.DataType {
	switch k {
	case parquet.Int32:
		return arrow.PrimitiveTypes.Int32
	case parquet.Int64:
		return arrow.PrimitiveTypes.Int64
	case parquet.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Bool:
		return arrow.FixedWidthTypes.Boolean
	case parquet.String:
		return arrow.BinaryTypes.String
	case parquet.ListInt32:
		return arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)
	case parquet.ListString:
		return arrow.ListOfNonNullable(arrow.BinaryTypes.String)
	case parquet.MapString:
		m := arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String)
		m.SetItemNullable(false)
		return m
	}
	panic(fmt.Sprintf("dataset: no Arrow type for %v", k))
}

// arrowBatch returns the row after the last of a batch that begins at row from.
func arrowBatch(columns []parquet.ColumnValues, from, rows int) (to int) {
	bytes := 0
	for to = from; to < rows; to++ {
		for i := range columns {
			bytes += textBytes(&columns[i], to)
		}
		if bytes > arrowBytes && to > from {
			return to
		}
	}
	return to
}

// textBytes is the length of the strings of row i.
func textBytes(v *parquet.ColumnValues, i int) int {
	switch v.Kind {
	case parquet.String:
		return len(v.Strings[i])
	case parquet.ListString, parquet.MapString:
		n := 0
		for k := v.Offsets[i]; k < v.Offsets[i+1]; k++ {
			n += len(v.Strings[k])
			if v.Kind == parquet.MapString {
				n += len(v.Keys[k])
			}
		}
		return n
	}
	return 0
}

// writeBatch writes the rows [from, to) as one record batch.
func writeBatch(out *ipc.Writer, b *array.RecordBuilder, columns []parquet.ColumnValues, from, to int) error {
	b.Reserve(to - from)
	for c := range columns {
		appendArrow(b.Field(c), &columns[c], from, to)
	}
	record := b.NewRecord()
	defer record.Release()
	return out.Write(record)
}

// appendArrow adds the rows [from, to) of a column to a builder of its type.
func appendArrow(b array.Builder, v *parquet.ColumnValues, from, to int) {
	valid := v.Valid[from:to]
	switch b := b.(type) {
	case *array.Int32Builder:
		for i, ok := range valid {
			appendOr(b, ok, int32(v.Ints[from+i]))
		}
	case *array.Int64Builder:
		b.AppendValues(v.Ints[from:to], valid)
	case *array.Float64Builder:
		b.AppendValues(v.Doubles[from:to], valid)
	case *array.BooleanBuilder:
		for i, ok := range valid {
			appendOr(b, ok, v.Ints[from+i] != 0)
		}
	case *array.StringBuilder:
		b.AppendValues(v.Strings[from:to], valid)
	case *array.MapBuilder: // before ListBuilder, which it has the methods of
		appendLists(b, v, from, to, func(k int32) {
			b.KeyBuilder().(*array.StringBuilder).Append(v.Keys[k])
			b.ItemBuilder().(*array.StringBuilder).Append(v.Strings[k])
		})
	case *array.ListBuilder:
		if ints, ok := b.ValueBuilder().(*array.Int32Builder); ok {
			appendLists(b, v, from, to, func(k int32) { ints.Append(int32(v.Ints[k])) })
		} else {
			texts := b.ValueBuilder().(*array.StringBuilder)
			appendLists(b, v, from, to, func(k int32) { texts.Append(v.Strings[k]) })
		}
	default:
		panic(fmt.Sprintf("dataset: no column for %T", b))
	}
}

// appendOr appends a value, or null.
func appendOr[T any](b interface {
	Append(v T)
	AppendNull()
}, valid bool, v T,
) {
	if valid {
		b.Append(v)
	} else {
		b.AppendNull()
	}
}

// appendLists appends lists or maps, whose element k add appends.
func appendLists(b interface {
	Append(valid bool)
	AppendNull()
}, v *parquet.ColumnValues, from, to int, add func(k int32),
) {
	for i := from; i < to; i++ {
		if !v.Valid[i] {
			b.AppendNull()
			continue
		}
		b.Append(true)
		for k := v.Offsets[i]; k < v.Offsets[i+1]; k++ {
			add(k)
		}
	}
}
