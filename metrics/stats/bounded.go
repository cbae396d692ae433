package stats

import (
	"iter"
	"math"
	"math/big"
	"slices"

	"ibid"
)

const (
	// LogitCR3 is t times the delete-one-cluster standard error on the logit scale,
	// carried back to the bounds of the metric.
	LogitCR3 Method = "logit-t-cr3"
	// WilsonT is Wilson's score interval with Student's quantile, one trial for each
	// effective cluster.
	WilsonT Method = "wilson-t"
	// AtanhCR3 is a difference ± t times the delete-one-cluster standard error on the
	// scale of atanh, carried back to the differences that the bounds allow.
	AtanhCR3 Method = "atanh-t-cr3"
	// AtanhT is AtanhCR3 with the standard error of a [Spread].
	AtanhT Method = "atanh-t"
)

// cr3 is the delete-one-cluster standard error of Σy/Σx: with R_g the ratio without
// cluster g, and R that of all,
//
//	sqrt((G-1)/G Σ_g (R_g - R)²),  R_g - R = -(y_g - R x_g) / (Σx - x_g)
//
// For clusters of one size it is CR1; a large cluster counts for more. It is
// undefined where CR1 is, where one cluster has everything, and for clusters of
// different sizes after which neither [Clusters.DeleteEach] was called nor
// [Grouper.Drain] into an empty state.
//
// Source: Bell & McCaffrey 2002; the jackknife of Cochran 1977, §6.
func (c *Clusters) cr3(m *moments) (se float64, ok bool) {
	se, ok = m.stdErr(true)
	if !ok || m.spread != nil || m.alike() {
		return se, ok
	}
	return c.deleted, c.deletedOf > 1 && c.deletedOf == c.Len()
}

// alike reports whether all clusters have one x.
func (m *moments) alike() bool {
	if m.x.bad || m.xx.bad || !m.xx.Exact() {
		return false
	}
	x := m.x.scaled()
	square := new(big.Int).Mul(x, x)
	whole := m.xx.scaled()
	whole.Mul(whole, big.NewInt(m.clusters)).Lsh(whole, fracBits)
	return whole.Cmp(square) == 0
}

// DeleteEach computes CR3, for which every cluster that was added is looked at once more,
// in any order: each hands out the sums of all of them. It holds until a cluster is added.
// Where all clusters are of one size it does nothing, for CR1 is CR3.
func (c *Clusters) DeleteEach(each iter.Seq2[float64, float64]) {
	c.deleted, c.deletedOf = 0, 0
	m := c.moments()
	whole, ok := m.x.Float64()
	if !ok || m.y.bad || whole == 0 || m.clusters < 2 || m.alike() {
		return
	}
	ratio := m.ratio()
	var squares Exact
	alone := false
	each(func(y, x float64) bool {
		if alone = whole == x; alone {
			return false
		}
		// The conversion forbids a fused multiply-add, which not every machine has.
		change := (y - float64(ratio*x)) / (whole - x)
		squares.AddProduct(change, change)
		return true
	})
	if sum, ok := squares.Float64(); ok && !alone {
		n := float64(m.clusters)
		c.deleted, c.deletedOf = math.Sqrt((n-1)/n*sum), m.clusters
	}
}

// MeanWithin is the mean over rows (Σx must be the number of rows) of a metric that
// lies in [low, high], with an interval that does, too. With m the mean and se the
// standard error of [Clusters.cr3], both on [0, 1],
//
//	expit(logit m ± t(G*-1) se / (m(1-m))),  G* = (Σ n_g)² / Σ n_g²
//
// and where m is 0 or 1 or nothing varies, Wilson's interval of m with t(G*-1) and G*
// trials. With 8 clusters of 1 to 30 rows an interval of level 0.95 covers .93 to .97;
// that of [Clusters.MeanEffective] .33 to .95, half of them beyond the bounds.
//
// Without finite bounds, or where CR3 is not defined, it is [Clusters.MeanEffective].
//
// Source: `benchmarks/coverage` measures it; G* is Kish's.
func (c *Clusters) MeanWithin(level, low, high float64) Estimate {
	e, m := c.start(level, LogitCR3)
	if !e.Defined() {
		return e
	}
	se, ok := c.cr3(m)
	width := high - low
	if math.IsInf(width, 0) || !(e.Value >= low && e.Value <= high) || !ok && m.informative > 1 {
		return c.MeanEffective(level)
	}
	if !e.setStdErr(m) {
		return e
	}
	e.SE = se
	if m.spread != nil {
		e.Method = LogitT
	}
	e.within(m.effectiveDF(), low, width)
	return e
}

// within sets the interval of a value with a standard error in [low, low+width]. What varies by
// rounding alone does not vary.
func (e *Estimate) within(df, low, width float64) {
	unit, t := (e.Value-low)/width, studentPoint(e.Level, df)
	if e.SE < 1e-12*width { // as 0.3 and 0.1 + 0.2 have
		e.SE = 0
	}
	if unit <= 0 || unit >= 1 || e.SE == 0 {
		e.Method, e.Effective = WilsonT, df+1
		e.warn(AtBoundary, "everything scored the same: the interval is Wilson's, with one trial a cluster")
		bottom, top := wilson(max(0, min(1, unit))*e.Effective, e.Effective, t)
		e.setInterval(low+float64(width*bottom), low+float64(width*top))
		return
	}
	e.setInterval(onLogit(e.Value, t*e.SE, low, width))
}

