package harness

import (
	"math"

	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics"
)

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
func summaryItems(fields []dataset.Field) []item {
	columns := make(map[string]int, len(fields))
	for c, f := range fields {
		columns[f.Name] = c
	}
	find := func(list []metrics.Term) (terms []term, counts bool) {
		counts = true
		for _, t := range list {
			c := columns[t.Column]
			counts = counts && fields[c].Kind == dataset.Int64 && t.Factor == math.Trunc(t.Factor)
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
	numbers(column int) (*dataset.Numbers, error)
}

// cachedColumns is how many columns of a row group a columnReader keeps: the
// parts of micro values are shared by neighbouring metrics.
const cachedColumns = 16

// A columnReader reads the parts of rows.parquet. It is not safe for concurrent
// use.
type columnReader struct {
	file    *dataset.ResultFile
	part    int // that numbers reads
	columns [cachedColumns]cachedColumn
	clock   int // calls of numbers
	values  dataset.ColumnValues
}

type cachedColumn struct {
	column, part int
	used         int // clock of the last use
	numbers      dataset.Numbers
}

func newColumnReader(f *dataset.ResultFile) *columnReader {
	r := &columnReader{file: f}
	for i := range r.columns {
		r.columns[i].part = -1
	}
	return r
}

// numbers reads a column unless it is at hand.
func (r *columnReader) numbers(column int) (*dataset.Numbers, error) {
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
type tableColumns struct{ columns []dataset.Numbers }

// load takes the columns of a table, good until the table changes.
func (t *tableColumns) load(table *dataset.Table) {
	t.columns = t.columns[:0]
	for c := range table.Fields() {
		t.columns = append(t.columns, table.Numbers(c))
	}
}

func (t *tableColumns) numbers(column int) (*dataset.Numbers, error) { return &t.columns[column], nil }
