// Package parquet reads Parquet files of any writer and writes the datasets and result
// files of ibid.
//
// [Open] reads footers, a pageReader pages. A [Cursor] yields the entries of one leaf; inputs
// (package dataset) and results ([ResultFile]) are read through it. An [Encoder] writes
// every file: it makes levels, flat and nested ones, from what a [Table] has in its columns.
// Levels, codes and values are decoded by the encodings of parquet-go; footers and page
// headers are structs of it.
//
// # Hostile input
//
// parquet-go sees nothing of a page that has not been checked. A page is decompressed here,
// into exactly what its header claims, its checksum is compared, and the runs of levels and
// codes, the blocks of deltas and the lengths of texts are walked: they must be there, and
// hold no more than the page says. A page has at most mostPageBytes and mostPageValues; the
// pages that are open at one time fit a [Budget]. The library's Thrift decoder makes lists
// as long as they claim to be, so every struct is walked before it is decoded. Errors name
// file, column and row group. A file without checksums may read as other values than were
// written.
//
// parquet-go's own page reader is not used: it reads LZ4_RAW wrongly without an error
// (v0.32.0: all of 100,000 integers), sets memory aside for what a header claims (289 MB for
// a file of 59 kB) and panics on damaged pages.
//
// # What is our own, and why
//
// Tables are encoded here because a run writes many columns of which most values are
// null or equal to the one before: the encoder keeps equal neighbours once, takes bounds
// while numbers come by, and packs doubles by whole values. With parquet-go's writer, 5
// million rows of 13 columns took 226 ns of CPU a row, 70 of them for a slower encoder of
// Snappy. The Thrift of page headers is written by hand because the library cannot leave
// out the statistics of a page.
package parquet

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
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
	ListStruct                   // list<struct>, elements never null; not in results
	columnKinds
)

var columnKindNames = [columnKinds]string{
	"int32", "int64", "double", "bool", "string", "list<int32>", "list<string>", "map<string,string>", "list<struct>",
}

// String returns the name used in messages, such as "list<int32>".
func (k ColumnKind) String() string {
	if k < columnKinds {
		return columnKindNames[k]
	}
	return fmt.Sprintf("ColumnKind(%d)", uint8(k))
}

func (k ColumnKind) isList() bool { return k >= ListInt32 }

// leaves is the number of Parquet columns.
func (k ColumnKind) leaves() int {
	if k == MapString {
		return 2
	}
	return 1
}

// A Field is one column of a table. A column that is not Required may hold nulls.
type Field struct {
	Name     string
	Kind     ColumnKind
	Required bool
	Fields   []Field // of the structs of a ListStruct
}

// A Table holds rows, column by column, until an [Encoder] turns them into a row
// group. A row is made by appending to its columns, once each and in any order, and
// then calling EndRow; a column that is not appended to is null in that row.
//
// Numbers can be appended one by one or, where a row has many, in runs of
// columns. An all-null column takes next to no memory or time, and neither does a
// string equal to the one before it in its column. Strings are kept, not copied:
// their memory must not change until the table is reset. Appending a value of the
// wrong kind, or twice, is a bug of the caller and panics. A Table is not safe for
// concurrent use.
type Table struct {
	fields  []Field
	schema  *schema
	columns []tableColumn
	rows    int
	block   tableBlock
}

// A tableColumn keeps the values that are not null. As long as no null stands
// before a value, end says all about which rows have one; then valid does, up to
// end.
type tableColumn struct {
	kind    ColumnKind
	alike   int // columns of the same kind from this one on
	end     int // row after the last that has a value
	reserve int // rows that the table will have
	sparse  bool
	valid   []uint64
	ints    []int64 // Int32, Int64, Bool, and elements of ListInt32
	doubles []float64
	bounds  columnBounds
	text    stringRuns // String, and elements of ListString
	lengths []int32    // of each list that is not null
	maps    mapSets    // MapString
	structs *Table     // ListStruct: their elements
	filter  bool       // row groups get a Bloom filter
}