// onLogit is the interval value ± half on the logit scale of [low, low+width], within
// which value must lie. For a difference, of which low is -width/2, that is the scale of
// atanh: logit((1+d)/2) = 2 atanh(d).
func onLogit(value, half, low, width float64) (bottom, top float64) {
	unit := (value - low) / width
	center := math.Log(unit) - math.Log1p(-unit)
	half = half / width / (unit * (1 - unit))
	return low + float64(width*expit(center-half)), low + float64(width*expit(center+half))
}

// Difference is a difference of two ratios, whose standard error s has, over so many rows.
// Within a width that is finite its interval is that of [Clusters.DifferenceWithin], else
// symmetric.
func (s *Spread) Difference(value, width float64, rows int64, level float64) Estimate {
	e := Estimate{Value: value, Level: level, Method: AtanhT, N: rows, Clusters: int64(s.Effective), how: s.How, spread: s}
	if e.warnClusters(e.Clusters); !s.Known {
		return e
	}
	e.SE, e.HasSE = s.SE, true
	half := studentPoint(level, max(1, s.Effective-1)) * s.SE
	switch {
	case s.SE == 0:
		e.setDegenerate()
	case math.IsInf(width, 0) || math.Abs(value) >= width:
		e.Method = DeltaT
		e.setInterval(value-half, value+half)
	default:
		e.setInterval(onLogit(value, half, -width, 2*width))
	}
	return e
}

// RatioDifference is the quotient of the first two sums of units less that of the other two,
// whose denominators must not be negative, linearised: a unit adds (y - R x)/Σx of the first
// less that of the other to the error. With h_g the mean of its shares in both Σx,
//
//	se² = G/(G-1) Σ e_g² ((1 - 1/G) / (1 - 1/G*))²,  G* = 1 / Σ h_g²
//
// and the interval has t(G*-1), on the scale of atanh if width, the largest difference that
// there can be, is finite. It is undefined without a denominator on either side.
//
// Source: Cochran 1977, §6; the factor is that of [Clusters.RatioWithin].
func (u *Units) RatioDifference(level, width float64) Estimate {
	e := Estimate{Level: level, Method: AtanhT, N: u.rows, Clusters: int64(u.Len()), Reason: ibid.NoData}
	u = u.canonical()
	totals, ok := u.totals()
	switch {
	case u.Len() == 0:
		return e
	case !ok:
		e.Reason = ibid.OutOfRange
		return e
	case totals[1] == 0 || totals[3] == 0:
		e.Reason = ibid.ZeroDenominator
		return e
	}
	first, second := totals[0]/totals[1], totals[2]/totals[3]
	squares, shares := 0.0, 0.0
	for i := range u.Len() {
		part := func(at int, ratio float64) float64 {
			return (u.sums[at][i] - float64(ratio*u.sums[at+1][i])) / totals[at+1]
		}
		error := part(0, first) - part(2, second)
		share := (u.sums[1][i]/totals[1] + u.sums[3][i]/totals[3]) / 2
		squares, shares = squares+float64(error*error), shares+float64(share*share)
	}
	g, effective := float64(u.Len()), max(2, 1/shares)
	factor := (1 - 1/g) / (1 - 1/effective)
	s := Spread{SE: math.Sqrt(squares*g/(g-1)) * factor, Known: u.Len() > 1, Effective: effective}
	if !s.Known {
		s.Effective = g
	}
	out := s.Difference(first-second, width, u.rows, level)
	out.Clusters = e.Clusters
	out.Warnings = slices.DeleteFunc(out.Warnings, func(w Warning) bool { return w.Code == FewClusters || w.Code == OneCluster })
	out.warnClusters(e.Clusters)
	return out
}

// Within is a number of so many rows whose standard error s has, in [low, high], with the
// interval of [Clusters.MeanWithin]; outside of them with a symmetric one.
func (s *Spread) Within(value, low, high float64, rows int64, level float64) Estimate {
	e := Estimate{Value: value, Level: level, Method: LogitT, N: rows, Clusters: int64(s.Effective), how: s.How, spread: s}
	if e.warnClusters(e.Clusters); !s.Known {
		return e
	}
	e.SE, e.HasSE = s.SE, true
	df := max(1, s.Effective-1)
	if value < low || value > high {
		half := studentPoint(level, df) * s.SE
		e.Method = DeltaT
		e.setInterval(value-half, value+half)
		return e
	}
	e.within(df, low, high-low)
	return e
}

// DifferenceWithin is the mean difference over rows of a metric whose bounds are width
// apart, so that differences lie in [-width, width], with an interval that does, too.
// With d the difference and se the standard error of [Clusters.cr3], both divided by
// width,
//
//	tanh(atanh d ± t(G*-1) se / (1-d²))
//
// Where nothing varies it has no width. Without a finite width, or where CR3 is not
// defined, it is [Clusters.MeanEffective].
func (c *Clusters) DifferenceWithin(level, width float64) Estimate {
	e, m := c.start(level, AtanhCR3)
	if !e.Defined() {
		return e
	}
	se, ok := c.cr3(m)
	if math.IsInf(width, 0) || !(math.Abs(e.Value) <= width) || !ok && m.informative > 1 {
		return c.MeanEffective(level)
	}
	if !e.setStdErr(m) {
		return e
	}
	if m.spread != nil {
		e.Method = AtanhT
	}
	if e.SE = se; se == 0 {
		e.setDegenerate()
		return e
	}
	e.setInterval(onLogit(e.Value, studentPoint(level, m.effectiveDF())*se, -width, 2*width))
	return e
}
