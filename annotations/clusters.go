package annotations

import (
	"strings"

	"ibid/metrics/stats"
)

// An agreedItem is an item with its sums. The last of them is 1 if one annotator alone saw the item,
// else 0.
type agreedItem struct {
	sums      []float64
	documents []int32 // that the item touches
}

// sumsOf returns an item with its sums and the numbers of its documents, new ones for new names.
func sumsOf(names *stats.Numbering[string], cluster string, sums []float64) *agreedItem {
	of := &agreedItem{sums: sums}
	for name := range strings.SplitSeq(cluster, documentSeparator) {
		of.documents = append(of.documents, names.Number(name))
	}
	return of
}

// alone reports whether one annotator alone saw the item.
func (s *agreedItem) alone() bool { return s.sums[len(s.sums)-1] == 1 }

// An itemSums is a set of items, with the names of the documents that they touch.
type itemSums struct {
	names *stats.Numbering[string]
	items []*agreedItem
}

// add adds an item.
func (c *itemSums) add(cluster string, sums []float64) {
	c.items = append(c.items, sumsOf(c.names, cluster, sums))
}

// documentSeparator is between the documents of a cluster. It is no valid UTF-8, so that
// no name holds it.
const documentSeparator = "\xff\xfe"

// ClusterOf is the cluster of an item that touches documents, sorted: those that share one
// depend on each other. It is "" without documents.
func ClusterOf(documents []string) string { return strings.Join(documents, documentSeparator) }

// touched are the documents of the items, and the numbers that these have among the names.
func (c *itemSums) touched() (*stats.Documents, []int32) {
	var local stats.Numbering[int32]
	out := new(stats.Documents)
	for _, item := range c.items {
		for _, d := range item.documents {
			out.Touch(local.Number(d))
		}
		out.Add()
	}
	return out, local.Names
}

// counts are the number of items that several annotators saw, and of the documents that gave one.
func (c *itemSums) counts() (items, documents int64) {
	gave := make(map[int32]struct{})
	for _, item := range c.items {
		if !item.alone() {
			items++
			for _, d := range item.documents {
				gave[d] = struct{}{}
			}
		}
	}
	return items, int64(len(gave))
}

// total is a sum over all items.
func (c *itemSums) total(column int) (n float64) {
	for _, item := range c.items {
		n += item.sums[column]
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
	documents, numbers := c.touched()
	e := c.unnamed(of, documents, level)
	e.NameGiven(func(d int32) string { return c.names.Names[numbers[d]] })
	return e
}

func (c *itemSums) unnamed(of estimand, documents *stats.Documents, level float64) stats.Estimate {
	picked := make([]float64, len(of.columns))
	pick := func(i int) []float64 {
		clear(picked)
		if item := c.items[i]; !item.alone() || of.alone {
			for k, column := range of.columns {
				picked[k] = item.sums[column]
			}
		}
		return picked
	}
	n := len(c.items)
	if of.f == nil {
		y, x := make([]float64, n), make([]float64, n)
		for i := range n {
			sums := pick(i)
			y[i], x[i] = sums[0], sums[1]
		}
		return stats.NewQuotient(y, x).Within(documents, of.low, 1, level)
	}
	var weight func(sums []float64) float64
	if of.length {
		weight = func(sums []float64) float64 { return sums[0] + sums[1] }
	}
	return stats.Jackknifed(n, pick, of.f, weight, documents, of.low, 1, level)
}
