package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid/dataset/runs"
)

// TestFrameworkRuns gives the files of frameworks and providers to run, without a format or an
// import, and finds the citations that they must have among its results.
func TestFrameworkRuns(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "vectors", "inputs", "frameworks"))
	if err != nil {
		t.Fatal(err)
	}
	wanted, _ := filepath.Glob(filepath.Join(root, "*.rows.jsonl"))
	if len(wanted) == 0 {
		t.Skipf("%s is missing", root)
	}
	if len(wanted) != 29 {
		t.Errorf("%d files, want 29", len(wanted))
	}
	for _, path := range wanted {
		stem := strings.TrimSuffix(path, ".rows.jsonl")
		t.Run(filepath.Base(stem), func(t *testing.T) {
			t.Parallel()
			files, _ := filepath.Glob(stem + ".[js]*")
			dir := t.TempDir()
			mustIbid(t, dir, "run", files[0], "--judge", "none", "--id", "x", "-q")
			run := filepath.Join(dir, "runs", "x")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
			if rows := readRows(t, filepath.Join(run, runs.RowsFile)); len(rows) != len(lines) {
				t.Fatalf("%d rows, want %d", len(rows), len(lines))
			}
			got := readRows(t, filepath.Join(run, runs.CitationsFile))
			for i, line := range lines {
				var want struct {
					Citations []struct {
						Doc         string
						AnswerStart *int64 `json:"answer_start"`
						AnswerEnd   *int64 `json:"answer_end"`
					}
				}
				if err := json.Unmarshal(line, &want); err != nil {
					t.Fatal(err)
				}
				for k, w := range want.Citations {
					if len(got) == 0 {
						t.Fatalf("row %d: no citation %d", i, k)
					}
					c := got[0]
					got = got[1:]
					start, end := c["answer_start"], c["answer_end"]
					if c["row"].Int != int64(i) || c["doc"].Text != w.Doc || start.Null != (w.AnswerStart == nil) || w.AnswerStart != nil && (start.Int != *w.AnswerStart || end.Int != *w.AnswerEnd) {
						t.Errorf("row %d, citation %d: %+v at %+v-%+v, want %+v", i, k, c["doc"], start, end, w)
					}
				}
			}
			if len(got) != 0 {
				t.Errorf("%d citations too many", len(got))
			}
		})
	}
}
