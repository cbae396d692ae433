package stats

import (
	"math"
	"math/bits"
	"slices"
)

// chunkRows is how many rows are summed in registers before they are added to the
// sums: few enough that nothing overflows.
const chunkRows = 1 << 20

// AddRows is AddRow for each of ys, at a lower cost per row.
func (c *Clusters) AddRows(ys []float64) {
	for chunk := range slices.Chunk(ys, chunkRows) {
		c.addMiddleRows(chunk)
	}
	c.units += int64(len(ys))
}

// addMiddleRows adds what AddRow adds, but for the count. The sum of its values is
// below 2^40, that of their squares below 2^60.
func (c *Clusters) addMiddleRows(ys []float64) {
	const mask = 1<<52 - 1
	var y, yy [5]uint64
	var r uint64
	for _, v := range ys {
		b := math.Float64bits(v)
		// A zero is added as such: zeros come and go too often to branch on.
		some := uint64(int64(b|-b) >> 63)
		exp := uint((b>>52 - middleExp) & some)
		if exp >= middleExps {
			c.unitY.Add(v)
			c.yy.AddProduct(v, v)
			continue
		}
		m := (b&mask | 1<<52) & some
		low, high := middleWords(m, exp)
		y[1], r = bits.Add64(y[1], low, 0)
		y[2] += high + r
		s0, s1, s2 := middleSquareWords(m, exp)
		yy[0], r = bits.Add64(yy[0], s0, 0)
		yy[1], r = bits.Add64(yy[1], s1, r)
		yy[2] += s2 + r
	}
	c.unitY.Merge(&Exact{w: y})
	c.yy.Merge(&Exact{w: yy})
}

// reach bounds the counts that are summed in registers: a chunk's sum of products
// stays below 2^62.
const reach = 1 << 21

// small reports whether v is such a count.
func small(v int64) bool { return uint64(v+reach) < 2*reach }

// AddRowInts is AddRow for each of ys as float64, at a lower cost per row.
func (c *Clusters) AddRowInts(ys []int64) {
	for chunk := range slices.Chunk(ys, chunkRows) {
		c.addSmallRows(chunk)
	}
}

func (c *Clusters) addSmallRows(ys []int64) {
	var y, yy, rows int64
	for _, v := range ys {
		if !small(v) {
			c.AddRow(float64(v))
			continue
		}
		rows++
		y += v
		yy += v * v
	}
	c.units += rows
	c.unitY.AddInt(y)
	c.yy.AddInt(yy)
}

// AddRowCounts is AddCounts for each pair of ys and xs, each a cluster of one row,
// at a lower cost per row. The slices must have one length.
func (c *Clusters) AddRowCounts(ys, xs []int64) {
	for len(ys) > chunkRows {
		c.addSmallCounts(ys[:chunkRows], xs[:chunkRows])
		ys, xs = ys[chunkRows:], xs[chunkRows:]
	}
	c.addSmallCounts(ys, xs)
}

func (c *Clusters) addSmallCounts(ys, xs []int64) {
	var y, x, yy, xy, xx, zeros, large int64
	xs = xs[:len(ys)]
	for i, v := range ys {
		w := xs[i]
		if !small(v) || !small(w) {
			large++
			c.AddCounts(v, w, 1)
			continue
		}
		if w == 0 {
			zeros++
		}
		y += v
		x += w
		yy += v * v
		xy += v * w
		xx += w * w
	}
	rows := int64(len(ys)) - large
	c.clusters += rows
	c.rows += rows
	c.informative += rows - zeros
	c.y.AddInt(y)
	c.x.AddInt(x)
	c.yy.AddInt(yy)
	c.xy.AddInt(xy)
	c.xx.AddInt(xx)
}

// AddRowSums is AddCluster for each pair of ys and xs, each a cluster of one row,
// at a lower cost per row. The slices must have one length.
func (c *Clusters) AddRowSums(ys []float64, xs []int64) {
	for len(ys) > chunkRows {
		c.addMiddleSums(ys[:chunkRows], xs[:chunkRows])
		ys, xs = ys[chunkRows:], xs[chunkRows:]
	}
	c.addMiddleSums(ys, xs)
}

// middleFactor bounds the denominators whose product with a mantissa fits a word.
const middleFactor = 1 << 11

// addMiddleSums sums in registers where y is 0 or in the middle and x a small
// count. The sum of the products is below 2^51, that of the squares below 2^60.
func (c *Clusters) addMiddleSums(ys []float64, xs []int64) {
	const mask = 1<<52 - 1
	var y, xy, yy [5]uint64
	var r uint64
	var x, xx, rows, zeros int64
	xs = xs[:len(ys)]
	for i, v := range ys {
		w := xs[i]
		b := math.Float64bits(v)
		some := uint64(int64(b|-b) >> 63)
		exp := uint((b>>52 - middleExp) & some)
		if uint64(w) >= middleFactor || exp >= middleExps {
			c.AddCluster(v, float64(w), 1)
			continue
		}
		rows++
		if w == 0 {
			zeros++
		}
		x += w
		xx += w * w
		m := (b&mask | 1<<52) & some
		low, high := middleWords(m, exp)
		y[1], r = bits.Add64(y[1], low, 0)
		y[2] += high + r
		low, high = middleWords(m*uint64(w), exp)
		xy[1], r = bits.Add64(xy[1], low, 0)
		xy[2] += high + r
		s0, s1, s2 := middleSquareWords(m, exp)
		yy[0], r = bits.Add64(yy[0], s0, 0)
		yy[1], r = bits.Add64(yy[1], s1, r)
		yy[2] += s2 + r
	}
	c.clusters += rows
	c.rows += rows
	c.informative += rows - zeros
	c.x.AddInt(x)
	c.xx.AddInt(xx)
	c.y.Merge(&Exact{w: y})
	c.xy.Merge(&Exact{w: xy})
	c.yy.Merge(&Exact{w: yy})
}
