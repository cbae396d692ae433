package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"ibid/judge/cache/cachetest"
	"ibid/judge/judgetest"
)

// TestLiveRedis: four processes ask the same questions through one Redis server, which is
// killed and started again in the middle: each is asked once, and all have the same bytes.
func TestLiveRedis(t *testing.T) {
	t.Parallel()
	rows := 1000
	if testing.Short() || raced() {
		rows = 200
	}
	server := cachetest.NewRedisServer(t)
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Latency: judgetest.Lognormal(10*time.Millisecond, 0.5)})
	ids := []string{"a", "b", "c", "d"}
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			if stderr, code := l.run(id, "--cache", server.URL); code != 0 {
				t.Errorf("run %s: exit code %d\n%s", id, code, stderr)
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	random := rand.New(rand.NewPCG(1, uint64(rows)))
	restarts := 0
	for _, share := range []int{3, 2} {
		for l.server.Counts().Answers < rows/share {
			select {
			case <-ended:
				t.Fatalf("the runs ended after %d answers", l.server.Counts().Answers)
			case <-time.After(time.Millisecond):
			}
		}
		server.Kill()
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		server.Start()
		restarts++
	}
	<-ended
	if t.Failed() {
		return
	}
	if asked := l.server.Counts().Requests; asked != rows || restarts != 2 {
		t.Errorf("%d calls for %d questions of four processes, %d restarts", asked, rows, restarts)
	}
	want := l.results("a")
	for _, id := range ids[1:] {
		l.same(id, l.results(id), want)
	}
	l.noKey()
	t.Logf("%d calls for %d questions asked by four processes", l.server.Counts().Requests, rows)
}

// TestLiveRedisBudget: four processes with one budget spend it together, and not four.
func TestLiveRedisBudget(t *testing.T) {
	t.Parallel()
	const rows, budget = 200, 0.02
	server := cachetest.NewRedisServer(t)
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Latency: judgetest.Constant(2 * time.Millisecond)})
	var all sync.WaitGroup
	for _, id := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			if stderr, code := l.run(id, "--cache", server.URL, "--max-cost", fmt.Sprint(budget)); code != 4 {
				t.Errorf("run %s: exit code %d, want 4\n%s", id, code, stderr)
			}
		})
	}
	all.Wait()
	var one int64 // the dearest call
	for _, e := range l.server.Log() {
		one = max(one, e.NanoUSD)
	}
	spent, most := l.server.Counts().SpentNanoUSD, int64(budget*1e9)
	if spent > most+one || spent < most/2 {
		t.Errorf("four processes spent %d nano-USD of one budget of %d; a call costs at most %d", spent, most, one)
	}
	t.Logf("spent %d of %d", spent, most)
	l.must("a", "--cache", server.URL, "--max-cost", "5")
}
