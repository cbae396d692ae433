package openrouter

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/judgetest"
)

// batchJudge makes a judge with a store on disk whose service has not answered yet.
func batchJudge(t *testing.T, s *judgetest.Server, store string, change func(*Config)) *Judge {
	t.Helper()
	kept, err := cache.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	j := newTestJudge(t, s, func(c *Config) {
		c.Store, c.Batch, c.Owner = kept, true, "test"
		if change != nil {
			change(c)
		}
	})
	for _, m := range j.members {
		m.gate = newGate(&j.config, m.model)
	}
	t.Cleanup(func() { kept.Close() })
	return j
}

// askInBatches asks the questions of rows until there is nothing to wait for.
func askInBatches(ctx context.Context, t *testing.T, j *Judge, rows []*judge.Request) (sent int64, err error) {
	t.Helper()
	return waitInBatches(ctx, t, j, rows, func(BatchProgress) {})
}

// waitInBatches is [askInBatches] that calls waits whenever a batch that was accepted is waited for.
func waitInBatches(ctx context.Context, t *testing.T, j *Judge, rows []*judge.Request, waits func(BatchProgress)) (sent int64, err error) {
	t.Helper()
	b := j.NewBatcher()
	defer b.Close()
	for {
		for _, r := range rows {
			if err := b.Add(ctx, r); err != nil {
				return b.Sent(), err
			}
		}
		if waiting, err := b.Submit(ctx); err != nil || !waiting {
			return b.Sent(), err
		}
		if err := b.Wait(ctx, waits); err != nil {
			return b.Sent(), err
		}
	}
}

var batchForms = []judgetest.BatchForm{judgetest.OpenRouterBatches, judgetest.OpenAIBatches}

func kindOf(form judgetest.BatchForm) string {
	if form == judgetest.OpenAIBatches {
		return KindOpenAI
	}
	return KindOpenRouter
}

// TestBatch: verdicts of batches are those of calls, each question is paid once, and
// the judge counts what the bill says; in every form, with lines that expire or fail,
// with replies of no use, in several batches, by several models and votes.
func TestBatch(t *testing.T) {
	all := rowsOf(60)
	bad := judgetest.BatchConfig{
		ExpiredShare: 0.15, FailedShare: 0.1, BadShare: 0.1,
		BadReplies: []judgetest.Fault{"null_content", "truncated_content", "schema_mismatch", "missing_items", "unknown_id", "plain_prose"},
	}
	for name, change := range map[string]func(*Config){
		"plain": nil,
		"lines": func(c *Config) { c.batchLines = 10 },
		"panel": func(c *Config) { c.Models = []string{"fake/judge", "other/judge"} },
		"votes": func(c *Config) { c.Votes = 2 },
		"pairs": func(c *Config) { c.Protocol = Score },
		"long":  nil, // prompts that the model does not take: their lines are refused, calls ask in halves
	} {
		for _, form := range batchForms {
			t.Run(name+" "+string(form), func(t *testing.T) {
				rows := all
				switch name {
				case "plain", "long":
				case "pairs":
					rows = all[:8] // of nine questions each
				default:
					rows = all[:30]
				}
				models := judgetest.DefaultModels()
				if name == "long" {
					models[0].ContextLength = 0 // nobody tells it
					models[0].Refuse = func(_ map[string]json.RawMessage, tokens int64) map[string]any {
						if tokens <= 2200 {
							return nil
						}
						return map[string]any{"error": map[string]any{"code": 400, "message": "the prompt is too long"}}
					}
				}
				live := judgetest.NewServer(judgetest.ServerConfig{Models: models})
				defer live.Close()
				want := judgeAll(t.Context(), newTestJudge(t, live, func(c *Config) {
					if change != nil {
						change(c)
					}
				}), rows, 8)
				config := bad
				config.Form = form
				if name == "long" {
					config.BadShare = 0 // a repair would be longer still
				}
				s := judgetest.NewServer(judgetest.ServerConfig{Seed: 5, Models: models, Batches: &config})
				defer s.Close()
				j := batchJudge(t, s, filepath.Join(t.TempDir(), "judge.sqlite"), func(c *Config) {
					if c.Kind = kindOf(form); c.Kind == KindOpenAI { // which tells no prices
						c.Prices = map[string]Price{"fake/judge": {Prompt: 150e-9, Completion: 600e-9}, "other/judge": {Prompt: 300e-9, Completion: 1200e-9}}
					}
					if change != nil {
						change(c)
					}
				})
				sent, err := askInBatches(t.Context(), t, j, rows)
				if err != nil {
					t.Fatal(err)
				}
				got := judgeAll(t.Context(), j, rows, 8)
				if failed := failures(got); len(failed) > 0 {
					t.Fatalf("%d rows failed: %s", len(failed), failed[0])
				}
				if n := sameVerdicts(want, got); n != len(rows) {
					t.Errorf("%d of %d verdicts are those of calls", n, len(rows))
				}
				s.EndBatches(false)
				questions, twice := s.Counts().Questions, s.Counts().Twice
				if twice > 0 {
					t.Errorf("%d paid twice", twice)
				}
				lines, expired := 0, 0
				for _, b := range s.Batches() {
					lines, expired = lines+b.Lines, expired+b.Expired
				}
				if expired == 0 || sent < 2 || int(sent) != len(s.Batches()) {
					t.Errorf("%d batches sent, the service has %d, %d lines expired", sent, len(s.Batches()), expired)
				}
				spent := s.Counts().SpentNanoUSD
				if cost := j.Usage().CostNanoUSD; cost < spent-int64(lines) || cost > spent+int64(lines) {
					t.Errorf("the judge counts %d nano-USD, the bill is %d", cost, spent)
				}
				t.Logf("%d questions, %d batches, %d lines, %d expired, %d calls, $%.6f; live $%.6f", questions, sent, lines, expired, s.Counts().Requests, float64(spent)/1e9, float64(live.Counts().SpentNanoUSD)/1e9)
			})
		}
	}
}

