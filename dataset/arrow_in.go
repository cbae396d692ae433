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
	binding *binding
	leaves  [][]int // of each leaf of the schema: the column, and the members on the way to it
	row     int     // the column row, -1 if there is none
	pos     int64
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
	s.pool = newBatchPool(s.set)
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
	Record   arrow.Record                     // nil of what is no Arrow
}

// Refuse makes row i an error row.
func (b *Batch) Refuse(i int, err error) { b.setRowError(int32(i), "", err) }

// inputRows are what a record has in its column row.
func (s *ArrowStream) inputRows(record arrow.Record) func(i int) (row int64, ok bool) {
	if s.row < 0 {
		return func(int) (int64, bool) { return 0, false }
	}
	column := record.Column(s.row)
	checkLength(column)
	null, number := nullsOf(column), intsOf(column)
	return func(i int) (int64, bool) {
		if null(i) {
			return 0, false
		}
		return number(i), true
	}
}

// Next returns the next batch, io.EOF after the last. Its texts are those of the record.
func (s *ArrowStream) Next(ctx context.Context) (batch *StreamBatch, err error) {
	defer func() {
		if p := recover(); p != nil { // what the arrays of damaged data do
			batch, err = nil, s.fail(corrupt("%v", p))
		}
	}()
	if s.pool == nil {
		s.pool = newBatchPool(s.set)
	}
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
	b.pos = s.pos
	b.parts = append(b.parts, batchPart{s.name, 0, s.pos})
	b.rows = int(record.NumRows())
	s.pos += record.NumRows()
	if err := s.fill(b, record); err != nil {
		return nil, s.fail(err)
	}
	b.finish()
	if err := s.pool.admit(ctx, b, s.memory.used+b.spans*spanBytes); err != nil {
		return nil, err
	}
	return &StreamBatch{b, s.inputRows(record), record}, nil
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

// fill reads all columns of a record.
func (s *ArrowStream) fill(b *Batch, record arrow.Record) error {
	rows := make([]int32, b.rows)
	for i := range rows {
		rows[i] = int32(i)
	}
	for col := range rowSpec.columns {
		if leaf := &s.binding.leaves[col]; rowSpec.columns[col].group < 0 && leaf.Column >= 0 {
			column := record.Column(s.leaves[leaf.Column][0])
			s.values(b, col, column, rows, codesOf(column, rows, nil, codeNull, codePlain))
		}
	}
	for g := range rowSpec.groups {
		if s.binding.groups[g].found {
			if err := s.group(b, g, record.Column(s.leaves[s.binding.groups[g].skeleton.Column][0]), rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// group reads a list column: its shape, and its members.
func (s *ArrowStream) group(b *Batch, g int, column arrow.Array, rows []int32) (err error) {
	group := &b.groups[g]
	var at []int32 // of each entry: its element
	group.start, group.code, at, err = b.expand(column, rows, nil, [...]byte{codeNull, codeEmpty, codeNothing, codeElement})
	if err != nil {
		return err
	}
	elements := column.(array.ListLike).ListValues()
	for _, col := range rowSpec.members(g) {
		leaf, d := &s.binding.leaves[col], &b.leaves[col]
		nested := rowSpec.columns[col].nested()
		if leaf.Column < 0 {
			if nested {
				d.start = extend(d.start, len(group.code))
			} else {
				d.pad(len(group.code))
			}
			continue
		}
		member := elements.(*array.Struct).Field(s.leaves[leaf.Column][1])
		if !nested {
			s.values(b, col, member, at, codesOf(member, at, group.code, codeElement, codeValue))
			continue
		}
		var codes []byte
		var inner []int32
		if d.start, codes, inner, err = b.expand(member, at, group.code, [...]byte{codeElement, codeValue, codeInnerNothing, codeInnerValue}); err != nil {
			return err
		}
		s.values(b, col, member.(array.ListLike).ListValues(), inner, codes)
	}
	return nil
}

// codesOf are the codes of the entries at some places of an array: one for null and one for
// a value, or that of outer unless an element is there.
func codesOf(a arrow.Array, at []int32, outer []byte, absent, present byte) []byte {
	codes, null := make([]byte, len(at)), nullsOf(a)
	for k, i := range at {
		switch {
		case outer != nil && outer[k] != codeElement:
			codes[k] = outer[k]
		case null(int(i)):
			codes[k] = absent
		default:
			codes[k] = present
		}
	}
	return codes
}

// expand reads the lists at some places of an array. start[i] is the first entry of list i;
// codes holds a code for each entry, and at the index of its element, -1 for none. names are
// the codes of a null list, an empty list, a null element and an element with a value. For
// lists within lists, outer holds the codes of the outer entries.
func (b *Batch) expand(a arrow.Array, places []int32, outer []byte, names [4]byte) (start []int32, codes []byte, at []int32, err error) {
	list := a.(array.ListLike)
	elements := list.ListValues()
	noList, noElement := nullsOf(a), nullsOf(elements)
	add := func(code byte, element int64) {
		codes, at = append(codes, code), append(at, int32(element))
	}
	for k, i := range places {
		start = append(start, int32(len(codes)))
		switch {
		case outer != nil && outer[k] != codeElement:
			add(outer[k], -1)
			continue
		case noList(int(i)):
			add(names[0], -1)
			continue
		}
		from, to := list.ValueOffsets(int(i))
		switch n := to - from; {
		case from < 0 || n < 0 || to > int64(elements.Len()) || to > math.MaxInt32:
			panic("a list outside of its values")
		case n > int64(b.entriesLeft(0)):
			return nil, nil, nil, b.limits.errManySpans()
		case n == 0:
			add(names[1], -1)
		}
		b.spans += to - from
		for e := from; e < to; e++ {
			if noElement(int(e)) {
				add(names[2], e)
			} else {
				add(names[3], e)
			}
		}
	}
	return start, codes, at, nil
}

// values appends the values at some places of an array, zero where the place is -1 or the
// value null, and their codes.
func (s *ArrowStream) values(b *Batch, col int, a arrow.Array, at []int32, codes []byte) {
	checkLength(a)
	d, kind := &b.leaves[col], rowSpec.columns[col].kind
	d.Levels = append(d.Levels, codes...)
	switch kind {
	case parquet.String, parquet.ListString:
		d.NotUTF8 = true // it is looked at text by text
		d.Texts = appendArray(d.Texts, a, at, textsOf)
	case parquet.Double:
		d.Floats = appendArray(d.Floats, a, at, floatsOf)
	default:
		d.Ints = appendArray(d.Ints, a, at, intsOf)
	}
	d.check(&s.binding.leaves[col], kind, 0)
}

func appendArray[T any](dst []T, a arrow.Array, at []int32, of func(arrow.Array) func(i int) T) []T {
	null, value := nullsOf(a), of(a)
	for _, i := range at {
		var v T
		if i >= 0 && !null(int(i)) {
			v = value(int(i))
		}
		dst = append(dst, v)
	}
	return dst
}

// nullsOf says which entries of an array are null.
func nullsOf(a arrow.Array) func(i int) bool {
	switch a := a.(type) {
	case *array.Null:
		return func(int) bool { return true }
	case *array.Dictionary:
		values := nullsOf(a.Dictionary())
		return func(i int) bool { return a.IsNull(i) || values(a.GetValueIndex(i)) }
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

// throughDictionary makes the values of a dictionary those of the places that have them.
func throughDictionary[T any](a *array.Dictionary, of func(arrow.Array) func(i int) T) func(i int) T {
	checkLength(a.Dictionary())
	value := of(a.Dictionary())
	return func(i int) T { return value(a.GetValueIndex(i)) }
}

func textsOf(a arrow.Array) func(i int) string {
	switch a := a.(type) {
	case *array.Dictionary:
		return throughDictionary(a, textsOf)
	case interface{ Value(i int) string }: // String, LargeString, StringView
		return a.Value
	}
	panic(fmt.Sprintf("no text in %v", a.DataType()))
}

func number[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](a interface{ Value(i int) T }) func(i int) int64 {
	return func(i int) int64 { return int64(a.Value(i)) }
}

func intsOf(a arrow.Array) func(i int) int64 {
	switch a := a.(type) {
	case *array.Dictionary:
		return throughDictionary(a, intsOf)
	case *array.Int64:
		return a.Value
	case *array.Int32:
		return number(a)
	case *array.Int16:
		return number(a)
	case *array.Int8:
		return number(a)
	case *array.Uint64:
		return number(a)
	case *array.Uint32:
		return number(a)
	case *array.Uint16:
		return number(a)
	case *array.Uint8:
		return number(a)
	case *array.Boolean:
		return func(i int) int64 {
			if a.Value(i) {
				return 1
			}
			return 0
		}
	}
	panic(fmt.Sprintf("no integer in %v", a.DataType()))
}

func floatsOf(a arrow.Array) func(i int) float64 {
	switch a := a.(type) {
	case *array.Dictionary:
		return throughDictionary(a, floatsOf)
	case *array.Float64:
		return a.Value
	case *array.Float32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float16:
		return func(i int) float64 { return float64(a.Value(i).Float32()) }
	case *array.Uint64:
		return func(i int) float64 { return float64(a.Value(i)) }
	}
	integer := intsOf(a)
	return func(i int) float64 { return float64(integer(i)) }
}
