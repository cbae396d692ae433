package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// Values are what a [ColumnReader] has read of one leaf: parallel slices with an
// item per entry, of which only the one for the leaf's kind is used. An entry is a
// value or what stands for its absence: a null, an empty list. An entry without a
// value has "" or 0.
type Values struct {
	Levels  []byte // definition levels
	Texts   []string
	Ints    []int64
	Floats  []float64
	NotUTF8 bool // some text is not UTF-8

	// Short lets the slice of values end before that of levels: what follows has no
	// value. Most columns of a file can be null in every row, and take no memory then.
	Short bool

	// Coded has texts that stand in a dictionary in Codes: their numbers in it; of an entry
	// without a text 0, of one of a page without codes ^i, with i its place in Texts.
	Coded bool
	Codes []int32

	// Over are the entries whose value is over a limit, in ascending order: they have none.
	// Room pays for the texts of several columns, unless nil.
	Over []int32
	Room *Budget

	account account
}

// Reset removes the entries and keeps the memory.
func (v *Values) Reset() {
	v.Levels, v.Texts, v.Ints, v.Floats, v.NotUTF8 = v.Levels[:0], v.Texts[:0], v.Ints[:0], v.Floats[:0], false
	v.Over, v.Codes = v.Over[:0], v.Codes[:0]
	v.account.used = 0
}

// fill adds what is missing of the first n items.
func (v *Values) fill(kind ValueKind, n int) {
	switch kind {
	case Nothing:
	case Text:
		v.Texts = zeros(v.Texts, n)
	case Float:
		v.Floats = zeros(v.Floats, n)
	default:
		v.Ints = zeros(v.Ints, n)
	}
}

// zeros is s with zeros up to length n.
func zeros[T any](s []T, n int) []T {
	old := len(s)
	if old >= n {
		return s
	}
	s = slices.Grow(s, n-old)[:n]
	clear(s[old:])
	return s
}

// A ColumnReader reads the entries of one leaf in one row group, page by page. Its
// buffers serve one row group after the other. It is not safe for concurrent use.
type ColumnReader struct {
	file io.ReaderAt
	leaf Leaf
	meta *columnChunk

	offset     int64 // in the file, of what follows the window
	bytesLeft  int64 // from offset to the end of the chunk
	valuesLeft int64 // entries in pages not yet loaded
	window     []byte
	at         int // of the window: the next page

	dictionary dictionary
	hasDict    bool
	strict     bool // every page must have its checksum, and no list goes on in the next page
	bare       bool // some page had no checksum: values are compared with bounds
	bounds     bounds

	page    page
	sibling *ColumnReader // see Beside
	account account       // of the page and the dictionary
}

// A page is one page with its levels decoded and its values in the form in which
// they are cheapest to take.
type page struct {
	rep, def hybrid[byte] // rep is empty if the leaf is in no list
	lists    []byte       // what rep decodes
	first    int64        // of the entries, among those of the chunk
	values   int          // entries
	alike    bool         // lists is what the page of the sibling has: rep has not begun
	passed   int          // entries taken, if alike
	begun    bool         // some entry has been taken
	refused  bool         // it is larger than a page may be: its values are over the limit
	lent     bool         // texts were taken that lie in its memory

	coded  bool          // values are in codes, of the dictionary
	codes  hybrid[int32] // as raw, ints, floats and plain one for each value
	raw    []byte        // integers as in the page, if not nil; else they are in ints
	ints   []int64
	floats []float64
	plain  []byte // texts, each after its length
	text   string // a copy of plain, or plain itself if it is long, if texts are to be kept
	ascii  bool   // no byte of plain is above 127
	value  int    // values taken; of plain, bytes

	buf, joined []byte // memory of plain
}

// Start begins with a leaf of a row group of f. What is read is paid for by the
// budget, which is one of f.
func (c *ColumnReader) Start(f *File, group int, leaf Leaf, budget *Budget) error {
	meta := &f.groups[group].Columns[leaf.Column]
	c.file, c.leaf, c.meta, c.strict = f.file, leaf, meta, f.own()
	c.offset, c.bytesLeft, c.valuesLeft = meta.start(), meta.TotalCompressedSize, meta.NumValues
	c.window, c.at, c.hasDict, c.bare = c.window[:0], 0, false, false
	c.bounds.start(&c.leaf, meta)
	c.page.rep.startZeros(0)
	c.page.def.startZeros(0)
	c.page.lists, c.page.alike, c.sibling = nil, false, nil
	c.account.budget, c.account.used = budget, 0
	return checkCodec(meta.Codec)
}

