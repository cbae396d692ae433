package openrouter

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"ibid/judge/cache"
)

// A budget bounds what is spent. What a call can cost at most is reserved
// before it is sent and replaced by what it did cost, so that calls under way
// at the same time cannot exceed it together.
//
// When less is left than a call can cost at most, calls go out one by one, as
// long as there is enough for one of average cost: the budget is used up, and
// exceeded by less than the cost of one call.
type budget struct {
	limit int64 // 0 = none

	mu       sync.Mutex
	spent    int64
	reserved int64
	open     int           // reservations
	priced   int64         // calls whose cost is known
	paid     int64         // for them
	perToken float64       // most that one of them has cost, in USD
	blind    int64         // calls without a price that may be charged
	changed  chan struct{} // closed when a reservation ends
}

var errBudget = errors.New("the budget is used up")

const budgetHint = "raise judge.max_cost_usd and run again: answers so far are kept"

func newBudget(limit, spent int64) *budget {
	return &budget{limit: limit, spent: spent, changed: make(chan struct{})}
}

// reserve sets the most that a call can cost aside; unknown if most is
// negative. It waits while only calls under way stand in the way. The error is
// errBudget if the budget is used up.
func (b *budget) reserve(ctx context.Context, most int64) (held int64, err error) {
	for {
		held, changed, err := b.try(most)
		if changed == nil {
			return held, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// try is reserve without waiting: changed is what to wait for, nil if there is nothing.
func (b *budget) try(most int64) (held int64, changed chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.limit - b.spent - b.reserved
	switch {
	case b.limit == 0:
		return 0, nil, nil
	case most >= 0 && most <= left:
		held = most
	case b.open == 0 && left > 0 && left >= b.average(most):
		held = left // alone: all that is left stands for it
	case b.open == 0:
		return 0, nil, errBudget
	default:
		return 0, b.changed, nil
	}
	b.reserved += held
	b.open++
	return held, nil, nil
}

// average is what calls have cost so far; at first what one can cost at most,
// if that is known.
func (b *budget) average(most int64) int64 {
	if b.priced == 0 {
		return max(most, 0)
	}
	return b.paid / b.priced
}

// settle replaces a reservation by the cost of its call and returns what was
// counted. known is false if the call may be charged and nobody knows how much:
// cost is then the most it can be, or 0 if there is no price, for which an
// average call is counted as soon as there is one.
func (b *budget) settle(held, cost int64, known bool, tokens int64) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit > 0 {
		b.reserved -= held
		b.open--
		close(b.changed)
		b.changed = make(chan struct{})
	}
	switch {
	case known && cost > 0:
		b.priced++
		b.paid += cost
		if tokens > 0 {
			b.perToken = max(b.perToken, float64(cost)/1e9/float64(tokens))
		}
		if b.blind > 0 {
			b.spent += b.blind * b.average(0)
			b.blind = 0
		}
	case !known && cost == 0 && b.priced > 0:
		cost = b.average(0)
	case !known && cost == 0:
		b.blind++
	}
	b.spent += cost
	return cost
}

// room is how much may still be set aside.
func (b *budget) room() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit == 0 {
		return math.MaxInt64
	}
	return b.limit - b.spent - b.reserved
}

// batch changes what is set aside for batches, and adds what one has cost. No call waits for
// it: a batch takes hours.
func (b *budget) batch(reserved, cost int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved += reserved
	b.spent += cost
}

// rate is the most that a token has cost, in USD; 0 if no call has told.
func (b *budget) rate() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.perToken
}

// total is what is spent.
func (b *budget) total() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Leases run out soon, so that nobody waits long for a process that was
// killed, and are renewed while their calls last.
const (
	leaseTTL   = 15 * time.Second
	leaseRenew = 4 * time.Second
	// Waiting for another process' answer: first and longest time between two
	// looks.
	leasePoll    = 20 * time.Millisecond
	leasePollMax = 500 * time.Millisecond
)

// lease takes the right to ask for key and renews it until release gives it back, also when
// the run has been interrupted. release is nil if somebody else has the right.
func (j *Judge) lease(ctx context.Context, key cache.Key) (release func(), err error) {
	held, err := j.store.Acquire(ctx, key, j.owner, leaseTTL)
	if err != nil || !held {
		return nil, err
	}
	renewing, stop := context.WithCancel(context.Background())
	go func() {
		for sleep(renewing, leaseRenew) == nil {
			// A lease that cannot be renewed runs out: the worst is a request
			// asked twice. The call itself will meet the store's error.
			_, _ = j.store.Acquire(renewing, key, j.owner, leaseTTL)
		}
	}()
	return func() {
		stop()
		_ = j.store.Release(context.Background(), key, j.owner) // one that cannot be given back runs out
	}, nil
}

// hold waits until the right to ask for key is here, or its answer is there.
func (j *Judge) hold(ctx context.Context, key cache.Key) (release func(), e *cache.Entry, err error) {
	for poll := leasePoll; ; poll = min(2*poll, leasePollMax) {
		release, err := j.lease(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		// Another process may have answered since the last look; now that the
		// lease is held, nobody else can.
		e, err := j.store.Get(ctx, key)
		switch {
		case release == nil:
		case e == nil && err == nil:
			return release, nil, nil
		default:
			release()
		}
		if e != nil || err != nil {
			return nil, e, err
		}
		if err := sleep(ctx, poll); err != nil {
			return nil, nil, err
		}
	}
}

// once calls f once for equal keys at the same time. first is false for those
// that waited. When the one that is waited for gives up because its own context
// ended, the next takes its place.
func (j *Judge) once(ctx context.Context, key cache.Key, f func() (*answer, error)) (a *answer, first bool, err error) {
	for {
		got, err, _ := j.asked.Do(string(key[:]), func() (any, error) {
			first = true
			return f()
		})
		if first || ctx.Err() != nil || !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			return got.(*answer), first, err
		}
	}
}
