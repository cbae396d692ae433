package openrouter

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"ibid/judge"
	"ibid/judge/judgetest"
)

// withDefaults opens a judge as a run opens it when nothing is set, in simulated time.
func withDefaults(t *testing.T, s *judgetest.Server) *Judge {
	t.Helper()
	j, err := New(Config{
		BaseURL: s.URL(), Key: judgetest.DefaultKey, Models: []string{"fake/judge"}, HTTP: s.Client(), Retries: 3,
		Timeout: 2 * time.Minute, MaxOutage: time.Minute, Store: newStore(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestSlowModel: fifty workers on a model that takes 20 calls a minute get all their
// answers; none is given up for the limit.
func TestSlowModel(t *testing.T) {
	const rows = 100
	requests := rowsOf(rows)
	synctest.Test(t, func(t *testing.T) {
		s := judgetest.NewServer(judgetest.ServerConfig{NoNetwork: true, Latency: flowLatency, Rate: 20.0 / 60, RetryAfter: 3 * time.Second})
		defer s.Close()
		j := withDefaults(t, s)
		defer j.Close()
		began := time.Now()
		results := judgeAll(t.Context(), j, requests, 50)
		if bad := failures(results); len(bad) > 0 {
			t.Errorf("%d of %d rows failed: %s", len(bad), rows, bad[0])
		}
		t.Logf("%d rows in %v; %d of %d calls refused", rows, time.Since(began).Round(time.Second), s.Counts().Requests-s.Counts().Answers, s.Counts().Requests)
	})
}

// TestLeaseIsRenewed: who asks keeps the right to it as long as the call takes, so that
// another process waits for the answer.
func TestLeaseIsRenewed(t *testing.T) {
	rows, path := rowsOf(1), filepath.Join(t.TempDir(), "judge.sqlite")
	synctest.Test(t, func(t *testing.T) {
		s := judgetest.NewServer(judgetest.ServerConfig{NoNetwork: true, Latency: judgetest.Constant(4 * leaseTTL)})
		defer s.Close()
		done := make(chan error)
		for range 2 {
			store := openStore(t, path)
			j := newTestJudge(t, s, func(c *Config) { c.HTTP, c.Timeout, c.Store = s.Client(), 10*leaseTTL, store })
			go func() {
				_, err := j.Judge(t.Context(), rows[0])
				done <- errors.Join(err, j.Close(), store.Close())
			}()
		}
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
		if n := s.Counts().Requests; n != 1 {
			t.Errorf("%d calls for one question", n)
		}
	})
}

// TestGivesUp: a service that is of no use ends a run within 70 s without an answer, where
// calls hang with the time of a call; one that takes no question, or whose replies are all
// of no use, after a number of calls.
func TestGivesUp(t *testing.T) {
	requests := rowsOf(200)
	for _, c := range []struct {
		fault  judgetest.Fault
		late   int // answers before it breaks down
		calls  int // most
		within time.Duration
	}{
		{"400", 0, 60, time.Second},
		{"413", 0, 150, time.Second}, // a row is asked in halves, down to one claim
		{"422", 0, 60, time.Second},
		{"401", 0, 1, time.Second},
		{"403", 0, 1, time.Second},
		{"429_daily", 0, 1, time.Second},
		{"500", 0, 14, 70 * time.Second},
		{"503", 0, 14, 70 * time.Second},
		{"reset", 0, 14, 70 * time.Second},
		{"hang", 0, 3, 7 * time.Minute},
		{"plain_prose", 0, 64, time.Minute},
		{"401", 100, 50, time.Second},
		{"429_daily", 100, 50, time.Second},
		{"500", 100, 80, 70 * time.Second},
		{"hang", 100, 60, 5 * time.Minute},
		{"plain_prose", 100, 64, time.Minute},
	} {
		t.Run(fmt.Sprint(c.fault, " after ", c.late), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				healthy := judgetest.NewServer(judgetest.ServerConfig{NoNetwork: true})
				defer healthy.Close()
				broken := judgetest.NewServer(judgetest.ServerConfig{NoNetwork: true, Faults: []judgetest.Fault{c.fault}, FaultShare: 1})
				defer broken.Close()
				j := withDefaults(t, healthy)
				defer j.Close()
				if bad := failures(judgeAll(t.Context(), j, requests[:c.late], 50)); len(bad) > 0 {
					t.Fatal(bad[0])
				}
				j.wire.client.Transport = broken.Client().Transport // from now on
				began := time.Now()
				results := judgeAll(t.Context(), j, requests[c.late:], 50)
				took, calls, last := time.Since(began), broken.Counts().Requests, results[len(results)-1].err
				t.Logf("%v, %d calls: %v", took.Round(time.Millisecond), calls, last)
				if _, stopped := errors.AsType[*judge.StopError](last); !stopped || took > c.within || calls > c.calls {
					t.Errorf("%v and %d calls, want at most %v and %d, and a stop: %v", took, calls, c.within, c.calls, last)
				}
			})
		})
	}
}

// TestGrace: what is under way is waited for as long as an interrupt says, and not at
// all where the run ends for another reason.
func TestGrace(t *testing.T) {
	for _, c := range []struct {
		cause error
		want  time.Duration
	}{
		{&judge.Interrupt{Grace: 25 * time.Second}, 25 * time.Second}, {errors.New("another"), 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			wire, over := underWay(ctx)
			defer over()
			began := time.Now()
			cancel(c.cause)
			<-wire.Done()
			if took := time.Since(began); took != c.want || !errors.Is(context.Cause(wire), c.cause) {
				t.Errorf("%v: ended after %v for %v, want %v", c.cause, took, context.Cause(wire), c.want)
			}
		})
	}
}
