package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

// Values are what a [Cursor] has read of one leaf: parallel slices with an
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

	// Over are the entries whose text does not fit Room, in ascending order: they have none.
	// Room pays for the texts of several columns, unless nil.
	Over []int32
	Room *Budget
}

// Reset removes the entries and keeps the memory.
func (v *Values) Reset() {
	v.Levels, v.Texts, v.Ints, v.Floats, v.NotUTF8 = v.Levels[:0], v.Texts[:0], v.Ints[:0], v.Floats[:0], false
	v.Over, v.Codes = v.Over[:0], v.Codes[:0]
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

// A Cursor reads the entries of one leaf in one row group, page by page: pages are
// checked here and their levels, codes and values decoded by the encodings of parquet-go.
// Its buffers serve one row group after the other. It is not safe for concurrent use.
type Cursor struct {
	pages pageReader
	leaf  Leaf
	held  holder

	dictionary values
	hasDict    bool
	page       page
}

// A page is one decoded page.
type page struct {
	n, at    int // entries, and those of them that were taken
	value    int // values that were taken
	rep, def []byte
	coded    bool // values are in codes, of the dictionary
	codes    []int32
	values

	body []byte // memory of the page
	lent bool   // texts were taken that lie in it
}

// values are those of a page or dictionary, without nulls: of the slices only the one for
// the leaf's kind is used.
type values struct {
	ints   []int64
	floats []float64

	// Text i is text[starts[i]+gap : starts[i+1]].
	text    []byte
	starts  []uint32
	gap     int
	ascii   bool // no byte of text is above 127
	lengths []int32

	texts   []string // of a dictionary
	notUTF8 bool     // some text of it is not UTF-8
}

// longPage is how many bytes of a page are too many to wait for another one.
const longPage = 32 << 20

// lentText is how long a text is that is not copied.
const lentText = 4 << 20

// Start begins with a leaf of a row group of f. What is read is paid for by the
// budget, which is one of f.
func (c *Cursor) Start(f *File, group int, leaf Leaf, budget *Budget) error {
	if c.held.budget != budget {
		c.held = holder{budget: budget}
	}
	c.held.dictionary, c.hasDict, c.leaf = 0, false, leaf
	c.page.n, c.page.at = 0, 0
	return c.pages.start(f, group, leaf.Column)
}

// Done reports whether all entries have been read.
func (c *Cursor) Done() bool { return c.pages.valuesLeft == 0 && c.page.at == c.page.n }

// next returns how many entries of the page, or of the next one, have not been taken; 0 at
// the end.
func (c *Cursor) next() (n int, err error) {
	p := &c.page
	for p.at == p.n {
		if c.pages.valuesLeft == 0 {
			return 0, nil
		}
		if err := c.load(); err != nil {
			p.n, p.at = 0, 0
			return 0, err
		}
	}
	return p.n - p.at, nil
}

// load decodes the next page that has entries.
func (c *Cursor) load() error {
	c.letGo()
	for {
		p := &c.page
		body, buf, err := c.pages.next(&c.leaf, &c.held, p.body)
		p.body = buf
		if err != nil {
			return err
		}
		if !body.dictionary {
			return c.decode(&body)
		}
		if c.hasDict || body.encoding != format.Plain && body.encoding != plainDictionary {
			return corrupt("second dictionary in a column, or one in encoding %s", body.encoding)
		}
		c.hasDict, body.encoding = true, format.Plain
		if err := c.dictionary.decode(&c.leaf, &body); err != nil {
			return err
		}
		if c.held.dictionary = c.held.held; c.leaf.Kind == Text {
			c.dictionary.keepTexts(body.n)
			p.body = nil
		}
	}
}

// letGo drops the memory of a page whose values are taken, if it belongs to the texts now
// or is too long to wait for another page.
func (c *Cursor) letGo() {
	p := &c.page
	if p.lent || cap(p.body) > longPage {
		p.body, p.text, p.lent = nil, nil, false
	}
	if r := &c.pages; cap(r.window) > longPage {
		r.window, r.at = bytes.Clone(r.window[r.at:]), 0
	}
}

// plainDictionary is what writers before version 2 of the format call both the
// encoding of a dictionary and that of the codes into it.
const plainDictionary format.Encoding = 2

// decode decodes the levels and values of a page.
func (c *Cursor) decode(body *pageBody) (err error) {
	p := &c.page
	p.n, p.at, p.value, p.coded = body.n, 0, 0, body.encoding == format.RLEDictionary || body.encoding == plainDictionary
	p.rep, p.def = p.rep[:0], p.def[:0]
	if c.leaf.Rep > 0 {
		if p.rep, err = decodeLevels(p.rep, body.rep, body.n, c.leaf.Rep); err != nil {
			return err
		}
	}
	if c.leaf.Def > 0 {
		if p.def, err = decodeLevels(p.def, body.def, body.n, c.leaf.Def); err != nil {
			return err
		}
		body.n = bytes.Count(p.def, []byte{byte(c.leaf.Def)})
	}
	switch {
	case c.leaf.Kind == Nothing || body.n == 0:
		return nil
	case !p.coded:
		return p.values.decode(&c.leaf, body)
	case !c.hasDict:
		return corrupt("dictionary codes without a dictionary")
	}
	p.codes, err = decodeCodes(p.codes, body.values, body.n, c.dictionary.count(&c.leaf))
	return err
}

// decodeLevels decodes n levels of at most highest.
func decodeLevels(dst, src []byte, n, highest int) ([]byte, error) {
	width := bits.Len(uint(highest))
	runs, all, err := checkRuns(src, uint(width), n, highest)
	switch {
	case err != nil:
		return dst, err
	case all >= 0:
		dst = slices.Grow(dst[:0], n)[:n]
		fill(dst, byte(all))
		return dst, nil
	}
	if dst, err = (&rle.Encoding{BitWidth: width}).DecodeLevels(dst, runs); err != nil || len(dst) < n {
		return dst, corrupt("%d levels of %d: %w", len(dst), n, err)
	}
	dst = dst[:n]
	if highest != 1<<width-1 && int(slices.Max(dst)) > highest {
		return dst, corrupt("level above %d", highest)
	}
	return dst, nil
}

// decodeCodes decodes n codes below size.
func decodeCodes(dst []int32, src []byte, n, size int) ([]int32, error) {
	width := uint(0)
	if len(src) > 0 {
		width = uint(src[0])
	}
	switch {
	case width > 32:
		return dst, corrupt("dictionary codes of %d bits", width)
	case size == 0:
		return dst, corrupt("dictionary code 0 of 0")
	case width == 0: // some writers leave out what is all zero
		dst = slices.Grow(dst[:0], n)[:n]
		clear(dst)
		return dst, nil
	}
	runs, all, err := checkRuns(src[1:], width, n, size-1)
	switch {
	case err != nil:
		return dst, err
	case all >= 0:
		dst = slices.Grow(dst[:0], n)[:n]
		fill(dst, int32(all))
		return dst, nil
	}
	if dst, err = (&rle.Encoding{BitWidth: int(width)}).DecodeInt32(dst[:cap(dst)], runs); err != nil || len(dst) < n {
		return dst, corrupt("%d dictionary codes of %d: %w", len(dst), n, err)
	}
	dst = dst[:n]
	highest := uint32(0)
	for _, v := range dst {
		highest = max(highest, uint32(v))
	}
	if int64(highest) >= int64(size) {
		return dst, corrupt("dictionary code %d of %d", highest, size)
	}
	return dst, nil
}

func fill[T any](dst []T, v T) {
	if len(dst) == 0 {
		return
	}
	dst[0] = v
	for n := 1; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// count is the number of values of a dictionary.
func (v *values) count(leaf *Leaf) int {
	switch leaf.Kind {
	case Text:
		return len(v.texts)
	case Float:
		return len(v.floats)
	}
	return len(v.ints)
}

// keepTexts makes strings of the n texts of a dictionary, in the memory of its page.
func (v *values) keepTexts(n int) {
	v.texts, v.notUTF8 = slices.Grow(v.texts[:0], n)[:n], false
	for i := range v.texts {
		v.texts[i] = v.at(i)
		v.notUTF8 = v.notUTF8 || !v.ascii && !utf8.ValidString(v.texts[i])
	}
}

// at is text i in the memory of the page.
func (v *values) at(i int) string {
	text := v.text[int(v.starts[i])+v.gap : v.starts[i+1]]
	return unsafe.String(unsafe.SliceData(text), len(text))
}

// decode decodes the values of a page, which are as many as body says.
func (v *values) decode(leaf *Leaf, body *pageBody) (err error) {
	switch leaf.Kind {
	case Nothing:
	case Text:
		return v.decodeTexts(body)
	case Float:
		return v.decodeFloats(leaf, body)
	case Flag:
		return v.decodeFlags(body)
	default:
		return v.decodeInts(leaf, body)
	}
	return nil
}

func (v *values) decodeTexts(body *pageBody) (err error) {
	v.text, v.gap, v.starts = body.values, 0, v.starts[:0]
	switch body.encoding {
	case format.Plain:
		v.gap = 4
		v.starts, err = appendPlainTexts(v.starts, body.values, body.n)
	case format.DeltaLengthByteArray:
		if v.lengths, v.text, err = lengths(v.lengths, body.values, body.n); err != nil {
			return err
		}
		end := 0
		for _, length := range v.lengths {
			v.starts = append(v.starts, uint32(end))
			if end += int(length); end > len(v.text) {
				return corrupt("page ends too early")
			}
		}
		v.starts = append(v.starts, uint32(end))
	case format.DeltaByteArray:
		if err := checkPrefixes(body.values, body.n); err != nil {
			return err
		}
		v.text, v.starts, err = new(delta.ByteArrayEncoding).DecodeByteArray(nil, body.values, v.starts)
		if err == nil && len(v.starts) != body.n+1 {
			err = corrupt("%d texts of %d", len(v.starts)-1, body.n)
		}
	default:
		err = corrupt("encoding %s of texts", body.encoding)
	}
	v.ascii = err == nil && isASCII(v.text)
	return err
}

func (v *values) decodeInts(leaf *Leaf, body *pageBody) (err error) {
	src, n := body.values, body.n
	narrow := leaf.physical == format.Int32
	switch {
	case body.encoding == format.DeltaBinaryPacked:
		if src, _, err = checkDeltas(src, n, 64); err != nil {
			return err
		}
		if v.ints, err = new(delta.BinaryPackedEncoding).DecodeInt64(v.ints[:0], src); err != nil || len(v.ints) != n {
			return corrupt("%d deltas of %d: %w", len(v.ints), n, err)
		}
		if narrow {
			for i, x := range v.ints {
				v.ints[i] = leaf.widen(uint32(x))
			}
		}
		return nil
	case body.encoding == format.ByteStreamSplit:
		if src, err = joinStreams(src, n, narrow); err != nil {
			return err
		}
	case body.encoding != format.Plain:
		return corrupt("encoding %s of integers", body.encoding)
	}
	if !holds(src, n, narrow) {
		return corrupt("page ends too early")
	}
	v.ints = slices.Grow(v.ints[:0], n)[:n]
	if narrow {
		for i := range v.ints {
			v.ints[i] = leaf.widen(binary.LittleEndian.Uint32(src[4*i:]))
		}
		return nil
	}
	for i := range v.ints {
		v.ints[i] = int64(binary.LittleEndian.Uint64(src[8*i:]))
	}
	return nil
}

// holds reports whether src has n values of four or eight bytes.
func holds(src []byte, n int, narrow bool) bool {
	return narrow && len(src)/4 >= n || !narrow && len(src)/8 >= n
}

// widen extends a 32-bit integer as its type says.
func (l *Leaf) widen(v uint32) int64 {
	if l.Unsigned {
		return int64(v)
	}
	return int64(int32(v))
}

// joinStreams undoes BYTE_STREAM_SPLIT of n values of four or eight bytes.
func joinStreams(src []byte, n int, narrow bool) (out []byte, err error) {
	if !holds(src, n, narrow) {
		return nil, corrupt("page ends too early")
	}
	width := 8
	if narrow {
		width = 4
	}
	if out, err = new(bytestreamsplit.Encoding).DecodeFixedLenByteArray(nil, src[:n*width], width); err != nil {
		return nil, corrupt("%w", err)
	}
	return out, nil
}

// decodeFlags decodes booleans, one bit each or as levels are.
func (v *values) decodeFlags(body *pageBody) (err error) {
	switch body.encoding {
	case format.Plain:
		if len(body.values) < (body.n+7)/8 {
			return corrupt("page ends too early")
		}
		v.ints = slices.Grow(v.ints[:0], body.n)[:body.n]
		for i := range v.ints {
			v.ints[i] = int64(body.values[i/8] >> (i % 8) & 1)
		}
		return nil
	case format.RLE:
		src, _, err := levelBlock(body.values)
		if err != nil {
			return err
		}
		levels, err := decodeLevels(nil, src, body.n, 1)
		if err != nil {
			return err
		}
		v.ints = slices.Grow(v.ints[:0], body.n)[:body.n]
		for i, x := range levels {
			v.ints[i] = int64(x)
		}
		return nil
	}
	return corrupt("encoding %s of booleans", body.encoding)
}

// decodeFloats decodes doubles; integers are converted.
func (v *values) decodeFloats(leaf *Leaf, body *pageBody) (err error) {
	src, n := body.values, body.n
	if leaf.physical == format.Int32 || leaf.physical == format.Int64 {
		if err := v.decodeInts(leaf, body); err != nil {
			return err
		}
		v.floats = slices.Grow(v.floats[:0], n)[:n]
		for i, x := range v.ints {
			if v.floats[i] = float64(x); x < 0 && leaf.Unsigned {
				v.floats[i] = float64(uint64(x))
			}
		}
		return nil
	}
	narrow := leaf.physical == format.Float
	switch body.encoding {
	case format.Plain:
	case format.ByteStreamSplit:
		if src, err = joinStreams(src, n, narrow); err != nil {
			return err
		}
	default:
		return corrupt("encoding %s of doubles", body.encoding)
	}
	if !holds(src, n, narrow) {
		return corrupt("page ends too early")
	}
	v.floats = slices.Grow(v.floats[:0], n)[:n]
	for i := range v.floats {
		if narrow {
			v.floats[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
		} else {
			v.floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
	}
	return nil
}

// A RowLimit bounds what [Cursor.ReadRows] reads. A row over it is passed over,
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
func (c *Cursor) ReadRows(n int, limit RowLimit, dst *Values, rep *[]byte, a *Arena) (entries int, cuts []Cut, err error) {
	rows, first := 0, len(*rep)
	open := first // where the last row begins
	before := len(dst.Levels) - first
	for {
		k, err := c.next()
		if err != nil {
			return 0, nil, err
		}
		if k == 0 {
			break
		}
		levels := c.page.rep[c.page.at:]
		if rows == 0 && levels[0] != 0 {
			return 0, nil, corrupt("a row begins in the middle")
		}
		k, begun := rowsIn(levels, n-rows)
		if k == 0 {
			break
		}
		fits := min(limit.Row-(len(*rep)-open), limit.Total-(len(*rep)-first)) // entries
		if k > fits {
			// As many whole rows as surely fit; then one, or what is here of it, at a time.
			if at := bytes.LastIndexByte(levels[1:max(1, min(k, fits+1))], 0); at >= 0 {
				k = 1 + at
				begun = bytes.Count(levels[:k], []byte{0})
			}
		}
		if k > fits {
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
		c.take(k, dst, a)
	}
	if rows != n {
		return 0, nil, corrupt("the column ends %d rows too early", n-rows)
	}
	return len(*rep) - first, cuts, nil
}

// SkipRow passes over the next row of a list, appends one null entry to dst in its place
// and returns how many entries it has.
func (c *Cursor) SkipRow(dst *Values) (entries int, err error) {
	k, err := c.next()
	if err != nil {
		return 0, err
	}
	if k == 0 || c.page.rep[c.page.at] != 0 {
		return 0, corrupt("the members of one list have different lengths")
	}
	entries, err = c.passRow(1)
	dst.appendNull(c.leaf.Kind)
	return entries, err
}

// SkipRows passes over the next n rows.
func (c *Cursor) SkipRows(n int) error {
	for rows := 0; ; {
		k, err := c.next()
		switch {
		case err != nil:
			return err
		case k == 0 && rows < n:
			return corrupt("the column ends %d rows too early", n-rows)
		case c.leaf.Rep == 0:
			k = min(k, n-rows)
			rows += k
		case k > 0:
			var begun int
			k, begun = rowsIn(c.page.rep[c.page.at:], n-rows)
			rows += begun
		}
		if k == 0 {
			return nil
		}
		c.pass(k)
	}
}

// passRow passes over the next k entries, which belong to one row, and what follows of
// that row. It returns how many entries all these are.
func (c *Cursor) passRow(k int) (entries int, err error) {
	for {
		c.pass(k)
		entries += k
		if k, err = c.next(); k == 0 || err != nil {
			return entries, err
		}
		if next := bytes.IndexByte(c.page.rep[c.page.at:], 0); next == 0 {
			return entries, nil
		} else if next > 0 {
			k = next
		}
	}
}

// pass passes over n entries of the page.
func (c *Cursor) pass(n int) {
	_, present := c.page.advance(n, &c.leaf)
	c.page.value += present
}

// advance passes over n entries and returns their definition levels, and how many of them
// have a value.
func (p *page) advance(n int, leaf *Leaf) (levels []byte, present int) {
	at := p.at
	p.at += n
	if leaf.Def == 0 {
		return nil, n
	}
	levels = p.def[at:p.at]
	return levels, bytes.Count(levels, []byte{byte(leaf.Def)})
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
func (c *Cursor) ReadEntries(n int, rep []byte, dst *Values, a *Arena) error {
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
			if p := &c.page; !bytes.Equal(rep[:k], p.rep[p.at:p.at+k]) {
				return corrupt("the members of one list have different lengths")
			}
			rep = rep[k:]
		}
		c.take(k, dst, a)
		n -= k
	}
	return nil
}

// take moves n entries of the current page to dst.
func (c *Cursor) take(n int, dst *Values, a *Arena) {
	p := &c.page
	levels, present := p.advance(n, &c.leaf)
	old := len(dst.Levels)
	if dst.Levels = append(dst.Levels, levels...); c.leaf.Def == 0 {
		dst.Levels = zeros(dst.Levels, old+n)
		levels = dst.Levels[old:]
	}
	if dst.Short {
		if present == 0 {
			return
		}
		dst.fill(c.leaf.Kind, old)
	}
	from, to, level := p.value, p.value+present, byte(c.leaf.Def)
	p.value = to
	switch {
	case c.leaf.Kind == Nothing:
	case present == 0:
		if dst.Coded {
			dst.Codes = zeros(dst.Codes, old+n)
		}
		dst.fill(c.leaf.Kind, old+n)
	case c.leaf.Kind == Text:
		c.takeTexts(levels, from, to, dst, a)
	case p.coded && c.leaf.Kind == Float:
		dst.Floats = spreadCodes(dst.Floats, c.dictionary.floats, p.codes[from:to], levels, level)
	case p.coded:
		dst.Ints = spreadCodes(dst.Ints, c.dictionary.ints, p.codes[from:to], levels, level)
	case c.leaf.Kind == Float:
		dst.Floats = spread(dst.Floats, p.floats[from:to], levels, level)
	default:
		dst.Ints = spread(dst.Ints, p.ints[from:to], levels, level)
	}
}

// texts are those of the dictionary, if there is one.
func (c *Cursor) texts() []string {
	if !c.hasDict {
		return nil
	}
	return c.dictionary.texts
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

// takeTexts appends the texts from to to, of entries with these levels.
func (c *Cursor) takeTexts(levels []byte, from, to int, dst *Values, a *Arena) {
	p, old, present := &c.page, len(dst.Texts), byte(c.leaf.Def)
	switch {
	case p.coded && dst.Coded:
		dst.Codes = spread(dst.Codes, p.codes[from:to], levels, present)
		return
	case p.coded:
		dst.Texts = spreadCodes(dst.Texts, c.dictionary.texts, p.codes[from:to], levels, present)
		dst.NotUTF8 = dst.NotUTF8 || c.dictionary.notUTF8
		return
	case dst.Coded:
		for i := range levels {
			dst.Codes = append(dst.Codes, ^int32(old+i))
		}
	}
	dst.Texts = slices.Grow(dst.Texts, len(levels))[:old+len(levels)]
	out := dst.Texts[old:]
	p.lent = p.lent || a == nil
	for i, level := range levels {
		if level != present {
			out[i] = ""
			continue
		}
		text := p.values.at(from)
		from++
		if dst.Room != nil {
			if dst.Room.left < int64(len(text)) {
				dst.Over = append(dst.Over, int32(old+i))
				out[i] = ""
				continue
			}
			dst.Room.left -= int64(len(text))
		}
		dst.NotUTF8 = dst.NotUTF8 || !p.ascii && !utf8.ValidString(text)
		switch {
		case len(text) > lentText:
			p.lent = true
			out[i] = text
		case a == nil:
			out[i] = text
		default:
			out[i] = a.Copy(text)
		}
	}
}

// isASCII reports whether no byte of b is above 127.
func isASCII(b []byte) bool {
	for ; len(b) >= 32; b = b[32:] {
		x := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) |
			binary.LittleEndian.Uint64(b[16:]) | binary.LittleEndian.Uint64(b[24:])
		if x&0x8080808080808080 != 0 {
			return false
		}
	}
	return len(b) == 0 || slices.Max(b) < utf8.RuneSelf
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

// Copy returns a copy of s that lives until the reset.
func (a *Arena) Copy(s string) string {
	if s == "" {
		return ""
	}
	if a.block >= len(a.blocks) || len(a.blocks[a.block])-a.used < len(s) {
		a.grow(len(s))
	}
	dst := a.blocks[a.block][a.used:]
	a.used += copy(dst, s)
	return unsafe.String(unsafe.SliceData(dst), len(s))
}

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
