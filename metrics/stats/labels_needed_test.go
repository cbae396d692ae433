package stats

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ibid"
)

// TestLabelsNeeded: as many labels as were planned from 60 bring intervals to the half
// width that was asked for, on average over studies, with a judge that is good, poor or
// constant.
func TestLabelsNeeded(t *testing.T) {
	const rows, first = 3000, 60
	for _, tt := range []struct {
		right float64 // how often the judge says what people say; 0: it says 1
		half  float64
	}{{0.95, 0.03}, {0.7, 0.05}, {0, 0.05}} {
		right, half := tt.right, tt.half
		rng := rand.New(rand.NewPCG(3, 9))
		var more, reached float64
		const studies = 40
		for range studies {
			all, said := make([]Predicted, rows), make([]float64, rows)
			for i := range all {
				if rng.Float64() < 0.7 {
					said[i] = 1
				}
				judge := said[i]
				if rng.Float64() >= right {
					judge = 1 - judge
				}
				if right == 0 {
					judge = 1
				}
				all[i] = Predicted{Cluster: fmt.Sprint(i), Judge: judge}
			}
			label := func(n int) {
				for i := range n {
					all[i].Human = ibid.Some(said[i])
				}
			}
			label(first)
			p := LabelsNeeded(all, 0.95, 0, 1, half)
			if p.Labelled != first || p.Rows != rows || !p.More.Known() {
				t.Fatalf("right in %.2f: %+v", right, p)
			}
			more += float64(p.More.Value) / studies
			label(first + int(p.More.Value))
			then := LabelsNeeded(all, 0.95, 0, 1, half)
			reached += then.Half.Value / studies
		}
		t.Logf("right in %.2f: %.0f more labels, ± %.4f", right, more, reached)
		if reached < 0.9*half || reached > 1.1*half {
			t.Errorf("right in %.2f: %.0f more labels bring ± %.4f, want ± %.2f", right, more, reached, half)
		}
	}
}

// TestLabelsNeededUndefined: without an interval nothing can be planned, and there may not
// be as many rows.
func TestLabelsNeededUndefined(t *testing.T) {
	rows := make([]Predicted, 40)
	for i := range rows {
		rows[i] = Predicted{Cluster: fmt.Sprint(i), Judge: float64(i % 2)}
	}
	if p := LabelsNeeded(rows, 0.95, 0, 1, 0.05); p.More.Known() || p.Half.Known() || p.Labelled != 0 {
		t.Errorf("without labels: %+v", p)
	}
	for i := range 20 {
		rows[i].Human = ibid.Some(float64(i / 2 % 2))
	}
	if p := LabelsNeeded(rows, 0.95, 0, 1, 0.01); p.More.Known() || !p.Half.Known() {
		t.Errorf("of too few rows: %+v", p)
	}
	if p := LabelsNeeded(rows, 0.95, 0, 1, 0.4); !p.More.Known() || p.More.Value != 0 {
		t.Errorf("with labels enough: %+v", p)
	}
}
