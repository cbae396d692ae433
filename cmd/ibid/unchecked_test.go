package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ibid/dataset/runs"
)

// How much of an input has no checksums is said by check, and kept in the manifest of a
// run: Arrow's writer leaves them out, ours does not.
func TestUnchecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "theirs.parquet"), arrowFiles(t)[0].data, 0o666); err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?m)^unchecked +([0-9,]+) bytes of pages without checksums; damage there may read as other values$`)
	if got := said.FindStringSubmatch(mustIbid(t, dir, "run", "theirs.parquet", "--dry-run", "--judge", "none")); got == nil || got[1] == "0" {
		t.Errorf("check says %q", got)
	}
	mustIbid(t, dir, "run", "theirs.parquet", "--judge", "none", "-q", "--id", "a")
	m, err := runs.ReadManifest(filepath.Join(dir, "runs", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if in := m.Inputs[0]; in.Unchecked <= 0 || in.Unchecked >= in.Bytes {
		t.Errorf("the manifest has %d of %d bytes without checksums", in.Unchecked, in.Bytes)
	}
	if err := writeAnswers(filepath.Join(dir, "ours.parquet"), 10); err != nil {
		t.Fatal(err)
	}
	out := mustIbid(t, dir, "run", "ours.parquet", "--dry-run", "--judge", "none", "--json")
	var found struct {
		Bytes *int64 `json:"unchecked_bytes"`
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || found.Bytes == nil || *found.Bytes != 0 || strings.Contains(out, "without checksums") {
		t.Errorf("check of a file of ours: %v\n%s", err, out)
	}
}
