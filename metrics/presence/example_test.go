package presence_test

import (
	"context"
	"fmt"

	"ibid/metrics/presence"
)

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
