package configs

import (
	"os"
	"path/filepath"
	"testing"
)

// write makes a run file named ibid.yaml in the working directory of the test.
func write(t *testing.T, text string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("ibid.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "ibid.yaml"
}

func TestPrecedence(t *testing.T) {
	file := write(t, "judge: none\nmark_scope: paragraph\nlimits: 2\nmin_coverage: 0.5\n")
	c, err := Load(Options{
		File:    file,
		Environ: []string{"IBID_LIMITS=3", "IBID_SPAN_MATCHING__TOLERANCE_CHARS=4", "PATH=/bin"},
		Set:     []string{"span_matching.tolerance_chars=5"},
		Flags:   []Flag{{Name: "--out", Key: "out", Value: "12"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Value{
		"judge.kind":                    {"judge.kind", "none", "ibid.yaml:1:8"},
		"mark_scope":                    {"mark_scope", "paragraph", "ibid.yaml:2:13"},
		"limits":                        {"limits", "3", "environment IBID_LIMITS"},
		"span_matching.tolerance_chars": {"span_matching.tolerance_chars", "5", "--set span_matching.tolerance_chars"},
		"out":                           {"out", `"12"`, "--out"},
		"truth_policy":                  {"truth_policy", "best", "default"},
	}
	found := 0
	for _, v := range c.Effective() {
		if w, ok := want[v.Key]; ok {
			found++
			if v != w {
				t.Errorf("got %+v, want %+v", v, w)
			}
		}
	}
	if found != len(want) {
		t.Errorf("Effective lists %d of %d keys", found, len(want))
	}
	if c.Limits != 3 || c.SpanMatching.ToleranceChars != 5 || c.Out != "12" || c.MinCoverage != 0.5 {
		t.Errorf("settings are %+v", c.Settings)
	}
	if !c.IsSet("limits") || c.IsSet("truth_policy") {
		t.Error("IsSet does not tell given settings from defaults")
	}
}

func TestPathsAreRelativeToTheRunFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	text := "judge: none\ndataset: data/*.parquet\nout: results\n"
	if err := os.WriteFile(filepath.Join("sub", "run.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Options{File: "sub/run.yaml", Set: []string{"documents=*.parquet"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Dataset, filepath.Join("sub", "data", "*.parquet"); got != want {
		t.Errorf("dataset is %q, want %q", got, want)
	}
	if got, want := c.Out, "results"; got != want {
		t.Errorf("out is %q, want %q", got, want)
	}
	if got, want := c.Documents, "*.parquet"; got != want {
		t.Errorf("documents is %q, want %q", got, want)
	}
}
