package convert_test

import (
	"context"
	"fmt"
	"strings"

	"ibid"
	"ibid/dataset/convert"
)

// printer is a sink that prints what comes in.
type printer struct{}

func (printer) WriteRow(row *ibid.Answer) error {
	c := row.Citations[0]
	fmt.Printf("%s: %q cites %s [%d,%d)\n", row.ID, row.Answer, c.Doc, c.Start.Value, c.End.Value)
	return nil
}

func (printer) WriteDocument(*ibid.Document) error { return nil }

func ExampleConvert() {
	line := `{"id": "q-1", "query": "When?", "answer": "In 1909.", "citations": [{"doc": "bridge", "start": 4, "end": 31}]}`
	report, err := convert.Convert(context.Background(), "jsonl", []string{"-"}, convert.Options{Stdin: strings.NewReader(line)}, printer{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("records:", report.Records, "left out:", report.Failed)
	// Output:
	// q-1: "In 1909." cites bridge [4,31)
	// records: 1 left out: 0
}
