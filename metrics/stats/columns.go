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
		exp := uint(b>>52 - middleExp)
		if exp >= middleExps {
			if b != 0 {
				c.unitY.Add(v)
				c.yy.AddProduct(v, v)
			}
			continue
		}
		m := b&mask | 1<<52
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

// AddRowCounts is AddCounts for each pair of ys and xs, each a cluster of one row,
// at a lower cost per row. The slices must have one length.
func (c *Clusters) AddRowCounts(ys, xs []int64) {
	for len(ys) > chunkRows {
		c.addSmallCounts(ys[:chunkRows], xs[:chunkRows])
		ys, xs = ys[chunkRows:], xs[chunkRows:]
	}
	c.addSmallCounts(ys, xs)
}

// addSmallCounts sums in registers what stays below 2^31 in magnitude.
func (c *Clusters) addSmallCounts(ys, xs []int64) {
	const reach = 1 << 31
	var y, x, informative, rows int64
	var yy, xy, xx wide
	for i, v := range ys {
		w := xs[i]
		if uint64(v+reach)|uint64(w+reach) >= 2*reach {
			c.AddCounts(v, w, 1)
			continue
		}
		rows++
		if w != 0 {
			informative++
		}
		y += v
		x += w
		yy.add(v * v)
		xy.add(v * w)
		xx.add(w * w)
	}
	c.clusters += rows
	c.rows += rows
	c.informative += informative
	c.y.AddInt(y)
	c.x.AddInt(x)
	c.yy.addWide(yy)
	c.xy.addWide(xy)
	c.xx.addWide(xx)
}

// wide is a 128-bit two's-complement integer.
type wide struct{ lo, hi uint64 }

func (w *wide) add(v int64) {
	var c uint64
	w.lo, c = bits.Add64(w.lo, uint64(v), 0)
	w.hi, _ = bits.Add64(w.hi, uint64(v>>63), c)
}

func (e *Exact) addWide(v wide) {
	sign := uint64(int64(v.hi) >> 63)
	var c uint64
	e.w[2], c = bits.Add64(e.w[2], v.lo, 0)
	e.w[3], c = bits.Add64(e.w[3], v.hi, c)
	e.w[4], _ = bits.Add64(e.w[4], sign, c)
}
