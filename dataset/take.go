package dataset

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"
)

// leafData is what a batch holds of one column: parallel slices with an item
// per entry, of which only the one for the column's kind is used.
type leafData struct {
	code   []byte
	text   []string
	ints   []int64
	floats []float64

	rep   []byte  // of a list within a list
	start []int32 // of a list within a list: its first entry, by entry of the outer list; one more at the end

	bad []refusedValue
}

func (d *leafData) reset() {
	d.code, d.text, d.ints, d.floats = d.code[:0], d.text[:0], d.ints[:0], d.floats[:0]
	d.rep, d.start, d.bad = d.rep[:0], d.start[:0], d.bad[:0]
}

// pad appends n nulls.
func (d *leafData) pad(n int, kind valueKind) {
	d.code = extend(d.code, n)
	switch kind {
	case textValue:
		d.text = extend(d.text, n)
	case floatValue:
		d.floats = extend(d.floats, n)
	default:
		d.ints = extend(d.ints, n)
	}
}

// extend appends n zeros.
func extend[T any](s []T, n int) []T {
	old := len(s)
	s = slices.Grow(s, n)[:old+n]
	clear(s[old:])
	return s
}

// takeRows moves the entries of the next n rows to dst, their repetition levels
// to rep, and returns how many entries they are.
func (c *chunkReader) takeRows(n int, dst *leafData, rep *[]byte, a *arena) (int, error) {
	rows, entries := 0, 0
	for {
		if c.page.next == len(c.page.code) {
			if c.valuesLeft == 0 {
				break
			}
			if err := c.load(); err != nil {
				return 0, err
			}
		}
		levels := c.page.rep[c.page.next:]
		if rows == 0 && levels[0] != 0 {
			return 0, corrupt("a row begins in the middle")
		}
		k, begun := rowsIn(levels, n-rows)
		rows += begun
		entries += k
		*rep = append(*rep, levels[:k]...)
		whole := k == len(levels)
		if err := c.take(k, dst, a); err != nil {
			return 0, err
		}
		if !whole {
			break
		}
	}
	if rows != n {
		return 0, corrupt("the column ends %d rows too early", n-rows)
	}
	return entries, nil
}

// rowsIn returns how many levels belong to the first n rows that begin in them,
// with those before the first, and how many of these rows begin.
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

