package dataset

import (
	"context"
	"encoding/binary"
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

	"ibid"
	"ibid/dataset/parquet"
)

// An ArrowStream is the rows of an Arrow IPC stream, of which one batch after the other is
// in memory.
type ArrowStream struct {
	name    string
	in      *arrowInput
	memory  *arrowMemory
	reader  *ipc.Reader
	set     *fileSet
	pool    *batchPool
	rows    *setReader
	binding *binding
	leaves  [][]int // of each leaf of the schema: the column, and the members on the way to it
	row     int     // the column row, -1 if there is none
	record  arrow.Record
}

// OpenArrow reads the schema of a stream, called name in messages. Columns are found and
// checked as those of files are, see [Open]; they may be utf8, large_utf8, views, integers,
// floats, booleans, lists of any layout, structs, maps, and dictionaries of these values. A
// message that takes more than a limit is an error before memory is set aside for it.
// A damaged stream may still end the process.
func OpenArrow(in io.Reader, name string, o ReadOptions) (*ArrowStream, error) {
	if o.Want == 0 {
		o.Want = WantAll
	}
	s := &ArrowStream{name: name, in: &arrowInput{in: in}, memory: &arrowMemory{limit: o.Limits.Times(mostMemory)}, row: -1}
	var err error
	if s.reader, err = ipc.NewReader(s.in, ipc.WithAllocator(s.memory)); err != nil {
		return nil, s.fail(err)
	}
	schema := s.reader.Schema()
	root := new(parquet.Node)
	for i, f := range schema.Fields() {
		s.add(root, f.Name, f.Type, []int{i})
		if f.Name == "row" && root.Children[i].Kind == parquet.Integer {
			s.row = i
		}
	}
	if s.binding, err = bind(root, &rowSpec, o.Columns, o.Want); err != nil {
		return nil, parquet.FileError(name, err)
	}
	s.set = &fileSet{spec: &rowSpec, options: o, lists: make([]bool, len(rowSpec.groups))}
	for g := range s.set.lists {
		s.set.lists[g] = s.binding.groups[g].found
	}
	value := func(key string) string {
		v, _ := schema.Metadata().GetValue(key)
		return v
	}
	s.set.conventions = FileConventions{OffsetUnit: value(metaOffsetUnit), SpanEnd: value(metaSpanEnd), OffsetBase: value(metaOffsetBase)}
	s.Use(s.Source())
	return s, nil
}

// An arrowInput is what a stream is read from. The library takes an end behind the beginning
// of a message for that of the stream; here it is [io.ErrUnexpectedEOF].
type arrowInput struct {
	in    io.Reader
	begun bool  // the last word announces a message
	err   error // of the input itself
}

func (r *arrowInput) Read(p []byte) (int, error) {
	n, err := io.ReadFull(r.in, p)
	word := len(p) == 4
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		r.err = err
	}
	if err == io.EOF && (r.begun || !word) {
		err = io.ErrUnexpectedEOF
	}
	r.begun = word && !r.begun && n == len(p) && binary.LittleEndian.Uint32(p) == 0xFFFFFFFF
	return n, err
}

// arrowMemory panics where the messages of one batch take more than limit bytes.
type arrowMemory struct {
	memory.GoAllocator
	limit, used, over int64
}

func (m *arrowMemory) Allocate(size int) []byte {
	if m.used += int64(size); m.used > m.limit {
		m.over = m.used
		panic("too much memory")
	}
	return m.GoAllocator.Allocate(size)
}

func (m *arrowMemory) Reallocate(size int, b []byte) []byte {
	more := m.Allocate(size)
	copy(more, b)
	return more
}

// Source is what the stream has as a dataset, but for its rows: columns, conventions, and
// what is joined to them.
func (s *ArrowStream) Source() *Source { return &Source{*s.set} }

