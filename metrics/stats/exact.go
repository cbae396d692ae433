package stats

import (
	"math"
	"math/big"
	"math/bits"
)

const (
	fracBits = 128 // bits of an Exact after the binary point
	// An addend must stay below 2^maxExp in magnitude. The 64 bits of guard
	// above it hold the sum of any 2^63 such addends.
	maxExp = 127

	mantissaBits = 53
	expBias      = 1075 // a normal float64 is m * 2^(e-expBias), 2^52 <= m < 2^53
	expSpecial   = 0x7ff
)

// An Exact is a sum of numbers whose value does not depend on the order of the
// additions nor on how they were split over several sums. The zero Exact is 0.
//
// It is a 320-bit two's-complement fixed-point number with 128 bits after the
// binary point. Bits of an addend below 2^-128 are cut off (toward zero, for each
// addend alone, so that the result stays independent of order). An addend that is
// not finite, or 2^127 or more in magnitude, makes the sum undefined for good;
// fewer than 2^63 other addends cannot overflow. No method allocates.
//
// Copying an Exact copies the sum. It is not safe for concurrent use.
type Exact struct {
	w       [5]uint64 // least significant first: two words of fraction, three of integer
	dropped bool      // some addend had bits below 2^-128
	bad     bool      // some addend was not finite or too large
}

// Add adds v.
func (e *Exact) Add(v float64) {
	b := math.Float64bits(v)
	exp := int(b>>52) & expSpecial
	m := b & (1<<52 - 1)
	switch exp {
	case expSpecial:
		e.bad = true
		return
	case 0: // zero, or far below 2^-128
		e.dropped = e.dropped || m != 0
		return
	}
	m |= 1 << 52
	pos := exp - expBias + fracBits
	if pos < 0 {
		kept := m >> uint(-pos)
		e.dropped = e.dropped || kept<<uint(-pos) != m
		m, pos = kept, 0
	}
	if pos > maxExp+fracBits-mantissaBits {
		e.bad = true
		return
	}
	s := uint(pos) & 63
	e.accumulate(pos>>6, m<<s, m>>1>>(63-s), 0, int64(b) < 0)
}

// AddInt adds v.
func (e *Exact) AddInt(v int64) {
	sign := uint64(v >> 63)
	var c uint64
	e.w[2], c = bits.Add64(e.w[2], uint64(v), 0)
	e.w[3], c = bits.Add64(e.w[3], sign, c)
	e.w[4], _ = bits.Add64(e.w[4], sign, c)
}

// Merge adds the sum o.
func (e *Exact) Merge(o *Exact) {
	var c uint64
	for i := range e.w {
		e.w[i], c = bits.Add64(e.w[i], o.w[i], c)
	}
	e.dropped = e.dropped || o.dropped
	e.bad = e.bad || o.bad
}

// Float64 is the sum, rounded once to the nearest float64, ties to even. It is
// undefined (ok is false) if an addend was not finite or too large.
func (e *Exact) Float64() (v float64, ok bool) {
	if e.bad {
		return 0, false
	}
	mag, negative := e.magnitude()
	top := len(mag) - 1
	for top >= 0 && mag[top] == 0 {
		top--
	}
	if top < 0 {
		return 0, true
	}
	lead := uint(bits.LeadingZeros64(mag[top]))
	head := mag[top] << lead
	sticky := false
	if top > 0 {
		head |= mag[top-1] >> 1 >> (63 - lead)
		sticky = mag[top-1]<<lead != 0
	}
	for i := 0; i < top-1; i++ {
		sticky = sticky || mag[i] != 0
	}
	const spare = 64 - mantissaBits
	m, rest := head>>spare, head&(1<<spare-1)
	const half = 1 << (spare - 1)
	if rest > half || rest == half && (sticky || m&1 == 1) {
		m++
	}
	v = math.Ldexp(float64(m), 64*top-int(lead)+spare-fracBits)
	if negative {
		v = -v
	}
	return v, true
}

// Exact reports whether the sum holds every bit of every addend: none was below
// 2^-128, not finite or too large.
func (e *Exact) Exact() bool { return !e.dropped && !e.bad }

