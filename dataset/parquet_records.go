package dataset

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"ibid/dataset/parquet"
)

// ParquetColumns are the names of the columns of a Parquet file, those in lists and structs
// left out.
func ParquetColumns(path string) (names []string, err error) {
	f, err := parquet.Open(path)
	if err != nil {
		return nil, parquet.FileError(path, err)
	}
	defer f.Close()
	for _, n := range f.Root.Children {
		names = append(names, n.Name)
	}
	return names, nil
}

// A parquetRecords reads the rows of a Parquet file, whatever its columns, as JSON Lines: line n
// is row n, counted from 1.
type parquetRecords struct {
	file    *parquet.File
	path    string
	columns []*parquet.Node
	leaves  []*recordLeaf // by their numbers in the file; nil of other columns
	left    int64         // rows to read
	text    []byte        // of the rows that were read
	at      int           // how much of it was given
	err     error
}

// A recordLeaf is what was read of one leaf and not yet written.
type recordLeaf struct {
	cursor parquet.Cursor
	kind   parquet.ValueKind
	bits   int // of a float
	values parquet.Values
	rep    []byte // nil of a leaf that is in no list
	at     int    // entry
}

const (
	recordBatch   = 64      // rows that are decoded at a time
	recordEntries = 1 << 22 // most entries that they have in one leaf
)

// ParquetRecords opens a Parquet file as JSON Lines. Integers and texts are exact, NaN is null,
// and what has no type of JSON, such as a time or bytes, is an object that names its type.
func ParquetRecords(path string) (io.ReadCloser, error) {
	r, err := openRecords(path, func(f *parquet.File) []*parquet.Node { return f.Root.Children })
	if err != nil {
		return nil, parquet.FileError(path, err)
	}
	return r, nil
}

// openRecords opens the chosen ones of a file's columns.
func openRecords(path string, choose func(*parquet.File) []*parquet.Node) (*parquetRecords, error) {
	f, err := parquet.Open(path)
	if err != nil {
		return nil, err
	}
	r := &parquetRecords{file: f, path: path, columns: choose(f), left: f.Rows()}
	budget := new(int64)
	*budget = parquet.MostMemory
	var add func(n *parquet.Node, wanted bool)
	add = func(n *parquet.Node, wanted bool) {
		for _, child := range n.Children {
			add(child, wanted)
		}
		if !n.IsLeaf() {
			return
		}
		if !wanted {
			r.leaves = append(r.leaves, nil)
			return
		}
		l := &recordLeaf{kind: n.Kind, bits: 64}
		if n.TypeName() == "FLOAT" {
			l.bits = 32
		}
		leaf, _ := n.As(n.Kind)
		if n.Kind == parquet.Unreadable {
			leaf, _ = n.As(parquet.Nothing)
		}
		l.cursor.Start(f, 0, f.RowGroups(), leaf, budget)
		r.leaves = append(r.leaves, l)
	}
	for _, n := range f.Root.Children {
		add(n, slices.Contains(r.columns, n))
	}
	return r, nil
}

func (r *parquetRecords) Close() error { return r.file.Close() }

func (r *parquetRecords) Read(p []byte) (int, error) {
	for r.at == len(r.text) {
		if r.err == nil && r.left == 0 {
			r.err = io.EOF
		}
		if r.err == nil {
			if err := r.fill(); err != nil {
				r.err = parquet.FileError(r.path, err)
			}
		}
		if r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.text[r.at:])
	r.at += n
	return n, nil
}

// fill reads the entries of the next rows, and writes these.
func (r *parquetRecords) fill() error {
	n := min(recordBatch, r.left)
	for _, l := range r.leaves {
		if l == nil {
			continue
		}
		l.values.Reset()
		l.rep, l.at = l.rep[:0], 0
		if _, err := l.cursor.ReadRows(int(n), recordEntries, &l.values, &l.rep, nil); err != nil {
			if errors.Is(err, parquet.ErrManyEntries) {
				return errors.New("64 rows have more than four million values in one column")
			}
			return err
		}
	}
	r.left -= n
	r.text, r.at = r.text[:0], 0
	for range n {
		if r.members(r.columns); r.err != nil {
			return r.err
		}
		r.text = append(r.text, '\n')
	}
	return nil
}

// first is the first leaf at or below n.
func (r *parquetRecords) first(n *parquet.Node) *recordLeaf {
	for !n.IsLeaf() {
		if len(n.Children) == 0 {
			return nil
		}
		n = n.Children[0]
	}
	return r.leaves[n.Leaf]
}