// Use takes the joined tables and names of documents of a source that was made of
// [ArrowStream.Source]. It must be called before the first batch.
func (s *ArrowStream) Use(src *Source) {
	s.set = &src.fileSet
	set := *s.set
	set.present = make([]bool, len(set.spec.columns))
	for col := range set.present {
		set.present[col] = s.binding.leaves[col].Column >= 0
	}
	s.pool, s.rows = newBatchPool(s.set), newSetReader(&set)
	s.rows.name, s.rows.binding = s.name, s.binding
	for _, leaf := range (&openFile{binding: s.binding}).leaves(set.spec) {
		s.rows.columns[leaf.at] = &arrowLeaf{&s.record, leaf.Kind, s.leaves[leaf.Column]}
	}
}

// Schema is that of the stream.
func (s *ArrowStream) Schema() *arrow.Schema { return s.reader.Schema() }

// add adds a column to a schema for [bind], as Parquet would have it, and notes its leaves.
func (s *ArrowStream) add(to *parquet.Node, name string, t arrow.DataType, path []int) {
	n := to.Add(parquet.Node{Name: name, Type: t.String(), Leaf: len(s.leaves)}, true)
	n.Kind, n.Unsigned = arrowKind(t)
	list := parquet.Node{Name: "list", Repeated: true}
	inside := func(k int) []int { return append(slices.Clone(path), k) }
	switch t := t.(type) {
	case *arrow.MapType: // before ListLike, which it is
		pair := n.Add(list, false)
		s.add(pair, "key", t.KeyType(), inside(0))
		s.add(pair, "value", t.ItemType(), inside(1))
	case arrow.ListLikeType:
		s.add(n.Add(list, false), "element", t.Elem(), path)
	case *arrow.StructType:
		for i, f := range t.Fields() {
			s.add(n, f.Name, f.Type, inside(i))
		}
	default:
		s.leaves = append(s.leaves, path)
	}
}

// arrowKind is what the values of a column are read as.
func arrowKind(t arrow.DataType) (kind parquet.ValueKind, unsigned bool) {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		if kind, unsigned = arrowKind(t.ValueType); kind == parquet.Group {
			kind = parquet.Unreadable
		}
		return kind, unsigned
	case arrow.ListLikeType, *arrow.StructType:
		return parquet.Group, false
	}
	switch t.ID() {
	case arrow.NULL:
		return parquet.Nothing, false
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return parquet.Text, false
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64:
		return parquet.Integer, false
	case arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return parquet.Integer, true
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return parquet.Float, false
	case arrow.BOOL:
		return parquet.Flag, false
	}
	return parquet.Unreadable, false
}

// A StreamBatch is a batch of rows that come one after the other.
type StreamBatch struct {
	*Batch
	InputRow func(i int) (row int64, ok bool) // the input's column row; ok is false without, or for null
}

// Refuse makes row i an error row.
func (b *Batch) Refuse(i int, err error) { b.setRowError(int32(i), "", err) }

// Next returns the next batch, io.EOF after the last. Its texts are those of the record.
func (s *ArrowStream) Next(ctx context.Context) (batch *StreamBatch, err error) {
	defer func() {
		if p := recover(); p != nil { // what the arrays of damaged data do
			batch, err = nil, s.fail(corrupt("%v", p))
		}
	}()
	s.memory.used = 0
	if !s.reader.Next() {
		if err := s.reader.Err(); err != nil {
			return nil, s.fail(err)
		}
		return nil, io.EOF
	}
	record := s.reader.Record()
	limits := s.set.options.Limits
	if n := record.NumRows(); n > limits.PartSpans() {
		return nil, s.fail(fmt.Errorf("limits: a batch of %d rows, more than %d: send smaller batches", n, limits.PartSpans()))
	}
	for i, column := range record.Columns() {
		if int64(column.Len()) != record.NumRows() {
			return nil, s.fail(corrupt("column %s has %d rows of %d", s.Schema().Field(i).Name, column.Len(), record.NumRows()))
		}
	}
	record.Retain()
	b := s.pool.get()
	b.pos, s.record = s.rows.pos, record
	if err := s.rows.readRows(b, int(record.NumRows())); err != nil {
		return nil, s.fail(err)
	}
	b.rows = int(record.NumRows())
	s.rows.passed(record.NumRows())
	b.finish()
	if err := s.pool.admit(ctx, b, s.memory.used+b.spans*spanBytes); err != nil {
		return nil, err
	}
	batch = &StreamBatch{b, func(int) (int64, bool) { return 0, false }}
	if s.row >= 0 {
		var of parquet.Values
		leaf := arrowLeaf{&record, parquet.Integer, []int{s.row}}
		if _, err := leaf.ReadRows(b.rows, b.rows, &of, nil, nil); err != nil {
			return nil, s.fail(err)
		}
		batch.InputRow = func(i int) (int64, bool) { return of.Ints[i], of.Levels[i] > 0 }
	}
	return batch, nil
}

