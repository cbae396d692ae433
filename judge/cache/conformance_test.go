package cache_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"ibid/judge/cache"
)

// TestSQLite checks everything that [cache.SQLite] promises.
func TestSQLite(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *cache.SQLite)
	}{
		{"entry comes back whole", entryComesBack},
		{"first entry stands", firstEntryStands},
		{"entries are the caller's own", entriesAreOwn},
		{"half an answer is refused", halfAnswers},
		{"attempts are taken", attemptsAreTaken},
		{"lease excludes", leaseExcludes},
		{"lease runs out", leaseRunsOut},
		{"lease of no time is refused", leaseOfNoTime},
		{"one of many gets the lease", oneOfMany},
		{"many at once", manyAtOnce},
		{"context ends", contextEnds},
		{"closed", closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "judge.sqlite"))
			c.run(t, s)
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
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

// testKey is key number n.
func testKey(n int) cache.Key { return sha256.Sum256(fmt.Appendf(nil, "key %d", n)) }

// testEntry is an answer to request n with a value in every field; no two fields
// and no two entries have the same.
func testEntry(n int) *cache.Entry {
	i := int64(n)
	return &cache.Entry{
		Sent: "max_tokens 656, json_schema",
		Key:  testKey(n), Status: cache.StatusRepaired,
		Verdict:        fmt.Appendf(nil, `{"claims":[{"id":"c1","joint":"full","n":%d}]}`, n),
		Raw:            fmt.Appendf(nil, "{\"id\":\"gen-%d\",\"text\":\"\u00e4\x00\\u0000\"}\n", n),
		ModelRequested: "vendor/asked", ModelResolved: "vendor/answered-" + fmt.Sprint(n%3), Provider: "Provider", GenerationID: fmt.Sprint("gen-", n),
		Template:     "template-1",
		PromptTokens: 2100 + i, CompletionTokens: 1500 + i, ReasoningTokens: 700 + i, CachedTokens: 1024 + i,
		CostNanoUSD: 1_200_000 + i, LatencyMillis: 300 + i, Attempts: 2,
		Created: time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC).Add(time.Duration(n) * time.Minute), Run: "run-1",
	}
}

func entryComesBack(t *testing.T, s *cache.SQLite) {
	if got, err := s.Get(t.Context(), testKey(1)); got != nil || err != nil {
		t.Fatalf("Get of an empty store = %v, %v, want nothing", got, err)
	}
	want := testEntry(1)
	put(t, s, want)
	if got := get(t, s, want.Key); !reflect.DeepEqual(got, want) {
		t.Errorf("Get = %+v, want %+v", got, want)
	}

	// What nobody knows is empty, and a time has milliseconds in UTC.
	bare := &cache.Entry{
		Key: testKey(2), Status: cache.StatusOK, Verdict: []byte("{}"),
		Created: time.Date(2026, 3, 4, 5, 6, 7, 123_456_789, time.FixedZone("", 3600)),
	}
	put(t, s, bare)
	got := get(t, s, bare.Key)
	if want := time.Date(2026, 3, 4, 4, 6, 7, 123e6, time.UTC); !got.Created.Equal(want) || got.Created.Location() != time.UTC {
		t.Errorf("Created = %v, want %v", got.Created, want)
	}
	if len(got.Raw) != 0 || got.ModelResolved != "" || got.CostNanoUSD != 0 {
		t.Errorf("Get = %+v, want empty fields", got)
	}
}

func firstEntryStands(t *testing.T, s *cache.SQLite) {
	first, second := testEntry(1), testEntry(1)
	second.Verdict, second.CostNanoUSD = []byte(`{"other":true}`), 0
	put(t, s, first)
	put(t, s, second)
	if !reflect.DeepEqual(second, first) {
		t.Errorf("the second entry became %+v, want the first %+v", second, first)
	}
	if got := get(t, s, first.Key); !reflect.DeepEqual(got, first) {
		t.Errorf("Get = %+v, want the first entry %+v", got, first)
	}
}

func entriesAreOwn(t *testing.T, s *cache.SQLite) {
	given := testEntry(1)
	put(t, s, given)
	clear(given.Verdict)
	clear(get(t, s, given.Key).Raw)
	if got, want := get(t, s, given.Key), testEntry(1); !bytes.Equal(got.Verdict, want.Verdict) || !bytes.Equal(got.Raw, want.Raw) {
		t.Errorf("Get = %q, %q after its callers wrote into theirs, want %q, %q", got.Verdict, got.Raw, want.Verdict, want.Raw)
	}
}

func halfAnswers(t *testing.T, s *cache.SQLite) {
	for name, spoil := range map[string]func(*cache.Entry){
		"status of a failure": func(e *cache.Entry) { e.Status = "failed" },
		"no status":           func(e *cache.Entry) { e.Status = "" },
		"no verdict":          func(e *cache.Entry) { e.Verdict = nil },
		"no time":             func(e *cache.Entry) { e.Created = time.Time{} },
	} {
		e := testEntry(1)
		spoil(e)
		if err := s.Put(t.Context(), e); err == nil {
			t.Errorf("Put of an entry with %s: no error", name)
		}
	}
	if err := s.Put(t.Context(), nil); err == nil {
		t.Error("Put of nil: no error")
	}
	if got := get(t, s, testKey(1)); got != nil {
		t.Errorf("Get = %+v, want nothing: what was refused was kept", got)
	}
}

