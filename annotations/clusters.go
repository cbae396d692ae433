package annotations

import (
	"encoding/binary"
	"math"
	"strings"

	"ibid/metrics/stats"
)

// An itemStore keeps vectors of sums by item, and the documents that items touch. The last number
// of a vector is 1 if one annotator alone saw the item, else 0. The first ones are kept as they are,
// the others once for all items that have the same.
type itemStore struct {
	first     [][]float64 // of each item; a shorter list has 0 of the others
	rest      []int32     // of each item: the number of the others
	rests     stats.Numbering[string]
	numbers   stats.Numbering[string]
	documents stats.Documents // of the items
}

// An itemSums is a set of items of a store.
type itemSums struct {
	store *itemStore
	items []int32
	sums  []float64 // scratch
}

func (s *itemStore) set(width int) *itemSums {
	return &itemSums{store: s, sums: make([]float64, width)}
}

// newItemSums is an empty set of a store of its own.
func newItemSums(width int) *itemSums { return new(itemStore).set(width) }

// documentSeparator is between the documents of a cluster. It is no valid UTF-8, so that
// no name holds it.
const documentSeparator = "\xff\xfe"

// ClusterOf is the cluster of an item that touches documents, sorted: those that share one
// depend on each other. It is "" without documents.
func ClusterOf(documents []string) string { return strings.Join(documents, documentSeparator) }

// add adds an item with its sums and returns its number.
func (s *itemStore) add(cluster string, sums []float64) int32 {
	item := int32(len(s.rest))
	for name := range strings.SplitSeq(cluster, documentSeparator) {
		s.documents.Touch(s.numbers.Number(name))
	}
	s.documents.Add()
	for k, of := range s.first {
		if sums[k] != 0 {
			s.first[k] = append(append(of, make([]float64, int(item)-len(of))...), sums[k])
		}
	}
	var rest []byte
	for _, v := range sums[len(s.first):] {
		rest = binary.LittleEndian.AppendUint64(rest, math.Float64bits(v))
	}
	s.rest = append(s.rest, s.rests.Number(string(rest)))
	return item
}

// add adds an item to the set and to the store.
func (c *itemSums) add(cluster string, sums []float64) {
	c.items = append(c.items, c.store.add(cluster, sums))
}

// of are the sums of the item at a place of the set, good until the next call.
func (c *itemSums) of(place int) []float64 {
	s, item := c.store, c.items[place]
	for k, of := range s.first {
		if c.sums[k] = 0; int(item) < len(of) {
			c.sums[k] = of[item]
		}
	}
	rest := []byte(s.rests.Names[s.rest[item]])
	for k := len(s.first); k < len(c.sums); k, rest = k+1, rest[8:] {
		c.sums[k] = math.Float64frombits(binary.LittleEndian.Uint64(rest))
	}
	return c.sums
}

// alone reports whether sums are those of an item that one annotator alone saw.
func alone(sums []float64) bool { return sums[len(sums)-1] == 1 }

// touched are the documents of the items, and the numbers that they have in the store.
func (c *itemSums) touched() (*stats.Documents, func(document int32) int32) {
	s := c.store
	if len(c.items) == len(s.rest) {
		return &s.documents, func(document int32) int32 { return document }
	}
	var local stats.Numbering[int32]
	out := new(stats.Documents)
	for _, item := range c.items {
		for _, d := range s.documents.At(int(item), nil) {
			out.Touch(local.Number(d))
		}
		out.Add()
	}
	return out, func(document int32) int32 { return local.Names[document] }
}

// counts are the number of items that several annotators saw, and of the documents that gave one.
func (c *itemSums) counts() (items, documents int64) {
	gave := make(map[int32]struct{})
	for i, item := range c.items {
		if !alone(c.of(i)) {
			items++
			for _, d := range c.store.documents.At(int(item), nil) {
				gave[d] = struct{}{}
			}
		}
	}
	return items, int64(len(gave))
}

// total is a sum over all items.
func (c *itemSums) total(column int) (n float64) {
	for i := range c.items {
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
	documents, number := c.touched()
	e := c.unnamed(of, documents, level)
	e.NameGiven(func(d int32) string { return c.store.numbers.Names[number(d)] })
	return e
}

func (c *itemSums) unnamed(of estimand, documents *stats.Documents, level float64) stats.Estimate {
	picked := make([]float64, len(of.columns))
	pick := func(item int) []float64 {
		sums := c.of(item)
		if alone(sums) && !of.alone {
			clear(sums)
		}
		for k, column := range of.columns {
			picked[k] = sums[column]
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
