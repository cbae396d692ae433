package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
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
// to every column once, in any order, and then calling EndRow.
//
// An all-null column takes next to no memory, and neither does a string equal
// to the one before it in its column. Appending a value of the wrong kind is a
// bug of the caller and panics. A Table is not safe for concurrent use.
type Table struct {
	fields  []Field
	leaves  []resultLeaf
	columns []tableColumn
	rows    int
	seen    uint64 // of the open row: count of appends << 32 + sum of their column indices
	want    uint64 // seen of a complete row
	block   tableBlock
}

// A tableColumn keeps the values that are not null; valid says which rows have
// one. valid is as long as it needs to be: rows beyond it are null.
type tableColumn struct {
	kind    ColumnKind
	alike   int // columns of the same kind from this one on
	valid   []uint64
	ints    []int64 // Int32, Int64, Bool, and elements of ListInt32
	doubles []float64
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
	n := uint64(len(fields))
	t := &Table{
		fields:  slices.Clone(fields),
		leaves:  resultLeaves(fields),
		columns: make([]tableColumn, len(fields)),
		want:    n<<32 + columnSum(0, n),
	}
	for i := len(fields) - 1; i >= 0; i-- {
		c := &t.columns[i]
		c.kind, c.alike = fields[i].Kind, 1
		if i+1 < len(fields) && fields[i+1].Kind == c.kind {
			c.alike += t.columns[i+1].alike
		}
	}
	t.block.init(len(fields))
	return t, nil
}

// columnSum is the sum of the indices [lo, hi).
func columnSum(lo, hi uint64) uint64 { return (hi - lo) * (lo + hi - 1) / 2 }

// Fields returns the columns in file order. The caller must not change them.
func (t *Table) Fields() []Field { return t.fields }

// Rows returns the number of finished rows.
func (t *Table) Rows() int { return t.rows }

// Reset empties the table and keeps its memory. A [MapRef] stays valid.
func (t *Table) Reset() {
	t.rows, t.seen = 0, 0
	t.block.reset()
	for i := range t.columns {
		c := &t.columns[i]
		c.valid, c.ints, c.doubles, c.lengths = c.valid[:0], c.ints[:0], c.doubles[:0], c.lengths[:0]
		c.text.reset()
		c.maps.reset()
	}
}

// EndRow finishes the row. It panics if a column was left out or appended to
// twice, because every later row of that column would be wrong.
func (t *Table) EndRow() {
	if t.seen != t.want {
		panic(fmt.Sprintf("dataset: row %d of a result table: %d of %d columns appended, or one of them twice",
			t.rows, t.seen>>32, len(t.columns)))
	}
	t.rows++
	t.seen = 0
	if t.rows%blockRows == 0 {
		t.spill()
	}
}

// claim marks the n columns from c on, which must be of the kind, as appended
// to in the open row.
func (t *Table) claim(c, n int, kind ColumnKind) {
	if col := &t.columns[c]; col.kind != kind || n > col.alike {
		panic(fmt.Sprintf("dataset: result column %q holds %v, not %d of %v", t.fields[c].Name, col.kind, n, kind))
	}
	t.seen += uint64(n)<<32 + columnSum(uint64(c), uint64(c+n))
}

// column claims column c for a value that is not null.
func (t *Table) column(c int, kind ColumnKind) *tableColumn {
	t.claim(c, 1, kind)
	t.block.mark(t.rows, c)
	return &t.columns[c]
}

// AppendNull appends a null. That a required column got one is an error of
// [Encoder.EncodePart].
func (t *Table) AppendNull(c int) { t.AppendNulls(c, c+1) }

// AppendNulls appends a null to each of the columns [from, to).
func (t *Table) AppendNulls(from, to int) {
	t.seen += uint64(to-from)<<32 + columnSum(uint64(from), uint64(to))
}

// AppendInt appends v to an Int32 or Int64 column. It panics if an Int32 column
// cannot hold v.
func (t *Table) AppendInt(c int, v int64) {
	kind := Int64
	if t.columns[c].kind == Int32 {
		kind = Int32
		if int64(int32(v)) != v {
			panic(fmt.Sprintf("dataset: %d does not fit result column %q of int32", v, t.fields[c].Name))
		}
	}
	t.column(c, kind)
	t.block.put(t.rows, c, uint64(v))
}

// AppendDouble appends v to a Double column.
func (t *Table) AppendDouble(c int, v float64) {
	t.column(c, Double)
	t.block.put(t.rows, c, math.Float64bits(v))
}

// AppendBool appends v to a Bool column.
func (t *Table) AppendBool(c int, v bool) {
	t.column(c, Bool)
	var bit uint64
	if v {
		bit = 1
	}
	t.block.put(t.rows, c, bit)
}

// AppendIntRow appends values[i] to the Int64 column c+i, or null where known[i]
// is false, for every i. It is AppendInt for a run of columns.
func (t *Table) AppendIntRow(c int, values []int64, known []bool) {
	t.claim(c, len(values), Int64)
	t.block.markKnown(t.rows, c, known[:len(values)])
	row := t.block.row(t.rows)[c:]
	for i, v := range values {
		row[i] = uint64(v)
	}
}

// AppendDoubleRow appends values[i] to the Double column c+i, or null where
// known[i] is false, for every i. It is AppendDouble for a run of columns.
func (t *Table) AppendDoubleRow(c int, values []float64, known []bool) {
	t.claim(c, len(values), Double)
	t.block.markKnown(t.rows, c, known[:len(values)])
	row := t.block.row(t.rows)[c:]
	for i, v := range values {
		row[i] = math.Float64bits(v)
	}
}

// AppendString appends s to a String column. Bytes that are not UTF-8 become
// U+FFFD, because readers refuse a file with such strings.
func (t *Table) AppendString(c int, s string) {
	t.column(c, String).text.append(s)
}

// AppendInts appends a list to a ListInt32 column; nil is the empty list.
func (t *Table) AppendInts(c int, list []int32) {
	col := t.column(c, ListInt32)
	col.lengths = append(col.lengths, int32(len(list)))
	for _, v := range list {
		col.ints = append(col.ints, int64(v))
	}
}

// AppendStrings appends a list to a ListString column; nil is the empty list.
// Strings are treated as by AppendString.
func (t *Table) AppendStrings(c int, list []string) {
	col := t.column(c, ListString)
	col.lengths = append(col.lengths, int32(len(list)))
	for _, s := range list {
		col.text.append(s)
	}
}

// validText returns s with bytes that are not UTF-8 replaced.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
