package parquet

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// A valueMode says how a leaf's values are laid out.
type valueMode uint8

const (
	plainMode    valueMode = iota
	deltaMode              // integers, by their differences
	oneValue               // dictionary of the only value there is
	offsetCodes            // dictionary of all integers from the least to the greatest
	valueCodes             // dictionary; codes holds one code per value
	entryCodes             // dictionary; codes holds one code per entry of text
	mapCodes               // dictionary; patterns holds the packed codes of each set
	mapPlainMode           // as plainMode, from sets
)

// leafValues lays out the values of one leaf of one part.
type leafValues struct {
	leaf   *resultLeaf
	column *tableColumn
	mode   valueMode

	width   uint   // of a code
	dict    []byte // the dictionary page, PLAIN
	dictLen int

	minInt, maxInt       int64
	minDouble, maxDouble float64
	minText, maxText     string
	hasBounds            bool

	codes   []uint32
	entry   int // of text; where the last append or stringBytes stopped
	floats  floatDictionary
	strings textDictionary
	maps    mapPatterns
}

func (v *leafValues) begin(c *tableColumn, l *resultLeaf) {
	v.leaf, v.column = l, c
	v.mode, v.dict, v.dictLen, v.hasBounds, v.entry = plainMode, v.dict[:0], 0, false, 0
	switch c.kind {
	case Int32, Int64, Bool, ListInt32:
		v.beginInts()
	case Double:
		v.beginDoubles()
	case String, ListString:
		v.beginText()
	case MapString:
		v.beginMaps()
	}
}

func (v *leafValues) dictionary() bool { return v.dictLen > 0 }

func (v *leafValues) encoding() format.Encoding {
	switch {
	case v.dictionary():
		return format.RLEDictionary
	case v.mode == deltaMode:
		return format.DeltaBinaryPacked
	default:
		return format.Plain
	}
}

// wide reports whether the values are PLAIN ones of eight bytes.
func (v *leafValues) wide() bool {
	return v.mode == plainMode && (v.leaf.typ == format.Double || v.leaf.typ == format.Int64)
}

// bounds appends the least and the greatest value in PLAIN encoding to lo and
// hi, if they are known.
func (v *leafValues) bounds(lo, hi []byte) (least, greatest []byte, ok bool) {
	if !v.hasBounds {
		return lo, hi, false
	}
	le := binary.LittleEndian
	switch v.leaf.typ {
	case format.Int32:
		return le.AppendUint32(lo, uint32(v.minInt)), le.AppendUint32(hi, uint32(v.maxInt)), true
	case format.Int64:
		return le.AppendUint64(lo, uint64(v.minInt)), le.AppendUint64(hi, uint64(v.maxInt)), true
	case format.Boolean:
		return append(lo, byte(v.minInt)), append(hi, byte(v.maxInt)), true
	case format.Double:
		return le.AppendUint64(lo, math.Float64bits(v.minDouble)), le.AppendUint64(hi, math.Float64bits(v.maxDouble)), true
	default:
		return append(lo, v.minText...), append(hi, v.maxText...), true
	}
}

// append appends the values [from, to) to dst. Ranges must be asked for in
// order.
func (v *leafValues) append(dst []byte, from, to int) []byte {
	if v.dictionary() {
		return v.appendCodes(dst, from, to)
	}
	if v.mode == deltaMode {
		return appendDelta(dst, v.column.ints[from:to])
	}
	switch v.leaf.typ {
	case format.Int32:
		for _, x := range v.column.ints[from:to] {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(x))
		}
	case format.Int64:
		dst = appendWords(dst, words(v.column.ints[from:to]))
	case format.Boolean:
		w := bitWriter{b: dst}
		for _, x := range v.column.ints[from:to] {
			w.put(uint64(x), 1)
		}
		dst = w.flush()
	case format.Double:
		dst = appendWords(dst, words(v.column.doubles[from:to]))
	default:
		v.eachRun(from, to, func(e, n int) {
			s := v.column.text.entries[e]
			for range n {
				dst = appendPlainString(dst, s)
			}
		})
	}
	return dst
}

func appendWords(dst []byte, words []uint64) []byte {
	at := len(dst)
	dst = slices.Grow(dst, 8*len(words))[:at+8*len(words)]
	for i, w := range words {
		binary.LittleEndian.PutUint64(dst[at+8*i:at+8*i+8], w)
	}
	return dst
}

func appendPlainString(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}

