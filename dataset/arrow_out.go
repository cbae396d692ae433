package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"ibid/dataset/parquet"
)

// A Passed is a column of the input that becomes one of the output.
type Passed struct {
	Name string
	Kind parquet.ColumnKind // String, Int32, Int64, Double or Bool
}

// passedKinds are the types that passed columns can have, by their names.
var passedKinds = []struct {
	name string
	kind parquet.ColumnKind
}{{"utf8", parquet.String}, {"int32", parquet.Int32}, {"int64", parquet.Int64}, {"double", parquet.Double}, {"bool", parquet.Bool}}

// ParsePassed reads NAME:TYPE; without a type it is utf8.
func ParsePassed(text string) (Passed, error) {
	name, typ, given := strings.Cut(text, ":")
	var names []string
	for _, k := range passedKinds {
		if typ == k.name || !given && k.kind == parquet.String {
			return Passed{name, k.kind}, nil
		}
		names = append(names, k.name)
	}
	return Passed{}, fmt.Errorf("%q is no type of a column: those are %s", typ, strings.Join(names, ", "))
}

// An ArrowTable is the form of tables of results that leave as an Arrow IPC stream.
type ArrowTable struct {
	fields []parquet.Field
	passed []Passed
	schema *arrow.Schema
	bytes  []byte // the schema as a message
}

// NewArrowTable makes the form. All columns are nullable: row and id are not known of every
// row.
func NewArrowTable(fields []parquet.Field, passed []Passed, metadata map[string]string) (*ArrowTable, error) {
	t := &ArrowTable{fields: fields, passed: passed}
	var columns []arrow.Field
	for _, f := range fields {
		columns = append(columns, arrow.Field{Name: f.Name, Type: arrowTypeOf(f.Kind), Nullable: true})
	}
	for _, p := range passed {
		if slices.ContainsFunc(columns, func(f arrow.Field) bool { return f.Name == p.Name }) {
			return nil, fmt.Errorf("column %s is in the table already", p.Name)
		}
		columns = append(columns, arrow.Field{Name: p.Name, Type: arrowTypeOf(p.Kind), Nullable: true})
	}
	m := arrow.MetadataFrom(metadata)
	t.schema = arrow.NewSchema(columns, &m)
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(t.schema)).Close(); err != nil {
		return nil, err
	}
	const end = 8 // bytes, of the stream
	t.bytes = b.Bytes()[:b.Len()-end]
	return t, nil
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

// A Record is rows as Arrow has them.
type Record = arrow.Record

// An Origin says where the rows of a batch come from.
type Origin struct {
	Row    func(i int) (row int64, ok bool) // the input's number of row i of the batch
	First  int64                            // the place that the table has for the first row of the batch
	NoID   func(i int) bool                 // it has no id
	Record arrow.Record                     // that columns are passed from; nil if none are
}

// Record is the rows of a table, whose column row has their places in the batch. Columns that
// are passed need a row of the table for each of the batch. It has memory of its own.
func (t *ArrowTable) Record(table *parquet.Table, from *Origin) (arrow.Record, error) {
	columns := make([]arrow.Array, 0, len(t.fields)+len(t.passed))
	for c, f := range t.fields {
		switch {
		case f.Name == "row":
			columns = append(columns, rowsOf(table, c, from))
		case f.Name == "id" && from.NoID != nil:
			columns = append(columns, idsOf(table, c, from))
		default:
			a, err := columnOf(table, c)
			if err != nil {
				return nil, err
			}
			columns = append(columns, a)
		}
	}
	for _, p := range t.passed {
		a, err := passedOf(p, from.Record)
		if err != nil {
			return nil, err
		}
		columns = append(columns, a)
	}
	return array.NewRecord(t.schema, columns, int64(table.Rows())), nil
}

// bytesOf is the memory of numbers, which are little-endian as those of Arrow.
func bytesOf[T int32 | int64 | float64 | uint64](s []T) *memory.Buffer {
	var size T
	return memory.NewBufferBytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(size))))
}

// validity is the bitmap of the rows that have a value, nil if all do, and how many have
// none.
func validity(n *parquet.Numbers) (*memory.Buffer, int) {
	words := make([]uint64, (n.Rows+63)/64)
	copy(words, n.Valid)
	have := 0
	for _, w := range words {
		have += bits.OnesCount64(w)
	}
	if have == n.Rows {
		return nil, 0
	}
	return bytesOf(words), n.Rows - have
}

