package stats

import "math/bits"

// Nearly all scores and counts are in [2^-11, 2^20). There the place of a float64
// in an Exact, and that of its square, need no case distinction: the methods below
// do what Add and AddProduct do, at half the cost.
const (
	middleExp  = 1012 // biased exponent of 2^-11
	middleExps = 31   // exponents from there
)

// addMiddle adds m * 2^(exp+middleExp-expBias) for exp < middleExps.
func (e *Exact) addMiddle(m uint64, exp uint) {
	const base = middleExp - expBias + fracBits - 64
	s := (base + exp) & 63
	var c uint64
	e.w[1], c = bits.Add64(e.w[1], m<<s, 0)
	e.w[2], c = bits.Add64(e.w[2], m>>(64-s), c)
	e.carry(c)
}

// addMiddleSquare adds the square of what addMiddle adds.
func (e *Exact) addMiddleSquare(m uint64, exp uint) {
	const base = 2*(middleExp-expBias) + fracBits
	s := (base + 2*exp) & 63
	hi, lo := bits.Mul64(m, m)
	var c uint64
	e.w[0], c = bits.Add64(e.w[0], lo<<s, 0)
	e.w[1], c = bits.Add64(e.w[1], hi<<s|lo>>(64-s), c)
	e.w[2], c = bits.Add64(e.w[2], hi>>(64-s), c)
	e.carry(c)
}

// carry adds c to the words above the third.
func (e *Exact) carry(c uint64) {
	e.w[3], c = bits.Add64(e.w[3], 0, c)
	e.w[4] += c
}
