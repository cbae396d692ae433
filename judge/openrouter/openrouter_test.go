package openrouter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ibid"
	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/judgetest"
)

var _ judge.Live = (*Judge)(nil)

// TestClean asks about 600 rows twice: the first time one call a row, the
// second none.
func TestClean(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{Latency: judgetest.Constant(20 * time.Millisecond), KeepBodies: true})
	defer s.Close()
	store := newStore(t)
	rows := rowsOf(600)
	j := newTestJudge(t, s, func(c *Config) { c.Store = store })
	first := judgeAll(t.Context(), j, rows, 50)
	if bad := failures(first); len(bad) > 0 {
		t.Fatalf("%d rows failed: %s", len(bad), bad[0])
	}
	counts := s.Counts()
	if counts.Requests > len(rows) || counts.Connections > 60 {
		t.Errorf("%d calls of %d rows on %d connections", counts.Requests, len(rows), counts.Connections)
	}
	stats := j.Usage()
	if stats.Asked != int64(counts.Requests) || stats.CostNanoUSD != counts.SpentNanoUSD || stats.Retries != 0 {
		t.Errorf("stats %+v, server %+v", stats, counts)
	}
	for _, x := range s.Log() {
		var body struct{ Temperature *float64 }
		if err := json.Unmarshal(x.Text, &body); err != nil || body.Temperature == nil || *body.Temperature != 0 {
			t.Fatalf("temperature is not 0 on the wire: %v, %s", err, x.Text)
		}
	}

	again := newTestJudge(t, s, func(c *Config) { c.Store, c.Run = store, "another" })
	second := judgeAll(t.Context(), again, rows, 50)
	if got := s.Counts().Requests; got != counts.Requests {
		t.Errorf("%d calls the second time", got-counts.Requests)
	}
	if stats := again.Usage(); stats.Cached != counts64(counts.Requests) || stats.Asked != 0 {
		t.Errorf("stats of the second time %+v", stats)
	}
	if n := sameVerdicts(first, second); n != len(rows) {
		t.Errorf("%d of %d verdicts are the same", n, len(rows))
	}
	if call := second[0].verdict.Calls[0]; !call.Cached || call.Attempts != 0 || call.Model != "fake/judge" || call.Provider != "Fake" || call.CostNanoUSD == 0 {
		t.Errorf("cached call %+v", call)
	}

	// What an earlier process of the run paid for is the run's own, once.
	next := newTestJudge(t, s, func(c *Config) { c.Store = store })
	third := judgeAll(t.Context(), next, rows, 50)
	if call, before := third[0].verdict.Calls[0], first[0].verdict.Calls[0]; call != before || call.Cached {
		t.Errorf("the run goes on with the call %+v, it was %+v", call, before)
	}
	if call := judgeAll(t.Context(), next, rows[:1], 1)[0].verdict.Calls[0]; !call.Cached {
		t.Errorf("the same question again is paid for twice: %+v", call)
	}
}

func counts64(n int) int64 { return int64(n) }