// fail says that it is the stream's fault, unless reading it failed.
func (s *ArrowStream) fail(err error) error {
	if s.in.err != nil {
		return fmt.Errorf("%s: %w", s.name, s.in.err)
	}
	if s.memory.over > 0 {
		err = fmt.Errorf("limits: a message that takes %d bytes, more than %d: send smaller batches", s.memory.over, s.memory.limit)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the stream ends within a message")
	}
	if e, ok := errors.AsType[*ibid.Error](err); ok {
		e.File = s.name
		return e
	}
	text := strings.TrimPrefix(err.Error(), "arrow/ipc: ")
	return &ibid.Error{File: s.name, Err: errors.New(text), Hint: "send an Arrow IPC stream, with its schema first"}
}

// An arrowLeaf reads a leaf of the records of a stream, with the levels that it has by the
// schema of [ArrowStream.add].
type arrowLeaf struct {
	record *arrow.Record
	kind   parquet.ValueKind
	path   []int // the column, and the members on the way to the leaf
}

// ReadRows implements [rowReader] for all rows of the record.
func (l *arrowLeaf) ReadRows(n, most int, dst *parquet.Values, rep *[]byte, _ *parquet.Arena) (int, error) {
	a, path := (*l.record).Column(l.path[0]), l.path[1:]
	e := arrowEntries{make([]int32, n), make([]byte, n), make([]byte, n)}
	for i := range e.at {
		e.at[i] = int32(i)
	}
	e.enter(a)
	for depth := byte(1); ; {
		switch of := a.(type) {
		case array.ListLike:
			if e = e.expand(of, depth, most); e.at == nil {
				return 0, parquet.ErrManyEntries
			}
			depth++
			if a = of.ListValues(); of.DataType().ID() == arrow.MAP { // a map has no pair that is null
				a, path = a.(*array.Struct).Field(path[0]), path[1:]
			}
			e.enter(a)
			continue
		case *array.Struct:
			a, path = of.Field(path[0]), path[1:]
			e.enter(a)
			continue
		case *array.Dictionary:
			a = e.decode(of)
		}
		break
	}
	checkLength(a)
	dst.Levels = append(dst.Levels, e.def...)
	if rep != nil {
		*rep = append(*rep, e.rep...)
	}
	switch l.kind {
	case parquet.Nothing:
	case parquet.Text:
		dst.NotUTF8 = true                                                                    // it is looked at text by text
		dst.Texts = appendValues(dst.Texts, e.at, a.(interface{ Value(i int) string }).Value) // String, LargeString, StringView
	case parquet.Float:
		dst.Floats = appendValues(dst.Floats, e.at, numbersOf[float64](a))
	default:
		dst.Ints = appendValues(dst.Ints, e.at, numbersOf[int64](a))
	}
	return len(e.at), nil
}

// arrowEntries are entries of an array: where each is, -1 of what is absent, and its levels.
type arrowEntries struct {
	at       []int32
	def, rep []byte
}

