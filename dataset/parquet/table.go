package parquet

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A ColumnKind is the type of a column of a [Table].
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
	ListStruct                   // list<struct>, elements never null; not in results
	columnKinds
)

var columnKindNames = [columnKinds]string{
	"int32", "int64", "double", "bool", "string", "list<int32>", "list<string>", "map<string,string>", "list<struct>",
}

// String returns the name used in messages, such as "list<int32>".
func (k ColumnKind) String() string {
	if k < columnKinds {
		return columnKindNames[k]
	}
	return fmt.Sprintf("ColumnKind(%d)", uint8(k))
}

func (k ColumnKind) isList() bool { return k >= ListInt32 }

// A Field is one column of a table. A column that is not Required may hold nulls.
type Field struct {
	Name     string
	Kind     ColumnKind
	Required bool
	Few      bool    // of texts: most stand there many times, so they are written as a dictionary
	Fields   []Field // of the structs of a ListStruct
}

// A Table holds rows, column by column, until an [Encoder] turns them into a row
// group. A row is made by appending to its columns, once each and in any order, and
// then calling EndRow; a column that is not appended to is null in that row.
//
// Strings are kept, not copied: their memory must not change until the table is reset.
// Appending a value of the wrong kind, or twice, is a bug of the caller and panics. A
// Table is not safe for concurrent use.
type Table struct {
	fields  []Field
	columns []tableColumn
	rows    int
}

// A tableColumn keeps the values that are not null.
type tableColumn struct {
	kind    ColumnKind
	end     int      // row after the last that has a value
	valid   []uint64 // bit i: row i has a value
	ints    []int64  // Int32, Int64, Bool, and elements of ListInt32
	doubles []float64
	texts   []string // String, and elements of ListString
	lengths []int32  // of each list that is not null
	sets    []mapSet // MapString: maps that differ from those before them
	maps    []int32  // of each map that is not null, its place in sets
	structs *Table   // ListStruct: their elements
}

// A mapSet is one map as given: keys[i] has values[i].
type mapSet struct{ keys, values []string }