// TestBatchBadReplies: lines whose replies are all of no use are no outage for the run
// that goes on with them, and their questions are asked in calls.
func TestBatchBadReplies(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{Seed: 5, Batches: &judgetest.BatchConfig{BadShare: 1, BadReplies: []judgetest.Fault{"plain_prose"}}})
	defer s.Close()
	store := filepath.Join(t.TempDir(), "judge.sqlite")
	limit := func(c *Config) { c.MaxOutage = time.Minute }
	rows := rowsOf(4) // the first is asked in a call: it opens the model
	if _, err := askInBatches(t.Context(), t, batchJudge(t, s, store, limit), rows); err != nil {
		t.Fatal(err)
	}
	if failed := failures(judgeAll(t.Context(), batchJudge(t, s, store, limit), rows[1:], 1)); len(failed) > 0 {
		t.Errorf("%d rows failed: %s", len(failed), failed[0])
	}
}

// TestBatchLostAnswer: a submission whose answer is lost is found in the listing, by its
// metadata or by what its results are about, and not sent again.
func TestBatchLostAnswer(t *testing.T) {
	rows := rowsOf(30)
	for _, form := range batchForms {
		t.Run(string(form), func(t *testing.T) {
			// It is the oldest of three, each on a page of the listing.
			s := judgetest.NewServer(judgetest.ServerConfig{Batches: &judgetest.BatchConfig{Form: form, Broken: 1, MaxPage: 1}})
			defer s.Close()
			j := batchJudge(t, s, filepath.Join(t.TempDir(), "judge.sqlite"), func(c *Config) { c.Kind, c.batchLines = kindOf(form), 12 })
			if _, err := askInBatches(t.Context(), t, j, rows); err != nil {
				t.Fatal(err)
			}
			if failed := failures(judgeAll(t.Context(), j, rows, 4)); len(failed) > 0 {
				t.Fatal(failed[0])
			}
			s.EndBatches(false)
			if twice := s.Counts().Twice; twice > 0 || len(s.Batches()) != 3 || s.Counts().Requests != 1 {
				t.Errorf("%d batches, %d calls, %d paid twice", len(s.Batches()), s.Counts().Requests, twice)
			}
		})
	}
}

