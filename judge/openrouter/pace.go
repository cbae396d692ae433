package openrouter

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

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
