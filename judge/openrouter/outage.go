package openrouter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ibid/judge"
)

// When a judge gives up on its service.
const (
	outageQuestions = 20               // in a row, whose last attempt failed in one way
	outageTime      = 10 * time.Second // over which they did at least
)

// An opening lets one question to a model go alone until one has shown that the
// service answers: a wrong key, a wrong name or a service that is down is found with
// a few calls, and what is learnt of the model is learnt once.
type opening struct {
	turn chan struct{} // held by the question that is alone
	open chan struct{} // closed when all may ask
	once sync.Once

	failures int // calls, and questions, that failed so far; of whoever has the turn
}

func newOpening() *opening {
	return &opening{turn: make(chan struct{}, 1), open: make(chan struct{})}
}

// enter waits until all may ask, or until it is this question's turn. alone is true
// then, and leave must follow.
func (o *opening) enter(ctx context.Context) (alone bool, err error) {
	select {
	case <-o.open:
		return false, nil
	default:
	}
	select {
	case <-o.open:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case o.turn <- struct{}{}:
	}
	select {
	case <-o.open:
		o.leave()
		return false, nil
	default:
		return true, nil
	}
}

func (o *opening) leave() { <-o.turn }

// passed reports whether all may ask.
func (o *opening) passed() bool {
	select {
	case <-o.open:
		return true
	default:
		return false
	}
}

// succeed lets all ask.
func (o *opening) succeed() { o.once.Do(func() { close(o.open) }) }

// works reports whether the service has answered for any of the models.
func (j *Judge) works() bool {
	return slices.ContainsFunc(j.members, func(m *member) bool { return m.opening.passed() })
}

// An outage notices that a service is of no use any more. It is safe for concurrent
// use.
type outage struct {
	now  func() time.Time
	most time.Duration // without any answer; 0 = no limit

	mu        sync.Mutex
	answered  time.Time    // the last answer came
	since     time.Time    // from when calls failed after the last answer, zero if there was none
	class     failureClass // in which questions were given up
	questions int          // in a row
	first     time.Time    // of them
}

// succeeded takes note of an answer.
func (o *outage) succeeded() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered, o.since, o.questions = o.now(), time.Time{}, 0
}

// failed takes note of a call that failed, by its begin, and reports whether there has
// been no answer for too long. The time that a call hangs counts.
func (o *outage) failed(began time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if began.Before(o.answered) {
		began = o.answered
	}
	if o.since.IsZero() || began.Before(o.since) {
		o.since = began
	}
	return o.most > 0 && o.now().Sub(o.since) >= o.most
}

// gaveUp takes note of a question whose last attempt failed, and reports whether
// there are too many of its kind in a row.
func (o *outage) gaveUp(class failureClass) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	if o.questions == 0 || class != o.class {
		o.class, o.questions, o.first = class, 0, now
	}
	o.questions++
	return o.questions >= outageQuestions && now.Sub(o.first) >= outageTime
}

// failing decides what a failed call means for the run: nil if the question may go
// on, else the stop.
func (c *conversation) failing(f *failure) error {
	j := c.judge
	if f.class == classStop {
		return j.stop(f.stop)
	}
	if f.class == classRefused || f.class == classRow && f.reason == judge.TooLong {
		// The service works: it has read the material.
		c.member.opening.succeed()
		return nil
	}
	if j.outage.failed(c.began) {
		return j.giveUp(f, fmt.Sprintf("no answer for %v", j.config.MaxOutage))
	}
	if !c.alone || f.class == classFlow || f.shaped {
		return nil
	}
	if c.member.opening.failures++; c.member.opening.failures > j.config.Retries {
		return j.giveUp(f, fmt.Sprintf("the first %s", counted(c.member.opening.failures, "call")))
	}
	return nil
}

// leftOpen decides what a question that stays without an answer means for the run.
func (c *conversation) leftOpen(f *failure) error {
	if c.alone && f.shaped {
		// One question may be hard; the first few together show that the model is not up
		// to it.
		if c.member.opening.failures++; c.member.opening.failures > c.judge.config.Retries {
			return c.judge.giveUp(f, fmt.Sprintf("the first %s", counted(c.member.opening.failures, "question")))
		}
	}
	if (f.class == classTransient || f.class == classContent) && c.judge.outage.gaveUp(f.class) {
		return c.judge.giveUp(f, fmt.Sprintf("%d questions in a row", outageQuestions))
	}
	return nil
}

// giveUp stops the judge for a failure that is not of one question.
func (j *Judge) giveUp(f *failure, what string) error {
	reason := judge.StopService
	if f.class == classContent {
		reason = judge.StopReplies
	} else if f.class == classRow {
		reason = judge.StopRequests
	}
	return j.stop(&judge.StopError{Reason: reason, Err: fmt.Errorf("%s: %w", what, f.err), Hint: Hint(f.err.Error())})
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// errHalted ends the waits of a judge that has stopped.
var errHalted = errors.New("the judge has stopped")
