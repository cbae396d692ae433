package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go/format"
)

const (
	pageValues = 1 << 17 // most values of one page, unless one row has more
	pageBytes  = 1 << 20 // most bytes of strings in one page, unless one row has more
	flushBytes = 1 << 18 // written at once
)

// An Encoder turns tables into Parquet files, each into a row group. It keeps its
// scratch memory from file to file; the zero value is ready. It is not safe for
// concurrent use.
//
// Encodings are chosen per column from the values alone: a dictionary when
// there are few distinct ones or integers lie close together, differences for
// other integers, else PLAIN.
type Encoder struct {
	w      io.Writer
	out    []byte // not yet written
	off    int64  // of the end of out in the file
	err    error
	groups []format.RowGroup // written so far
	sums   []uint32          // of their page headers and filters
	sum    uint32            // of those of the next one

	raw    []byte // one page
	snappy snappyPacker
	header compactWriter
	levels []*levels // of the rows of a table, then of what is inside them
	pages  leafPages
}

// EncodePart writes t as one complete Parquet file with a single row group,
// which has no rows if t has none. The bytes depend on nothing but the fields
// and the values of t. It is an error if a required column has a null or one
// row of a column does not fit a page of 2 GiB.
func (e *Encoder) EncodePart(w io.Writer, t *Table) error {
	e.Begin(w)
	if err := e.Group(t); err != nil {
		return err
	}
	return e.End(t, nil)
}

// Begin starts a file. Until [Encoder.End] has returned without an error, w holds part
// of a file.
func (e *Encoder) Begin(w io.Writer) {
	e.w, e.out, e.off, e.err, e.groups, e.sums = w, e.out[:0], 0, nil, nil, nil
	e.sum = 0
	e.write([]byte(magic))
}

// Group writes t as the next row group. Its errors are those of EncodePart.
func (e *Encoder) Group(t *Table) error {
	t.settle()
	rows := e.inside(0)
	rows.zero(t.rows)
	g := format.RowGroup{NumRows: int64(t.rows), FileOffset: e.off, Columns: make([]format.ColumnChunk, 0, len(t.schema.leaves))}
	if err := e.encodeColumns(&g, t, t.schema, 0); err != nil {
		return err
	}
	if err := e.filters(&g, t); err != nil {
		return err
	}
	for i := range g.Columns {
		g.TotalByteSize += g.Columns[i].MetaData.TotalUncompressedSize
		g.TotalCompressedSize += g.Columns[i].MetaData.TotalCompressedSize
	}
	e.groups, e.sums, e.sum = append(e.groups, g), append(e.sums, e.sum), 0
	return e.err
}

// End completes the file, of which all groups have the columns of t.
func (e *Encoder) End(t *Table, metadata map[string]string) error { return e.end(t.schema, metadata) }

func (e *Encoder) write(b []byte) {
	e.out = append(e.out, b...)
	e.off += int64(len(b))
	if len(e.out) >= flushBytes {
		e.flush()
	}
}

func (e *Encoder) flush() {
	if e.err == nil && len(e.out) > 0 {
		_, e.err = e.w.Write(e.out)
	}
	e.out = e.out[:0]
}

// inside returns the levels at that depth of nesting.
func (e *Encoder) inside(depth int) *levels {
	for len(e.levels) <= depth {
		e.levels = append(e.levels, new(levels))
	}
	return e.levels[depth]
}

// encodeColumns writes the columns of t, whose rows are the entries at that depth that
// are there.
func (e *Encoder) encodeColumns(g *format.RowGroup, t *Table, s *schema, depth int) error {
	up, l := e.inside(depth), e.inside(depth+1)
	for i := range t.columns {
		c, f := &t.columns[i], &t.fields[i]
		if n := countBits(c.valid, 0, t.rows); f.Required && n != t.rows {
			return fmt.Errorf("result column %q: %d of %d rows are null, but it is required", f.Name, t.rows-n, t.rows)
		}
		l.expand(up, c, f.Required)
		if c.kind == ListStruct {
			if err := e.encodeColumns(g, c.structs, s, depth+1); err != nil {
				return err
			}
			continue
		}
		for range f.Kind.leaves() {
			leaf := &s.leaves[len(g.Columns)]
			if err := e.encodeLeaf(g, leaf, c, l); err != nil {
				return fmt.Errorf("result column %q: %w", strings.Join(leaf.path, "."), err)
			}
		}
	}
	return nil
}