// NewTable returns an empty table. It is an error if a name is empty or given
// twice, or a kind unknown.
func NewTable(fields []Field) (*Table, error) {
	names := make(map[string]bool, len(fields))
	for i, f := range fields {
		switch {
		case f.Name == "":
			return nil, fmt.Errorf("result column %d: empty name", i)
		case names[f.Name]:
			return nil, fmt.Errorf("result column %q: name given twice", f.Name)
		case f.Kind >= columnKinds:
			return nil, fmt.Errorf("result column %q: unknown kind %d", f.Name, f.Kind)
		}
		names[f.Name] = true
	}
	t := &Table{
		fields:  slices.Clone(fields),
		schema:  schemaOf(fields),
		columns: make([]tableColumn, len(fields)),
	}
	for i := len(fields) - 1; i >= 0; i-- {
		c := &t.columns[i]
		c.kind, c.alike, c.bounds = fields[i].Kind, 1, noBounds
		if i+1 < len(fields) && fields[i+1].Kind == c.kind {
			c.alike += t.columns[i+1].alike
		}
		if c.kind == ListStruct {
			var err error
			if c.structs, err = NewTable(fields[i].Fields); err != nil {
				return nil, fmt.Errorf("%s: %w", fields[i].Name, err)
			}
		}
	}
	t.block.init(len(fields))
	return t, nil
}

// Reserve says that the table, which is empty, will have about so many rows: a column that
// has more than a few values then takes its memory at once, and not twice by growing.
func (t *Table) Reserve(rows int) {
	for i := range t.columns {
		t.columns[i].reserve = rows
	}
}

// fewValues is how many values a column holds before memory is reserved.
const fewValues = 64

// room returns s with room for n more elements.
func room[T any](s []T, n, reserve int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	if len(s) >= fewValues && reserve >= len(s)+n {
		return slices.Grow(s, reserve-len(s))
	}
	return slices.Grow(s, n)
}

// Fields returns the columns in file order. The caller must not change them.
func (t *Table) Fields() []Field { return t.fields }

// Rows returns the number of finished rows.
func (t *Table) Rows() int { return t.rows }

// Reset empties the table and keeps its memory. A [MapRef] stays valid.
func (t *Table) Reset() {
	t.rows = 0
	t.block.reset()
	for i := range t.columns {
		c := &t.columns[i]
		if c.end == 0 {
			continue
		}
		c.clear()
		if c.structs != nil {
			c.structs.Reset()
		}
	}
}

func (c *tableColumn) clear() {
	c.end, c.sparse, c.bounds = 0, false, noBounds
	c.valid, c.ints, c.doubles, c.lengths = c.valid[:0], c.ints[:0], c.doubles[:0], c.lengths[:0]
	c.text.reset()
	c.maps.reset()
}

// Clear makes column c, which is no list of structs, null in all rows.
func (t *Table) Clear(c int) {
	t.spill()
	t.columns[c].clear()
}

// EndRow finishes the row.
func (t *Table) EndRow() {
	if t.rows%blockRows == blockRows-1 {
		t.spill()
	}
	t.rows++
}

// settle moves all rows into the columns and completes their bitmaps.
func (t *Table) settle() {
	t.spill()
	for i := range t.columns {
		c := &t.columns[i]
		if c.end > t.rows {
			panic(fmt.Sprintf("parquet: row %d of a result table is not ended", t.rows))
		}
		if c.end > 0 {
			c.makeSparse()
		}
		if c.kind == ListStruct {
			c.structs.settle()
			n := c.structs.rows
			for _, l := range c.lengths {
				n -= int(l)
			}
			if n != 0 {
				panic(fmt.Sprintf("parquet: lists of %q hold %d structs more than they say", t.fields[i].Name, n))
			}
		}
	}
}

