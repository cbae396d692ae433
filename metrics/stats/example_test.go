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
// error of its clusters.
func ExampleClusters_Mean() {
	var c stats.Clusters
	c.AddCluster(2.5, 3, 3) // three questions about one document: 1, 1 and 0.5
	c.AddCluster(0.5, 2, 2) // two about another: 0 and 0.5
	c.AddRow(1)
	e := c.Mean(0.95)
	fmt.Printf("%.3f over %d rows of %d documents, standard error %.3f\n", e.Value, e.N, e.Clusters, e.SE)
	// Output: 0.667 over 6 rows of 3 documents, standard error 0.210
}

// Seven better, one worse: exact, over all ways to flip the signs.
func ExampleSignFlip() {
	t := stats.SignFlip([]float64{0.2, 0.1, 0.3, 0.1, 0.2, 0.4, 0.1, -0.1}, 10000, 1)
	fmt.Printf("p = %.4f (%s)\n", t.P, t.Method)
	// Output: p = 0.0391 (sign-flip-exact)
}

func ExampleHolm() {
	p := func(v float64) *float64 { return &v }
	for _, adjusted := range stats.Holm([]*float64{p(0.01), p(0.04), nil, p(0.03)}) {
		if adjusted == nil {
			fmt.Println("undefined")
			continue
		}
		fmt.Printf("%.2f\n", *adjusted)
	}
	// Output:
	// 0.03
	// 0.06
	// undefined
	// 0.06
}