// IsZero reports whether the sum is defined and 0.
func (e *Exact) IsZero() bool { return !e.bad && e.w == [5]uint64{} }

// accumulate adds or subtracts the magnitude a + b*2^64 + c*2^128, shifted left
// by limb words. The magnitude stays below the guard word.
func (e *Exact) accumulate(limb int, a, b, c uint64, negative bool) {
	w := &e.w
	var r uint64
	switch {
	case limb == 0 && !negative:
		w[0], r = bits.Add64(w[0], a, 0)
		w[1], r = bits.Add64(w[1], b, r)
		w[2], r = bits.Add64(w[2], c, r)
		w[3], r = bits.Add64(w[3], 0, r)
		w[4], _ = bits.Add64(w[4], 0, r)
	case limb == 1 && !negative:
		w[1], r = bits.Add64(w[1], a, 0)
		w[2], r = bits.Add64(w[2], b, r)
		w[3], r = bits.Add64(w[3], c, r)
		w[4], _ = bits.Add64(w[4], 0, r)
	case limb == 2 && !negative:
		w[2], r = bits.Add64(w[2], a, 0)
		w[3], r = bits.Add64(w[3], b, r)
		w[4], _ = bits.Add64(w[4], c, r)
	case limb == 3 && !negative:
		w[3], r = bits.Add64(w[3], a, 0)
		w[4], _ = bits.Add64(w[4], b, r)
	case limb == 0:
		w[0], r = bits.Sub64(w[0], a, 0)
		w[1], r = bits.Sub64(w[1], b, r)
		w[2], r = bits.Sub64(w[2], c, r)
		w[3], r = bits.Sub64(w[3], 0, r)
		w[4], _ = bits.Sub64(w[4], 0, r)
	case limb == 1:
		w[1], r = bits.Sub64(w[1], a, 0)
		w[2], r = bits.Sub64(w[2], b, r)
		w[3], r = bits.Sub64(w[3], c, r)
		w[4], _ = bits.Sub64(w[4], 0, r)
	case limb == 2:
		w[2], r = bits.Sub64(w[2], a, 0)
		w[3], r = bits.Sub64(w[3], b, r)
		w[4], _ = bits.Sub64(w[4], c, r)
	default:
		w[3], r = bits.Sub64(w[3], a, 0)
		w[4], _ = bits.Sub64(w[4], b, r)
	}
}

// magnitude is the absolute value of the sum, least significant word first.
func (e *Exact) magnitude() (mag [5]uint64, negative bool) {
	if int64(e.w[4]) >= 0 {
		return e.w, false
	}
	var r uint64
	for i := range mag {
		mag[i], r = bits.Sub64(0, e.w[i], r)
	}
	return mag, true
}

// scaled is the sum times 2^128, an integer.
func (e *Exact) scaled() *big.Int {
	mag, negative := e.magnitude()
	z, word := new(big.Int), new(big.Int)
	for i := len(mag) - 1; i >= 0; i-- {
		z.Lsh(z, 64)
		z.Or(z, word.SetUint64(mag[i]))
	}
	if negative {
		z.Neg(z)
	}
	return z
}

// AddProduct adds x*y as a real number: the 106 bits of the product are not
// rounded first. The product, like any addend, must stay below 2^127.
func (e *Exact) AddProduct(x, y float64) {
	bx, by := math.Float64bits(x), math.Float64bits(y)
	ex, ey := int(bx>>52)&expSpecial, int(by>>52)&expSpecial
	if ex == expSpecial || ey == expSpecial {
		e.bad = true
		return
	}
	if ex == 0 || ey == 0 {
		e.addTinyProduct(x, y)
		return
	}
	const mask = 1<<52 - 1
	hi, lo := bits.Mul64(bx&mask|1<<52, by&mask|1<<52)
	negative := int64(bx^by) < 0
	pos := ex + ey - 2*expBias + fracBits
	if pos < 0 {
		hi, lo = e.cut(hi, lo, uint(-pos))
		pos = 0
	}
	if hi>>(2*mantissaBits-1-64) != 0 && pos > maxExp+fracBits-2*mantissaBits ||
		pos > maxExp+fracBits-2*mantissaBits+1 {
		e.bad = true
		return
	}
	s := uint(pos) & 63
	e.accumulate(pos>>6, lo<<s, hi<<s|lo>>1>>(63-s), hi>>1>>(63-s), negative)
}

