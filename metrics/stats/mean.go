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

// Alone adds up the shares and errors of units none of which touches a shared document, one
// after the other, so that none is kept.
type Alone struct {
	shares shareSums
	errors errorSums
}

// Add is the next unit; one with neither a share nor an error does not count.
func (a *Alone) Add(e, share float64) {
	if e != 0 || share != 0 {
		a.shares.own(share)
		a.errors.own(e, share)
	}
}

// Equal is n units of equal share, of which Error has the errors.
func (a *Alone) Equal(n int) {
	g, all := 1/float64(n), float64(n)
	gg := g * g
	a.shares = shareSums{
		n: n, documents: n, heaviest: g, a: g, c: gg, b: g, tq: gg,
		p: g, tp: gg, tt: g, pp: all * gg * gg, ptt: all * gg * gg, e: all * gg * gg * g,
	}
}

// Error is that of the next unit of those of Equal.
func (a *Alone) Error(e float64) { a.errors.own(e, a.shares.heaviest) }

// Spread is that of a number with those shares and errors.
func (a *Alone) Spread() Spread { return a.shares.spread(&a.errors) }

// noBounds are the ends of what has no bounds.
var noBounds = math.Inf(1)
