package presence_test

import (
	"context"
	"fmt"

	"ibid/metrics/presence"
)

// Marks in the text of an answer, with their place in code points.
func ExampleParse() {
	found, _ := presence.Parse("Opened in 1909 [a.pdf:5:12-48], cars in 1921 [2, 4-6].")
	for _, c := range found {
		fmt.Println(c.Start, c.End, c.File, c.Page, c.AppendNumbers(nil))
	}
	// Output:
	// 15 30 a.pdf 5 []
	// 45 53  0 [2 4 5 6]
}

// A bare [1] names no source, so it is no presence of a citation.
func ExampleDetector() {
	d, err := presence.New(presence.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, answer := range []string{"It opened in 1909 [1].", "It opened in 1909 (Smith, 1921)."} {
		var r presence.Result
		if err := d.Detect(context.Background(), presence.Input{Answer: answer, HasAnswer: true}, &r); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Score())
	}
	// Output:
	// 0
	// 1
}
