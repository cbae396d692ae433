package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestFailingChunks: failing rows that are read in chunks are those of one read, in the
// same order.
func TestFailingChunks(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(line string) string {
		var stdout, stderr bytes.Buffer
		if code := Main(t.Context(), Process{Args: strings.Fields(line), Stdout: &stdout, Stderr: &stderr}); code != ExitOK {
			t.Fatalf("ibid %s: exit code %d\n%s", line, code, stderr.String())
		}
		return stdout.String()
	}
	run("init -q .")
	run("run ibid.yaml --id a -q")
	lines := []string{
		"show runs/a --failing --format csv", "show runs/a --failing --format csv --limit 30", "show runs/a --failing --json",
		"show runs/a --failing --limit 25", "show runs/a --failing --format csv --gate char_f1>=0.5",
	}
	var whole []string
	for _, line := range lines {
		whole = append(whole, run(line))
	}
	if n := strings.Count(whole[0], "\n"); n != 40 { // 39 rows and the header
		t.Errorf("%d lines:\n%s", n, whole[0])
	}
	defer func(n int) { failingChunk = n }(failingChunk)
	failingChunk = 7
	for i, line := range lines {
		if got := run(line); got != whole[i] {
			t.Errorf("ibid %s in chunks:\n%s\nwhole:\n%s", line, got, whole[i])
		}
	}
}