// NewTable returns an empty table. It is an error if a name is empty or given
// twice, or a kind unknown.
func NewTable(fields []Field) (*Table, error) {
	names := make(map[string]bool, len(fields))
	t := &Table{fields: slices.Clone(fields), columns: make([]tableColumn, len(fields))}
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
		c := &t.columns[i]
		if c.kind = f.Kind; c.kind == ListStruct {
			var err error
			if c.structs, err = NewTable(f.Fields); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return t, nil
}

// Fields returns the columns in file order. The caller must not change them.
func (t *Table) Fields() []Field { return t.fields }

// Rows returns the number of finished rows.
func (t *Table) Rows() int { return t.rows }

// Reset empties the table and keeps its memory.
func (t *Table) Reset() {
	t.rows = 0
	for i := range t.columns {
		t.Clear(i)
	}
}

// Clear makes column c null in all rows.
func (t *Table) Clear(i int) {
	c := &t.columns[i]
	if c.end == 0 {
		return
	}
	clear(c.texts)
	clear(c.sets)
	c.end, c.valid, c.ints, c.doubles, c.texts = 0, c.valid[:0], c.ints[:0], c.doubles[:0], c.texts[:0]
	c.lengths, c.sets, c.maps = c.lengths[:0], c.sets[:0], c.maps[:0]
	if c.structs != nil {
		c.structs.Reset()
	}
}

// EndRow finishes the row.
func (t *Table) EndRow() { t.rows++ }

// settle checks that the last row is ended and that lists of structs have their structs.
func (t *Table) settle() {
	for i := range t.columns {
		c := &t.columns[i]
		if c.end > t.rows {
			panic(fmt.Sprintf("parquet: row %d of a result table is not ended", t.rows))
		}
		if c.structs == nil {
			continue
		}
		c.structs.settle()
		n := c.structs.rows
		for _, length := range c.lengths {
			n -= int(length)
		}
		if n != 0 {
			panic(fmt.Sprintf("parquet: lists of %q hold %d structs more than they say", t.fields[i].Name, n))
		}
	}
}

// has reports whether a row has a value.
func (c *tableColumn) has(row int) bool { return row < c.end && c.valid[row>>6]>>(row&63)&1 == 1 }

// mark records that a row has a value; none after it has.
func (c *tableColumn) mark(row int) {
	if c.end > row {
		panic(fmt.Sprintf("parquet: row %d of a result table: a column appended to twice", row))
	}
	for len(c.valid) <= row>>6 {
		c.valid = append(c.valid, 0)
	}
	c.valid[row>>6] |= 1 << (row & 63)
	c.end = row + 1
}

// column returns column c for a value of the kind in the open row.
func (t *Table) column(c int, kind ColumnKind) *tableColumn {
	col := &t.columns[c]
	if col.kind != kind {
		panic(fmt.Sprintf("parquet: result column %q holds %v, not %v", t.fields[c].Name, col.kind, kind))
	}
	col.mark(t.rows)
	return col
}

// AppendNull says that column c is null in the open row, as it is if nothing is
// said. That a required column is null is an error of [Encoder.EncodePart].
func (t *Table) AppendNull(c int) {
	if t.columns[c].end > t.rows {
		panic(fmt.Sprintf("parquet: row %d of result column %q: null beside a value", t.rows, t.fields[c].Name))
	}
}

// AppendInt appends v to an Int32 or Int64 column. It panics if an Int32 column
// cannot hold v.
func (t *Table) AppendInt(c int, v int64) {
	kind := Int64
	if t.columns[c].kind == Int32 {
		if kind = Int32; int64(int32(v)) != v {
			panic(fmt.Sprintf("parquet: %d does not fit result column %q of int32", v, t.fields[c].Name))
		}
	}
	col := t.column(c, kind)
	col.ints = append(col.ints, v)
}

// AppendDouble appends v to a Double column.
func (t *Table) AppendDouble(c int, v float64) {
	col := t.column(c, Double)
	col.doubles = append(col.doubles, v)
}

// AppendBool appends v to a Bool column.
func (t *Table) AppendBool(c int, v bool) {
	col := t.column(c, Bool)
	var bit int64
	if v {
		bit = 1
	}
	col.ints = append(col.ints, bit)
}

// AppendIntRow appends values[i] to column c+i, of Int64, where it is known.
func (t *Table) AppendIntRow(c int, values []int64, known []bool) {
	for i, v := range values {
		if known[i] {
			t.AppendInt(c+i, v)
		}
	}
}

// AppendDoubleRow appends values[i] to column c+i, of Double, where it is known.
func (t *Table) AppendDoubleRow(c int, values []float64, known []bool) {
	for i, v := range values {
		if known[i] {
			t.AppendDouble(c+i, v)
		}
	}
}

// AppendInts appends a list to a ListInt32 column; nil is the empty list.
func (t *Table) AppendInts(c int, list []int32) {
	col := t.column(c, ListInt32)
	col.lengths = append(col.lengths, int32(len(list)))
	for _, v := range list {
		col.ints = append(col.ints, int64(v))
	}
}

// AppendStructs appends a list of n structs to a ListStruct column. The caller adds them
// as rows of [Table.Structs].
func (t *Table) AppendStructs(c, n int) {
	col := t.column(c, ListStruct)
	col.lengths = append(col.lengths, int32(n))
}

// Structs returns the table of the structs of a ListStruct column, nil for another.
func (t *Table) Structs(c int) *Table { return t.columns[c].structs }

// validText returns s with bytes that are not UTF-8 replaced.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// AppendString appends s to a String column. Bytes that are not UTF-8 become
// U+FFFD, because readers refuse a file with such strings.
func (t *Table) AppendString(c int, s string) { t.AppendText(c, validText(s)) }

// AppendText is AppendString for a string that is known to be UTF-8, such as
// those of a [Row].
func (t *Table) AppendText(c int, s string) {
	col := t.column(c, String)
	col.texts = append(col.texts, s)
}

// RepeatText appends s, which is known to be UTF-8, to a String column in the open
// row and in those after it, n in all.
func (t *Table) RepeatText(c int, s string, n int) {
	for i := range n {
		t.AppendText(c, s)
		if i+1 < n {
			t.rows++
		}
	}
	t.rows -= max(0, n-1)
}

// AppendStrings appends a list to a ListString column; nil is the empty list.
// Strings are treated as by AppendString.
func (t *Table) AppendStrings(c int, list []string) {
	col := t.column(c, ListString)
	col.lengths = append(col.lengths, int32(len(list)))
	for _, s := range list {
		col.texts = append(col.texts, validText(s))
	}
}

// fewSets is how many of the last maps a map is compared with.
const fewSets = 4

// AppendMap appends the map from keys[i] to values[i] to a MapString column.
// Entries are written in the order given; a key must not be given twice. Both
// slices must be equally long, and empty slices are the empty map. Strings are
// treated as by AppendString. A map like one of the last takes no memory.
func (t *Table) AppendMap(c int, keys, values []string) {
	if len(keys) != len(values) {
		panic("parquet: map with keys and values of different number")
	}
	col := t.column(c, MapString)
	for i := len(col.sets) - 1; i >= max(0, len(col.sets)-fewSets); i-- {
		if slices.Equal(col.sets[i].keys, keys) && slices.Equal(col.sets[i].values, values) {
			col.maps = append(col.maps, int32(i))
			return
		}
	}
	set := mapSet{slices.Clone(keys), slices.Clone(values)}
	for i := range keys {
		set.keys[i], set.values[i] = validText(keys[i]), validText(values[i])
	}
	col.maps = append(col.maps, int32(len(col.sets)))
	col.sets = append(col.sets, set)
}

// Numbers returns the numbers of column c, which is one of numbers or booleans.
// They share the table's memory and are good until it changes.
func (t *Table) Numbers(c int) Numbers {
	t.settle()
	col := &t.columns[c]
	return Numbers{Rows: t.rows, Valid: col.valid, Ints: col.ints, Doubles: col.doubles}
}

// Texts returns the texts of column c, one of strings or lists of them, that are not null.
// They are good until the table changes.
func (t *Table) Texts(c int) []string { return t.columns[c].texts }

// Lengths returns the length of each list or map of column c that is not null.
func (t *Table) Lengths(c int) []int32 { return t.columns[c].listLengths() }

// listLengths returns the length of each list that is not null.
func (c *tableColumn) listLengths() []int32 {
	if c.kind == MapString {
		c.lengths = c.lengths[:0]
		for _, i := range c.maps {
			c.lengths = append(c.lengths, int32(len(c.sets[i].keys)))
		}
	}
	return c.lengths
}

// Maps returns, for each map of column c that is not null, a number that only equal maps
// share, and what the maps of a number are.
func (t *Table) Maps(c int) (numbers []int32, of func(number int32) (keys, values []string)) {
	col := &t.columns[c]
	return col.maps, func(number int32) (keys, values []string) {
		return col.sets[number].keys, col.sets[number].values
	}
}