// TestFaults puts every retryable fault on 36 % of all attempts.
func TestFaults(t *testing.T) {
	rows := rowsOf(600)
	clean := judgetest.NewServer(judgetest.ServerConfig{})
	defer clean.Close()
	want := judgeAll(t.Context(), newTestJudge(t, clean, nil), rows, 50)

	s := judgetest.NewServer(judgetest.ServerConfig{Seed: 12, Faults: judgetest.Faults("retryable"), FaultShare: 0.36, RetryAfter: 30 * time.Millisecond, HangTime: 200 * time.Millisecond})
	defer s.Close()
	// No call times out by itself, however slow the machine: an answer that
	// comes too late is paid twice.
	j := newTestJudge(t, s, func(c *Config) { c.Timeout = 0 })
	got := judgeAll(t.Context(), j, rows, 150)
	if bad := failures(got); len(bad) > 0 {
		t.Errorf("%d rows failed: %s", len(bad), strings.Join(bad, "\n"))
	}
	// A claim that two replies have not answered has no verdict; all others have that of a plain
	// service.
	lost, claims := 0, 0
	for i := range rows {
		for c := range want[i].verdict.Claims {
			claims++
			if v := &got[i].verdict.Claims[c]; v.Unscored != "" || v.Joint.Degree == ibid.Unsure && v.Votes > 0 {
				lost++
			} else if !reflect.DeepEqual(*v, want[i].verdict.Claims[c]) {
				t.Errorf("row %d, claim %d: %+v, without faults %+v", i, c, v, want[i].verdict.Claims[c])
			}
		}
	}
	if lost > claims/100 {
		t.Errorf("%d of %d claims have no verdict", lost, claims)
	}
	s.Close()
	counts := s.Counts()
	perRow := float64(counts.Requests) / float64(len(rows))
	t.Logf("%.2f calls a row, %d faults, %d answers", perRow, counts.Faults, counts.Answers)
	if perRow > 1.7 {
		t.Errorf("%.2f calls a row", perRow)
	}
	if counts.Twice+counts.Early > 0 {
		t.Errorf("%d paid twice, %d too early", counts.Twice, counts.Early)
	}
	seen := make(map[judgetest.Fault]bool)
	for _, x := range s.Log() {
		seen[x.Fault] = true
	}
	for _, f := range judgetest.Faults("retryable") {
		if !seen[f] {
			t.Errorf("fault %s did not occur", f)
		}
	}
}

// TestEachFault gives every call of a row the same fault once.
func TestEachFault(t *testing.T) {
	row := rowsOf(1)[0]
	clean := judgetest.NewServer(judgetest.ServerConfig{})
	defer clean.Close()
	want, err := newTestJudge(t, clean, nil).Judge(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range slices.Concat(judgetest.Faults("retryable"), judgetest.Faults("harmless")) {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			s := judgetest.NewServer(judgetest.ServerConfig{Faults: []judgetest.Fault{f}, FaultShare: 1, MaxFaults: 1, RetryAfter: 10 * time.Millisecond})
			defer s.Close()
			j := newTestJudge(t, s, func(c *Config) {
				if f == "hang" {
					c.Timeout = 100 * time.Millisecond
				}
			})
			got, err := j.Judge(t.Context(), row)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got.Claims, want.Claims, func(a, b judge.ClaimVerdict) bool { return a.Joint == b.Joint && len(a.Checks) == len(b.Checks) }) {
				t.Errorf("verdict %+v, want %+v", got.Claims, want.Claims)
			}
		})
	}
}

// TestFinalFaults checks that what cannot be mended leaves its rows, and only
// them, without a verdict.
func TestFinalFaults(t *testing.T) {
	rows := rowsOf(40)
	reasons := map[judgetest.Fault]judge.Reason{
		"400": judge.Rejected, "400_context_length": judge.TooLong, "403_moderation": judge.Blocked,
		"403_guardrail": judge.Blocked, "413": judge.TooLong, "422": judge.Rejected,
		"refusal": judge.Blocked, "content_filter": judge.Blocked,
	}
	for _, f := range judgetest.Faults("final") {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			s := judgetest.NewServer(judgetest.ServerConfig{Seed: 6, Faults: []judgetest.Fault{f}, FaultShare: 0.4})
			defer s.Close()
			j := newTestJudge(t, s, nil)
			results := judgeAll(t.Context(), j, rows, 8)
			failed := 0
			for i := range results {
				if results[i].err == nil {
					continue
				}
				failed++
				if got := failureOf(t, results[i].err); got.Reason != reasons[f] || got.Row != rows[i].Row || len(got.Calls) == 0 || got.Calls[len(got.Calls)-1].Status != string(reasons[f]) {
					t.Errorf("failure %+v, want reason %s", got, reasons[f])
				}
			}
			if failed == 0 || failed == len(rows) {
				t.Errorf("%d of %d rows failed", failed, len(rows))
			}
			if stats := j.Usage(); stats.Retries != 0 && reasons[f] != judge.TooLong {
				t.Errorf("%d retries of what cannot be mended", stats.Retries)
			}
		})
	}
}

