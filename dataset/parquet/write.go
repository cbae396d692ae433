package parquet

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/encoding"
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
	for i, want := range []any{nil, true, int32(integer >> 40), integer, double, text} {
		cells[i].rest |= 3<<8 | 2<<16
		got := valuesOf(cells)[i]
		if unsafe.Sizeof(cells[i]) != unsafe.Sizeof(got) || !parquet.Equal(got, parquet.ValueOf(want)) || got.DefinitionLevel() != 3 || got.RepetitionLevel() != 2 {
			panic("parquet: values of this version of parquet-go have another layout")
		}
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

// An unboundedType is the type of a column without bounds. The page index has bounds of
// every column, and the library would write 0 or "" where there are none: readers would pass
// over pages that have what they look for.
type unboundedType struct{ parquet.Type }

func (t unboundedType) NewColumnIndexer(limit int) parquet.ColumnIndexer {
	return unboundedIndexer{t.Type.NewColumnIndexer(limit), widest[t.Kind()]}
}

type unboundedIndexer struct {
	parquet.ColumnIndexer
	bounds [2]parquet.Value
}

func (x unboundedIndexer) IndexPage(values, nulls int64, _, _ parquet.Value) {
	x.ColumnIndexer.IndexPage(values, nulls, x.bounds[0], x.bounds[1])
}

// widest are the bounds that every value of a kind lies in.
var widest = map[parquet.Kind][2]parquet.Value{
	parquet.Boolean:   {parquet.BooleanValue(false), parquet.BooleanValue(true)},
	parquet.Int32:     {parquet.Int32Value(math.MinInt32), parquet.Int32Value(math.MaxInt32)},
	parquet.Int64:     {parquet.Int64Value(math.MinInt64), parquet.Int64Value(math.MaxInt64)},
	parquet.Double:    {parquet.DoubleValue(math.Inf(-1)), parquet.DoubleValue(math.Inf(1))},
	parquet.ByteArray: {parquet.ByteArrayValue(nil), parquet.ByteArrayValue([]byte(strings.Repeat("\U0010FFFF", 4)))},
}

// hasBounds reports whether pages have bounds of the values of a column, which rows are found
// by. The library always has them of a dictionary.
func (f *Field) hasBounds() bool {
	return f.Name == "id" || f.Name == "row" || f.encoding() == &parquet.RLEDictionary
}

// encoding is how the values of a field are written: counts and positions as differences,
// texts of which few differ as a dictionary, others and doubles plainly.
func (f *Field) encoding() encoding.Encoding {
	switch kind := kindsOf[f.Kind].leaf; {
	case kind == Int32 || kind == Int64:
		return &parquet.DeltaBinaryPacked
	case f.Kind == MapString || kind == String && f.Few:
		return &parquet.RLEDictionary
	}
	return &parquet.Plain
}

// structOf is a struct of the fields.
func structOf(fields []Field) parquet.Node {
	n := structNode{Group: parquet.Group{}}
	for i := range fields {
		f := &fields[i]
		var node parquet.Node
		if f.Kind == ListStruct {
			node = structOf(f.Fields)
		} else {
			typ := leafTypes[kindsOf[f.Kind].leaf]
			if !f.hasBounds() {
				typ = unboundedType{typ}
			}
			node = parquet.Encoded(parquet.Leaf(typ), f.encoding())
		}
		if f.Zstd {
			node = parquet.Compressed(node, &parquet.Zstd)
		}
		switch f.Kind {
		case ListInt32, ListString, ListStruct:
			node = parquet.List(node)
		case MapString, MapInt64, MapDouble:
			node = parquet.Map(parquet.Encoded(parquet.String(), &parquet.RLEDictionary), node)
		}
		if !f.Required {
			node = parquet.Optional(node)
		}
		n.fields = append(n.fields, namedNode{node, f.Name})
	}
	return n
}

// An Encoder turns tables into Parquet files, each into a row group. It keeps its
// memory from file to file; the zero value is ready. It is not safe for concurrent use.
type Encoder struct {
	out    output
	fields []Field // of the file
	writer *parquet.GenericWriter[any]
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
	e.Begin(w, t.fields)
	if err := e.Group(t); err != nil {
		return err
	}
	return e.End(nil)
}

// Begin starts a file with those columns. Until [Encoder.End] has returned without an error,
// w holds part of a file.
func (e *Encoder) Begin(w io.Writer, fields []Field) {
	e.out = output{w: w, buf: e.out.buf[:0]}
	e.fields, e.groups, e.empty = fields, 0, nil
	config := &parquet.WriterConfig{
		CreatedBy: createdBy, Schema: parquet.NewSchema("schema", structOf(fields)), Compression: new(fastSnappy), DataPageVersion: 1, PageBufferSize: pageBytes,
	}
	for _, path := range config.Schema.Columns() {
		leaf, _ := config.Schema.Lookup(path...)
		if _, unbounded := leaf.Node.Type().(unboundedType); unbounded {
			config.SkipPageBounds = append(config.SkipPageBounds, path)
		}
	}
	// A new one each time: Reset of the library's writer loses the paths of columns (v0.32.0).
	e.writer = parquet.NewGenericWriter[any](&e.out, config, parquet.WriteBufferSize(0), parquet.DataPageStatistics(false))
}

// Group writes t, which has the columns of the file, as the next row group. Its errors are
// those of EncodePart.
func (e *Encoder) Group(t *Table) error {
	t.settle()
	if e.nextGroup(t.rows); t.rows == 0 {
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
func (e *Encoder) nextGroup(rows int) {
	if rows == 0 {
		e.empty = append(e.empty, strconv.Itoa(e.groups))
	}
	e.groups++
}

// End completes the file.
func (e *Encoder) End(metadata map[string]string) error {
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
		if f.Required && (len(c.Valid) < t.rows || slices.Contains(c.Valid, false)) {
			return nil, fmt.Errorf("result column %q: null, but it is required", f.Name)
		}
		switch {
		case depth == 0 && (c.Kind < String || c.Kind == String && c.Rows == 0):
			err = e.scalars(writers[0], &c.ColumnValues, t.rows, f.Required)
			writers = writers[1:]
		case c.Kind == ListStruct:
			l.expand(up, c, t.rows, f.Required)
			writers, err = e.columns(writers, c.Structs, depth+1)
		default:
			l.expand(up, c, t.rows, f.Required)
			if c.Kind.IsMap() {
				err = e.leaf(writers[0], l, &c.ColumnValues, c.Keys)
				writers = writers[1:]
			}
			err = errors.Join(err, e.leaf(writers[0], l, &c.ColumnValues, c.Strings))
			writers = writers[1:]
		}
		if err != nil {
			return nil, fmt.Errorf("result column %q: %w", f.Name, err)
		}
	}
	return writers, nil
}

// numbers are the bits of the numbers of a column, in their memory, and the kind of its values
// in cells.
func (v *ColumnValues) numbers() (numbers []uint64, kind uint64) {
	first, n, leaf := unsafe.Pointer(unsafe.SliceData(v.Ints)), len(v.Ints), kindsOf[v.Kind].leaf
	if leaf == Double {
		first, n = unsafe.Pointer(unsafe.SliceData(v.Doubles)), len(v.Doubles)
	}
	return unsafe.Slice((*uint64)(first), n), kindOf(leafTypes[leaf].Kind())
}

// scalars is leaf for one number or null in each row, as most columns have: no levels are
// made, and no cell gets a pointer.
func (e *Encoder) scalars(w *parquet.ColumnWriter, v *ColumnValues, rows int, required bool) error {
	numbers, there := v.numbers()
	if !required {
		there |= 1 << 8
	}
	cells := slices.Grow(e.cells[:0], runRows)[:runRows]
	clear(cells)
	for from := 0; from < rows; from += runRows {
		run := cells[:min(runRows, rows-from)]
		valid := v.Valid[min(from, v.Rows):min(from+runRows, v.Rows)]
		for i, ok := range valid {
			if run[i].rest = 0; ok {
				run[i].bits, run[i].rest = numbers[from+i], there
			}
		}
		clear(run[len(valid):])
		if _, err := w.WriteRowValues(valuesOf(run)); err != nil {
			return err
		}
	}
	e.cells = cells[:0]
	return nil
}

// leaf writes the values of a column, which are those texts if they are texts.
func (e *Encoder) leaf(w *parquet.ColumnWriter, l *levels, v *ColumnValues, texts []string) error {
	cells, rows, size, at := e.cells[:0], 0, 0, 0 // at is the place of the next value
	numbers, kind := v.numbers()
	text := len(texts) > 0 // also the keys of numbers
	if text {
		kind = kindOf(parquet.ByteArray)
	}
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
		switch {
		case def != l.maxDef:
		case text:
			x.text, x.bits, x.rest = unsafe.StringData(texts[at]), uint64(len(texts[at])), x.rest|kind
			size += len(texts[at])
		default:
			x.bits, x.rest = numbers[at], x.rest|kind
		}
		if def >= l.stored {
			at++
		}
		cells = append(cells, x)
	}
	_, err := w.WriteRowValues(valuesOf(cells))
	if e.cells = cells; text {
		clear(cells[:cap(cells)]) // holds no text
	}
	return err
}

// levels are the repetition and definition levels of entries, as Parquet has them: of
// the rows of a table, or of what a column has inside them.
//
// Source: Melnik et al., Dremel: Interactive Analysis of Web-Scale Datasets, VLDB
// 2010, section 4.1.
type levels struct {
	rep, def       []byte
	maxRep, maxDef byte // def is maxDef for an entry that is there
	stored         byte // the least def of an entry that has a place among the values
}

// expand makes the levels of what column c has inside the entries of up: a value, or
// the elements of a list. A null list and an empty one have one entry that is not there.
func (l *levels) expand(up *levels, c *Column, rows int, required bool) {
	c.extend(rows)
	l.rep, l.def, l.maxRep, l.maxDef, l.stored = l.rep[:0], l.def[:0], up.maxRep, up.maxDef, up.maxDef
	if !required {
		l.maxDef++
	}
	list := c.Kind.isList()
	if list {
		l.maxRep++
		l.maxDef++
		l.stored = l.maxDef
	}
	row := 0
	for i, def := range up.def {
		n := 1 // entries
		if def == up.maxDef {
			switch {
			case !c.Valid[row]:
			case !list:
				def = l.maxDef
			default:
				if n, def = int(c.Offsets[row+1]-c.Offsets[row]), l.maxDef; n == 0 {
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