// takeEntries moves the next n entries to dst. Their repetition levels must be
// those of rep, which come from a sibling, if it is not nil.
func (c *chunkReader) takeEntries(n int, rep []byte, dst *leafData, a *arena) error {
	for n > 0 {
		if c.page.next == len(c.page.code) {
			if c.valuesLeft == 0 {
				return corrupt("the column ends %d values too early", n)
			}
			if err := c.load(); err != nil {
				return err
			}
		}
		k := min(n, len(c.page.code)-c.page.next)
		if rep != nil {
			if !bytes.Equal(rep[:k], c.page.rep[c.page.next:c.page.next+k]) {
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
func (c *chunkReader) take(n int, dst *leafData, a *arena) error {
	p := &c.page
	codes := p.code[p.next : p.next+n]
	p.next += n
	dst.code = append(dst.code, codes...)
	if c.leaf.null {
		return nil
	}
	values := n
	if c.leaf.def > 0 {
		values = bytes.Count(codes, []byte{c.leaf.present})
	}
	switch c.leaf.kind {
	case textValue:
		return c.takeTexts(codes, values, dst, a)
	case floatValue:
		c.takeFloats(codes, values, dst)
	default:
		c.takeInts(codes, values, dst)
	}
	return nil
}

// spreadValues appends to dst one item per code: the next of values where the code is
// present, zero elsewhere.
func spreadValues[T any](dst, values []T, codes []byte, present byte) []T {
	if len(values) == len(codes) {
		return append(dst, values...)
	}
	old := len(dst)
	dst = slices.Grow(dst, len(codes))[:old+len(codes)]
	var zero T
	for i, code := range codes {
		v := zero
		if code == present {
			v, values = values[0], values[1:]
		}
		dst[old+i] = v
	}
	return dst
}

// spreadCodes is spreadValues through a dictionary.
func spreadCodes[T any](dst []T, dictionary []T, values []int32, codes []byte, present byte) []T {
	old := len(dst)
	dst = slices.Grow(dst, len(codes))[:old+len(codes)]
	out := dst[old:]
	if len(values) == len(codes) {
		for i, v := range values {
			out[i] = dictionary[v]
		}
		return dst
	}
	var zero T
	for i, code := range codes {
		v := zero
		if code == present {
			v, values = dictionary[values[0]], values[1:]
		}
		out[i] = v
	}
	return dst
}

func (c *chunkReader) takeInts(codes []byte, n int, dst *leafData) {
	p, old := &c.page, len(dst.ints)
	switch {
	case p.coded:
		dst.ints = spreadCodes(dst.ints, c.dictionary.ints, p.codes[p.value:p.value+n], codes, c.leaf.present)
	case p.raw == nil:
		dst.ints = spreadValues(dst.ints, p.ints[p.value:p.value+n], codes, c.leaf.present)
	default:
		raw := p.raw[p.value*c.leaf.width() : (p.value+n)*c.leaf.width()]
		if n == len(codes) {
			dst.ints = slices.Grow(dst.ints, n)[:old+n]
			plainIntegers(dst.ints[old:], raw, c.leaf)
			break
		}
		p.ints = slices.Grow(p.ints[:0], n)[:n]
		plainIntegers(p.ints, raw, c.leaf)
		dst.ints = spreadValues(dst.ints, p.ints, codes, c.leaf.present)
	}
	p.value += n
	if c.leaf.unsigned {
		c.refuse(dst, old, len(codes), "integer out of range", func(i int) bool { return dst.ints[i] < 0 })
	}
	if c.leaf.kind != pageValue {
		return
	}
	var high int64
	for _, v := range dst.ints[old:] {
		high |= v ^ v>>63
	}
	if high > math.MaxInt32 {
		c.refuse(dst, old, len(codes), "page number out of range", func(i int) bool { return !fitsInt32(dst.ints[i]) })
	}
}

func (c *chunkReader) takeFloats(codes []byte, n int, dst *leafData) {
	p, old := &c.page, len(dst.floats)
	if p.coded {
		dst.floats = spreadCodes(dst.floats, c.dictionary.floats, p.codes[p.value:p.value+n], codes, c.leaf.present)
	} else {
		dst.floats = spreadValues(dst.floats, p.floats[p.value:p.value+n], codes, c.leaf.present)
	}
	p.value += n
	for i, v := range dst.floats[old:] {
		// NaN is how data frames write a missing number.
		if math.IsNaN(v) {
			dst.floats[old+i] = 0
			c.setNull(dst, old+i)
		}
	}
	c.refuse(dst, old, len(codes), "infinite number", func(i int) bool { return math.IsInf(dst.floats[i], 0) })
}

func (c *chunkReader) takeTexts(codes []byte, n int, dst *leafData, a *arena) error {
	p, old := &c.page, len(dst.text)
	if p.coded {
		dst.text = spreadCodes(dst.text, c.dictionary.texts, p.codes[p.value:p.value+n], codes, c.leaf.present)
		p.value += n
		if c.dictionary.invalid {
			c.refuseTexts(dst, old)
		}
		return nil
	}
	dst.text = slices.Grow(dst.text, len(codes))[:old+len(codes)]
	out, rest, valid := dst.text[old:], p.plain[p.value:], true
	for i, code := range codes {
		if code != c.leaf.present {
			out[i] = ""
			continue
		}
		if len(rest) < 4 {
			return corrupt("page ends too early")
		}
		length := binary.LittleEndian.Uint32(rest)
		rest = rest[4:]
		if uint64(length) > uint64(len(rest)) {
			return corrupt("page ends too early")
		}
		text := rest[:length]
		rest = rest[length:]
		valid = valid && (p.ascii || utf8.Valid(text))
		out[i] = a.text(text)
	}
	p.value = len(p.plain) - len(rest)
	if !valid {
		c.refuseTexts(dst, old)
	}
	return nil
}
