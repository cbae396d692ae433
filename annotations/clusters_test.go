package annotations

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"ibid/metrics/stats"
)

// chain are sums of items whose documents each overlap with those of the next: what agrees,
// and all of it. Clusters have one item or two.
func chain(n int) *clusterSums {
	c := newClusterSums(2)
	draw := stats.NewStream(11)
	for i := range n {
		for range 1 + i%2 {
			sums := c.of(ClusterOf([]string{fmt.Sprintf("d%02d", i), fmt.Sprintf("d%02d", i+1)}), false)
			sums[1]++
			if draw.IntN(3) > 0 {
				sums[0]++
			}
		}
	}
	return c
}

// TestSharesOfOverlappingDocuments: leaving a cluster out of a share changes it by
// (s - p·n) / (N - n), for s of its n items and p of all N. Clusters of which one annotator
// alone saw the items, and those that have none, say nothing of it.
func TestSharesOfOverlappingDocuments(t *testing.T) {
	c := chain(60)
	c.of(ClusterOf([]string{"d03", "d40"}), true)[0] = 5
	c.of(ClusterOf([]string{"d05", "d44"}), false)
	keys := slices.Sorted(maps.Keys(c.sums))
	d, known := c.dependence(keys)
	if !known || d == nil || d.Components {
		t.Fatalf("dependence %+v, %v", d, known)
	}
	var hits, all float64
	items := int64(0)
	for _, key := range keys {
		items += c.rows[key]
		if c.rows[key] > 0 {
			hits, all = hits+c.sums[key][0], all+c.sums[key][1]
		}
	}
	value := hits / all
	sums, mean, told := make([]stats.Sum, len(keys)), 0.0, 0.0
	for i, key := range keys {
		if s, n := c.sums[key][0], c.sums[key][1]; n > 0 {
			sums[i] = stats.Sum{Y: (s - value*n) / (all - n), Rows: n}
			mean, told = mean+sums[i].Y, told+1
		}
	}
	for i := range sums {
		if sums[i].Rows > 0 {
			sums[i].Y -= mean / told
		}
	}
	spread := d.Spread(sums, 0, 1)
	share := func(s []float64) (float64, bool) { return s[0] / s[1], s[1] > 0 }
	for _, bounded := range []bool{true, false} {
		low := -1.0
		if bounded {
			low = 0
		}
		want := spread.Within(value, low, 1, items, 0.95)
		e := c.estimates(&testOptions, []estimand{{columns: []int{0, 1}, f: share, share: bounded}})[0]
		if math.Abs(e.Value-value) > 1e-12 || !e.HasInterval || math.Abs(e.Low-want.Low) > 1e-9 || math.Abs(e.High-want.High) > 1e-9 || e.N != items || items != 91 {
			t.Errorf("%v [%v, %v] of %d items, want %v [%v, %v] of %d", e.Value, e.Low, e.High, e.N, value, want.Low, want.High, items)
		}
		if len(e.Warnings) == 0 || e.Warnings[len(e.Warnings)-1].Code != stats.NotExchangeable {
			t.Errorf("warnings %v", e.Warnings)
		}
	}
	// What one annotator alone saw counts where a statistic says so.
	e := c.estimates(&testOptions, []estimand{{columns: []int{0, 1}, f: share, alone: true}})[0]
	if want := (hits + 5) / all; math.Abs(e.Value-want) > 1e-12 {
		t.Errorf("with what one alone saw: %v, want %v", e.Value, want)
	}
	undefined := c.estimates(&testOptions, []estimand{{columns: []int{0, 1}, f: func([]float64) (float64, bool) { return 0, false }}})[0]
	if undefined.Defined() || undefined.HasInterval || undefined.N != items {
		t.Errorf("an undefined statistic is %+v", undefined)
	}
}

// TestOverlapsOfManyDocuments: which of very many sets of documents overlap is not kept, so
// that the estimate has no interval.
func TestOverlapsOfManyDocuments(t *testing.T) {
	c := newClusterSums(2)
	for i := range maxClusters + 1 {
		sums := c.of(ClusterOf([]string{fmt.Sprint(i), fmt.Sprint(i + 1)}), false)
		sums[0], sums[1] = float64(i%2), 1
	}
	e := c.estimates(&testOptions, []estimand{{columns: []int{0, 1}, f: func(s []float64) (float64, bool) { return s[0] / s[1], true }}})[0]
	want := "more than 2000 sets of documents that overlap: no interval"
	if e.Value != float64(maxClusters/2)/float64(maxClusters+1) || e.HasInterval || len(e.Warnings) != 1 || e.Warnings[0].Text != want || e.N != maxClusters+1 {
		t.Errorf("%+v, want no interval", e)
	}
	if s := c.share([]int{0}, []int{1}, 0.95); s.HasInterval || s.Effective != 0 || !s.Defined() {
		t.Errorf("share %+v, want no interval", s)
	}
	one := newClusterSums(1)
	for i := range maxClusters {
		one.of(fmt.Sprint(i), false)[0]++
	}
	if one.pooled {
		t.Errorf("%d documents are pooled", maxClusters)
	}
}

// TestComponentsAreClusters: sets of documents that touch, few at a time, are together one
// cluster, as if they had one name.
func TestComponentsAreClusters(t *testing.T) {
	sets, named := newClusterSums(2), newClusterSums(2)
	draw := stats.NewStream(5)
	for i := range 40 {
		a, b := fmt.Sprint("a", i), fmt.Sprint("b", i)
		for k, cluster := range []string{a, ClusterOf([]string{a, b}), b} {
			if i%4 == 0 && k > 0 {
				continue // a document of its own
			}
			hit := 0.0
			if draw.IntN(3) > 0 {
				hit = 1
			}
			for _, sums := range [][]float64{sets.of(cluster, false), named.of(a, false)} {
				sums[0] += hit
				sums[1]++
			}
		}
	}
	share := func(s []float64) (float64, bool) { return s[0] / s[1], s[1] > 0 }
	list := []estimand{{columns: []int{0, 1}, f: share, share: true}}
	got, want := sets.estimates(&testOptions, list)[0], named.estimates(&testOptions, list)[0]
	if got.Value != want.Value || got.N != want.N || got.Clusters != want.Clusters || !got.HasInterval || math.Abs(got.Low-want.Low) > 0.03 || math.Abs(got.High-want.High) > 0.03 {
		t.Errorf("estimate %+v, of clusters with one name %+v", got, want)
	}
	got, want = sets.share([]int{0}, []int{1}, 0.95), named.share([]int{0}, []int{1}, 0.95)
	if got.Value != want.Value || got.Low != want.Low || got.High != want.High || got.Effective != want.Effective || got.Method == want.Method {
		t.Errorf("share %+v, of clusters with one name %+v", got, want)
	}
	if total := sets.total(1); total != 100 || sets.items() != 100 {
		t.Errorf("%v of %d items", total, sets.items())
	}
}
