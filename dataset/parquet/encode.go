package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go/format"
)

const (
	pageValues = 1 << 17 // most values of one page, unless eight rows have more
	pageBytes  = 1 << 20 // most bytes of strings in one page, unless eight rows have more
	flushBytes = 1 << 18 // written at once
)

// An Encoder turns tables into Parquet. It keeps its scratch memory from part
// to part; the zero value is ready. It is not safe for concurrent use.
//
// Encodings are chosen per column from the values alone: a dictionary when
// there are few distinct ones or integers lie close together, differences for
// other integers, else PLAIN.
type Encoder struct {
	w   io.Writer
	out []byte // not yet written
	off int64  // of the end of out in the file
	err error

	raw    []byte // one page
	footer []byte
	snappy snappyPacker
	meta   compactWriter
	group  resultGroup
	pages  leafPages
}

// EncodePart writes t as one complete Parquet file with a single row group,
// which has no rows if t has none. The bytes depend on nothing but the fields
// and the values of t. It is an error if a required column has a null or eight
// rows of a column do not fit a page of 2 GiB.
func (e *Encoder) EncodePart(w io.Writer, t *Table) error {
	t.settle()
	for i, f := range t.fields {
		if n := countBits(t.columns[i].valid, 0, t.rows); f.Required && n != t.rows {
			return fmt.Errorf("result column %q: %d of %d rows are null, but it is required", f.Name, t.rows-n, t.rows)
		}
	}
	e.w, e.out, e.off, e.err = w, e.out[:0], 0, nil
	e.write([]byte(magic))
	e.group.rows = int64(t.rows)
	e.group.chunks = slices.Grow(e.group.chunks[:0], len(t.leaves))[:len(t.leaves)]
	for i := range t.leaves {
		l := &t.leaves[i]
		if err := e.encodeLeaf(&e.group.chunks[i], t, l); err != nil {
			return fmt.Errorf("result column %q: %w", t.fields[l.column].Name, err)
		}
	}
	e.meta.reset()
	appendGroup(&e.meta, t.leaves, &e.group, 0)
	e.raw = append(e.raw[:0], e.meta.b...)
	e.footer = appendFooter(&e.meta, e.footer[:0], t.fields, len(t.leaves), e.group.rows, e.raw, 1, nil)
	e.write(e.footer)
	e.flush()
	e.w = nil
	return e.err
}

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

// encodeLeaf writes one column chunk and describes it in c.
func (e *Encoder) encodeLeaf(c *resultChunk, t *Table, l *resultLeaf) error {
	p := &e.pages
	p.begin(t, l)
	*c = resultChunk{encoding: p.values.encoding(), first: e.off, data: e.off, min: c.min[:0], max: c.max[:0]}
	for row := 0; row == 0 || row < t.rows; {
		end := p.cut(row)
		raw, values := p.page(e.raw[:0], row, end)
		e.raw = raw
		if row == 0 {
			if p.values.dictionary() {
				if err := e.dictionaryPage(c, &p.values); err != nil {
					return err
				}
				c.data = e.off
			}
		}
		if err := e.dataPage(c, raw, values, p.values.wide()); err != nil {
			return err
		}
		c.values += int64(values)
		if end == row {
			break // no rows at all
		}
		row = end
	}
	c.nulls = c.values - int64(p.done)
	c.min, c.max, c.hasBounds = p.values.bounds(c.min, c.max)
	return e.err
}

func (e *Encoder) dictionaryPage(c *resultChunk, v *leafValues) error {
	return e.writePage(c, v.dict, func(w *compactWriter) {
		w.begin(7)
		w.i32(1, int32(v.dictLen))
		w.i32(2, int32(format.Plain))
		w.end()
	}, format.DictionaryPage, false)
}

func (e *Encoder) dataPage(c *resultChunk, raw []byte, values int, wide bool) error {
	return e.writePage(c, raw, func(w *compactWriter) {
		w.begin(5)
		w.i32(1, int32(values))
		w.i32(2, int32(c.encoding))
		w.i32(3, int32(format.RLE))
		w.i32(4, int32(format.RLE))
		w.end()
	}, format.DataPage, wide)
}

// writePage writes the page raw under the header that fields completes. wide is
// that of [snappyPacker.pack].
func (e *Encoder) writePage(c *resultChunk, raw []byte, fields func(*compactWriter), typ format.PageType, wide bool) error {
	if s2.MaxEncodedLen(len(raw)) < 0 || s2.MaxEncodedLen(len(raw)) > math.MaxInt32 {
		return fmt.Errorf("page of %d bytes does not fit 2 GiB", len(raw))
	}
	body := e.snappy.pack(raw, wide)
	w := &e.meta
	w.reset()
	w.i32(1, int32(typ))
	w.i32(2, int32(len(raw)))
	w.i32(3, int32(len(body)))
	w.i32(4, int32(crc32.ChecksumIEEE(body)))
	fields(w)
	w.end()
	c.rawSize += int64(len(w.b) + len(raw))
	c.size += int64(len(w.b) + len(body))
	e.write(w.b)
	e.write(body)
	return e.err
}

