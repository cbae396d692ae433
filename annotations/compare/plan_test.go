package compare

import (
	"math"
	"testing"

	"ibid/metrics/stats"
)

// TestRowsFor: that many rows find the difference, and one less does not.
func TestRowsFor(t *testing.T) {
	design := stats.Design{Alpha: 0.05, Power: 0.8}
	for _, perCluster := range []float64{1, 2.5, 40} {
		for _, delta := range []float64{0.01, -0.05, 0.1, 0.7} {
			const deviation = 0.4
			finds := func(n int64) bool {
				mde, ok := design.DetectableBy(deviation/math.Sqrt(float64(n)), max(1, float64(n)/perCluster-1))
				return ok && mde <= math.Abs(delta)
			}
			n, ok := rowsFor(design, deviation, delta, perCluster)
			if !ok || !finds(n) || n > 1 && finds(n-1) {
				t.Errorf("%d rows (%v) for %v with %v a cluster: finds it %v, one less %v", n, ok, delta, perCluster, finds(n), finds(n-1))
			}
		}
	}
	one, _ := rowsFor(design, 0.4, 0.05, 1)
	many, _ := rowsFor(design, 0.4, 0.05, 40)
	if normal, _ := design.Required(0.4, 0.05, 1); one < normal || many <= one {
		t.Errorf("%d rows of their own clusters, %d of shared ones, %d by a normal test", one, many, normal)
	}
}

// TestPlanAdd: the standard error of n rows tells the deviation of one of them; without
// variation nothing is planned.
func TestPlanAdd(t *testing.T) {
	p := newPlan(0.95, 0.8, []float64{0.05, 0.1})
	p.add(PlanLine{N: 100, Clusters: 50}, new(0.04))
	p.add(PlanLine{N: 100, Clusters: 50}, new(0.0))
	p.add(PlanLine{N: 100, Clusters: 50}, nil)
	if len(p.Lines) != 3 {
		t.Fatalf("%d lines", len(p.Lines))
	}
	l := p.Lines[0]
	want, _ := stats.Design{Alpha: 0.05, Power: 0.8}.DetectableBy(0.04, 49)
	if l.Deviation == nil || math.Abs(*l.Deviation-0.4) > 1e-12 || l.MDE == nil || math.Abs(*l.MDE-want) > 1e-12 {
		t.Errorf("deviation %v, detectable %v, want 0.4 and %v", l.Deviation, l.MDE, want)
	}
	for i, delta := range p.Deltas {
		if n, _ := rowsFor(stats.Design{Alpha: 0.05, Power: 0.8}, 0.4, delta, 2); l.Rows[i] == nil || *l.Rows[i] != n {
			t.Errorf("rows for %v: %v, want %d", delta, l.Rows[i], n)
		}
	}
	for _, l := range p.Lines[1:] {
		if l.Deviation != nil || l.MDE != nil || len(l.Rows) != 2 || l.Rows[0] != nil {
			t.Errorf("without variation %+v", l)
		}
	}
}
