package openrouter

import (
	"errors"
	"math"
	"testing"
	"testing/synctest"
)

// TestReserve: what a call can cost is set aside, then replaced by what it did cost. When
// less is left, a call goes out alone as long as there is enough for an average one.
func TestReserve(t *testing.T) {
	b := newBudget(100, 10)
	first, err := b.reserve(t.Context(), 50)
	if err != nil || first != 50 || b.room() != 40 {
		t.Fatalf("held %d, %v; room for %d", first, err, b.room())
	}
	if got := b.settle(first, 30, true, 3); got != 30 || b.room() != 60 {
		t.Errorf("counted %d, room for %d", got, b.room())
	}
	if math.Abs(b.rate()-1e-8) > 1e-15 {
		t.Errorf("a token costs %v", b.rate())
	}
	all, err := b.reserve(t.Context(), 60)
	if err != nil || all != 60 || b.room() != 0 {
		t.Fatalf("held %d, %v; room for %d", all, err, b.room())
	}
	b.settle(all, 30, true, 1)
	// 30 are left, which is an average call, but not all that this one can cost.
	alone, err := b.reserve(t.Context(), 70)
	if err != nil || alone != 30 || b.room() != 0 {
		t.Fatalf("alone: held %d, %v; room for %d", alone, err, b.room())
	}
	b.settle(alone, 20, true, 1)
	if _, err := b.reserve(t.Context(), 70); !errors.Is(err, errBudget) {
		t.Errorf("10 are left, an average call is of 26: %v", err)
	}
	if b.total() != 90 || math.Abs(b.rate()-3e-8) > 1e-15 {
		t.Errorf("spent %d, %v a token", b.total(), b.rate())
	}
}

// TestCostsThatNobodyKnows are counted as the most that they can be; without a price as an
// average call, once there is one.
func TestCostsThatNobodyKnows(t *testing.T) {
	b := newBudget(0, 0)
	settle := func(cost int64, known bool, counted, spent int64) {
		t.Helper()
		h, err := b.reserve(t.Context(), 5)
		if err != nil || h != 0 || b.room() != math.MaxInt64 {
			t.Errorf("without a limit held %d, %v; room for %d", h, err, b.room())
		}
		if got := b.settle(h, cost, known, 0); got != counted {
			t.Errorf("counted %d, want %d", got, counted)
		}
		if got := b.total(); got != spent {
			t.Errorf("spent %d, want %d", got, spent)
		}
	}
	settle(0, true, 0, 0)   // free
	settle(0, false, 0, 0)  // there is no price yet
	settle(7, false, 7, 7)  // the most that it can be
	settle(0, false, 0, 7)  // still no price
	settle(4, true, 4, 19)  // one: the two calls without a price cost as much
	settle(8, true, 8, 27)  // on average 6
	settle(0, false, 6, 33) // an average call
	if b.rate() != 0 {
		t.Errorf("no call told its tokens, and one costs %v", b.rate())
	}
}

// TestBudgetWaits: a call waits while others under way hold what it needs, and goes when one
// of them ends.
func TestBudgetWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100, 0)
		first, _ := b.reserve(t.Context(), 80)
		done := make(chan int64)
		go func() {
			h, err := b.reserve(t.Context(), 60)
			if err != nil {
				t.Error(err)
			}
			done <- h
		}()
		synctest.Wait()
		select {
		case h := <-done:
			t.Errorf("%d was set aside beside 80 of 100", h)
		default:
		}
		b.settle(first, 10, true, 1)
		if h := <-done; h != 60 || b.room() != 30 {
			t.Errorf("held %d, room for %d", h, b.room())
		}
	})
}

// TestBudgetOfBatches: what a batch can cost is set aside until it is known.
func TestBudgetOfBatches(t *testing.T) {
	b := newBudget(100, 0)
	b.batch(70, 0)
	if b.room() != 30 {
		t.Errorf("room for %d beside a batch of 70", b.room())
	}
	b.batch(-70, 20)
	if b.room() != 80 || b.total() != 20 {
		t.Errorf("room for %d, spent %d", b.room(), b.total())
	}
	// Nothing is known of what a call costs: it needs what it can cost at most.
	if _, err := b.reserve(t.Context(), 81); !errors.Is(err, errBudget) {
		t.Errorf("81 of 80: %v", err)
	}
	if h, err := b.reserve(t.Context(), -1); err != nil || h != 80 {
		t.Errorf("a call of unknown price holds %d, %v; want all that is left", h, err)
	}
}