func attemptsAreTaken(t *testing.T, s *cache.SQLite) {
	for n := range 3 {
		a := cache.Attempt{Key: testKey(1), N: n + 1, HTTPStatus: 429, Class: "flow", Millis: 12, Error: "slow down", At: time.Now(), Run: "run-1"}
		if err := s.Record(t.Context(), a); err != nil {
			t.Fatalf("Record: %v", err)
		}
	}
	if got := get(t, s, testKey(1)); got != nil {
		t.Errorf("Get = %+v, want nothing: an attempt is no answer", got)
	}
}

func leaseExcludes(t *testing.T, s *cache.SQLite) {
	acquire(t, s, testKey(1), "a", time.Hour, true)
	acquire(t, s, testKey(1), "b", time.Hour, false)
	acquire(t, s, testKey(1), "a", time.Hour, true) // renews
	acquire(t, s, testKey(2), "b", time.Hour, true) // another key
	release(t, s, testKey(1), "b")                  // not b's to give
	acquire(t, s, testKey(1), "b", time.Hour, false)
	release(t, s, testKey(1), "a")
	acquire(t, s, testKey(1), "b", time.Hour, true)
	release(t, s, testKey(3), "a") // nobody's
}

func leaseRunsOut(t *testing.T, s *cache.SQLite) {
	const ttl = 50 * time.Millisecond
	start := time.Now()
	acquire(t, s, testKey(1), "a", ttl, true)
	for {
		held, err := s.Acquire(t.Context(), testKey(1), "b", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		// A store keeps milliseconds, so it may round one away.
		if waited := time.Since(start); held && waited < ttl-time.Millisecond {
			t.Fatalf("b took over after %v, before a's %v were out", waited, ttl)
		}
		if held {
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatal("a's lease does not run out")
		}
		time.Sleep(time.Millisecond)
	}
	acquire(t, s, testKey(1), "a", time.Hour, false)
	release(t, s, testKey(1), "a") // a was too late
	acquire(t, s, testKey(1), "c", time.Hour, false)
}

func leaseOfNoTime(t *testing.T, s *cache.SQLite) {
	for _, ttl := range []time.Duration{0, -time.Second} {
		if held, err := s.Acquire(t.Context(), testKey(1), "a", ttl); held || err == nil {
			t.Errorf("Acquire for %v = %v, %v, want an error", ttl, held, err)
		}
	}
}

func oneOfMany(t *testing.T, s *cache.SQLite) {
	var mu sync.Mutex
	var holders []int
	together(20, func(n int) {
		held, err := s.Acquire(t.Context(), testKey(1), fmt.Sprint("owner ", n), time.Hour)
		if err != nil {
			t.Error(err)
		}
		if held {
			mu.Lock()
			holders = append(holders, n)
			mu.Unlock()
		}
	})
	if len(holders) != 1 {
		t.Errorf("holders = %v, want one", holders)
	}
}

func manyAtOnce(t *testing.T, s *cache.SQLite) {
	const goroutines, each = 8, 40
	together(goroutines, func(g int) {
		for i := range each {
			// Neighbours put the same keys.
			want := testEntry(g/2*each + i)
			if err := s.Put(t.Context(), want); err != nil {
				t.Error(err)
				return
			}
			got, err := s.Get(t.Context(), want.Key)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("Get after Put = %+v, %v, want %+v", got, err, want)
				return
			}
		}
	})
}

func contextEnds(t *testing.T, s *cache.SQLite) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, getErr := s.Get(ctx, testKey(1))
	_, leaseErr := s.Acquire(ctx, testKey(1), "a", time.Hour)
	for name, err := range map[string]error{
		"Get": getErr, "Acquire": leaseErr, "Put": s.Put(ctx, testEntry(1)),
		"Record": s.Record(ctx, cache.Attempt{Key: testKey(1)}), "Release": s.Release(ctx, testKey(1), "a"),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a context that has ended: %v, want %v", name, err, context.Canceled)
		}
	}
}

func closed(t *testing.T, s *cache.SQLite) {
	put(t, s, testEntry(1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, getErr := s.Get(t.Context(), testKey(1))
	_, leaseErr := s.Acquire(t.Context(), testKey(1), "a", time.Hour)
	for name, err := range map[string]error{
		"Get": getErr, "Acquire": leaseErr, "Put": s.Put(t.Context(), testEntry(2)),
		"Record": s.Record(t.Context(), cache.Attempt{Key: testKey(1)}), "Release": s.Release(t.Context(), testKey(1), "a"),
	} {
		if !errors.Is(err, cache.ErrClosed) {
			t.Errorf("%s of a closed store: %v, want %v", name, err, cache.ErrClosed)
		}
	}
}

// together runs do(0) to do(n-1) at once.
func together(n int, do func(int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func get(t *testing.T, s *cache.SQLite, key cache.Key) *cache.Entry {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return e
}

func acquire(t *testing.T, s *cache.SQLite, key cache.Key, owner string, ttl time.Duration, want bool) {
	t.Helper()
	held, err := s.Acquire(t.Context(), key, owner, ttl)
	if held != want || err != nil {
		t.Fatalf("Acquire by %s = %v, %v, want %v", owner, held, err, want)
	}
}

func release(t *testing.T, s *cache.SQLite, key cache.Key, owner string) {
	t.Helper()
	if err := s.Release(t.Context(), key, owner); err != nil {
		t.Fatalf("Release by %s: %v", owner, err)
	}
}
