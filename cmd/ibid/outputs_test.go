package main

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset"
)

// TestHostileOutputs: what a dataset says can neither run in a spreadsheet, nor move a
// terminal, nor be a command of a workflow, nor end an element of JUnit.
func TestHostileOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const formula, escape = "=cmd|'/c calc'!A0", "x\x1b[2Jx\n::error::y</testcase>\x07"
	w, err := dataset.NewWriter(filepath.Join(dir, "a.parquet"), "document")
	for _, id := range []string{formula, escape, "-0.5", "+1", "@SUM(A1)"} {
		if err == nil {
			err = w.Write(&ibid.Answer{
				ID: id, System: id, Query: escape, Answer: escape, HasCitations: true, HasTruth: true,
				Citations: []ibid.Citation{{Doc: escape, Start: ibid.Some[int64](0), End: ibid.Some[int64](2)}},
				Truth:     []ibid.Mark{{Annotator: escape, Doc: escape, Start: ibid.Some[int64](5), End: ibid.Some[int64](9)}},
				Tags:      []ibid.Tag{{Key: formula, Value: escape}},
			})
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		stdout, stderr, _ := command(t, dir, args...)
		if strings.ContainsAny(stdout+stderr, "\x1b\x07") && !strings.Contains(strings.Join(args, " "), "csv") && args[len(args)-1] != "json" {
			t.Errorf("ibid %s passes control characters on:\n%q", strings.Join(args, " "), stdout+stderr)
		}
		for line := range strings.Lines(stderr) {
			if strings.HasPrefix(line, "::error::y") {
				t.Errorf("ibid %s: a command of the data: %q", strings.Join(args, " "), line)
			}
		}
		return stdout
	}
	run("run", "a.parquet", "--dry-run", "--judge", "none")
	run("run", "a.parquet", "--judge", "none", "--id", "r", "--gate", "char_f1 >= 0.9", "-o", "page.html")
	run("run", "a.parquet", "--judge", "none", "--id", "s", "--set", "slices=["+formula+"]")
	for _, args := range [][]string{
		{"show", "runs/r"},
		{"show", "runs/r", "-v"},
		{"show", "runs/r", "--failing"},
		{"show", "runs/r", "--failing", "--format", "markdown"},
		{"show", "runs/r", "--row", "1"},
		{"show", "runs/r", "--errors"},
		{"gate", "runs/r", "--gate", "char_f1 >= 0.9", "--annotations", "github"},
		{"gate", "runs/r", "--format", "markdown"},
		{"compare", "runs/r", "runs/s"},
		{"agree", "runs/r"},
		{"history", "runs"},
		{"ls", "runs"},
		{"show", "runs/r", "--all"},
		{"show", "runs/r", "--by", formula},
		{"show", "runs/r", "--failing", "--limit", "1"},
		{"compare", "runs/r", "--by", "system"},
		{"compare", "runs/r", "runs/s", "--format", "markdown"},
		{"rescore", "runs/r", "--id", "t"},
		{"sample", "a.parquet", "-o", "sample"},
		{"merge", "runs/r", "-o", "runs/m"},
		{"report", "runs/r", "-o", "again.html"},
		{"show", "runs/none" + escape},
		{"import", "jsonl", escape, "-o", "b.parquet"},
	} {
		run(args...)
	}
	for _, args := range [][]string{{"show", "runs/r", "--format", "csv"}, {"show", "runs/r", "--failing", "--format", "csv"}, {"show", "runs/r", "--table", "rows", "--format", "csv"}} {
		safe, err1 := csv.NewReader(strings.NewReader(run(args...))).ReadAll()
		raw, err2 := csv.NewReader(strings.NewReader(run(append(args, "--csv", "raw")...))).ReadAll()
		if err := errors.Join(err1, err2); err != nil || len(safe) != len(raw) || len(safe) < 2 {
			t.Fatalf("ibid %s: %v, %d and %d records", strings.Join(args, " "), err, len(safe), len(raw))
		}
		changed := 0
		for i := range raw {
			for k, cell := range raw[i] {
				want := cell
				if cell == formula || cell == "@SUM(A1)" || strings.HasPrefix(cell, formula) {
					want = "'" + cell
					changed++
				}
				if safe[i][k] != want {
					t.Errorf("ibid %s: cell %q, want %q", strings.Join(args, " "), safe[i][k], want)
				}
			}
		}
		if changed == 0 {
			t.Errorf("ibid %s: no cell is a formula", strings.Join(args, " "))
		}
	}
	run("gate", "runs/r", "--gate", "char_f1 >= 0.9", "--junit", "junit.xml")
	text, err := os.ReadFile(filepath.Join(dir, "junit.xml"))
	if err != nil || strings.ContainsAny(string(text), "\x1b\x07") {
		t.Errorf("JUnit: %v, or it has control characters", err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("JUnit cannot be read: %v\n%s", err, text)
		}
	}
}
