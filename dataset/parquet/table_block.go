package parquet

import (
	"fmt"
	"math/bits"
	"unsafe"
)

const blockRows = 64 // a word of a bitmap

// A tableBlock holds the numbers of the last rows of a table, up to 64, row by row.
// Appending them to a hundred columns one by one would touch hundreds of cache
// lines; a block is written in order and turned into columns 64 rows at a time.
type tableBlock struct {
	columns, words int
	bits           []uint64 // blockRows rows of columns values
	known          []uint64 // which columns are not null: blockRows rows of words
	used           bool     // something is in it
}

func (b *tableBlock) init(columns int) {
	b.columns, b.words = columns, (columns+63)/64
}

// need makes room for the rows; a table without numbers needs none.
func (b *tableBlock) need() {
	if b.bits == nil {
		b.bits = make([]uint64, blockRows*b.columns)
		b.known = make([]uint64, blockRows*b.words)
	}
	b.used = true
}

// put appends the bits of a number to column c.
func (b *tableBlock) put(row, c int, v uint64) {
	if !b.used {
		b.need()
	}
	at := row % blockRows
	word, bit := &b.known[at*b.words+c>>6], uint64(1)<<(c&63)
	if *word&bit != 0 {
		panicTwice(row)
	}
	*word |= bit
	b.bits[at*b.columns+c] = v
}

// has reports whether the block has a number of column c in the row.
func (b *tableBlock) has(row, c int) bool {
	return b.used && b.known[row%blockRows*b.words+c>>6]>>(c&63)&1 == 1
}

func panicTwice(row int) {
	panic(fmt.Sprintf("parquet: row %d of a result table: a column appended to twice", row))
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
	t.appendRow(m, words(values))
}

// AppendDoubleRow is AppendIntRow for columns of doubles.
func (t *Table) AppendDoubleRow(m *RowMask, values []float64) {
	if m.kind != Double && len(values) > 0 {
		panic("parquet: doubles for a run of integers")
	}
	t.appendRow(m, words(values))
}

// words are the bits of numbers, in their memory.
func words[T int64 | float64](numbers []T) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers))
}

func (t *Table) appendRow(m *RowMask, values []uint64) {
	if len(values) != m.to-m.from {
		panic(fmt.Sprintf("parquet: %d numbers for a run of %d columns", len(values), m.to-m.from))
	}
	if len(values) == 0 {
		return
	}
	b := &t.block
	b.need()
	at := t.rows % blockRows
	copy(b.bits[at*b.columns+m.from:], values)
	known := b.known[at*b.words+m.word:]
	for i, w := range m.words {
		if known[i]&w != 0 {
			panicTwice(t.rows)
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
	first := t.rows - t.rows%blockRows
	var byColumn [64]uint64
	for w := range b.words {
		all, some := ^uint64(0), uint64(0)
		for r := range byColumn {
			known := b.known[r*b.words+w]
			byColumn[r] = known
			all, some = all&known, some|known
		}
		if all == some { // all rows have the same columns
			for i := range byColumn {
				byColumn[i] = -(all >> i & 1)
			}
		} else {
			transpose(&byColumn)
		}
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
	if c.end != first+lo || n != hi-lo || c.sparse {
		c.makeSparse()
		c.reach(first)
		c.valid[first/blockRows] |= word
	}
	c.end = first + hi
	if c.kind == Double {
		at := len(c.doubles)
		c.doubles = room(c.doubles, n, c.reserve)[:at+n]
		added := words(c.doubles[at:])
		gather(added, word, numbers, stride)
		least, most := c.bounds.leastBits, c.bounds.mostBits
		for _, v := range added {
			least, most = min(least, v), max(most, v)
		}
		c.bounds.leastBits, c.bounds.mostBits = least, most
		return
	}
	at := len(c.ints)
	c.ints = room(c.ints, n, c.reserve)[:at+n]
	gather(words(c.ints[at:]), word, numbers, stride)
	c.boundInts(c.ints[at:])
}

// gather sets dst to the numbers of the bits of word, of which it has one for each.
func gather(dst []uint64, word uint64, numbers []uint64, stride int) {
	if len(dst) == blockRows {
		for i := range dst {
			dst[i] = numbers[i*stride]
		}
		return
	}
	for i := range dst {
		dst[i] = numbers[bits.TrailingZeros64(word)*stride]
		word &= word - 1
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
