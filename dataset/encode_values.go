package dataset

import (
	"encoding/binary"
	"math"

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
		for _, x := range v.column.ints[from:to] {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
		}
	case format.Boolean:
		w := bitWriter{b: dst}
		for _, x := range v.column.ints[from:to] {
			w.put(uint64(x), 1)
		}
		dst = w.flush()
	case format.Double:
		for _, x := range v.column.doubles[from:to] {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		}
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