// Beside says that sibling, which has begun with a leaf of the same lists, reads them
// before c does with [ColumnReader.ReadEntries]. Repetition levels that are there in the
// same bytes are not decoded again.
func (c *ColumnReader) Beside(sibling *ColumnReader) { c.sibling = sibling }

// CheckCodec returns an error if some row group has the leaf in a compression that
// cannot be read.
func (f *File) CheckCodec(column int) error {
	for i := range f.groups {
		if err := checkCodec(f.groups[i].Columns[column].Codec); err != nil {
			return err
		}
	}
	return nil
}

// Done reports whether all entries have been read.
func (c *ColumnReader) Done() bool { return c.valuesLeft == 0 && c.page.def.rest() == 0 }

// left is the number of bytes of the chunk that have not been looked at.
func (c *ColumnReader) left() int64 { return int64(len(c.window)-c.at) + c.bytesLeft }

// need makes at least n bytes available from c.at on; it is an error if the chunk has
// fewer.
func (c *ColumnReader) need(n int) error {
	have := len(c.window) - c.at
	if have >= n {
		return nil
	}
	if int64(n-have) > c.bytesLeft {
		return corrupt("a page goes past the end of its column")
	}
	size := max(n, int(min(64<<10, int64(have)+c.bytesLeft)))
	if cap(c.window) < size+pagePadding {
		w := make([]byte, have, size+pagePadding)
		copy(w, c.window[c.at:])
		c.window = w
	} else {
		c.window = c.window[:copy(c.window[:have], c.window[c.at:])]
	}
	c.at = 0
	more := int(min(int64(size-have), c.bytesLeft))
	k, err := c.file.ReadAt(c.window[have:have+more], c.offset)
	if k < more {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	c.window = c.window[:have+more]
	c.offset += int64(more)
	c.bytesLeft -= int64(more)
	return nil
}

// largestHeader is how many bytes a page header may have.
const largestHeader = 16 << 20

// header reads the next page header. Its length is not known before.
func (c *ColumnReader) header() (pageHeader, error) {
	for n := 512; ; n *= 4 {
		left := c.left()
		n = int(min(int64(n), left))
		if err := c.need(n); err != nil {
			return pageHeader{}, err
		}
		h, length, ok := parsePageHeader(c.window[c.at:])
		if ok {
			c.at += length
			h.length = length
			return h, h.check(c.meta, c.left(), c.valuesLeft)
		}
		if int64(n) == left || n > largestHeader {
			return pageHeader{}, corrupt("unreadable page header")
		}
	}
}

// load loads the next page that has entries.
func (c *ColumnReader) load() error {
	c.letGo()
	for {
		h, err := c.header()
		if err != nil {
			return err
		}
		size := int(h.CompressedPageSize)
		if limit := c.account.budget.pageLimit(c.meta.Codec); limit > 0 && max(int64(size), int64(h.UncompressedPageSize)) > limit {
			refused, err := c.refuse(&h, limit)
			if refused || err != nil {
				return err
			}
			continue
		}
		if err := c.need(size); err != nil {
			return err
		}
		body := c.window[c.at : c.at+size]
		c.at += size
		switch h.Type {
		case format.DictionaryPage, format.DataPage, format.DataPageV2:
		default: // an index page
			continue
		}
		if err := h.checksum(body, c.strict); err != nil {
			return err
		}
		c.bare = c.bare || h.CRC == 0 && !c.strict
		if h.Type == format.DictionaryPage {
			if c.hasDict {
				return corrupt("second dictionary in a column")
			}
			c.hasDict = true
			if err := c.loadDictionary(&h, body); err != nil {
				return err
			}
			continue
		}
		if h.values == 0 {
			continue
		}
		c.valuesLeft -= int64(h.values)
		c.account.used = c.dictionary.bytes
		err = c.loadData(&h, body)
		if errors.Is(err, errOverMemory) && c.leaf.Rep == 0 {
			c.passOver(&h)
			return nil
		}
		return err
	}
}

// letGo drops the memory of a page whose values are taken, if it belongs to the texts now
// or is too long to wait for another page.
func (c *ColumnReader) letGo() {
	p := &c.page
	if !p.lent && cap(p.buf) <= longPage && cap(p.joined) <= longPage && cap(c.window) <= longPage {
		return
	}
	p.buf, p.joined, p.plain, p.raw, p.lists, p.text, p.lent = nil, nil, nil, nil, nil, "", false
	c.window, c.at = bytes.Clone(c.window[c.at:]), 0
}

// refuse passes over a page that is larger than limit. Its values are over the limit if
// the leaf is in no list; in a list it is not known whose they are.
func (c *ColumnReader) refuse(h *pageHeader, limit int64) (entries bool, err error) {
	switch h.Type {
	case format.DictionaryPage, format.DataPage, format.DataPageV2:
		if h.Type == format.DictionaryPage || c.leaf.Rep > 0 {
			return false, corrupt("limits.memory: a page of %d bytes, more than the %d that it allows", max(h.UncompressedPageSize, h.CompressedPageSize), limit)
		}
	}
	size := int64(h.CompressedPageSize)
	kept := min(size, int64(len(c.window)-c.at))
	c.at += int(kept)
	c.offset += size - kept
	c.bytesLeft -= size - kept
	if h.Type == format.IndexPage || h.values == 0 {
		return false, nil
	}
	c.valuesLeft -= int64(h.values)
	c.passOver(h)
	return true, nil
}

// passOver lets the values of a page be over limits.memory.
func (c *ColumnReader) passOver(h *pageHeader) {
	p := &c.page
	p.begun, p.value, p.refused = false, 0, true
	p.lists, p.alike = nil, false
	p.rep.startZeros(0)
	p.def.startZeros(h.values)
	c.bounds.nulls = 0 // they are not counted in this page
}

// loadData decodes the levels and values of a data page. Nothing is set aside for
// the number of values that the header claims: levels grow as they are decoded, and
// where there are none, values do.
func (c *ColumnReader) loadData(h *pageHeader, body []byte) (err error) {
	p := &c.page
	p.begun, p.value, p.refused = false, 0, false
	p.lists, p.alike = nil, false
	p.rep.startZeros(0)
	p.def.startZeros(0)
	if h.encoding == format.ByteStreamSplit { // it is joined, and what is joined is decoded
		if err := c.account.fits(3 * int64(h.UncompressedPageSize)); err != nil {
			return err
		}
	}
	var rep, def []byte
	if h.Type == format.DataPageV2 {
		rep, def, body = body[:h.repBytes], body[h.repBytes:h.repBytes+h.defBytes], body[h.repBytes+h.defBytes:]
		if !h.stored && c.meta.Codec != format.Uncompressed {
			body, err = c.decompress(body, int(h.UncompressedPageSize)-h.repBytes-h.defBytes)
		}
	} else {
		if c.meta.Codec != format.Uncompressed {
			body, err = c.decompress(body, int(h.UncompressedPageSize))
		}
		if c.leaf.Rep > 0 && err == nil {
			rep, body, err = levelBlock(body, h.repEncoding)
		}
		if c.leaf.Def > 0 && err == nil {
			def, body, err = levelBlock(body, h.defEncoding)
		}
	}
	if err == nil && c.leaf.Rep > 0 {
		p.rep.start(rep, levelWidth(c.leaf.Rep), h.values, c.leaf.Rep)
		p.lists, p.first, p.values, p.passed = rep, c.meta.NumValues-c.valuesLeft, h.values, 0
		p.alike = c.sibling != nil && p.likePage(&c.sibling.page)
	}
	present := h.values
	switch {
	case err != nil:
	case c.leaf.Def == 0:
		p.def.startZeros(h.values)
	default:
		p.def.start(def, levelWidth(c.leaf.Def), h.values, c.leaf.Def)
		present, err = p.present(&c.account, byte(c.leaf.Def))
	}
	if err == nil {
		err = c.countNulls(h.values - present)
	}
	if err == nil && c.leaf.Kind != Nothing {
		err = c.loadValues(h.encoding, present, body)
	}
	if err != nil {
		p.def.startZeros(0)
	}
	return err
}

// present returns how many of the page's entries have a value. A page of one window
// is decoded, a longer one only counted.
func (p *page) present(a *account, level byte) (int, error) {
	if n := p.def.left; n > windowValues {
		counting := p.def
		counting.buf = nil
		return counting.skip(a, n, level)
	}
	err := p.def.need(a, p.def.left)
	return bytes.Count(p.def.buf, []byte{level}), err
}

// likePage reports whether the page has the lists that q has.
func (p *page) likePage(q *page) bool {
	return q.lists != nil && p.first == q.first && p.values == q.values && bytes.Equal(p.lists, q.lists)
}

// leaveSibling lets c decode its repetition levels from the next entry on.
func (c *ColumnReader) leaveSibling() error {
	p := &c.page
	if c.sibling = nil; !p.alike {
		return nil
	}
	p.alike = false
	_, err := p.rep.skip(&c.account, p.passed, 0)
	return err
}

// next makes entries of the page, or of the next one, available and returns how many;
// 0 at the end.
func (c *ColumnReader) next() (n int, err error) {
	p := &c.page
	if p.def.rest() == 0 {
		if c.valuesLeft == 0 {
			return 0, nil
		}
		if err := c.load(); err != nil {
			return 0, err
		}
	}
	if err := p.def.need(&c.account, 1); err != nil {
		return 0, err
	}
	n = len(p.def.buf) - p.def.at
	if c.leaf.Rep > 0 && !p.alike {
		if err := p.rep.need(&c.account, 1); err != nil {
			return 0, err
		}
		n = min(n, len(p.rep.buf)-p.rep.at)
	}
	return n, nil
}

// decompress decompresses the body of a data page.
func (c *ColumnReader) decompress(body []byte, size int) (out []byte, err error) {
	if out, err = decompress(&c.account, c.page.buf, body, c.meta.Codec, size); err == nil {
		c.page.buf = out
	}
	return out, err
}

// plainDictionary is what writers before version 2 of the format call both the
// encoding of a dictionary and that of the codes into it.
const plainDictionary format.Encoding = 2

// loadValues decodes the n values of a page.
func (c *ColumnReader) loadValues(encoding format.Encoding, n int, body []byte) (err error) {
	p := &c.page
	if p.coded = false; n == 0 {
		p.plain, p.raw = nil, nil
		return nil
	}
	p.coded = encoding == format.RLEDictionary || encoding == plainDictionary
	switch {
	case p.coded && !c.hasDict:
		return corrupt("dictionary codes without a dictionary")
	case p.coded:
		err = startCodes(&p.codes, body, n, c.dictionary.size)
	case c.leaf.Kind == Text:
		if p.plain, err = plainTexts(&c.account, p.joined, n, body, encoding); err != nil {
			return err
		}
		if encoding != format.Plain {
			p.joined = p.plain
		}
		p.ascii, p.text = isASCII(p.plain), ""
	case c.leaf.Kind == Float:
		p.floats, err = appendFloats(&c.account, p.floats[:0], &p.ints, n, body, &c.leaf, encoding)
	case encoding == format.Plain && c.leaf.Kind == Integer: // they are decoded where they are wanted
		if p.raw = body; len(body)/c.leaf.width() < n {
			return corrupt("page ends too early")
		}
	default:
		p.raw = nil
		p.ints, err = appendInts(&c.account, p.ints[:0], n, body, &c.leaf, encoding)
	}
	return err
}

// A dictionary holds the values that the codes of a chunk stand for. Its texts
// outlive it: they share memory that is never used again.
type dictionary struct {
	size    int
	bytes   int64 // of the account
	texts   []string
	notUTF8 bool // some text is not UTF-8
	ints    []int64
	floats  []float64

	buf []byte // decompressed integers and doubles
}

// loadDictionary decodes a dictionary page.
func (c *ColumnReader) loadDictionary(h *pageHeader, body []byte) (err error) {
	if h.encoding != format.Plain && h.encoding != plainDictionary {
		return corrupt("dictionary in encoding %s", h.encoding)
	}
	d, text := &c.dictionary, c.leaf.Kind == Text
	c.account.used = 0
	size := int64(h.UncompressedPageSize)
	if text && int64(h.values) > size/4 {
		return corrupt("dictionary of %d strings in %d bytes", h.values, size)
	}
	each := int64(8)
	switch {
	case text:
		each = int64(unsafe.Sizeof(""))
	case c.leaf.Kind == Nothing:
		each = 0
	}
	if err := c.account.fits(size + each*int64(h.values)); err != nil {
		return err
	}
	switch {
	case c.meta.Codec != format.Uncompressed && text:
		body, err = decompress(&c.account, nil, body, c.meta.Codec, int(h.UncompressedPageSize))
	case c.meta.Codec != format.Uncompressed:
		if body, err = decompress(&c.account, d.buf, body, c.meta.Codec, int(h.UncompressedPageSize)); err == nil {
			d.buf = body
		}
	case text:
		body = bytes.Clone(body)
	}
	if err != nil {
		return err
	}
	// A count that the body cannot hold must not set memory aside.
	if h.values > len(body) {
		return corrupt("dictionary of %d values in %d bytes", h.values, len(body))
	}
	switch d.size = h.values; c.leaf.Kind {
	case Nothing:
	case Text:
		err = d.loadTexts(&c.account, h.values, body)
	case Float:
		d.floats, err = appendFloats(&c.account, d.floats[:0], &d.ints, h.values, body, &c.leaf, format.Plain)
	default:
		d.ints, err = appendInts(&c.account, d.ints[:0], h.values, body, &c.leaf, format.Plain)
	}
	d.bytes = c.account.used
	if err == nil && c.bounds.known {
		c.bounds.mark(d, c.leaf.Kind)
	}
	return err
}

func (d *dictionary) loadTexts(a *account, n int, body []byte) (err error) {
	if n > len(body)/4 {
		return corrupt("dictionary of %d strings in %d bytes", n, len(body))
	}
	if d.texts, err = extend(a, d.texts[:0], n, int64(unsafe.Sizeof(""))); err != nil {
		return err
	}
	d.notUTF8 = false
	for i := range d.texts {
		length, rest, err := cutLength(body)
		if err != nil {
			return err
		}
		d.texts[i] = unsafe.String(unsafe.SliceData(rest), length)
		d.notUTF8 = d.notUTF8 || !utf8.ValidString(d.texts[i])
		body = rest[length:]
	}
	return nil
}

// cutLength cuts the length off that stands before a text in the plain encoding. rest
// has as many bytes.
func cutLength(b []byte) (length int, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return 0, nil, corrupt("page ends too early")
	}
	return int(binary.LittleEndian.Uint32(b)), b[4:], nil
}

