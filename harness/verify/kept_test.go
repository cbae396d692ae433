package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ibid/dataset/runs"
	"ibid/harness"
)

// TestKeptTexts runs random data, takes the data away and scores the run again from what
// it kept: every result file has the same bytes as scored again from the data.
func TestKeptTexts(t *testing.T) {
	rows, sets := 40, 3
	if testing.Short() {
		rows, sets = 20, 1
	}
	compared := 0
	for seed := range uint64(sets) {
		dir := t.TempDir()
		data, docs := writeNasty(t, dir, seed+100, rows)
		for k, set := range configurations[:8] { // the others differ in their intervals alone
			name := fmt.Sprintf("seed %d, configuration %d", seed, k)
			out, m := run(t, dir, data, docs, fmt.Sprintf("run-%d", k), set)
			if m == nil {
				continue
			}
			whole := again(t, out, m, "whole")
			for _, path := range []string{data, docs} {
				if err := os.Rename(path, path+".away"); err != nil {
					t.Fatal(err)
				}
			}
			kept := again(t, out, m, "kept")
			for _, path := range []string{data, docs} {
				if err := os.Rename(path+".away", path); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{runs.RowsFile, runs.CitationsFile, runs.ClaimsFile, runs.SummaryFile, runs.VerdictsFile, runs.TextsFile} {
				want, err := os.ReadFile(filepath.Join(whole, file))
				if os.IsNotExist(err) {
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(filepath.Join(kept, file))
				if err != nil {
					t.Fatal(err)
				}
				if compared++; !bytes.Equal(got, want) {
					t.Errorf("%s: %s of the kept texts differs: %s", name, file, firstDifference(t, filepath.Join(whole, file), filepath.Join(kept, file)))
				}
			}
		}
	}
	t.Logf("%d files compared", compared)
}

// again scores a run again.
func again(t *testing.T, dir string, m *runs.Manifest, id string) string {
	t.Helper()
	config, err := harness.SettingsOf(m, []string{"id=" + filepath.Base(dir) + "-" + id, "out=" + filepath.Dir(dir)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&harness.Job{Config: config, Source: m.Source, Workers: 2, SameDataAs: m, SameDataIn: dir}).Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return out.Dir
}

// firstDifference says where two result files differ first.
func firstDifference(t *testing.T, a, b string) string {
	left, right := cellsOf(t, a), cellsOf(t, b)
	for i := range min(len(left), len(right)) {
		if left[i] != right[i] {
			return fmt.Sprintf("%s, kept: %s", left[i], right[i])
		}
	}
	return fmt.Sprintf("%d cells, kept: %d", len(left), len(right))
}

func cellsOf(t *testing.T, path string) (cells []string) {
	at := 0
	eachRowOf(t, path, func(columns []string, values []string) {
		for i := range values {
			cells = append(cells, fmt.Sprintf("row %d, %s = %s", at, columns[i], values[i]))
		}
		at++
	})
	return cells
}
