package parquet

import (
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

const (
	pageBytes  = 1 << 20 // of values, after which a page ends with its run of rows
	runRows    = 128     // rows that are given to the library at once
	runCells   = 1 << 14 // and their cells, unless one row has more
	runBytes   = 1 << 19 // and bytes of their texts
	flushBytes = 1 << 18 // written at once
)

// A cell is a parquet.Value as it lies in memory. Three stores of words make it: those of
// Value.Level are of bytes, and the processor waits for them when the value is copied. The
// zero cell is a null outside of lists.
type cell struct {
	text *byte
	bits uint64 // of a number; of a text its length
	rest uint64 // kind, definition level and repetition level, one byte each
}

// kindOf is the kind of a value in a cell.
func kindOf(kind parquet.Kind) uint64 { return uint64(^uint8(kind)) }

// valuesOf are the cells as the library sees them.
func valuesOf(cells []cell) []parquet.Value {
	return unsafe.Slice((*parquet.Value)(unsafe.Pointer(unsafe.SliceData(cells))), len(cells))
}

// A version of the library with another layout must not write anything.
func init() {
	text, integer, double := "text", int64(math.MinInt64+7), -0.5
	cells := []cell{
		{},
		{bits: 1, rest: kindOf(parquet.Boolean)},
		{bits: uint64(integer >> 40), rest: kindOf(parquet.Int32)},
		{bits: uint64(integer), rest: kindOf(parquet.Int64)},
		{bits: math.Float64bits(double), rest: kindOf(parquet.Double)},
		{unsafe.StringData(text), uint64(len(text)), kindOf(parquet.ByteArray)},
	}
	same := unsafe.Sizeof(cell{}) == unsafe.Sizeof(parquet.Value{})
	for i, want := range []parquet.Value{
		parquet.NullValue(), parquet.BooleanValue(true), parquet.Int32Value(int32(integer >> 40)),
		parquet.Int64Value(integer), parquet.DoubleValue(double), parquet.ByteArrayValue([]byte(text)),
	} {
		cells[i].rest |= 3<<8 | 2<<16
		got := valuesOf(cells)[i]
		same = same && parquet.Equal(got, want) && got.DefinitionLevel() == 3 && got.RepetitionLevel() == 2
	}
	if !same {
		panic("parquet: values of this version of parquet-go have another layout")
	}
}

// fastSnappy compresses with the fast encoder of s2.
type fastSnappy struct{ snappy.Codec }

func (*fastSnappy) Encode(dst, src []byte) ([]byte, error) { return s2.EncodeSnappy(dst, src), nil }

// A structNode has its fields in the order given: parquet.Group sorts them by name.
type structNode struct {
	parquet.Group
	fields []parquet.Field
}

func (n structNode) Fields() []parquet.Field { return n.fields }

// A namedNode is a field of a structNode.
type namedNode struct {
	parquet.Node
	name string
}

func (n namedNode) Name() string                         { return n.name }
func (namedNode) Value(base reflect.Value) reflect.Value { panic("parquet: no rows of Go values") }

// A variedText is the type of texts without bounds. The page index has bounds of every
// column, and the library would write "" where there are none: readers would pass over
// pages that have what they look for.
type variedText struct{ parquet.Type }

func (t variedText) NewColumnIndexer(limit int) parquet.ColumnIndexer {
	return anyText{t.Type.NewColumnIndexer(limit)}
}

type anyText struct{ parquet.ColumnIndexer }

var leastText, mostText = parquet.ByteArrayValue(nil), parquet.ByteArrayValue([]byte(strings.Repeat("\U0010FFFF", 4)))

func (x anyText) IndexPage(values, nulls int64, _, _ parquet.Value) {
	x.ColumnIndexer.IndexPage(values, nulls, leastText, mostText)
}

// hasBounds reports whether pages have bounds of a field: numbers, texts in a dictionary,
// which are short, and ids, by which rows are found.
func (f *Field) hasBounds() bool { return f.dictionary() || f.Name == "id" || f.leafKind() != String }

// dictionary reports whether the values of a field are written as a dictionary.
func (f *Field) dictionary() bool { return f.Kind == MapString || f.Few && f.leafKind() == String }

// leafKind is the kind of the values of a field that is no list of structs.
func (f *Field) leafKind() ColumnKind {
	switch f.Kind {
	case ListInt32:
		return Int32
	case ListString, MapString:
		return String
	}
	return f.Kind
}

// structOf is a struct of the fields. Counts and positions are written as differences,
// doubles plainly.
func structOf(fields []Field) parquet.Node {
	n := structNode{Group: parquet.Group{}}
	for i := range fields {
		f := &fields[i]
		var leaf, node parquet.Node
		switch f.leafKind() {
		case Int32:
			leaf = parquet.Encoded(parquet.Leaf(parquet.Int32Type), &parquet.DeltaBinaryPacked)
		case Int64:
			leaf = parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.DeltaBinaryPacked)
		case Double:
			leaf = parquet.Leaf(parquet.DoubleType)
		case Bool:
			leaf = parquet.Leaf(parquet.BooleanType)
		case ListStruct:
			leaf = structOf(f.Fields)
		default:
			if leaf = parquet.String(); f.dictionary() {
				leaf = parquet.Encoded(leaf, &parquet.RLEDictionary)
			} else if !f.hasBounds() {
				leaf = parquet.Leaf(variedText{leaf.Type()})
			}
		}
		switch node = leaf; f.Kind {
		case ListInt32, ListString, ListStruct:
			node = parquet.List(leaf)
		case MapString:
			node = parquet.Map(leaf, leaf)
		}
		if !f.Required {
			node = parquet.Optional(node)
		}
		n.fields = append(n.fields, namedNode{node, f.Name})
	}
	return n
}