// A RowLimit bounds what [ColumnReader.ReadRows] reads. A row over it is passed over,
// and one null entry stands for it.
type RowLimit struct {
	Row   int // most entries of one row
	Total int // most entries of all rows that are read, beside those passed over
}

// Unlimited is no limit.
var Unlimited = RowLimit{math.MaxInt, math.MaxInt}

// A Cut is a row that was passed over.
type Cut struct {
	Row     int  // of the rows that were read, from 0
	Entry   int  // of the entries that were read: the one that stands for the row
	Entries int  // that the row has
	Total   bool // the row alone is within the limit, all rows together are not
}

// ReadRows appends the entries of the next n rows to dst and their repetition levels
// to rep, and returns how many entries they are, and which rows were over the limit. The
// leaf must be in a list. Texts are copied to the arena; without one they stay valid for
// ever.
func (c *ColumnReader) ReadRows(n int, limit RowLimit, dst *Values, rep *[]byte, a *Arena) (entries int, cuts []Cut, err error) {
	rows, first := 0, len(*rep)
	open := first // where the last row begins
	before := len(dst.Levels) - first
	if err := c.leaveSibling(); err != nil {
		return 0, nil, err
	}
	for {
		k, err := c.next()
		if err != nil {
			return 0, nil, err
		}
		if k == 0 {
			break
		}
		levels := c.page.rep.buf[c.page.rep.at:][:k]
		if (rows == 0 || c.strict && !c.page.begun) && levels[0] != 0 {
			return 0, nil, corrupt("a row begins in the middle")
		}
		k, begun := rowsIn(levels, n-rows)
		if k == 0 {
			break
		}
		if len(*rep)-open+k > limit.Row || len(*rep)-first+k > limit.Total {
			// One row, or what is here of it, at a time.
			if levels[0] == 0 {
				open = len(*rep)
			}
			if next := bytes.IndexByte(levels[1:k], 0); next >= 0 {
				k = 1 + next
			}
			begun = 1 - int(min(levels[0], 1))
			if size := len(*rep) - open + k; size > limit.Row || len(*rep)-first+k > limit.Total {
				rest, err := c.passRow(k)
				if err != nil {
					return 0, nil, err
				}
				cut := Cut{Row: rows + begun - 1, Entry: open - first, Entries: len(*rep) - open + rest}
				cut.Total = cut.Entries <= limit.Row
				cuts = append(cuts, cut)
				dst.truncate(before + open)
				dst.appendNull(c.leaf.Kind)
				*rep = append((*rep)[:open], 0)
				rows += begun
				continue
			}
		} else if at := bytes.LastIndexByte(levels[:k], 0); at >= 0 {
			open = len(*rep) + at
		}
		rows += begun
		*rep = append(*rep, levels[:k]...)
		if err := c.take(k, dst, a); err != nil {
			return 0, nil, err
		}
	}
	if rows != n {
		return 0, nil, corrupt("the column ends %d rows too early", n-rows)
	}
	return len(*rep) - first, cuts, nil
}

