//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSpecification: the kernel and the specification's sets of characters say the same
// of one span beside one.
func TestSpecification(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no Python")
	}
	self := filepath.Join(t.TempDir(), "peers")
	if out, err := exec.Command("go", "build", "-o", self, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b := &bench{self: self, dir: t.TempDir(), python: "python3"}
	if err := b.sameSpecification(b.script("spec.py", specification))(); err != nil {
		t.Error(err)
	}
}

// TestRatio: small ratios are read more easily as fractions.
func TestRatio(t *testing.T) {
	for r, want := range map[float64]string{2: "2.00", 1.0 / 3: "0.33", 1.0 / 15: "1/15", 0.0001: "1/10000"} {
		if got := ratio(r); got != want {
			t.Errorf("%v is %s, want %s", r, got, want)
		}
	}
}
