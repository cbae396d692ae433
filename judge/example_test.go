package judge_test

import (
	"context"
	"fmt"

	"ibid"
	"ibid/judge"
)

// The offline baseline compares words: the first citation has them, the second has
// not.
func ExampleLexical() {
	v, err := judge.NewLexical().Judge(context.Background(), &judge.Request{
		Question: "When did the bridge open?",
		Claims:   []ibid.Claim{{Text: "The red bridge opened to cars in 1909.", Citations: []int32{0, 1}}},
		Evidence: []judge.Evidence{
			{Text: "In 1909 the red bridge opened to cars.", Citation: 0},
			{Text: "Porto was dry that summer.", Citation: 1},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range v.Claims[0].Checks {
		fmt.Println("citation", c.Citation, c.Support.Value)
	}
	// Output:
	// citation 0 1
	// citation 1 0
}
