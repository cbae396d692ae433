package openrouter

import (
	"context"
	"sync"
	"time"
)

// A limiter bounds how many calls are under way. It starts at the most and
// adapts by losses: a share of refusals that only overload explains makes the
// bound smaller, a small one, as stray refusals leave, lets it grow. A bound
// that shrank at every refusal would collapse under a few stray ones; one that
// followed latency would take a model's long answers for overload.
type limiter struct {
	now func() time.Time
	max float64

	mu       sync.Mutex
	limit    float64
	inFlight int
	waiting  []chan struct{} // closed to let one in, in order
	begun    time.Time       // of the window
	sent     int             // calls of the window that came back
	lost     int             // of them refused for their number
}

// The loss thresholds and steps were found by measurement against a limit of
// requests a second, one of requests in flight, and stray refusals.
const (
	lossWindow  = 2 * time.Second
	lossSamples = 20 // fewer say nothing
	lossCut     = 0.15
	lossGrow    = 0.08
	cutFactor   = 0.8
	growFactor  = 1.1
)

func newLimiter(most int, now func() time.Time) *limiter {
	return &limiter{now: now, max: float64(most), limit: float64(most), begun: now()}
}

// acquire waits for room.
func (l *limiter) acquire(ctx context.Context) error {
	l.mu.Lock()
	if len(l.waiting) == 0 && l.inFlight < int(l.limit) {
		l.inFlight++
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, w := range l.waiting {
			if w == turn {
				l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
				return ctx.Err()
			}
		}
		// It was let in meanwhile: pass the room on.
		l.inFlight--
		l.admit()
		return ctx.Err()
	}
}

// release gives the room back. refused: the call was refused for the number of
// calls.
func (l *limiter) release(refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	l.sent++
	if refused {
		l.lost++
	}
	l.adapt()
	l.admit()
}

// adapt moves the bound once a window.
func (l *limiter) adapt() {
	now := l.now()
	if now.Sub(l.begun) < lossWindow || l.sent < lossSamples {
		return
	}
	switch loss := float64(l.lost) / float64(l.sent); {
	case loss >= lossCut:
		l.limit = max(1, l.limit*cutFactor)
	case loss <= lossGrow:
		l.limit = min(l.max, max(l.limit+1, l.limit*growFactor))
	}
	l.begun, l.sent, l.lost = now, 0, 0
}

// admit lets in as many as there is room for.
func (l *limiter) admit() {
	for len(l.waiting) > 0 && l.inFlight < int(l.limit) {
		l.inFlight++
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
	}
}

// state is how many calls are under way and how many may be.
func (l *limiter) state() (inFlight, limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inFlight, int(l.limit)
}
