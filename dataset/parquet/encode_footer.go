package parquet

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

const resultCreatedBy = "ibid version 1" // Spark wants "NAME version NUMBER"

// A resultLeaf is one Parquet column of a field. Only maps have two.
type resultLeaf struct {
	column     int // index of the field
	path       []string
	typ        format.Type
	maxDef     uint8 // highest definition level
	repeated   bool  // a list's element or a map's key or value; highest repetition level 1
	mapKey     bool
	mapValue   bool
	isRequired bool // the field
}

// resultLeaves returns the Parquet columns of fields in file order.
func resultLeaves(fields []Field) []resultLeaf {
	var leaves []resultLeaf
	for i, f := range fields {
		l := resultLeaf{column: i, isRequired: f.Required, typ: leafType(f.Kind)}
		if !f.Required {
			l.maxDef++
		}
		switch f.Kind {
		case ListInt32, ListString:
			l.path, l.repeated = []string{f.Name, "list", "element"}, true
			l.maxDef++
			leaves = append(leaves, l)
		case MapString:
			l.repeated = true
			l.maxDef++
			key, value := l, l
			key.path, key.mapKey = []string{f.Name, "key_value", "key"}, true
			value.path, value.mapValue = []string{f.Name, "key_value", "value"}, true
			leaves = append(leaves, key, value)
		default:
			l.path = []string{f.Name}
			leaves = append(leaves, l)
		}
	}
	return leaves
}

func leafType(k ColumnKind) format.Type {
	switch k {
	case Int32, ListInt32:
		return format.Int32
	case Int64:
		return format.Int64
	case Double:
		return format.Double
	case Bool:
		return format.Boolean
	default:
		return format.ByteArray
	}
}

// A resultGroup is the footer's description of one row group.
type resultGroup struct {
	rows   int64
	chunks []resultChunk // one per leaf
}

// start returns the offset of the group's first byte in its file.
func (g *resultGroup) start() int64 { return g.chunks[0].first }

// size returns the group's length in bytes. Its chunks follow one another
// without gaps.
func (g *resultGroup) size() int64 {
	var n int64
	for i := range g.chunks {
		n += g.chunks[i].size
	}
	return n
}

// A resultChunk is the footer's description of one column of one row group. It
// begins with a dictionary page if data differs from first.
type resultChunk struct {
	encoding    format.Encoding // of the data pages
	values      int64           // with nulls
	nulls       int64
	rawSize     int64 // with page headers, before compression
	size        int64 // with page headers, in the file
	first, data int64 // offsets of the first page and the first data page
	min, max    []byte
	hasBounds   bool
}

// groupOf turns around what appendGroup writes.
func groupOf(r *format.RowGroup) *resultGroup {
	g := &resultGroup{rows: r.NumRows}
	for i := range r.Columns {
		m := &r.Columns[i].MetaData
		c := resultChunk{
			values: m.NumValues, nulls: m.Statistics.NullCount, rawSize: m.TotalUncompressedSize, size: m.TotalCompressedSize,
			first: chunkStart(m), data: m.DataPageOffset,
			min: m.Statistics.MinValue, max: m.Statistics.MaxValue, hasBounds: m.Statistics.MaxValue != nil,
		}
		if len(m.Encoding) > 0 {
			c.encoding = m.Encoding[0]
		}
		g.chunks = append(g.chunks, c)
	}
	return g
}

// appendFooter appends the footer, its length and the closing magic to dst.
// leaves is the number of Parquet columns; groups holds the encoded descriptions
// of the row groups, count of them.
func appendFooter(w *compactWriter, dst []byte, fields []Field, leaves int, rows int64, groups []byte, count int, metadata map[string]string) []byte {
	w.reset()
	w.i32(1, 2) // version
	writeSchema(w, fields)
	w.i64(3, rows)
	w.list(4, compactStruct, count)
	w.b = append(w.b, groups...)
	if len(metadata) > 0 {
		w.list(5, compactStruct, len(metadata))
		for _, k := range slices.Sorted(maps.Keys(metadata)) {
			w.open()
			w.string(1, k)
			w.string(2, metadata[k])
			w.end()
		}
	}
	w.string(6, resultCreatedBy)
	w.list(7, compactStruct, leaves) // column orders: without them the bounds mean nothing
	for range leaves {
		w.open()
		w.begin(1) // TYPE_ORDER
		w.end()
		w.end()
	}
	w.end()
	dst = append(dst, w.b...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(w.b)))
	return append(dst, magic...)
}

func writeSchema(w *compactWriter, fields []Field) {
	n := 1
	for _, f := range fields {
		switch f.Kind {
		case ListInt32, ListString:
			n += 3
		case MapString:
			n += 4
		default:
			n++
		}
	}
	w.list(2, compactStruct, n)
	w.open()
	w.string(4, "schema")
	w.i32(5, int32(len(fields)))
	w.end()
	for _, f := range fields {
		writeField(w, f)
	}
}

func writeField(w *compactWriter, f Field) {
	rep := format.Optional
	if f.Required {
		rep = format.Required
	}
	switch f.Kind {
	case ListInt32, ListString:
		writeGroup(w, f.Name, rep, 1, deprecated.List, (*format.ListType)(nil).FieldID())
		writeGroup(w, "list", format.Repeated, 1, -1, 0)
		writeLeaf(w, "element", format.Required, leafType(f.Kind))
	case MapString:
		writeGroup(w, f.Name, rep, 1, deprecated.Map, (*format.MapType)(nil).FieldID())
		writeGroup(w, "key_value", format.Repeated, 2, -1, 0)
		writeLeaf(w, "key", format.Required, format.ByteArray)
		writeLeaf(w, "value", format.Required, format.ByteArray)
	default:
		writeLeaf(w, f.Name, rep, leafType(f.Kind))
	}
}

