package dataset

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
)

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
	for i, x := range xs {
		code, ok := d.code(math.Float64bits(x))
		if !ok {
			return
		}
		v.codes[i] = code
	}
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
