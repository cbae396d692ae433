package openrouter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ibid"
	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/judgetest"
)

var vocabulary = strings.Fields("bridge river tower opened closed built carries cars people north south red green old new city in of the was is with after before stone iron three seven years rain snow market school station harbour")

// rowsOf makes n rows of two to seven claims, each with up to three citations.
// They are the same for the same n.
func rowsOf(n int) []*judge.Request {
	r := rand.New(rand.NewPCG(1, 2))
	sentence := func() string {
		words := make([]string, 6+r.IntN(8))
		for i := range words {
			words[i] = vocabulary[r.IntN(len(vocabulary))]
		}
		return strings.ToUpper(words[0][:1]) + words[0][1:] + " " + strings.Join(words[1:], " ") + fmt.Sprintf(" %d.", 1800+r.IntN(300))
	}
	rows := make([]*judge.Request, n)
	for i := range rows {
		q := &judge.Request{Row: fmt.Sprintf("q%d/s", i), Question: fmt.Sprintf("Question %d?", i)}
		for range 2 + r.IntN(5) {
			q.Evidence = append(q.Evidence, judge.Evidence{Text: sentence() + " " + sentence(), Citation: len(q.Evidence)})
		}
		for range 2 + r.IntN(6) {
			c := ibid.Claim{Text: sentence()}
			for range r.IntN(4) {
				if e := int32(r.IntN(len(q.Evidence))); !slices.Contains(c.Citations, e) {
					c.Citations = append(c.Citations, e)
				}
			}
			slices.Sort(c.Citations)
			if len(c.Citations) > 0 && r.IntN(2) == 0 {
				// Half of the time a claim has much of its evidence.
				c.Text = "Indeed " + q.Evidence[c.Citations[0]].Text[:30]
			}
			q.Claims = append(q.Claims, c)
		}
		rows[i] = q
	}
	return rows
}

// newTestJudge makes a judge that asks the server, fit for quick tests.
func newTestJudge(t testing.TB, s *judgetest.Server, change func(*Config)) *Judge {
	t.Helper()
	config := Config{
		BaseURL: s.URL(), Key: judgetest.DefaultKey, Models: []string{"fake/judge"}, Request: map[string]any{"seed": int64(1), "temperature": int64(0)}, Retries: 8, Timeout: 5 * time.Second,
		Backoff: 20 * time.Millisecond, Concurrency: 50, Store: newStore(t), Run: "test",
	}
	if change != nil {
		change(&config)
	}
	j, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	for _, m := range j.members {
		m.gate.openWide() // the service has answered before
	}
	return j
}

// newStore makes an empty store, which is closed with the test.
func newStore(t testing.TB) *cache.SQLite {
	t.Helper()
	return openStore(t, filepath.Join(t.TempDir(), "judge.sqlite"))
}

// openStore opens a store, which is closed with the test.
func openStore(t testing.TB, path string) *cache.SQLite {
	t.Helper()
	s, err := cache.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

type result struct {
	verdict *judge.Verdict
	err     error
}

// judgeAll judges rows with that many workers.
func judgeAll(ctx context.Context, j *Judge, rows []*judge.Request, workers int) []result {
	out := make([]result, len(rows))
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				out[i].verdict, out[i].err = j.Judge(ctx, rows[i])
			}
		})
	}
	for i := range rows {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// failures lists the rows that have no verdict.
func failures(results []result) []string {
	var out []string
	for i := range results {
		if err := results[i].err; err != nil {
			out = append(out, err.Error())
		}
	}
	return out
}

// sameVerdicts counts rows whose verdicts agree.
func sameVerdicts(a, b []result) int {
	n := 0
	for i := range a {
		if a[i].err == nil && b[i].err == nil && reflect.DeepEqual(a[i].verdict.Claims, b[i].verdict.Claims) && a[i].verdict.Tampering == b[i].verdict.Tampering {
			n++
		}
	}
	return n
}

// failureOf is the row failure of an error.
func failureOf(t testing.TB, err error) *judge.RowFailure {
	t.Helper()
	f, ok := errors.AsType[*judge.RowFailure](err)
	if !ok {
		t.Fatalf("error %v of type %T, want *judge.RowFailure", err, err)
	}
	return f
}
