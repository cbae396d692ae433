package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestOtherParquet: Parquet with the columns of another tool is what its rows are as JSON Lines:
// alone, in a folder, and for import.
func TestOtherParquet(t *testing.T) {
	t.Parallel()
	type source struct {
		Name string `json:"name,omitempty" parquet:"name,optional"`
		URL  string `json:"url" parquet:"url"`
		Text string `json:"text" parquet:"text"`
	}
	type record struct {
		Question string   `json:"user_input" parquet:"user_input"`
		Answer   string   `json:"response" parquet:"response"`
		Contexts []source `json:"retrieved_contexts" parquet:"retrieved_contexts,list"`
		Score    float64  `json:"score" parquet:"score"`
	}
	rows := []record{
		{"Where is it?", "It stands by the river [1]. It is old [2].", []source{{URL: "https://a.org/1", Text: "It stands by the river."}, {URL: "https://a.org/2", Text: "It is old."}}, 0.5},
		{"Who built it?", "Nobody knows \"who\" [1]. See <http://127.0.0.1/9>.", []source{{URL: "https://a.org/3", Text: "Nobody knows \"who\"."}}, 1},
		{"When?", "I do not know.", nil, 0},
	}
	dir := t.TempDir()
	for _, folder := range []string{"parquet", "json"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := parquet.WriteFile(filepath.Join(dir, "parquet", "rows.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "json", "rows.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := json.NewEncoder(f)
	for _, r := range rows {
		if r.Contexts == nil {
			r.Contexts = []source{}
		}
		if err := lines.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	want := ""
	for id, args := range map[string][]string{
		"json": {"run", "json/rows.jsonl"}, "parquet": {"run", "parquet/rows.parquet"}, "folder": {"run", "parquet"}, "glob": {"run", "parquet/*.parquet"},
	} {
		mustIbid(t, dir, append(args, "--judge", "lexical", "-q", "--id", id)...)
		got := mustIbid(t, dir, "show", "runs/"+id, "--table", "citations", "--format", "csv", "-q")
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", id, got, want)
		}
	}
	if got := mustIbid(t, dir, "fetch", "parquet/rows.parquet", "-o", "sources.parquet", "--json"); !strings.Contains(got, `"refused": 1`) {
		t.Errorf("fetch: %s", got)
	}
	mustIbid(t, dir, "import", "auto", "parquet/rows.parquet", "-o", "ours.parquet", "-q")
	mustIbid(t, dir, "run", "ours.parquet", "--judge", "lexical", "-q", "--id", "ours")
	if got := mustIbid(t, dir, "show", "runs/ours", "--table", "citations", "--format", "csv", "-q"); got != want {
		t.Errorf("imported: %s\nwant %s", got, want)
	}
}
