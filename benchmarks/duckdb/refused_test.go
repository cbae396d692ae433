package duckdb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRefused has DuckDB write what ibid must not read: it says so before any
// work, with exit code 2, and leaves nothing behind.
func TestRefused(t *testing.T) {
	const valid = "SELECT 'q' AS id, 'q' AS query, 'a' AS answer"
	for _, c := range []struct {
		name, query, options string
		want                 []string // parts of the message
	}{
		{"no answer", "SELECT 'q' AS id, 'q' AS query", "COMPRESSION zstd", []string{"answer", "answers.parquet"}},
		{"id is a number", "SELECT 1 AS id, 'q' AS query, 'a' AS answer", "COMPRESSION zstd", []string{"id", "answers.parquet"}},
		{"start is a double", valid + `, [{doc: 'd', start: 1.5::DOUBLE, "end": 2.5::DOUBLE}] AS citations`, "COMPRESSION zstd", []string{"citations", "start", "answers.parquet"}},
		{"citations are no list", valid + ", 'd' AS citations", "COMPRESSION zstd", []string{"citations", "answers.parquet"}},
		{"duplicate key", "FROM (" + valid + ") CROSS JOIN range(2) SELECT id, query, answer", "COMPRESSION zstd", []string{"row 1", "answers.parquet"}},
		{"null id", "SELECT NULL::VARCHAR AS id, 'q' AS query, 'a' AS answer", "COMPRESSION zstd", []string{"id", "row 0", "answers.parquet"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openDuck(t)
			dir := t.TempDir()
			d.exec("COPY (" + c.query + ") TO " + quote(filepath.Join(dir, "answers.parquet")) + " (FORMAT parquet, " + c.options + ")")
			got, err := call(dir, "run", "answers.parquet", "--judge", "none", "-q")
			if err != nil {
				t.Fatal(err)
			}
			if got.exit != 2 || got.stdout != "" {
				t.Errorf("exit %d, want 2\nstdout: %s\nstderr: %s", got.exit, got.stdout, got.stderr)
			}
			for _, part := range c.want {
				if !strings.Contains(strings.ToLower(got.stderr), part) {
					t.Errorf("message does not say %q:\n%s", part, got.stderr)
				}
			}
			t.Log(strings.TrimSpace(got.stderr))
			if _, err := os.Stat(filepath.Join(dir, "runs")); !os.IsNotExist(err) {
				t.Errorf("something was written (%v)", err)
			}
		})
	}
}
