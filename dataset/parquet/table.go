package parquet

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"ibid"
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

	readers *[2]columnReader // of values, or of keys and values; nil before the first read
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
	columns []Column
	rows    int
}

// A Column is a column of a [Table]. Its values end with the last row that has one. A nil
// column takes nothing.
type Column struct {
	ColumnValues
	Structs *Table // of a ListStruct: their elements

	table *Table
	name  string
}

// NewTable returns an empty table. It panics if a name is empty or given twice.
func NewTable(fields []Field) *Table {
	names := map[string]bool{"": true}
	t := &Table{fields: slices.Clone(fields), columns: make([]Column, len(fields))}
	for i, f := range fields {
		if names[f.Name] {
			panic(fmt.Sprintf("parquet: no name for column %d of a result table, or that of another: %q", i, f.Name))
		}
		names[f.Name] = true
		c := &t.columns[i]
		if c.table, c.name, c.Kind = t, f.Name, f.Kind; c.Kind == ListStruct {
			c.Structs = NewTable(f.Fields)
		}
		c.Clear()
	}
	return t
}

// Fields returns the columns in file order. The caller must not change them.
func (t *Table) Fields() []Field { return t.fields }

// Rows returns the number of finished rows.
func (t *Table) Rows() int { return t.rows }

// At is column i.
func (t *Table) At(i int) *Column { return &t.columns[i] }

// Column returns the values of column i, which are good until the table changes.
func (t *Table) Column(i int) *ColumnValues {
	t.settle()
	t.columns[i].extend(t.rows)
	return &t.columns[i].ColumnValues
}

// Reset empties the table and keeps its memory.
func (t *Table) Reset() {
	t.rows = 0
	for i := range t.columns {
		t.columns[i].Clear()
	}
}

// Clear makes the column null in all rows.
func (c *Column) Clear() {
	if c.reset(c.Kind); c.Kind.isList() {
		c.Offsets = append(c.Offsets, 0)
	}
	if c.Structs != nil {
		c.Structs.Reset()
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
		if c.Structs == nil {
			continue
		}
		c.Structs.settle()
		if n := c.Structs.rows - int(c.Offsets[c.Rows]); n != 0 {
			panic(fmt.Sprintf("parquet: lists of %q hold %d structs more than they say", c.name, n))
		}
	}
}

// begin begins a value of the kind in the open row, and reports whether the column takes it.
func (c *Column) begin(kind ColumnKind) bool {
	if c == nil {
		return false
	}
	if c.Kind != kind || c.Rows != c.table.rows {
		c.prepare(kind)
	}
	c.Rows++
	c.Valid = append(c.Valid, true)
	return true
}

// prepare makes the column null up to the open row, and panics if it cannot have a value of
// the kind there.
func (c *Column) prepare(kind ColumnKind) {
	switch {
	case c.Kind != kind:
		panic(fmt.Sprintf("parquet: result column %q holds %v, not %v", c.name, c.Kind, kind))
	case c.Rows > c.table.rows:
		panic(fmt.Sprintf("parquet: row %d of a result table: column %q appended to twice", c.table.rows, c.name))
	}
	c.extend(c.table.rows)
}

// AppendInt appends v to an Int32 or Int64 column. It panics if an Int32 column
// cannot hold v.
func (c *Column) AppendInt(v int64) {
	kind := Int64
	if c != nil && c.Kind == Int32 {
		if kind = Int32; int64(int32(v)) != v {
			panic(fmt.Sprintf("parquet: %d does not fit result column %q of int32", v, c.name))
		}
	}
	if c.begin(kind) {
		c.Ints = append(c.Ints, v)
	}
}

// AppendKnownInt is AppendInt that leaves null what is not known.
func (c *Column) AppendKnownInt(v ibid.Integer) {
	if v.Known() {
		c.AppendInt(v.Value)
	}
}

// AppendDouble appends v to a Double column.
func (c *Column) AppendDouble(v float64) {
	if c.begin(Double) {
		c.Doubles = append(c.Doubles, v)
	}
}

// AppendKnownDouble is AppendDouble that leaves null what is not known.
func (c *Column) AppendKnownDouble(v ibid.Number) {
	if v.Known() {
		c.AppendDouble(v.Value)
	}
}

// AppendBool appends v to a Bool column.
func (c *Column) AppendBool(v bool) {
	if !c.begin(Bool) {
		return
	}
	var bit int64
	if v {
		bit = 1
	}
	c.Ints = append(c.Ints, bit)
}

// AppendString appends s to a String column. Bytes that are not UTF-8 become
// U+FFFD, because readers refuse a file with such strings.
func (c *Column) AppendString(s string) { c.AppendText(validText(s)) }

// AppendText is AppendString for a string that is known to be UTF-8, such as those that were
// read.
func (c *Column) AppendText(s string) {
	if c.begin(String) {
		c.Strings = append(c.Strings, s)
	}
}

// AppendKnownText is AppendText that leaves null what is empty.
func (c *Column) AppendKnownText(s string) {
	if s != "" {
		c.AppendText(s)
	}
}

// AppendInts appends a list to a ListInt32 column; nil is the empty list.
func (c *Column) AppendInts(list []int32) {
	if c.begin(ListInt32) {
		c.end(len(list))
		for _, v := range list {
			c.Ints = append(c.Ints, int64(v))
		}
	}
}

// AppendStrings appends a list to a ListString column; nil is the empty list.
// Strings are treated as by AppendString.
func (c *Column) AppendStrings(list []string) { c.add(ListString, nil, list, nil, nil) }

// AppendStructs appends a list of n structs to a ListStruct column. The caller adds them
// as rows of Structs.
func (c *Column) AppendStructs(n int) {
	if c.begin(ListStruct) {
		c.end(n)
	}
}

// AppendMap appends the map from keys[i] to values[i] to a MapString column.
// Entries are written in the order given; a key must not be given twice. Both
// slices must be equally long, and empty slices are the empty map. Strings are
// treated as by AppendString.
func (c *Column) AppendMap(keys, values []string) { c.add(MapString, keys, values, nil, nil) }

// AppendIntMap is [Column.AppendMap] for a MapInt64 column.
func (c *Column) AppendIntMap(keys []string, values []int64) { c.add(MapInt64, keys, nil, values, nil) }

// AppendDoubleMap is [Column.AppendMap] for a MapDouble column.
func (c *Column) AppendDoubleMap(keys []string, values []float64) {
	c.add(MapDouble, keys, nil, nil, values)
}

// AppendElements appends the value, or the list or map, that is in the slices of its kind.
func (c *Column) AppendElements(keys, texts []string, ints []int64, doubles []float64) {
	c.add(c.Kind, keys, texts, ints, doubles)
}

func (c *Column) add(kind ColumnKind, keys, texts []string, ints []int64, doubles []float64) {
	n := max(len(texts), len(ints), len(doubles))
	if kind.IsMap() && len(keys) != n {
		panic("parquet: map with keys and values of different number")
	}
	if !c.begin(kind) {
		return
	}
	c.Keys, c.Strings = appendValid(c.Keys, keys), appendValid(c.Strings, texts)
	if c.Ints, c.Doubles = append(c.Ints, ints...), append(c.Doubles, doubles...); kind.isList() {
		c.end(n)
	}
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