// appendCodes appends the width of the codes and then those of the values
// [from, to) as one run.
func (v *leafValues) appendCodes(dst []byte, from, to int) []byte {
	dst = append(dst, byte(v.width))
	n := to - from
	if n == 0 {
		return dst
	}
	if v.mode == oneValue {
		return appendRLERun(dst, 0, v.width, n)
	}
	dst = appendPackedHeader(dst, n)
	start := len(dst)
	w := bitWriter{b: dst}
	switch v.mode {
	case offsetCodes:
		putAll(&w, v.column.ints[from:to], v.minInt, v.width)
	case valueCodes:
		putAll(&w, v.codes[from:to], 0, v.width)
	default:
		v.eachRun(from, to, func(e, n int) { w.repeat(uint64(v.codes[e]), v.width, n) })
	}
	return padPacked(w.flush(), start, n, v.width)
}

// eachRun calls f with every entry of the text that has values in [from, to),
// and their number.
func (v *leafValues) eachRun(from, to int, f func(entry, n int)) {
	upTo := v.column.text.upTo
	if v.entry > 0 && int(upTo[v.entry-1]) > from {
		v.entry = 0 // a range before the last one
	}
	for from < to {
		for int(upTo[v.entry]) <= from {
			v.entry++
		}
		end := min(to, int(upTo[v.entry]))
		f(v.entry, end-from)
		from = end
	}
}

// plainBytes is an upper bound of the bytes of PLAIN strings, 0 for other
// values.
func (v *leafValues) plainBytes() int {
	if v.mode != plainMode || v.leaf.typ != format.ByteArray {
		return 0
	}
	return v.stringBytes(0, v.column.text.total())
}

// stringBytes is the size of the values [from, to) if they are PLAIN strings of
// the text, and 0 if not.
func (v *leafValues) stringBytes(from, to int) int {
	if v.mode != plainMode || v.leaf.typ != format.ByteArray {
		return 0
	}
	size := 0
	v.eachRun(from, to, func(e, n int) { size += n * (4 + len(v.column.text.entries[e])) })
	return size
}

// maxIntDictionary bounds the dictionary of all integers between two.
const maxIntDictionary = 1 << 16

// smallIntDictionary is the size of a dictionary that is not worth a comparison
// with other encodings.
const smallIntDictionary = 256

// beginInts chooses between the three encodings of integers by what they take.
func (v *leafValues) beginInts() {
	ints := v.column.ints
	if len(ints) == 0 {
		return
	}
	lo, hi := v.column.bounds.least, v.column.bounds.most
	v.minInt, v.maxInt, v.hasBounds = lo, hi, true
	if v.leaf.typ == format.Boolean {
		return
	}
	size := 8
	if v.leaf.typ == format.Int32 {
		size = 4
	}
	least := len(ints) * size / 4 * 3
	span := uint64(hi) - uint64(lo)
	if span < 1<<(6*size) && (span >= smallIntDictionary || len(ints) < smallIntDictionary) { // else the differences may take nearly as much
		v.mode = deltaMode
		least = min(least, len(ints)*int(deltaWidth(ints))/8+len(ints)/20) // and what blocks say of themselves
	}
	if span >= maxIntDictionary {
		return
	}
	width := bitWidth(int(span + 1))
	if int(span+1)*size+len(ints)*int(width)/8 > least && lo != hi {
		return
	}
	v.mode, v.width, v.dictLen = offsetCodes, width, int(span+1)
	if lo == hi {
		v.mode = oneValue
	}
	for x := lo; x <= hi; x++ {
		if size == 4 {
			v.dict = binary.LittleEndian.AppendUint32(v.dict, uint32(x))
		} else {
			v.dict = binary.LittleEndian.AppendUint64(v.dict, uint64(x))
		}
	}
}

// deltaWidth is the most bits that a difference takes as [appendDelta] writes it.
func deltaWidth(ints []int64) uint {
	var least, most int64
	for i, x := range ints[1:] {
		d := x - ints[i]
		least, most = min(least, d), max(most, d)
	}
	return uint(bits.Len64(uint64(most - least)))
}

const (
	floatLimit = 512     // values of a double's dictionary: its table stays in the first-level cache
	textLimit  = 1 << 16 // values of a string's dictionary
	textProbe  = 4096    // entries after which a dictionary must have paid the first time
	boundLimit = 64      // longest string kept as a bound
)

// A floatDictionary numbers doubles by their bits, in order of appearance.
type floatDictionary struct {
	slots [4 * floatLimit]uint16 // code + 1
	bits  [floatLimit]uint64
	n     int
}

