package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"ibid"
)

// errNotResult is the cause for a Parquet file that this version did not write as a result.
var errNotResult = errors.New("not a result file of ibid")

// A ResultFile is an open result file or part. Its methods may be called
// concurrently, except Close.
type ResultFile struct {
	file   *File
	fields []Field
	leaves [][]Leaf // of each field
	index  map[string]int
}

// OpenResult opens a file that [Encoder.EncodePart], [Join] or [Split] wrote.
// Only its footer is read, and only its footer stays in memory. The error for
// another file, or for a damaged one, is an *[Error]; [ErrCorrupt] is in the
// chain of the latter.
func OpenResult(path string) (*ResultFile, error) {
	file, err := Open(path)
	if err != nil {
		return nil, hinted(err)
	}
	f := &ResultFile{file: file, index: make(map[string]int)}
	if err := f.check(); err != nil {
		file.Close()
		return nil, hinted(FileError(path, err))
	}
	return f, nil
}

// check finds the fields and their leaves.
func (f *ResultFile) check() error {
	switch by := f.file.footer.CreatedBy; {
	case f.file.own():
	case strings.HasPrefix(by, "ibid version "):
		return &ibid.Error{Err: fmt.Errorf("another version of ibid wrote it (%s)", by), Hint: "make the run again: ibid run"}
	default:
		return errNotResult
	}
	for i, n := range f.file.Root.Children {
		kind, leaves, ok := n.result()
		if !ok {
			return errNotResult
		}
		field := Field{Name: n.Name, Kind: kind, Required: n.Def == 0}
		for k := range f.file.rowGroups() {
			field.Few = field.Few || !kind.IsMap() && f.file.chunk(k, leaves[0].Column).Meta.DictionaryPageOffset > 0
		}
		for i := range leaves { // a changed page header must not change values
			if leaves[i].written = field.encoding(); i == 0 && kind.IsMap() { // keys
				leaves[i].written = &parquet.RLEDictionary
			}
		}
		f.fields, f.leaves, f.index[n.Name] = append(f.fields, field), append(f.leaves, leaves), i
	}
	return nil
}

// resultKinds are the kinds of columns whose values have a physical type: plain ones, lists,
// and what the values are read as.
var resultKinds = map[format.Type]struct {
	plain, list ColumnKind
	read        ValueKind
}{
	format.Int32:     {Int32, ListInt32, Integer},
	format.Int64:     {Int64, columnKinds, Integer},
	format.Double:    {Double, columnKinds, Float},
	format.Boolean:   {Bool, columnKinds, Flag},
	format.ByteArray: {String, ListString, Text},
}

// mapKinds are the kinds of maps, by the type of their values.
var mapKinds = map[format.Type]ColumnKind{format.ByteArray: MapString, format.Int64: MapInt64, format.Double: MapDouble}

// result is the column of a result that n is, and its leaves.
func (n *Node) result() (kind ColumnKind, leaves []Leaf, ok bool) {
	nodes := []*Node{n}
	if !n.IsLeaf() {
		if len(n.Children) != 1 || !n.Children[0].Repeated || len(n.Children[0].Children) == 0 {
			return kind, nil, false
		}
		nodes = n.Children[0].Children
	}
	kinds, ok := resultKinds[nodes[0].physical]
	switch kind = kinds.plain; {
	case len(nodes) == 2 && kind == String:
		kind, ok = mapKinds[nodes[1].physical]
	case len(nodes) > 1:
		ok = false
	case !n.IsLeaf():
		kind = kinds.list
	}
	for _, leaf := range nodes {
		if !ok || !leaf.IsLeaf() || leaf.Repeated {
			return kind, nil, false
		}
		l, is := leaf.As(resultKinds[leaf.physical].read)
		leaves, ok = append(leaves, l), is
	}
	return kind, leaves, ok && kind < columnKinds
}

// Close closes the file.
func (f *ResultFile) Close() error { return f.file.Close() }

// Fields returns the columns in file order. The caller must not change them.
func (f *ResultFile) Fields() []Field { return f.fields }

