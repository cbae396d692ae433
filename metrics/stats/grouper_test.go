package stats

import (
	"fmt"
	"reflect"
	"testing"
)

func TestGrouperIsEmptyAfterDrain(t *testing.T) {
	var g Grouper
	var first, second, want Clusters
	g.Add(5, 0.25)
	g.Add(9, 1)
	g.Drain(&first)
	g.Add(2, 0.5)
	g.Add(9, 0.75)
	g.Drain(&second)
	want.AddRow(0.5)
	want.AddRow(0.75)
	if got, want := second.Mean(0.95), want.Mean(0.95); !reflect.DeepEqual(got, want) {
		t.Errorf("second use gives %+v, want %+v", got, want)
	}
	if first.Len() != 2 || second.Len() != 2 {
		t.Errorf("%d and %d clusters, want 2 and 2: codes without rows are no clusters", first.Len(), second.Len())
	}
}

func TestCodes(t *testing.T) {
	var c Codes
	for i, key := range []uint64{7, 1 << 63, 7, 0, 1 << 63} {
		if got, want := c.Code(key), []int{0, 1, 0, 2, 1}[i]; got != want {
			t.Errorf("Code(%d) = %d, want %d", key, got, want)
		}
	}
	if c.Len() != 3 {
		t.Errorf("Len = %d, want 3", c.Len())
	}
}

func ExampleClusters() {
	// Five rows come from three documents; a key is the hash of a document's name.
	var documents Codes
	var byDocument Grouper
	for _, row := range []struct {
		document uint64
		f1       float64
	}{{7, 0.5}, {7, 0.75}, {3, 1}, {5, 0.25}, {7, 0.5}} {
		byDocument.Add(documents.Code(row.document), row.f1)
	}
	var state Clusters
	byDocument.Drain(&state)
	e := state.Mean(0.95)
	fmt.Printf("%.3f [%.3f, %.3f] %s, n=%d in %d clusters\n", e.Value, e.Low, e.High, e.Method, e.N, e.Clusters)
	for _, w := range e.Warnings {
		fmt.Println(w)
	}
	// Output:
	// 0.600 [0.037, 1.163] cr1-t, n=5 in 3 clusters
	// need >= 6 clusters for an interval at level 0.95, have 3
}
