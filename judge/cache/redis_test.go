package cache_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"ibid"
	"ibid/judge/cache"
	"ibid/judge/cache/cachetest"
)

func openRedis(t *testing.T, address string) *cache.Redis {
	t.Helper()
	s, err := cache.OpenRedis(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestRedis(t *testing.T) {
	cachetest.Store(t, func(t *testing.T) cache.Store { return openRedis(t, cachetest.NewRedisServer(t).URL) })
	cachetest.Shared(t, func(t *testing.T) func() cache.Shared {
		server := cachetest.NewRedisServer(t)
		return func() cache.Shared { return openRedis(t, server.URL) }
	})
}

// TestRedisRestarts: what a server has acknowledged is there after it was killed, and
// what is asked of it meanwhile waits.
func TestRedisRestarts(t *testing.T) {
	server := cachetest.NewRedisServer(t)
	s := openRedis(t, server.URL)
	if got := s.Doubts(t.Context()); got != "" {
		t.Errorf("a server that syncs every write: %s", got)
	}
	if err := s.Put(t.Context(), cachetest.Entry(1)); err != nil {
		t.Fatal(err)
	}
	if held, err := s.Acquire(t.Context(), cachetest.Key(2), "a", time.Hour); !held || err != nil {
		t.Fatal(held, err)
	}
	server.Kill()
	put := make(chan error)
	go func() { put <- s.Put(t.Context(), cachetest.Entry(2)) }()
	server.Start()
	if err := <-put; err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		if got, err := s.Get(t.Context(), cachetest.Key(n)); err != nil || !reflect.DeepEqual(got, cachetest.Entry(n)) {
			t.Errorf("entry %d = %+v, %v", n, got, err)
		}
	}
	if held, err := s.Acquire(t.Context(), cachetest.Key(2), "b", time.Hour); held || err != nil {
		t.Errorf("a lease of a is b's after a restart: %v, %v", held, err)
	}
}

func TestRedisRefuses(t *testing.T) {
	server := cachetest.NewRedisServer(t)
	s := openRedis(t, server.URL)
	server.Command("CONFIG SET requirepass secret")
	if _, err := cache.OpenRedis(t.Context(), server.URL); err == nil {
		t.Error("without a password: no error")
	}
	t.Setenv("REDIS_PASSWORD", "secret")
	openRedis(t, server.URL)
	t.Setenv("REDIS_PASSWORD", "not-the-password")
	if _, err := cache.OpenRedis(t.Context(), server.URL); err == nil || strings.Contains(err.Error(), "not-the-password") {
		t.Errorf("with a wrong password: %v", err)
	}
	server.Kill()
	_, err := cache.OpenRedis(t.Context(), server.URL)
	if file, ok := errors.AsType[*ibid.Error](err); !errors.Is(err, cache.ErrAway) || !ok || file.Hint == "" {
		t.Errorf("without a server: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkRedisQuestion is all that the store does for one question that is asked.
func BenchmarkRedisQuestion(b *testing.B) {
	server := cachetest.NewRedisServer(b)
	s, err := cache.OpenRedis(b.Context(), server.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	spread(b, 64, func(n int) error {
		ctx, e := b.Context(), answer(n)
		_, err := s.Acquire(ctx, e.Key, "owner", time.Minute)
		_, err2 := s.Get(ctx, e.Key)
		_, _, err3 := s.Turn(ctx, "service", 0)
		return errors.Join(err, err2, err3, s.Record(ctx, cache.Attempt{Key: e.Key, N: 1, Class: "ok", At: time.Now(), Run: "run"}), s.Put(ctx, e), s.Release(ctx, e.Key, "owner"))
	})
}
