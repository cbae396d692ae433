package dataset

import (
	"fmt"
	"math"
	"slices"
)

// A ColumnKind is the type of a result column.
type ColumnKind uint8

const (
	Int32      ColumnKind = iota // int32
	Int64                        // int64
	Double                       // float64
	Bool                         // boolean
	String                       // UTF-8 string
	ListInt32                    // list<int32>, elements never null
	ListString                   // list<string>, elements never null
	MapString                    // map<string,string>, values never null
	columnKinds
)

var columnKindNames = [columnKinds]string{
	"int32", "int64", "double", "bool", "string", "list<int32>", "list<string>", "map<string,string>",
}

// String returns the name used in messages, such as "list<int32>".
func (k ColumnKind) String() string {
	if k < columnKinds {
		return columnKindNames[k]
	}
	return fmt.Sprintf("ColumnKind(%d)", uint8(k))
}

// A Field is one column of a result table. A column that is not Required may
// hold nulls.
type Field struct {
	Name     string
	Kind     ColumnKind
	Required bool
}

// A Table holds the rows of one part of a result file, column by column, until
// [Encoder.EncodePart] turns them into a row group. A row is made by appending
// to its columns, once each and in any order, and then calling EndRow; a column
// that is not appended to is null in that row.
//
// Numbers can be appended one by one or, where a row has many, in runs of
// columns; within a part, one column takes only one of the two. An all-null
// column takes next to no memory or time, and neither does a string equal to the
// one before it in its column. Strings are kept, not copied: their memory must
// not change until the table is reset. Appending a value of the wrong kind, or
// twice, is a bug of the caller and panics. A Table is not safe for concurrent
// use.
type Table struct {
	fields  []Field
	leaves  []resultLeaf
	columns []tableColumn
	rows    int
	block   tableBlock
}

// A tableColumn keeps the values that are not null. As long as no null stands
// before a value, end says all about which rows have one; then valid does, up to
// end.
type tableColumn struct {
	kind    ColumnKind
	alike   int // columns of the same kind from this one on
	end     int // row after the last that has a value
	sparse  bool
	valid   []uint64
	ints    []int64 // Int32, Int64, Bool, and elements of ListInt32
	doubles []float64
	bounds  columnBounds
	text    stringRuns // String, and elements of ListString
	lengths []int32    // of each list that is not null
	maps    mapSets    // MapString
}

// NewTable returns an empty table. It is an error if a name is empty or given
// twice, or a kind unknown.
func NewTable(fields []Field) (*Table, error) {
	names := make(map[string]bool, len(fields))
	for i, f := range fields {
		switch {
		case f.Name == "":
			return nil, fmt.Errorf("result column %d: empty name", i)
		case names[f.Name]:
			return nil, fmt.Errorf("result column %q: name given twice", f.Name)
		case f.Kind >= columnKinds:
			return nil, fmt.Errorf("result column %q: unknown kind %d", f.Name, f.Kind)
		}
		names[f.Name] = true
	}
	t := &Table{
		fields:  slices.Clone(fields),
		leaves:  resultLeaves(fields),
		columns: make([]tableColumn, len(fields)),
	}
	for i := len(fields) - 1; i >= 0; i-- {
		c := &t.columns[i]
		c.kind, c.alike, c.bounds = fields[i].Kind, 1, noBounds
		if i+1 < len(fields) && fields[i+1].Kind == c.kind {
			c.alike += t.columns[i+1].alike
		}
	}
	t.block.init(len(fields))
	return t, nil
}

// Fields returns the columns in file order. The caller must not change them.
func (t *Table) Fields() []Field { return t.fields }

// Rows returns the number of finished rows.
func (t *Table) Rows() int { return t.rows }

// Reset empties the table and keeps its memory. A [MapRef] stays valid.
func (t *Table) Reset() {
	t.rows = 0
	t.block.reset()
	for i := range t.columns {
		c := &t.columns[i]
		if c.end == 0 {
			continue
		}
		c.end, c.sparse, c.bounds = 0, false, noBounds
		c.valid, c.ints, c.doubles, c.lengths = c.valid[:0], c.ints[:0], c.doubles[:0], c.lengths[:0]
		c.text.reset()
		c.maps.reset()
	}
}

