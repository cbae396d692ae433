package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// TestLeftovers: the temporary files of a killed import are gone after the next command
// that writes there, and those of a living one are not touched.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(`{"id": "1", "query": "q", "answer": "a"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	hidden := func() []string {
		found, _ := filepath.Glob(filepath.Join(dir, ".*.tmp"))
		return found
	}
	begin := func(out string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "ibid", "import", "jsonl", "-", "-o", out)
		cmd.Dir = dir
		stdin, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
		for begun := []string(nil); len(begun) == 0; begun, _ = filepath.Glob(filepath.Join(dir, "."+out+".*.tmp")) {
			time.Sleep(time.Millisecond)
		}
		return cmd
	}
	killed := begin("killed.parquet")
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	living := begin("living.parquet") // it removes what the killed one left
	mustIbid(t, dir, "import", "jsonl", "a.jsonl", "-o", "a.parquet")
	if found := hidden(); len(found) != 1 || !regexp.MustCompile(`\.living\.parquet\.`).MatchString(found[0]) {
		t.Errorf("%v are left, want that of the living command", found)
	}
	if err := living.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = living.Wait()
	if found := hidden(); len(found) > 0 {
		t.Errorf("%v are left", found)
	}
}
