package openrouter

import (
	"context"
	"crypto/rand"
	"time"

	"ibid/judge/cache"
)

// A pot is the budget that processes of several machines share.
type pot struct {
	store cache.Shared
	name  string
	lapse time.Duration
}

const (
	// lapseLeast is after how long a call that was not settled is taken for one of a
	// process that was killed: nobody waits for it any more.
	lapseLeast = 10 * time.Minute
	potPoll    = 50 * time.Millisecond
	potPollMax = time.Second
)

func newPot(store cache.Shared, name string, timeout time.Duration) *pot {
	return &pot{store: store, name: name, lapse: max(lapseLeast, 2*timeout)}
}

// reserve is [budget.reserve] for all processes; average is what a call has cost so far.
func (p *pot) reserve(ctx context.Context, most, average, limit int64) (held, error) {
	h := held{call: rand.Text()}
	for poll := potPoll; ; poll = min(2*poll, potPollMax) {
		n, err := p.store.Reserve(ctx, cache.Reservation{Budget: p.name, Call: h.call, Limit: limit, Most: most, Least: average, Lapse: p.lapse})
		switch {
		case err != nil:
			return held{}, err
		case n == cache.UsedUp:
			return held{}, errBudget
		case n != cache.UnderWay:
			h.most = n
			return h, nil
		}
		if err := sleep(ctx, poll); err != nil {
			return held{}, err
		}
	}
}

// turn waits until the service may be called, by the store where processes share one.
func (j *Judge) turn(ctx context.Context) error {
	if err := j.circuit.wait(ctx); err != nil {
		return err
	}
	if j.shared == nil {
		return j.pace.wait(ctx)
	}
	for {
		wait, granted, err := j.shared.Turn(ctx, j.config.endpoint(), gapOf(j.config.RPM))
		if err != nil {
			return err
		}
		if err := sleep(ctx, wait); err != nil || granted {
			return err
		}
	}
}

// called takes note of a call that came back. The pause after an outage is one of all
// processes.
func (j *Judge) called(serverFault bool) {
	if paused := j.circuit.report(serverFault); paused && j.shared != nil {
		// Where the store is away, too, the others find out for themselves.
		_ = j.shared.Pause(j.halted, j.config.endpoint(), j.config.CircuitPause)
	}
}
