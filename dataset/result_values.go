package dataset

import "slices"

// ColumnValues holds one column of one row group. The zero value is ready; its
// memory is reused by the next read, but strings stay valid.
//
// A scalar column has one element per row in Ints, Doubles or Strings, which is
// zero where Valid is false. In a list or map column, row i has the elements
// [Offsets[i], Offsets[i+1]) of Ints, of Strings, or of Keys and Strings; a null
// and an empty list both have none and differ in Valid.
type ColumnValues struct {
	Kind    ColumnKind
	Rows    int
	Valid   []bool    // one per row
	Ints    []int64   // Int32, Int64, Bool (0 or 1), ListInt32
	Doubles []float64 // Double
	Strings []string  // String, ListString, values of MapString
	Keys    []string  // keys of MapString
	Offsets []int32   // Rows+1, for ListInt32, ListString and MapString

	chunk, raw []byte
	levels     [2][]uint32
	codes      []uint32
	dict       pageDictionary
	keyOffsets []int32
}

// A Cell is one value of a result: the one of Int, Double, Text, Ints, or Texts
// that its column's kind calls for, and Keys beside Texts for a map.
type Cell struct {
	Null   bool
	Int    int64 // Int32, Int64, Bool (0 or 1)
	Double float64
	Text   string
	Ints   []int64
	Texts  []string
	Keys   []string // Keys[i] has the value Texts[i]
}

// Cell returns row i. It shares no memory with v.
func (v *ColumnValues) Cell(i int) Cell {
	c := Cell{Null: !v.Valid[i]}
	switch v.Kind {
	case Int32, Int64, Bool:
		c.Int = v.Ints[i]
	case Double:
		c.Double = v.Doubles[i]
	case String:
		c.Text = v.Strings[i]
	case ListInt32:
		c.Ints = slices.Clone(v.Ints[v.Offsets[i]:v.Offsets[i+1]])
	case ListString:
		c.Texts = slices.Clone(v.Strings[v.Offsets[i]:v.Offsets[i+1]])
	case MapString:
		c.Keys = slices.Clone(v.Keys[v.Offsets[i]:v.Offsets[i+1]])
		c.Texts = slices.Clone(v.Strings[v.Offsets[i]:v.Offsets[i+1]])
	}
	return c
}

func (v *ColumnValues) reset(kind ColumnKind, rows int) {
	v.Kind, v.Rows = kind, rows
	v.Valid, v.Ints, v.Doubles, v.Offsets = v.Valid[:0], v.Ints[:0], v.Doubles[:0], v.Offsets[:0]
	clear(v.Strings)
	clear(v.Keys)
	v.Strings, v.Keys = v.Strings[:0], v.Keys[:0]
	if kind >= ListInt32 {
		v.Offsets = append(v.Offsets, 0)
	}
}

// resize returns a slice of length n that may reuse s and whose elements are
// arbitrary.
func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// resizeKeep is resize for a slice whose elements are wanted.
func resizeKeep[T any](s []T, n int) []T { return slices.Grow(s, n-len(s))[:n] }
