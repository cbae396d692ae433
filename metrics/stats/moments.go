package stats

import "math/big"

// moments are the sums that every estimator over clusters starts from.
type moments struct {
	y, x, yy, xy, xx      Exact
	clusters, informative int64
}

// floatBits is the precision of the few operations, division and square root,
// that are not exact before a result is rounded to a float64.
const floatBits = 192

// ratio is Σy/Σx, rounded once.
func (m *moments) ratio() float64 {
	num := new(big.Float).SetInt(m.y.scaled())
	den := new(big.Float).SetInt(m.x.scaled())
	q, _ := new(big.Float).SetPrec(53).Quo(num, den).Float64()
	return q
}

// squares is Σ(y-Rx)² times (Σx)², both with R = Σy/Σx, in units of 2^-384, and
// the absolute value of Σx in units of 2^-128. Written as
//
//	Σy²(Σx)² - 2ΣxyΣxΣy + Σx²(Σy)²
//
// it needs no division, so what textbooks warn about, the cancellation, is exact.
func (m *moments) squares() (num, x *big.Int) {
	y, x := m.y.scaled(), m.x.scaled()
	xx, xy, yy := new(big.Int).Mul(x, x), new(big.Int).Mul(x, y), new(big.Int).Mul(y, y)
	num = new(big.Int).Mul(m.yy.scaled(), xx)
	cross := new(big.Int).Mul(m.xy.scaled(), xy)
	num.Sub(num, cross.Lsh(cross, 1))
	num.Add(num, new(big.Int).Mul(m.xx.scaled(), yy))

	if !m.yy.Exact() || !m.xy.Exact() || !m.xx.Exact() {
		// Each addend lost less than one unit, so num is known only to within
		// clusters*(|x|+|y|)². Below that, no variation was seen.
		bound := new(big.Int).Add(x.Abs(x), y.Abs(y))
		bound.Mul(bound, bound)
		bound.Mul(bound, big.NewInt(m.clusters))
		if num.CmpAbs(bound) <= 0 {
			num.SetInt64(0)
		}
	}
	return num, x.Abs(x)
}

// stdErr is the linearised standard error of Σy/Σx over clusters:
//
//	sqrt(Σ(y-Rx)²) / |Σx|
//
// times sqrt(G/(G-1)) if corrected. It is undefined for fewer than two clusters
// with x != 0, Σx = 0, or squares out of range.
//
// Source: Cochran, Sampling Techniques, 1977, §6; with x the number of rows it is
// CR0 (Liang & Zeger 1986) and, corrected, CR1.
func (m *moments) stdErr(corrected bool) (se float64, ok bool) {
	if m.informative < 2 || m.x.IsZero() || !m.inRange() {
		return 0, false
	}
	num, x := m.squares()
	if num.Sign() <= 0 {
		return 0, true
	}
	den := new(big.Int).Mul(x, x)
	den.Mul(den, den)
	if corrected {
		num.Mul(num, big.NewInt(m.clusters))
		den.Mul(den, big.NewInt(m.clusters-1))
	}
	num.Lsh(num, fracBits)
	variance := new(big.Float).SetPrec(floatBits).Quo(new(big.Float).SetInt(num), new(big.Float).SetInt(den))
	se, _ = variance.Sqrt(variance).Float64()
	return se, true
}

func (m *moments) inRange() bool {
	return !m.y.bad && !m.x.bad && !m.yy.bad && !m.xy.bad && !m.xx.bad
}
