package cachetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"ibid/judge/cache"
)

// Shared checks what [cache.Shared] promises beyond [cache.Store]. The stores that open
// gives are those of several processes at one server, which is empty for each call of
// server.
func Shared(t *testing.T, server func(t *testing.T) (open func() cache.Shared)) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, func() cache.Shared)
	}{
		{"turns are apart", turnsAreApart},
		{"pause holds all", pauseHoldsAll},
		{"budget holds", budgetHolds},
		{"last of a budget is for one", lastIsForOne},
		{"settling twice counts once", settlingTwice},
		{"nobody waits for a lost call", lostCall},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, server(t)) })
	}
}

func turnsAreApart(t *testing.T, open func() cache.Shared) {
	const gap, each = time.Second, 5
	began := time.Now()
	var mu sync.Mutex
	var last time.Duration
	together(4, func(int) {
		s := open()
		for range each {
			wait, granted, err := s.Turn(t.Context(), "service", gap)
			if err != nil || !granted {
				t.Errorf("Turn = %v, %v", granted, err)
			}
			mu.Lock()
			last = max(last, time.Since(began)+wait)
			mu.Unlock()
		}
	})
	if want := (4*each - 1) * gap; last < want-time.Millisecond {
		t.Errorf("the last of %d turns is after %v, want %v at least", 4*each, last, want)
	}
	if wait, granted, err := open().Turn(t.Context(), "other", gap); wait != 0 || !granted || err != nil {
		t.Errorf("first turn at another service: %v, %v, %v", wait, granted, err)
	}
	if wait, granted, err := open().Turn(t.Context(), "service", 0); wait != 0 || !granted || err != nil {
		t.Errorf("turn without a limit: %v, %v, %v", wait, granted, err)
	}
}

func pauseHoldsAll(t *testing.T, open func() cache.Shared) {
	if err := open().Pause(t.Context(), "service", time.Hour); err != nil {
		t.Fatal(err)
	}
	if wait, granted, err := open().Turn(t.Context(), "service", 0); granted || err != nil || wait < 50*time.Minute || wait > time.Hour {
		t.Errorf("Turn in a pause of an hour = %v, %v, %v", wait, granted, err)
	}
	if _, granted, err := open().Turn(t.Context(), "other", 0); !granted || err != nil {
		t.Errorf("Turn at another service = %v, %v", granted, err)
	}
}

func reserve(t *testing.T, s cache.Shared, call string, most, least int64) int64 {
	t.Helper()
	held, err := s.Reserve(t.Context(), cache.Reservation{Budget: "b", Call: call, Limit: 1000, Most: most, Least: least, Lapse: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func settle(t *testing.T, s cache.Shared, call string, cost int64) {
	t.Helper()
	if err := s.Settle(t.Context(), "b", call, cost); err != nil {
		t.Fatal(err)
	}
}

func budgetHolds(t *testing.T, open func() cache.Shared) {
	var mu sync.Mutex
	var spent int64
	together(4, func(n int) {
		s := open()
		for i := 0; ; i++ {
			call := fmt.Sprint(n, " ", i)
			held := reserve(t, s, call, 30, 10)
			if held == cache.UsedUp {
				return
			}
			if held == cache.UnderWay {
				time.Sleep(time.Millisecond)
				continue
			}
			mu.Lock()
			spent += 10
			mu.Unlock()
			settle(t, s, call, 10)
		}
	})
	if spent != 1000 {
		t.Errorf("%d spent of 1000, where every call cost 10", spent)
	}
}

func lastIsForOne(t *testing.T, open func() cache.Shared) {
	a, b := open(), open()
	for _, step := range []struct {
		s     cache.Shared
		call  string
		most  int64
		least int64
		want  int64
	}{
		{a, "1", 900, 5, 900},
		{b, "2", 200, 5, cache.UnderWay},
		{b, "3", 100, 5, 100},
	} {
		if got := reserve(t, step.s, step.call, step.most, step.least); got != step.want {
			t.Fatalf("call %s of %d got %d, want %d", step.call, step.most, got, step.want)
		}
	}
	settle(t, b, "3", 0)
	settle(t, a, "1", 900)
	if got := reserve(t, b, "4", 200, 5); got != 100 {
		t.Errorf("alone: %d, want all that is left, 100", got)
	}
	settle(t, b, "4", 97)
	if got := reserve(t, a, "5", -1, 5); got != cache.UsedUp {
		t.Errorf("with 3 left and calls of 5: %d, want %d", got, cache.UsedUp)
	}
	if got := reserve(t, a, "6", -1, 0); got != 3 {
		t.Errorf("a call of no known cost, alone: %d, want 3", got)
	}
}

func settlingTwice(t *testing.T, open func() cache.Shared) {
	s := open()
	for range 2 { // as after an answer that was lost on its way
		if got := reserve(t, s, "1", 600, 1); got != 600 {
			t.Fatalf("got %d, want 600", got)
		}
	}
	for range 2 {
		settle(t, s, "1", 100)
	}
	if got := reserve(t, s, "2", 900, 1); got != 900 {
		t.Errorf("got %d, want the 900 that are left", got)
	}
}

func lostCall(t *testing.T, open func() cache.Shared) {
	s := open()
	lost := cache.Reservation{Budget: "b", Call: "lost", Limit: 1000, Most: 700, Lapse: time.Millisecond}
	if held, err := s.Reserve(t.Context(), lost); held != 700 || err != nil {
		t.Fatal(held, err)
	}
	time.Sleep(20 * time.Millisecond)
	if got := reserve(t, s, "next", 400, 1); got != 300 {
		t.Errorf("got %d, want what a lost call has left, 300", got)
	}
}