// code returns the code of x, or ok false if the dictionary is full.
func (d *floatDictionary) code(x uint64) (code uint32, ok bool) {
	for i := x * 0x9E3779B97F4A7C15 >> 53; ; i = (i + 1) % (4 * floatLimit) {
		switch s := d.slots[i]; {
		case s == 0:
			if d.n == floatLimit {
				return 0, false
			}
			d.bits[d.n] = x
			d.n++
			d.slots[i] = uint16(d.n)
			return uint32(d.n - 1), true
		case d.bits[s-1] == x:
			return uint32(s - 1), true
		}
	}
}

func (v *leafValues) beginDoubles() {
	xs := v.column.doubles
	if len(xs) == 0 {
		return
	}
	v.boundDoubles(xs)
	d := &v.floats
	clear(d.slots[:])
	d.n = 0
	v.codes = slices.Grow(v.codes[:0], len(xs))[:len(xs)]
	last, code := math.Float64bits(xs[0]), uint32(0)
	d.code(last)
	ok := true
	if v.column.bounds.leastBits == v.column.bounds.mostBits { // all are the first
		clear(v.codes)
		xs = xs[:0]
	}
	for i, x := range xs {
		if bits := math.Float64bits(x); bits != last {
			if code, ok = d.code(bits); !ok {
				return
			}
			last = bits
		}
		v.codes[i] = code
	}
	xs = v.column.doubles
	v.width = bitWidth(d.n)
	if d.n*8+len(xs)*int(v.width)/8 > len(xs)*8/4*3 {
		return
	}
	v.mode, v.dictLen = valueCodes, d.n
	if d.n == 1 {
		v.mode = oneValue
	}
	for _, x := range d.bits[:d.n] {
		v.dict = binary.LittleEndian.AppendUint64(v.dict, x)
	}
}