// encodeLeaf writes one column chunk and describes it in g.
func (e *Encoder) encodeLeaf(g *format.RowGroup, leaf *resultLeaf, c *tableColumn, l *levels) error {
	p := &e.pages
	p.begin(leaf, c, l)
	encoding := p.values.encoding()
	g.Columns = append(g.Columns, format.ColumnChunk{FileOffset: e.off, MetaData: format.ColumnMetaData{
		Type: leaf.typ, Encoding: []format.Encoding{encoding, format.RLE}, PathInSchema: leaf.path, Codec: format.Snappy,
		NumValues: int64(len(l.def)), DataPageOffset: e.off,
	}})
	m := &g.Columns[len(g.Columns)-1].MetaData
	for at := 0; at == 0 || at < len(l.def); {
		end := p.cut(at)
		e.raw = p.page(e.raw[:0], at, end)
		if at == 0 && p.values.dictionary() { // what a page has found is in it
			m.Encoding = append(m.Encoding, format.Plain)
			m.DictionaryPageOffset = e.off
			if err := e.dictionaryPage(m, &p.values); err != nil {
				return err
			}
			m.DataPageOffset = e.off
		}
		if err := e.dataPage(m, encoding, e.raw, end-at, p.values.wide()); err != nil {
			return err
		}
		if end == at {
			break // no rows at all
		}
		at = end
	}
	m.Statistics.NullCount = m.NumValues - int64(p.done)
	if least, most, ok := p.values.bounds([]byte{}, []byte{}); ok {
		m.Statistics.MinValue, m.Statistics.MaxValue = least, most
	}
	return e.err
}

func (e *Encoder) dictionaryPage(m *format.ColumnMetaData, v *leafValues) error {
	return e.writePage(m, v.dict, func(w *compactWriter) {
		w.begin(7)
		w.i32(1, int32(v.dictLen))
		w.i32(2, int32(format.Plain))
		w.end()
	}, format.DictionaryPage, false)
}

func (e *Encoder) dataPage(m *format.ColumnMetaData, encoding format.Encoding, raw []byte, values int, wide bool) error {
	return e.writePage(m, raw, func(w *compactWriter) {
		w.begin(5)
		w.i32(1, int32(values))
		w.i32(2, int32(encoding))
		w.i32(3, int32(format.RLE))
		w.i32(4, int32(format.RLE))
		w.end()
	}, format.DataPage, wide)
}

// writePage writes the page raw under the header that fields completes. wide is
// that of [snappyPacker.pack].
func (e *Encoder) writePage(m *format.ColumnMetaData, raw []byte, fields func(*compactWriter), typ format.PageType, wide bool) error {
	if s2.MaxEncodedLen(len(raw)) < 0 || s2.MaxEncodedLen(len(raw)) > math.MaxInt32 {
		return fmt.Errorf("page of %d bytes does not fit 2 GiB", len(raw))
	}
	body := e.snappy.pack(raw, wide)
	w := &e.header
	w.reset()
	w.i32(1, int32(typ))
	w.i32(2, int32(len(raw)))
	w.i32(3, int32(len(body)))
	w.i32(4, int32(crc32.ChecksumIEEE(body)))
	fields(w)
	w.end()
	e.sum = crc32.Update(e.sum, crc32.IEEETable, w.b)
	m.TotalUncompressedSize += int64(len(w.b) + len(raw))
	m.TotalCompressedSize += int64(len(w.b) + len(body))
	e.write(w.b)
	e.write(body)
	return e.err
}

// levels are the repetition and definition levels of entries, as Parquet has them: of
// the rows of a table, or of what a column has inside them.
//
// Source: Melnik et al., Dremel: Interactive Analysis of Web-Scale Datasets, VLDB
// 2010, section 4.1.
type levels struct {
	rep, def       []byte
	maxRep, maxDef byte // def is maxDef for an entry that is there

	repMemory, defMemory []byte // rep and def may be those of other levels
	full                 []byte // of ones, which nobody writes to
}

// ones are n levels 1.
func (l *levels) ones(n int) []byte {
	for len(l.full) < n {
		l.full = append(l.full, 1)
	}
	return l.full[:n]
}

// zero makes the levels of n rows.
func (l *levels) zero(n int) {
	if cap(l.defMemory) < n {
		l.defMemory = make([]byte, n)
	}
	l.def, l.maxRep, l.maxDef = l.defMemory[:n], 0, 0 // nobody writes to them
	l.rep = l.def
}

// expand makes the levels of what column c has inside the entries of up: a value, or
// the elements of a list.
func (l *levels) expand(up *levels, c *tableColumn, required bool) {
	l.rep, l.def, l.maxRep, l.maxDef = up.rep, up.def, up.maxRep, up.maxDef
	if !required {
		l.maxDef++
	}
	switch lengths := c.listLengths(); {
	case c.kind.isList():
		l.rep, l.def = l.repMemory[:0], l.defMemory[:0]
		l.maxRep++
		l.maxDef++
		l.expandLists(up, c, required, lengths)
		l.repMemory, l.defMemory = l.rep, l.def
	case required || c.end == 0: // as those above
	case up.maxDef == 0 && countBits(c.valid, 0, len(up.def)) == len(up.def): // rows, all with a value
		l.def = l.ones(len(up.def))
	case up.maxDef == 0: // rows
		l.defMemory = spreadBits(l.defMemory[:0], c.valid, len(up.def))
		l.def = l.defMemory
	default:
		l.def = append(l.defMemory[:0], up.def...)
		row := 0
		for i, def := range l.def {
			if def == up.maxDef {
				l.def[i] += c.bit(row)
				row++
			}
		}
		l.defMemory = l.def
	}
}

