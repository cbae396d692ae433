package cli

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid/metrics"
	"ibid/report"
)

// TestFailingSpill: chunks in a file come back as one sorted list would be, a value of 0
// and no reasons included.
func TestFailingSpill(t *testing.T) {
	gate := &rowGate{metric: overallMetric}
	rng := rand.New(rand.NewPCG(1, 2))
	var all []report.FailingRow
	for n := range int64(1000) {
		r := report.FailingRow{Row: n, ID: "a", Why: []string{}, Problem: metrics.Problem(rng.IntN(3))}
		if rng.IntN(4) > 0 {
			r.Value = new(float64(rng.IntN(3)) / 2) // many are equally bad
		}
		if n%7 == 0 {
			r.Why = append(r.Why, "cites nothing")
		}
		all = append(all, r)
	}
	spill, err := newFailingSpill(gate)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := spill.Close(); err != nil {
			t.Error(err)
		}
	}()
	for chunk := range slices.Chunk(slices.Clone(all), 300) {
		view := &report.Failing{Rows: chunk}
		gate.sort(view.Rows)
		if err := spill.add(view.Rows); err != nil {
			t.Fatal(err)
		}
	}
	view := &report.Failing{Rows: all}
	gate.sort(view.Rows)
	for _, limit := range []int{0, 1, 999, 1000} {
		for range 2 { // text reads it twice
			got := []report.FailingRow{}
			err := spill.each(int64(limit), func(r *report.FailingRow) error {
				got = append(got, *r)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(view.Rows[:limit], got); diff != "" {
				t.Fatalf("%d rows: -want +got\n%s", limit, diff)
			}
		}
	}
}
