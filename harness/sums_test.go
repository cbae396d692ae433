package harness_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
)

// The summary of a run and one that is made again, group by group, are the same file.
func TestSummaryAgain(t *testing.T) {
	bySystem := func(rows []*ibid.Answer) []*ibid.Answer { // systems one after the other
		slices.SortStableFunc(rows, func(a, b *ibid.Answer) int { return bytes.Compare([]byte(a.System), []byte(b.System)) })
		return rows
	}
	most := 1
	if underRace() { // ten times slower, and the same goroutines
		most = 8
	}
	many := make([]string, 70/most)
	for i := range many {
		many[i] = fmt.Sprintf("system-%02d", i)
	}
	broken := questions(300, "a")
	for i := range broken {
		if i%4 == 0 {
			broken[i].Citations = []ibid.Citation{{Doc: "d", Start: ibid.Some[int64](1)}}
		}
	}
	tests := []struct {
		name     string
		rows     []*ibid.Answer
		settings []string
	}{
		{"one system", questions(10_000/most, "a"), []string{fmt.Sprint("rows_per_part=", 2048/most)}},
		{"systems in parts of their own", bySystem(questions(5_000/most, "a", "b", "c")), []string{fmt.Sprint("rows_per_part=", 2048/most)}},
		{"systems mixed", questions(500, "a", "b"), nil},
		{"slices", questions(500, "a"), []string{"slices=[lang, provider, system]"}},
		{"rows of one slice", questions(500, "a"), []string{"slices=[provider]"}},
		{"documents of a tag", questions(500, "a"), []string{"statistics.cluster=lang"}},
		{"questions of slices", questions(300, "a", "b"), []string{"slices=[lang]", "statistics.cluster=question"}},
		{"many systems", bySystem(questions(60, many...)), nil},
		{"error rows", broken, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := writeRows(t, tt.rows)
			settings := append([]string{"dataset=" + path, "judge=none", "out=" + t.TempDir()}, tt.settings...)
			config, err := configs.Load(configs.Options{Set: settings})
			if err != nil {
				t.Fatal(err)
			}
			plan, err := (&harness.Job{Config: config, Source: path}).Plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := plan.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			summary := filepath.Join(plan.Dir, runs.SummaryFile)
			first, err := os.ReadFile(summary)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range []bool{false, true} {
				if err := plan.SummarizeAgain(t.Context(), one); err != nil {
					t.Fatal(err)
				}
				again, err := os.ReadFile(summary)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(first, again) {
					t.Errorf("summary.parquet differs (one group at a time: %v)", one)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(plan.Dir, ".summary.*")); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
		})
	}
}