// Rows returns the number of rows.
func (f *ResultFile) Rows() int64 { return f.file.Rows() }

// RowGroups returns the number of row groups.
func (f *ResultFile) RowGroups() int { return f.file.rowGroups() }

// GroupRows returns the number of rows of row group k, which may be 0.
func (f *ResultFile) GroupRows(k int) int { return int(f.file.groupRows(k)) }

// Metadata returns the file's key-value pairs, nil if there are none.
func (f *ResultFile) Metadata() map[string]string {
	var pairs map[string]string
	for _, kv := range f.file.footer.Metadata {
		if kv.Key == fileKey || kv.Key == footerKey || kv.Key == emptyKey {
			continue
		}
		if pairs == nil {
			pairs = make(map[string]string)
		}
		pairs[kv.Key] = kv.Value
	}
	return pairs
}

// Has reports whether there is a column of that name.
func (f *ResultFile) Has(name string) bool {
	_, ok := f.index[name]
	return ok
}

// MayHoldInts reports whether a row group can have one of values, which ascend, in a column
// of integers, by the bounds that the file has of it: true where there are none, or no such
// column.
func (f *ResultFile) MayHoldInts(k int, name string, values []int64) bool {
	m := f.bounds(k, name)
	if m == nil {
		return true
	}
	var least, most int64
	switch {
	case len(m.MinValue) == 8 && len(m.MaxValue) == 8:
		least, most = int64(binary.LittleEndian.Uint64(m.MinValue)), int64(binary.LittleEndian.Uint64(m.MaxValue))
	case len(m.MinValue) == 4 && len(m.MaxValue) == 4:
		least, most = int64(int32(binary.LittleEndian.Uint32(m.MinValue))), int64(int32(binary.LittleEndian.Uint32(m.MaxValue)))
	default:
		return true
	}
	next, _ := slices.BinarySearch(values, least)
	return next < len(values) && values[next] <= most
}

// MayHoldText is MayHoldInts for a column of texts.
func (f *ResultFile) MayHoldText(k int, name, value string) bool {
	m := f.bounds(k, name)
	return m == nil || m.MinValue == nil || m.MaxValue == nil || string(m.MinValue) <= value && value <= string(m.MaxValue)
}

// bounds are those of a column that is no list in a row group, nil if there is none.
func (f *ResultFile) bounds(k int, name string) *statistics {
	column, ok := f.index[name]
	if !ok || f.leaves[column][0].Rep > 0 {
		return nil
	}
	return &f.file.chunk(k, f.leaves[column][0].Column).Meta.Statistics
}

// ReadRow reads row n of the file: one cell per field, in file order. It is meant for
// looking at single rows, and panics unless 0 <= n < Rows.
func (f *ResultFile) ReadRow(n int64) ([]Cell, error) {
	group := 0
	for ; n >= f.file.groupRows(group); group++ {
		n -= f.file.groupRows(group)
	}
	var v ColumnValues
	cells := make([]Cell, len(f.fields))
	for i, field := range f.fields {
		if err := f.ReadCells(group, field.Name, []int{int(n)}, &v); err != nil {
			return nil, err
		}
		cells[i] = v.Cell(0)
	}
	return cells, nil
}

// Each reads all columns of one row group after the other and calls do with them. Their
// memory is reused; strings stay.
func (f *ResultFile) Each(do func(columns []ColumnValues) error) error {
	columns := make([]ColumnValues, len(f.fields))
	for k := range f.RowGroups() {
		for i, field := range f.fields {
			if err := f.ReadColumn(k, field.Name, &columns[i]); err != nil {
				return err
			}
		}
		if err := do(columns); err != nil {
			return err
		}
	}
	return nil
}

// ReadColumn reads the column of that name in row group k into v, replacing
// what was there and reusing its memory. The error is an *[Error].
func (f *ResultFile) ReadColumn(k int, name string, v *ColumnValues) (err error) {
	return f.ReadCells(k, name, nil, v)
}

