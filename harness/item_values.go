package harness

import (
	"math"
	"slices"

	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// itemValues are the values of one item over the rows of a part where it is
// defined.
type itemValues struct {
	defined *parquet.Numbers // the values, and which rows they are of
	micro   bool             // there are a numerator and a denominator
	num     amounts
	den     amounts
}

// amounts are one number per row: counts where they can be, else sums.
type amounts struct {
	counts []int64
	sums   []float64
	whole  bool // in counts

	ownCounts []int64 // memory of counts that are not a column themselves
	ownSums   []float64
}

func (a *amounts) at(i int) float64 {
	if a.whole {
		return float64(a.counts[i])
	}
	return a.sums[i]
}

func (a *amounts) slice(from, to int) amounts {
	if a.whole {
		return amounts{whole: true, counts: a.counts[from:to]}
	}
	return amounts{sums: a.sums[from:to]}
}

// value is the item's value in the at-th row where it is defined.
func (v *itemValues) value(at int) float64 {
	if len(v.defined.Doubles) > 0 {
		return v.defined.Doubles[at]
	}
	return float64(v.defined.Ints[at])
}

// places says of each row where its value is, -1 if it has none; nil if all rows have one.
// It may use the memory of reuse.
func (v *itemValues) places(reuse []int32) []int32 {
	if v.defined.Len() == v.defined.Rows {
		return nil
	}
	out := slices.Grow(reuse[:0], v.defined.Rows)[:v.defined.Rows]
	for row := range out {
		out[row] = -1
	}
	v.defined.Each(func(row, at int) { out[row] = int32(at) })
	return out
}

// read reads one item. The values are good until the next call, or until src
// changes.
func (v *itemValues) read(src numberSource, it *item) error {
	var err error
	if v.defined, err = src.numbers(it.value); err != nil {
		return err
	}
	if v.micro = it.micro(); !v.micro || v.defined.Len() == 0 {
		v.num.none(it.numCounts)
		v.den.none(it.denCounts)
		return nil
	}
	if err := v.num.read(src, it.num, it.numCounts, v.defined); err != nil {
		return err
	}
	return v.den.read(src, it.den, it.denCounts, v.defined)
}

func (a *amounts) none(whole bool) {
	a.whole, a.counts, a.sums = whole, nil, nil
}

// read adds up terms for the rows where the item is defined; a null adds
// nothing.
func (a *amounts) read(src numberSource, terms []term, whole bool, defined *parquet.Numbers) error {
	a.none(whole)
	if len(terms) == 1 && terms[0].factor == 1 {
		c, err := src.numbers(terms[0].column)
		if err != nil {
			return err
		}
		if c.SameRows(defined) && whole == (len(c.Ints) > 0) {
			a.counts, a.sums = c.Ints, c.Doubles
			return nil
		}
	}
	if whole {
		a.ownCounts = zeros(a.ownCounts, defined.Len())
		a.counts = a.ownCounts
	} else {
		a.ownSums = zeros(a.ownSums, defined.Len())
		a.sums = a.ownSums
	}
	for _, t := range terms {
		c, err := src.numbers(t.column)
		if err != nil {
			return err
		}
		switch {
		case whole:
			addTerm(a.counts, c, c.Ints, int64(t.factor), defined)
		case len(c.Ints) > 0:
			addTerm(a.sums, c, c.Ints, t.factor, defined)
		default:
			addTerm(a.sums, c, c.Doubles, t.factor, defined)
		}
	}
	return nil
}

// addTerm adds factor times the values of c to sum, which has one element per
// defined row.
func addTerm[S, V int64 | float64](sum []S, c *parquet.Numbers, values []V, factor S, defined *parquet.Numbers) {
	if c.SameRows(defined) {
		values = values[:len(sum)]
		for i := range sum {
			sum[i] += factor * S(values[i])
		}
		return
	}
	next := 0 // value of c that is not yet passed
	row := 0
	defined.Each(func(r, at int) {
		for ; row < r; row++ {
			if c.Has(row) {
				next++
			}
		}
		if c.Has(r) {
			sum[at] += factor * S(values[next])
		}
	})
}

// zeros returns n zeros that may reuse s.
func zeros[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// A state is what is known of one item in one group.
type state struct {
	defined      int64
	macro, micro stats.Clusters
}

// count notes n more rows where the item is defined.
func (st *state) count(n int) { st.defined += int64(n) }

// add adds the values [from, to), each of which is a cluster of its own.
func (st *state) add(v *itemValues, from, to int) {
	if len(v.defined.Doubles) > 0 {
		st.macro.AddRows(v.defined.Doubles[from:to])
	} else {
		st.macro.AddRowInts(v.defined.Ints[from:to])
	}
	if !v.micro || from == to {
		return
	}
	num, den := v.num.slice(from, to), v.den.slice(from, to)
	switch {
	case num.whole && den.whole:
		st.micro.AddRowCounts(num.counts, den.counts)
	case den.whole:
		st.micro.AddRowSums(num.sums, den.counts)
	default:
		for i := range to - from {
			st.micro.AddCluster(num.at(i), den.at(i), 1)
		}
	}
}

func (st *state) merge(o *state) {
	st.defined += o.defined
	st.macro.Merge(&o.macro)
	st.micro.Merge(&o.micro)
}

// An item is one metric or count to summarize.
type item struct {
	def      metrics.Definition
	value    int    // its column of rows.parquet
	num, den []term // of its micro value, if it has one
	// Whether numerator and denominator are whole multiples of counts.
	numCounts, denCounts bool
}

// A term is a multiple of a column.
type term struct {
	column int
	factor float64
}

// micro reports whether the item has a pooled value of its own.
func (it *item) micro() bool { return len(it.num) > 0 }

// summaryItems are the items of files with the given columns, those of
// rows.parquet.
func summaryItems(fields []parquet.Field) []item {
	columns := make(map[string]int, len(fields))
	for c, f := range fields {
		columns[f.Name] = c
	}
	find := func(list []metrics.Term) (terms []term, counts bool) {
		counts = true
		for _, t := range list {
			c := columns[t.Column]
			counts = counts && fields[c].Kind == parquet.Int64 && t.Factor == math.Trunc(t.Factor)
			terms = append(terms, term{c, t.Factor})
		}
		return terms, counts
	}
	var items []item
	for _, d := range metrics.Definitions() {
		it := item{def: d, value: columns[d.Name]}
		it.num, it.numCounts = find(d.Num)
		it.den, it.denCounts = find(d.Den)
		items = append(items, it)
	}
	for _, d := range metrics.CountDefinitions()[:runs.ContractCounts] {
		items = append(items, item{def: d, value: columns[d.Name]})
	}
	return items
}

// A numberSource gives the numbers of the columns of rows.parquet for the rows
// of one part.
type numberSource interface {
	// numbers returns a column. It is good until the next cachedColumns calls.
	numbers(column int) (*parquet.Numbers, error)
}

// cachedColumns is how many columns of a row group a columnReader keeps: the
// parts of micro values are shared by neighbouring metrics.
const cachedColumns = 16

// A columnReader reads the parts of rows.parquet. It is not safe for concurrent
// use.
type columnReader struct {
	file    *parquet.ResultFile
	part    int // that numbers reads
	columns [cachedColumns]cachedColumn
	clock   int // calls of numbers
	values  parquet.ColumnValues
}

type cachedColumn struct {
	column, part int
	used         int // clock of the last use
	numbers      parquet.Numbers
}

func newColumnReader(f *parquet.ResultFile) *columnReader {
	r := &columnReader{file: f}
	for i := range r.columns {
		r.columns[i].part = -1
	}
	return r
}

// numbers reads a column unless it is at hand.
func (r *columnReader) numbers(column int) (*parquet.Numbers, error) {
	r.clock++
	oldest := &r.columns[0]
	for i := range r.columns {
		c := &r.columns[i]
		if c.column == column && c.part == r.part {
			c.used = r.clock
			return &c.numbers, nil
		}
		if c.used < oldest.used {
			oldest = c
		}
	}
	oldest.part, oldest.used = -1, r.clock
	if err := r.file.ReadColumn(r.part, r.file.Fields()[column].Name, &r.values); err != nil {
		return nil, err
	}
	r.values.Compact(&oldest.numbers)
	oldest.column, oldest.part = column, r.part
	return &oldest.numbers, nil
}

// tableColumns are the columns of a part in memory.
type tableColumns struct{ columns []parquet.Numbers }

// load takes the columns of a table, good until the table changes.
func (t *tableColumns) load(table *parquet.Table) {
	t.columns = t.columns[:0]
	for c := range table.Fields() {
		t.columns = append(t.columns, table.Numbers(c))
	}
}

func (t *tableColumns) numbers(column int) (*parquet.Numbers, error) { return &t.columns[column], nil }
