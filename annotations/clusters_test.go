package annotations

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"ibid/metrics/stats"
)

// TestItemSums: a share of items whose documents each overlap with those of the next. Items
// that one annotator alone saw, and those that have none, say nothing of it.
func TestItemSums(t *testing.T) {
	c := &itemSums{names: new(stats.Numbering[string])}
	var y, x []float64
	var docs stats.Documents
	draw := rand.New(rand.NewPCG(11, 0))
	for i := range 60 {
		sums := make([]float64, 3)
		docs.Add(int32(i), int32(i+1))
		sums[1] = 1 + float64(i%2)
		if draw.IntN(3) > 0 {
			sums[0] = sums[1]
		}
		y, x = append(y, sums[0]), append(x, sums[1])
		c.add(ClusterOf([]string{fmt.Sprintf("d%02d", i), fmt.Sprintf("d%02d", i+1)}), sums)
	}
	want := stats.NewQuotient(y, x).Within(&docs, 0, 1, 0.95)
	c.add(ClusterOf([]string{"d03", "elsewhere"}), []float64{5, 5, 1})
	c.add(ClusterOf([]string{"d05", "d44"}), []float64{0, 0, 0})
	share := func(s []float64) (float64, bool) { return s[0] / s[1], s[1] > 0 }
	e := c.estimate(estimand{columns: []int{0, 1}}, 0.95)
	items, documents := c.counts()
	if math.Abs(e.Low-want.Low) > 1e-9 || math.Abs(e.High-want.High) > 1e-9 || e.Value != want.Value || items != 61 || documents != 61 {
		t.Errorf("%+v of %d items and %d documents, want %+v of 61 and 61", e, items, documents, want)
	}
	// The same number from what it is without each item.
	if e := c.estimate(estimand{columns: []int{0, 1}, f: share}, 0.95); e.Value != want.Value || !e.HasInterval || math.Abs(e.SE-want.SE) > want.SE/10 {
		t.Errorf("jackknifed %+v, want about %+v", e, want)
	}
	if e, want := c.estimate(estimand{columns: []int{0, 1}, f: share, alone: true}, 0.95), c.total(0)/c.total(1); math.Abs(e.Value-want) > 1e-12 {
		t.Errorf("with what one alone saw: %v, want %v", e.Value, want)
	}
	if e := c.estimate(estimand{columns: []int{0, 1}, f: func([]float64) (float64, bool) { return 0, false }}, 0.95); e.Defined() || e.HasInterval {
		t.Errorf("an undefined statistic is %+v", e)
	}
	// An item of 900 of 1,000 characters leaves no interval.
	long := &itemSums{names: new(stats.Numbering[string])}
	for i, n := range []float64{900, 60, 40} {
		long.add(fmt.Sprint(i), []float64{n / 3, 2 * n / 3, n / 10, 0})
	}
	alpha := estimand{columns: []int{0, 1, 2}, length: true, low: -1, f: func(s []float64) (float64, bool) { return 1 - s[2]/(s[0]+s[1]), true }}
	if e := long.estimate(alpha, 0.95); e.HasInterval || !e.Defined() {
		t.Errorf("of one long text: %+v", e)
	}
}
