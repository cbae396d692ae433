package runs_test

import (
	"fmt"
	"os"

	"ibid/dataset/runs"
)

// A struct with tags is a table: its Parquet schema, its CSV, its JSON and the
// documentation of its columns.
func ExampleNewTable() {
	type vote struct {
		runs.Key
		Who   string   `json:"who" doc:"who voted"`
		Score *float64 `json:"score" range:"[0, 1]" doc:"the vote" null:"abstained"`
	}
	votes := runs.NewTable[vote]("votes.parquet", "one vote")
	fmt.Print(votes.Text())
	key := runs.Key{ID: "q1", System: "a"}
	if err := votes.WriteCSV(os.Stdout, []vote{{key, "ada", new(0.5)}, {key, "bob", nil}}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// votes.parquet: one vote
	//   id (string): the question or case
	//   system (string): who answered
	//   row (int64): position in the input, from 0
	//   who (string): who voted
	//   score (double, [0, 1]): the vote
	//       null: abstained
	// id,system,row,who,score
	// q1,a,0,ada,0.5
	// q1,a,0,bob,
}

// The citations of a finished run, those with something wrong.
func ExampleTable_Scan() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	err = runs.Citations.Write(dir, []runs.Citation{{Number: 0, Doc: "tea.txt", Status: "ok"}, {Number: 1, Doc: "tee.txt", Status: "document_not_found"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = runs.Citations.Scan(dir, []string{"citation", "doc", "status"}, func(_ int64, c *runs.Citation) error {
		if c.Status != "ok" {
			fmt.Println(c.Number, c.Doc, c.Status)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 1 tee.txt document_not_found
}
