//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"ibid"
	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/judgetest"
	"ibid/judge/openrouter"
)

// A scenario is one service and how it is asked.
type scenario struct {
	name    string
	service judgetest.ServerConfig
	rows    int
	change  func(*openrouter.Config)
	// workers ask at once; more than calls may be under way, so that rows which
	// wait for a limit do not keep others from being asked.
	workers int
	// ideal is the rate to compare with, in rows a second; 0 for none.
	ideal float64
}

// latency is that of a language model: lognormal with a median of 300 ms and a
// mean of 340.
var latency = judgetest.Lognormal(300*time.Millisecond, 0.5)

func scenarios(rows int) []scenario {
	return []scenario{
		{name: "clean, 50 at once, 200 ms", rows: 600, workers: 50, ideal: 250, service: judgetest.ServerConfig{Latency: judgetest.Constant(200 * time.Millisecond)}},
		{
			name: "36 % faults", rows: 600, workers: 100,
			service: judgetest.ServerConfig{
				Seed: 11, Latency: judgetest.Constant(20 * time.Millisecond), Faults: judgetest.RetryableFaults(), FaultShare: 0.36,
				HangTime: 200 * time.Millisecond,
			},
			change: func(c *openrouter.Config) { c.Timeout = 0 },
		},
		{name: "no limit", rows: rows, workers: 100, service: judgetest.ServerConfig{Latency: latency}},
		{name: "limit: 50 requests a second", rows: rows, workers: 100, ideal: 50, service: judgetest.ServerConfig{Latency: latency, Rate: 50}},
		{name: "limit: 24 in flight", rows: rows, workers: 100, ideal: 24 / 0.34, service: judgetest.ServerConfig{Latency: latency, MaxInFlight: 24}},
		{name: "limit: 6 % stray 429", rows: rows, workers: 100, service: judgetest.ServerConfig{Latency: latency, StrayShare: 0.06, RetryAfter: time.Second}},
	}
}

