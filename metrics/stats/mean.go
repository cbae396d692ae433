package stats

import (
	"math"
	"slices"

	"ibid"
)

// A Quotient is a sum over units divided by another, such as a mean, of values by rows, with
// what each unit adds to it.
type Quotient struct {
	Value    float64 // Num / Den
	Num, Den float64
	Errors   []float64 // of each unit: (y − Value x) / Den; they sum to 0
	Shares   []float64 // of each unit: x / Den; they sum to 1
}

// NewQuotient is Σy/Σx of units with y and x at least 0, in their order. A unit with both 0
// does not count, so this is how one without a value is written. It is nil if Σx is 0.
func NewQuotient(y, x []float64) *Quotient {
	q := new(Quotient)
	if !q.Set(y, x) {
		return nil
	}
	return q
}

// Set makes q that of [NewQuotient] in the memory of Errors and Shares, which may be that of y
// and x. It reports whether Σx is not 0.
func (q *Quotient) Set(y, x []float64) bool {
	q.Num, q.Den = sumOf(y), sumOf(x)
	if q.Den == 0 {
		return false
	}
	q.Value = q.Num / q.Den
	q.Errors, q.Shares = slices.Grow(q.Errors[:0], len(y))[:len(y)], slices.Grow(q.Shares[:0], len(y))[:len(y)]
	for i := range y {
		q.Errors[i] = (y[i] - float64(q.Value*x[i])) / q.Den
		q.Shares[i] = x[i] / q.Den
	}
	return true
}

func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// Minus is q less o over the same units: an error is the difference of theirs, a share the
// mean.
func (q *Quotient) Minus(o *Quotient) *Quotient {
	out := &Quotient{Value: q.Value - o.Value, Errors: make([]float64, len(q.Errors)), Shares: make([]float64, len(q.Errors))}
	for i := range q.Errors {
		out.Errors[i] = q.Errors[i] - o.Errors[i]
		out.Shares[i] = (q.Shares[i] + o.Shares[i]) / 2
	}
	return out
}

// Spread is that of q over units with these documents.
func (q *Quotient) Spread(documents *Documents) Spread {
	return NewShares(q.Shares, q.Errors, documents).Spread(q.Errors, q.Shares)
}

// Within is a q between low and high over units with these documents; see [Spread.Within]. A
// nil q is not defined.
func (q *Quotient) Within(documents *Documents, low, high, level float64) Estimate {
	if q == nil {
		return undefined(level)
	}
	s := q.Spread(documents)
	e := s.Within(q.Value, low, high, level)
	e.Num, e.Den = q.Num, q.Den
	return e
}

// undefined is what has no value.
func undefined(level float64) Estimate { return Estimate{Level: level, Reason: ibid.NoData} }

// noBounds are the ends of what has no bounds.
var noBounds = math.Inf(1)
