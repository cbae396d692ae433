package openrouter

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"ibid/judge/cache"
	"ibid/judge/judgetest"
)

// flowLatency is lognormal with a median of 300 ms, as answers of models have
// it; its mean is meanLatency.
const sigma = 0.5

var (
	flowLatency = func(r *rand.Rand) time.Duration { return time.Duration(300e6 * math.Exp(sigma*r.NormFloat64())) }
	meanLatency = 0.3 * math.Exp(sigma*sigma/2)
)

// rateUnder judges rows in simulated time and returns how many a second were
// judged, and what the server counted.
func rateUnder(t *testing.T, rows, workers int, config judgetest.ServerConfig) (rate float64, counts judgetest.Counts) {
	t.Helper()
	requests := rowsOf(rows)
	synctest.Test(t, func(t *testing.T) {
		config.NoNetwork = true
		s := judgetest.NewServer(config)
		defer s.Close()
		j := newTestJudge(t, s, func(c *Config) {
			c.HTTP, c.Timeout, c.Backoff, c.Concurrency = s.Client(), 2*time.Minute, 0, 48
		})
		defer j.Close()
		j.members[0].gate = newGate(&j.config, "fake/judge")
		began := time.Now()
		results := judgeAll(t.Context(), j, requests, workers)
		rate = float64(rows) / time.Since(began).Seconds()
		if bad := failures(results); len(bad) > 0 {
			t.Errorf("%d rows failed: %s", len(bad), bad[0])
		}
		if counts = s.Counts(); counts.Twice+counts.Early > 0 {
			t.Errorf("%d paid twice, %d too early", counts.Twice, counts.Early)
		}
	})
	return rate, counts
}

// openWide lets all calls go out, as after many answers.
func (g *gate) openWide() {
	g.works, g.w, g.answered = true, g.most, time.Now()
}

// TestFlow measures rows a second under limits, in simulated time, to which the
// machine's own work does not count: at most 15 % and 4 s longer than the limit lets them.
// Jitter is drawn at random: -v shows what is measured.
func TestFlow(t *testing.T) {
	const workers = 100
	for _, tt := range []struct {
		name   string
		rows   int
		config judgetest.ServerConfig
		ideal  float64 // rows a second
	}{
		{"no limit", 500, judgetest.ServerConfig{}, 48 / meanLatency},
		{"60 a second", 600, judgetest.ServerConfig{Rate: 60}, 60},
		{"20 a second", 300, judgetest.ServerConfig{Rate: 20}, 20},
		{"2 a second", 120, judgetest.ServerConfig{Rate: 2}, 2},
		{"12 in flight", 600, judgetest.ServerConfig{MaxInFlight: 12}, 12 / meanLatency},
		// 8 to 11 s were measured.
		{"6 % stray", 900, judgetest.ServerConfig{Faults: []judgetest.Fault{"429_decimal"}, FaultShare: 0.06, RetryAfter: time.Second}, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.Latency = flowLatency
			rate, counts := rateUnder(t, tt.rows, workers, tt.config)
			wall, bound := float64(tt.rows)/rate, float64(tt.rows)/tt.ideal
			t.Logf("%.1f s, %.2f of %.1f s; %.1f %% of calls refused", wall, wall/bound, bound, 100*(1-float64(counts.Answers)/float64(counts.Requests)))
			if wall > 1.15*bound+4 {
				t.Errorf("%.1f s, want at most %.1f", wall, 1.15*bound+4)
			}
		})
	}
}

// TestMinute keeps to calls and tokens a minute: no more than those of one second at once.
func TestMinute(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"rpm": func(c *Config) { c.RPM = 60 },
		"tpm": func(c *Config) { c.TPM = 60 * 2000 },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := judgetest.NewServer(judgetest.ServerConfig{NoNetwork: true})
			defer s.Close()
			j := newTestJudge(t, s, func(c *Config) { c.HTTP = s.Client(); change(c) })
			defer j.Close()
			began := time.Now()
			if bad := failures(judgeAll(t.Context(), j, rowsOf(20), 20)); len(bad) > 0 {
				t.Fatal(bad)
			}
			if took := time.Since(began); took < 15*time.Second || took > 40*time.Second {
				t.Errorf("%s: twenty calls in %v", name, took)
			}
		})
	}
}

// TestGateWaiters: who waits and gives up leaves his place to the next.
func TestGateWaiters(t *testing.T) {
	g := newGate(&Config{Concurrency: 1}, "m")
	first, err := g.take(t.Context(), cache.Key{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone, next := make(chan error), make(chan error)
	go func() { _, err := g.take(ctx, cache.Key{}, 1); gone <- err }()
	go func() { _, err := g.take(t.Context(), cache.Key{}, 1); next <- err }()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	g.back(first, nil, 0, 0)
	if err := <-next; err != nil {
		t.Errorf("error %v", err)
	}
}
