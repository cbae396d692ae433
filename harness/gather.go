package harness

import (
	"ibid/dataset"
	"ibid/metrics/stats"
)

// itemValues are the values of one item over the rows of a part where it is
// defined.
type itemValues struct {
	defined *dataset.Numbers // the values, and which rows they are of
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

// gather reads one item. The values are good until the next call, or until src
// changes.
func (v *itemValues) gather(src numberSource, it *item) error {
	var err error
	if v.defined, err = src.numbers(it.value); err != nil {
		return err
	}
	if v.micro = it.micro(); !v.micro || v.defined.Len() == 0 {
		v.num.none(it.numCounts)
		v.den.none(it.denCounts)
		return nil
	}
	if err := v.num.gather(src, it.num, it.numCounts, v.defined); err != nil {
		return err
	}
	return v.den.gather(src, it.den, it.denCounts, v.defined)
}

func (a *amounts) none(whole bool) {
	a.whole, a.counts, a.sums = whole, nil, nil
}

// gather adds up terms for the rows where the item is defined; a null adds
// nothing.
func (a *amounts) gather(src numberSource, terms []term, whole bool, defined *dataset.Numbers) error {
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
func addTerm[S, V int64 | float64](sum []S, c *dataset.Numbers, values []V, factor S, defined *dataset.Numbers) {
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
