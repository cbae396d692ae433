package stats

import (
	"iter"
	"math"
	"math/big"
)

// Clusters accumulates clusters of rows. Each cluster contributes y, the sum of
// its numerators, and x, the sum of its denominators; for a mean, y is the sum of
// its values and x the number of its rows. One state thus serves means,
// proportions and ratios of sums:
//
//	G, n, Σy, Σx, Σy², Σxy, Σx²
//
// are kept exactly, so estimates do not depend on the order of the clusters or on
// how they were split over states. The zero Clusters is empty. Adding does not
// allocate. It is not safe for concurrent use: give each worker its own and
// [Clusters.Merge] them.
//
// Values must be finite and below 2^63 in magnitude to have a standard error, and
// below 2^127 to have a sum; values of a magnitude below 2^-64 (5e-20) lose digits
// in their squares.
type Clusters struct {
	clusters    int64 // with x given
	rows        int64
	informative int64 // clusters with x != 0
	y, x        Exact
	yy, xy, xx  Exact

	// Clusters of one row with x = 1 are so common that they have a fast path:
	// they count once in units, and their y, which is also their x*y, in unitY.
	units int64
	unitY Exact

	// deleted is the standard error of deleting one cluster at a time, over the first
	// deletedOf clusters; it holds as long as there are no others.
	deleted   float64
	deletedOf int64

	how    string // at the end of the names of methods
	spread *Spread
}

// maxCount bounds the float64 values that are added as integers: above it not
// every integer is a float64.
const maxCount = 1 << 53

// AddRow adds a cluster that is a single row of value y; x is 1.
func (c *Clusters) AddRow(y float64) {
	c.units++
	c.unitY.addWithSquare(&c.yy, y)
}

// AddCluster adds one cluster: rows rows with numerators that sum to y and
// denominators that sum to x. A cluster with x = 0 counts as a unit of the sample
// that says nothing about the ratio; leave it out if it is not of the sample.
func (c *Clusters) AddCluster(y, x float64, rows int64) {
	if math.Abs(y) <= maxCount && math.Abs(x) <= maxCount {
		if n, d := int64(y), int64(x); float64(n) == y && float64(d) == x {
			c.AddCounts(n, d, rows)
			return
		}
	}
	c.count(rows, x != 0)
	c.y.Add(y)
	c.x.Add(x)
	c.yy.AddProduct(y, y)
	c.xy.AddProduct(x, y)
	c.xx.AddProduct(x, x)
}

// AddCounts is AddCluster for integers.
func (c *Clusters) AddCounts(y, x, rows int64) {
	c.count(rows, x != 0)
	c.y.AddInt(y)
	c.x.AddInt(x)
	c.yy.AddIntProduct(y, y)
	c.xy.AddIntProduct(x, y)
	c.xx.AddIntProduct(x, x)
}

// AddSums is AddCluster for sums that are known exactly.
func (c *Clusters) AddSums(y, x *Exact, rows int64) {
	c.count(rows, !x.IsZero())
	c.y.Merge(y)
	c.x.Merge(x)
	c.yy.AddSumProduct(y, y)
	c.xy.AddSumProduct(x, y)
	c.xx.AddSumProduct(x, x)
}

func (c *Clusters) count(rows int64, informative bool) {
	c.clusters++
	c.rows += rows
	if informative {
		c.informative++
	}
}

// Named has the methods of estimates end with "/" and how, as [ByComponents].
func (c *Clusters) Named(how string) { c.how = how }

// Errors begins the errors of the clusters, which are units that depend on each other as of
// says, in the memory of u. It reports whether there are any: if not, nothing rests on them.
func (c *Clusters) Errors(u *UnitErrors, of *Dependence) bool {
	m := c.moments()
	if m.x.IsZero() || !m.inRange() {
		return false
	}
	u.begin(of, m.ratio(), m.errorSquares())
	return true
}

// Rest says that the clusters are units that depend on each other as u says, which
// [Clusters.Errors] began and to which the rows of all kept units were added: estimates have
// their standard error from [Dependence.Spread], and its effective documents in place of
// clusters.
func (c *Clusters) Rest(u *UnitErrors) {
	_, x, _ := c.Sums()
	s := u.spread(x)
	c.how, c.spread = s.How, &s
}

// RestOn is Rest of what each unit adds, in their order.
func (c *Clusters) RestOn(of *Dependence, sums iter.Seq[Sum]) {
	var u UnitErrors
	if c.Errors(&u, of) {
		u.addSums(sums)
		c.Rest(&u)
	}
}

// Merge adds all clusters of o, which must be other clusters than those of c: a
// cluster whose rows are spread over several states must be summed first, see
// [Grouper].
func (c *Clusters) Merge(o *Clusters) {
	if c.Len() == 0 {
		c.deleted, c.deletedOf = o.deleted, o.deletedOf
	}
	c.clusters += o.clusters
	c.rows += o.rows
	c.informative += o.informative
	c.y.Merge(&o.y)
	c.x.Merge(&o.x)
	c.yy.Merge(&o.yy)
	c.xy.Merge(&o.xy)
	c.xx.Merge(&o.xx)
	c.units += o.units
	c.unitY.Merge(&o.unitY)
}

// Rows is the number of rows added.
func (c *Clusters) Rows() int64 { return c.rows + c.units }

// Len is the number of clusters added.
func (c *Clusters) Len() int64 { return c.clusters + c.units }