// writeGroup writes a schema element with children. A converted type below 0
// means that the group has no annotation.
func writeGroup(w *compactWriter, name string, rep format.FieldRepetitionType, children int32, converted deprecated.ConvertedType, logical int16) {
	w.open()
	w.i32(3, int32(rep))
	w.string(4, name)
	w.i32(5, children)
	if converted >= 0 {
		writeAnnotation(w, converted, logical)
	}
	w.end()
}

func writeLeaf(w *compactWriter, name string, rep format.FieldRepetitionType, typ format.Type) {
	w.open()
	w.i32(1, int32(typ))
	w.i32(3, int32(rep))
	w.string(4, name)
	if typ == format.ByteArray {
		writeAnnotation(w, deprecated.UTF8, (*format.StringType)(nil).FieldID())
	}
	w.end()
}

// writeAnnotation writes the type annotation both ways: old readers know only
// the converted type.
func writeAnnotation(w *compactWriter, converted deprecated.ConvertedType, logical int16) {
	w.i32(6, int32(converted))
	w.begin(10)
	w.begin(logical)
	w.end()
	w.end()
}

// appendGroup appends the description of g, with its offsets moved by shift.
func appendGroup(w *compactWriter, leaves []resultLeaf, g *resultGroup, shift int64) {
	w.open()
	w.list(1, compactStruct, len(leaves))
	var raw int64
	for i := range leaves {
		writeChunk(w, &leaves[i], &g.chunks[i], shift)
		raw += g.chunks[i].rawSize
	}
	w.i64(2, raw)
	w.i64(3, g.rows)
	w.i64(5, g.start()+shift)
	w.i64(6, g.size())
	w.end()
}

func writeChunk(w *compactWriter, l *resultLeaf, c *resultChunk, shift int64) {
	w.open()
	w.i64(2, c.first+shift)
	w.begin(3)
	w.i32(1, int32(l.typ))
	encodings := []format.Encoding{c.encoding, format.RLE, format.Plain}
	if c.data == c.first {
		encodings = encodings[:2]
	}
	w.list(2, compactI32, len(encodings))
	for _, e := range encodings {
		w.b = binary.AppendVarint(w.b, int64(e))
	}
	w.list(3, compactBinary, len(l.path))
	for _, name := range l.path {
		w.element(name)
	}
	w.i32(4, int32(format.Snappy))
	w.i64(5, c.values)
	w.i64(6, c.rawSize)
	w.i64(7, c.size)
	w.i64(9, c.data+shift)
	if c.data != c.first {
		w.i64(11, c.first+shift)
	}
	w.begin(12)
	w.i64(3, c.nulls)
	if c.hasBounds {
		w.bytes(5, c.max)
		w.bytes(6, c.min)
	}
	w.end()
	w.end()
	w.end()
}

// A compactWriter appends structs of Thrift's compact protocol to b. Page
// headers and footers are written once per column and part, where the
// reflection of a general encoder costs more than the values.
//
// Source: Thrift compact protocol specification, Apache Thrift.
type compactWriter struct {
	b     []byte
	last  int16   // the field written last in the open struct
	outer []int16 // last of the enclosing structs
}

func (w *compactWriter) reset() { w.b, w.last, w.outer = w.b[:0], 0, w.outer[:0] }

func (w *compactWriter) field(id int16, typ byte) {
	if delta := id - w.last; delta > 0 && delta <= 15 {
		w.b = append(w.b, byte(delta)<<4|typ)
	} else {
		w.b = append(w.b, typ)
		w.b = binary.AppendVarint(w.b, int64(id))
	}
	w.last = id
}

func (w *compactWriter) i32(id int16, v int32) {
	w.field(id, compactI32)
	w.b = binary.AppendVarint(w.b, int64(v))
}

func (w *compactWriter) i64(id int16, v int64) {
	w.field(id, compactI64)
	w.b = binary.AppendVarint(w.b, v)
}

func (w *compactWriter) bytes(id int16, v []byte) {
	w.field(id, compactBinary)
	w.b = binary.AppendUvarint(w.b, uint64(len(v)))
	w.b = append(w.b, v...)
}

func (w *compactWriter) string(id int16, v string) {
	w.field(id, compactBinary)
	w.element(v)
}

// element appends a string of a list.
func (w *compactWriter) element(v string) {
	w.b = binary.AppendUvarint(w.b, uint64(len(v)))
	w.b = append(w.b, v...)
}

// list begins a list of n elements, which the caller appends.
func (w *compactWriter) list(id int16, typ byte, n int) {
	w.field(id, compactList)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|typ)
		return
	}
	w.b = append(w.b, 0xF0|typ)
	w.b = binary.AppendUvarint(w.b, uint64(n))
}

// begin opens a struct that is a field.
func (w *compactWriter) begin(id int16) {
	w.field(id, compactStruct)
	w.open()
}

// open opens a struct that is an element of a list.
func (w *compactWriter) open() {
	w.outer = append(w.outer, w.last)
	w.last = 0
}

// end closes the open struct; without one, the outermost.
func (w *compactWriter) end() {
	w.b = append(w.b, 0)
	if n := len(w.outer); n > 0 {
		w.last = w.outer[n-1]
		w.outer = w.outer[:n-1]
	}
}
