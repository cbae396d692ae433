package span

import "math/bits"

// fixed is a signed fixed-point number with fracBits bits after the point. The
// matching adds and compares Jaccards of different denominators with it.
type fixed struct {
	hi int64
	lo uint64
}

// fracBits leaves room before the point for 2^31 times the number of spans that
// one side can hold in memory.
const fracBits = 95

var (
	one = fixed{hi: 1 << (fracBits - 64)}
	// slack absorbs the rounding of up to 2^20 terms. Different sums of Jaccards
	// differ by more than that unless their denominators were chosen for it.
	slack = fixed{lo: 1 << 20}
	far   = fixed{hi: 1<<63 - 1}
)

func (x fixed) add(y fixed) fixed {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	return fixed{x.hi + y.hi + int64(carry), lo}
}

func (x fixed) sub(y fixed) fixed {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	return fixed{x.hi - y.hi - int64(borrow), lo}
}

func (x fixed) less(y fixed) bool {
	return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo
}

// negligible reports whether x, which is not negative but for rounding, is 0
// but for rounding.
func (x fixed) negligible() bool { return !slack.less(x) }

// quotient is j rounded down.
func quotient(j Jaccard) fixed {
	if j.Exact() {
		return one
	}
	scaled, d := uint64(j.Overlap)<<(fracBits-64), uint64(j.Union)
	lo, _ := bits.Div64(scaled%d, 0, d)
	return fixed{int64(scaled / d), lo}
}

// whole is the number n.
func whole(n int) fixed { return fixed{hi: int64(n) << (fracBits - 64)} }