// SkipRow passes over the next row of a list, appends one null entry to dst in its place
// and returns how many entries it has.
func (c *ColumnReader) SkipRow(dst *Values) (entries int, err error) {
	if err := c.leaveSibling(); err != nil {
		return 0, err
	}
	k, err := c.next()
	if err != nil {
		return 0, err
	}
	if k == 0 || c.page.rep.buf[c.page.rep.at] != 0 {
		return 0, corrupt("the members of one list have different lengths")
	}
	entries, err = c.passRow(1)
	dst.appendNull(c.leaf.Kind)
	return entries, err
}

// SkipRows passes over the next n rows.
func (c *ColumnReader) SkipRows(n int) error {
	p, rows := &c.page, 0
	if err := c.leaveSibling(); err != nil {
		return err
	}
	for n > 0 {
		have, err := c.next()
		if err != nil {
			return err
		}
		if have == 0 {
			break
		}
		k := min(have, n-rows)
		begun := k
		if c.leaf.Rep > 0 {
			levels := p.rep.buf[p.rep.at:][:have]
			if (rows == 0 || c.strict && !p.begun) && levels[0] != 0 {
				return corrupt("a row begins in the middle")
			}
			k, begun = rowsIn(levels, n-rows)
			p.rep.at += k
		}
		if k == 0 {
			break
		}
		p.begun = true
		if err := c.passValues(k); err != nil {
			return err
		}
		rows += begun
	}
	if rows != n {
		return corrupt("the column ends %d rows too early", n-rows)
	}
	return nil
}

