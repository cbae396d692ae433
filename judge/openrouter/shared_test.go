package openrouter

import (
	"testing"
	"time"

	"ibid/judge/cache"
	"ibid/judge/cache/cachetest"
	"ibid/judge/judgetest"
)

// TestSharedPaceAndPause: two judges with one Redis server keep one pace, and the pause of
// one is the other's.
func TestSharedPaceAndPause(t *testing.T) {
	redis := cachetest.NewRedisServer(t)
	s := judgetest.NewServer(judgetest.ServerConfig{})
	defer s.Close()
	var judges []*Judge
	for range 2 {
		store, err := cache.OpenRedis(t.Context(), redis.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		judges = append(judges, newTestJudge(t, s, func(c *Config) {
			c.Store, c.RPM, c.CircuitFailures, c.CircuitPause = store, 1200, 3, time.Hour
		}))
	}
	began := time.Now()
	const calls = 21
	for n := range calls {
		if err := judges[n%2].turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if took, want := time.Since(began), (calls-1)*time.Minute/1200; took < want-10*time.Millisecond {
		t.Errorf("%d calls in %v, want %v at least", calls, took, want)
	}
	for range 3 {
		judges[0].called(true)
	}
	if wait, granted, err := judges[1].shared.Turn(t.Context(), judges[1].config.endpoint(), 0); granted || wait < time.Minute || err != nil {
		t.Errorf("after an outage of the other: %v, %v, %v", wait, granted, err)
	}
}
