package openrouter

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
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
	until    time.Time       // nobody is let in before
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
	if len(l.waiting) == 0 && l.room() {
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

// hold lets nobody in for d if the bound is down to one call: the service takes fewer
// than that, and whoever asked before would be refused, too.
func (l *limiter) hold(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.now().Add(d)
	if int(l.limit) > 1 || !until.After(l.until) {
		return
	}
	l.until = until
	time.AfterFunc(d, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.admit()
	})
}

func (l *limiter) room() bool { return l.inFlight < int(l.limit) && !l.now().Before(l.until) }

// admit lets in as many as there is room for.
func (l *limiter) admit() {
	for len(l.waiting) > 0 && l.room() {
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

// A pace is a ceiling of calls a minute; the zero pace is none.
type pace struct{ limiter *rate.Limiter }

func newPace(rpm int) pace {
	if rpm <= 0 {
		return pace{}
	}
	// Calls are spread evenly: services count within windows shorter than a
	// minute, too.
	return pace{rate.NewLimiter(rate.Every(time.Minute/time.Duration(rpm)), 1)}
}

func (p pace) wait(ctx context.Context) error {
	if p.limiter == nil {
		return nil
	}
	return p.limiter.Wait(ctx)
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// delayOf is how long a response asks to wait, in the order in which the forms
// are trusted: the header Retry-After (seconds, whole or not, or a date);
// error.availability.retry_after; metadata.retry_after_seconds; Retry-After
// among metadata.headers; X-RateLimit-Reset there or in the header, in
// milliseconds since 1970.
func delayOf(header http.Header, e *wireError, now time.Time) (d time.Duration, ok bool) {
	if d, ok := retryAfter(header.Get("Retry-After"), now); ok {
		return d, true
	}
	if a := e.Availability; a != nil && a.RetryAfter != nil {
		return seconds(*a.RetryAfter), true
	}
	if s := e.Metadata.RetryAfterSeconds; s != nil {
		return seconds(*s), true
	}
	if d, ok := retryAfter(e.nested("Retry-After"), now); ok {
		return d, true
	}
	for _, reset := range []string{e.nested("X-RateLimit-Reset"), header.Get("X-RateLimit-Reset")} {
		if ms, err := strconv.ParseInt(reset, 10, 64); err == nil && ms > 0 {
			return max(0, time.UnixMilli(ms).Sub(now)), true
		}
	}
	return 0, false
}

// nested is a header that stands in the metadata of an error, "" if it does
// not; its value may be a number.
func (e *wireError) nested(name string) string {
	for key, value := range e.Metadata.Headers {
		if !strings.EqualFold(key, name) {
			continue
		}
		var s string
		if json.Unmarshal(value, &s) == nil {
			return s
		}
		return string(value)
	}
	return ""
}

// retryAfter reads the value of a Retry-After header.
func retryAfter(s string, now time.Time) (d time.Duration, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil && v >= 0 {
		return seconds(v), true
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// maxDelay bounds a delay, so that a date in the far future stays a number.
const maxDelay = 24 * time.Hour

func seconds(v float64) time.Duration {
	if !(v > 0) {
		return 0
	}
	return time.Duration(math.Ceil(min(v, maxDelay.Seconds()) * float64(time.Second)))
}

// A circuit pauses all calls after a number of failures of the server in a row,
// so that an outage does not use up the attempts of every row.
type circuit struct {
	now      func() time.Time
	failures int
	pause    time.Duration

	mu    sync.Mutex
	inRow int
	until time.Time
}

func newCircuit(failures int, pause time.Duration, now func() time.Time) *circuit {
	return &circuit{now: now, failures: failures, pause: pause}
}

// wait waits until calls may go out.
func (c *circuit) wait(ctx context.Context) error {
	for {
		c.mu.Lock()
		d := c.until.Sub(c.now())
		c.mu.Unlock()
		if d <= 0 {
			return ctx.Err()
		}
		if err := sleep(ctx, d); err != nil {
			return err
		}
	}
}

// report takes note of a call that came back. After a pause one more failure is
// enough for the next.
func (c *circuit) report(serverFault bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !serverFault {
		c.inRow = 0
		return
	}
	if now := c.now(); now.After(c.until) {
		if c.inRow++; c.inRow >= c.failures {
			c.inRow = c.failures - 1
			c.until = now.Add(c.pause)
		}
	}
}

// paused reports whether calls wait.
func (c *circuit) paused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Before(c.until)
}
