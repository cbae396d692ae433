package runs

import (
	"path/filepath"
	"slices"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/metrics"
)

// A Frame is an open table of results. It is read block by block, and of each block only the
// columns that are asked for; several goroutines may read it at once. The whole table may be
// far larger than memory.
type Frame struct {
	file *parquet.ResultFile
}

// OpenFrame opens a table of results. The error of a run that has no such file is
// [fs.ErrNotExist].
func OpenFrame(path string) (*Frame, error) {
	file, err := parquet.OpenResult(path)
	if err != nil {
		return nil, err
	}
	return &Frame{file}, nil
}

// OpenRows opens the rows of the run in dir.
func OpenRows(dir string) (*Frame, error) { return OpenFrame(filepath.Join(dir, RowsFile)) }

// Close closes the file.
func (f *Frame) Close() error { return f.file.Close() }

// Len is the number of rows.
func (f *Frame) Len() int64 { return f.file.Rows() }

// Blocks is the number of blocks. Block k of a table that a run made holds what belongs to
// part k of its rows.
func (f *Frame) Blocks() int { return f.file.RowGroups() }

// Has reports whether there is a column: in the file, or derived from what the file has.
func (f *Frame) Has(name string) bool { return f.stores(name) || f.derives(name) != nil }

// stores reports whether the file has a column of that name, or of maps with that key.
func (f *Frame) stores(name string) bool { return f.file.Has(name) || f.file.Has(keyed[name]) }

// derives is the derived metric of that name, nil if the file does not have what it follows
// from.
func (f *Frame) derives(name string) *metrics.Definition {
	d := derived[name]
	if d == nil || slices.ContainsFunc(d.Columns(), func(column string) bool { return !f.stores(column) }) {
		return nil
	}
	return d
}

// derived are the derived metrics by name.
var derived = func() map[string]*metrics.Definition {
	all := make(map[string]*metrics.Definition)
	for _, d := range metrics.Definitions() {
		if d.Derived {
			all[d.Name] = &d
		}
	}
	return all
}()

// Fields are the columns of the file, which the caller must not change.
func (f *Frame) Fields() []parquet.Field { return f.file.Fields() }

// A Block is a part of the rows of a [Frame] that follow each other. Its columns are good
// until the function that got the block returns; texts stay.
type Block struct {
	Number int   // of the block
	First  int64 // position of its first row in the file

	frame   *Frame
	places  []int // of the rows that columns are read of; nil is all of them
	columns map[string]*blockColumn
	reasons blockReasons
	err     error

	whole *Block // the block that it is a part of, see Of; else nil
	kind  string // KEY=VALUE, of that part
	part  []bool // the citations of that kind are a part of those of the row
}

type blockColumn struct {
	parquet.ColumnValues
	of       int  // the block that it was read from
	numbers  bool // integers are in Doubles, too
	num, den []float64
}

// Block is block k, for who goes from one to the next by himself.
func (f *Frame) Block(k int) *Block {
	b := &Block{frame: f, columns: make(map[string]*blockColumn)}
	for ; b.Number < k; b.Number++ {
		b.First += int64(b.Len())
	}
	return b
}

// Each calls do with each block, in the order of the file. The first error of a column, or
// of do, ends it.
func (f *Frame) Each(do func(b *Block) error) error {
	b := f.Block(0)
	for b.Number = range f.Blocks() {
		err := do(b)
		if b.err != nil {
			return b.err
		}
		if err != nil {
			return err
		}
		b.First += int64(b.Len())
	}
	return nil
}

// Len is the number of rows of the block.
func (b *Block) Len() int { return b.frame.file.GroupRows(b.Number) }

// Err is the error of the first column that could not be read. Such a column, and one that
// there is not, is null in every row.
func (b *Block) Err() error { return b.err }

// Column reads a column of the block, once. The column undefined has every metric without a
// value; the file names those alone whose reason is not the usual one.
func (b *Block) Column(name string) *parquet.ColumnValues { return &b.column(name).ColumnValues }

func (b *Block) column(name string) *blockColumn {
	c := b.columns[name]
	if c == nil {
		c = &blockColumn{of: -1}
		b.columns[name] = c
	}
	if c.of == b.Number {
		return c
	}
	c.of, c.numbers, c.num, c.den = b.Number, false, c.num[:0], c.den[:0]
	d := b.frame.derives(name)
	switch {
	case b.err != nil:
	case b.whole != nil:
		b.readPart(name, &c.ColumnValues)
	case name == "undefined" && b.frame.file.Has("span_null"):
		b.undefined(&c.ColumnValues)
	case b.frame.file.Has(name):
		b.err = b.frame.file.ReadColumn(b.Number, name, b.places, &c.ColumnValues)
	case b.frame.stores(name):
		b.readKey(keyed[name], name, &c.ColumnValues)
	case d != nil:
		b.derive(d, c)
	}
	if none := d == nil && !b.frame.stores(name); b.err != nil || none && c.Rows != b.rows() {
		c.Null(b.rows())
	}
	return c
}

