package convert

import "testing"

// TestSourcesOfRecord: names of documents are those of the record, not of the one before.
func TestSourcesOfRecord(t *testing.T) {
	m, report := importText(t, "jsonl", `{"id":"1","query":"q","answer":"a","documents":[{"id":"b.txt","text":"x"}]}
{"id":"2","query":"q","answer":"a","truth":[{"shelf":"b.txt"}],"citations":[{"shelf":"b.txt"}]}
`, Options{})
	wantErrors(t, report.Errors)
	if row := &m.rows[1]; !row.Truth[0].DocNull || !row.Citations[0].DocNull {
		t.Errorf("truth %+v, citations %+v", row.Truth, row.Citations)
	}
}

// TestUnwrap takes the members of an object with the answer for those of the record, and loses none.
func TestUnwrap(t *testing.T) {
	for text, want := range map[string][3]string{
		`{"question":"q","output":{"answer":"a [1]","question":"other"},"contexts":["x"]}`: {"q", "a [1]", `{"output.question":"other"}`},
		`{"question":"q","answer":"a","result":{"answer":"b","id":"7"},"contexts":["x"]}`:  {"q", "a", `{"result":{"answer":"b","id":"7"}}`},
	} {
		m, report := importText(t, "jsonl", text+"\n", Options{})
		wantErrors(t, report.Errors)
		row := &m.rows[0]
		if got := [3]string{row.Query, row.Answer, row.Tags[0].Value}; got != want || row.ID != "1" {
			t.Errorf("%s: %q, id %s", text, got, row.ID)
		}
	}
}
