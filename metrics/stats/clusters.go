package stats

import "math"

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

// Merge adds all clusters of o, which must be other clusters than those of c: a
// cluster whose rows are spread over several states must be summed first, see
// [Grouper].
func (c *Clusters) Merge(o *Clusters) {
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
	m := &moments{y: c.y, x: c.x, yy: c.yy, xy: c.xy, xx: c.xx, clusters: c.Len(), informative: c.informative + c.units}
	m.y.Merge(&c.unitY)
	m.xy.Merge(&c.unitY)
	m.x.AddInt(c.units)
	m.xx.AddInt(c.units)
	return m
}
