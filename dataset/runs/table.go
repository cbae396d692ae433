package runs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/metrics/stats"
)

// A Form is a result table without its rows: the file and its columns.
type Form struct {
	File    string // name in a run directory, or what writes the table
	Doc     string // what one row is
	Columns []Column
	Derived []Column // what follows from columns, and the file does not have

	left []string // fields of columns that were left out
}

// A Column is one column of a result table. For a field of a struct, its tags say
// all of it:
//
//	json or col  name; col wins, and col:"-" is no column
//	doc          what the value is
//	unit, range  of a number
//	null         what null means; a column without it, and not a pointer, is never null
//	needs        without what a run cannot fill it, see [Form.Without]
//	compress     zstd for long texts
//	sql          expression over other columns: the file does not have it, a method derive
//	             of the row fills it
//
// The type says the kind. A pointer, a [stats.Number] or a list, map or string with
// the tag null may be null; of the last three, nil and "" are. A number with
// null:"never" always has a value in a column that readers take for nullable.
type Column struct {
	Name        string
	Kind        parquet.ColumnKind
	Required    bool // never null
	Doc         string
	Unit, Range string
	Null        string
	SQL         string   // expression for a derived column, or for the value of a key KEY of a map
	Keys        []string // that a map can have, if these are known
	Needs       string   // without it a run cannot fill the column, and has none
	Zstd        bool     // compressed more tightly than other columns

	field string // name of the field, after that of a struct with a prefix
	index []int  // path of the field, through embedded structs and pointers to structs
}

// varied are the columns whose texts seldom repeat: they have no dictionary.
var varied = []string{
	"id", "citation_id", "claim_id", "generation_id", "doc", "elsewhere_doc", "documents", "text", "claim_text", "cited_text", "quote",
	"aligned", "reason", "why", "context", "error", "source_url", "digest", "query", "answer", "places", "difference",
}

// Field is the column in the schema of a Parquet file.
func (c *Column) Field() parquet.Field {
	return parquet.Field{Name: c.Name, Kind: c.Kind, Required: c.Required, Few: c.hasTexts() && !slices.Contains(varied, c.Name), Zstd: c.Zstd}
}

// hasTexts reports whether the values are texts or lists of them.
func (c *Column) hasTexts() bool { return c.Kind == parquet.String || c.Kind == parquet.ListString }

// Fields is the schema of a Parquet file of this form.
func (f *Form) Fields() []parquet.Field {
	fields := make([]parquet.Field, len(f.Columns))
	for i := range f.Columns {
		fields[i] = f.Columns[i].Field()
	}
	return fields
}

// Empty is a table of this form without rows.
func (f *Form) Empty() *parquet.Table { return parquet.NewTable(f.Fields()) }

// Bind makes an empty table of the form and sets the fields of columns, a pointer to a struct
// of pointers to columns: each is the column of the field that has the same name in the struct
// of the form, nil if that was left out. It panics if there is none.
func (f *Form) Bind(columns any) *parquet.Table {
	table := f.Empty()
	into := reflect.ValueOf(columns).Elem()
	for i := range into.NumField() {
		name := into.Type().Field(i).Name
		at := slices.IndexFunc(f.Columns, func(c Column) bool { return c.field == name })
		if at >= 0 {
			into.Field(i).Set(reflect.ValueOf(table.At(at)))
		} else if !slices.Contains(f.left, name) {
			panic(fmt.Sprintf("runs: %s has no column of a field %s", f.File, name))
		}
	}
	return table
}

// Without is the form without the columns that need what a run lacks.
func (f *Form) Without(lacks ...string) *Form {
	less := *f
	less.Columns = slices.DeleteFunc(slices.Clone(f.Columns), func(c Column) bool {
		without := slices.Contains(lacks, c.Needs)
		if without {
			less.left = append(less.left, c.field)
		}
		return without
	})
	return &less
}

// Index is the position of a column; it panics if there is none of that name.
func (f *Form) Index(name string) int {
	for i := range f.Columns {
		if f.Columns[i].Name == name {
			return i
		}
	}
	panic("runs: " + f.File + " has no column " + name)
}

// A Table reads and writes result tables whose rows are values of the struct T. It
// is made once from the tags of T, see [Column], and may be used concurrently.
type Table[T any] struct {
	Form
	named []int // path of the map of T that has the columns without a field; nil if there is none
}

