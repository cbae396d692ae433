package dataset

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
	e.write([]byte(resultMagic))
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

// appendLevels appends a block of levels: its length, then the hybrid that fill
// appends.
func appendLevels(dst []byte, fill func([]byte) []byte) []byte {
	at := len(dst)
	dst = fill(append(dst, 0, 0, 0, 0))
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
