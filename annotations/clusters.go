package annotations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ibid"
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

	touched map[uint64][]uint64 // documents of the clusters that are several
}

func newClusterSums(width int) *clusterSums {
	return &clusterSums{width: width, sums: make(map[uint64][]float64), rows: make(map[uint64]int64), seen: make(map[uint64]struct{}), touched: make(map[uint64][]uint64)}
}

// documentSeparator is between the documents of a cluster. It is no valid UTF-8, so that
// no name holds it.
const documentSeparator = "\xff\xfe"

// ClusterOf is the cluster of an item that touches documents, sorted: those that share one
// depend on each other. It is "" without documents.
func ClusterOf(documents []string) string { return strings.Join(documents, documentSeparator) }

// documentKeys are the keys of the documents of a cluster.
func documentKeys(cluster string) []uint64 {
	var keys []uint64
	for name := range strings.SplitSeq(cluster, documentSeparator) {
		keys = append(keys, stats.Key(name))
	}
	return keys
}

// of returns the sums of a document, to add to. It counts one item, unless it is
// an item that one annotator alone saw.
func (c *clusterSums) of(cluster string, alone bool) []float64 {
	key := stats.Key(cluster)
	if !alone {
		c.see(cluster, key)
	}
	if c.pooled {
		key %= pooledClusters
	}
	v := c.at(key)
	if !alone {
		c.rows[key]++
	}
	if len(c.sums) > maxClusters {
		c.pool()
		v = c.sums[key%pooledClusters]
	}
	return v
}

// at are the sums of a key.
func (c *clusterSums) at(key uint64) []float64 {
	v := c.sums[key]
	if v == nil {
		v = make([]float64, c.width)
		c.sums[key] = v
	}
	return v
}

// merge adds the sums and rows of another key.
func (c *clusterSums) merge(key uint64, sums []float64, rows int64) {
	to := c.at(key)
	for i, v := range sums {
		to[i] += v
	}
	c.rows[key] += rows
}

// see notes the documents of a cluster.
func (c *clusterSums) see(cluster string, key uint64) {
	if !strings.Contains(cluster, documentSeparator) {
		c.seen[key] = struct{}{}
		return
	}
	if _, known := c.touched[key]; known {
		return
	}
	c.touched[key] = documentKeys(cluster)
	for _, doc := range c.touched[key] {
		c.seen[doc] = struct{}{}
	}
}

func (c *clusterSums) pool() {
	sums, rows := c.sums, c.rows
	c.pooled, c.sums, c.rows = true, make(map[uint64][]float64), make(map[uint64]int64)
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		c.merge(key%pooledClusters, sums[key], rows[key])
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
	d, ok := c.dependence(keys)
	how := ""
	switch {
	case !ok || d != nil && !d.Components:
		out := make([]stats.Estimate, len(list))
		for k := range list {
			out[k] = c.dependent(keys, d, &list[k], o.Level)
		}
		return out
	case d != nil:
		c, how = c.merged(keys, d), stats.ByComponents
		keys = slices.Sorted(maps.Keys(c.sums))
	}
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
		out[k].Method = out[k].Method.By(how)
	}
	return out
}

// dependence says how clusters that are several documents depend on each other; nil if no
// two share one. It is not known of random groups of documents.
func (c *clusterSums) dependence(keys []uint64) (d *stats.Dependence, known bool) {
	if len(c.touched) == 0 {
		return nil, true
	}
	if c.pooled {
		return nil, false
	}
	var touching stats.Touching
	var members []stats.Member
	for i, key := range keys {
		if docs := c.touched[key]; docs != nil {
			touching.AddKeys(docs...)
		} else {
			touching.AddKeys(key)
		}
		for range max(1, c.rows[key]) {
			members = append(members, stats.Member{Unit: key, Row: int32(i)})
		}
	}
	return touching.Depend(members, false, 0), true
}

// merged are the sums by the components of the clusters with these keys.
func (c *clusterSums) merged(keys []uint64, d *stats.Dependence) *clusterSums {
	out := newClusterSums(c.width)
	for i, key := range keys {
		out.merge(d.Keys[d.Of[i]], c.sums[key], c.rows[key])
	}
	return out
}

// dependent is an estimate over clusters that depend on each other as no clusters do. What
// each adds to it is what it changes when it is left out. Without d there is no interval.
func (c *clusterSums) dependent(keys []uint64, d *stats.Dependence, of *estimand, level float64) stats.Estimate {
	totals := make([]float64, len(of.columns))
	items := int64(0)
	for _, key := range keys {
		items += c.rows[key]
		if c.rows[key] == 0 && !of.alone {
			continue
		}
		for k, column := range of.columns {
			totals[k] += c.sums[key][column]
		}
	}
	value, ok := of.f(totals)
	e := stats.Estimate{Level: level, N: items, Clusters: c.documents(), Reason: ibid.ZeroDenominator}
	if !ok {
		return e
	}
	if e.Value, e.Reason = value, ibid.Defined; d == nil {
		e.Warnings = append(e.Warnings, stats.Warning{Code: stats.NotExchangeable, Text: fmt.Sprintf("more than %d sets of documents that overlap: no interval", maxClusters)})
		return e
	}
	sums, rest := make([]stats.Sum, len(keys)), make([]float64, len(totals))
	mean, units := 0.0, 0.0
	for i, key := range keys {
		if c.rows[key] == 0 && !of.alone {
			continue
		}
		some := false
		for k, column := range of.columns {
			v := c.sums[key][column]
			rest[k], some = totals[k]-v, some || v != 0
		}
		if !some {
			continue
		}
		without, ok := of.f(rest)
		if !ok {
			return e
		}
		sums[i] = stats.Sum{Y: value - without, Rows: float64(max(1, c.rows[key]))}
		mean, units = mean+value-without, units+1
	}
	for i := range sums {
		if sums[i].Rows > 0 {
			sums[i].Y -= mean / units
		}
	}
	spread := d.Spread(sums, 0, 1)
	low := -1.0
	if of.share {
		low = 0
	}
	e = spread.Within(value, low, 1, items, level)
	e.Warnings = append(e.Warnings, stats.Warning{Code: stats.NotExchangeable, Text: stats.NotExchangeableText})
	return e
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
	keys := slices.Sorted(maps.Keys(c.sums))
	d, known := c.dependence(keys)
	if d != nil && d.Components {
		c = c.merged(keys, d)
		keys = slices.Sorted(maps.Keys(c.sums))
		all.Named(stats.ByComponents)
	}
	sums := make([]stats.Sum, len(keys))
	for i, key := range keys {
		var y, x int64
		for _, column := range hits {
			y += int64(c.sums[key][column])
		}
		for _, column := range of {
			x += int64(c.sums[key][column])
		}
		if x > 0 {
			all.AddCounts(y, x, x)
			sums[i] = stats.Sum{Y: float64(y), X: float64(x), Rows: float64(x)}
		}
	}
	if d != nil && !d.Components {
		all.RestOn(d, slices.Values(sums))
	}
	e := all.Proportion(level)
	if !known {
		e.Low, e.High, e.HasInterval, e.Effective = 0, 0, false, 0
	}
	return e
}
