package metrics_test

import (
	"fmt"

	"ibid"
	"ibid/metrics"
)

// A citation against what a person marked: nothing is needed but this package.
func ExampleScorer() {
	place := func(start, end int64) ibid.Place { return ibid.Place{Doc: "bridge", Start: start, End: end} }
	row := metrics.Row{Answer: ibid.Answer{
		ID: "q-1", Answer: "It opened in 1909.",
		Citations: []ibid.Citation{{Place: place(150, 250)}}, HasCitations: true,
		Truth: []ibid.Mark{{Annotator: "ada", Place: place(100, 200)}}, HasTruth: true,
	}}
	scorer := metrics.NewScorer(metrics.DefaultOptions())
	var scores metrics.Scores
	scorer.Score(&row, &scores)
	for _, m := range []metrics.Metric{metrics.CharF1, metrics.CharJaccard, metrics.CitationCorrectness} {
		if v, ok := scores.Value(m); ok {
			fmt.Printf("%v %.3f\n", m, v)
		} else {
			fmt.Printf("%v undefined: %v\n", m, scores.Reasons[m])
		}
	}
	// Output:
	// char_f1 0.500
	// char_jaccard 0.333
	// citation_correctness undefined: no_judge
}

func ExampleLookup() {
	d, _ := metrics.Lookup("char_dice") // another name of char_f1
	fmt.Println(d.Name, d.Kind, d.Direction)
	fmt.Println(d.Summary)
	// Output:
	// char_f1 ratio higher is better
	// harmonic mean of precision and recall over characters
}