// expandLists appends the elements of lists. A null list and an empty one have one
// entry that is not there.
func (l *levels) expandLists(up *levels, c *tableColumn, required bool, lengths []int32) {
	row := 0
	for i, def := range up.def {
		l.rep = append(l.rep, up.rep[i])
		present := def == up.maxDef
		if present {
			present = required || c.bit(row) == 1
			row++
		}
		if !present {
			l.def = append(l.def, def)
			continue
		}
		n := int(lengths[0])
		lengths = lengths[1:]
		if n == 0 {
			l.def = append(l.def, l.maxDef-1)
			continue
		}
		l.def = appendSame(l.def, l.maxDef, n)
		l.rep = appendSame(l.rep, l.maxRep, n-1)
	}
}

// appendSame appends n levels, eight at a time.
func appendSame(dst []byte, level byte, n int) []byte {
	end := len(dst) + n
	dst = slices.Grow(dst, n+7)
	for at := len(dst); at < end; at += 8 {
		binary.LittleEndian.PutUint64(dst[at:at+8], uint64(level)*0x0101010101010101)
	}
	return dst[:end]
}

// leafPages cuts one leaf into pages. The values of a page are laid out by values.
type leafPages struct {
	*levels
	values leafValues
	lists  int // lists before the next page, if they are maps
	done   int // values before the next page
}

func (p *leafPages) begin(leaf *resultLeaf, c *tableColumn, l *levels) {
	p.levels, p.lists, p.done = l, 0, 0
	p.values.begin(c, leaf)
}

// count is the number of values in the entries [from, to).
func (p *leafPages) count(from, to int) int { return bytes.Count(p.def[from:to], []byte{p.maxDef}) }

// rowAfter returns the first entry of a row above at.
func (p *leafPages) rowAfter(at int) int {
	if p.maxRep == 0 {
		return at + 1
	}
	if n := bytes.IndexByte(p.rep[at+1:], 0); n >= 0 {
		return at + 1 + n
	}
	return len(p.rep)
}

// cut returns the end of the page that begins with entry at, which is that of a row.
func (p *leafPages) cut(at int) int {
	limit := min(len(p.def), at+pageValues)
	if p.values.plainBytes() <= pageBytes {
		if limit == len(p.def) || p.maxRep == 0 {
			return limit
		}
		if n := bytes.LastIndexByte(p.rep[at+1:limit+1], 0); n >= 0 {
			return at + 1 + n
		}
		return p.rowAfter(at)
	}
	end, size, value := at, 0, p.done
	for end < len(p.def) {
		next := p.rowAfter(end)
		n := p.count(end, next)
		size += p.values.stringBytes(value, value+n)
		if end > at && (next > limit || size > pageBytes) {
			break
		}
		value += n
		end = next
	}
	return end
}

// page appends the page of the entries [from, to) to dst. Pages must be asked for in
// order.
func (p *leafPages) page(dst []byte, from, to int) []byte {
	if p.maxRep > 0 {
		dst = appendLevels(dst, p.rep[from:to], p.maxRep)
	}
	if p.maxDef > 0 {
		dst = appendLevels(dst, p.def[from:to], p.maxDef)
	}
	n := p.count(from, to)
	if p.values.mode >= mapCodes {
		lists := p.lists // not null: an empty one is one entry
		p.lists += n + bytes.Count(p.def[from:to], []byte{p.maxDef - 1}) - bytes.Count(p.rep[from:to], []byte{p.maxRep})
		dst = p.values.appendMaps(dst, lists, p.lists, n)
	} else {
		dst = p.values.append(dst, p.done, p.done+n)
	}
	p.done += n
	return dst
}

// appendLevels appends a block of levels up to highest: its length, then one run.
func appendLevels(dst, levels []byte, highest byte) []byte {
	at, width := len(dst), uint(bits.Len8(highest))
	dst = append(dst, 0, 0, 0, 0)
	switch n := len(levels); {
	case n == 0:
		dst = appendRLERun(dst, 0, width, 0)
	case bytes.Count(levels, levels[:1]) == n:
		dst = appendRLERun(dst, uint64(levels[0]), width, n)
	default:
		dst = packLevels(appendPackedHeader(dst, n), levels, width)
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