// bit is 1 if a row, which settle has reached, has a value, and 0 if not.
func (c *tableColumn) bit(row int) byte {
	if w := row >> 6; w < len(c.valid) {
		return byte(c.valid[w] >> (row & 63) & 1)
	}
	return 0
}

// listLengths returns the length of each list that is not null.
func (c *tableColumn) listLengths() []int32 {
	if c.kind == MapString {
		c.lengths = c.lengths[:0]
		for _, row := range c.maps.rows {
			c.lengths = append(c.lengths, int32(len(c.maps.set(row).keys)))
		}
	}
	return c.lengths
}

// mark records that the open row has a value.
func (c *tableColumn) mark(row int) {
	if c.end == row && !c.sparse {
		c.end++
		return
	}
	c.markLater(row)
}

// markLater is mark for a column with nulls.
func (c *tableColumn) markLater(row int) {
	if c.end > row {
		panicTwice(row)
	}
	c.makeSparse()
	c.reach(row)
	c.valid[row>>6] |= 1 << (row & 63)
	c.end = row + 1
}

// makeSparse writes down which rows have a value.
func (c *tableColumn) makeSparse() {
	if c.sparse {
		return
	}
	c.sparse = true
	for range c.end >> 6 {
		c.valid = append(c.valid, ^uint64(0))
	}
	if rest := c.end & 63; rest > 0 {
		c.valid = append(c.valid, 1<<rest-1)
	}
}

// reach makes the bitmap long enough for a row.
func (c *tableColumn) reach(row int) {
	for len(c.valid) <= row>>6 {
		c.valid = append(c.valid, 0)
	}
}

// column returns column c for a value of the kind in the open row.
func (t *Table) column(c int, kind ColumnKind) *tableColumn {
	col := &t.columns[c]
	if col.kind != kind {
		t.wrongKind(c, kind)
	}
	col.mark(t.rows)
	return col
}

func (t *Table) wrongKind(c int, kind ColumnKind) {
	panic(fmt.Sprintf("parquet: result column %q holds %v, not %v", t.fields[c].Name, t.columns[c].kind, kind))
}

// AppendNull says that column c is null in the open row, as it is if nothing is
// said. That a required column is null is an error of [Encoder.EncodePart].
func (t *Table) AppendNull(c int) {
	if t.columns[c].end > t.rows || t.block.has(t.rows, c) {
		panic(fmt.Sprintf("parquet: row %d of result column %q: null beside a value", t.rows, t.fields[c].Name))
	}
}

// AppendInt appends v to an Int32 or Int64 column. It panics if an Int32 column
// cannot hold v.
func (t *Table) AppendInt(c int, v int64) {
	if kind := t.columns[c].kind; kind == Int32 {
		if int64(int32(v)) != v {
			panic(fmt.Sprintf("parquet: %d does not fit result column %q of int32", v, t.fields[c].Name))
		}
	} else if kind != Int64 {
		t.wrongKind(c, Int64)
	}
	t.block.put(t.rows, c, uint64(v))
}

// AppendDouble appends v to a Double column.
func (t *Table) AppendDouble(c int, v float64) {
	if t.columns[c].kind != Double {
		t.wrongKind(c, Double)
	}
	t.block.put(t.rows, c, math.Float64bits(v))
}

// AppendBool appends v to a Bool column.
func (t *Table) AppendBool(c int, v bool) {
	if t.columns[c].kind != Bool {
		t.wrongKind(c, Bool)
	}
	var bit uint64
	if v {
		bit = 1
	}
	t.block.put(t.rows, c, bit)
}

// AppendInts appends a list to a ListInt32 column; nil is the empty list.
func (t *Table) AppendInts(c int, list []int32) {
	col := t.column(c, ListInt32)
	col.lengths = append(col.lengths, int32(len(list)))
	at := len(col.ints)
	for _, v := range list {
		col.ints = append(room(col.ints, 1, col.reserve), int64(v))
	}
	col.boundInts(col.ints[at:])
}

