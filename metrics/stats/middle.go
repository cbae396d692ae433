package stats

import (
	"math"
	"math/bits"
)

// Nearly all scores and counts are in [2^-11, 2^20). There the place of a float64
// in an Exact, and that of its square, need no case distinction: what follows does
// what Add and AddProduct do, at half the cost.
const (
	middleExp  = 1012 // biased exponent of 2^-11
	middleExps = 31   // exponents from there
)

// addWithSquare adds v to e and v*v to squares.
func (e *Exact) addWithSquare(squares *Exact, v float64) {
	switch b := math.Float64bits(v); {
	case b == 0:
	case b>>52-middleExp < middleExps: // a set sign bit is out of this range
		m := b&(1<<52-1) | 1<<52
		e.addMiddle(m, uint(b>>52-middleExp))
		squares.addMiddleSquare(m, uint(b>>52-middleExp))
	default:
		e.Add(v)
		squares.AddProduct(v, v)
	}
}

// middleWords places m * 2^(exp+middleExp-expBias) in the second and third word of
// an Exact. It is below 2^20, so high is, too.
func middleWords(m uint64, exp uint) (low, high uint64) {
	const base = middleExp - expBias + fracBits - 64
	s := (base + exp) & 63
	return m << s, m >> (64 - s)
}

// middleSquareWords places the square of that in the first three words. It is
// below 2^40, so the third word is, too.
func middleSquareWords(m uint64, exp uint) (w0, w1, w2 uint64) {
	const base = 2*(middleExp-expBias) + fracBits
	s := (base + 2*exp) & 63
	hi, lo := bits.Mul64(m, m)
	return lo << s, hi<<s | lo>>(64-s), hi >> (64 - s)
}

// addMiddle adds what middleWords places.
func (e *Exact) addMiddle(m uint64, exp uint) {
	low, high := middleWords(m, exp)
	var c uint64
	e.w[1], c = bits.Add64(e.w[1], low, 0)
	e.w[2], c = bits.Add64(e.w[2], high, c)
	e.carry(c)
}

// addMiddleSquare adds what middleSquareWords places.
func (e *Exact) addMiddleSquare(m uint64, exp uint) {
	w0, w1, w2 := middleSquareWords(m, exp)
	var c uint64
	e.w[0], c = bits.Add64(e.w[0], w0, 0)
	e.w[1], c = bits.Add64(e.w[1], w1, c)
	e.w[2], c = bits.Add64(e.w[2], w2, c)
	e.carry(c)
}

// carry adds c to the words above the third.
func (e *Exact) carry(c uint64) {
	e.w[3], c = bits.Add64(e.w[3], 0, c)
	e.w[4] += c
}
