package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ibid/dataset/runs"
	"ibid/judge/judgetest"
)

// TestScoreRows: five processes score a range of rows each, are killed and go on, and summary
// makes of them the run of one process.
func TestScoreRows(t *testing.T) {
	t.Parallel()
	const ranges, step = 5, 1024
	dir := t.TempDir()
	if err := writeAnswers(filepath.Join(dir, "answers.parquet"), step*(ranges-1)+777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "run.yaml"), []byte("dataset: answers.parquet\njudge: none\nslices: [lang]\nrows_per_part: 256\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	mustIbid(t, dir, "run", "run.yaml", "-q", "--id", "whole", "-o", "text")
	want := results(t, filepath.Join(dir, "runs", "whole"))
	severalParts(t, filepath.Join(dir, "runs", "whole", runs.RowsFile))
	score := func(i int) []string {
		return []string{"score", "run.yaml", "-q", "--rows", fmt.Sprintf("%d:%d", i*step, (i+1)*step), "-o", fmt.Sprintf("parts/%d", i)}
	}
	random := rand.New(rand.NewPCG(8, 8))
	var all sync.WaitGroup
	killed := make([]int, ranges)
	for i := range ranges {
		pause := time.Duration(random.IntN(100)) * time.Millisecond
		all.Go(func() {
			for done := false; !done; {
				var began time.Time // when the directory was there; a start takes as long as it takes
				late := func() bool {
					if _, err := os.Stat(filepath.Join(dir, "parts", fmt.Sprint(i))); err == nil && began.IsZero() {
						began = time.Now()
					}
					return killed[i] < 3 && !began.IsZero() && time.Since(began) > pause
				}
				if done = runUntil(t, dir, late, score(i)...); !done {
					killed[i]++
				}
			}
		})
	}
	all.Wait()
	if slices.Max(killed) == 0 {
		t.Error("no process was killed")
	}
	found, err := filepath.Glob(filepath.Join(dir, "parts", "*"))
	if err != nil || len(found) != ranges {
		t.Fatalf("%d directories of %d ranges, %v", len(found), ranges, err)
	}
	for _, part := range found {
		if left, _ := filepath.Glob(filepath.Join(part, "*")); len(left) > 6 {
			t.Errorf("files are left: %q", left)
		}
	}
	random.Shuffle(ranges, func(i, j int) { found[i], found[j] = found[j], found[i] })
	mustIbid(t, dir, append([]string{"summary", "-q", "-o", "runs/joined"}, found...)...)
	sameResults(t, filepath.Join(dir, "runs", "joined"), want)
	t.Logf("%d processes were killed", killed)

	// what is missing is scored again
	if err := os.RemoveAll(found[0]); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := command(t, dir, append([]string{"summary", "-o", "runs/refused"}, found[1:]...)...)
	if code != 4 || !strings.Contains(stderr, "rows are missing: ") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "runs", "refused")); err == nil {
		t.Error("a run was written")
	}
}

// TestScoreRowsJudged: ranges of a run that a model judges ask through one store, and summary
// asks nobody.
func TestScoreRowsJudged(t *testing.T) {
	t.Parallel()
	const rows, step = 600, 256
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1})
	whole := l.must("whole", "--cache", "other.sqlite")
	asked := l.server.Counts().Requests
	settings := "dataset: towers.parquet\njudge: {kind: openrouter, model: fake/judge, cache: judge.sqlite, concurrency: 50, max_cost_usd: 5, base_url: '" + l.server.URL() + "'}\n"
	if err := os.WriteFile(filepath.Join(l.dir, "run.yaml"), []byte(settings), 0o666); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for from := 0; from < rows; from += step {
		part := fmt.Sprintf("part-%d", from)
		_, stderr, code := command(t, l.dir, "score", "run.yaml", "--rows", fmt.Sprintf("%d:%d", from, from+step), "-o", part)
		if code != 0 || !strings.Contains(stderr, "hold for each process") {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
		parts = append(parts, part)
	}
	if got := l.server.Counts().Requests - asked; got != asked {
		t.Errorf("%d calls for ranges, %d for the whole", got, asked)
	}
	l.server.Close()
	_, stderr, code := command(t, l.dir, append([]string{"summary", "-o", "runs/joined"}, parts...)...)
	if code != 0 {
		t.Fatalf("summary without the service: exit code %d\n%s", code, stderr)
	}
	l.same("joined", l.results("joined"), whole)
	want, got := l.manifest("whole").Judge, l.manifest("joined").Judge
	if got.Calls != want.Calls || got.SpentUSD == nil || *got.SpentUSD < *want.SpentUSD*0.999 || *got.SpentUSD > *want.SpentUSD*1.001 {
		t.Errorf("judge of the joined run %+v, of one process %+v", got, want)
	}
}
