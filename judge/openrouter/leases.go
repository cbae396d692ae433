package openrouter

import (
	"context"
	"sync"
	"time"

	"ibid/judge/cache"
)

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

// leases keeps those that are held.
type leases struct {
	store cache.Store // nil if there are none
	owner string

	mu   sync.Mutex
	held map[cache.Key]bool
	stop context.CancelFunc
	done chan struct{}
}

func newLeases(store cache.Store, owner string) *leases {
	l := &leases{store: store, owner: owner, held: make(map[cache.Key]bool)}
	if store == nil {
		return l
	}
	ctx, stop := context.WithCancel(context.Background())
	l.stop, l.done = stop, make(chan struct{})
	go l.renew(ctx)
	return l
}

// close ends the renewal.
func (l *leases) close() {
	if l.store != nil {
		l.stop()
		<-l.done
	}
}

func (l *leases) renew(ctx context.Context) {
	defer close(l.done)
	tick := time.NewTicker(leaseRenew)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		l.mu.Lock()
		keys := make([]cache.Key, 0, len(l.held))
		for k := range l.held {
			keys = append(keys, k)
		}
		l.mu.Unlock()
		var wg sync.WaitGroup
		for _, k := range keys {
			// A lease that cannot be renewed runs out: the worst is a request
			// asked twice. The call itself will meet the store's error.
			wg.Go(func() { _, _ = l.store.Acquire(ctx, k, l.owner, leaseTTL) })
		}
		wg.Wait()
	}
}

// hold waits until the right to ask for key is here, or its answer is there.
func (l *leases) hold(ctx context.Context, key cache.Key) (*cache.Entry, error) {
	if l.store == nil {
		return nil, nil
	}
	for poll := leasePoll; ; poll = min(2*poll, leasePollMax) {
		held, err := l.store.Acquire(ctx, key, l.owner, leaseTTL)
		if err != nil {
			return nil, err
		}
		if held {
			l.mu.Lock()
			l.held[key] = true
			l.mu.Unlock()
		}
		// Another process may have answered since the last look; now that the
		// lease is held, nobody else can.
		e, err := l.store.Get(ctx, key)
		if err != nil || e != nil {
			if held {
				l.release(key)
			}
			return e, err
		}
		if held {
			return nil, nil
		}
		if err := sleep(ctx, poll); err != nil {
			return nil, err
		}
	}
}

// release gives a lease back, also when the run has been interrupted.
func (l *leases) release(key cache.Key) {
	if l.store == nil {
		return
	}
	l.mu.Lock()
	delete(l.held, key)
	l.mu.Unlock()
	// One that cannot be given back runs out.
	_ = l.store.Release(context.Background(), key, l.owner)
}
