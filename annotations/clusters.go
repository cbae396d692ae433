package annotations

import (
	"maps"
	"slices"

	"ibid/metrics/stats"
)

const (
	// maxClusters is how many documents keep sums of their own.
	maxClusters = 2000
	// pooledClusters is how many groups the documents of larger collections are
	// put into, by their names alone. Resampling random groups of documents
	// estimates the same spread (Wolter 2007, chapter 2) at a bounded cost.
	pooledClusters = 1000
)

// A clusterSums keeps vectors of sums by document.
type clusterSums struct {
	width  int
	sums   map[uint64][]float64
	rows   map[uint64]int64
	seen   map[uint64]struct{} // documents
	pooled bool
}

func newClusterSums(width int) *clusterSums {
	return &clusterSums{width: width, sums: make(map[uint64][]float64), rows: make(map[uint64]int64), seen: make(map[uint64]struct{})}
}

// of returns the sums of a document, to add to. It counts one item, unless it is
// an item that one annotator alone saw.
func (c *clusterSums) of(cluster string, alone bool) []float64 {
	key := stats.Key(cluster)
	if !alone {
		c.seen[key] = struct{}{}
	}
	if c.pooled {
		key %= pooledClusters
	}
	v := c.sums[key]
	if v == nil {
		v = make([]float64, c.width)
		c.sums[key] = v
	}
	if !alone {
		c.rows[key]++
	}
	if len(c.sums) > maxClusters {
		c.pool()
		v = c.sums[key%pooledClusters]
	}
	return v
}

func (c *clusterSums) pool() {
	sums, rows := c.sums, c.rows
	c.pooled, c.sums, c.rows = true, make(map[uint64][]float64), make(map[uint64]int64)
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		to := c.sums[key%pooledClusters]
		if to == nil {
			to = make([]float64, c.width)
			c.sums[key%pooledClusters] = to
		}
		for i, v := range sums[key] {
			to[i] += v
		}
		c.rows[key%pooledClusters] += rows[key]
	}
}

// documents is the number of documents that gave an item.
func (c *clusterSums) documents() int64 { return int64(len(c.seen)) }

// items is the number of items.
func (c *clusterSums) items() (n int64) {
	for _, k := range c.rows {
		n += k
	}
	return n
}

// total is a sum over all documents, of whole numbers.
func (c *clusterSums) total(column int) (n float64) {
	for _, sums := range c.sums {
		n += sums[column]
	}
	return n
}

// An estimand is a statistic of some of the sums.
type estimand struct {
	columns []int
	f       stats.Statistic
	alone   bool // counts what is known of items that one annotator alone saw, too
	share   bool // is in [0, 1]: see bounded
}

// estimate is a statistic of some of the sums with its interval, over documents
// that gave an item.
func (c *clusterSums) estimate(o *Options, columns []int, f stats.Statistic) stats.Estimate {
	return c.estimates(o, []estimand{{columns: columns, f: f}})[0]
}

// estimates is estimate of several statistics. Documents all of whose sums are 0 say
// nothing of one. With items that one annotator alone saw, the interval still rests on
// the documents that gave an item.
func (c *clusterSums) estimates(o *Options, list []estimand) []stats.Estimate {
	keys := slices.Sorted(maps.Keys(c.sums))
	units, telling, of := make([]*stats.Units, len(list)), make([]int64, len(list)), make([]stats.Statistic, len(list))
	for k := range list {
		units[k], telling[k] = c.units(keys, &list[k])
		of[k] = list[k].f
	}
	out := make([]stats.Estimate, len(list))
	for k, b := range stats.Bootstraps(units, of, o.resampling()) {
		out[k] = b.BCa(o.Level)
		out[k].RestsOn(telling[k])
		if list[k].share {
			out[k] = bounded(o, out[k])
		}
	}
	return out
}

// units are the documents with the sums that a statistic is made of, and how many of them
// gave an item.
func (c *clusterSums) units(keys []uint64, of *estimand) (units *stats.Units, telling int64) {
	units = stats.NewUnits(len(of.columns))
	picked := make([]float64, len(of.columns))
	for _, key := range keys {
		for i, column := range of.columns {
			picked[i] = c.sums[key][column]
		}
		gave := c.rows[key] > 0
		if !gave && !of.alone || !slices.ContainsFunc(picked, func(v float64) bool { return v != 0 }) {
			continue
		}
		if gave {
			telling++
		}
		units.Add(key, c.rows[key], picked...)
	}
	return units, telling
}

// bounded is an estimate of a statistic in [0, 1]. Where all documents agree, which
// leaves resamples nothing to differ in, it has Wilson's interval with every
// document as one trial.
func bounded(o *Options, e stats.Estimate) stats.Estimate {
	if !e.HasInterval || !e.Degenerate {
		return e
	}
	n := float64(e.Clusters)
	w := stats.Wilson(e.Value*n, n, o.Level)
	w.Method = stats.WilsonCluster
	w.Warnings = []stats.Warning{{Code: stats.NoDesignEffect, Text: "all documents agree: Wilson interval with one trial per document"}}
	e = e.WithInterval(w)
	e.Degenerate = false
	e.Warnings = slices.DeleteFunc(e.Warnings, func(w stats.Warning) bool { return w.Code == stats.ZeroWidth })
	return e
}

// share is the share of the items counted by the columns of that the columns hits
// count, too, with Wilson's interval at the effective number of items where they
// share documents.
func (c *clusterSums) share(hits, of []int, level float64) stats.Estimate {
	var all stats.Clusters
	for _, key := range slices.Sorted(maps.Keys(c.sums)) {
		var y, x int64
		for _, column := range hits {
			y += int64(c.sums[key][column])
		}
		for _, column := range of {
			x += int64(c.sums[key][column])
		}
		if x > 0 {
			all.AddCounts(y, x, x)
		}
	}
	return all.Proportion(level)
}
