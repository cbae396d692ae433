package dataset

import "math"

// columnBounds are the least and the greatest number of a column, kept while
// numbers come by so that nobody has to look at them again. Doubles are compared
// by their bits, which are in the order of the numbers unless some are negative,
// -0 or NaN; then mostBits is above that of +Inf.
type columnBounds struct {
	least, most         int64
	leastBits, mostBits uint64
}

var noBounds = columnBounds{least: math.MaxInt64, most: math.MinInt64, leastBits: math.MaxUint64}

func (b *columnBounds) addBits(v uint64) {
	b.leastBits, b.mostBits = min(b.leastBits, v), max(b.mostBits, v)
}

func (c *tableColumn) addInt(v int64) {
	c.ints = append(c.ints, v)
	c.bounds.least, c.bounds.most = min(c.bounds.least, v), max(c.bounds.most, v)
}
