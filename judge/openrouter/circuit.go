package openrouter

import (
	"context"
	"sync"
	"time"
)

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
