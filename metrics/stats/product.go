package stats

import (
	"math"
	"math/bits"
)

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