// TestBatchNeverAccepted: a submission that was lost on its way is sent again once no
// listing has shown it for the time of a call; one that is cancelled at the service ends
// the run, and the next one asks what is left.
func TestBatchNeverAccepted(t *testing.T) {
	rows := rowsOf(30)
	for _, form := range batchForms {
		t.Run(string(form), func(t *testing.T) {
			s := judgetest.NewServer(judgetest.ServerConfig{Batches: &judgetest.BatchConfig{Form: form, Dropped: 2}})
			defer s.Close()
			store := filepath.Join(t.TempDir(), "judge.sqlite")
			change := func(c *Config) { c.Kind, c.Timeout = kindOf(form), time.Second }
			j := batchJudge(t, s, store, change)
			began := time.Now()
			if sent, err := askInBatches(t.Context(), t, j, rows); err != nil || sent != 1 || time.Since(began) < 2*j.config.Timeout {
				t.Fatalf("%d sent after %v, %v", sent, time.Since(began), err)
			}
			s.EndBatches(false)
			if twice := s.Counts().Twice; twice > 0 || len(s.Batches()) != 1 {
				t.Errorf("%d batches, %d paid twice", len(s.Batches()), twice)
			}
		})
	}
	s := judgetest.NewServer(judgetest.ServerConfig{Batches: &judgetest.BatchConfig{}})
	defer s.Close()
	store := filepath.Join(t.TempDir(), "judge.sqlite")
	j := batchJudge(t, s, store, nil)
	b := j.NewBatcher()
	defer b.Close()
	for _, r := range rows {
		if err := b.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if waiting, err := b.Submit(t.Context()); err != nil || !waiting || len(b.Open()) != 1 {
		t.Fatal(waiting, err, b.Open())
	}
	s.EndBatches(true)
	err := b.Wait(t.Context(), func(BatchProgress) {})
	if stop, ok := errors.AsType[*judge.StopError](err); !ok || stop.Reason != judge.StopCancelled {
		t.Fatal(err)
	}
	if sent, err := askInBatches(t.Context(), t, batchJudge(t, s, store, nil), rows); err != nil || sent != 1 {
		t.Fatal(sent, err)
	}
}

// TestBatchOfOthers: a batch of OpenRouter with as many questions of the same model at
// the same time is not taken for ours.
func TestBatchOfOthers(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{Batches: &judgetest.BatchConfig{Broken: 2}})
	defer s.Close()
	ours, others := rowsOf(30)[:15], rowsOf(30)[15:]
	s.HoldBatches(true)
	// Two accounts' worth of work in one: neither submission has an answer.
	ctx, cancel := context.WithCancel(t.Context())
	judges := make([]*Judge, 2)
	for i, rows := range [][]*judge.Request{others, ours} {
		judges[i] = batchJudge(t, s, filepath.Join(t.TempDir(), "judge.sqlite"), nil)
		b := judges[i].NewBatcher()
		for _, r := range rows {
			if err := b.Add(ctx, r); err != nil {
				t.Fatal(err)
			}
		}
		if waiting, err := b.Submit(ctx); !waiting || err != nil {
			t.Fatal(waiting, err)
		}
		b.Close()
	}
	cancel()
	s.HoldBatches(false)
	for i, rows := range [][]*judge.Request{others, ours} {
		if _, err := askInBatches(t.Context(), t, judges[i], rows); err != nil {
			t.Fatal(err)
		}
		if failed := failures(judgeAll(t.Context(), judges[i], rows, 4)); len(failed) > 0 {
			t.Fatal(failed[0])
		}
	}
	s.EndBatches(false)
	if twice := s.Counts().Twice; twice > 0 || len(s.Batches()) != 2 {
		t.Errorf("%d batches, %d paid twice", len(s.Batches()), twice)
	}
}

