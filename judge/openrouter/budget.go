package openrouter

import (
	"context"
	"errors"
	"sync"
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
	unsure   int64 // part of spent: of calls whose price is not known
	reserved int64
	open     int           // reservations
	priced   int64         // calls whose cost is known
	paid     int64         // for them
	perToken float64       // most that one of them has cost, in USD
	blind    int64         // calls without a price that may be charged
	changed  chan struct{} // closed when a reservation ends
}

var errBudget = errors.New("the budget is used up")

func newBudget(limit, spent int64) *budget {
	return &budget{limit: limit, spent: spent, changed: make(chan struct{})}
}

// reserve sets the most that a call can cost aside; unknown if most is
// negative. It waits while only calls under way stand in the way. The error is
// errBudget if the budget is used up.
func (b *budget) reserve(ctx context.Context, most int64) (held int64, err error) {
	for {
		b.mu.Lock()
		left := b.limit - b.spent - b.reserved
		switch {
		case b.limit == 0:
			b.mu.Unlock()
			return 0, nil
		case most >= 0 && most <= left:
			b.reserved += most
			b.open++
			b.mu.Unlock()
			return most, nil
		case b.open == 0 && left > 0 && left >= b.average(most):
			// Alone: all that is left stands for it.
			b.reserved += left
			b.open++
			b.mu.Unlock()
			return left, nil
		case b.open == 0:
			b.mu.Unlock()
			return 0, errBudget
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
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
			b.count(b.blind * b.average(0))
			b.blind = 0
		}
	case !known && cost == 0 && b.priced > 0:
		cost = b.average(0)
		b.unsure += cost
	case !known && cost == 0:
		b.blind++
	case !known:
		b.unsure += cost
	}
	b.spent += cost
	return cost
}

// count adds a cost that is not known for sure.
func (b *budget) count(cost int64) {
	b.spent += cost
	b.unsure += cost
}

// rate is the most that a token has cost, in USD; 0 if no call has told.
func (b *budget) rate() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.perToken
}

// totals are what is spent, and which part of it is estimated.
func (b *budget) totals() (spent, unsure int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent, b.unsure
}
