package ibid_test

import (
	"fmt"

	"ibid"
)

// A number that is not known is never 0: it carries the reason instead.
func ExampleMaybe() {
	f1 := ibid.Some(0.75)
	none := ibid.Undefined[float64](ibid.NoTruth)
	for _, v := range []ibid.Number{f1, none} {
		if v.Known() {
			fmt.Println(v.Value)
		} else {
			fmt.Println("undefined:", v.Why)
		}
	}
	// Output:
	// 0.75
	// undefined: no_truth
}

func ExampleDegree_Support() {
	for _, word := range []string{"mostly", "contradicts", "unsure"} {
		degree, err := ibid.ParseDegree(word)
		if err != nil {
			fmt.Println(err)
			return
		}
		s := degree.Support()
		fmt.Println(degree, s.Known(), s.Value)
	}
	// Output:
	// mostly true 0.8
	// contradicts true 0
	// unsure false 0
}

// An invented document makes a citation invalid, but the citation stays: what it
// points at counts as predicted, and so costs precision.
func ExampleStatus() {
	s := ibid.StatusDocumentNotFound
	fmt.Println(s, "valid:", s.Valid(), "in the span sets:", s.Usable())
	s = ibid.CheckSpan(9, 4)
	fmt.Println(s, "valid:", s.Valid(), "in the span sets:", s.Usable())
	// Output:
	// document_not_found valid: false in the span sets: true
	// span_inverted valid: false in the span sets: false
}
