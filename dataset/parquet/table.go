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
	MapInt64                     // map<string,int64>, values never null
	MapDouble                    // map<string,double>, values never null
	ListStruct                   // list<struct>, elements never null; not in results
	columnKinds
)

var columnKindNames = [columnKinds]string{
	"int32", "int64", "double", "bool", "string", "list<int32>", "list<string>", "map<string,string>", "map<string,int64>", "map<string,double>", "list<struct>",
}

// String returns the name used in messages, such as "list<int32>".
func (k ColumnKind) String() string {
	if k < columnKinds {
		return columnKindNames[k]
	}
	return fmt.Sprintf("ColumnKind(%d)", uint8(k))
}

func (k ColumnKind) isList() bool { return k >= ListInt32 }

// IsMap reports whether the values of a column are maps.
func (k ColumnKind) IsMap() bool { return k >= MapString && k <= MapDouble }

// A Field is one column of a table. A column that is not Required may hold nulls.
type Field struct {
	Name     string
	Kind     ColumnKind
	Required bool
	Few      bool    // of texts: most stand there many times, so they are written as a dictionary
	Zstd     bool    // compressed by zstd: smaller, and slower to write
	Fields   []Field // of the structs of a ListStruct
}

// A Table holds rows, column by column, until an [Encoder] turns them into a row
// group. A row is made by appending to its columns, once each and in any order, and
// then calling EndRow; a column that is not appended to is null in that row. That a required
// column is null is an error of [Encoder.EncodePart].
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
	end     int       // row after the last that has a value
	valid   []uint64  // bit i: row i has a value
	ints    []int64   // Int32, Int64, Bool, elements of ListInt32, and values of MapInt64
	doubles []float64 // Double, and values of MapDouble
	texts   []string  // String, elements of ListString, and values of MapString
	keys    []string  // of maps
	lengths []int32   // of each list or map that is not null
	structs *Table    // ListStruct: their elements
}

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
	clear(c.keys)
	c.end, c.valid, c.ints, c.doubles = 0, c.valid[:0], c.ints[:0], c.doubles[:0]
	c.texts, c.keys, c.lengths = c.texts[:0], c.keys[:0], c.lengths[:0]
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

// column returns column c for a value of the kind in the open row.
func (t *Table) column(c int, kind ColumnKind) *tableColumn {
	col, word := &t.columns[c], t.rows>>6
	if col.kind != kind || col.end > t.rows || len(col.valid) <= word {
		t.prepare(c, kind)
	}
	col.valid[word] |= 1 << (t.rows & 63)
	col.end = t.rows + 1
	return col
}

// prepare makes room for another row of column c, and panics if it cannot have a value of the
// kind there.
func (t *Table) prepare(c int, kind ColumnKind) {
	col := &t.columns[c]
	switch {
	case col.kind != kind:
		panic(fmt.Sprintf("parquet: result column %q holds %v, not %v", t.fields[c].Name, col.kind, kind))
	case col.end > t.rows:
		panic(fmt.Sprintf("parquet: row %d of a result table: a column appended to twice", t.rows))
	}
	for len(col.valid) <= t.rows>>6 {
		col.valid = append(col.valid, 0)
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

// AppendMap appends the map from keys[i] to values[i] to a MapString column.
// Entries are written in the order given; a key must not be given twice. Both
// slices must be equally long, and empty slices are the empty map. Strings are
// treated as by AppendString.
func (t *Table) AppendMap(c int, keys, values []string) {
	if len(keys) != len(values) {
		panic("parquet: map with keys and values of different number")
	}
	col := t.column(c, MapString)
	col.lengths = append(col.lengths, int32(len(keys)))
	for i := range keys {
		col.keys, col.texts = append(col.keys, validText(keys[i])), append(col.texts, validText(values[i]))
	}
}

// AppendIntMap appends the map from keys[i] to values[i] to a MapInt64 column, see
// [Table.AppendMap].
func (t *Table) AppendIntMap(c int, keys []string, values []int64) {
	col := t.column(c, MapInt64)
	col.appendKeys(keys, len(values))
	col.ints = append(col.ints, values...)
}

// AppendDoubleMap appends the map from keys[i] to values[i] to a MapDouble column, see
// [Table.AppendMap].
func (t *Table) AppendDoubleMap(c int, keys []string, values []float64) {
	col := t.column(c, MapDouble)
	col.appendKeys(keys, len(values))
	col.doubles = append(col.doubles, values...)
}

// appendKeys appends the keys of a map of n numbers.
func (c *tableColumn) appendKeys(keys []string, n int) {
	if len(keys) != n {
		panic("parquet: map with keys and values of different number")
	}
	c.lengths = append(c.lengths, int32(n))
	for _, key := range keys {
		c.keys = append(c.keys, validText(key))
	}
}

// Column reads column c into v. Only texts share their memory with the table.
func (t *Table) Column(c int, v *ColumnValues) {
	t.settle()
	col, at := &t.columns[c], 0
	lengths := col.lengths
	v.Kind = col.kind
	v.Null(t.rows)
	for row := range t.rows {
		v.Valid[row] = col.has(row)
		if col.kind.isList() {
			v.Offsets[row+1] = v.Offsets[row]
		}
		if !v.Valid[row] {
			continue
		}
		switch col.kind {
		case Int32, Int64, Bool:
			v.Ints[row] = col.ints[at]
		case Double:
			v.Doubles[row] = col.doubles[at]
		case String:
			v.Strings[row] = col.texts[at]
		default:
			v.Offsets[row+1] += lengths[at]
		}
		at++
	}
	if col.kind.isList() {
		v.Ints, v.Doubles = append(v.Ints[:0], col.ints...), append(v.Doubles[:0], col.doubles...)
		v.Strings, v.Keys = append(v.Strings[:0], col.texts...), append(v.Keys[:0], col.keys...)
	}
}