// passRow passes over the next k entries, which belong to one row, and what follows of
// that row. It returns how many entries all these are.
func (c *ColumnReader) passRow(k int) (entries int, err error) {
	p := &c.page
	p.begun = true
	p.rep.at += k
	for {
		if err := c.passValues(k); err != nil {
			return 0, err
		}
		entries += k
		switch {
		case p.rep.rest() > 0 && p.rep.at < len(p.rep.buf) && p.rep.buf[p.rep.at] == 0:
			return entries, nil
		case p.rep.rest() == 0 && c.valuesLeft == 0:
			return entries, nil
		case p.rep.rest() == 0:
			if err := c.load(); err != nil {
				return 0, err
			}
		}
		if k, err = p.rep.skipTo(&c.account, 0); err != nil {
			return 0, err
		}
		if k == 0 && p.rep.rest() > 0 {
			return entries, nil
		}
	}
}

// passValues passes over n entries, whose repetition levels have been passed already.
func (c *ColumnReader) passValues(n int) error {
	p := &c.page
	n, err := p.def.skip(&c.account, n, byte(c.leaf.Def))
	if err != nil {
		return err
	}
	switch {
	case c.leaf.Kind == Nothing:
	case p.coded:
		_, err = p.codes.skip(&c.account, n, 0)
	case c.leaf.Kind == Text:
		for range n {
			length, rest, err := cutLength(p.plain[p.value:])
			if err != nil {
				return err
			}
			p.value = len(p.plain) - len(rest) + length
		}
	default:
		p.value += n
	}
	return err
}