// NewTable makes the table of a struct type. Its embedded structs, and pointers to
// structs, are parts of the row; the columns of a nil pointer are null. A field with
// the tag prefix puts that before the names of its struct, except before one that
// begins with ^. A field of type
// map[string]float64 with col:"*" has the values of the columns in extra, which are
// numbers and stand in its place. It panics if a type is none that a column can have.
func NewTable[T any](file, doc string, extra ...Column) *Table[T] {
	t := &Table[T]{Form: Form{File: file, Doc: doc}}
	t.addFields(reflect.TypeFor[T](), Column{Required: true}, extra)
	return t
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	numberType = reflect.TypeFor[ibid.Number]()
)

// addFields adds the columns of a struct. The column in is what the struct is in: its
// name and field are prefixes.
func (t *Table[T]) addFields(of reflect.Type, in Column, extra []Column) {
	for i := range of.NumField() {
		f := of.Field(i)
		c := Column{
			Doc: f.Tag.Get("doc"), Unit: f.Tag.Get("unit"), Range: f.Tag.Get("range"), Needs: f.Tag.Get("needs"), Zstd: f.Tag.Get("compress") == "zstd",
			field: in.field + f.Name, index: append(slices.Clone(in.index), i),
		}
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		var hasNull bool
		c.Null, hasNull = f.Tag.Lookup("null")
		c.Required = in.Required && !hasNull && f.Type == inner && inner != numberType
		name, isCol := f.Tag.Lookup("col")
		if !isCol {
			name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
		}
		prefix := f.Tag.Get("prefix")
		switch {
		case name == "*":
			t.named = c.index
			t.Columns = append(t.Columns, extra...)
		case f.Anonymous && name == "":
			t.addFields(inner, Column{Required: c.Required, field: in.field, Name: in.Name, index: c.index}, extra)
		case prefix != "":
			t.addFields(inner, Column{Required: c.Required, field: c.field, Name: prefix, index: c.index}, extra)
		case name != "" && name != "-":
			c.Name, c.Kind = in.Name+name, kindOf(inner)
			if own, ok := strings.CutPrefix(name, "^"); ok {
				c.Name = own
			}
			if c.SQL = f.Tag.Get("sql"); c.SQL != "" {
				t.Derived = append(t.Derived, c)
				continue
			}
			t.Columns = append(t.Columns, c)
		}
	}
}

func kindOf(t reflect.Type) parquet.ColumnKind {
	switch t.Kind() {
	case reflect.Int32:
		return parquet.Int32
	case reflect.Int, reflect.Int64:
		return parquet.Int64
	case reflect.Float64:
		return parquet.Double
	case reflect.Bool:
		return parquet.Bool
	case reflect.String:
		return parquet.String
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.Int32:
			return parquet.ListInt32
		case reflect.String:
			return parquet.ListString
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			switch t.Elem().Kind() {
			case reflect.String:
				return parquet.MapString
			case reflect.Int64:
				return parquet.MapInt64
			case reflect.Float64:
				return parquet.MapDouble
			}
		}
	case reflect.Struct:
		switch t {
		case timeType:
			return parquet.String
		case numberType:
			return parquet.Double
		}
	}
	panic(fmt.Sprintf("runs: no column holds a %v", t))
}

// field is where the value of a column is in a row; ok is false if a pointer on the
// way to it is nil. With alloc, such pointers are set.
func field(row reflect.Value, index []int, alloc bool) (v reflect.Value, ok bool) {
	for _, i := range index {
		if row.Kind() == reflect.Pointer {
			if row.IsNil() {
				if !alloc {
					return row, false
				}
				row.Set(reflect.New(row.Type().Elem()))
			}
			row = row.Elem()
		}
		row = row.Field(i)
	}
	return row, true
}

// value is the value of a column in a row; ok is false if it is null.
func (t *Table[T]) value(row reflect.Value, c *Column) (v reflect.Value, ok bool) {
	if c.index == nil {
		named, ok := field(row, t.named, false)
		if !ok {
			return v, false
		}
		v = named.MapIndex(reflect.ValueOf(c.Name))
		return v, v.IsValid()
	}
	if v, ok = field(row, c.index, false); !ok {
		return v, false
	}
	switch v.Kind() {
	case reflect.Pointer:
		return v.Elem(), !v.IsNil()
	case reflect.String, reflect.Slice, reflect.Map:
		return v, c.Required || !v.IsZero()
	case reflect.Struct:
		switch x := v.Interface().(type) {
		case time.Time:
			return reflect.ValueOf(x.UTC().Format(time.RFC3339)), true
		case ibid.Number:
			return reflect.ValueOf(x.Value), x.Known()
		}
	}
	return v, true
}

// Encode writes rows as a Parquet file.
func (t *Table[T]) Encode(w io.Writer, rows []T) error {
	return t.encodeEach(w, groupRows, each(rows))
}

