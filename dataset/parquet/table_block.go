package parquet

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

const blockRows = 64 // a word of a bitmap

// A tableBlock holds the last rows of a table's runs of numbers, up to 64, row
// by row. Appending a row to a hundred columns one by one would touch hundreds
// of cache lines; a block is written in order and turned into columns 64 rows at
// a time.
type tableBlock struct {
	columns, words int
	bits           []uint64 // blockRows rows of columns values
	known          []uint64 // which columns are not null: blockRows rows of words
	used           bool     // something is in it
}

func (b *tableBlock) init(columns int) {
	b.columns, b.words = columns, (columns+63)/64
}

// need makes room for the rows; a table without runs of numbers needs none.
func (b *tableBlock) need() {
	if b.bits == nil {
		b.bits = make([]uint64, blockRows*b.columns)
		b.known = make([]uint64, blockRows*b.words)
	}
	b.used = true
}

func (b *tableBlock) reset() {
	if b.used {
		clear(b.known)
		b.used = false
	}
}

// A RowMask says which columns of a run get a value and which a null. It is made
// once for the many rows that lack the same numbers.
type RowMask struct {
	kind     ColumnKind
	from, to int      // columns
	word     int      // of a row's bitmap that words begins at
	words    []uint64 // bits of the columns that are known
}

// RowMask returns the mask of the columns from c on, which must be of one kind,
// Int64 or Double: column c+i is null unless known[i].
func (t *Table) RowMask(c int, known []bool) *RowMask {
	m := &RowMask{from: c, to: c + len(known), word: c >> 6}
	if len(known) == 0 {
		return m
	}
	m.kind = t.columns[c].kind
	if alike := t.columns[c].alike; alike < len(known) || m.kind != Int64 && m.kind != Double {
		panic(fmt.Sprintf("parquet: result column %q begins no run of %d numbers", t.fields[c].Name, len(known)))
	}
	m.words = make([]uint64, (m.to-1)>>6-m.word+1)
	for i, k := range known {
		if k {
			m.words[(c+i)>>6-m.word] |= 1 << ((c + i) & 63)
		}
	}
	return m
}

// AppendIntRow appends values[i] to the i-th column of the mask, which is one of
// t, unless the mask says null.
func (t *Table) AppendIntRow(m *RowMask, values []int64) {
	if m.kind == Double {
		panic("parquet: integers for a run of doubles")
	}
	if n := len(values); n > 0 {
		t.appendRow(m, unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(values))), n))
	}
}

// AppendDoubleRow is AppendIntRow for columns of doubles.
func (t *Table) AppendDoubleRow(m *RowMask, values []float64) {
	if m.kind != Double && len(values) > 0 {
		panic("parquet: doubles for a run of integers")
	}
	if n := len(values); n > 0 {
		t.appendRow(m, unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(values))), n))
	}
}

func (t *Table) appendRow(m *RowMask, values []uint64) {
	if len(values) != m.to-m.from {
		panic(fmt.Sprintf("parquet: %d numbers for a run of %d columns", len(values), m.to-m.from))
	}
	b := &t.block
	b.need()
	at := t.rows % blockRows
	copy(b.bits[at*b.columns+m.from:], values)
	known := b.known[at*b.words+m.word:]
	for i, w := range m.words {
		if known[i]&w != 0 {
			panic(fmt.Sprintf("parquet: row %d of a result table: a run of numbers appended twice", t.rows))
		}
		known[i] |= w
	}
}

// spill moves the block's rows into the columns.
func (t *Table) spill() {
	b := &t.block
	if !b.used {
		return
	}
	first := (t.rows - 1) / blockRows * blockRows
	var byColumn [64]uint64
	for w := range b.words {
		for r := range byColumn {
			byColumn[r] = b.known[r*b.words+w]
		}
		transpose(&byColumn)
		columns := t.columns[w*64 : min(len(t.columns), w*64+64)]
		for i := range columns {
			if word := byColumn[i]; word != 0 {
				columns[i].addWord(first, word, b.bits[w*64+i:], b.columns)
			}
		}
	}
	b.reset()
}

// addWord appends 64 rows from row first on, of which the bits of word have a
// value: that of bit r is numbers[r*stride]. Of a block that was spilled before
// it was full, word has the later rows.
func (c *tableColumn) addWord(first int, word uint64, numbers []uint64, stride int) {
	lo, hi, n := bits.TrailingZeros64(word), bits.Len64(word), bits.OnesCount64(word)
	switch {
	case c.end > first+lo:
		panic(fmt.Sprintf("parquet: row %d of a result table: a column appended to both alone and in a run", first))
	case c.end == first+lo && n == hi-lo && !c.sparse: // no nulls
	default:
		c.makeSparse()
		c.reach(first)
		c.valid[first/blockRows] |= word
	}
	c.end = first + hi
	if c.kind == Double {
		at := len(c.doubles)
		c.doubles = room(c.doubles, n, c.reserve)[:at+n]
		c.addDoubles(c.doubles[at:], word, numbers, stride)
	} else {
		at := len(c.ints)
		c.ints = room(c.ints, n, c.reserve)[:at+n]
		c.addInts(c.ints[at:], word, numbers, stride)
	}
}

func (c *tableColumn) addDoubles(dst []float64, word uint64, numbers []uint64, stride int) {
	bounds := c.bounds
	for i := range dst {
		at := i
		if word != ^uint64(0) {
			at = nextBit(&word)
		}
		v := numbers[at*stride]
		dst[i] = math.Float64frombits(v)
		bounds.addBits(v)
	}
	c.bounds = bounds
}

func (c *tableColumn) addInts(dst []int64, word uint64, numbers []uint64, stride int) {
	least, most := c.bounds.least, c.bounds.most
	for i := range dst {
		at := i
		if word != ^uint64(0) {
			at = nextBit(&word)
		}
		v := int64(numbers[at*stride])
		dst[i] = v
		least, most = min(least, v), max(most, v)
	}
	c.bounds.least, c.bounds.most = least, most
}

// nextBit removes the lowest bit of word and returns its place.
func nextBit(word *uint64) int {
	at := bits.TrailingZeros64(*word)
	*word &= *word - 1
	return at
}

// transpose mirrors a matrix of 64 by 64 bits at its diagonal: bit j of word i
// becomes bit i of word j.
//
// Source: Warren, Hacker's Delight, 2nd ed., section 7-3, for lowest bit first.
func transpose(m *[64]uint64) {
	mask := uint64(1)<<32 - 1
	for j := 32; j != 0; j, mask = j>>1, mask^mask<<(j>>1) {
		for k := 0; k < 64; k = (k + j + 1) &^ j {
			t := (m[k]>>j ^ m[k+j]) & mask
			m[k] ^= t << j
			m[k+j] ^= t
		}
	}
}