// spread puts values at the rows that have one.
func spread[T, V int32 | int64 | float64](n *parquet.Numbers, values []V) []T {
	out := make([]T, n.Rows)
	if n.Len() == n.Rows { // no nulls
		if same, ok := any(values).([]T); ok {
			copy(out, same)
			return out
		}
	}
	n.Each(func(row, at int) { out[row] = T(values[at]) })
	return out
}

// columnOf is a column of a table as an array of Arrow. Its memory is its own.
func columnOf(table *parquet.Table, c int) (arrow.Array, error) {
	f := table.Fields()[c]
	n := table.Numbers(c)
	valid, nulls := validity(&n)
	made := func(children []arrow.ArrayData, buffers ...*memory.Buffer) arrow.Array {
		return array.MakeFromData(array.NewData(arrowTypeOf(f.Kind), n.Rows, append([]*memory.Buffer{valid}, buffers...), children, nulls, 0))
	}
	switch f.Kind {
	case parquet.Int32:
		return made(nil, bytesOf(spread[int32](&n, n.Ints))), nil
	case parquet.Int64:
		return made(nil, bytesOf(spread[int64](&n, n.Ints))), nil
	case parquet.Double:
		return made(nil, bytesOf(spread[float64](&n, n.Doubles))), nil
	case parquet.Bool:
		words := make([]uint64, (n.Rows+63)/64)
		n.Each(func(row, at int) { words[row>>6] |= uint64(n.Ints[at]) << (row & 63) })
		return made(nil, bytesOf(words)), nil
	case parquet.String:
		offsets, data, err := textBuffers(f.Name, table.Texts(c))
		if err != nil {
			return nil, err
		}
		all := make([]int32, n.Rows+1) // of rows; those without a text have none
		next := 0
		for row := range n.Rows {
			if n.Has(row) {
				next++
			}
			all[row+1] = offsets[next]
		}
		return made(nil, bytesOf(all), memory.NewBufferBytes(data)), nil
	}
	lengths := table.Lengths(c)
	starts := make([]int32, n.Rows+1)
	next := 0
	for row := range n.Rows {
		starts[row+1] = starts[row]
		if n.Has(row) {
			starts[row+1] += lengths[next]
			next++
		}
	}
	total := int(starts[n.Rows])
	if f.Kind == parquet.ListInt32 {
		values := make([]int32, total)
		for i, v := range n.Ints {
			values[i] = int32(v)
		}
		child := array.NewData(arrow.PrimitiveTypes.Int32, total, []*memory.Buffer{nil, bytesOf(values)}, nil, 0, 0)
		return made([]arrow.ArrayData{child}, bytesOf(starts)), nil
	}
	if f.Kind == parquet.ListString {
		offsets, data, err := textBuffers(f.Name, table.Texts(c))
		if err != nil {
			return nil, err
		}
		child := array.NewData(arrow.BinaryTypes.String, total, []*memory.Buffer{nil, bytesOf(offsets), memory.NewBufferBytes(data)}, nil, 0, 0)
		return made([]arrow.ArrayData{child}, bytesOf(starts)), nil
	}
	key, value, err := mapTexts(f.Name, table, c, total)
	if err != nil {
		return nil, err
	}
	pairs := array.NewData(arrowTypeOf(f.Kind).(*arrow.MapType).Elem(), total, []*memory.Buffer{nil}, []arrow.ArrayData{key, value}, 0, 0)
	return made([]arrow.ArrayData{pairs}, bytesOf(starts)), nil
}

// packed are texts one after the other, and where each of them ends.
type packed struct {
	data []byte
	ends []int32
}

func (p *packed) add(texts []string) {
	for _, s := range texts {
		p.data = append(p.data, s...)
		p.ends = append(p.ends, int32(len(p.data)))
	}
}

// append appends all of o.
func (p *packed) append(o *packed) {
	at := int32(len(p.data))
	p.data = append(p.data, o.data...)
	for _, end := range o.ends {
		p.ends = append(p.ends, at+end)
	}
}

func (p *packed) array() arrow.ArrayData {
	return array.NewData(arrow.BinaryTypes.String, len(p.ends)-1, []*memory.Buffer{nil, bytesOf(p.ends), memory.NewBufferBytes(p.data)}, nil, 0, 0)
}

