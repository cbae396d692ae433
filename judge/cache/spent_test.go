package cache_test

import (
	"path/filepath"
	"testing"
	"time"

	"ibid/judge/cache"
)

// TestSpent counts the calls of one run from one time on, good and bad.
func TestSpent(t *testing.T) {
	s, err := cache.Open(filepath.Join(t.TempDir(), "judge.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
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