// ReadCells is ReadColumn for the rows at those places of the row group, in ascending
// order; nil is all of them. Values of other rows are passed over, not looked at.
func (f *ResultFile) ReadCells(k int, name string, at []int, v *ColumnValues) (err error) {
	i, ok := f.index[name]
	switch {
	case !ok:
		err = errors.New("no such column")
	case k < 0 || k >= f.RowGroups():
		err = fmt.Errorf("row group %d of %d", k, f.RowGroups())
	default:
		if err = f.readColumn(k, i, at, v); err != nil {
			err = fmt.Errorf("row group %d: %w", k, err)
		}
	}
	if err != nil {
		return hinted(&ibid.Error{File: f.file.Path, Column: name, Err: err})
	}
	return nil
}

func (f *ResultFile) readColumn(k, field int, at []int, v *ColumnValues) (err error) {
	defer recovered(&err)
	v.reset(f.fields[field].Kind)
	budget := int64(MostMemory)
	for i := range f.leaves[field] {
		l := &f.leaves[field][i]
		v.reader.startGroups(f.file, k, k+1, *l, &budget)
		if err := v.read(l, i == 1, f.GroupRows(k), at); err != nil {
			return err
		}
	}
	return nil
}

// read reads one leaf, of which reader is at the beginning: all rows, or those at some
// places. Values of a map come after its keys.
func (v *ColumnValues) read(l *Leaf, mapValues bool, rows int, at []int) (err error) {
	v.entries.Reset()
	if mapValues {
		v.rep, v.keyRep = v.keyRep, v.rep
	}
	v.rep = v.rep[:0]
	if v.Rows = len(at); at == nil {
		v.Rows = rows
		err = v.readRows(l, rows)
	}
	next := 0
	for i := 0; i < len(at) && err == nil; {
		n := 1 // neighbours
		for i+n < len(at) && at[i+n] == at[i]+n {
			n++
		}
		if err = v.reader.SkipRows(at[i] - next); err == nil {
			err = v.readRows(l, n)
		}
		next = at[i] + n
		i += n
	}
	switch {
	case err != nil:
		return err
	case l.Rep == 0:
		v.addScalars(l)
	case mapValues:
		if !slices.Equal(v.keyRep, v.rep) || !slices.Equal(v.keyLevels, v.entries.Levels) {
			return corrupt("keys and values differ in number")
		}
		v.Keys, v.Strings = v.Strings, v.Keys[:0]
		v.addElements(l)
	default:
		if err := v.addLists(l); err != nil {
			return err
		}
		v.addElements(l)
	}
	if v.Kind.IsMap() && !mapValues {
		v.keyLevels = append(v.keyLevels[:0], v.entries.Levels...)
	}
	if r := &v.reader; at == nil && rows > 0 && (!r.Done() || r.pages.left() > 0) {
		return corrupt("more values than rows")
	}
	return nil
}

// readRows reads the next n rows.
func (v *ColumnValues) readRows(l *Leaf, n int) (err error) {
	if l.Rep == 0 {
		return v.reader.ReadEntries(n, nil, &v.entries, nil)
	}
	_, err = v.reader.ReadRows(n, math.MaxInt, &v.entries, &v.rep, nil)
	return err
}

// ColumnValues holds one column of one row group. The zero value is ready; its
// memory is reused by the next read, but strings stay valid.
//
// A scalar column has one element per row in Ints, Doubles or Strings, which is
// zero where Valid is false. In a list or map column, row i has the elements
// [Offsets[i], Offsets[i+1]) of Ints, of Strings, or of Keys and its values; a null
// and an empty list both have none and differ in Valid.
type ColumnValues struct {
	Kind    ColumnKind
	Rows    int
	Valid   []bool    // one per row
	Ints    []int64   // Int32, Int64, Bool (0 or 1), ListInt32, values of MapInt64
	Doubles []float64 // Double, values of MapDouble
	Strings []string  // String, ListString, values of MapString
	Keys    []string  // keys of maps
	Offsets []int32   // Rows+1, for lists and maps

	reader    Cursor
	entries   Values
	rep       []byte // repetition levels of the entries of lists
	keyLevels []byte // definition levels of the keys of maps
	keyRep    []byte // their repetition levels
}

