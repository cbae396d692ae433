package cache_test

import (
	"path/filepath"
	"testing"

	"ibid/judge/cache"
	"ibid/judge/cache/cachetest"
)

func TestMemory(t *testing.T) {
	cachetest.Store(t, func(*testing.T) cache.Store { return cache.NewMemory() })
}

func TestSQLite(t *testing.T) {
	cachetest.Store(t, func(t *testing.T) cache.Store { return open(t, filepath.Join(t.TempDir(), "judge.sqlite")) })
}

// open opens a store and closes it with the test.
func open(t testing.TB, path string) *cache.SQLite {
	t.Helper()
	s, err := cache.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