// TestBatchStops: what no batch can do ends the run at once, with what to do, and
// nothing is asked in calls instead.
func TestBatchStops(t *testing.T) {
	rows := rowsOf(30)
	for name, c := range map[string]struct {
		config judgetest.ServerConfig
		change func(*Config)
		want   judge.StopReason
		calls  int
	}{
		"no batches":    {judgetest.ServerConfig{}, nil, judge.StopBatches, 0},
		"no listing":    {judgetest.ServerConfig{Batches: &judgetest.BatchConfig{Unlisted: true}}, nil, judge.StopBatches, 0},
		"wrong key":     {judgetest.ServerConfig{Batches: &judgetest.BatchConfig{}}, func(c *Config) { c.Key = "wrong-key" }, judge.StopKey, 0},
		"too many":      {judgetest.ServerConfig{Batches: &judgetest.BatchConfig{MaxLines: 10}}, nil, judge.StopRequests, 1},
		"invalid":       {judgetest.ServerConfig{Batches: &judgetest.BatchConfig{Invalid: "Enqueued token limit reached"}}, nil, judge.StopRequests, 1},
		"small budget":  {judgetest.ServerConfig{Batches: &judgetest.BatchConfig{}}, func(c *Config) { c.MaxCostNanoUSD = 3_000_000 }, judge.StopBudget, 1},
		"spent already": {judgetest.ServerConfig{Batches: &judgetest.BatchConfig{}}, func(c *Config) { c.MaxCostNanoUSD, c.SpentNanoUSD = 9_000_000, 9_000_000 }, judge.StopBudget, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := judgetest.NewServer(c.config)
			defer s.Close()
			j := batchJudge(t, s, filepath.Join(t.TempDir(), "judge.sqlite"), c.change)
			_, err := askInBatches(t.Context(), t, j, rows)
			stop, ok := errors.AsType[*judge.StopError](err)
			if !ok || stop.Reason != c.want || stop.Hint == "" {
				t.Errorf("error %v, %+v, want %q", err, stop, c.want)
			}
			if n := s.Counts().Requests; n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
			t.Log(err)
		})
	}
}

// TestBatchBudget: what batches can cost is set aside before they are sent, so that the
// budget holds; with room for a few questions at a time there are several batches.
func TestBatchBudget(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{Batches: &judgetest.BatchConfig{}})
	defer s.Close()
	rows := rowsOf(60)
	const budget = 20_000_000
	j := batchJudge(t, s, filepath.Join(t.TempDir(), "judge.sqlite"), func(c *Config) { c.MaxCostNanoUSD = budget })
	sent, err := askInBatches(t.Context(), t, j, rows)
	if err != nil {
		t.Fatal(err)
	}
	if failed := failures(judgeAll(t.Context(), j, rows, 4)); len(failed) > 0 {
		t.Fatal(failed[0])
	}
	if spent := s.Counts().SpentNanoUSD; spent > budget || sent < 2 {
		t.Errorf("%d batches, $%.4f spent of $%.4f", sent, float64(spent)/1e9, budget/1e9)
	}
	t.Logf("%d batches, $%.4f of $%.4f", sent, float64(s.Counts().SpentNanoUSD)/1e9, budget/1e9)
}