func (v *ColumnValues) reset(kind ColumnKind) {
	v.Kind, v.Rows = kind, 0
	v.Valid, v.Ints, v.Doubles, v.Offsets = v.Valid[:0], v.Ints[:0], v.Doubles[:0], v.Offsets[:0]
	clear(v.Strings)
	clear(v.Keys)
	v.Strings, v.Keys = v.Strings[:0], v.Keys[:0]
}

// Null makes the column null in so many rows, whatever its kind is.
func (v *ColumnValues) Null(rows int) {
	v.reset(v.Kind)
	v.Rows = rows
	v.Valid, v.Ints, v.Doubles = cleared(v.Valid, rows), cleared(v.Ints, rows), cleared(v.Doubles, rows)
	v.Strings, v.Offsets = cleared(v.Strings, rows), cleared(v.Offsets, rows+1)
}

// cleared are n zeros in the memory of s, if it is enough.
func cleared[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// addScalars makes the rows of the entries.
func (v *ColumnValues) addScalars(l *Leaf) {
	v.Valid = slices.Grow(v.Valid, v.Rows)[:v.Rows]
	if l.Def == 1 { // a level is a boolean
		copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v.Valid))), v.Rows), v.entries.Levels)
	} else {
		fill(v.Valid, v.Rows, true)
	}
	v.Ints, v.entries.Ints = v.entries.Ints, v.Ints
	v.Doubles, v.entries.Floats = v.entries.Floats, v.Doubles
	v.Strings, v.entries.Texts = v.entries.Texts, v.Strings
}

// addLists makes Valid and Offsets from the levels of the entries.
func (v *ColumnValues) addLists(l *Leaf) error {
	at := int32(0)
	for i, level := range v.entries.Levels {
		if v.rep[i] == 0 {
			v.Valid = append(v.Valid, level > 0 || l.Def == 1)
			v.Offsets = append(v.Offsets, at)
		} else if int(level) != l.Def || int(v.entries.Levels[i-1]) != l.Def {
			return corrupt("list without a beginning")
		}
		if int(level) == l.Def {
			if at++; at < 0 {
				return corrupt("more than %d elements in a row group", int32(^uint32(0)>>1))
			}
		}
	}
	v.Offsets = append(v.Offsets, at)
	return nil
}

// addElements appends the entries that are elements of lists.
func (v *ColumnValues) addElements(l *Leaf) {
	e, n := &v.entries, int(v.Offsets[v.Rows])
	if l.Kind == Text {
		v.Strings = slices.Grow(v.Strings, n)
		for i, level := range e.Levels {
			if int(level) == l.Def {
				v.Strings = append(v.Strings, e.Texts[i])
			}
		}
		return
	}
	if l.Kind == Float {
		v.Doubles = slices.Grow(v.Doubles, n)
		for i, level := range e.Levels {
			if int(level) == l.Def {
				v.Doubles = append(v.Doubles, e.Floats[i])
			}
		}
		return
	}
	v.Ints = slices.Grow(v.Ints, n)
	for i, level := range e.Levels {
		if int(level) == l.Def {
			v.Ints = append(v.Ints, e.Ints[i])
		}
	}
}

// A Cell is one value of a result: the one of Int, Double, Text, Ints, or Texts
// that its column's kind calls for, and Keys beside values for a map.
type Cell struct {
	Null   bool
	Int    int64 // Int32, Int64, Bool (0 or 1)
	Double float64
	Text   string
	Ints   []int64
	Floats []float64
	Texts  []string
	Keys   []string // Keys[i] has the value Texts[i], Ints[i] or Floats[i]
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
	case MapInt64:
		c.Keys = slices.Clone(v.Keys[v.Offsets[i]:v.Offsets[i+1]])
		c.Ints = slices.Clone(v.Ints[v.Offsets[i]:v.Offsets[i+1]])
	case MapDouble:
		c.Keys = slices.Clone(v.Keys[v.Offsets[i]:v.Offsets[i+1]])
		c.Floats = slices.Clone(v.Doubles[v.Offsets[i]:v.Offsets[i+1]])
	}
	return c
}
