package span_test

import (
	"fmt"

	"ibid"
	"ibid/metrics/span"
)

// Two documents are two keys: the same numbers in another document share nothing.
func ExampleComparer_Sizes() {
	truth := []span.Span{{Key: 0, Start: 100, End: 200}}
	pred := []span.Span{{Key: 0, Start: 150, End: 250}, {Key: 1, Start: 100, End: 200}}
	var c span.Comparer
	z := c.Sizes(truth, pred, 0)
	fmt.Printf("truth %d, predicted %d, shared %d, united %d\n", z.Truth, z.Pred, z.Overlap, z.Union)
	fmt.Printf("F1 %.3f\n", 2*float64(z.Overlap)/float64(z.Truth+z.Pred))
	// Output:
	// truth 100, predicted 200, shared 50, united 250
	// F1 0.333
}

func ExampleNormalize() {
	fmt.Println(span.Normalize(nil, []span.Span{{Start: 5, End: 9}, {Start: 0, End: 3}, {Start: 3, End: 6}}))
	// Output: [{0 0 9}]
}

// What more than half of three people marked.
func ExampleComparer_Combine() {
	ada, ben, cleo := []span.Span{{Start: 0, End: 10}}, []span.Span{{Start: 5, End: 15}}, []span.Span{{Start: 20, End: 30}}
	var c span.Comparer
	fmt.Println(c.Combine(nil, ibid.PolicyMajority, [][]span.Span{ada, ben, cleo}))
	fmt.Println(c.Combine(nil, ibid.PolicyUnion, [][]span.Span{ada, ben, cleo}))
	// Output:
	// [{0 5 10}]
	// [{0 0 15} {0 20 30}]
}
