package dataset

import (
	"math"
	"math/bits"
)

const blockRows = 64 // a word of a bitmap

// A tableBlock holds the last rows of a table, up to 64, row by row. Appending
// a row to a hundred columns one by one would touch hundreds of cache lines; a
// block is written in order and turned into columns 64 rows at a time.
type tableBlock struct {
	columns, words int
	bits           []uint64 // of numbers: blockRows rows of columns values
	known          []uint64 // which columns are not null: blockRows rows of words
	spilled        int      // rows of the table that are in its columns
}

func (b *tableBlock) init(columns int) {
	b.columns, b.words = columns, (columns+63)/64
	b.bits = make([]uint64, blockRows*b.columns)
	b.known = make([]uint64, blockRows*b.words)
}

func (b *tableBlock) reset() {
	clear(b.known)
	b.spilled = 0
}

// row returns the numbers of a row of the table.
func (b *tableBlock) row(row int) []uint64 {
	at := row % blockRows * b.columns
	return b.bits[at : at+b.columns]
}

func (b *tableBlock) put(row, c int, v uint64) { b.bits[row%blockRows*b.columns+c] = v }

// mark records that row has a value in column c.
func (b *tableBlock) mark(row, c int) {
	b.known[row%blockRows*b.words+c>>6] |= 1 << (c & 63)
}

// markKnown records that row has a value in each column c+i with known[i].
func (b *tableBlock) markKnown(row, c int, known []bool) {
	words := b.known[row%blockRows*b.words:]
	for len(known) > 0 {
		n := min(len(known), 64-c&63)
		var word uint64
		for i, k := range known[:n] {
			var bit uint64
			if k {
				bit = 1
			}
			word |= bit << i
		}
		words[c>>6] |= word << (c & 63)
		known, c = known[n:], c+n
	}
}

// spill moves the block's rows into the columns.
func (t *Table) spill() {
	b := &t.block
	if b.spilled == t.rows {
		return
	}
	at := b.spilled / blockRows // the word of the rows in every bitmap
	var byColumn [64]uint64
	for w := range b.words {
		for r := range byColumn {
			byColumn[r] = b.known[r*b.words+w]
		}
		transpose(&byColumn)
		columns := t.columns[w*64 : min(len(t.columns), w*64+64)]
		for i := range columns {
			if word := byColumn[i]; word != 0 {
				columns[i].addWord(at, word, b.bits[w*64+i:], b.columns)
			}
		}
	}
	clear(b.known)
	b.spilled = t.rows
}

// addWord appends the rows of one word of the bitmap. In a column of numbers,
// the value of the word's bit r is numbers[r*stride].
func (c *tableColumn) addWord(at int, word uint64, numbers []uint64, stride int) {
	for len(c.valid) <= at {
		c.valid = append(c.valid, 0)
	}
	c.valid[at] |= word
	switch c.kind {
	case Int32, Int64, Bool:
		at := len(c.ints)
		c.ints = resizeKeep(c.ints, at+bits.OnesCount64(word))
		for dst := c.ints[at:]; word != 0 && len(dst) > 0; word &= word - 1 {
			dst[0] = int64(numbers[bits.TrailingZeros64(word)*stride])
			dst = dst[1:]
		}
	case Double:
		at := len(c.doubles)
		c.doubles = resizeKeep(c.doubles, at+bits.OnesCount64(word))
		for dst := c.doubles[at:]; word != 0 && len(dst) > 0; word &= word - 1 {
			dst[0] = math.Float64frombits(numbers[bits.TrailingZeros64(word)*stride])
			dst = dst[1:]
		}
	}
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