// EndRow finishes the row.
func (t *Table) EndRow() {
	t.rows++
	if t.rows%blockRows == 0 {
		t.spill()
	}
}

// settle moves all rows into the columns and completes their bitmaps.
func (t *Table) settle() {
	t.spill()
	for i := range t.columns {
		c := &t.columns[i]
		if c.end > t.rows {
			panic(fmt.Sprintf("dataset: row %d of a result table is not ended", t.rows))
		}
		if c.end > 0 {
			c.makeSparse()
		}
	}
}

// mark records that the open row has a value.
func (c *tableColumn) mark(row int) {
	if c.end == row && !c.sparse {
		c.end++
		return
	}
	c.markLater(row)
}

// markLater is mark for a column with nulls.
func (c *tableColumn) markLater(row int) {
	if c.end > row {
		panic(fmt.Sprintf("dataset: row %d of a result table: a column appended to twice", row))
	}
	c.makeSparse()
	c.reach(row)
	c.valid[row>>6] |= 1 << (row & 63)
	c.end = row + 1
}

// makeSparse writes down which rows have a value.
func (c *tableColumn) makeSparse() {
	if c.sparse {
		return
	}
	c.sparse = true
	for range c.end >> 6 {
		c.valid = append(c.valid, ^uint64(0))
	}
	if rest := c.end & 63; rest > 0 {
		c.valid = append(c.valid, 1<<rest-1)
	}
}

// reach makes the bitmap long enough for a row.
func (c *tableColumn) reach(row int) {
	for len(c.valid) <= row>>6 {
		c.valid = append(c.valid, 0)
	}
}

// column returns column c for a value of the kind in the open row.
func (t *Table) column(c int, kind ColumnKind) *tableColumn {
	col := &t.columns[c]
	if col.kind != kind {
		t.wrongKind(c, kind)
	}
	col.mark(t.rows)
	return col
}

func (t *Table) wrongKind(c int, kind ColumnKind) {
	panic(fmt.Sprintf("dataset: result column %q holds %v, not %v", t.fields[c].Name, t.columns[c].kind, kind))
}

// AppendNull says that column c is null in the open row, as it is if nothing is
// said. That a required column is null is an error of [Encoder.EncodePart].
func (t *Table) AppendNull(c int) {
	if t.columns[c].end > t.rows {
		panic(fmt.Sprintf("dataset: row %d of result column %q: null beside a value", t.rows, t.fields[c].Name))
	}
}

// AppendInt appends v to an Int32 or Int64 column. It panics if an Int32 column
// cannot hold v.
func (t *Table) AppendInt(c int, v int64) {
	col := &t.columns[c]
	if col.kind == Int32 {
		if int64(int32(v)) != v {
			panic(fmt.Sprintf("dataset: %d does not fit result column %q of int32", v, t.fields[c].Name))
		}
	} else if col.kind != Int64 {
		t.wrongKind(c, Int64)
	}
	col.mark(t.rows)
	col.addInt(v)
}

// AppendDouble appends v to a Double column.
func (t *Table) AppendDouble(c int, v float64) {
	col := t.column(c, Double)
	col.doubles = append(col.doubles, v)
	col.bounds.addBits(math.Float64bits(v))
}

// AppendBool appends v to a Bool column.
func (t *Table) AppendBool(c int, v bool) {
	col := t.column(c, Bool)
	var bit int64
	if v {
		bit = 1
	}
	col.addInt(bit)
}

// RepeatInt appends v to an Int64 column in the open row and in those after it,
// n in all.
func (t *Table) RepeatInt(c int, v int64, n int) {
	col := &t.columns[c]
	if col.kind != Int64 {
		t.wrongKind(c, Int64)
	}
	for i := range n {
		col.mark(t.rows + i)
		col.addInt(v)
	}
}

// AppendInts appends a list to a ListInt32 column; nil is the empty list.
func (t *Table) AppendInts(c int, list []int32) {
	col := t.column(c, ListInt32)
	col.lengths = append(col.lengths, int32(len(list)))
	for _, v := range list {
		col.addInt(int64(v))
	}
}