// rows is the number of rows that columns are read of.
func (b *Block) rows() int {
	if b.places != nil {
		return len(b.places)
	}
	return b.Len()
}

// derive computes a derived metric.
func (b *Block) derive(d *metrics.Definition, to *blockColumn) {
	n, names := b.rows(), d.Columns()
	to.Kind, to.Rows = parquet.Double, n
	to.Doubles, to.Valid = slices.Grow(to.Doubles[:0], n)[:n], slices.Grow(to.Valid[:0], n)[:n]
	values := make([][]float64, len(names))
	for k, name := range names {
		var known []bool
		if values[k], known = b.Numbers(name); k == 0 {
			copy(to.Valid, known)
			continue
		}
		for i, ok := range known {
			to.Valid[i] = to.Valid[i] && ok
		}
	}
	if len(d.Den) > 0 {
		num, den := b.pooled(d, to)
		for i := range n {
			if to.Doubles[i], to.Valid[i] = 0, to.Valid[i] && den[i] != 0; to.Valid[i] {
				to.Doubles[i] = num[i] / den[i]
			}
		}
	} else {
		x := make([]float64, len(names))
		for i := range n {
			for k := range names {
				x[k] = values[k][i]
			}
			v, ok := d.Derive(x)
			to.Doubles[i], to.Valid[i] = v, ok && to.Valid[i]
		}
	}
	if d.Withheld() {
		b.reasons.read(b)
		for i := range n {
			to.Valid[i] = to.Valid[i] && b.reasons.rows[i].Judge == ibid.Defined && b.reasons.named(i, d.Name) == ibid.Defined
		}
	}
}

// Texts are the values of a column of strings; "" is null.
func (b *Block) Texts(name string) []string { return b.Column(name).Strings }

// Numbers are the values of a column of numbers, and which of them are known.
func (b *Block) Numbers(name string) (values []float64, known []bool) {
	c := b.column(name)
	if c.Kind == parquet.Double || c.numbers {
		return c.Doubles, c.Valid
	}
	c.numbers, c.Doubles = true, c.Doubles[:0]
	for _, n := range c.Ints {
		c.Doubles = append(c.Doubles, float64(n))
	}
	return c.Doubles, c.Valid
}

// Pooled are what each row adds to the numerator and the denominator of a metric.
func (b *Block) Pooled(d *metrics.Definition) (num, den []float64) {
	return b.pooled(d, b.column(d.Name))
}

func (b *Block) pooled(d *metrics.Definition, c *blockColumn) (num, den []float64) {
	if len(c.num) == 0 {
		c.num, c.den = b.Sum(c.num, d.Num), b.Sum(c.den, d.Den)
	}
	return c.num, c.den
}

// Sum is the sum of multiples of columns of each row, of which a null adds nothing. It takes the
// memory of to.
func (b *Block) Sum(to []float64, terms []metrics.Term) []float64 {
	sum := slices.Grow(to[:0], b.rows())[:b.rows()]
	clear(sum)
	for _, t := range terms {
		values, known := b.Numbers(t.Column)
		var times []float64
		if t.Times != "" {
			times, _ = b.Numbers(t.Times)
		}
		for i, ok := range known {
			switch {
			case !ok:
			case times != nil:
				sum[i] += float64(t.Factor * float64(values[i]*times[i]))
			default:
				sum[i] += float64(t.Factor * values[i])
			}
		}
	}
	return sum
}

// findInts finds the rows whose value in a column of integers, none of them null, is one of
// those, which are in ascending order: their positions, and the value of each. Blocks whose
// bounds leave the values out are not read.
func (f *Frame) findInts(column string, wanted []int64) (at, values []int64, err error) {
	at = []int64{}
	err = f.Each(func(b *Block) error {
		if !f.file.MayHoldInts(b.Number, column, wanted) {
			return nil
		}
		for i, n := range b.Column(column).Ints {
			if _, ok := slices.BinarySearch(wanted, n); ok {
				at, values = append(at, b.First+int64(i)), append(values, n)
			}
		}
		return nil
	})
	return at, values, err
}
