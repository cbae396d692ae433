package harness

import (
	"math"

	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
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

// value is the item's value in the at-th row where it is defined.
func (v *itemValues) value(at int) float64 {
	if len(v.defined.Doubles) > 0 {
		return v.defined.Doubles[at]
	}
	return float64(v.defined.Ints[at])
}

// read reads one item. The values are good until the next call, or until src
// changes.
func (v *itemValues) read(src *columnReader, it *item) error {
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
func (a *amounts) read(src *columnReader, terms []term, whole bool, defined *parquet.Numbers) error {
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

// numbers reads a column unless it is at hand. It is good until the next cachedColumns calls.
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