// addTinyProduct adds x*y where one factor is zero or subnormal. A subnormal is
// below 2^-1022, so its product with a float64, below 2^1024, can still be large
// only if the other factor is: scaling both by exact powers of two brings it back
// to the normal range.
func (e *Exact) addTinyProduct(x, y float64) {
	if x == 0 || y == 0 {
		return
	}
	fx, kx := math.Frexp(x)
	fy, ky := math.Frexp(y)
	k := kx + ky
	if k < -fracBits { // |x*y| < 2^k
		e.dropped = true
		return
	}
	e.AddProduct(math.Ldexp(fx, k), fy)
}

// cut shifts hi:lo right and records whether bits were lost.
func (e *Exact) cut(hi, lo uint64, shift uint) (uint64, uint64) {
	switch {
	case shift >= 128:
		e.dropped = e.dropped || hi|lo != 0
		return 0, 0
	case shift >= 64:
		e.dropped = e.dropped || lo != 0 || hi&(1<<(shift-64)-1) != 0
		return 0, hi >> (shift - 64)
	default:
		e.dropped = e.dropped || lo&(1<<shift-1) != 0
		return hi >> shift, lo>>shift | hi<<1<<(63-shift)
	}
}

// AddIntProduct adds x*y.
func (e *Exact) AddIntProduct(x, y int64) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// Read as unsigned, a negative factor is 2^64 too large.
	hi -= uint64(x>>63)&uint64(y) + uint64(y>>63)&uint64(x)
	sign := uint64(int64(hi) >> 63)
	var c uint64
	e.w[2], c = bits.Add64(e.w[2], lo, 0)
	e.w[3], c = bits.Add64(e.w[3], hi, c)
	e.w[4], _ = bits.Add64(e.w[4], sign, c)
}

// AddSumProduct adds x*y for two sums. Bits of the product below 2^-128 are cut
// off; the product must stay below 2^127 and both sums must be defined.
func (e *Exact) AddSumProduct(x, y *Exact) {
	e.dropped = e.dropped || x.dropped || y.dropped
	if x.bad || y.bad {
		e.bad = true
		return
	}
	mx, negX := x.magnitude()
	my, negY := y.magnitude()
	var p [10]uint64
	for i, a := range mx {
		if a == 0 {
			continue
		}
		var carry uint64
		for j, b := range my {
			hi, lo := bits.Mul64(a, b)
			var c uint64
			lo, c = bits.Add64(lo, p[i+j], 0)
			hi += c
			p[i+j], c = bits.Add64(lo, carry, 0)
			carry = hi + c
		}
		p[i+len(my)] = carry
	}
	if p[6]|p[7]|p[8]|p[9] != 0 || p[5]>>63 != 0 {
		e.bad = true
		return
	}
	e.dropped = e.dropped || p[0]|p[1] != 0
	negative := negX != negY
	e.accumulate(0, p[2], p[3], 0, negative)
	e.accumulate(2, p[4], p[5], 0, negative)
}

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
	s := middleShift(exp)
	return m << s, m >> (64 - s)
}

// middleShift is where middleWords places the lowest bit, 1 to 31.
func middleShift(exp uint) uint {
	const base = middleExp - expBias + fracBits - 64
	return (base + exp) & 63
}

// middleSquareWords places the square of that in the first three words. It is
// below 2^40, so the third word is, too.
func middleSquareWords(m uint64, exp uint) (w0, w1, w2 uint64) {
	const base = 2*(middleExp-expBias) + fracBits
	shift := uint64(1) << ((base + 2*exp) & 63)
	hi, lo := bits.Mul64(m, m)
	carry, w0 := bits.Mul64(lo, shift)
	w2, w1 = bits.Mul64(hi, shift)
	return w0, w1 | carry, w2
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
