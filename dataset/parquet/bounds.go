package parquet

import (
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// bounds are what the statistics of a row group say of a chunk: the least and the
// greatest of its values, and how many entries are null. Where a writer has left
// checksums out, they are all there is to find damage with. Texts may be cut there:
// values are compared with them, not looked for.
type bounds struct {
	known     bool
	low, high string // of texts
	ints      [2]int64
	floats    [2]float64
	outside   []bool // entries of the dictionary that are out of bounds; nil if none is

	nulls   int64 // 0 if the writer counted none
	counted int64 // nulls of the pages so far
}

// start reads the statistics of a chunk. What cannot be a bound is left out: other
// writers mean other orders, and NaN has none.
func (b *bounds) start(leaf *Leaf, m *columnChunk) {
	s := &m.Statistics
	paid := &account{budget: &Budget{left: 64}}
	*b = bounds{nulls: s.NullCount, outside: b.outside[:0]}
	if s.MinValue == nil || s.MaxValue == nil {
		return
	}
	switch leaf.Kind {
	case Nothing:
	case Text:
		b.low = unsafe.String(unsafe.SliceData(s.MinValue), len(s.MinValue))
		b.high = unsafe.String(unsafe.SliceData(s.MaxValue), len(s.MaxValue))
		b.known = b.low <= b.high
	case Float:
		b.known = statistic(&b.floats, s, leaf, func(room []float64, value []byte) ([]float64, error) {
			return appendFloats(paid, room, new([]int64), 1, value, leaf, format.Plain)
		}) && b.floats[0] <= b.floats[1]
	default:
		b.known = statistic(&b.ints, s, leaf, func(room []int64, value []byte) ([]int64, error) {
			return appendInts(paid, room, 1, value, leaf, format.Plain)
		}) && b.ints[0] <= b.ints[1]
	}
}

// statistic decodes the two numbers as a page has them.
func statistic[T any](dst *[2]T, s *statistics, leaf *Leaf, decode func(room []T, value []byte) ([]T, error)) bool {
	size := leaf.width()
	switch leaf.physical {
	case format.Boolean:
		size = 1
	case format.Float:
		size = 4
	}
	for i, value := range [2][]byte{s.MinValue, s.MaxValue} {
		if len(value) != size {
			return false
		}
		decoded, err := decode(dst[i:i:i+1], value)
		if err != nil {
			return false
		}
		dst[i] = decoded[0]
	}
	return true
}

func (b *bounds) text(v string) bool { return v >= b.low && v <= b.high }

// number reports whether v is within the two bounds; NaN is.
func number[T int64 | float64](v T, b *[2]T) bool { return !(v < b[0] || v > b[1]) }

// mark finds the entries of a dictionary that are out of bounds. A dictionary may have
// some that no row uses.
func (b *bounds) mark(d *dictionary, kind ValueKind) {
	b.outside = b.outside[:0]
	found := false
	for i := range d.size {
		var within bool
		switch kind {
		case Nothing:
			within = true
		case Text:
			within = b.text(d.texts[i])
		case Float:
			within = number(d.floats[i], &b.floats)
		default:
			within = number(d.ints[i], &b.ints)
		}
		b.outside = append(b.outside, !within)
		found = found || !within
	}
	if !found {
		b.outside = b.outside[:0]
	}
}

// codes reports whether all codes stand for values within the bounds.
func (b *bounds) codes(codes []int32) bool {
	if len(b.outside) == 0 {
		return true
	}
	for _, v := range codes {
		if b.outside[v] {
			return false
		}
	}
	return true
}

// numbers reports whether those values are within b whose level is that of a value.
func numbers[T int64 | float64](values []T, levels []byte, present byte, b *[2]T) bool {
	for i, v := range values {
		if (v < b[0] || v > b[1]) && levels[i] == present {
			return false
		}
	}
	return true
}

// errStatistics is that a value is not what the statistics of its row group say.
var errStatistics = corrupt("a value is less or greater than the statistics of its row group say, and its page has no checksum")

// countNulls compares the nulls of a column that is in no list with the statistics, once
// all its pages have been loaded. In lists, writers count differently.
func (c *ColumnReader) countNulls(n int) error {
	b := &c.bounds
	b.counted += int64(n)
	if !c.bare || c.leaf.Rep > 0 || b.nulls == 0 || c.valuesLeft > 0 || b.counted == b.nulls {
		return nil
	}
	return corrupt("%d values are null, the statistics of the row group say %d, and a page has no checksum", b.counted, b.nulls)
}

// Unchecked is how many bytes a column has in pages without checksums, as far as the
// first page of each row group tells.
func (f *File) Unchecked(column int) (bytes int64, err error) {
	if f.own() {
		return 0, nil
	}
	var c ColumnReader
	for k := range f.groups {
		m := &f.groups[k].Columns[column]
		if m.NumValues == 0 {
			continue
		}
		budget := NewBudget(largestHeader)
		if err := c.Start(f, k, Leaf{Column: column}, &budget); err != nil {
			return 0, err
		}
		h, err := c.header()
		if err != nil {
			return 0, err
		}
		if h.CRC == 0 {
			bytes += m.TotalCompressedSize
		}
	}
	return bytes, nil
}