func TestStop(t *testing.T) {
	for f, reason := range map[judgetest.Fault]judge.StopReason{
		"401": judge.StopKey, "402": judge.StopCredit, "404": judge.StopModel,
	} {
		t.Run(string(f), func(t *testing.T) {
			s := judgetest.NewServer(judgetest.ServerConfig{Faults: []judgetest.Fault{f}, FaultShare: 1})
			defer s.Close()
			j := newTestJudge(t, s, nil)
			j.members[0].gate = newGate(&j.config, "fake/judge")
			results := judgeAll(t.Context(), j, rowsOf(200), 8)
			for _, r := range results {
				if stop, ok := errors.AsType[*judge.StopError](r.err); !ok || stop.Reason != reason || stop.Hint == "" {
					t.Fatalf("error %v, want to stop for %s", r.err, reason)
				}
			}
			if n := s.Counts().Requests; n > 1 {
				t.Errorf("%d calls after which nothing can succeed", n)
			}
		})
	}
	t.Run("model", func(t *testing.T) {
		s := judgetest.NewServer(judgetest.ServerConfig{})
		defer s.Close()
		_, err := newTestJudge(t, s, func(c *Config) { c.Models = []string{"no/model"} }).Judge(t.Context(), rowsOf(1)[0])
		if stop, ok := errors.AsType[*judge.StopError](err); !ok || stop.Reason != judge.StopModel {
			t.Errorf("error %v", err)
		}
	})
}

// TestKeyIsNowhere looks for the key in all that a judge says and keeps.
func TestKeyIsNowhere(t *testing.T) {
	for _, f := range slices.Concat(judgetest.Faults("retryable"), judgetest.Faults("final"), judgetest.Faults("stopping")) {
		s := judgetest.NewServer(judgetest.ServerConfig{Faults: []judgetest.Fault{f}, FaultShare: 1, RetryAfter: time.Millisecond})
		j := newTestJudge(t, s, func(c *Config) { c.Retries, c.Timeout, c.MaxOutage = 0, 200*time.Millisecond, time.Millisecond })
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // refusals are waited out
		_, err := j.Judge(ctx, rowsOf(1)[0])
		cancel()
		all := fmt.Sprintf("%v %+v %#v %v %#v %+v %+v %#v", err, err, err, j, j, j.Usage(), j.config, j.config)
		if strings.Contains(all, judgetest.DefaultKey) {
			t.Errorf("%s: the key is in %s", f, all)
		}
		s.Close()
	}
	// Neither is it in an error of a service that repeats it.
	j := newTestJudge(t, judgetest.NewServer(judgetest.ServerConfig{}), nil)
	if got := j.plain(errors.New("bad key " + judgetest.DefaultKey)).Error(); strings.Contains(got, judgetest.DefaultKey) {
		t.Error(got)
	}
}

