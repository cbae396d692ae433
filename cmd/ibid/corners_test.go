package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCorners: inputs of few bytes, or of one huge row, that break no rule of their format end
// within 1 GB of memory and 30 s of CPU: with the name of a limit, or as results.
func TestCorners(t *testing.T) {
	if raced() || testing.Short() {
		t.Skip("-short, or the race detector, under which memory says nothing")
	}
	list := func(n int, element string) string { // %d in it is its number
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, element, i)
		}
		return "[" + b.String() + "]"
	}
	row := func(more string) string {
		return `{"id":"a","query":"q","answer":"a",` + more + "}\n"
	}
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		return b.String()
	}
	systems := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"id":"a","system":"s%d","query":"q","answer":"a","citations":[]}`+"\n", i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, file, text string
		set              []string
		code             int
		stderr           string
	}{
		{"a million citations in one row", "a.jsonl", row(`"citations":` + list(1_000_000, `{"doc":"d","start":%d,"end":9999999}`)), nil, 2, "limits: more than 20000 elements"},
		{"a list of nothing in gzip", "a.jsonl.gz", packed(row(`"citations":[` + strings.Repeat("{},", 20<<20) + `{}]`)), nil, 2, "limits: more than 20000 elements"},
		{"a response of millions of objects", "a.jsonl", `{"type":"message","role":"assistant","content":[` + strings.Repeat(`{"a":1},`, 6<<20) + `{}]}`, nil, 2, "limits: more than 1000000 values in one record"},
		{"20,000 annotators in one row", "a.jsonl", row(`"citations":[],"truth":` + list(20_000, `{"annotator":"p%d","doc":"d","start":1,"end":2}`)), nil, 2, "truth.annotator: limits: more than 200 annotators"},
		{"as many annotators as are taken", "a.jsonl", row(`"citations":[],"truth":` + list(200, `{"annotator":"p%d","doc":"d","start":1,"end":2}`)), nil, 0, ""},
		{"thousands of systems", "a.jsonl", systems(14_000), nil, 2, "system: limits: more than 500 systems"},
		{"4,000 systems", "a.jsonl", systems(4_000), []string{"--set", "limits=10"}, 0, ""},
		{"20,000 citations and marks that all overlap", "a.jsonl", row(`"citations":` + list(20_000, `{"doc":"d","start":%d,"end":9999999}`) + `,"truth":` + list(20_000, `{"doc":"d","start":%d,"end":9999999}`)), nil, 4, ""},
		{"a line of 65 MiB", "a.jsonl", row(`"citations":[],"note":"` + strings.Repeat("x", 65<<20) + `"`), nil, 2, "over 67108864 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			p := measured(t, dir, append([]string{"run", c.file, "--judge", "none", "--id", "x"}, c.set...)...)
			t.Logf("%d bytes, exit code %d, %d MB, %.1f s of CPU: %.200s", len(c.text), p.code, p.peak>>20, p.cpu.Seconds(), strings.TrimSpace(p.stderr))
			if p.code != c.code || p.crashed() || !strings.Contains(p.stderr, c.stderr) {
				t.Errorf("exit code %d, want %d and %q\n%s", p.code, c.code, c.stderr, p.stderr)
			}
			if p.peak > 1<<30 || p.cpu > 30*time.Second {
				t.Errorf("%d MB, %v of CPU", p.peak>>20, p.cpu)
			}
		})
	}
}