// each gives rows one after the other.
func each[T any](rows []T) func(yield func(*T) error) error {
	return func(yield func(*T) error) error {
		for i := range rows {
			if err := yield(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// groupRows is how many rows of a table that is written whole are in one row group.
const groupRows = 1 << 15

// groupBytes is from how many bytes of texts on a row group ends.
const groupBytes = 8 << 20

// encodeEach is Encode of the rows that each gives one after the other, with so many in a
// row group.
func (t *Table[T]) encodeEach(w io.Writer, perGroup int, each func(yield func(*T) error) error) error {
	table := t.Empty()
	var e parquet.Encoder
	e.Begin(w, table.Fields())
	groups, bytes := 0, 0
	err := each(func(r *T) error {
		row := reflect.ValueOf(r).Elem()
		for k := range t.Columns {
			if v, ok := t.value(row, &t.Columns[k]); ok {
				appendValue(table, k, t.Columns[k].Kind, v)
				if v.Kind() == reflect.String {
					bytes += v.Len()
				}
			}
		}
		table.EndRow()
		if table.Rows() < perGroup && bytes < groupBytes {
			return nil
		}
		groups, bytes = groups+1, 0
		err := e.Group(table)
		table.Reset()
		return err
	})
	if err == nil && (groups == 0 || table.Rows() > 0) {
		err = e.Group(table)
	}
	if err != nil {
		return err
	}
	return e.End(nil)
}

func appendValue(t *parquet.Table, c int, kind parquet.ColumnKind, v reflect.Value) {
	switch kind {
	case parquet.Int32, parquet.Int64:
		if v.CanFloat() { // of a map of numbers
			t.At(c).AppendInt(int64(v.Float()))
			return
		}
		t.At(c).AppendInt(v.Int())
	case parquet.Double:
		t.At(c).AppendDouble(v.Float())
	case parquet.Bool:
		t.At(c).AppendBool(v.Bool())
	case parquet.String:
		t.At(c).AppendString(v.String())
	case parquet.ListInt32:
		t.At(c).AppendInts(v.Convert(reflect.TypeFor[[]int32]()).Interface().([]int32))
	case parquet.ListString:
		t.At(c).AppendStrings(v.Convert(reflect.TypeFor[[]string]()).Interface().([]string))
	case parquet.MapString:
		keys, values := sortedMap[string](v)
		t.At(c).AppendMap(keys, values)
	case parquet.MapInt64:
		keys, values := sortedMap[int64](v)
		t.At(c).AppendIntMap(keys, values)
	case parquet.MapDouble:
		keys, values := sortedMap[float64](v)
		t.At(c).AppendDoubleMap(keys, values)
	}
}

// sortedMap are the keys of a map in their order, and their values.
func sortedMap[V any](v reflect.Value) (keys []string, values []V) {
	m := v.Convert(reflect.TypeFor[map[string]V]()).Interface().(map[string]V)
	keys = slices.Sorted(maps.Keys(m))
	for _, key := range keys {
		values = append(values, m[key])
	}
	return keys, values
}

// Write writes rows, in the order given, as the table's file in the run directory
// dir. The file appears whole or not at all.
func (t *Table[T]) Write(dir string, rows []T) error {
	return t.WriteEach(dir, each(rows))
}

// WriteEach is Write of the rows that each gives one after the other.
func (t *Table[T]) WriteEach(dir string, each func(yield func(*T) error) error) error {
	return dataset.WriteFile(filepath.Join(dir, t.File), func(w io.Writer) error { return t.encodeEach(w, groupRows, each) })
}

// Read reads the rows of the table's file in the run directory dir, in file order.
// The error of a run that has no such file is [fs.ErrNotExist].
func (t *Table[T]) Read(dir string) ([]T, error) {
	return collect(func(yield func(int64, *T) error) error { return t.Scan(dir, nil, yield) })
}

// ReadIfAny is Read for a file that not every run has: without it there are no rows.
func (t *Table[T]) ReadIfAny(dir string) ([]T, error) { return ifAny(t.Read(dir)) }

// OfRow reads what belongs to the row at a position of the input, in file order; nothing if
// the run has no such file.
func (t *Table[T]) OfRow(dir string, row int64) ([]T, error) {
	return ifAny(collect(func(yield func(int64, *T) error) error { return t.ScanOf(dir, nil, []int64{row}, yield) }))
}

// collect is what scan yields.
func collect[T any](scan func(yield func(int64, *T) error) error) (rows []T, err error) {
	err = scan(func(_ int64, r *T) error {
		rows = append(rows, *r)
		return nil
	})
	return rows, err
}

// ifAny takes a file that is not there for one without rows.
func ifAny[T any](rows []T, err error) ([]T, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return rows, err
}

// ScanOf is ScanSome of what belongs to rows of the input, whose positions are given in
// ascending order; yield is told which it is. Blocks whose bounds leave them out are not
// read.
func (t *Table[T]) ScanOf(dir string, columns []string, rows []int64, yield func(row int64, item *T) error) error {
	return t.with(dir, func(f *Frame) error {
		at, of, err := f.findInts("row", rows)
		if err != nil {
			return err
		}
		k := 0
		return t.scan(f, columns, at, func(_ int64, item *T) error {
			k++
			return yield(of[k-1], item)
		})
	})
}

// Scan calls yield with every row of the table's file in the run directory dir, in
// file order, and with its position in the file. Only the named columns are filled,
// or all of them if columns is nil. Columns that the file does not have are null. The row is
// good until yield returns; what its fields point to stays.
func (t *Table[T]) Scan(dir string, columns []string, yield func(at int64, row *T) error) error {
	return t.with(dir, func(f *Frame) error { return t.scan(f, columns, nil, yield) })
}

// ScanSome is Scan of the rows at those positions of the file, in ascending order. Their
// texts are copies: one text that is kept would keep all others of its part of the file.
func (t *Table[T]) ScanSome(dir string, columns []string, at []int64, yield func(at int64, row *T) error) error {
	return t.with(dir, func(f *Frame) error { return t.scan(f, columns, append([]int64{}, at...), yield) })
}

// with calls do with the table's file in the run directory dir.
func (t *Table[T]) with(dir string, do func(f *Frame) error) error {
	f, err := OpenFrame(filepath.Join(dir, t.File))
	if err != nil {
		return err
	}
	defer f.Close()
	return do(f)
}

// scan reads the rows at those positions; nil is all of them.
func (t *Table[T]) scan(f *Frame, columns []string, at []int64, yield func(at int64, row *T) error) error {
	wanted := func(c *Column) bool { // or a key of it
		return columns == nil || slices.Contains(columns, c.Name) || slices.ContainsFunc(columns, func(name string) bool { return keyed[name] == c.Name })
	}
	read := slices.DeleteFunc(slices.Concat(t.Columns, t.Derived), func(c Column) bool { return !wanted(&c) || !c.Required && !f.Has(c.Name) })
	values := make([]*parquet.ColumnValues, len(read))
	some := at != nil
	return f.Each(func(b *Block) error {
		n, places := b.Len(), []int(nil)
		if some {
			n, _ = slices.BinarySearch(at, b.First+int64(n))
			for _, p := range at[:n] {
				places = append(places, int(p-b.First))
			}
			at = at[n:]
		}
		if n == 0 {
			return nil
		}
		b.places = places
		for k := range read {
			c := &read[k]
			if values[k] = b.Column(c.Name); c.Required && !f.Has(c.Name) {
				return f.file.ReadColumn(b.Number, c.Name, nil, &parquet.ColumnValues{}) // the error
			}
		}
		if b.err != nil {
			return b.err
		}
		for i := range n {
			var row T
			into := reflect.ValueOf(&row).Elem()
			for k, v := range values {
				if !v.Valid[i] {
					continue
				}
				if some && v.Kind == parquet.String {
					v.Strings[i] = strings.Clone(v.Strings[i])
				}
				t.set(into, &read[k], v, i)
			}
			if d, ok := any(&row).(interface{ derive() }); ok {
				d.derive()
			}
			place := i
			if some {
				place = places[i]
			}
			if err := yield(b.First+int64(place), &row); err != nil {
				return err
			}
		}
		return nil
	})
}

// set takes over value i of a column, which is not null.
func (t *Table[T]) set(row reflect.Value, c *Column, v *parquet.ColumnValues, i int) {
	if c.index == nil {
		named, _ := field(row, t.named, true)
		if named.IsNil() {
			named.Set(reflect.MakeMap(named.Type()))
		}
		numbers := named.Interface().(map[string]float64)
		if v.Kind == parquet.Double {
			numbers[c.Name] = v.Doubles[i]
		} else {
			numbers[c.Name] = float64(v.Ints[i])
		}
		return
	}
	into, _ := field(row, c.index, true)
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	switch into.Kind() {
	case reflect.Slice:
		lo, hi := int(v.Offsets[i]), int(v.Offsets[i+1])
		into.Set(reflect.MakeSlice(into.Type(), hi-lo, hi-lo))
		for k := lo; k < hi; k++ {
			setValue(into.Index(k-lo), v, k)
		}
	case reflect.Map:
		into.Set(reflect.MakeMap(into.Type()))
		element := reflect.New(into.Type().Elem()).Elem()
		for k := int(v.Offsets[i]); k < int(v.Offsets[i+1]); k++ {
			setValue(element, v, k)
			into.SetMapIndex(reflect.ValueOf(v.Keys[k]), element)
		}
	default:
		setValue(into, v, i)
	}
}

// setValue takes over value i of those that a column, or its lists or maps, have.
func setValue(into reflect.Value, v *parquet.ColumnValues, i int) {
	switch into.Kind() {
	case reflect.Float64:
		into.SetFloat(v.Doubles[i])
	case reflect.Struct:
		into.Set(reflect.ValueOf(stats.Of(v.Doubles[i])))
	case reflect.Bool:
		into.SetBool(v.Ints[i] != 0)
	case reflect.String:
		into.SetString(v.Strings[i])
	default:
		into.SetInt(v.Ints[i])
	}
}

// WriteCSV writes a header and one record for each row. Null is empty, numbers read
// back as the same, and "; " separates what lists and maps hold.
func (t *Table[T]) WriteCSV(w io.Writer, rows []T) error {
	return t.writeCSV(w, each(rows))
}

// Copy writes the table's file in the run directory dir, with the columns that this has: as
// WriteCSV does, or as a list of JSON objects, in which null is left out.
func (t *Table[T]) Copy(w io.Writer, dir string, asJSON bool) error {
	return t.with(dir, func(f *Frame) error {
		has, missing := *t, func(c Column) bool { return !f.Has(c.Name) }
		has.Columns = slices.DeleteFunc(slices.Clone(t.Columns), missing)
		has.Derived = slices.DeleteFunc(slices.Clone(t.Derived), func(c Column) bool { return c.index == nil && missing(c) })
		write := has.writeCSV
		if asJSON {
			write = has.writeJSON
		}
		return write(w, func(yield func(*T) error) error {
			return has.scan(f, nil, nil, func(_ int64, row *T) error { return yield(row) })
		})
	})
}

func (t *Table[T]) writeJSON(w io.Writer, each func(yield func(*T) error) error) error {
	b, before := bytes.Buffer{}, "[\n"
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	columns := slices.Concat(t.Columns, t.Derived)
	err := each(func(row *T) error {
		b.Reset()
		b.WriteString(before)
		before = "{"
		for k := range columns {
			v, ok := t.value(reflect.ValueOf(row).Elem(), &columns[k])
			if !ok {
				continue
			}
			fmt.Fprintf(&b, "%s%q:", before, columns[k].Name)
			if err := e.Encode(v.Interface()); err != nil {
				return err
			}
			b.Truncate(b.Len() - 1) // the line end
			before = ","
		}
		b.WriteString("}")
		before = ",\n"
		_, err := w.Write(b.Bytes())
		return err
	})
	if before == "[\n" {
		before = "[]\n"
	} else {
		before = "\n]\n"
	}
	_, endErr := io.WriteString(w, before)
	return errors.Join(err, endErr)
}

func (t *Table[T]) writeCSV(w io.Writer, each func(yield func(*T) error) error) error {
	columns := slices.Concat(t.Columns, t.Derived)
	record := make([]string, len(columns))
	for k := range columns {
		record[k] = columns[k].Name
	}
	c := csv.NewWriter(w)
	err := c.Write(record)
	if err == nil {
		err = each(func(row *T) error {
			for k := range columns {
				record[k] = ""
				if v, ok := t.value(reflect.ValueOf(row).Elem(), &columns[k]); ok {
					record[k] = csvCell(v)
				}
			}
			return c.Write(record)
		})
	}
	c.Flush()
	return errors.Join(err, c.Error())
}

func csvCell(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Slice:
		var cells []string
		for i := range v.Len() {
			cells = append(cells, csvCell(v.Index(i)))
		}
		return strings.Join(cells, "; ")
	case reflect.Map:
		var cells []string
		for _, key := range v.MapKeys() {
			cells = append(cells, key.String()+"="+csvCell(v.MapIndex(key)))
		}
		slices.Sort(cells)
		return strings.Join(cells, "; ")
	}
	return fmt.Sprint(v.Interface())
}

// A ListOf is a list that JSON has as [] when it is nil.
type ListOf[E any] []E

// MarshalJSON writes a list, never null.
func (l ListOf[E]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the encoder that asked escapes if it is told to
	err := e.Encode(append([]E{}, l...))
	return b.Bytes(), err
}

// UnmarshalJSON reads an empty list as nil.
func (l *ListOf[E]) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*[]E)(l))
	if len(*l) == 0 {
		*l = nil
	}
	return err
}
