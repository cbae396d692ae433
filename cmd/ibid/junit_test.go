package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// runTime is the one thing in JUnit XML that two runs do not share.
var runTime = regexp.MustCompile(`time="[0-9.]+"`)

// TestJUnitGolden compares what a CI system gets with a golden file: gates that
// pass, one that fails and one without a verdict, and the answers that newly fail.
func TestJUnitGolden(t *testing.T) {
	dir := t.TempDir()
	mustIbid(t, dir, "init", "-q")
	mustIbid(t, dir, "run", "ibid.yaml", "--id", "before", "-q")
	mustIbid(t, dir, "run", "ibid-2.yaml", "--id", "sample", "-q")
	_, stderr, code := command(t, dir, "gate", "runs/sample", "--gate", "char_f1 >= 0.99", "--gate", "char_f1[system=nobody] >= 0", "--junit", "gates.xml")
	if code != 3 {
		t.Errorf("exit %d, want 3\n%s", code, stderr)
	}
	got, err := os.ReadFile(filepath.Join(dir, "gates.xml"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "gates.xml", runTime.ReplaceAllString(string(got), `time="0.000"`))
}
