package dataset_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"ibid"
	"ibid/dataset"
)

// A dataset with one answer, written and read back. An empty list says that nothing
// was cited; a list that is not known stays unknown.
func Example() {
	dir, err := os.MkdirTemp("", "ibid")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "answers.parquet")
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.Write(&ibid.Answer{ID: "q-1", Query: "When?", Answer: "In 1909.", HasCitations: true})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	source, err := dataset.Open(path, dataset.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = source.Read(context.Background(), 0, 100, func(b *dataset.Batch) error {
		defer b.Release()
		var row ibid.Answer
		for i := range b.Len() {
			b.Row(i, &row)
			fmt.Println(row.ID, row.System, "citations known:", row.HasCitations, len(row.Citations), "truth known:", row.HasTruth)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: q-1 default citations known: true 0 truth known: false
}