// withoutBounds are the paths of the leaves below path that have none.
func withoutBounds(fields []Field, path ...string) (paths [][]string) {
	for i := range fields {
		f := &fields[i]
		at := append(slices.Clip(path), f.Name)
		if f.Kind.isList() && f.Kind != MapString {
			at = append(at, "list", "element")
		}
		if f.Kind == ListStruct {
			paths = append(paths, withoutBounds(f.Fields, at...)...)
		} else if !f.hasBounds() {
			paths = append(paths, at)
		}
	}
	return paths
}

// An Encoder turns tables into Parquet files, each into a row group. It keeps its
// memory from file to file; the zero value is ready. It is not safe for concurrent use.
type Encoder struct {
	out    output
	fields []Field                     // of the file
	writer *parquet.GenericWriter[any] // nil before the first group of a file
	groups int
	empty  []string // numbers of the groups without rows, which the library leaves out

	cells  []cell
	levels [4]levels // of the rows of a table, then of what is inside them
}

// EncodePart writes t as one complete Parquet file with a single row group,
// which has no rows if t has none. The bytes depend on nothing but the fields
// and the values of t. It is an error if a required column has a null or one
// row of a column does not fit a page of 2 GiB.
func (e *Encoder) EncodePart(w io.Writer, t *Table) error {
	e.Begin(w)
	if err := e.Group(t); err != nil {
		return err
	}
	return e.End(t, nil)
}

// Begin starts a file. Until [Encoder.End] has returned without an error, w holds part
// of a file.
func (e *Encoder) Begin(w io.Writer) {
	e.out = output{w: w, buf: e.out.buf[:0]}
	e.groups, e.empty = 0, nil
	e.writer = nil // its Reset loses the paths of columns (v0.32.0)
}

// start makes a writer for the fields, unless there is one.
func (e *Encoder) start(fields []Field) {
	if e.writer != nil {
		return
	}
	config := &parquet.WriterConfig{
		CreatedBy: createdBy, Schema: parquet.NewSchema("schema", structOf(fields)), Compression: new(fastSnappy),
		DataPageVersion: 1, PageBufferSize: pageBytes, SkipPageBounds: withoutBounds(fields),
	}
	e.fields, e.writer = fields, parquet.NewGenericWriter[any](&e.out, config, parquet.WriteBufferSize(0))
}