// mapTexts are the keys and the values of the maps of a column, total of each. Most rows
// share their map with others.
func mapTexts(column string, table *parquet.Table, c, total int) (keys, values arrow.ArrayData, err error) {
	numbers, of := table.Maps(c)
	type pair struct {
		keys, values packed
		rows         int
	}
	pairs := make(map[int32]*pair)
	for _, n := range numbers {
		p := pairs[n]
		if p == nil {
			p = new(pair)
			k, v := of(n)
			p.keys.add(k)
			p.values.add(v)
			pairs[n] = p
		}
		p.rows++
	}
	var keyBytes, valueBytes int
	for _, p := range pairs {
		keyBytes, valueBytes = keyBytes+p.rows*len(p.keys.data), valueBytes+p.rows*len(p.values.data)
	}
	if max(keyBytes, valueBytes) > math.MaxInt32 {
		return nil, nil, tooMuchText(column, max(keyBytes, valueBytes))
	}
	k := packed{make([]byte, 0, keyBytes), make([]int32, 1, total+1)}
	v := packed{make([]byte, 0, valueBytes), make([]int32, 1, total+1)}
	for _, n := range numbers {
		p := pairs[n]
		k.append(&p.keys)
		v.append(&p.values)
	}
	return k.array(), v.array(), nil
}

func tooMuchText(column string, size int) error {
	return fmt.Errorf("column %s of one batch has %d bytes of text: send smaller batches", column, size)
}

// textBuffers puts texts one after the other.
func textBuffers(column string, texts []string) (offsets []int32, data []byte, err error) {
	size := 0
	for _, s := range texts {
		size += len(s)
	}
	if size > math.MaxInt32 {
		return nil, nil, tooMuchText(column, size)
	}
	offsets, data = make([]int32, 1, len(texts)+1), make([]byte, 0, size)
	for _, s := range texts {
		data = append(data, s...)
		offsets = append(offsets, int32(len(data)))
	}
	return offsets, data, nil
}

// rowsOf are the input's numbers of the rows, where a table has their places in the batch.
func rowsOf(table *parquet.Table, c int, from *Origin) arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	at := table.Numbers(c)
	b.Reserve(at.Rows)
	for _, place := range at.Ints {
		row, ok := from.Row(int(place - from.First))
		appendOr(b, ok, row)
	}
	return b.NewArray()
}

// idsOf are the ids of a table that has a row for each of the batch, some of which have none.
func idsOf(table *parquet.Table, c int, from *Origin) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i, s := range table.Texts(c) {
		appendOr(b, !from.NoID(i), s)
	}
	return b.NewArray()
}

// passedOf is a column of the input in the type of the output. One that is not there is an
// [*ibid.Error], as is one of another type.
func passedOf(p Passed, record arrow.Record) (arrow.Array, error) {
	at := record.Schema().FieldIndices(p.Name)
	if len(at) != 1 {
		return nil, columnError(p.Name, "", "%d columns of this name in the input, which is to be passed", len(at))
	}
	column := record.Column(at[0])
	kind := shapeKind(column.DataType())
	null := nullsOf(column)
	wrong := func() error {
		return columnError(p.Name, "name its type: --pass NAME:TYPE", "%s instead of %s", column.DataType(), arrowTypeOf(p.Kind))
	}
	b := array.NewBuilder(memory.DefaultAllocator, arrowTypeOf(p.Kind))
	defer b.Release()
	switch b := b.(type) {
	case *array.StringBuilder:
		if kind != parquet.OfText {
			return nil, wrong()
		}
		text := textsOf(column)
		for i := range column.Len() {
			if null(i) {
				b.AppendNull()
			} else {
				b.Append(text(i))
			}
		}
	case *array.Float64Builder:
		if kind != parquet.OfFloats && kind != parquet.OfIntegers {
			return nil, wrong()
		}
		number := floatsOf(column)
		for i := range column.Len() {
			if null(i) {
				b.AppendNull()
			} else {
				b.Append(number(i))
			}
		}
	case *array.BooleanBuilder:
		flags, ok := column.(*array.Boolean)
		if !ok {
			return nil, wrong()
		}
		for i := range column.Len() {
			appendOr(b, !null(i), flags.Value(i))
		}
	default:
		if kind != parquet.OfIntegers {
			return nil, wrong()
		}
		number := intsOf(column)
		for i := range column.Len() {
			switch b := b.(type) {
			case *array.Int64Builder:
				if null(i) {
					b.AppendNull()
				} else {
					b.Append(number(i))
				}
			case *array.Int32Builder:
				switch {
				case null(i):
					b.AppendNull()
				case !fitsInt32(number(i)):
					return nil, columnError(p.Name, "", "%d does not fit", number(i))
				default:
					b.Append(int32(number(i)))
				}
			}
		}
	}
	return b.NewArray(), nil
}
