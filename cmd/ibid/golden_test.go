package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGolden compares what people read of the sample with testdata/golden: the
// summary in each format, a row with its spans marked, and what a check says.
func TestGolden(t *testing.T) {
	dir := t.TempDir()
	mustIbid(t, dir, "init", "-q")
	mustIbid(t, dir, "run", "ibid.yaml", "--id", "sliced", "-q")
	mustIbid(t, dir, "run", "ibid.yaml", "--id", "sample", "--set", "slices=[]", "-q")
	tests := []struct {
		file string
		args []string
	}{
		{"summary.txt", []string{"show", "runs/sample"}},
		{"summary-verbose.txt", []string{"show", "runs/sample", "-v"}},
		{"summary.md", []string{"show", "runs/sample", "--format", "markdown"}},
		{"summary.csv", []string{"show", "runs/sliced", "--format", "csv"}},
		{"gates.txt", []string{"run", "ibid.yaml", "--id", "sliced", "-q"}},
		{"row.txt", []string{"show", "runs/sample", "q-01/careful"}},
		{"row-unusable.txt", []string{"show", "runs/sample", "q-10/dreamer"}},
		{"row-cjk.txt", []string{"show", "runs/sample", "q-06/careful"}},
		{"row.json", []string{"show", "runs/sample", "q-01/careful", "--json"}},
		{"dry-run.txt", []string{"run", "ibid.yaml", "--dry-run"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			got := mustIbid(t, dir, tt.args...)
			if tt.file == "summary.csv" {
				got = onlyMetrics(got, "metric", "char_f1", "exact_match", "hallucination_rate", "truth_chars")
			}
			golden(t, tt.file, got)
		})
	}
}

// onlyMetrics keeps the lines of a CSV summary that are about the metrics: whole
// it is too long to be reviewed.
func onlyMetrics(csv string, metrics ...string) string {
	var b strings.Builder
	for line := range strings.Lines(csv) {
		if slices.Contains(metrics, strings.Split(line, ",")[2]) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// golden compares got with a golden file, or rewrites the file under -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is stale; if the change is meant, run go test ./cmd/ibid -update\ngot:\n%swant:\n%s", path, got, want)
	}
}
