package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/parquet-go/parquet-go"
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

	// Over are the entries whose text does not fit Room, in ascending order: they have none.
	// Room pays for the texts of several columns, unless nil.
	Over []int32
	Room *int64
}

// Reset removes the entries and keeps the memory.
func (v *Values) Reset() {
	v.Levels, v.Texts, v.Ints, v.Floats, v.NotUTF8 = v.Levels[:0], v.Texts[:0], v.Ints[:0], v.Floats[:0], false
	v.Over = v.Over[:0]
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

// A Cursor reads the entries of one leaf, in one row group or in all, page by page: levels, codes
// and numbers are decoded by the encodings of parquet-go, texts here. Its buffers serve
// one row group after the other. It is not safe for concurrent use.
type Cursor struct {
	pages pageReader
	leaf  Leaf
	held  holder

	file  *File
	group int // the row group, of those before end
	end   int
	rows  int64 // that begin in its pages so far

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
	narrow []int32 // of which ints are made

	// Text i is text[starts[i]+gap : starts[i+1]].
	text   []byte
	starts []uint32
	gap    int
	ascii  bool // no byte of text is above 127

	texts   []string // of a dictionary
	notUTF8 bool     // some text of it is not UTF-8
}

// longPage is how many bytes of a page are too many to wait for another one.
const longPage = 32 << 20

// lentText is how long a text is that is not copied.
const lentText = 4 << 20

// Start begins with a leaf of the row groups from from on and before end, which are read as
// one. In each the pages must have as many rows as the footer says. Pages and dictionaries take
// bytes of the budget, which the cursors of one file may share.
func (c *Cursor) Start(f *File, from, end int, leaf Leaf, budget *int64) {
	c.file, c.group, c.end, c.leaf = f, from-1, end, leaf
	c.pages.valuesLeft, c.page.n, c.page.at = 0, 0, 0
	if c.held.budget != budget {
		c.held = holder{budget: budget}
	}
}

// Group is the row group that was read last.
func (c *Cursor) Group() int { return max(c.group, 0) }

// Done reports whether all entries have been read.
func (c *Cursor) Done() bool { return c.pages.valuesLeft == 0 && c.page.at == c.page.n }

// next returns how many entries of the page, or of the next one, have not been taken; 0 at
// the end.
func (c *Cursor) next() (n int, err error) {
	p := &c.page
	for p.at == p.n {
		if c.pages.valuesLeft == 0 {
			if c.group+1 >= c.end {
				return 0, nil
			}
			c.group++
			c.held.dictionary, c.hasDict, c.rows = 0, false, 0
			if err := c.pages.start(c.file, c.group, c.leaf.Column); err != nil {
				return 0, err
			}
			continue
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
	for p := &c.page; ; {
		body, buf, err := c.pages.next(&c.leaf, &c.held, p.body)
		p.body = buf
		if err != nil {
			return err
		}
		if !body.dictionary {
			return c.check(c.decode(&body))
		}
		if c.hasDict || body.encoding != format.Plain && body.encoding != plainDictionary {
			return corrupt("second dictionary in a column, or one in encoding %s", body.encoding)
		}
		c.hasDict, body.encoding = true, format.Plain
		if err := c.dictionary.decode(&c.leaf, &body); err != nil {
			return err
		}
		if c.leaf.Kind == Text {
			c.dictionary.keepTexts(body.n)
			p.body = nil
		}
	}
}

// check compares the rows that begin in the pages of a row group with those that it has.
func (c *Cursor) check(err error) error {
	if err != nil || c.end == 0 {
		return err
	}
	begin := int64(c.page.n)
	if c.leaf.Rep > 0 {
		if begin = int64(bytes.Count(c.page.rep, []byte{0})); c.rows == 0 && c.page.rep[0] != 0 {
			return corrupt("a row begins in the middle")
		}
	}
	c.rows += begin
	switch want := int64(c.file.GroupRows(c.group)); {
	case c.rows > want:
		return corrupt("more values than rows")
	case c.rows < want && c.pages.valuesLeft == 0:
		return corrupt("the column ends %d rows too early", want-c.rows)
	}
	return nil
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
	switch w := c.leaf.written; {
	case w != nil && w.Encoding() != body.encoding:
		return corrupt("encoding %s of values that were written in %s", body.encoding, w.Encoding())
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
	src, err := checkRuns(src, width, n, highest)
	if err == nil {
		dst, err = (&rle.Encoding{BitWidth: width}).DecodeLevels(dst, src)
	}
	if err != nil {
		return dst, err
	}
	dst = dst[:n]
	for level := highest + 1; level < 1<<width; level++ {
		if bytes.IndexByte(dst, byte(level)) >= 0 {
			return dst, corrupt("level %d above %d", level, highest)
		}
	}
	return dst, nil
}

// decodeCodes decodes n codes below size.
func decodeCodes(dst []int32, src []byte, n, size int) ([]int32, error) {
	width := 0
	if len(src) > 0 {
		width, src = int(src[0]), src[1:]
	}
	switch {
	case width > 32:
		return dst, corrupt("dictionary codes of %d bits", width)
	case size == 0:
		return dst, corrupt("dictionary code 0 of 0")
	case width == 0: // some writers leave out what is all zero
		return zeros(dst[:0], n), nil
	}
	src, err := checkRuns(src, width, n, size-1)
	if err == nil {
		dst, err = (&rle.Encoding{BitWidth: width}).DecodeInt32(dst, src)
	}
	if err != nil {
		return dst, err
	}
	dst = dst[:n]
	most := uint32(0)
	for _, code := range dst {
		most = max(most, uint32(code))
	}
	if int(most) >= size {
		return dst, corrupt("dictionary code %d of %d", most, size)
	}
	return dst, nil
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
func (v *values) decode(leaf *Leaf, body *pageBody) error {
	switch leaf.Kind {
	case Nothing:
		return nil
	case Text:
		return v.decodeTexts(body)
	case Flag:
		return v.decodeFlags(body)
	}
	return v.decodeNumbers(leaf, body)
}

func (v *values) decodeTexts(body *pageBody) (err error) {
	v.text, v.gap, v.starts = body.values, 0, v.starts[:0]
	switch body.encoding {
	case format.Plain:
		v.gap = 4
		v.starts, err = appendPlainTexts(v.starts, body.values, body.n)
	case format.DeltaLengthByteArray, format.DeltaByteArray:
		err = v.decodeDeltaTexts(body)
	default:
		err = corrupt("encoding %s of texts", body.encoding)
	}
	v.ascii = err == nil && isASCII(v.text)
	return err
}

// decodeDeltaTexts decodes texts whose lengths stand before them. In DELTA_BYTE_ARRAY each
// begins with so many bytes of the one before.
func (v *values) decodeDeltaTexts(body *pageBody) (err error) {
	src, n := body.values, body.n
	var prefixes []int64
	if body.encoding == format.DeltaByteArray {
		if prefixes, src, err = decodeDeltas(nil, src, n); err != nil {
			return err
		}
	}
	if v.ints, src, err = decodeDeltas(v.ints, src, n); err != nil {
		return err
	}
	if prefixes == nil {
		prefixes = make([]int64, n)
	}
	last, end, left := int64(0), int64(0), int64(len(src))
	for i, suffix := range v.ints {
		if prefixes[i] < 0 || prefixes[i] > last || suffix < 0 || suffix > left {
			return corrupt("bad prefix or length of a text")
		}
		v.starts = append(v.starts, uint32(end))
		last, left = prefixes[i]+suffix, left-suffix
		if end += last; end > mostPageBytes {
			return large("a page of texts of more than %d bytes", mostPageBytes)
		}
	}
	v.starts = append(v.starts, uint32(end))
	v.text = make([]byte, 0, end)
	before := v.text
	for i, suffix := range v.ints {
		v.text = append(append(v.text, before[:prefixes[i]]...), src[:suffix]...)
		before, src = v.text[v.starts[i]:], src[suffix:]
	}
	return nil
}

// decodeNumbers decodes integers and floats; integers are converted to floats if the leaf is
// read as such.
func (v *values) decodeNumbers(leaf *Leaf, body *pageBody) (err error) {
	src, n, width, encoding := body.values, body.n, 8, parquet.LookupEncoding(body.encoding)
	integers, deltas := leaf.physical == format.Int32 || leaf.physical == format.Int64, body.encoding == format.DeltaBinaryPacked
	if leaf.physical == format.Int32 || leaf.physical == format.Float {
		width = 4
	}
	switch {
	case deltas && integers:
		v.ints, _, err = decodeDeltas(v.ints, src, n)
	case body.encoding != format.Plain && body.encoding != format.ByteStreamSplit:
		return corrupt("encoding %s of numbers", body.encoding)
	case len(src)/width < n:
		return corrupt("page ends too early")
	case leaf.physical == format.Int64:
		v.ints, err = encoding.DecodeInt64(v.ints[:0], src[:n*width])
	case leaf.physical == format.Int32:
		v.narrow, err = encoding.DecodeInt32(v.narrow[:0], src[:n*width])
		v.ints = convert(v.ints, v.narrow)
	case leaf.physical == format.Double:
		v.floats, err = encoding.DecodeDouble(v.floats[:0], src[:n*width])
	default:
		var floats []float32
		floats, err = encoding.DecodeFloat(nil, src[:n*width])
		v.floats = convert(v.floats, floats)
	}
	if err != nil {
		return err
	}
	for i := 0; width == 4 && (deltas || leaf.Unsigned) && i < len(v.ints); i++ {
		if v.ints[i] = int64(int32(v.ints[i])); leaf.Unsigned {
			v.ints[i] = int64(uint32(v.ints[i]))
		}
	}
	if integers && leaf.Kind == Float {
		v.floats = convert(v.floats, v.ints)
		for i, x := range v.ints {
			if x < 0 && leaf.Unsigned {
				v.floats[i] = float64(uint64(x))
			}
		}
	}
	return nil
}

// convert makes numbers of another type.
func convert[To, From int32 | int64 | float32 | float64](dst []To, src []From) []To {
	dst = slices.Grow(dst[:0], len(src))[:len(src)]
	for i, x := range src {
		dst[i] = To(x)
	}
	return dst
}

// decodeFlags decodes booleans, one bit each or as levels are.
func (v *values) decodeFlags(body *pageBody) (err error) {
	n, src := body.n, body.values
	v.ints = slices.Grow(v.ints[:0], n)[:n]
	switch {
	case body.encoding == format.Plain && len(src) >= (n+7)/8:
		for i := range v.ints {
			v.ints[i] = int64(src[i/8] >> (i % 8) & 1)
		}
	case body.encoding == format.RLE:
		if src, _, err = levelBlock(src); err == nil {
			src, err = decodeLevels(nil, src, n, 1)
		}
		for i, bit := range src[:min(len(src), n)] {
			v.ints[i] = int64(bit)
		}
	default:
		err = corrupt("%d booleans of encoding %s in %d bytes", n, body.encoding, len(src))
	}
	return err
}

// ErrManyEntries is the error of [Cursor.ReadRows] for rows that have more entries than are
// wanted.
var ErrManyEntries = errors.New("too many entries")

// ReadRows appends the entries of the next n rows, at most most of them, to dst and the
// repetition levels of a leaf in a list to rep, and returns how many entries they are; with a
// nil dst it passes over them. Texts are copied to the arena; without one they stay valid for
// ever.
func (c *Cursor) ReadRows(n, most int, dst *Values, rep *[]byte, a *Arena) (entries int, err error) {
	defer recovered(&err)
	list := c.leaf.Rep > 0
	for rows := 0; rows < n || list && !c.Done(); { // the last row may go on
		k, err := c.next()
		if err != nil {
			return 0, err
		}
		if k == 0 {
			return 0, corrupt("the column ends %d rows too early", n-rows)
		}
		k = min(k, n-rows)
		begun := k
		if list {
			levels := c.page.rep[c.page.at:]
			if rows == 0 && levels[0] != 0 {
				return 0, corrupt("a row begins in the middle")
			}
			if k, begun = rowsIn(levels, n-rows); k == 0 {
				break
			}
			if dst != nil && entries+k <= most {
				*rep = append(*rep, levels[:k]...)
			}
		}
		if entries += k; entries > most {
			return 0, ErrManyEntries
		}
		rows += begun
		c.take(k, dst, a)
	}
	return entries, nil
}

// SkipRows passes over the next n rows: row groups from their first row to their last
// unread.
func (c *Cursor) SkipRows(n int) error {
	for c.Done() && c.group+1 < c.end && c.file.GroupRows(c.group+1) <= n {
		c.group++
		n -= c.file.GroupRows(c.group)
	}
	_, err := c.ReadRows(n, math.MaxInt, nil, nil, nil)
	return err
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

// take moves n entries of the current page to dst, unless it is nil.
func (c *Cursor) take(n int, dst *Values, a *Arena) {
	p := &c.page
	levels, present := []byte(nil), n
	if c.leaf.Def > 0 {
		levels = p.def[p.at : p.at+n]
		present = bytes.Count(levels, []byte{byte(c.leaf.Def)})
	}
	p.at += n
	if dst == nil {
		p.value += present
		return
	}
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
	level, from, to := byte(c.leaf.Def), p.value, p.value+present
	p.value = to
	src, codes := &p.values, []int32(nil)
	if p.coded && present > 0 {
		src, codes, from, to = &c.dictionary, p.codes[from:to], 0, c.dictionary.count(&c.leaf)
	}
	switch kind := c.leaf.Kind; {
	case kind == Nothing:
	case present == 0:
		dst.fill(kind, old+n)
	case kind == Text && codes == nil:
		c.takeTexts(levels, from, dst, a)
	case kind == Text:
		dst.Texts = spread(dst.Texts, src.texts, codes, levels, level)
		dst.NotUTF8 = dst.NotUTF8 || src.notUTF8
	case kind == Float:
		dst.Floats = spread(dst.Floats, src.floats[from:to], codes, levels, level)
	default:
		dst.Ints = spread(dst.Ints, src.ints[from:to], codes, levels, level)
	}
}

// spread appends to dst an item for each level: the next of values, or of those that codes
// number unless it is nil, where the level is present, else zero.
func spread[T any](dst, values []T, codes []int32, levels []byte, present byte) []T {
	if codes == nil && len(values) == len(levels) {
		return append(dst, values...)
	}
	old := len(dst)
	dst = slices.Grow(dst, len(levels))[:old+len(levels)]
	out := dst[old:]
	if len(codes) == len(levels) {
		for i, v := range codes {
			out[i] = values[v]
		}
		return dst
	}
	next := 0
	for i, level := range levels {
		var v T
		if level == present {
			at := next
			if codes != nil {
				at = int(codes[next])
			}
			v = values[at]
			next++
		}
		out[i] = v
	}
	return dst
}

// takeTexts appends the texts of the page from from on, of entries with these levels.
func (c *Cursor) takeTexts(levels []byte, from int, dst *Values, a *Arena) {
	p, old, present := &c.page, len(dst.Texts), byte(c.leaf.Def)
	dst.Texts = slices.Grow(dst.Texts, len(levels))[:old+len(levels)]
	out := dst.Texts[old:]
	clear(out)
	p.lent = p.lent || a == nil
	for i, level := range levels {
		if level != present {
			continue
		}
		text := p.values.at(from)
		from++
		if dst.Room != nil {
			if *dst.Room < int64(len(text)) {
				dst.Over = append(dst.Over, int32(old+i))
				continue
			}
			*dst.Room -= int64(len(text))
		}
		dst.NotUTF8 = dst.NotUTF8 || !p.ascii && !utf8.ValidString(text)
		if len(text) > lentText {
			p.lent = true
		} else if a != nil {
			text = a.Copy(text)
		}
		out[i] = text
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

// An Arena holds the bytes of many texts in few blocks, which are used again after a reset.
type Arena struct {
	blocks [][]byte
	full   int // blocks that get no more texts
}

// Copy returns a copy of s that lives until the reset.
func (a *Arena) Copy(s string) string {
	if s == "" {
		return ""
	}
	for a.full < len(a.blocks) && cap(a.blocks[a.full])-len(a.blocks[a.full]) < len(s) {
		a.full++
	}
	if a.full == len(a.blocks) {
		a.blocks = append(a.blocks, make([]byte, 0, max(len(s), arenaBlock)))
	}
	b := &a.blocks[a.full]
	at := len(*b)
	*b = append(*b, s...)
	return unsafe.String(&(*b)[at], len(s))
}

// Reset makes all texts invalid.
func (a *Arena) Reset() {
	for i := range a.blocks {
		a.blocks[i] = a.blocks[i][:0]
	}
	a.full = 0
}
