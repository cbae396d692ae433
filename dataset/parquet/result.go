package parquet

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/parquet-go/parquet-go/format"

	"ibid"
)

// errNotResult is the cause for a Parquet file that this package did not write
// as a result.
var errNotResult = errors.New("not a result file of ibid")

// derivedKey is the key of the metadata of files that leave columns out: an earlier
// version wrote them under results: core.
const derivedKey = "ibid.derived"

// errLeavesOut is the cause for such a file. Its columns would read as undefined.
var errLeavesOut = errors.New("an earlier version left columns out of it (results: core)")

// A ResultFile is an open result file or part. Its methods may be called
// concurrently, except Close.
type ResultFile struct {
	file   *File
	fields []Field
	leaves [][]Leaf // of each field
	first  []int64  // rows before each group
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
	var rows int64
	for k := range file.RowGroups() {
		f.first = append(f.first, rows)
		rows += file.GroupRows(k)
	}
	return f, nil
}

// check finds the fields and their leaves.
func (f *ResultFile) check() error {
	meta := f.file.meta
	if !f.file.own() && meta.CreatedBy != createdBefore {
		return errNotResult
	}
	for _, kv := range meta.KeyValueMetadata {
		if kv.Key == derivedKey {
			return &ibid.Error{Err: errLeavesOut, Hint: "make the run again: ibid run"}
		}
	}
	for i, n := range f.file.Root.Children {
		kind, leaves, ok := n.result()
		if !ok {
			return errNotResult
		}
		field := Field{Name: n.Name, Kind: kind, Required: n.elem.RepetitionType.V == format.Required}
		if k := slices.IndexFunc(f.file.groups, func(g rowGroup) bool { return g.NumRows > 0 }); k >= 0 && leaves[0].Kind == Text && kind != MapString {
			field.Few = f.file.groups[k].Columns[leaves[0].Column].DictionaryPageOffset > 0
		}
		f.fields, f.leaves, f.index[n.Name] = append(f.fields, field), append(f.leaves, leaves), i
	}
	return nil
}

// result is the column of a result that n is, and its leaves.
func (n *Node) result() (kind ColumnKind, leaves []Leaf, ok bool) {
	nodes, list := []*Node{n}, !n.IsLeaf()
	if list {
		if len(n.Children) != 1 || !n.Children[0].Repeated || len(n.Children[0].Children) == 0 {
			return kind, nil, false
		}
		nodes = n.Children[0].Children
	}
	physical := nodes[0].elem.Type.V
	reading := Integer
	switch {
	case len(nodes) == 2:
		kind, reading, ok = MapString, Text, physical == format.ByteArray
	case len(nodes) > 2:
	case physical == format.ByteArray && list:
		kind, reading, ok = ListString, Text, true
	case physical == format.ByteArray:
		kind, reading, ok = String, Text, true
	case physical == format.Int32 && list:
		kind, ok = ListInt32, true
	case list:
	case physical == format.Int32:
		kind, ok = Int32, true
	case physical == format.Int64:
		kind, ok = Int64, true
	case physical == format.Double:
		kind, reading, ok = Double, Float, true
	case physical == format.Boolean:
		kind, reading, ok = Bool, Flag, true
	}
	for _, leaf := range nodes {
		if !ok || !leaf.IsLeaf() || leaf.Repeated {
			return kind, nil, false
		}
		l, is := leaf.As(reading)
		leaves, ok = append(leaves, l), is
	}
	return kind, leaves, ok
}

// Close closes the file.
func (f *ResultFile) Close() error { return f.file.Close() }

// Fields returns the columns in file order. The caller must not change them.
func (f *ResultFile) Fields() []Field { return f.fields }

// Rows returns the number of rows.
func (f *ResultFile) Rows() int64 { return f.file.Rows() }

// RowGroups returns the number of row groups.
func (f *ResultFile) RowGroups() int { return len(f.first) }

// GroupRows returns the number of rows of row group k, which may be 0.
func (f *ResultFile) GroupRows(k int) int { return int(f.file.GroupRows(k)) }

// Metadata returns the file's key-value pairs, nil if there are none.
func (f *ResultFile) Metadata() map[string]string {
	var pairs map[string]string
	for _, kv := range f.file.meta.KeyValueMetadata {
		if isOwnKey(kv.Key) {
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

// Locate returns the row group that holds row n of the file, and n's place in
// it. It panics unless 0 <= n < Rows.
func (f *ResultFile) Locate(n int64) (group, row int) {
	if n < 0 || n >= f.Rows() {
		panic(fmt.Sprintf("parquet: row %d of %d", n, f.Rows()))
	}
	group = sort.Search(len(f.first), func(k int) bool { return f.first[k] > n }) - 1
	return group, int(n - f.first[group])
}

// ReadRow reads row n of the file: one cell per field, in file order. It is meant for
// looking at single rows, and panics unless 0 <= n < Rows.
func (f *ResultFile) ReadRow(n int64) ([]Cell, error) {
	group, row := f.Locate(n)
	var v ColumnValues
	cells := make([]Cell, len(f.fields))
	for i, field := range f.fields {
		if err := f.ReadCells(group, field.Name, []int{row}, &v); err != nil {
			return nil, err
		}
		cells[i] = v.Cell(0)
	}
	return cells, nil
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
	defer func() {
		if p := recover(); p != nil {
			err = corrupt("%v", p)
		}
	}()
	v.reset(f.fields[field].Kind)
	budget := f.file.Budget(0)
	for i := range f.leaves[field] {
		l := &f.leaves[field][i]
		if err := v.reader.Start(f.file, k, *l, budget); err != nil {
			return err
		}
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
	v.entries.Coded = v.Coded && v.Kind == ListString
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
	if v.Kind == MapString && !mapValues {
		v.keyLevels = append(v.keyLevels[:0], v.entries.Levels...)
	}
	if r := &v.reader; at == nil && (!r.Done() || r.pages.meta.NumValues > 0 && r.pages.left() > 0) {
		return corrupt("more values than rows")
	}
	return nil
}

// readRows reads the next n rows.
func (v *ColumnValues) readRows(l *Leaf, n int) (err error) {
	if l.Rep == 0 {
		return v.reader.ReadEntries(n, nil, &v.entries, nil)
	}
	_, _, err = v.reader.ReadRows(n, Unlimited, &v.entries, &v.rep, nil)
	return err
}

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

	// Coded wants the elements of ListString as Codes: those from 0 on are places in
	// Dictionary, others the complements of places in Strings.
	Coded      bool
	Codes      []int32
	Dictionary []string

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
	v.Dictionary = nil
	v.Strings, v.Keys, v.Codes = v.Strings[:0], v.Keys[:0], v.Codes[:0]
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
	for i, level := range v.entries.Levels {
		v.Valid[i] = int(level) == l.Def
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
	if e.Coded {
		v.Codes = slices.Grow(v.Codes, n)
		for i, level := range e.Levels {
			if int(level) == l.Def {
				v.Codes = append(v.Codes, e.Codes[i])
			}
		}
		v.Strings, e.Texts, v.Dictionary = e.Texts, v.Strings, v.reader.texts()
		return
	}
	if l.Kind == Text {
		v.Strings = slices.Grow(v.Strings, n)
		for i, level := range e.Levels {
			if int(level) == l.Def {
				v.Strings = append(v.Strings, e.Texts[i])
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