// TestBatchUndecided: a batch that the service does not know any more stops the run,
// and is asked again only where that is wanted. One that was never accepted is asked
// again by itself, once no listing has shown it for the time of a call.
func TestBatchUndecided(t *testing.T) {
	rows, store := rowsOf(20), filepath.Join(t.TempDir(), "judge.sqlite")
	gone := judgetest.NewServer(judgetest.ServerConfig{Batches: &judgetest.BatchConfig{}})
	j := batchJudge(t, gone, store, nil)
	gone.HoldBatches(true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := waitInBatches(ctx, t, j, rows, func(BatchProgress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	j.Close()
	_ = j.store.Close()
	again := func(change func(*Config)) error {
		gone.ForgetBatches()
		gone.HoldBatches(false)
		j := batchJudge(t, gone, store, func(c *Config) {
			c.Timeout = 200 * time.Millisecond
			if change != nil {
				change(c)
			}
		})
		defer j.store.Close()
		_, err := askInBatches(t.Context(), t, j, rows)
		return err
	}
	defer gone.Close()
	err := again(nil)
	if stop, ok := errors.AsType[*judge.StopError](err); !ok || stop.Reason != judge.StopUndecided || !strings.Contains(stop.Hint, "--resubmit") {
		t.Fatalf("error %v", err)
	}
	if err := again(func(c *Config) { c.Resubmit = true }); err != nil {
		t.Fatal(err)
	}
	if n := len(gone.Batches()); n != 1 {
		t.Errorf("%d batches after --resubmit", n)
	}
}

// TestBatchLostResults: results that the service has no more, and a submission that a list
// without an end does not show, end the run, and are asked again only where that is wanted.
func TestBatchLostResults(t *testing.T) {
	for name, config := range map[string]judgetest.BatchConfig{
		"no file":      {Form: judgetest.OpenAIBatches, Fileless: true},
		"endless list": {Form: judgetest.OpenAIBatches, Endless: true, Dropped: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := judgetest.NewServer(judgetest.ServerConfig{Batches: &config})
			defer s.Close()
			store, rows := filepath.Join(t.TempDir(), "judge.sqlite"), rowsOf(20)
			ask := func(rows []*judge.Request, resubmit bool) (int64, error) {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				return askInBatches(ctx, t, batchJudge(t, s, store, func(c *Config) {
					c.Kind, c.Timeout, c.MaxOutage, c.Resubmit, c.batchLines = KindOpenAI, 100*time.Millisecond, time.Hour, resubmit, 12
				}), rows)
			}
			_, err := ask(rows, false)
			if stop, ok := errors.AsType[*judge.StopError](err); !ok || stop.Reason != judge.StopUndecided || !strings.Contains(stop.Hint, "--resubmit") {
				t.Fatalf("error %v", err)
			}
			if config.Fileless { // once
				if sent, err := ask(rows, true); err == nil || sent == 0 {
					t.Errorf("%d batches after --resubmit, %v", sent, err)
				}
			}
			config.Fileless = false
			if _, err := ask(rows, true); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBatchPrice: under a budget no batch goes out whose price is not known, also where
// an earlier batch has shown that the model works.
func TestBatchPrice(t *testing.T) {
	models := judgetest.DefaultModels()
	models[0].TellsNoCost = true
	s := judgetest.NewServer(judgetest.ServerConfig{NoNetwork: true, Models: models, Batches: &judgetest.BatchConfig{}})
	defer s.Close()
	j := batchJudge(t, s, filepath.Join(t.TempDir(), "judge.sqlite"), func(c *Config) { c.HTTP, c.MaxCostNanoUSD = s.Client(), 1e9 })
	j.members[0].gate.hears()
	_, err := askInBatches(t.Context(), t, j, rowsOf(20))
	if stop, ok := errors.AsType[*judge.StopError](err); !ok || stop.Reason != judge.StopPrice || len(s.Batches()) > 0 {
		t.Errorf("error %v, %d batches", err, len(s.Batches()))
	}
}

// TestBatchOutage: a service that is gone while a batch is waited for ends the run after the
// time of an outage, and the next run takes up the batch.
func TestBatchOutage(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{Batches: &judgetest.BatchConfig{}})
	defer s.Close()
	rows, store := rowsOf(20), filepath.Join(t.TempDir(), "judge.sqlite")
	broken := &http.Client{Transport: brokenTransport{s.Client().Transport}}
	outage := func(c *Config) { c.HTTP, c.MaxOutage, c.Backoff = broken, 200*time.Millisecond, 10*time.Millisecond }
	_, err := askInBatches(t.Context(), t, batchJudge(t, s, store, outage), rows)
	if stop, ok := errors.AsType[*judge.StopError](err); !ok || stop.Reason != judge.StopService || stop.Hint == "" {
		t.Fatalf("error %v", err)
	}
	if sent, err := askInBatches(t.Context(), t, batchJudge(t, s, store, nil), rows); err != nil || sent != 0 {
		t.Errorf("%d batches more, %v", sent, err)
	}
	if twice := s.Counts().Twice; twice > 0 || len(s.Batches()) != 1 {
		t.Errorf("%d batches, %d paid twice", len(s.Batches()), twice)
	}
}

// A brokenTransport brings no batch.
type brokenTransport struct{ http.RoundTripper }

func (b brokenTransport) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Method == http.MethodGet && strings.Contains(q.URL.Path, "/batches/") {
		return nil, errors.New("connection reset by peer")
	}
	return b.RoundTripper.RoundTrip(q)
}
