package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ibid/dataset/runs"
	"ibid/judge/judgetest"
)

// A shardTest is a dataset, the run of one process over it, and how to make shards.
type shardTest struct {
	*testing.T
	dir  string
	args []string
	want map[string][]byte
}

func newShardTest(t *testing.T, rows int, args ...string) *shardTest {
	t.Helper()
	s := &shardTest{T: t, dir: t.TempDir(), args: append([]string{"run", "answers.parquet", "-q"}, args...)}
	if err := writeAnswers(filepath.Join(s.dir, "answers.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	mustIbid(t, s.dir, append(s.args, "-o", "text", "--id", "whole")...)
	s.want = results(t, filepath.Join(s.dir, "runs", "whole"))
	severalParts(t, filepath.Join(s.dir, "runs", "whole", runs.RowsFile))
	return s
}

func (s *shardTest) shard(number, of int, out string) []string {
	return append(s.args, "--shard", fmt.Sprintf("%d/%d", number, of), "--out", out)
}

// merge merges shards, which have to be whole, and compares the run with that of one process.
func (s *shardTest) merge(id string, dirs ...string) {
	s.Helper()
	mustIbid(s.T, s.dir, append(append([]string{"merge"}, dirs...), "-o", "runs/"+id, "-q")...)
	sameResults(s.T, filepath.Join(s.dir, "runs", id), s.want)
}

// refused wants shards that are no run: exit code 4, a reason, and nothing written.
func (s *shardTest) refused(says string, dirs ...string) (stderr string) {
	s.Helper()
	_, stderr, code := command(s.T, s.dir, append(append([]string{"merge"}, dirs...), "-o", "runs/refused", "-q")...)
	if code != 4 || !strings.Contains(stderr, says) {
		s.Errorf("merge %v: exit code %d, want 4 and %q\n%s", dirs, code, says, stderr)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "runs", "refused")); err == nil {
		s.Error("a run was written")
	}
	return stderr
}

// TestShards: any number of shards, merged in any order and of mixed shares, are the run
// of one process.
func TestShards(t *testing.T) {
	t.Parallel()
	s := newShardTest(t, 3000, "--judge", "none", "--set", "limits.rows_per_part=64")
	random := rand.New(rand.NewPCG(2, 22))
	all := []int{1, 5, 24}
	if testing.Short() || raced() {
		all = []int{5}
	}
	for _, of := range all {
		out := "shards-" + strconv.Itoa(of)
		var dirs []string
		for _, i := range random.Perm(of) {
			mustIbid(t, s.dir, append(s.shard(i+1, of, out), "--workers", strconv.Itoa(1+random.IntN(4)))...)
		}
		found, err := filepath.Glob(filepath.Join(s.dir, out, "*"))
		if err != nil || len(found) != of {
			t.Fatalf("%d folders of %d shards, %v", len(found), of, err)
		}
		for _, i := range random.Perm(of) {
			dirs = append(dirs, found[i])
		}
		s.merge("of-"+strconv.Itoa(of), dirs...)
	}

	if err := os.Mkdir(filepath.Join(s.dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}

	// shares of different numbers
	mustIbid(t, s.dir, s.shard(1, 2, "mixed")...)
	mustIbid(t, s.dir, s.shard(4, 4, "mixed")...)
	s.refused("parts are missing: 23-34", "mixed")
	mustIbid(t, s.dir, s.shard(3, 4, "mixed")...)
	s.merge("mixed", "mixed")

	// twice is the same bytes
	mustIbid(t, s.dir, s.shard(3, 4, "again")...)
	names, err := filepath.Glob(filepath.Join(s.dir, "mixed", "shard-3-of-4", "parts", "*.*"))
	if err != nil || len(names) < 4 {
		t.Fatal(names, err)
	}
	for _, name := range append(names, filepath.Join(s.dir, "mixed", "shard-3-of-4", "shard.json")) {
		if string(readFile(t, name)) != string(readFile(t, strings.Replace(name, "mixed", "again", 1))) {
			t.Errorf("%s differs when it is made again", filepath.Base(name))
		}
	}

	// each part exactly once, from shards of one run, as they were written
	s.refused("both have part", "mixed", "again")
	mustIbid(t, s.dir, append(s.shard(1, 2, "other"), "--set", "seed=7")...)
	stderr := s.refused("is a shard of another run than", "mixed/shard-3-of-4", "other")
	if !strings.Contains(stderr, "seed") {
		t.Errorf("what differs is not named:\n%s", stderr)
	}
	s.refused("no finished shard in", "empty")
	flip(t, names[0])
	s.refused("is not as it was written", "mixed")
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// flip changes one bit in the middle of a file.
func flip(t *testing.T, name string) {
	t.Helper()
	data := readFile(t, name)
	data[len(data)/2] ^= 4
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

var arrayOf = regexp.MustCompile(`--array=([0-9,-]+)`)

// TestShardsKilled: eight processes are killed at any moment; what merge names is run
// again, until the run is that of one process.
func TestShardsKilled(t *testing.T) {
	t.Parallel()
	const shards = 8
	s := newShardTest(t, 5000, "--judge", "lexical", "--set", "limits.rows_per_part=128")
	random := rand.New(rand.NewPCG(8, 8))
	todo := make([]int, shards)
	for i := range todo {
		todo[i] = i + 1
	}
	killed := 0
	for round := 0; len(todo) > 0; round++ {
		var all sync.WaitGroup
		var mu sync.Mutex
		for _, number := range todo {
			after := time.Duration(random.IntN(300)) * time.Millisecond
			if round > 4 {
				after = time.Hour
			}
			all.Go(func() {
				var began time.Time // when there was something of a shard; a start takes as long as it takes
				late := func() bool {
					if _, err := os.Stat(filepath.Join(s.dir, "shards")); err == nil && began.IsZero() {
						began = time.Now()
					}
					return !began.IsZero() && time.Since(began) > after
				}
				if !runUntil(t, s.dir, late, s.shard(number, shards, "shards")...) {
					mu.Lock()
					killed++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		_, stderr, code := command(t, s.dir, "merge", "shards", "-o", "runs/merged", "-q")
		todo = nil
		if code == 0 {
			break
		}
		m := arrayOf.FindStringSubmatch(stderr)
		if code != 4 || m == nil && !strings.Contains(stderr, "no finished shard") {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
		text := "1-8"
		if m != nil {
			text = m[1]
		}
		for _, r := range strings.Split(text, ",") {
			first, last, ok := strings.Cut(r, "-")
			if !ok {
				last = first
			}
			a, _ := strconv.Atoi(first)
			b, _ := strconv.Atoi(last)
			for i := a; i <= b; i++ {
				todo = append(todo, i)
			}
		}
	}
	if killed == 0 {
		t.Error("no process was killed")
	}
	sameResults(t, filepath.Join(s.dir, "runs", "merged"), s.want)
	t.Logf("%d processes were killed", killed)
}

// TestShardsJudged: shards of a run that a model judges ask through one store, and merge
// asks nobody.
func TestShardsJudged(t *testing.T) {
	t.Parallel()
	const rows, shards = 600, 3
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1})
	whole := l.must("whole", "--cache", "other.sqlite")
	asked := l.server.Counts().Requests
	for i := range shards {
		_, stderr, code := command(t, l.dir, append(slices.DeleteFunc(l.args("shard"), func(a string) bool { return a == "-q" }),
			"--shard", fmt.Sprintf("%d/%d", i+1, shards), "--out", "shards", "--max-cost", "5")...)
		if code != 0 || !strings.Contains(stderr, "hold for each shard") {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
	}
	if got := l.server.Counts().Requests - asked; got != asked {
		t.Errorf("%d calls for shards, %d for the whole", got, asked)
	}
	l.server.Close()
	_, stderr, code := command(t, l.dir, "merge", "shards", "-o", "runs/merged")
	if code != 0 {
		t.Fatalf("merge without the service: exit code %d\n%s", code, stderr)
	}
	l.same("merged", l.results("merged"), whole)
	want, got := l.manifest("whole").Judge, l.manifest("merged").Judge
	if got.Calls != want.Calls || got.SpentUSD == nil || *got.SpentUSD < *want.SpentUSD*0.999 || *got.SpentUSD > *want.SpentUSD*1.001 {
		t.Errorf("judge of the merged run %+v, of one process %+v", got, want)
	}
}