// Group writes t as the next row group. Its errors are those of EncodePart.
func (e *Encoder) Group(t *Table) error {
	t.settle()
	e.start(t.fields)
	if e.nextGroup(int64(t.rows)); t.rows == 0 {
		return nil
	}
	rows := &e.levels[0]
	rows.def = slices.Grow(rows.def[:0], t.rows)[:t.rows] // nobody writes to them
	rows.rep = rows.def
	if _, err := e.columns(e.writer.ColumnWriters(), t, 0); err != nil {
		return err
	}
	return e.writer.Flush()
}

// nextGroup counts a group.
func (e *Encoder) nextGroup(rows int64) {
	if rows == 0 {
		e.empty = append(e.empty, strconv.Itoa(e.groups))
	}
	e.groups++
}

// End completes the file, of which all groups have the columns of t.
func (e *Encoder) End(t *Table, metadata map[string]string) error {
	e.start(t.fields)
	return e.end(metadata)
}

func (e *Encoder) end(metadata map[string]string) error {
	w := e.writer
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		w.SetKeyValueMetadata(key, metadata[key])
	}
	if len(e.empty) > 0 {
		w.SetKeyValueMetadata(emptyKey, strings.Join(e.empty, ","))
	}
	w.SetKeyValueMetadata(fileKey, noSum)
	w.SetKeyValueMetadata(footerKey, noSum)
	e.out.tail = true
	if err := w.Close(); err != nil {
		return err
	}
	return e.out.seal()
}

// columns writes the columns of t, whose rows are the entries at that depth that are
// there, and returns the writers of further columns.
func (e *Encoder) columns(writers []*parquet.ColumnWriter, t *Table, depth int) (rest []*parquet.ColumnWriter, err error) {
	up, l := &e.levels[depth], &e.levels[depth+1]
	for i := range t.columns {
		c, f := &t.columns[i], &t.fields[i]
		if f.Required {
			have := 0
			for _, word := range c.valid {
				have += bits.OnesCount64(word)
			}
			if have != t.rows {
				return nil, fmt.Errorf("result column %q: %d of %d rows are null, but it is required", f.Name, t.rows-have, t.rows)
			}
		}
		if depth == 0 && (c.kind < String || c.kind == String && c.end == 0) {
			err = e.numbers(writers[0], c, t.rows, f.Required)
			if writers = writers[1:]; err != nil {
				return nil, fmt.Errorf("result column %q: %w", f.Name, err)
			}
			continue
		}
		l.expand(up, c, f.Required)
		if c.kind == ListStruct {
			if writers, err = e.columns(writers, c.structs, depth+1); err != nil {
				return nil, err
			}
			continue
		}
		err = e.leaf(writers[0], l, c, false)
		if writers = writers[1:]; err == nil && c.kind == MapString {
			err = e.leaf(writers[0], l, c, true)
			writers = writers[1:]
		}
		if err != nil {
			return nil, fmt.Errorf("result column %q: %w", f.Name, err)
		}
	}
	return writers, nil
}

// numbers is leaf for one number or null in each row, as most columns have: no levels are
// made, and no cell gets a pointer.
func (e *Encoder) numbers(w *parquet.ColumnWriter, c *tableColumn, rows int, required bool) error {
	numbers, there := words(c.ints), kindOf(parquet.Int64)
	switch c.kind {
	case Int32:
		there = kindOf(parquet.Int32)
	case Bool:
		there = kindOf(parquet.Boolean)
	case Double:
		numbers, there = words(c.doubles), kindOf(parquet.Double)
	}
	if !required {
		there |= 1 << 8
	}
	cells := slices.Grow(e.cells[:0], runRows)[:runRows]
	clear(cells)
	for from := 0; from < rows; from += runRows {
		run := cells[:min(runRows, rows-from)]
		for i := range run {
			if c.end == 0 {
				break // all are null
			}
			if run[i].rest = 0; required || c.has(from+i) {
				run[i].bits, run[i].rest = numbers[0], there
				numbers = numbers[1:]
			}
		}
		if _, err := w.WriteRowValues(valuesOf(run)); err != nil {
			return err
		}
	}
	e.cells = cells[:0]
	return nil
}

