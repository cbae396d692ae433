package judge_test

import (
	"context"
	"fmt"

	"ibid"
	"ibid/judge"
)

// The offline judge compares words: the first citation has them; of the second it cannot
// tell.
func ExampleLexical() {
	v, err := judge.NewLexical().Judge(context.Background(), &judge.Request{
		Question: "When did the bridge open?",
		Claims:   []ibid.Claim{{Text: "The red bridge opened to cars in 1909.", Citations: []int32{0, 1}}},
		Evidence: []judge.Evidence{
			{Text: "The red bridge opened to cars in 1909.", Citation: 0},
			{Text: "Porto was dry that summer.", Citation: 1},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range v.Claims[0].Checks {
		fmt.Println("citation", c.Citation, c.Why)
	}
	// Output:
	// citation 0 found word for word
	// citation 1 wording cannot tell
}
