package stats_test

import (
	"fmt"

	"ibid/metrics/stats"
)

// No failure among 20 is no proof that there is none.
func ExampleWilson() {
	e := stats.Wilson(20, 20, 0.95)
	fmt.Printf("%.2f [%.3f, %.3f]\n", e.Value, e.Low, e.High)
	// Output: 1.00 [0.839, 1.000]
}

// The questions about one document are not independent, so a mean has the standard
// error of its documents.
func ExampleQuotient() {
	var documents stats.Documents
	for _, document := range []int32{0, 0, 0, 1, 1, 2} { // three questions about one, two about another, one about a third
		documents.Add(document)
	}
	mean := stats.NewQuotient([]float64{1, 1, 0.5, 0, 0.5, 1}, []float64{1, 1, 1, 1, 1, 1})
	e := mean.Within(&documents, 0, 1, 0.95)
	fmt.Printf("%.3f over about %d documents, standard error %.3f\n", e.Value, e.Clusters, e.SE)
	// Output: 0.667 over about 3 documents, standard error 0.210
}
