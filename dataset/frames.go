package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// frames reads the messages of an Arrow IPC stream, and looks at what they claim before the
// library of Arrow does: it makes slices as long as a message says, and nobody can recover
// from a lack of memory. A message is read into memory that grows as its bytes come.
type frames struct {
	in    io.Reader
	limit int64 // bytes of a message, compressed or not
	err   error // of the input itself, not of what it holds

	dictionaries []int64         // of the fields that have one: its id
	record       parts           // that rows have
	values       map[int64]parts // that a dictionary has, by id
	messages     int             // so far
	size         int64           // bytes of the last one
	added        int64           // bytes of dictionaries that were added to
}

// parts are how many descriptions of a kind a message must have: the library reads them
// without looking how many there are.
type parts struct{ nodes, buffers, views int }

// add adds the parts of a type, and the types of values of dictionaries in it.
func (p *parts) add(t arrow.DataType, values *[]arrow.DataType) error {
	p.nodes++
	inner := []arrow.DataType{}
	switch t := t.(type) {
	case *arrow.NullType:
	case *arrow.DictionaryType:
		p.buffers += 2
		*values = append(*values, t.ValueType)
		var of parts // dictionaries in its values
		return of.add(t.ValueType, values)
	case *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		p.buffers += 3
	case arrow.BinaryViewDataType:
		p.buffers += 2
		p.views++
	case *arrow.StructType:
		p.buffers++
		for _, f := range t.Fields() {
			inner = append(inner, f.Type)
		}
	case *arrow.FixedSizeListType:
		p.buffers++
		inner = append(inner, t.Elem())
	case *arrow.ListViewType, *arrow.LargeListViewType:
		p.buffers += 3
		inner = append(inner, t.(arrow.ListLikeType).Elem())
	case arrow.ListLikeType: // maps, too
		p.buffers += 2
		inner = append(inner, t.Elem())
	case arrow.FixedWidthDataType:
		p.buffers += 2
	case arrow.ExtensionType:
		p.nodes--
		inner = append(inner, t.StorageType())
	default:
		return fmt.Errorf("a column of type %s cannot be read: leave it out", t)
	}
	for _, t := range inner {
		if err := p.add(t, values); err != nil {
			return err
		}
	}
	return nil
}

// expect says which schema the messages have.
func (f *frames) expect(schema *arrow.Schema) error {
	var values []arrow.DataType
	for _, field := range schema.Fields() {
		if err := f.record.add(field.Type, &values); err != nil {
			return err
		}
	}
	f.values = make(map[int64]parts)
	if len(values) != len(f.dictionaries) {
		return errFrame
	}
	for i, t := range values {
		var p parts
		if err := p.add(t, new([]arrow.DataType)); err != nil {
			return err
		}
		f.values[f.dictionaries[i]] = p
	}
	return nil
}

// mostMetadata is how many bytes the description of a message may have.
const mostMetadata = 64 << 20

// Bounds of a schema.
const (
	mostFields = 100_000
	mostDepth  = 64
)

func (f *frames) Retain()  {}
func (f *frames) Release() {}

// Message returns the next message, io.EOF after the last.
func (f *frames) Message() (*ipc.Message, error) {
	length, err := f.length()
	if err != nil {
		return nil, err
	}
	if int64(length) > min(f.limit, mostMetadata) {
		return nil, fmt.Errorf("a message whose description has %d bytes; at most %d are read (limits.memory)", length, min(f.limit, mostMetadata))
	}
	meta, err := f.read(int64(length))
	if err != nil {
		return nil, err
	}
	m := flat(meta)
	kind, body, err := f.check(m)
	if err != nil {
		return nil, err
	}
	if body > f.limit {
		return nil, fmt.Errorf("a message of %d bytes, more than limits.memory, %d: send smaller batches", body, f.limit)
	}
	data, err := f.read(body)
	if err != nil {
		return nil, err
	}
	size, err := buffersOf(m, kind, data, f.limit)
	if err != nil {
		return nil, err
	}
	f.size = size
	if kind == dictionaryMessage {
		if f.added += size; f.added > f.limit {
			return nil, fmt.Errorf("dictionaries of more than limits.memory, %d bytes, in one stream", f.limit)
		}
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(data)), nil
}

