package dataset

import (
	"fmt"
	"sort"
)

// A ResultFile is an open result file or part. Its methods may be called
// concurrently, except Close.
type ResultFile struct {
	src   *resultSource
	first []int64 // rows before each group
	leaf  []int   // first leaf of each field
	index map[string]int
}

// OpenResult opens a file that [Encoder.EncodePart], [Join] or [Split] wrote.
// Only its footer is read, and only its footer stays in memory. The error for
// another file, or for a damaged one, is an *[Error]; [ErrCorrupt] is in the
// chain of the latter.
func OpenResult(path string) (*ResultFile, error) {
	src, err := openResultSource(path)
	if err != nil {
		return nil, &Error{File: path, Row: -1, Err: err}
	}
	f := &ResultFile{src: src, index: make(map[string]int)}
	var rows int64
	for i := range src.footer.groups {
		f.first = append(f.first, rows)
		rows += src.footer.groups[i].rows
	}
	for i := range src.footer.leaves {
		l := &src.footer.leaves[i]
		if l.column == len(f.leaf) {
			f.leaf = append(f.leaf, i)
			f.index[src.footer.fields[l.column].Name] = l.column
		}
	}
	return f, nil
}

// Close closes the file.
func (f *ResultFile) Close() error { return f.src.file.Close() }

// Fields returns the columns in file order. The caller must not change them.
func (f *ResultFile) Fields() []Field { return f.src.footer.fields }

// Rows returns the number of rows.
func (f *ResultFile) Rows() int64 { return f.src.footer.rows }

// RowGroups returns the number of row groups.
func (f *ResultFile) RowGroups() int { return len(f.first) }

// GroupRows returns the number of rows of row group k, which may be 0.
func (f *ResultFile) GroupRows(k int) int { return int(f.src.footer.groups[k].rows) }

// Metadata returns the file's key-value pairs. The caller must not change them.
func (f *ResultFile) Metadata() map[string]string { return f.src.footer.metadata }

// Has reports whether there is a column of that name.
func (f *ResultFile) Has(name string) bool {
	_, ok := f.index[name]
	return ok
}

// Locate returns the row group that holds row n of the file, and n's place in
// it. It panics unless 0 <= n < Rows.
func (f *ResultFile) Locate(n int64) (group, row int) {
	if n < 0 || n >= f.Rows() {
		panic(fmt.Sprintf("dataset: row %d of %d", n, f.Rows()))
	}
	group = sort.Search(len(f.first), func(k int) bool { return f.first[k] > n }) - 1
	return group, int(n - f.first[group])
}

// ReadColumn reads the column of that name in row group k into v, replacing
// what was there and reusing its memory. The error is an *[Error].
func (f *ResultFile) ReadColumn(k int, name string, v *ColumnValues) error {
	i, ok := f.index[name]
	if !ok {
		return f.fail(name, fmt.Errorf("no such column"))
	}
	if k < 0 || k >= f.RowGroups() {
		return f.fail(name, fmt.Errorf("row group %d of %d", k, f.RowGroups()))
	}
	if err := f.readColumn(k, i, v); err != nil {
		return f.fail(name, fmt.Errorf("row group %d: %w", k, err))
	}
	return nil
}

func (f *ResultFile) fail(column string, err error) error {
	return &Error{File: f.src.path, Row: -1, Column: column, Err: err}
}

func (f *ResultFile) readColumn(k, field int, v *ColumnValues) error {
	g := &f.src.footer.groups[k]
	v.reset(f.Fields()[field].Kind, int(g.rows))
	leaf := f.leaf[field]
	if err := f.readLeaf(g, leaf, v); err != nil || v.Kind != MapString {
		return err
	}
	// The values of a map lie in the same places as its keys.
	v.Keys, v.Strings = v.Strings, v.Keys[:0]
	v.keyOffsets = append(v.keyOffsets[:0], v.Offsets...)
	v.Offsets, v.Valid = append(v.Offsets[:0], 0), v.Valid[:0]
	if err := f.readLeaf(g, leaf+1, v); err != nil {
		return err
	}
	for i, off := range v.Offsets {
		if off != v.keyOffsets[i] {
			return corrupt("keys and values of row %d differ in number", i-1)
		}
	}
	return nil
}

func (f *ResultFile) readLeaf(g *resultGroup, leaf int, v *ColumnValues) error {
	c := &g.chunks[leaf]
	d := pageDecoder{leaf: &f.src.footer.leaves[leaf], chunk: c, out: v}
	v.chunk = resize(v.chunk, int(c.size))
	if _, err := f.src.file.ReadAt(v.chunk, c.first); err != nil {
		return err
	}
	if err := d.decode(v.chunk); err != nil {
		return err
	}
	if len(v.Valid) != v.Rows {
		return corrupt("%d rows of %d", len(v.Valid), v.Rows)
	}
	return nil
}

// ReadRow reads row n of the file: one cell per field, in file order. It decodes
// the whole row group and is meant for looking at single rows. It panics unless
// 0 <= n < Rows.
func (f *ResultFile) ReadRow(n int64) ([]Cell, error) {
	group, row := f.Locate(n)
	var v ColumnValues
	cells := make([]Cell, len(f.Fields()))
	for i, field := range f.Fields() {
		if err := f.ReadColumn(group, field.Name, &v); err != nil {
			return nil, err
		}
		cells[i] = v.Cell(row)
	}
	return cells, nil
}
