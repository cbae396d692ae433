package annotations

import (
	"slices"
	"strings"

	"ibid/metrics/stats"
)

// An itemSums keeps vectors of sums by item, and the documents that items touch.
type itemSums struct {
	width     int
	sums      []float64 // of each item, one after the other
	alone     []bool    // of each item: one annotator alone saw it
	numbers   stats.Numbering[string]
	documents stats.Documents // of the items
	gave      []bool          // of each document: it gave an item that several saw
}

func newItemSums(width int) *itemSums { return &itemSums{width: width} }

// documentSeparator is between the documents of a cluster. It is no valid UTF-8, so that
// no name holds it.
const documentSeparator = "\xff\xfe"

// ClusterOf is the cluster of an item that touches documents, sorted: those that share one
// depend on each other. It is "" without documents.
func ClusterOf(documents []string) string { return strings.Join(documents, documentSeparator) }

// add adds an item, which one annotator alone saw or several, and returns its sums to add to.
func (c *itemSums) add(cluster string, alone bool) []float64 {
	numbers := c.numbers.Numbers(strings.Split(cluster, documentSeparator)...)
	c.documents.Add(numbers...)
	for len(c.gave) < len(c.numbers.Names) {
		c.gave = append(c.gave, false)
	}
	if !alone {
		for _, d := range numbers {
			c.gave[d] = true
		}
	}
	c.alone = append(c.alone, alone)
	c.sums = append(c.sums, make([]float64, c.width)...)
	return c.of(len(c.alone) - 1)
}

// of are the sums of an item.
func (c *itemSums) of(item int) []float64 { return c.sums[item*c.width : (item+1)*c.width] }

// telling is the number of documents that gave an item.
func (c *itemSums) telling() (n int64) {
	for _, gave := range c.gave {
		if gave {
			n++
		}
	}
	return n
}

// items is the number of items.
func (c *itemSums) items() (n int64) {
	for _, alone := range c.alone {
		if !alone {
			n++
		}
	}
	return n
}

// total is a sum over all items.
func (c *itemSums) total(column int) (n float64) {
	for i := range c.alone {
		n += c.of(i)[column]
	}
	return n
}

// An estimand is a statistic of some of the sums.
type estimand struct {
	columns []int
	f       stats.Statistic // nil: the first column divided by the second
	low     float64         // its least value, 0 or -1; the greatest is 1
	alone   bool            // counts what is known of items that one annotator alone saw, too
	length  bool            // the sums are of characters: an item has their number as its weight
}

// estimate is a statistic of some of the sums with its interval over items and the documents
// that they touch. Items all of whose sums are 0 say nothing of one.
func (c *itemSums) estimate(of estimand, level float64) stats.Estimate {
	e := c.unnamed(of, level)
	e.NameGiven(func(d int32) string { return c.numbers.Names[d] })
	return e
}

func (c *itemSums) unnamed(of estimand, level float64) stats.Estimate {
	n := len(c.alone)
	picked := make([]float64, n*len(of.columns))
	for i, alone := range c.alone {
		if alone && !of.alone {
			continue
		}
		for k, column := range of.columns {
			picked[i*len(of.columns)+k] = c.of(i)[column]
		}
	}
	units := slices.Collect(slices.Chunk(picked, len(of.columns)))
	if of.f == nil {
		y, x := make([]float64, n), make([]float64, n)
		for i, sums := range units {
			y[i], x[i] = sums[0], sums[1]
		}
		return stats.NewQuotient(y, x).Within(&c.documents, of.low, 1, level)
	}
	var weights []float64
	if of.length {
		for _, sums := range units {
			weights = append(weights, sums[0]+sums[1])
		}
	}
	return stats.Jackknifed(units, of.f, weights, &c.documents, of.low, 1, level)
}
