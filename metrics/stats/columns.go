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

// A middle is a float64 of which |v| is 0 or in the range of middleWords, taken
// apart without a branch: signs and zeros come and go too often to guess them.
type middle struct {
	m    uint64 // |v| is m * 2^(exp+middleExp-expBias)
	sign int64  // -1 if v is negative, else 0
	exp  uint
}

// splitMiddle takes v apart; ok is false if it is out of range.
func splitMiddle(v float64) (x middle, ok bool) {
	b := math.Float64bits(v)
	abs := b &^ (1 << 63)
	some := uint64(int64(-abs) >> 63)
	x = middle{m: (abs&(1<<52-1) | 1<<52) & some, sign: int64(b) >> 63, exp: uint((abs>>52 - middleExp) & some)}
	return x, x.exp < middleExps
}

// A middleSum is a sum of at most chunkRows numbers below 2^31 in magnitude, in
// the second and third word of an Exact.
type middleSum struct{ low, high uint64 }

// add adds what middleWords places of m, which is below 2^63, negated if sign is -1.
func (s *middleSum) add(m uint64, sign int64, exp uint) {
	signed := (int64(m) ^ sign) - sign
	shift := middleShift(exp)
	var c uint64
	s.low, c = bits.Add64(s.low, uint64(signed)<<shift, 0)
	s.high, _ = bits.Add64(s.high, uint64(signed>>((64-shift)&63)), c)
}

func (s *middleSum) exact() *Exact {
	sign := uint64(int64(s.high) >> 63)
	return &Exact{w: [5]uint64{0, s.low, s.high, sign, sign}}
}

// A middleSquares is a sum of at most chunkRows squares, in the first three words
// of an Exact.
type middleSquares struct{ w0, w1, w2 uint64 }

// add adds what middleSquareWords places.
func (s *middleSquares) add(w0, w1, w2 uint64) {
	var c uint64
	s.w0, c = bits.Add64(s.w0, w0, 0)
	s.w1, c = bits.Add64(s.w1, w1, c)
	s.w2, _ = bits.Add64(s.w2, w2, c)
}

func (s *middleSquares) exact() *Exact { return &Exact{w: [5]uint64{s.w0, s.w1, s.w2}} }

// addMiddleRows adds what AddRow adds, but for the count.
func (c *Clusters) addMiddleRows(ys []float64) {
	var y middleSum
	var yy middleSquares
	for _, v := range ys {
		x, ok := splitMiddle(v)
		if !ok {
			c.unitY.Add(v)
			c.yy.AddProduct(v, v)
			continue
		}
		y.add(x.m, x.sign, x.exp)
		yy.add(middleSquareWords(x.m, x.exp))
	}
	c.unitY.Merge(y.exact())
	c.yy.Merge(yy.exact())
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

// middleFactor bounds the denominators whose product with a mantissa is below 2^63.
const middleFactor = 1 << 10

// addMiddleSums sums in registers where y is 0 or in the middle and x a small
// count.
func (c *Clusters) addMiddleSums(ys []float64, xs []int64) {
	var y, xy middleSum
	var yy middleSquares
	var x, xx, rows, zeros int64
	xs = xs[:len(ys)]
	for i, v := range ys {
		w := xs[i]
		split, ok := splitMiddle(v)
		if !ok || uint64(w) >= middleFactor {
			c.AddCluster(v, float64(w), 1)
			continue
		}
		rows++
		if w == 0 {
			zeros++
		}
		x += w
		xx += w * w
		y.add(split.m, split.sign, split.exp)
		xy.add(split.m*uint64(w), split.sign, split.exp)
		yy.add(middleSquareWords(split.m, split.exp))
	}
	c.clusters += rows
	c.rows += rows
	c.informative += rows - zeros
	c.x.AddInt(x)
	c.xx.AddInt(xx)
	c.y.Merge(y.exact())
	c.xy.Merge(xy.exact())
	c.yy.Merge(yy.exact())
}
