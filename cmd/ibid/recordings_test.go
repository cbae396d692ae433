package main

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid/dataset/runs"
)

// TestRecordings: the responses of providers have the same numbers in one folder, with files
// that are no responses, and each alone.
func TestRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	root, files := recordings(t)
	dir := t.TempDir()
	rows := func(path, id string) map[string]map[string]string {
		if _, stderr, code := command(t, dir, "run", path, "--judge", "lexical", "--id", id, "-q"); code != 0 && (path != root || code != 4) { // manifest.json is left out
			t.Fatalf("%s: exit code %d\n%s", path, code, stderr)
		}
		return cellsOf(t, filepath.Join(dir, "runs", id, runs.RowsFile))
	}
	all := rows(root, "all")
	if len(all) != 34 || len(files) != 34 {
		t.Errorf("%d rows of %d files, want 34", len(all), len(files))
	}
	for i, path := range files {
		for key, alone := range rows(path, "alone-"+string(rune('a'+i/26))+string(rune('a'+i%26))) {
			for name, cell := range alone {
				if together := all[key][name]; together != cell {
					t.Errorf("%s: %s is %s together, %s alone", key, name, together, cell)
				}
			}
		}
	}
}

// cellsOf are the cells of rows by their column, of each row by its id and system.
func cellsOf(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	out := make(map[string]map[string]string)
	for _, row := range readRows(t, path) {
		cells := make(map[string]string)
		for name, c := range row {
			if name != "row" && name != "answer_hash" { // with several systems only
				cells[name] = fmt.Sprint(c)
			}
		}
		out[row["id"].Text+"/"+row["system"].Text] = cells
	}
	return out
}

// recordings are the files with responses of providers, below root.
func recordings(t *testing.T) (root string, files []string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data", "provider-recordings"))
	if err != nil {
		t.Fatal(err)
	}
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err == nil && !e.IsDir() && filepath.Dir(path) != root && !strings.HasSuffix(path, ".request.json") && (ext == ".json" || ext == ".sse") {
			files = append(files, path)
		}
		return nil
	})
	if len(files) == 0 {
		t.Skipf("%s is missing", root)
	}
	return root, files
}

// likeEachOther are answers with documents of one name, an index that is not there, and names and
// quotations in the text that other answers have documents for; the last two have none. Each is
// its documents by title, its text, and what it cites of which document.
var likeEachOther = []struct {
	documents [][2]string
	text      string
	cites     string
}{
	{[][2]string{{"My Document", "The sky is blue."}}, "the sky is blue", `{"document_index":0,"cited_text":"The sky is blue.","start_char_index":0,"end_char_index":16}`},
	{[][2]string{{"My Document", "The grass is green."}}, "the sky is blue", `{"document_index":7,"cited_text":"The sky is blue.","start_char_index":0,"end_char_index":16}`},
	{[][2]string{{"doc1.pdf", "The roof leaks, and the tank must be cleaned weekly."}}, "the roof leaks", `{"document_index":0,"cited_text":"The roof leaks","start_char_index":0,"end_char_index":14}`},
	{[][2]string{{"doc2.pdf", "The tank holds 40 litres."}}, "The roof leaks [doc1.pdf]. The tank holds 40 litres [doc2.pdf].", ""},
	{nil, `The roof leaks [doc1.pdf]. It says "the tank must be cleaned weekly".`, ""},
	{nil, `The manual says "the tank must be cleaned weekly" and more.`, ""},
}

var subsets = flag.Int("subsets", times(24), "how many subsets of responses TestSubsets imports")

// TestSubsets: a row has the numbers that it has alone, whichever files are imported with it, in
// any order, and wherever the documents of its request are.
func TestSubsets(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	_, files := recordings(t)
	dir := t.TempDir()
	for i, a := range likeEachOther {
		var content []string
		for _, d := range a.documents {
			content = append(content, fmt.Sprintf(`{"type":"document","title":%q,"source":{"type":"text","media_type":"text/plain","data":%q}},`, d[0], d[1]))
		}
		cites := ""
		if a.cites != "" {
			cites = `,"citations":[{"type":"char_location",` + a.cites[1:] + "]"
		}
		path := filepath.Join(dir, fmt.Sprintf("like-%d.json", i))
		record := fmt.Sprintf(`{"id":"like-%d","request":{"model":"m","messages":[{"role":"user","content":[%s{"type":"text","text":"?"}]}]},"response":{"type":"message","role":"assistant","model":"m","content":[{"type":"text","text":%q%s}]}}`, i, strings.Join(content, ""), a.text, cites)
		if err := os.WriteFile(path, []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	rows := func(id string, docs bool, paths ...string) map[string]map[string]string {
		args, run := append([]string{"import", "auto", "-q", "-o", id + ".parquet"}, paths...), []string{"run", id + ".parquet", "--judge", "lexical", "--id", id, "-q"}
		if docs {
			args = append(args, "--docs", id+"-docs.parquet")
		}
		mustIbid(t, dir, args...)
		if _, err := os.Stat(filepath.Join(dir, id+"-docs.parquet")); err == nil {
			run = append(run, "--documents", id+"-docs.parquet")
		}
		mustIbid(t, dir, run...)
		return cellsOf(t, filepath.Join(dir, "runs", id, runs.RowsFile))
	}
	alone, seen := make(map[string]map[string]string), make(map[string]bool)
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range *subsets {
		some := slices.Clone(files)
		rng.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		some = some[:2+rng.IntN(6)]
		if n%2 == 0 { // those that are like each other meet more often
			some = slices.DeleteFunc(slices.Clone(files[len(files)-len(likeEachOther):]), func(string) bool { return rng.IntN(3) == 0 })
			some = append(some, files[rng.IntN(len(files)-len(likeEachOther))])
			rng.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		}
		for _, path := range some {
			if !seen[path] {
				maps.Copy(alone, rows(fmt.Sprintf("alone-%d", len(seen)), false, path))
				seen[path] = true
			}
		}
		docs := n%4 < 3
		for key, cells := range rows(fmt.Sprintf("some-%d", n), docs, some...) {
			for name, cell := range alone[key] {
				if now, ok := cells[name]; ok && now != cell && name != "documents" { // which have names of their own
					t.Fatalf("%s of %v, --docs %v: %s is %s, %s alone", key, some, docs, name, now, cell)
				}
			}
		}
	}
}
