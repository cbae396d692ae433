package parquet

import (
	"math/bits"
	"slices"
)

// Numbers are the values of a column of numbers or booleans that are not null,
// of a row group or a table.
type Numbers struct {
	Rows    int
	Valid   []uint64  // bit i: row i has a value; rows beyond the end have none
	Ints    []int64   // Int32, Int64, Bool (0 or 1): one per row with a value
	Doubles []float64 // Double
}

// Len is the number of rows that have a value.
func (n *Numbers) Len() int { return len(n.Ints) + len(n.Doubles) }

// Has reports whether row i has a value.
func (n *Numbers) Has(i int) bool {
	return i>>6 < len(n.Valid) && n.Valid[i>>6]>>(i&63)&1 == 1
}

// SameRows reports whether the same rows of n and o have a value.
func (n *Numbers) SameRows(o *Numbers) bool {
	if n.Len() != o.Len() {
		return false
	}
	if n.Len() == n.Rows || n.Len() == 0 {
		return true
	}
	short, long := n.Valid, o.Valid
	if len(short) > len(long) {
		short, long = long, short
	}
	for i, w := range short {
		if w != long[i] {
			return false
		}
	}
	for _, w := range long[len(short):] {
		if w != 0 {
			return false
		}
	}
	return true
}

// Each calls f with every row that has a value, in order, and the place of that
// value.
func (n *Numbers) Each(f func(row, at int)) {
	at := 0
	for i, word := range n.Valid {
		for ; word != 0; word &= word - 1 {
			f(i<<6+bits.TrailingZeros64(word), at)
			at++
		}
	}
}

// Compact moves the values of v, which must be numbers or booleans, to n and
// leaves v without any.
func (v *ColumnValues) Compact(n *Numbers) {
	n.Rows = v.Rows
	n.Valid = slices.Grow(n.Valid[:0], (v.Rows+63)/64)[:(v.Rows+63)/64]
	clear(n.Valid)
	at, valid := 0, v.Valid
	if !slices.Contains(valid, false) { // values are where they should be
		for i := range n.Valid {
			n.Valid[i] = ^uint64(0)
		}
		if rest := v.Rows & 63; rest > 0 {
			n.Valid[len(n.Valid)-1] = 1<<rest - 1
		}
		at, valid = v.Rows, nil
	}
	for i, ok := range valid {
		if !ok {
			continue
		}
		n.Valid[i>>6] |= 1 << (i & 63)
		if v.Kind == Double {
			v.Doubles[at] = v.Doubles[i]
		} else {
			v.Ints[at] = v.Ints[i]
		}
		at++
	}
	n.Ints, v.Ints = v.Ints[:min(at, len(v.Ints))], n.Ints[:0]
	n.Doubles, v.Doubles = v.Doubles[:min(at, len(v.Doubles))], n.Doubles[:0]
	v.Rows, v.Valid = 0, v.Valid[:0]
}