// truncate removes the entries from n on.
func (v *Values) truncate(n int) {
	v.Levels = v.Levels[:n]
	v.Texts, v.Ints, v.Floats = v.Texts[:min(n, len(v.Texts))], v.Ints[:min(n, len(v.Ints))], v.Floats[:min(n, len(v.Floats))]
}

// appendNull appends an entry without a value.
func (v *Values) appendNull(kind ValueKind) {
	v.Levels = append(v.Levels, 0)
	if !v.Short {
		v.fill(kind, len(v.Levels))
	}
}

// rowsIn returns how many levels belong to the first n rows that begin in them, with
// those before the first, and how many of these rows begin.
func rowsIn(levels []byte, n int) (k, begun int) {
	const block = 256
	for k+block <= len(levels) {
		zeros := bytes.Count(levels[k:k+block], []byte{0})
		if begun+zeros > n {
			break
		}
		k += block
		begun += zeros
	}
	for ; k < len(levels); k++ {
		if levels[k] == 0 {
			if begun == n {
				break
			}
			begun++
		}
	}
	return k, begun
}

// ReadEntries appends the next n entries to dst. Their repetition levels must be
// those of rep, which come from a sibling, if it is not nil. The arena is as for
// ReadRows.
func (c *ColumnReader) ReadEntries(n int, rep []byte, dst *Values, a *Arena) error {
	for n > 0 {
		have, err := c.next()
		if err != nil {
			return err
		}
		if have == 0 {
			return corrupt("the column ends %d values too early", n)
		}
		k := min(n, have)
		if rep != nil {
			if p := &c.page.rep; !c.page.alike && !bytes.Equal(rep[:k], p.buf[p.at:p.at+k]) {
				return corrupt("the members of one list have different lengths")
			}
			rep = rep[k:]
		}
		if err := c.take(k, dst, a); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// take moves n entries of the current page to dst.
func (c *ColumnReader) take(n int, dst *Values, a *Arena) error {
	err := c.takeEntries(n, dst, a)
	if c.page.def.rest() == 0 {
		c.letGo()
	}
	return err
}

func (c *ColumnReader) takeEntries(n int, dst *Values, a *Arena) error {
	p := &c.page
	if dst.Room == nil {
		dst.account.budget = c.account.budget
		if err := dst.account.add(int64(n) * 17); err != nil { // a level and a string
			return err
		}
	}
	levels := p.def.buf[p.def.at : p.def.at+n]
	p.begun = true
	p.def.at += n
	switch {
	case p.alike:
		p.passed += n
	case c.leaf.Rep > 0:
		p.rep.at += n
	}
	if p.refused {
		for range n {
			dst.Over = append(dst.Over, int32(len(dst.Levels)))
			dst.appendNull(c.leaf.Kind)
		}
		return nil
	}
	dst.Levels = append(dst.Levels, levels...)
	values := n
	if c.leaf.Def > 0 {
		values = bytes.Count(levels, []byte{byte(c.leaf.Def)})
	}
	if dst.Short {
		if values == 0 {
			return nil
		}
		dst.fill(c.leaf.Kind, len(dst.Levels)-n)
	}
	switch c.leaf.Kind {
	case Nothing:
	case Text:
		return c.takeTexts(levels, values, dst, a)
	case Float:
		if p.coded {
			codes, err := c.takeCodes(values)
			if err != nil {
				return err
			}
			dst.Floats = spreadCodes(dst.Floats, c.dictionary.floats, codes, levels, byte(c.leaf.Def))
		} else {
			old := len(dst.Floats)
			dst.Floats = spread(dst.Floats, p.floats[p.value:p.value+values], levels, byte(c.leaf.Def))
			p.value += values
			if c.bare && c.bounds.known && !numbers(dst.Floats[old:], levels, byte(c.leaf.Def), &c.bounds.floats) {
				return errStatistics
			}
		}
	default:
		return c.takeInts(levels, values, dst)
	}
	return nil
}

// texts are those of the dictionary, if there is one.
func (c *ColumnReader) texts() []string {
	if !c.hasDict {
		return nil
	}
	return c.dictionary.texts
}

// takeCodes returns the next n codes, valid until the next call.
func (c *ColumnReader) takeCodes(n int) ([]int32, error) {
	h := &c.page.codes
	if err := h.need(&c.account, n); err != nil {
		return nil, err
	}
	codes := h.buf[h.at : h.at+n]
	h.at += n
	if c.bare && !c.bounds.codes(codes) {
		return nil, errStatistics
	}
	return codes, nil
}

// spread appends to dst one item per level: the next of values where the level is
// that of a value, zero elsewhere.
func spread[T any](dst, values []T, levels []byte, present byte) []T {
	if len(values) == len(levels) {
		return append(dst, values...)
	}
	old := len(dst)
	dst = slices.Grow(dst, len(levels))[:old+len(levels)]
	var zero T
	for i, level := range levels {
		v := zero
		if level == present {
			v, values = values[0], values[1:]
		}
		dst[old+i] = v
	}
	return dst
}

// spreadCodes is spread through a dictionary.
func spreadCodes[T any](dst []T, dictionary []T, values []int32, levels []byte, present byte) []T {
	old := len(dst)
	dst = slices.Grow(dst, len(levels))[:old+len(levels)]
	out := dst[old:]
	if len(values) == len(levels) {
		for i, v := range values {
			out[i] = dictionary[v]
		}
		return dst
	}
	var zero T
	for i, level := range levels {
		v := zero
		if level == present {
			v, values = dictionary[values[0]], values[1:]
		}
		out[i] = v
	}
	return dst
}

func (c *ColumnReader) takeInts(levels []byte, n int, dst *Values) error {
	p, old, present := &c.page, len(dst.Ints), byte(c.leaf.Def)
	switch {
	case p.coded:
		codes, err := c.takeCodes(n)
		if err != nil {
			return err
		}
		dst.Ints = spreadCodes(dst.Ints, c.dictionary.ints, codes, levels, present)
		return nil
	case p.raw == nil:
		dst.Ints = spread(dst.Ints, p.ints[p.value:p.value+n], levels, present)
	default:
		width := c.leaf.width()
		raw := p.raw[p.value*width : (p.value+n)*width]
		if n == len(levels) {
			dst.Ints = slices.Grow(dst.Ints, n)[:old+n]
			plainIntegers(dst.Ints[old:], raw, &c.leaf)
			break
		}
		p.ints = slices.Grow(p.ints[:0], n)[:n]
		plainIntegers(p.ints, raw, &c.leaf)
		dst.Ints = spread(dst.Ints, p.ints, levels, present)
	}
	p.value += n
	if c.bare && c.bounds.known && !numbers(dst.Ints[old:], levels, present, &c.bounds.ints) {
		return errStatistics
	}
	return nil
}

func (c *ColumnReader) takeTexts(levels []byte, n int, dst *Values, a *Arena) error {
	p, old, present := &c.page, len(dst.Texts), byte(c.leaf.Def)
	if p.coded {
		codes, err := c.takeCodes(n)
		if err != nil {
			return err
		}
		if dst.Coded {
			dst.Codes = spread(dst.Codes, codes, levels, present)
			return nil
		}
		dst.Texts = spreadCodes(dst.Texts, c.dictionary.texts, codes, levels, present)
		dst.NotUTF8 = dst.NotUTF8 || c.dictionary.notUTF8
		return nil
	}
	if a == nil && p.text == "" {
		p.text = unsafe.String(unsafe.SliceData(p.plain), len(p.plain))
		if p.lent = len(p.plain) > lentText; !p.lent {
			p.text = strings.Clone(p.text)
		}
	}
	if dst.Coded {
		for i := range levels {
			dst.Codes = append(dst.Codes, ^int32(old+i))
		}
	}
	dst.Texts = slices.Grow(dst.Texts, len(levels))[:old+len(levels)]
	out, rest, valid := dst.Texts[old:], p.plain[p.value:], true
	bounded := c.bare && c.bounds.known
	for i, level := range levels {
		if level != present {
			out[i] = ""
			continue
		}
		length, text, err := cutLength(rest)
		if err != nil {
			return err
		}
		rest = text[length:]
		if bounded && !c.bounds.text(unsafe.String(unsafe.SliceData(text), length)) {
			return errStatistics
		}
		if dst.Room != nil {
			if dst.Room.left < int64(length) {
				dst.Over = append(dst.Over, int32(old+i))
				out[i] = ""
				continue
			}
			dst.Room.left -= int64(length)
		}
		valid = valid && (p.ascii || utf8.Valid(text[:length]))
		switch {
		case a == nil:
			end := len(p.plain) - len(rest)
			out[i] = p.text[end-length : end]
		case length > lentText && n < len(p.plain)/lentText:
			p.lent = true
			out[i] = unsafe.String(unsafe.SliceData(text), length)
		default:
			out[i] = a.text(text[:length])
		}
	}
	taken := len(p.plain) - p.value - len(rest)
	p.value += taken
	dst.NotUTF8 = dst.NotUTF8 || !valid
	if dst.Room == nil {
		return dst.account.add(int64(taken))
	}
	return nil
}

// allTrue reports whether no element of v is false.
func allTrue(v []bool) bool {
	return bytes.IndexByte(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)), 0) < 0
}