// words are the bits of numbers, in their memory.
func words[T int64 | float64](numbers []T) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers))
}

// leaf writes the values of a column, of a map either its keys or its values.
func (e *Encoder) leaf(w *parquet.ColumnWriter, l *levels, c *tableColumn, mapValues bool) error {
	numbers, kind := words(c.ints), kindOf(parquet.Int64)
	var text func() string
	switch c.kind {
	case Int32, ListInt32:
		kind = kindOf(parquet.Int32)
	case Bool:
		kind = kindOf(parquet.Boolean)
	case Double:
		numbers, kind = words(c.doubles), kindOf(parquet.Double)
	case String, ListString:
		kind, text = kindOf(parquet.ByteArray), oneByOne(c.texts)
	case MapString:
		kind, text = kindOf(parquet.ByteArray), c.mapTexts(mapValues)
	}
	cells, rows, size := e.cells[:0], 0, 0
	for i, def := range l.def {
		rep := l.rep[i]
		if rep == 0 {
			if rows == runRows || len(cells) >= runCells || size >= runBytes {
				if _, err := w.WriteRowValues(valuesOf(cells)); err != nil {
					return err
				}
				cells, rows, size = cells[:0], 0, 0
			}
			rows++
		}
		x := cell{rest: uint64(def)<<8 | uint64(rep)<<16}
		if def == l.maxDef {
			if x.rest |= kind; text == nil {
				x.bits, numbers = numbers[0], numbers[1:]
			} else {
				s := text()
				x.text, x.bits = unsafe.StringData(s), uint64(len(s))
				size += len(s)
			}
		}
		cells = append(cells, x)
	}
	_, err := w.WriteRowValues(valuesOf(cells))
	if e.cells = cells; text != nil {
		clear(cells[:cap(cells)]) // holds no text
	}
	return err
}

// oneByOne returns a function that returns one text after the other.
func oneByOne(texts []string) func() string {
	return func() (s string) {
		s, texts = texts[0], texts[1:]
		return s
	}
}

// mapTexts is oneByOne of the keys or the values of all maps.
func (c *tableColumn) mapTexts(values bool) func() string {
	maps, left := c.maps, []string(nil)
	return func() (s string) {
		for len(left) == 0 {
			if left = c.sets[maps[0]].keys; values {
				left = c.sets[maps[0]].values
			}
			maps = maps[1:]
		}
		s, left = left[0], left[1:]
		return s
	}
}

// levels are the repetition and definition levels of entries, as Parquet has them: of
// the rows of a table, or of what a column has inside them.
//
// Source: Melnik et al., Dremel: Interactive Analysis of Web-Scale Datasets, VLDB
// 2010, section 4.1.
type levels struct {
	rep, def       []byte
	maxRep, maxDef byte // def is maxDef for an entry that is there
}

// expand makes the levels of what column c has inside the entries of up: a value, or
// the elements of a list. A null list and an empty one have one entry that is not there.
func (l *levels) expand(up *levels, c *tableColumn, required bool) {
	l.rep, l.def, l.maxRep, l.maxDef = l.rep[:0], l.def[:0], up.maxRep, up.maxDef
	if !required {
		l.maxDef++
	}
	var lengths []int32
	if c.kind.isList() {
		l.maxRep++
		l.maxDef++
		lengths = c.listLengths()
	}
	row := 0
	for i, def := range up.def {
		n := 1 // entries
		if def == up.maxDef {
			switch there := required || c.has(row); {
			case !there:
			case !c.kind.isList():
				def = l.maxDef
			default:
				if n, lengths = int(lengths[0]), lengths[1:]; n > 0 {
					def = l.maxDef
				} else {
					n, def = 1, l.maxDef-1
				}
			}
			row++
		}
		l.rep, l.def = append(l.rep, up.rep[i]), append(l.def, def)
		for range n - 1 {
			l.rep, l.def = append(l.rep, l.maxRep), append(l.def, def)
		}
	}
}
