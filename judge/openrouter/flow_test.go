package openrouter

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

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
			c.HTTP, c.Timeout, c.maxRateWait, c.Backoff = s.Client(), 2*time.Minute, 10*time.Minute, 0
		})
		defer j.Close()
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

// TestFlow measures rows a second under limits, in simulated time, to which the
// machine's own work does not count. Jitter is drawn at random, so there is room
// below what is measured: -v shows it.
func TestFlow(t *testing.T) {
	const rows, workers = 1200, 100
	unlimited, _ := rateUnder(t, rows, workers, judgetest.ServerConfig{Latency: flowLatency})
	tests := []struct {
		name   string
		config judgetest.ServerConfig
		ideal  float64 // rows a second
		least  float64 // fraction of it
	}{
		{"50 a second", judgetest.ServerConfig{Latency: flowLatency, Rate: 50}, 50, 0.84},
		{"24 in flight", judgetest.ServerConfig{Latency: flowLatency, MaxInFlight: 24}, 24 / meanLatency, 0.82},
		{"6 % stray", judgetest.ServerConfig{Latency: flowLatency, Faults: []judgetest.Fault{"429_decimal"}, FaultShare: 0.06, RetryAfter: time.Second}, unlimited, 0.82},
	}
	t.Logf("no limit: %.1f rows/s, of %.1f", unlimited, 50/meanLatency)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rate, counts := rateUnder(t, rows, workers, tt.config)
			t.Logf("%.1f rows/s, %.0f %% of %.1f; %.0f %% of calls refused", rate, 100*rate/tt.ideal, tt.ideal, 100*(1-float64(counts.Answers)/float64(counts.Requests)))
			if rate < tt.least*tt.ideal {
				t.Errorf("%.1f rows/s, want %.0f %% of %.1f", rate, 100*tt.least, tt.ideal)
			}
		})
	}
	t.Run("no limit, 200 ms", func(t *testing.T) {
		rate, _ := rateUnder(t, 600, 50, judgetest.ServerConfig{Latency: judgetest.Constant(200 * time.Millisecond)})
		if wall, ideal := 600/rate, 600.0/50*0.2; wall > 1.05*ideal {
			t.Errorf("%.2f s, want at most 5 %% more than %.2f s", wall, ideal)
		}
	})
}