// enter raises the level of what is not null in an array.
func (e *arrowEntries) enter(a arrow.Array) {
	null := nullsOf(a)
	for k, i := range e.at {
		switch {
		case i < 0:
		case null(int(i)):
			e.at[k] = -1
		default:
			e.def[k]++
		}
	}
}

// expand are the elements of lists, none if they are more than most entries.
func (e *arrowEntries) expand(list array.ListLike, depth byte, most int) (out arrowEntries) {
	values := int64(list.ListValues().Len())
	out.at = make([]int32, 0, len(e.at))
	for k, i := range e.at {
		from, to, def, rep := int64(-1), int64(0), e.def[k], e.rep[k]
		if i >= 0 {
			from, to = list.ValueOffsets(int(i))
			if from < 0 || to < from || to > values || to > math.MaxInt32 {
				panic("a list outside of its values")
			}
		}
		if int64(len(out.at))+to-from > int64(most) {
			return arrowEntries{}
		}
		switch {
		case i < 0 || from == to:
			from, to = -1, 0 // one entry that is absent
		default:
			def++
		}
		for ; from < to; from++ {
			out.at, out.def, out.rep = append(out.at, int32(from)), append(out.def, def), append(out.rep, rep)
			rep = depth
		}
	}
	return out
}

// decode makes places in a dictionary those of its values, which may be null.
func (e *arrowEntries) decode(d *array.Dictionary) arrow.Array {
	checkLength(d)
	null := nullsOf(d.Dictionary())
	for k, i := range e.at {
		switch {
		case i < 0:
		case null(d.GetValueIndex(int(i))):
			e.at[k] = -1
			e.def[k]--
		default:
			e.at[k] = int32(d.GetValueIndex(int(i)))
		}
	}
	return d.Dictionary()
}

// appendValues appends the values at some places, and zeros for what is absent.
func appendValues[T any](dst []T, at []int32, value func(i int) T) []T {
	for _, i := range at {
		var v T
		if i >= 0 {
			v = value(int(i))
		}
		dst = append(dst, v)
	}
	return dst
}

// nullsOf says which entries of an array are null.
func nullsOf(a arrow.Array) func(i int) bool {
	if a.DataType().ID() == arrow.NULL {
		return func(int) bool { return true }
	}
	return a.IsNull
}

// checkLength panics if an array of numbers has fewer bytes than it says.
func checkLength(a arrow.Array) {
	t, ok := a.DataType().(arrow.FixedWidthDataType)
	if !ok || a.Len() == 0 {
		return
	}
	buffers, bits := a.Data().Buffers(), int64(a.Data().Offset()+a.Len())*int64(t.BitWidth())
	if len(buffers) < 2 || buffers[1] == nil || 8*int64(buffers[1].Len()) < bits {
		panic("a column with fewer values than it says")
	}
}

// numbersOf returns the values of an array of numbers or booleans.
func numbersOf[To int64 | float64](a arrow.Array) func(i int) To {
	switch a := a.(type) {
	case *array.Boolean:
		return func(i int) To {
			if a.Value(i) {
				return 1
			}
			return 0
		}
	case *array.Float16:
		return func(i int) To { return To(a.Value(i).Float32()) }
	}
	for _, of := range []func(arrow.Array) func(i int) To{
		number[int64, To], number[int32, To], number[int16, To], number[int8, To], number[float64, To],
		number[uint64, To], number[uint32, To], number[uint16, To], number[uint8, To], number[float32, To],
	} {
		if value := of(a); value != nil {
			return value
		}
	}
	panic(fmt.Sprintf("no number in %v", a.DataType()))
}

// number returns the values of an array of T, nil of another array.
func number[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64, To int64 | float64](a arrow.Array) func(i int) To {
	if of, ok := a.(interface{ Value(i int) T }); ok {
		return func(i int) To { return To(of.Value(i)) }
	}
	return nil
}