// AppendStructs appends a list of n structs to a ListStruct column. The caller adds them
// as rows of [Table.Structs].
func (t *Table) AppendStructs(c, n int) {
	col := t.column(c, ListStruct)
	col.lengths = append(col.lengths, int32(n))
}

// Structs returns the table of the structs of a ListStruct column, nil for another.
func (t *Table) Structs(c int) *Table { return t.columns[c].structs }

// columnBounds are the least and the greatest number of a column, kept while
// numbers come by so that nobody has to look at them again. Doubles are compared
// by their bits, which are in the order of the numbers unless some are negative,
// -0 or NaN; then mostBits is above that of +Inf.
type columnBounds struct {
	least, most         int64
	leastBits, mostBits uint64
}

var noBounds = columnBounds{least: math.MaxInt64, most: math.MinInt64, leastBits: math.MaxUint64}

// boundInts widens the bounds to integers that the column holds.
func (c *tableColumn) boundInts(added []int64) {
	least, most := c.bounds.least, c.bounds.most
	for _, v := range added {
		least, most = min(least, v), max(most, v)
	}
	c.bounds.least, c.bounds.most = least, most
}

// stringRuns is a sequence of strings in which equal neighbours are kept once,
// as an entry and the number of values up to its end. The strings are not
// copied.
type stringRuns struct {
	entries []string
	upTo    []int32 // values before the end of each entry's run
}

func (r *stringRuns) reset() {
	clear(r.entries)
	r.entries, r.upTo = r.entries[:0], r.upTo[:0]
}

// total is the number of values.
func (r *stringRuns) total() int {
	if n := len(r.upTo); n > 0 {
		return int(r.upTo[n-1])
	}
	return 0
}

// append appends s. Neighbours mostly share their memory when they are equal, so
// that comparing them looks at no byte.
func (r *stringRuns) append(s string) {
	n := len(r.entries)
	if n > 0 {
		last := r.entries[n-1]
		if len(last) == len(s) && (unsafe.StringData(last) == unsafe.StringData(s) || last == s) {
			r.upTo[n-1]++
			return
		}
	}
	r.begin(s)
}

// begin appends s as an entry of its own.
func (r *stringRuns) begin(s string) {
	total := int32(r.total()) + 1
	r.entries = append(r.entries, s)
	r.upTo = append(r.upTo, total)
}

// validText returns s with bytes that are not UTF-8 replaced.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// AppendString appends s to a String column. Bytes that are not UTF-8 become
// U+FFFD, because readers refuse a file with such strings.
func (t *Table) AppendString(c int, s string) {
	t.AppendText(c, validText(s))
}

// AppendText is AppendString for a string that is known to be UTF-8, such as
// those of a [Row].
func (t *Table) AppendText(c int, s string) {
	col := &t.columns[c]
	if col.kind != String {
		t.wrongKind(c, String)
	}
	col.mark(t.rows)
	col.text.append(s)
}

// RepeatText appends s, which is known to be UTF-8, to a String column in the open
// row and in those after it, n in all.
func (t *Table) RepeatText(c int, s string, n int) {
	col := &t.columns[c]
	if col.kind != String {
		t.wrongKind(c, String)
	}
	if n == 0 {
		return
	}
	for i := range n {
		col.mark(t.rows + i)
	}
	col.text.append(s)
	col.text.upTo[len(col.text.upTo)-1] += int32(n - 1)
}

// AppendStrings appends a list to a ListString column; nil is the empty list.
// Strings are treated as by AppendString.
func (t *Table) AppendStrings(c int, list []string) {
	col := t.column(c, ListString)
	col.lengths = append(col.lengths, int32(len(list)))
	for _, s := range list {
		col.text.append(validText(s))
	}
}

// Numbers are the values of a column of numbers or booleans that are not null,
// of a row group or a table.
type Numbers struct {
	Rows    int
	Valid   []uint64  // bit i: row i has a value; rows beyond the end have none
	Ints    []int64   // Int32, Int64, Bool (0 or 1): one per row with a value
	Doubles []float64 // Double
}

