package openrouter

import (
	"context"
	"errors"
	"sync"

	"ibid/judge/cache"
)

// flights lets equal requests of one process wait for the first of them.
type flights struct {
	mu    sync.Mutex
	under map[cache.Key]*flight
}

type flight struct {
	done   chan struct{}
	answer *answer
	err    error
}

// do calls f once for equal keys at the same time. first is false for those
// that waited. When the one that is waited for gives up because its own context
// ended, the next takes its place.
func (g *flights) do(ctx context.Context, key cache.Key, f func() (*answer, error)) (a *answer, first bool, err error) {
	for {
		g.mu.Lock()
		if g.under == nil {
			g.under = make(map[cache.Key]*flight)
		}
		w := g.under[key]
		if w == nil {
			w = &flight{done: make(chan struct{})}
			g.under[key] = w
			g.mu.Unlock()
			w.answer, w.err = f()
			g.mu.Lock()
			delete(g.under, key)
			g.mu.Unlock()
			close(w.done)
			return w.answer, true, w.err
		}
		g.mu.Unlock()
		select {
		case <-w.done:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
		if !errors.Is(w.err, context.Canceled) && !errors.Is(w.err, context.DeadlineExceeded) {
			return w.answer, false, w.err
		}
	}
}