// lentText is how long a text, or a page of texts that are kept, is that is not copied.
const lentText = 4 << 20

// isASCII reports whether no byte of b is above 127.
func isASCII(b []byte) bool {
	for len(b) >= 32 {
		x := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) |
			binary.LittleEndian.Uint64(b[16:]) | binary.LittleEndian.Uint64(b[24:])
		if x&0x8080808080808080 != 0 {
			return false
		}
		b = b[32:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// arenaBlock is the size of an Arena's usual block.
const arenaBlock = 256 << 10

// An Arena holds the bytes of many texts in few blocks, which are used again
// after a reset.
type Arena struct {
	blocks [][]byte
	block  int // the one being filled
	used   int // bytes of it
}

// text copies b and returns it as a string that lives until the reset.
func (a *Arena) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if a.block >= len(a.blocks) || len(a.blocks[a.block])-a.used < len(b) {
		a.grow(len(b))
	}
	dst := a.blocks[a.block][a.used:]
	a.used += copy(dst, b)
	return unsafe.String(unsafe.SliceData(dst), len(b))
}

// Copy returns a copy of s that lives until the reset.
func (a *Arena) Copy(s string) string { return a.text(unsafe.Slice(unsafe.StringData(s), len(s))) }

// grow moves on to the next block that has room for n bytes.
func (a *Arena) grow(n int) {
	if a.used > 0 {
		a.block++
	}
	a.used = 0
	if a.block < len(a.blocks) && len(a.blocks[a.block]) >= n {
		return
	}
	fresh := make([]byte, max(n, arenaBlock))
	if a.block < len(a.blocks) {
		a.blocks[a.block] = fresh
		return
	}
	a.blocks = append(a.blocks, fresh)
}

// Reset makes all texts invalid.
func (a *Arena) Reset() { a.block, a.used = 0, 0 }
