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

	"ibid"
)

// errNotResult is the cause for a Parquet file that this version did not write as a result.
var errNotResult = errors.New("not a result file of ibid")

// A ResultFile is an open result file or part. Its methods may be called
// concurrently, except Close.
type ResultFile struct {
	*File
	fields []Field
	leaves [][]Leaf // of each field
	index  map[string]int
}

// OpenResult opens a file that an [Encoder] or [Join] wrote.
// Only its footer is read, and only its footer stays in memory. The error for another file, or
// for a damaged one, is an [*ibid.Error]; [ErrCorrupt] is in the chain of the latter.
func OpenResult(path string) (*ResultFile, error) {
	file, err := Open(path)
	if err != nil {
		return nil, hinted(err)
	}
	f := &ResultFile{File: file, index: make(map[string]int)}
	if err := f.check(); err != nil {
		file.Close()
		return nil, hinted(FileError(path, err))
	}
	return f, nil
}

// check finds the fields and their leaves.
func (f *ResultFile) check() error {
	switch by := f.footer.CreatedBy; {
	case f.own():
	case strings.HasPrefix(by, "ibid version "):
		return &ibid.Error{Err: fmt.Errorf("another version of ibid wrote it (%s)", by), Hint: "make the run again: ibid run"}
	default:
		return errNotResult
	}
	for i, n := range f.Root.Children {
		kind, leaves, ok := n.result()
		if !ok {
			return errNotResult
		}
		field := Field{Name: n.Name, Kind: kind, Required: n.Def == 0}
		for k := range f.RowGroups() {
			field.Few = field.Few || !kind.IsMap() && f.chunk(k, leaves[0].Column).Meta.DictionaryPageOffset > 0
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

// result is the column of a result that n is, and its leaves.
func (n *Node) result() (kind ColumnKind, leaves []Leaf, ok bool) {
	nodes := []*Node{n}
	if len(n.Children) == 1 && n.Children[0].Repeated {
		nodes = n.Children[0].Children
	}
	for _, leaf := range nodes {
		l, _ := leaf.As(leaf.Kind)
		if leaves = append(leaves, l); leaf.Kind <= Nothing || leaf.Repeated {
			return kind, nil, false
		}
	}
	for kind = range ListStruct {
		maps := len(nodes) == 2 && nodes[0].Kind == Text
		if kind.isList() != n.IsLeaf() && kind.IsMap() == maps && (maps || len(nodes) == 1) &&
			leafTypes[kindsOf[kind].leaf].Kind() == parquet.Kind(nodes[len(nodes)-1].physical) {
			return kind, leaves, true
		}
	}
	return kind, nil, false
}

// Fields returns the columns in file order. The caller must not change them.
func (f *ResultFile) Fields() []Field { return f.fields }

// Has reports whether there is a column of that name.
func (f *ResultFile) Has(name string) bool {
	_, ok := f.index[name]
	return ok
}

// MayHoldInts reports whether a row group can have one of values, which ascend, in a column
// of integers, by the bounds that the file has of it: true where there are none, or no such
// column.
func (f *ResultFile) MayHoldInts(k int, name string, values []int64) bool {
	least, most := f.bounds(k, name)
	if len(least) != 8 || len(most) != 8 {
		return true
	}
	next, _ := slices.BinarySearch(values, int64(binary.LittleEndian.Uint64(least)))
	return next < len(values) && values[next] <= int64(binary.LittleEndian.Uint64(most))
}

// MayHoldText is MayHoldInts for a column of texts.
func (f *ResultFile) MayHoldText(k int, name, value string) bool {
	least, most := f.bounds(k, name)
	return least == nil || most == nil || string(least) <= value && value <= string(most)
}

// bounds are those of a column that is no list in a row group, nil if there are none.
func (f *ResultFile) bounds(k int, name string) (least, most []byte) {
	column, ok := f.index[name]
	if !ok || f.leaves[column][0].Rep > 0 {
		return nil, nil
	}
	s := &f.chunk(k, f.leaves[column][0].Column).Meta.Statistics
	return s.MinValue, s.MaxValue
}

// ReadColumn reads the column of that name in row group k into v, replacing what was there
// and reusing its memory. Rows are those at some places of the row group, in ascending order;
// nil is all of them. Values of others are passed over, not looked at. The error is an
// [*ibid.Error].
func (f *ResultFile) ReadColumn(k int, name string, at []int, v *ColumnValues) (err error) {
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
		return hinted(&ibid.Error{File: f.Path, Column: name, Err: err})
	}
	return nil
}

// A columnReader reads a leaf of results: its entries, and their repetition levels.
type columnReader struct {
	Cursor
	entries Values
	rep     []byte
}

func (f *ResultFile) readColumn(k, field int, at []int, v *ColumnValues) (err error) {
	defer recovered(&err)
	if v.readers == nil {
		v.readers = new([2]columnReader)
	}
	budget := int64(MostMemory)
	v.reset(f.fields[field].Kind)
	if v.Rows = len(at); at == nil {
		v.Rows = f.GroupRows(k)
	}
	for i := range f.leaves[field] {
		l, r := &f.leaves[field][i], &v.readers[i]
		r.entries.Reset()
		r.rep = r.rep[:0]
		r.Start(f.File, k, k+1, *l, &budget)
		if err := r.readAt(v.Rows, at); err != nil {
			return err
		}
		switch keys := &v.readers[0]; {
		case at == nil && v.Rows > 0 && (!r.Done() || r.pages.left() > 0):
			return corrupt("more values than rows")
		case l.Rep == 0:
			v.addScalars(l, &r.entries)
			continue
		case i == 0:
			err = v.addLists(l, r)
		case !slices.Equal(keys.rep, r.rep) || !slices.Equal(keys.entries.Levels, r.entries.Levels):
			err = corrupt("keys and values differ in number")
		default:
			v.Keys, v.Strings = v.Strings, v.Keys[:0]
		}
		if err != nil {
			return err
		}
		v.Strings = present(v.Strings, r.entries.Texts, r.entries.Levels, l)
		v.Doubles = present(v.Doubles, r.entries.Floats, r.entries.Levels, l)
		v.Ints = present(v.Ints, r.entries.Ints, r.entries.Levels, l)
	}
	return nil
}

// readAt reads rows of the leaf that the cursor is at the beginning of: as many, or those at
// some places.
func (r *columnReader) readAt(rows int, at []int) (err error) {
	if at == nil {
		_, err = r.ReadRows(rows, math.MaxInt, &r.entries, &r.rep, nil)
	}
	next := 0
	for i := 0; i < len(at) && err == nil; {
		n := 1 // neighbours
		for i+n < len(at) && at[i+n] == at[i]+n {
			n++
		}
		if err = r.SkipRows(at[i] - next); err == nil {
			_, err = r.ReadRows(n, math.MaxInt, &r.entries, &r.rep, nil)
		}
		next = at[i] + n
		i += n
	}
	return err
}

// addScalars makes the rows of the entries.
func (v *ColumnValues) addScalars(l *Leaf, e *Values) {
	v.Valid = slices.Grow(v.Valid, v.Rows)[:v.Rows]
	if l.Def == 1 { // a level is a boolean
		copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v.Valid))), v.Rows), e.Levels)
	} else {
		for i := range v.Valid {
			v.Valid[i] = true
		}
	}
	v.Ints, e.Ints = e.Ints, v.Ints
	v.Doubles, e.Floats = e.Floats, v.Doubles
	v.Strings, e.Texts = e.Texts, v.Strings
}

// addLists makes Valid and Offsets from the levels of the entries.
func (v *ColumnValues) addLists(l *Leaf, r *columnReader) error {
	at, levels := int32(0), r.entries.Levels
	for i, level := range levels {
		if r.rep[i] == 0 {
			v.Valid = append(v.Valid, level > 0 || l.Def == 1)
			v.Offsets = append(v.Offsets, at)
		} else if int(level) != l.Def || int(levels[i-1]) != l.Def {
			return corrupt("list without a beginning")
		}
		if int(level) == l.Def {
			if at++; at < 0 {
				return corrupt("more than %d elements in a row group", math.MaxInt32)
			}
		}
	}
	v.Offsets = append(v.Offsets, at)
	return nil
}

// present appends those of the values, if there are any, whose level says that they are there.
func present[T any](dst, values []T, levels []byte, l *Leaf) []T {
	for i, v := range values {
		if int(levels[i]) == l.Def {
			dst = append(dst, v)
		}
	}
	return dst
}
