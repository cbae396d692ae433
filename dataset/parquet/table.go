package parquet

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
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

// kindsOf says of each kind its name in messages, and the kind of its elements or values.
var kindsOf = [columnKinds]struct {
	name string
	leaf ColumnKind
}{
	{"int32", Int32},
	{"int64", Int64},
	{"double", Double},
	{"bool", Bool},
	{"string", String},
	{"list<int32>", Int32},
	{"list<string>", String},
	{"map<string,string>", String},
	{"map<string,int64>", Int64},
	{"map<string,double>", Double},
	{"list<struct>", ListStruct},
}

// leafTypes are the types of the values of each kind that is no list.
var leafTypes = [...]parquet.Type{parquet.Int32Type, parquet.Int64Type, parquet.DoubleType, parquet.BooleanType, parquet.String().Type()}

// String returns the name used in messages, such as "list<int32>".
func (k ColumnKind) String() string { return kindsOf[k].name }

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

// ColumnValues holds one column of some rows. The zero value is ready; its memory is used
// again by the next read, but strings stay valid.
//
// A scalar column has one element per row in Ints, Doubles or Strings, which is zero where
// Valid is false. In a list or map column, row i has the elements [Offsets[i], Offsets[i+1])
// of Ints, of Strings, or of Keys and its values; a null and an empty list both have none and
// differ in Valid.
type ColumnValues struct {
	Kind    ColumnKind
	Rows    int
	Valid   []bool    // one per row
	Ints    []int64   // Int32, Int64, Bool (0 or 1), ListInt32, values of MapInt64
	Doubles []float64 // Double, values of MapDouble
	Strings []string  // String, ListString, values of MapString
	Keys    []string  // keys of maps
	Offsets []int32   // Rows+1, for lists and maps

	reader *columnReader // nil before the first read
}

func (v *ColumnValues) reset(kind ColumnKind) {
	clear(v.Strings)
	clear(v.Keys)
	v.Kind, v.Rows, v.Valid, v.Ints, v.Doubles = kind, 0, v.Valid[:0], v.Ints[:0], v.Doubles[:0]
	v.Strings, v.Keys, v.Offsets = v.Strings[:0], v.Keys[:0], v.Offsets[:0]
}

// Null makes the column null in so many rows, whatever its kind is.
func (v *ColumnValues) Null(rows int) {
	v.reset(v.Kind)
	v.Rows, v.Valid, v.Offsets = rows, zeros(v.Valid, rows), zeros(v.Offsets, rows+1)
	v.Ints, v.Doubles, v.Strings = zeros(v.Ints, rows), zeros(v.Doubles, rows), zeros(v.Strings, rows)
}

// extend adds nulls up to so many rows.
func (v *ColumnValues) extend(rows int) {
	v.Rows, v.Valid = rows, zeros(v.Valid, rows)
	switch v.Kind {
	case Int32, Int64, Bool:
		v.Ints = zeros(v.Ints, rows)
	case Double:
		v.Doubles = zeros(v.Doubles, rows)
	case String:
		v.Strings = zeros(v.Strings, rows)
	default:
		for len(v.Offsets) <= rows {
			v.end(0)
		}
	}
}

// end ends a list that has n elements.
func (v *ColumnValues) end(n int) {
	v.Offsets = append(v.Offsets, v.Offsets[len(v.Offsets)-1]+int32(n))
}

// zeros is s with zeros up to length n.
func zeros[T any](s []T, n int) []T {
	old := len(s)
	if old >= n {
		return s
	}
	s = slices.Grow(s, n-old)[:n]
	clear(s[old:])
	return s
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

// A tableColumn ends with the last row that has a value.
type tableColumn struct {
	ColumnValues
	structs *Table // ListStruct: their elements
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
		if c.Kind = f.Kind; c.Kind == ListStruct {
			var err error
			if c.structs, err = NewTable(f.Fields); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		t.Clear(i)
	}
	return t, nil
}

// Fields returns the columns in file order. The caller must not change them.
func (t *Table) Fields() []Field { return t.fields }

// Rows returns the number of finished rows.
func (t *Table) Rows() int { return t.rows }

// Column returns the values of column c, which are good until the table changes.
func (t *Table) Column(c int) *ColumnValues {
	t.settle()
	t.columns[c].extend(t.rows)
	return &t.columns[c].ColumnValues
}

// Structs returns the table of the structs of a ListStruct column, nil for another.
func (t *Table) Structs(c int) *Table { return t.columns[c].structs }

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
	if c.reset(c.Kind); c.Kind.isList() {
		c.Offsets = append(c.Offsets, 0)
	}
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
		if c.Rows > t.rows {
			panic(fmt.Sprintf("parquet: row %d of a result table is not ended", t.rows))
		}
		if c.structs == nil {
			continue
		}
		c.structs.settle()
		if n := c.structs.rows - int(c.Offsets[c.Rows]); n != 0 {
			panic(fmt.Sprintf("parquet: lists of %q hold %d structs more than they say", t.fields[i].Name, n))
		}
	}
}

