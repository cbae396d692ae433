package configs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nested prints settings as a run file, each key in its group.
func nested(values []Value) string {
	var b strings.Builder
	var open []string
	for _, v := range values {
		parts := strings.Split(v.Key, ".")
		groups := parts[:len(parts)-1]
		same := 0
		for same < len(open) && same < len(groups) && open[same] == groups[same] {
			same++
		}
		for i := same; i < len(groups); i++ {
			fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("  ", i), groups[i])
		}
		open = groups
		fmt.Fprintf(&b, "%s%s: %s\n", strings.Repeat("  ", len(groups)), parts[len(parts)-1], v.Value)
	}
	return b.String()
}

// FuzzLoad checks that no text makes Load panic, that every error has a place
// in the text, and that an accepted configuration, printed by Effective and
// read again, is the same.
func FuzzLoad(f *testing.F) {
	for _, tt := range errorCases {
		if len(tt.file) < 1000 {
			f.Add(tt.file, strings.Join(tt.options.Set, "\n"))
		}
	}
	specification, err := os.ReadFile(filepath.Join("testdata", "specification.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(specification), "judge=none")
	f.Add("judge: {kind: none, request: {order: [a, 1, 2.5, null, {b: true}]}, timeout: 1h0m1s}\ncolumns: {'a b': query, citations.x: citations.doc}\n", "out=null\nslices=[\"\\u00e9\", b]")
	f.Add("judge: none\r\nid: |\r\n  a\r\ngates:\r\n- 'lo(char_f1)[a=\"b\"] >= 0.7'\r\nseed: -0\r\nmin_coverage: -0.0\r\n", "")
	f.Add("\ufeffjudge: none\nout: >-\n  a\n  b\n", "judge={kind: none, votes: 3}\nperformance.parallel_evaluation=false")

	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, set string) {
		t.Chdir(dir)
		o := Options{File: "ibid.yaml"}
		if set != "" {
			o.Set = strings.Split(set, "\n")
		}
		if err := os.WriteFile(o.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(o)
		if err != nil {
			checkErrors(t, err, text)
			return
		}
		again := nested(c.Effective())
		if err := os.WriteFile(o.File, []byte(again), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Load(Options{File: o.File})
		if err != nil {
			t.Fatalf("refused what Effective printed: %v\n%s", err, again)
		}
		if diff := cmp.Diff(c.Settings, d.Settings); diff != "" {
			t.Errorf("settings (-first +second):\n%s\n%s", diff, again)
		}
		if second := nested(d.Effective()); second != again {
			t.Errorf("printed again:\n%s", cmp.Diff(again, second))
		}
	})
}

func checkErrors(t *testing.T, err error, text string) {
	t.Helper()
	errs, ok := errors.AsType[Errors](err)
	if !ok || len(errs) == 0 {
		t.Fatalf("%v is no Errors", err)
	}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
	for _, e := range errs {
		switch {
		case e.Msg == "" || e.File == "" && e.Source == "":
			t.Errorf("no message or no place: %#v", e)
		case e.File != "" && e.Line > len(lines):
			t.Errorf("%v, but the file has %d lines", e, len(lines))
		case e.File != "" && e.Line > 0 && (e.Column < 1 || e.Column > len([]rune(lines[e.Line-1]))+1):
			t.Errorf("%v, but the line is %q", e, lines[e.Line-1])
		}
	}
}
