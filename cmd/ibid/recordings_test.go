package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
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
	root, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data", "provider-recordings"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
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
	dir := t.TempDir()
	rows := func(path, id string) map[string]map[string]string {
		if _, stderr, code := command(t, dir, "run", path, "--judge", "lexical", "--id", id, "-q"); code != 0 && (path != root || code != 4) { // manifest.json is left out
			t.Fatalf("%s: exit code %d\n%s", path, code, stderr)
		}
		out := make(map[string]map[string]string)
		for _, row := range readRows(t, filepath.Join(dir, "runs", id, runs.RowsFile)) {
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