// measureService measures a live judge against the fake service: calls a row, the share of
// cached answers, rows a second under limits, and what faults cost.
func measureService(rowsText, only string) error {
	rows, err := strconv.Atoi(cmp.Or(rowsText, "1500"))
	if err != nil {
		return err
	}

	fmt.Println("| scenario | rows | failed | calls a row | 429 | connections | wall s | rows/s | of ideal |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	unlimited := 0.0
	for _, s := range scenarios(rows) {
		if !strings.Contains(s.name, only) {
			continue
		}
		if strings.Contains(s.name, "stray") {
			s.ideal = unlimited
		}
		rate, err := measure(&s)
		if err != nil {
			return err
		}
		if s.name == "no limit" {
			unlimited = rate
		}
	}
	if strings.Contains("warm", only) {
		return warm()
	}
	return nil
}

// measure runs one scenario and prints its line.
func measure(s *scenario) (rate float64, err error) {
	server := judgetest.NewServer(s.service)
	defer server.Close()
	j, err := newJudge(server, cache.NewMemory(), s.change)
	if err != nil {
		return 0, err
	}
	defer j.Close()
	requests := rowsOf(s.rows)
	began := time.Now()
	verdicts, failed := judgeAll(j, requests, s.workers)
	wall := time.Since(began).Seconds()
	server.Close()
	counts := server.Counts()
	rate = float64(s.rows) / wall
	of := ""
	if s.ideal > 0 {
		of = fmt.Sprintf("%.0f %%", 100*rate/s.ideal)
	}
	fmt.Printf("| %s | %d | %d | %.2f | %.0f %% | %d | %.2f | %.1f | %s |\n", s.name, s.rows, failed,
		float64(counts.Requests-counts.Refused)/float64(s.rows), 100*float64(counts.Refused)/float64(counts.Requests), counts.Connections, wall, rate, of)
	log := server.Log()
	for _, problem := range append(judgetest.PaidTwice(log), judgetest.EarlyRetries(log)...) {
		fmt.Fprintln(os.Stderr, "judge:", s.name+":", problem)
	}
	return rate, compare(s, requests, verdicts)
}

// compare checks the verdicts against those of a service without faults.
func compare(s *scenario, requests []*judge.Request, got []*judge.Verdict) error {
	if len(s.service.Faults) == 0 {
		return nil
	}
	server := judgetest.NewServer(judgetest.ServerConfig{Lean: true})
	defer server.Close()
	j, err := newJudge(server, nil, nil)
	if err != nil {
		return err
	}
	defer j.Close()
	want, _ := judgeAll(j, requests, 50)
	same := 0
	for i := range want {
		if got[i] != nil && reflect.DeepEqual(got[i].Claims, want[i].Claims) {
			same++
		}
	}
	fmt.Printf("| … verdicts as without faults | %d of %d | | | | | | | |\n", same, len(want))
	return nil
}

// warm measures rows whose answers are kept.
func warm() error {
	dir, err := os.MkdirTemp("", "ibid-judge")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := cache.Open(filepath.Join(dir, "judge.sqlite"))
	if err != nil {
		return err
	}
	defer store.Close()
	server := judgetest.NewServer(judgetest.ServerConfig{Lean: true})
	defer server.Close()
	requests := rowsOf(600)
	for _, s := range []struct {
		name  string
		store cache.Store
	}{{"cached, in memory", cache.NewMemory()}, {"cached, SQLite", store}} {
		cold, err := newJudge(server, s.store, nil)
		if err != nil {
			return err
		}
		judgeAll(cold, requests, 50)
		cold.Close()
		before := server.Counts().Requests
		j, err := newJudge(server, s.store, nil)
		if err != nil {
			return err
		}
		const rounds = 100
		began, worked := time.Now(), cpuTime()
		failed := 0
		for range rounds {
			_, f := judgeAll(j, requests, 8)
			failed += f
		}
		wall := time.Since(began).Seconds()
		j.Close()
		n := rounds * len(requests)
		fmt.Printf("| %s, %.1f µs CPU a row | %d | %d | %.2f | | | %.2f | %.0f | |\n", s.name,
			(cpuTime()-worked).Seconds()*1e6/float64(n), n, failed, float64(server.Counts().Requests-before)/float64(n), wall, float64(n)/wall)
	}
	return nil
}

func newJudge(server *judgetest.Server, store cache.Store, change func(*openrouter.Config)) (*openrouter.Judge, error) {
	config := openrouter.Config{
		BaseURL: server.URL(), Key: judgetest.DefaultKey, Model: "fake/judge", Retries: 8, Timeout: time.Minute, Concurrency: 50,
		Backoff: 100 * time.Millisecond, Store: store,
	}
	if change != nil {
		change(&config)
	}
	return openrouter.New(config)
}

// judgeAll judges all rows; the verdict of a row that failed is nil.
func judgeAll(j *openrouter.Judge, rows []*judge.Request, workers int) (verdicts []*judge.Verdict, failed int) {
	verdicts = make([]*judge.Verdict, len(rows))
	next := make(chan int, len(rows))
	for i := range rows {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				// A row that failed has no verdict, which is counted below.
				verdicts[i], _ = j.Judge(context.Background(), rows[i])
			}
		})
	}
	wg.Wait()
	for _, v := range verdicts {
		if v == nil {
			failed++
		}
	}
	return verdicts, failed
}

// rowsOf makes n rows of two to seven claims with up to three citations each.
func rowsOf(n int) []*judge.Request {
	r := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("bridge river tower opened closed built carries cars people north south red green old new city in of the was is with after before stone iron three seven years rain snow market school station harbour")
	sentence := func() string {
		var b strings.Builder
		for range 8 + r.IntN(8) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		return fmt.Sprintf("%s%d.", b.String(), 1800+r.IntN(300))
	}
	rows := make([]*judge.Request, n)
	for i := range rows {
		q := &judge.Request{Row: fmt.Sprintf("q%d/s", i), Question: fmt.Sprintf("Question %d?", i)}
		for e := range 3 + r.IntN(4) {
			q.Evidence = append(q.Evidence, judge.Evidence{Text: sentence() + " " + sentence(), Citation: e})
		}
		for range 2 + r.IntN(6) {
			from := r.IntN(len(q.Evidence))
			to := min(len(q.Evidence), from+r.IntN(4))
			c := ibid.Claim{Text: sentence()}
			for e := from; e < to; e++ {
				c.Citations = append(c.Citations, int32(e))
			}
			q.Claims = append(q.Claims, c)
		}
		rows[i] = q
	}
	return rows
}

// cpuTime is the time that the processors have worked for this process, which
// other work on the machine does not lengthen as it does wall time.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
