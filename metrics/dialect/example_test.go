package dialect_test

import (
	"fmt"

	"ibid"
	"ibid/metrics/dialect"
)

// Two statements: the first is fully supported by what it cites, the second needs a
// citation and has none.
func ExampleALCERecall() {
	table := dialect.Table{
		{Support: ibid.Some(1.0), Citations: []dialect.Citation{{Source: "a", Support: ibid.Some(1.0)}}},
		{NeedsCitation: ibid.Yes},
	}
	recall, ok := dialect.ALCERecall(table, 0.7)
	fmt.Println(recall, ok)
	// Output: 0.5 true
}
