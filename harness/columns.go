package harness

import (
	"math"

	"ibid/dataset"
	"ibid/metrics"
)

// cachedColumns is how many columns of a row group a columnReader keeps: the
// parts of micro values are shared by neighbouring metrics.
const cachedColumns = 16

// A columnReader reads items from rows.parquet. It is not safe for concurrent
// use.
type columnReader struct {
	file    *dataset.ResultFile
	names   [cachedColumns]string
	parts   [cachedColumns]int
	columns [cachedColumns]dataset.ColumnValues
	next    int // the entry to replace
	out     itemValues
}

func newColumnReader(f *dataset.ResultFile) *columnReader { return &columnReader{file: f} }

// itemValues are the values of one item over the rows of one row group, or over
// its defined rows.
type itemValues struct {
	valid    []bool
	value    []float64
	pooled   bool // there are parts of a micro value:
	counts   bool // in numCount and denCount, else in num and den
	num, den []float64
	numCount []int64
	denCount []int64
}

// keepValid drops the rows that are not defined.
func (v *itemValues) keepValid() {
	v.value = keep(v.value, v.valid)
	if v.counts {
		v.numCount, v.denCount = keep(v.numCount, v.valid), keep(v.denCount, v.valid)
	} else if v.pooled {
		v.num, v.den = keep(v.num, v.valid), keep(v.den, v.valid)
	}
}

func keep[T any](list []T, valid []bool) []T {
	n := 0
	for i, ok := range valid {
		if ok {
			list[n] = list[i]
			n++
		}
	}
	return list[:n]
}

// row is row i alone, which must be defined.
func (v *itemValues) row(i int) itemValues {
	one := itemValues{value: v.value[i : i+1], pooled: v.pooled, counts: v.counts}
	if v.counts {
		one.numCount, one.denCount = v.numCount[i:i+1], v.denCount[i:i+1]
	} else if v.pooled {
		one.num, one.den = v.num[i:i+1], v.den[i:i+1]
	}
	return one
}

// parts are numerator and denominator of row i.
func (v *itemValues) parts(i int) (num, den float64) {
	if v.counts {
		return float64(v.numCount[i]), float64(v.denCount[i])
	}
	return v.num[i], v.den[i]
}

// item reads one item. The values are good until the next call.
func (r *columnReader) item(part int, it *item) (*itemValues, error) {
	c, err := r.column(part, it.def.Name)
	if err != nil {
		return nil, err
	}
	v := &r.out
	rows := r.file.GroupRows(part)
	v.valid = append(v.valid[:0], c.Valid...)
	v.value = zeros(v.value, rows)
	addColumn(v.value, c, 1)
	v.pooled, v.counts = it.micro(), it.counts
	switch {
	case !v.pooled:
		return v, nil
	case v.counts:
		if v.numCount, err = sumTerms(r, part, it.def.Num, v.numCount); err == nil {
			v.denCount, err = sumTerms(r, part, it.def.Den, v.denCount)
		}
		return v, err
	}
	if v.num, err = sumTerms(r, part, it.def.Num, v.num); err == nil {
		v.den, err = sumTerms(r, part, it.def.Den, v.den)
	}
	return v, err
}

// onlyCounts reports whether all terms are whole multiples of integer columns.
func onlyCounts(f *dataset.ResultFile, terms ...[]metrics.Term) bool {
	integer := make(map[string]bool)
	for _, field := range f.Fields() {
		integer[field.Name] = field.Kind == dataset.Int64
	}
	for _, list := range terms {
		for _, t := range list {
			if !integer[t.Column] || t.Factor != math.Trunc(t.Factor) {
				return false
			}
		}
	}
	return true
}

// sumTerms adds up the terms of a numerator or denominator, row by row.
func sumTerms[T int64 | float64](r *columnReader, part int, terms []metrics.Term, sum []T) ([]T, error) {
	sum = zeros(sum, r.file.GroupRows(part))
	for _, t := range terms {
		c, err := r.column(part, t.Column)
		if err != nil {
			return nil, err
		}
		addColumn(sum, c, T(t.Factor))
	}
	return sum, nil
}

// addColumn adds factor times the column; a null adds nothing.
func addColumn[T int64 | float64](sum []T, c *dataset.ColumnValues, factor T) {
	if c.Kind == dataset.Double {
		for i, v := range c.Doubles {
			sum[i] += factor * T(v)
		}
		return
	}
	for i, v := range c.Ints {
		sum[i] += factor * T(v)
	}
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

// column reads a column unless it is at hand.
func (r *columnReader) column(part int, name string) (*dataset.ColumnValues, error) {
	for i := range r.names {
		if r.names[i] == name && r.parts[i] == part {
			return &r.columns[i], nil
		}
	}
	i := r.next
	r.next = (r.next + 1) % cachedColumns
	r.names[i] = ""
	if err := r.file.ReadColumn(part, name, &r.columns[i]); err != nil {
		return nil, err
	}
	r.names[i], r.parts[i] = name, part
	return &r.columns[i], nil
}