// level is the definition level of the next entry below n, -1 if there is none.
func (r *parquetRecords) level(n *parquet.Node) int {
	if l := r.first(n); l != nil && l.at < len(l.values.Levels) {
		return int(l.values.Levels[l.at])
	}
	return -1
}

// skip passes over one entry of each leaf at or below n: together they say that something is
// absent.
func (r *parquetRecords) skip(n *parquet.Node) {
	if n.IsLeaf() {
		r.leaves[n.Leaf].at++
	}
	for _, child := range n.Children {
		r.skip(child)
	}
}

// value writes what the next entries say of n, which may be a list.
func (r *parquetRecords) value(n *parquet.Node) {
	anything := func(string) bool { return false }
	switch list, ok := n.List(anything); {
	case !n.Repeated && r.level(n) < n.Def:
		r.text = append(r.text, "null"...)
		r.skip(n)
	case ok:
		r.list(list)
	default:
		r.present(n)
	}
}

// list writes a list. Of a map with texts as keys it writes an object.
func (r *parquetRecords) list(list parquet.ListShape) {
	repeated, element := list.Repeated, list.Element
	isMap := repeated == element && len(repeated.Children) == 2 && repeated.Children[0].Name == "key" && repeated.Children[0].Kind == parquet.Text
	begin, end := byte('['), byte(']')
	if isMap {
		begin, end = '{', '}'
	}
	r.text = append(r.text, begin)
	if r.level(repeated) < repeated.Def {
		r.skip(repeated)
		r.text = append(r.text, end)
		return
	}
	l := r.first(repeated)
	for more := true; more && r.err == nil; {
		switch before := l.at; {
		case isMap:
			r.present(repeated.Children[0])
			r.text = append(r.text, ':')
			r.value(repeated.Children[1])
		case element == repeated:
			r.present(element)
		default:
			r.value(element)
			if l.at == before {
				r.err = errors.New("the levels of a list do not fit each other")
			}
		}
		if more = l.at < len(l.rep) && int(l.rep[l.at]) >= repeated.Rep; more {
			r.text = append(r.text, ',')
		}
	}
	r.text = append(r.text, end)
}

// members writes a struct.
func (r *parquetRecords) members(of []*parquet.Node) {
	r.text = append(r.text, '{')
	for i, child := range of {
		if i > 0 {
			r.text = append(r.text, ',')
		}
		r.text = append(appendQuoted(r.text, child.Name), ':')
		r.value(child)
	}
	r.text = append(r.text, '}')
}

// present writes a value that is there.
func (r *parquetRecords) present(n *parquet.Node) {
	if !n.IsLeaf() {
		r.members(n.Children)
		return
	}
	l := r.leaves[n.Leaf]
	if l.at >= len(l.values.Levels) {
		r.err = errors.New("the levels of a list do not fit each other")
		return
	}
	switch i := l.at; l.kind {
	case parquet.Text:
		r.text = appendQuoted(r.text, l.values.Texts[i])
	case parquet.Integer:
		if n.Unsigned {
			r.text = strconv.AppendUint(r.text, uint64(l.values.Ints[i]), 10)
		} else {
			r.text = strconv.AppendInt(r.text, l.values.Ints[i], 10)
		}
	case parquet.Float:
		switch x := l.values.Floats[i]; {
		case math.IsNaN(x):
			r.text = append(r.text, "null"...)
		case math.IsInf(x, 0):
			r.text = append(r.text, "1e999"...) // which whoever reads it refuses
		default:
			r.text = strconv.AppendFloat(r.text, x, 'g', -1, l.bits)
		}
	case parquet.Flag:
		r.text = strconv.AppendBool(r.text, l.values.Ints[i] != 0)
	case parquet.Nothing:
		r.text = append(r.text, "null"...)
	default:
		r.text = append(appendQuoted(append(r.text, `{"type of Parquet":`...), n.TypeName()), '}')
	}
	l.at++
}

// appendQuoted appends a text as a string of JSON. What is not UTF-8 stays: the reader of JSON
// says so.
func appendQuoted(to []byte, text string) []byte {
	const hex = "0123456789abcdef"
	to = append(slices.Grow(to, len(text)+2), '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			to = append(to, '\\', c)
		case c < ' ':
			to = append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			to = append(to, c)
		}
	}
	return append(to, '"')
}