// length reads how long the description of the next message is. Streams of before Arrow
// 0.15 have no mark before it.
func (f *frames) length() (uint32, error) {
	var b [4]byte
	if err := f.full(b[:], io.EOF); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(b[:])
	if n == 0xFFFFFFFF {
		if err := f.full(b[:], io.ErrUnexpectedEOF); err != nil {
			return 0, err
		}
		n = binary.LittleEndian.Uint32(b[:])
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// full fills b. atEnd is the error where there is nothing more.
func (f *frames) full(b []byte, atEnd error) error {
	_, err := io.ReadFull(f.in, b)
	switch {
	case errors.Is(err, io.EOF) && len(b) > 0:
		return atEnd
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		f.err = err
	}
	return err
}

// atOnce is how much memory is set aside for bytes that have not come yet.
const atOnce = 4 << 20

// read reads n bytes.
func (f *frames) read(n int64) ([]byte, error) {
	var data []byte
	for int64(len(data)) < n {
		have := len(data)
		more := int(min(n-int64(have), int64(max(atOnce, have))))
		data = append(make([]byte, 0, have+more), data...)[:have+more]
		if err := f.full(data[have:], io.ErrUnexpectedEOF); err != nil {
			return nil, err
		}
	}
	return data, nil
}

var errFrame = errors.New("damaged description of a message")

// A flat is a FlatBuffer, read field by field. What lies outside of it is errFrame, as a
// panic of [flat.check] that recoverFrame makes an error again.
//
// Source: FlatBuffers internals; format/Message.fbs and Schema.fbs of Arrow.
type flat []byte

func (b flat) check(at, n int) {
	if at < 0 || n < 0 || at > len(b) || n > len(b)-at {
		panic(errFrame)
	}
}

func (b flat) u16(at int) int { b.check(at, 2); return int(binary.LittleEndian.Uint16(b[at:])) }
func (b flat) u32(at int) int { b.check(at, 4); return int(binary.LittleEndian.Uint32(b[at:])) }
func (b flat) i64(at int) int64 {
	b.check(at, 8)
	return int64(binary.LittleEndian.Uint64(b[at:]))
}

// field is where field i of the table at a place is, 0 if it has none.
func (b flat) field(table, i int) int {
	vtable := table - int(int32(b.u32(table)))
	if 4+2*i >= b.u16(vtable) {
		return 0
	}
	off := b.u16(vtable + 4 + 2*i)
	if off == 0 {
		return 0
	}
	return table + off
}

// at follows the offset in field i of a table; 0 if it has none.
func (b flat) at(table, i int) int {
	at := b.field(table, i)
	if at == 0 {
		return 0
	}
	return at + b.u32(at)
}

// vector is the vector in field i of a table: its first element and its length.
func (b flat) vector(table, i, size int) (first, n int) {
	at := b.at(table, i)
	if at == 0 {
		return 0, 0
	}
	n = b.u32(at)
	b.check(at+4, n) // so that the product cannot overflow
	b.check(at+4, n*size)
	return at + 4, n
}

// byteOf is a field of one byte, 0 if it is not there.
func (b flat) byteOf(table, i int) byte {
	at := b.field(table, i)
	if at == 0 {
		return 0
	}
	b.check(at, 1)
	return b[at]
}

func (b flat) longOf(table, i int) int64 {
	at := b.field(table, i)
	if at == 0 {
		return 0
	}
	return b.i64(at)
}

// Kinds of messages, and types that are not read.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	recordMessage     = 3
	unionType         = 14
)

// check checks that all lists of a message are within it and that its kind is that which
// the library takes it for, and returns the length of its body.
func (f *frames) check(b flat) (kind byte, body int64, err error) {
	defer recoverFrame(&err)
	table := b.u32(0)
	if body = b.longOf(table, 3); body < 0 {
		return 0, 0, errFrame
	}
	b.pairs(table, 4)
	header := b.at(table, 2)
	kind = b.byteOf(table, 1)
	first := f.messages == 0
	switch {
	case first && kind == schemaMessage:
		b.pairs(header, 2)
		fields := 0
		b.eachField(header, 1, 0, &fields, &f.dictionaries)
		b.vector(header, 3, 8)
	case !first && kind == dictionaryMessage:
		b.record(b.at(header, 1), body, f.values[b.longOf(header, 0)])
	case !first && kind == recordMessage && f.messages > len(f.values): // they come before
		b.record(header, body, f.record)
	default:
		return 0, 0, errors.New("schema, dictionaries and rows do not follow each other as in an Arrow stream")
	}
	f.messages++
	return kind, body, nil
}

func recoverFrame(err *error) {
	if p := recover(); p != nil {
		if p, ok := p.(error); ok && errors.Is(p, errFrame) {
			*err = p
			return
		}
		panic(p)
	}
}

// pairs checks a vector of keys and values.
func (b flat) pairs(table, i int) {
	first, n := b.vector(table, i, 4)
	for k := range n {
		pair := first + 4*k + b.u32(first+4*k)
		b.vector(pair, 0, 1)
		b.vector(pair, 1, 1)
	}
}

// eachField checks the fields in field i of a table, and what is in them.
func (b flat) eachField(table, i, depth int, fields *int, dictionaries *[]int64) {
	first, n := b.vector(table, i, 4)
	if *fields += n; *fields > mostFields || depth > mostDepth {
		panic(fmt.Errorf("%w: more than %d fields, or %d inside each other", errFrame, mostFields, mostDepth))
	}
	for k := range n {
		field := first + 4*k + b.u32(first+4*k)
		b.vector(field, 0, 1)
		b.pairs(field, 6)
		if b.byteOf(field, 2) == unionType {
			name, n := b.vector(field, 0, 1)
			panic(fmt.Errorf("%w: column %q is a union; leave it out", errFrame, b[name:name+n]))
		}
		if kind := b.at(field, 3); kind != 0 {
			b.check(kind, 4)
		}
		if encoding := b.at(field, 4); encoding != 0 {
			*dictionaries = append(*dictionaries, b.longOf(encoding, 0))
		}
		b.eachField(field, 5, depth+1, fields, dictionaries)
	}
}

// record checks the description of rows or of a dictionary.
func (b flat) record(table int, body int64, want parts) {
	if table == 0 || b.longOf(table, 0) < 0 {
		panic(errFrame)
	}
	nodes, n := b.vector(table, 1, 16)
	if n < want.nodes {
		panic(errFrame)
	}
	for k := range n {
		if b.i64(nodes+16*k) < 0 || b.i64(nodes+16*k+8) < 0 {
			panic(errFrame)
		}
	}
	buffers, n := b.vector(table, 2, 16)
	for k := range n {
		at, length := b.i64(buffers+16*k), b.i64(buffers+16*k+8)
		if at < 0 || length < 0 || at > body || length > body-at {
			panic(errFrame)
		}
	}
	views, m := b.vector(table, 4, 8)
	left := int64(n - want.buffers)
	for k := range m {
		count := b.i64(views + 8*k)
		if left -= count; count < 0 || left < 0 {
			panic(errFrame)
		}
	}
	if m < want.views || left < 0 {
		panic(errFrame)
	}
}

// buffersOf is how many bytes the buffers of a message have, uncompressed as they say.
func buffersOf(b flat, kind byte, body []byte, limit int64) (sum int64, err error) {
	defer recoverFrame(&err)
	if kind == schemaMessage {
		return 0, nil
	}
	record := b.at(b.u32(0), 2)
	if kind == dictionaryMessage {
		record = b.at(record, 1)
	}
	if b.at(record, 3) == 0 { // not compressed
		return int64(len(body)), nil
	}
	buffers, n := b.vector(record, 2, 16)
	for k := range n {
		at, length := b.i64(buffers+16*k), b.i64(buffers+16*k+8)
		if length == 0 {
			continue
		}
		if length < 8 {
			return 0, errFrame
		}
		size := int64(binary.LittleEndian.Uint64(body[at:]))
		if size == -1 { // this one is not
			size = length
		}
		if size < 0 || size > limit-sum {
			return 0, fmt.Errorf("compressed buffers that say they have more than limits.memory, %d bytes: send smaller batches", limit)
		}
		sum += size
	}
	return sum, nil
}
