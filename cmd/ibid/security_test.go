package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityStates: what SECURITY.md says of limits and of make is so.
func TestSecurityStates(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	security, makefile := read("SECURITY.md"), read("Makefile")
	settings := strings.Join(strings.Fields(mustIbid(t, t.TempDir(), "help", "settings")), " ")
	for _, limit := range []string{"20,000 spans", "4 MiB", "64 MiB", "200 annotators", "500 systems"} { // TestScripts/limits holds them
		if !strings.Contains(settings, limit) || !strings.Contains(security, limit) || !strings.Contains(read("README.md"), limit) {
			t.Errorf("%s is not stated in the settings, SECURITY.md and README.md", limit)
		}
	}
	for _, want := range []string{
		fmt.Sprintf("takes at most %d MB", refusedMemory>>20), fmt.Sprintf("takes at most %d MB", textMemory>>20), "A run file has at most 64 KiB",
	} {
		if !strings.Contains(security, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	for _, m := range regexp.MustCompile("`make ([a-z]+)`").FindAllStringSubmatch(security, -1) {
		if !strings.Contains(makefile, "\n"+m[1]+": ") {
			t.Errorf("there is no make %s", m[1])
		}
	}
	_, stderr, code := command(t, writeLongRunFile(t), "run", "ibid.yaml")
	if code != 2 || !strings.Contains(stderr, "larger than 64 KiB") {
		t.Errorf("a run file of 65 KiB: exit code %d, %q", code, stderr)
	}
}

// writeLongRunFile writes a run file of more than 64 KiB and returns its folder.
func writeLongRunFile(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ibid.yaml"), []byte("dataset: a.parquet\n"+strings.Repeat("# long\n", 10_000)), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}