// appendLevelBlock appends a block of levels: its length, then the hybrid that fill
// appends.
func appendLevelBlock(dst []byte, fill func([]byte) []byte) []byte {
	at := len(dst)
	dst = fill(append(dst, 0, 0, 0, 0))
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// leafPages cuts one leaf of a table into pages and lays out their levels. The
// values of a page are laid out by values.
type leafPages struct {
	leaf    *resultLeaf
	column  *tableColumn
	rows    int
	lengths []int32 // of the lists that are not null, for a repeated leaf
	values  leafValues
	mapLens []int32 // memory of lengths for maps

	lists int // lists before the next page
	done  int // values before the next page
}

func (p *leafPages) begin(t *Table, l *resultLeaf) {
	p.leaf, p.column, p.rows = l, &t.columns[l.column], t.rows
	p.lists, p.done = 0, 0
	p.lengths = p.column.lengths
	if p.column.kind == MapString {
		p.mapLens = p.mapLens[:0]
		for _, row := range p.column.maps.rows {
			p.mapLens = append(p.mapLens, int32(len(p.column.maps.set(row).keys)))
		}
		p.lengths = p.mapLens
	}
	p.values.begin(p.column, l)
}

// cut returns the end of the page that begins at row: the end of the table, or
// else a multiple of 8, so that the bitmap of a page begins at a byte.
func (p *leafPages) cut(row int) int {
	if !p.leaf.repeated && p.values.plainBytes() <= pageBytes {
		return min(p.rows, row+pageValues)
	}
	entries, bytes := 0, 0
	list, value := p.lists, p.done
	for end := row; end < p.rows; {
		next := min(end+8, p.rows)
		present := countBits(p.column.valid, end, next)
		n := present
		if p.leaf.repeated {
			n = 0
			for _, l := range p.lengths[list : list+present] {
				n += int(l)
				entries += max(int(l), 1)
			}
			entries += next - end - present
			list += present
		} else {
			entries += next - end
		}
		bytes += p.values.stringBytes(value, value+n)
		if end > row && (entries > pageValues || bytes > pageBytes) {
			return end
		}
		value += n
		end = next
	}
	return p.rows
}

// page appends the page of rows [row, end) to dst and returns the number of its
// values, nulls included. Pages must be asked for in order.
func (p *leafPages) page(dst []byte, row, end int) ([]byte, int) {
	if p.leaf.repeated {
		return p.listPage(dst, row, end)
	}
	n := end - row
	present := n
	if !p.leaf.isRequired {
		present = countBits(p.column.valid, row, end)
		dst = appendLevelBlock(dst, func(b []byte) []byte {
			return appendPresence(b, p.column.valid, row, end, present)
		})
	}
	dst = p.values.append(dst, p.done, p.done+present)
	p.done += present
	return dst, n
}

// appendPresence appends the definition levels of an optional scalar, present
// of which are 1. A bitmap is just what a bit-packed run of width 1 holds.
func appendPresence(dst []byte, valid []uint64, row, end, present int) []byte {
	switch n := end - row; present {
	case 0:
		return appendRLERun(dst, 0, 1, n)
	case n:
		return appendRLERun(dst, 1, 1, n)
	default:
		return appendBitmap(appendPackedHeader(dst, n), valid, row, end)
	}
}

// listPage is page for a repeated leaf. A null list and an empty one have one
// entry without a value.
func (p *leafPages) listPage(dst []byte, row, end int) ([]byte, int) {
	present := countBits(p.column.valid, row, end)
	lengths := p.lengths[p.lists : p.lists+present]
	values, empty := 0, 0
	for _, l := range lengths {
		values += int(l)
		if l == 0 {
			empty++
		}
	}
	entries := values + empty + end - row - present
	dst = appendLevelBlock(dst, func(b []byte) []byte { return p.appendRepetition(b, row, end, lengths, entries) })
	dst = appendLevelBlock(dst, func(b []byte) []byte { return p.appendDefinition(b, row, end, lengths, entries) })
	if p.values.mode >= mapCodes {
		dst = p.values.appendMaps(dst, p.lists, p.lists+present, values)
	} else {
		dst = p.values.append(dst, p.done, p.done+values)
	}
	p.lists += present
	p.done += values
	return dst, entries
}

// appendRepetition appends the levels 0 for the first entry of a row and 1 for
// the others.
func (p *leafPages) appendRepetition(dst []byte, row, end int, lengths []int32, entries int) []byte {
	if entries == end-row {
		return appendRLERun(dst, 0, 1, entries)
	}
	dst = appendPackedHeader(dst, entries)
	start := len(dst)
	w := bitWriter{b: dst}
	for ; row < end; row++ {
		w.put(0, 1)
		if p.present(row) {
			w.repeat(1, 1, max(int(lengths[0])-1, 0))
			lengths = lengths[1:]
		}
	}
	return padPacked(w.flush(), start, entries, 1)
}

// appendDefinition appends the levels: the highest for a value, one less for an
// empty list, and 0 for a null list of a column that may have them.
func (p *leafPages) appendDefinition(dst []byte, row, end int, lengths []int32, entries int) []byte {
	if len(lengths) == 0 && !p.leaf.isRequired {
		return appendRLERun(dst, 0, bitWidth(int(p.leaf.maxDef)+1), entries)
	}
	full := uint64(p.leaf.maxDef)
	width := bitWidth(int(full) + 1)
	dst = appendPackedHeader(dst, entries)
	start := len(dst)
	w := bitWriter{b: dst}
	for ; row < end; row++ {
		switch {
		case !p.present(row):
			w.put(0, width)
			continue
		case lengths[0] == 0:
			w.put(full-1, width)
		default:
			w.repeat(full, width, int(lengths[0]))
		}
		lengths = lengths[1:]
	}
	return padPacked(w.flush(), start, entries, width)
}

func (p *leafPages) present(row int) bool {
	w := row >> 6
	return w < len(p.column.valid) && p.column.valid[w]>>(row&63)&1 == 1
}