// boundDoubles finds the bounds, which do not exist if there is a NaN. A zero
// bound is written with the sign that covers both zeros, as Parquet asks.
func (v *leafValues) boundDoubles(xs []float64) {
	bits := &v.column.bounds
	lo, hi := math.Float64frombits(bits.leastBits), math.Float64frombits(bits.mostBits)
	if bits.mostBits > math.Float64bits(math.Inf(1)) {
		lo, hi = math.Inf(1), math.Inf(-1)
		for _, x := range xs {
			if x != x {
				return
			}
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	if lo == 0 {
		lo = math.Copysign(0, -1)
	}
	if hi == 0 {
		hi = 0 // not the negative one
	}
	v.minDouble, v.maxDouble, v.hasBounds = lo, hi, true
}

// A textDictionary numbers strings in order of appearance.
type textDictionary struct {
	slots []uint32 // code + 1; the length is a power of two above twice the number of strings
	found []string // by code
	hash  []uint64 // by code
	size  int      // bytes as PLAIN values
}

func (d *textDictionary) reset() {
	if d.slots == nil {
		d.slots = make([]uint32, 1024)
	}
	clear(d.slots)
	clear(d.found)
	d.found, d.hash, d.size = d.found[:0], d.hash[:0], 0
}

func (d *textDictionary) code(s string) uint32 {
	h := maphash.String(textSeed, s)
	mask := uint64(len(d.slots) - 1)
	i := h & mask
	for ; d.slots[i] != 0; i = (i + 1) & mask {
		if c := d.slots[i] - 1; d.hash[c] == h && d.found[c] == s {
			return c
		}
	}
	d.found, d.hash = append(d.found, s), append(d.hash, h)
	d.size += 4 + len(s)
	d.slots[i] = uint32(len(d.found))
	if 2*len(d.found) >= len(d.slots) {
		d.grow()
	}
	return uint32(len(d.found) - 1)
}

func (d *textDictionary) grow() {
	d.slots = make([]uint32, 2*len(d.slots))
	mask := uint64(len(d.slots) - 1)
	for c, h := range d.hash {
		i := h & mask
		for d.slots[i] != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = uint32(c + 1)
	}
}

// page appends the dictionary page.
func (d *textDictionary) page(dst []byte) []byte {
	for _, s := range d.found {
		dst = appendPlainString(dst, s)
	}
	return dst
}

// bounds returns the least and greatest string, unless one is too long to be
// worth keeping.
func (d *textDictionary) bounds() (lo, hi string, ok bool) {
	lo, hi = d.found[0], d.found[0]
	for _, s := range d.found[1:] {
		lo, hi = min(lo, s), max(hi, s)
	}
	return lo, hi, max(len(lo), len(hi)) <= boundLimit
}

func (v *leafValues) beginText() {
	text := &v.column.text
	if text.total() == 0 {
		return
	}
	d := &v.strings
	d.reset()
	v.codes = v.codes[:0]
	check := textProbe
	for e, s := range text.entries {
		v.codes = append(v.codes, d.code(s))
		if len(d.found) > textLimit || d.size > pageBytes {
			return
		}
		if e == check {
			if len(d.found) > int(text.upTo[e])/4*3 {
				return
			}
			check *= 2
		}
	}
	if len(d.found) > text.total()/4*3 {
		return
	}
	v.useText(entryCodes)
}

// useText makes v.strings the leaf's dictionary.
func (v *leafValues) useText(mode valueMode) {
	d := &v.strings
	v.mode, v.dictLen, v.width = mode, len(d.found), bitWidth(len(d.found))
	if v.dictLen == 1 && mode == entryCodes {
		v.mode = oneValue
	}
	v.dict = d.page(v.dict)
	v.minText, v.maxText, v.hasBounds = d.bounds()
}

// mapPatterns holds, for every set that the column uses, the packed codes of
// its keys or of its values.
type mapPatterns struct {
	defined, sets []mapPattern
	words         []uint64
}

// A mapPattern is words[from:] of mapPatterns, n codes. It is unset if from is
// -1.
type mapPattern struct{ from, n int }

func (m *mapPatterns) reset(c *mapSets) {
	m.words = m.words[:0]
	m.defined, m.sets = m.defined[:0], m.sets[:0]
	for range c.defined {
		m.defined = append(m.defined, mapPattern{from: -1})
	}
	for range c.sets {
		m.sets = append(m.sets, mapPattern{from: -1})
	}
}

func (m *mapPatterns) at(row int32) *mapPattern {
	if row < 0 {
		return &m.defined[^row]
	}
	return &m.sets[row]
}

// mapStrings returns the strings of a set that belong to the leaf.
func (v *leafValues) mapStrings(row int32) []string {
	s := v.column.maps.set(row)
	if v.leaf.mapKey() {
		return s.keys
	}
	return s.values
}

func (v *leafValues) beginMaps() {
	m := &v.column.maps
	v.mode = mapPlainMode
	v.maps.reset(m)
	v.codes = v.codes[:0]
	d := &v.strings
	d.reset()
	for _, row := range m.rows { // number the strings of each set once
		p := v.maps.at(row)
		if p.from >= 0 {
			continue
		}
		p.from = len(v.codes)
		for _, s := range v.mapStrings(row) {
			v.codes = append(v.codes, d.code(s))
			p.n++
		}
		if len(d.found) > textLimit || d.size > pageBytes {
			return
		}
	}
	if len(d.found) == 0 {
		return
	}
	v.useText(mapCodes)
	v.packMaps(v.maps.defined)
	v.packMaps(v.maps.sets)
}

// packMaps turns the codes of each pattern, at v.codes[from:], into words.
func (v *leafValues) packMaps(patterns []mapPattern) {
	for i := range patterns {
		p := &patterns[i]
		if p.from < 0 {
			continue
		}
		codes := v.codes[p.from : p.from+p.n]
		p.from = len(v.maps.words)
		var acc uint64
		var fill uint
		for _, c := range codes {
			acc |= uint64(c) << fill
			if fill += v.width; fill >= 64 {
				v.maps.words = append(v.maps.words, acc)
				fill -= 64
				acc = uint64(c) >> (v.width - fill)
			}
		}
		v.maps.words = append(v.maps.words, acc)
	}
}

// appendMaps appends the values of the maps [from, to), n in all.
func (v *leafValues) appendMaps(dst []byte, from, to, n int) []byte {
	rows := v.column.maps.rows[from:to]
	if v.mode == mapPlainMode {
		for _, row := range rows {
			for _, s := range v.mapStrings(row) {
				dst = appendPlainString(dst, s)
			}
		}
		return dst
	}
	dst = append(dst, byte(v.width))
	if n == 0 {
		return dst
	}
	dst = appendPackedHeader(dst, n)
	start := len(dst)
	w := bitWriter{b: dst}
	for _, row := range rows {
		p := v.maps.at(row)
		w.pattern(v.maps.words[p.from:], p.n*int(v.width))
	}
	return padPacked(w.flush(), start, n, v.width)
}