// column returns column c for a value of the kind in the open row.
func (t *Table) column(c int, kind ColumnKind) *ColumnValues {
	v := &t.columns[c].ColumnValues
	if v.Kind != kind || v.Rows != t.rows {
		t.prepare(c, kind)
	}
	v.Rows++
	v.Valid = append(v.Valid, true)
	return v
}

// prepare makes column c null up to the open row, and panics if it cannot have a value of the
// kind there.
func (t *Table) prepare(c int, kind ColumnKind) {
	v := &t.columns[c].ColumnValues
	switch {
	case v.Kind != kind:
		panic(fmt.Sprintf("parquet: result column %q holds %v, not %v", t.fields[c].Name, v.Kind, kind))
	case v.Rows > t.rows:
		panic(fmt.Sprintf("parquet: row %d of a result table: a column appended to twice", t.rows))
	}
	v.extend(t.rows)
}

// AppendInt appends v to an Int32 or Int64 column. It panics if an Int32 column
// cannot hold v.
func (t *Table) AppendInt(c int, v int64) {
	kind := Int64
	if t.columns[c].Kind == Int32 {
		if kind = Int32; int64(int32(v)) != v {
			panic(fmt.Sprintf("parquet: %d does not fit result column %q of int32", v, t.fields[c].Name))
		}
	}
	col := t.column(c, kind)
	col.Ints = append(col.Ints, v)
}

// AppendDouble appends v to a Double column.
func (t *Table) AppendDouble(c int, v float64) {
	col := t.column(c, Double)
	col.Doubles = append(col.Doubles, v)
}

// AppendBool appends v to a Bool column.
func (t *Table) AppendBool(c int, v bool) {
	col := t.column(c, Bool)
	var bit int64
	if v {
		bit = 1
	}
	col.Ints = append(col.Ints, bit)
}

// AppendString appends s to a String column. Bytes that are not UTF-8 become
// U+FFFD, because readers refuse a file with such strings.
func (t *Table) AppendString(c int, s string) { t.AppendText(c, validText(s)) }

// AppendText is AppendString for a string that is known to be UTF-8, such as those that were
// read.
func (t *Table) AppendText(c int, s string) {
	col := t.column(c, String)
	col.Strings = append(col.Strings, s)
}

// RepeatText appends s, which is known to be UTF-8, to a String column in the open
// row and in those after it, n in all.
func (t *Table) RepeatText(c int, s string, n int) {
	open := t.rows
	for i := range n {
		t.rows = open + i
		t.AppendText(c, s)
	}
	t.rows = open
}

// AppendInts appends a list to a ListInt32 column; nil is the empty list.
func (t *Table) AppendInts(c int, list []int32) {
	col := t.column(c, ListInt32)
	col.end(len(list))
	for _, v := range list {
		col.Ints = append(col.Ints, int64(v))
	}
}

// AppendStrings appends a list to a ListString column; nil is the empty list.
// Strings are treated as by AppendString.
func (t *Table) AppendStrings(c int, list []string) {
	col := t.column(c, ListString)
	col.end(len(list))
	col.Strings = appendValid(col.Strings, list)
}

// AppendStructs appends a list of n structs to a ListStruct column. The caller adds them
// as rows of [Table.Structs].
func (t *Table) AppendStructs(c, n int) { t.column(c, ListStruct).end(n) }

// AppendMap appends the map from keys[i] to values[i] to a MapString column.
// Entries are written in the order given; a key must not be given twice. Both
// slices must be equally long, and empty slices are the empty map. Strings are
// treated as by AppendString.
func (t *Table) AppendMap(c int, keys, values []string) {
	col := t.appendKeys(c, MapString, keys, len(values))
	col.Strings = appendValid(col.Strings, values)
}

// AppendIntMap appends the map from keys[i] to values[i] to a MapInt64 column, see
// [Table.AppendMap].
func (t *Table) AppendIntMap(c int, keys []string, values []int64) {
	col := t.appendKeys(c, MapInt64, keys, len(values))
	col.Ints = append(col.Ints, values...)
}

// AppendDoubleMap appends the map from keys[i] to values[i] to a MapDouble column, see
// [Table.AppendMap].
func (t *Table) AppendDoubleMap(c int, keys []string, values []float64) {
	col := t.appendKeys(c, MapDouble, keys, len(values))
	col.Doubles = append(col.Doubles, values...)
}

// appendKeys appends the keys of a map of n values.
func (t *Table) appendKeys(c int, kind ColumnKind, keys []string, n int) *ColumnValues {
	if len(keys) != n {
		panic("parquet: map with keys and values of different number")
	}
	col := t.column(c, kind)
	col.end(n)
	col.Keys = appendValid(col.Keys, keys)
	return col
}

func appendValid(dst, texts []string) []string {
	for _, s := range texts {
		dst = append(dst, validText(s))
	}
	return dst
}

// validText returns s with bytes that are not UTF-8 replaced.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