// Len is the number of rows that have a value.
func (n *Numbers) Len() int { return len(n.Ints) + len(n.Doubles) }

// Has reports whether row i has a value.
func (n *Numbers) Has(i int) bool {
	return i>>6 < len(n.Valid) && n.Valid[i>>6]>>(i&63)&1 == 1
}

// SameRows reports whether the same rows of n and o have a value.
func (n *Numbers) SameRows(o *Numbers) bool {
	if n.Len() != o.Len() {
		return false
	}
	if n.Len() == n.Rows || n.Len() == 0 {
		return true
	}
	short, long := n.Valid, o.Valid
	if len(short) > len(long) {
		short, long = long, short
	}
	for i, w := range short {
		if w != long[i] {
			return false
		}
	}
	for _, w := range long[len(short):] {
		if w != 0 {
			return false
		}
	}
	return true
}

// Each calls f with every row that has a value, in order, and the place of that
// value.
func (n *Numbers) Each(f func(row, at int)) {
	at := 0
	for i, word := range n.Valid {
		for ; word != 0; word &= word - 1 {
			f(i<<6+bits.TrailingZeros64(word), at)
			at++
		}
	}
}

// Rank is the number of rows before row i that have a value.
func (n *Numbers) Rank(i int) int { return countBits(n.Valid, 0, i) }

// Numbers returns the numbers of column c, which is one of numbers or booleans.
// They share the table's memory and are good until it changes.
func (t *Table) Numbers(c int) Numbers {
	t.settle()
	col := &t.columns[c]
	return Numbers{Rows: t.rows, Valid: col.valid, Ints: col.ints, Doubles: col.doubles}
}

// Texts returns the texts of column c, one of strings or lists of them, in which equal
// neighbours stand once: entry i stands up to the upTo[i]-th value that is not null. They
// are good until the table changes.
func (t *Table) Texts(c int) (entries []string, upTo []int32) {
	t.settle()
	return t.columns[c].text.entries, t.columns[c].text.upTo
}

// Lengths returns the length of each list or map of column c that is not null.
func (t *Table) Lengths(c int) []int32 {
	t.settle()
	return t.columns[c].listLengths()
}

// Maps returns, for each map of column c that is not null, a number that equal maps share,
// and what the maps of a number are.
func (t *Table) Maps(c int) (numbers []int32, of func(number int32) (keys, values []string)) {
	m := &t.columns[c].maps
	return m.rows, func(number int32) (keys, values []string) {
		set := m.set(number)
		return set.keys, set.values
	}
}

// Compact moves the values of v, which must be numbers or booleans, to n and
// leaves v without any.
func (v *ColumnValues) Compact(n *Numbers) {
	n.Rows = v.Rows
	n.Valid = slices.Grow(n.Valid[:0], (v.Rows+63)/64)[:(v.Rows+63)/64]
	clear(n.Valid)
	at, valid := 0, v.Valid
	if !slices.Contains(valid, false) { // values are where they should be
		for i := range n.Valid {
			n.Valid[i] = ^uint64(0)
		}
		if rest := v.Rows & 63; rest > 0 {
			n.Valid[len(n.Valid)-1] = 1<<rest - 1
		}
		at, valid = v.Rows, nil
	}
	for i, ok := range valid {
		if !ok {
			continue
		}
		n.Valid[i>>6] |= 1 << (i & 63)
		if v.Kind == Double {
			v.Doubles[at] = v.Doubles[i]
		} else {
			v.Ints[at] = v.Ints[i]
		}
		at++
	}
	n.Ints, v.Ints = v.Ints[:min(at, len(v.Ints))], n.Ints[:0]
	n.Doubles, v.Doubles = v.Doubles[:min(at, len(v.Doubles))], n.Doubles[:0]
	v.Rows, v.Valid = 0, v.Valid[:0]
}