// Sums are the sums of numerators and denominators, rounded once. They are
// undefined if a value was not finite or too large.
func (c *Clusters) Sums() (y, x float64, ok bool) {
	s := c.moments()
	y, okY := s.y.Float64()
	x, okX := s.x.Float64()
	if !okY || !okX {
		return 0, 0, false
	}
	return y, x, true
}

// moments folds the single rows into the sums over all clusters.
func (c *Clusters) moments() *moments {
	m := &moments{y: c.y, x: c.x, yy: c.yy, xy: c.xy, xx: c.xx, clusters: c.Len(), informative: c.informative + c.units, spread: c.spread}
	m.y.Merge(&c.unitY)
	m.xy.Merge(&c.unitY)
	m.x.AddInt(c.units)
	m.xx.AddInt(c.units)
	return m
}

// moments are the sums that every estimator over clusters starts from.
type moments struct {
	y, x, yy, xy, xx      Exact
	clusters, informative int64
	spread                *Spread // nil if clusters are independent
}

// trials is the number of clusters that tell something.
func (m *moments) trials() float64 {
	if m.spread != nil {
		return m.spread.Effective
	}
	return float64(m.informative)
}

// freedom is the number of clusters less one.
func (m *moments) freedom() float64 {
	if m.spread != nil {
		return m.spread.Effective - 1
	}
	return float64(m.clusters - 1)
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

// errorSquares is Σ(y-Rx)².
func (m *moments) errorSquares() float64 {
	num, x := m.squares()
	if num.Sign() <= 0 {
		return 0
	}
	q := new(big.Float).SetPrec(floatBits).Quo(new(big.Float).SetInt(num), new(big.Float).SetInt(x.Mul(x, x)))
	v, _ := q.SetMantExp(q, -fracBits).Float64()
	return v
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
	if m.spread != nil {
		return m.spread.SE, m.spread.Known && m.inRange()
	}
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

// Codes gives distinct keys the codes 0, 1, 2, … in the order of first sight, so
// that a [Grouper] can index clusters. It keeps about 20 to 40 bytes per distinct
// key. Keys are usually 64-bit hashes of cluster names: two names with one hash
// become one cluster, of which the chance is below 3e-8 for a million names.
//
// The zero Codes is empty. It is not safe for concurrent use.
type Codes struct {
	codes map[uint64]int
}

// Code is the code of key.
func (c *Codes) Code(key uint64) int {
	code, ok := c.codes[key]
	if !ok {
		if c.codes == nil {
			c.codes = make(map[uint64]int)
		}
		code = len(c.codes)
		c.codes[key] = code
	}
	return code
}

// Len is the number of distinct keys seen.
func (c *Codes) Len() int { return len(c.codes) }

// A Grouper sums rows by cluster, in any order of rows. Sums are exact, so what
// [Grouper.Drain] gives does not depend on that order, nor on how rows were split
// over groupers that are merged.
//
// It keeps 104 bytes for each code up to the largest one added, for one metric at
// a time: drain it, then use it for the next. Only the growth of that table
// allocates. The zero Grouper is empty. It is not safe for concurrent use.
type Grouper struct {
	cells []cell
}

type cell struct {
	y, x Exact
	rows int64
}

// Add adds a row of value y to the cluster with the given code, at least 0.
func (g *Grouper) Add(code int, y float64) {
	c := g.cell(code)
	c.rows++
	c.y.Add(y)
	c.x.AddInt(1)
}

// AddRatio adds a row with numerator y and denominator x to the cluster with the
// given code, at least 0.
func (g *Grouper) AddRatio(code int, y, x float64) {
	c := g.cell(code)
	c.rows++
	c.y.Add(y)
	c.x.Add(x)
}

// Merge adds all rows of o. Codes must mean the same clusters in both.
func (g *Grouper) Merge(o *Grouper) {
	if len(o.cells) > 0 {
		g.grow(len(o.cells))
	}
	for i := range o.cells {
		from, to := &o.cells[i], &g.cells[i]
		to.rows += from.rows
		to.y.Merge(&from.y)
		to.x.Merge(&from.x)
	}
}

// Drain adds every cluster that has rows to c and empties g, which keeps its
// memory.
func (g *Grouper) Drain(c *Clusters) {
	alone := c.Len() == 0
	for i := range g.cells {
		if cell := &g.cells[i]; cell.rows > 0 {
			c.AddSums(&cell.y, &cell.x, cell.rows)
		}
	}
	if alone {
		c.DeleteEach(func(yield func(y, x float64) bool) {
			g.Each(func(_ int, y, x float64, _ int64, _ bool) { yield(y, x) })
		})
	}
	clear(g.cells)
	g.cells = g.cells[:0]
}

// Each calls f with every cluster that has rows, by code: its sums, each rounded
// once, and its rows. A sum that is not defined is 0 and has ok false.
func (g *Grouper) Each(f func(code int, y, x float64, rows int64, ok bool)) {
	for i := range g.cells {
		if cell := &g.cells[i]; cell.rows > 0 {
			y, okY := cell.y.Float64()
			x, okX := cell.x.Float64()
			f(i, y, x, cell.rows, okY && okX)
		}
	}
}

func (g *Grouper) cell(code int) *cell {
	if code >= len(g.cells) {
		g.grow(code + 1)
	}
	return &g.cells[code]
}

// grow makes room for n cells. Cells beyond the length are always empty.
func (g *Grouper) grow(n int) {
	if n <= len(g.cells) {
		return
	}
	if n > cap(g.cells) {
		cells := make([]cell, len(g.cells), max(n, 2*cap(g.cells)))
		copy(cells, g.cells)
		g.cells = cells
	}
	g.cells = g.cells[:n]
}