// TestBudget checks that what is spent stays below the limit, but for less than
// one call.
func TestBudget(t *testing.T) {
	rows := rowsOf(300)
	for _, prices := range []bool{true, false} {
		t.Run(fmt.Sprintf("prices=%t", prices), func(t *testing.T) {
			s := judgetest.NewServer(judgetest.ServerConfig{
				Latency: judgetest.Constant(2 * time.Millisecond),
				Seed:    2, Faults: []judgetest.Fault{"reset_mid_body", "schema_mismatch", "429_decimal"}, FaultShare: 0.2, RetryAfter: time.Millisecond,
			})
			defer s.Close()
			const limit = 30_000_000 // three US cents
			j := newTestJudge(t, s, func(c *Config) {
				c.MaxCostNanoUSD = limit
				if !prices {
					c.Kind = KindOpenAI // which tells no prices before the first call
				}
			})
			results := judgeAll(t.Context(), j, rows, 32)
			stopped, answered := 0, 0
			for _, r := range results {
				stop, ok := errors.AsType[*judge.StopError](r.err)
				switch {
				case r.err == nil:
					answered++
				case ok && stop.Reason == judge.StopBudget:
					stopped++
				default:
					t.Errorf("error %v", r.err)
				}
			}
			if stopped == 0 || answered == 0 {
				t.Errorf("%d answered, %d stopped", answered, stopped)
			}
			s.Close()
			most := int64(0)
			for _, x := range s.Log() {
				most = max(most, x.NanoUSD)
			}
			spent := s.Counts().SpentNanoUSD
			if spent > limit+most {
				t.Errorf("spent %d of %d, more than the %d of one call too much", spent, limit, most)
			}
			if spent < limit/2 {
				t.Errorf("stopped after %d of %d", spent, limit)
			}
			t.Logf("spent %d of %d; %d answered", spent, limit, answered)
		})
	}
}

// TestPaidOnce asks the same from many goroutines of three judges that share a
// store: through one handle, and through a handle of their own on one file, as
// processes do.
func TestPaidOnce(t *testing.T) {
	one, path := newStore(t), filepath.Join(t.TempDir(), "judge.sqlite")
	for name, open := range map[string]func() *cache.SQLite{
		"one handle": func() *cache.SQLite { return one },
		"handles":    func() *cache.SQLite { return openStore(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			s := judgetest.NewServer(judgetest.ServerConfig{Latency: judgetest.Constant(30 * time.Millisecond)})
			defer s.Close()
			rows := rowsOf(20)
			many := slices.Repeat(rows, 5)
			done := make(chan []result)
			const judges = 3
			for range judges {
				j := newTestJudge(t, s, func(c *Config) { c.Store = open() })
				go func() { done <- judgeAll(t.Context(), j, many, 100) }()
			}
			for range judges {
				if bad := failures(<-done); len(bad) > 0 {
					t.Error(bad)
				}
			}
			if n := s.Counts().Requests; n != len(rows) {
				t.Errorf("%d calls of %d different rows", n, len(rows))
			}
		})
	}
}

// TestLeaseOfTheDead asks for what a process was asking for when it died: under
// its name at once.
func TestLeaseOfTheDead(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{})
	defer s.Close()
	store := newStore(t)
	j := newTestJudge(t, s, func(c *Config) { c.Store, c.Owner = store, "run" })
	row := rowsOf(1)[0]
	key := j.matrixQuestion(j.members[0], newExhibits(row), 0).request.key()
	if held, err := store.Acquire(t.Context(), key, "run", time.Hour); err != nil || !held {
		t.Fatal(held, err)
	}
	if _, err := j.Judge(t.Context(), row); err != nil {
		t.Error(err)
	}
	// Anybody else waits.
	if held, err := store.Acquire(t.Context(), cache.Key{1}, "another", time.Hour); err != nil || !held {
		t.Fatal(held, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := j.hold(ctx, cache.Key{1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// TestWaiterOutlivesLeader cancels the one who asks; who waits asks himself.
func TestWaiterOutlivesLeader(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{Latency: judgetest.Constant(50 * time.Millisecond)})
	defer s.Close()
	j := newTestJudge(t, s, nil)
	row := rowsOf(1)[0]
	ctx, cancel := context.WithCancel(t.Context())
	leader := make(chan error)
	go func() { _, err := j.Judge(ctx, row); leader <- err }()
	for j.Usage().Asked == 0 {
		time.Sleep(time.Millisecond)
	}
	waiter := make(chan error)
	go func() { _, err := j.Judge(t.Context(), row); waiter <- err }()
	cancel()
	if err := <-leader; !errors.Is(err, context.Canceled) {
		t.Errorf("leader: %v", err)
	}
	if err := <-waiter; err != nil {
		t.Errorf("waiter: %v", err)
	}
}
