package stats

import (
	"cmp"
	"math"
	"slices"
)

// Units are the clusters that a bootstrap resamples, each with the sums that a
// [Statistic] is made of: for a mean the sum of its values and the number of its
// rows, for a ratio its numerator and denominator, for the difference of two
// ratios both of either side.
//
// What is computed of Units depends on the set of units and not on the order in
// which they were added or merged. Each has a key, as from [Key], which should be
// its own; units that share one are still resampled as two, but with weights that
// a Poisson bootstrap draws alike.
//
// It keeps 8 bytes a unit and 8 more for each sum. It is not safe for concurrent
// use while units are added.
type Units struct {
	keys []uint64
	sums [][]float64 // sums[c][i] is the c-th sum of unit i
	rows int64
}

// NewUnits returns no units, which will have the given number of sums each.
func NewUnits(sums int) *Units { return &Units{sums: make([][]float64, sums)} }

// Add adds a unit of some rows. There must be as many sums as NewUnits was told,
// all finite.
func (u *Units) Add(key uint64, rows int64, sums ...float64) {
	u.keys = append(u.keys, key)
	u.rows += rows
	for c := range u.sums {
		u.sums[c] = append(u.sums[c], sums[c])
	}
}

// Merge adds the units of o, which must be others than those of u.
func (u *Units) Merge(o *Units) {
	u.keys = append(u.keys, o.keys...)
	u.rows += o.rows
	for c := range u.sums {
		u.sums[c] = append(u.sums[c], o.sums[c]...)
	}
}

// Len is the number of units.
func (u *Units) Len() int { return len(u.keys) }

// Rows is the number of rows of all units.
func (u *Units) Rows() int64 { return u.rows }

// A Statistic is a function of sums over units. It is undefined (ok is false)
// where it divides by zero. It must be safe for concurrent use and must not keep
// its argument.
type Statistic func(sums []float64) (v float64, ok bool)

// Quotient is the first sum divided by the second: a mean or a ratio of sums.
func Quotient(sums []float64) (float64, bool) {
	if sums[1] == 0 {
		return 0, false
	}
	return sums[0] / sums[1], true
}

// QuotientDifference is the quotient of the first two sums less that of the other
// two.
func QuotientDifference(sums []float64) (float64, bool) {
	if sums[1] == 0 || sums[3] == 0 {
		return 0, false
	}
	return sums[0]/sums[1] - sums[2]/sums[3], true
}

// canonical are the units in an order that does not depend on how they were
// added: by key, then by sums.
func (u *Units) canonical() *Units {
	order := make([]int, u.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if by := cmp.Compare(u.keys[i], u.keys[j]); by != 0 {
			return by
		}
		for _, column := range u.sums {
			if by := cmp.Compare(column[i], column[j]); by != 0 {
				return by
			}
		}
		return 0
	})
	sorted := &Units{keys: make([]uint64, len(order)), rows: u.rows}
	for at, i := range order {
		sorted.keys[at] = u.keys[i]
	}
	for _, column := range u.sums {
		to := make([]float64, len(order))
		for at, i := range order {
			to[at] = column[i]
		}
		sorted.sums = append(sorted.sums, to)
	}
	return sorted
}

// totals are the sums over all units, each rounded once.
func (u *Units) totals() (totals []float64, ok bool) {
	totals = make([]float64, len(u.sums))
	for c, column := range u.sums {
		var e Exact
		for _, v := range column {
			e.Add(v)
		}
		if totals[c], ok = e.Float64(); !ok {
			return nil, false
		}
	}
	return totals, true
}

// jackknife is the acceleration of BCa,
//
//	a = ΣU³ / (6 (ΣU²)^1.5),  U_i = mean(t_(-i)) - t_(-i)
//
// with t_(-i) the statistic without unit i. It is undefined if leaving out some
// unit leaves nothing, or if all t_(-i) agree.
//
// Source: Efron 1987.
func (u *Units) jackknife(stat Statistic, totals []float64) (a float64, ok bool) {
	n := u.Len()
	without := make([]float64, n)
	rest := make([]float64, len(totals))
	mean := 0.0
	for i := range n {
		for c, column := range u.sums {
			rest[c] = totals[c] - column[i]
		}
		if without[i], ok = stat(rest); !ok {
			return 0, false
		}
		mean += without[i]
	}
	mean /= float64(n)
	squares, cubes := 0.0, 0.0
	for _, t := range without {
		d := mean - t
		squares += float64(d * d)
		cubes += float64(float64(d*d) * d)
	}
	if squares == 0 {
		return 0, false
	}
	return cubes / (6 * squares * math.Sqrt(squares)), true
}
