package annotations

import (
	"errors"
	"io/fs"
	"reflect"
	"testing"

	"ibid/dataset/runs"
)

// TestReadFound: places that support a claim, each once, at the quote; not those of single
// votes, of people, of pages, or of too little support.
func TestReadFound(t *testing.T) {
	at := func(v int64) *int64 { return &v }
	row := func(evidence string, support float64, start, end int64) runs.Judgment {
		return runs.Judgment{Key: runs.Key{ID: "q", System: "s"}, Evidence: evidence, Doc: "d", Start: at(start), End: at(end), Support: &support}
	}
	quoted := row("citation:1", 1, 10, 50)
	quoted.QuoteStart, quoted.QuoteEnd = at(5), at(9)
	vote, page, person := row("citation:0", 1, 1, 2), row("citation:0", 1, 3, 4), row("citation:0", 1, 5, 6)
	who := "ada"
	vote.Vote, page.Page, person.Annotator = new(int32), new(int32), &who
	*page.Page = 1
	dir := t.TempDir()
	rows := []runs.Judgment{
		row("citation:0", 0.8, 0, 9), row("citation:0", 0.8, 0, 9), quoted, row("elsewhere", 1, 60, 70), row("joint", 1, 0, 70), row("citation:0", 0.5, 80, 90), vote, page, person,
	}
	if err := runs.Verdicts.Write(dir, rows); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFound(dir, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]Proposal{"q": {{Doc: "d", Start: 0, End: 9, Method: "cited"}, {Doc: "d", Start: 15, End: 19, Method: "cited"}, {Doc: "d", Start: 60, End: 70, Method: "elsewhere"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, want %+v", got, want)
	}
	if _, err := ReadFound(t.TempDir(), 0.8); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a judge: %v", err)
	}
}
