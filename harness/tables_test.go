package harness_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/dataset/runs"
	"ibid/harness"
)

// partition writes the rows of a run, and what stands beside them, into folders below dir,
// in an order that rng draws.
func partition(t *testing.T, run, dir string, folders int, rng *rand.Rand) {
	t.Helper()
	rows, err := runs.Rows().Read(run)
	if err != nil {
		t.Fatal(err)
	}
	citations, err := runs.Citations.Read(run)
	if err != nil {
		t.Fatal(err)
	}
	of := make(map[int64][]runs.Citation)
	for _, c := range citations {
		of[c.Row] = append(of[c.Row], c)
	}
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	cuts := []int{0, len(rows)}
	for range folders - 1 {
		cuts = append(cuts, rng.IntN(len(rows)+1))
	}
	slices.Sort(cuts)
	for k := range folders {
		part := rows[cuts[k]:cuts[k+1]]
		folder := filepath.Join(dir, fmt.Sprintf("day=%d", k%3), fmt.Sprint(k))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		var beside []runs.Citation
		for i := range part {
			beside = append(beside, of[part[i].Row]...)
			part[i].Row = 7 // whatever it was
		}
		if err := runs.Rows().Write(folder, part); err != nil {
			t.Fatal(err)
		}
		if err := runs.Citations.Write(folder, beside); err != nil {
			t.Fatal(err)
		}
	}
}

// keyed are rows and citations without their positions, by their keys.
func keyed(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	rows, err := runs.Rows().Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[int64]string)
	for _, r := range rows {
		key := r.ID + "/" + r.System
		at[r.Row], r.Row = key, 0
		var text bytes.Buffer
		if err := runs.Rows().WriteCSV(&text, []runs.Row{r}); err != nil {
			t.Fatal(err)
		}
		out[key] = text.String()
	}
	if len(at) != len(rows) {
		t.Errorf("%d positions of %d rows", len(at), len(rows))
	}
	citations, err := runs.Citations.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range citations {
		key := at[c.Row]
		if key != c.ID+"/"+c.System {
			t.Errorf("a citation of %s/%s is at the row of %s", c.ID, c.System, key)
		}
		c.Row = 0
		var text bytes.Buffer
		if err := runs.Citations.WriteCSV(&text, []runs.Citation{c}); err != nil {
			t.Fatal(err)
		}
		out[key] += text.String()
	}
	return out
}

// TestSummaryOfAnyPartition: rows in any order, in any number of files, have the summary of
// the run, but for rounding, and are its rows.
func TestSummaryOfAnyPartition(t *testing.T) {
	rows := questions(40, "a", "b")
	rows[3].Answer, rows[3].AnswerNull = "", true // an error row
	one := slices.DeleteFunc(slices.Clone(rows), func(r *ibid.Answer) bool { return r.System == "b" })
	byKind := kindRows(20)
	for _, r := range byKind {
		for i := range r.Citations {
			r.Citations[i].CitedText = "" // of which the manifest would say more
		}
	}
	for name, c := range map[string]struct {
		rows     []*ibid.Answer
		settings []string
	}{
		"auto":        {rows, []string{"slices=[lang]"}},
		"one":         {one, []string{"slices=[lang, source_type]"}},
		"by id":       {rows, []string{"statistics.cluster=id"}},
		"by question": {rows, []string{"statistics.cluster=question", "slices=[lang]"}},
		"by a tag":    {rows, []string{"statistics.cluster=lang"}},
		"by kind":     {byKind, []string{"slices=[source_type, source_status]", "judge=lexical"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := evaluate(t, writeRows(t, c.rows), c.settings...)
			want, err := runs.Summary.Read(run)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, uint64(len(name))))
			for _, folders := range []int{1, 2, 13, 64} {
				dir := t.TempDir()
				partition(t, run, dir, folders, rng)
				tables, err := harness.FindTables([]string{dir})
				if err != nil {
					t.Fatal(err)
				}
				m, err := runs.ReadManifest(run)
				if err != nil {
					t.Fatal(err)
				}
				config, err := harness.SettingsOf(m, []string{"out=" + t.TempDir()}, nil)
				if err != nil {
					t.Fatal(err)
				}
				p, err := (&harness.Job{Config: config, ID: "sum", Tables: tables}).Plan(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				out, err := p.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got, err := runs.Summary.Read(out.Dir)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got, nearlyEqual); diff != "" {
					t.Errorf("%d folders: another summary:\n%s", folders, diff)
				}
				a, b := keyed(t, run), keyed(t, out.Dir)
				for key := range a {
					if a[key] != b[key] {
						t.Errorf("%d folders: %s is\n%s, not\n%s", folders, key, b[key], a[key])
					}
				}
				if m.Rows != out.Manifest.Rows || m.Errors != out.Manifest.Errors || m.Citations != out.Manifest.Citations || fmt.Sprint(m.Statuses, m.Signs) != fmt.Sprint(out.Manifest.Statuses, out.Manifest.Signs) {
					t.Errorf("%d folders: the manifest says %+v, not %+v", folders, out.Manifest, m)
				}
			}
		})
	}
}
