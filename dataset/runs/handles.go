package runs

import (
	"fmt"
	"reflect"
	"slices"

	"ibid"
	"ibid/dataset/parquet"
)

// A handle is one column of a table in memory, for code that fills many rows: the
// handles of a struct are bound once, see [Form.Bind], and then appended to without
// looking at names, tags or positions. A column that is not appended to is null in
// the row, see [parquet.Table]. A handle of a column that the form does not have does nothing.
type handle struct {
	table *parquet.Table
	at    int
}

// The handles, by the kind of their column.
type (
	TextColumn   struct{ handle } // string
	IntColumn    struct{ handle } // int32 or int64
	DoubleColumn struct{ handle } // double
	BoolColumn   struct{ handle } // bool
	IntsColumn   struct{ handle } // list<int32>
	TextsColumn  struct{ handle } // list<string>
	MapColumn    struct{ handle } // map<string,string>

	IntMapColumn    struct{ handle } // map<string,int64>
	DoubleMapColumn struct{ handle } // map<string,double>
)

// Append appends s, which is known to be UTF-8, such as the texts of a row.
func (c TextColumn) Append(s string) {
	if c.table != nil {
		c.table.AppendText(c.at, s)
	}
}

// AppendAny is Append of a text that may not be UTF-8.
func (c TextColumn) AppendAny(s string) {
	if c.table != nil {
		c.table.AppendString(c.at, s)
	}
}

// Optional is Append, "" being null.
func (c TextColumn) Optional(s string) {
	if s != "" && c.table != nil {
		c.table.AppendText(c.at, s)
	}
}

// Repeat appends s to the open row and to those after it, n in all.
func (c TextColumn) Repeat(s string, n int) { c.table.RepeatText(c.at, s, n) }

// Append appends v.
func (c IntColumn) Append(v int64) {
	if c.table != nil {
		c.table.AppendInt(c.at, v)
	}
}

// Optional appends v unless it is null.
func (c IntColumn) Optional(v ibid.Integer) {
	if v.Known() && c.table != nil {
		c.table.AppendInt(c.at, v.Value)
	}
}

// Append appends v.
func (c DoubleColumn) Append(v float64) {
	if c.table != nil {
		c.table.AppendDouble(c.at, v)
	}
}

// Optional appends v unless it is null.
func (c DoubleColumn) Optional(v ibid.Number) {
	if v.Known() && c.table != nil {
		c.table.AppendDouble(c.at, v.Value)
	}
}

// Append appends v.
func (c BoolColumn) Append(v bool) {
	if c.table != nil {
		c.table.AppendBool(c.at, v)
	}
}

// Append appends a list; nil is the empty list.
func (c IntsColumn) Append(list []int32) {
	if c.table != nil {
		c.table.AppendInts(c.at, list)
	}
}

// Append appends a list; nil is the empty list.
func (c TextsColumn) Append(list []string) {
	if c.table != nil {
		c.table.AppendStrings(c.at, list)
	}
}

// Append appends the map from keys[i] to values[i].
func (c MapColumn) Append(keys, values []string) { c.table.AppendMap(c.at, keys, values) }

// Append appends the map from keys[i] to values[i].
func (c IntMapColumn) Append(keys []string, values []int64) {
	if c.table != nil {
		c.table.AppendIntMap(c.at, keys, values)
	}
}

// Append appends the map from keys[i] to values[i].
func (c DoubleMapColumn) Append(keys []string, values []float64) {
	if c.table != nil {
		c.table.AppendDoubleMap(c.at, keys, values)
	}
}

// handleKinds are the kinds of column that a handle is for.
var handleKinds = map[reflect.Type][]parquet.ColumnKind{
	reflect.TypeFor[TextColumn]():   {parquet.String},
	reflect.TypeFor[IntColumn]():    {parquet.Int32, parquet.Int64},
	reflect.TypeFor[DoubleColumn](): {parquet.Double},
	reflect.TypeFor[BoolColumn]():   {parquet.Bool},
	reflect.TypeFor[IntsColumn]():   {parquet.ListInt32},
	reflect.TypeFor[TextsColumn]():  {parquet.ListString},
	reflect.TypeFor[MapColumn]():    {parquet.MapString},

	reflect.TypeFor[IntMapColumn]():    {parquet.MapInt64},
	reflect.TypeFor[DoubleMapColumn](): {parquet.MapDouble},
}

// Bind makes an empty table of the form and binds handles, a pointer to a struct, to
// its columns: a field of handles is the column of the field that has the same name
// in the struct of the form. It panics if there is none, or one of another kind.
func (f *Form) Bind(handles any) (*parquet.Table, error) {
	table, err := f.Empty()
	if err != nil {
		return nil, err
	}
	byField := make(map[string]int, len(f.Columns))
	for i := range f.Columns {
		byField[f.Columns[i].field] = i
	}
	into := reflect.ValueOf(handles).Elem()
	for i := range into.NumField() {
		name := into.Type().Field(i).Name
		at, ok := byField[name]
		if !ok && !slices.Contains(f.left, name) {
			panic(fmt.Sprintf("runs: %s has no column of a field %s", f.File, name))
		}
		if !ok {
			continue
		}
		fits := false
		for _, kind := range handleKinds[into.Field(i).Type()] {
			fits = fits || kind == f.Columns[at].Kind
		}
		if !fits {
			panic(fmt.Sprintf("runs: column %s of %s is of kind %v, not for a %v", f.Columns[at].Name, f.File, f.Columns[at].Kind, into.Field(i).Type()))
		}
		// The fields of a handle are not exported, those of handle are set through it.
		*into.Field(i).Addr().Interface().(interface{ self() *handle }).self() = handle{table, at}
	}
	return table, nil
}

func (h *handle) self() *handle { return h }
