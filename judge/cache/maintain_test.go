package cache_test

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"ibid/judge/cache"
)

func TestStats(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "judge.sqlite"))
	empty := stats(t, s)
	if empty.Bytes == 0 {
		t.Error("an empty store takes no bytes")
	}
	if want := (&cache.Stats{Bytes: empty.Bytes, Models: []cache.ModelStats{}, Classes: []cache.ClassStats{}}); !reflect.DeepEqual(empty, want) {
		t.Errorf("Stats of an empty store = %+v, want %+v", empty, want)
	}

	fill(t, s, 4) // three models: 0 and 3, 1, 2
	unknown := testEntry(4)
	unknown.ModelResolved, unknown.Provider = "", ""
	put(t, s, unknown)
	got := stats(t, s)
	want := &cache.Stats{
		Entries: 5, Attempts: 8, EntryCostUSD: 0.00600001, AttemptCostUSD: 0.0048,
		Bytes: got.Bytes, Oldest: new(testEntry(0).Created), Newest: new(testEntry(4).Created),
		Models: []cache.ModelStats{
			{Model: "vendor/answered-0", Provider: "Provider", Entries: 2, PromptTokens: 4203, CompletionTokens: 3003, CostUSD: 0.002400003},
			{Model: "vendor/answered-1", Provider: "Provider", Entries: 1, PromptTokens: 2101, CompletionTokens: 1501, CostUSD: 0.001200001},
			{Model: "vendor/answered-2", Provider: "Provider", Entries: 1, PromptTokens: 2102, CompletionTokens: 1502, CostUSD: 0.001200002},
			{Model: "vendor/asked", Entries: 1, PromptTokens: 2104, CompletionTokens: 1504, CostUSD: 0.001200004},
		},
		Classes: []cache.ClassStats{{Class: "flow", Attempts: 4}, {Class: "ok", Attempts: 4, CostUSD: 0.0048}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}

func TestPrune(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judge.sqlite")
	s := open(t, path)
	const n = 2500 // more than one step
	fill(t, s, n)
	before := testEntry(n - 10).Created
	want := cache.Removed{Entries: n - 10, Attempts: 2 * (n - 10)}
	if got, err := s.Removable(t.Context(), before); err != nil || got != want {
		t.Errorf("Removable = %+v, %v, want %+v", got, err, want)
	}
	if got := stats(t, s); got.Entries != n {
		t.Fatalf("%d entries after Removable, want %d", got.Entries, n)
	}
	full := closedSize(t, s, path)

	s = open(t, path)
	if got, err := s.Prune(t.Context(), before); err != nil || got != want {
		t.Errorf("Prune = %+v, %v, want %+v", got, err, want)
	}
	for i, kept := range map[int]bool{0: false, n - 11: false, n - 10: true, n - 1: true} {
		if e, err := s.Get(t.Context(), testKey(i)); err != nil || (e != nil) != kept {
			t.Errorf("entry %d after Prune: %v, %v, want it kept: %v", i, e, err, kept)
		}
	}
	if got := stats(t, s); got.Entries != 10 || got.Attempts != 20 {
		t.Errorf("Stats after Prune = %+v, want 10 entries and 20 attempts", got)
	}
	if got, err := s.Prune(t.Context(), before); err != nil || got != (cache.Removed{}) {
		t.Errorf("second Prune = %+v, %v, want nothing", got, err)
	}
	if left := closedSize(t, s, path); left > full/10 {
		t.Errorf("%d bytes after Prune of nearly all of %d", left, full)
	}
}

func TestPruneAll(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "judge.sqlite"))
	fill(t, s, 3)
	if got, err := s.Prune(t.Context(), cache.Always); err != nil || got != (cache.Removed{Entries: 3, Attempts: 6}) {
		t.Errorf("Prune of all = %+v, %v, want 3 entries and 6 attempts", got, err)
	}
	if got := stats(t, s); got.Entries != 0 || got.Attempts != 0 {
		t.Errorf("Stats after Prune of all = %+v, want nothing", got)
	}
}

// fill puts n entries, each with one attempt that was told to wait and one that
// was billed.
func fill(t testing.TB, s *cache.SQLite, n int) {
	t.Helper()
	errs := make(chan error)
	for i := range n {
		go func() {
			e := testEntry(i)
			if err := s.Put(t.Context(), e); err != nil {
				errs <- err
				return
			}
			flow := cache.Attempt{Key: e.Key, N: 1, HTTPStatus: 429, Class: "flow", Millis: 5, At: e.Created, Run: e.Run}
			if err := s.Record(t.Context(), flow); err != nil {
				errs <- err
				return
			}
			errs <- s.Record(t.Context(), cache.Attempt{
				Key: e.Key, N: 2, HTTPStatus: 200, Class: "ok", Millis: 300, CostNanoUSD: 1_200_000, At: e.Created, Run: e.Run,
			})
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

func put(t testing.TB, s *cache.SQLite, e *cache.Entry) {
	t.Helper()
	if err := s.Put(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

func stats(t *testing.T, s *cache.SQLite) *cache.Stats {
	t.Helper()
	got, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func closedSize(t *testing.T, s *cache.SQLite, path string) int64 {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	size, err := cache.Size(path)
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func TestLatency(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "judge.sqlite"))
	if mean, n, err := s.Latency(t.Context(), "vendor/asked"); mean != 0 || n != 0 || err != nil {
		t.Errorf("Latency of an empty store = %v of %d, %v", mean, n, err)
	}
	fill(t, s, 2) // 300 and 301 ms
	other := testEntry(2)
	other.ModelRequested = "another"
	put(t, s, other)
	if mean, n, err := s.Latency(t.Context(), "vendor/asked"); mean != 300_500*time.Microsecond || n != 2 || err != nil {
		t.Errorf("Latency = %v of %d, %v, want 300.5ms of 2", mean, n, err)
	}
}

// TestSpent counts the calls of one run from one time on, good and bad.
func TestSpent(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "judge.sqlite"))
	began := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i, a := range []cache.Attempt{
		{Run: "a", Class: "ok", CostNanoUSD: 1, At: began.Add(-time.Second)},
		{Run: "a", Class: "ok", CostNanoUSD: 20, At: began},
		{Run: "a", Class: "content", CostNanoUSD: 300, At: began.Add(time.Hour)},
		{Run: "b", Class: "ok", CostNanoUSD: 4000, At: began},
	} {
		a.N = i + 1
		if err := s.Record(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	for run, want := range map[string]int64{"a": 320, "b": 4000, "c": 0} {
		if got, err := s.Spent(t.Context(), run, began); got != want || err != nil {
			t.Errorf("run %s: %d, %v, want %d", run, got, err, want)
		}
	}
}
