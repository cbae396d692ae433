package annotations_test

import (
	"fmt"

	"ibid/annotations"
)

// What a judge's scores are worth where people labelled the same claims.
func ExampleCalibrate() {
	var items []annotations.Verdict
	for i, v := range []struct{ human, judge float64 }{{1, 0.9}, {1, 0.8}, {0, 0.4}, {0, 0.75}, {1, 0.95}, {0, 0.1}} {
		items = append(items, annotations.Verdict{Item: fmt.Sprint(i), Cluster: fmt.Sprint("document ", i/2), Human: v.human, Judge: v.judge})
	}
	c := annotations.Calibrate("support", "lexical", items, annotations.CalibrateOptions{
		Options: annotations.Options{Level: 0.95}, Threshold: 0.7,
	})
	fmt.Println("right:", c.Confusion.TP+c.Confusion.TN, "of", c.Items, "items of", c.Documents, "documents")
	// Output: right: 5 of 6 items of 3 documents
}
