package openrouter

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"ibid/judge"
	"ibid/judge/cache"
)

// A gate decides when calls to one model of one endpoint start, and when it is of no use to
// go on. It has one clock and one lock.
//
// Load. At most w calls are under way, and one starts every L/w seconds (L = smoothed
// latency), so that w below 1 is a pause. It is 1 until the first answer of use, or the fourth
// of none: until then requests change their form. Then it grows by 1 for each (slow start)
// until 6 of the last 12 calls sent are refused for their number: at a limit one refusal
// follows the other, and stray ones do not end it. From then on w is cut by a share s at a
// refusal and raised by it after 1/s answers; s halves at each change of direction and doubles
// after six changes in the same one, so that w settles at what the service takes.
//
// Clock. Calls that fail for the service's sake make it down: then one probe at a time goes
// out, and after a time without any answer the gate stops the judge.
type gate struct {
	most    float64       // calls under way
	warm    float64       // w after the first answer
	unit    time.Duration // of waits between probes, and after refusals that tell none
	outage  time.Duration // without any answer before the judge stops; 0 = no limit
	badCost int64         // nano-USD that replies of no use may cost; 0 = no limit
	rpm     bucket
	tpm     bucket

	mu       sync.Mutex
	changed  chan struct{} // closed when a call may start that could not before
	inFlight int
	w, step  float64
	slow     bool         // slow start
	latency  float64      // seconds
	next     time.Time    // no call starts before
	held     time.Time    // the same, by a delay that the service told
	refusals int          // in a row
	refusing time.Time    // since when there was nothing but refusals; zero if there are none
	cut      time.Time    // of the last cut
	rising   bool         // the last change of w
	moves    int          // in this direction
	answers  float64      // since the last change
	recent   [recent]bool // the last calls that were sent: refused for their number
	calls    int          // that were sent
	peak     float64      // w at the first cut of a descent
	peakLoss float64      // share of refusals in the calls after it; 0 if it is not known
	peakCall int          // calls that had been sent then, or when peakLoss was learnt
	strays   int          // calls for which refusals are ignored

	works    bool // it has answered
	useful   bool // with a reply of use, or some of none
	answered time.Time
	down     bool
	failures int       // of the service, in a row
	failing  time.Time // start of the first of them
	failer   cache.Key // question of the first of them
	many     bool      // they are of several questions
	probe    time.Time // when the next call may go out while it is down

	waste     int // replies of no use, less those of use
	wasteCost int64
	rejected  int // questions that were not taken, with nothing usable between
}

const (
	recent                 = 30    // calls over which the share of refusals is counted
	slowCalls, slowRefused = 12, 6 // end of slow start
	muchLoss               = 0.2   // share of refusals that no stray ones make
	leastStep              = 0.02
	mostStep               = 0.25
	strayCalls             = 300
	leastW                 = 0.02

	refusedFor   = 10 * time.Minute // nothing but refusals, or a delay of it, stops the judge
	wasteLimits  = 6                // from here on few calls are under way
	wasteWidth   = 4
	wasteStops   = 32
	rejectStops  = 20
	downAfter    = 3
	longestProbe = 3 // doublings of unit

	unusedAnswers = 3 // of no use, before another one lets more calls go out
	freeRPM       = 20
)

// A bucket lets so much through in a second, and holds the amount of one second.
type bucket struct {
	perSecond, level float64
	at               time.Time
}

// wait is how long n has to wait; an n above the capacity waits for a full bucket.
func (b *bucket) wait(now time.Time, n float64) time.Duration {
	if b.perSecond == 0 {
		return 0
	}
	capacity := max(1, b.perSecond)
	b.level = min(capacity, b.level+now.Sub(b.at).Seconds()*b.perSecond) // full at first: at is zero
	b.at = now
	return time.Duration(math.Ceil(max(0, min(n, capacity)-b.level) / b.perSecond * float64(time.Second)))
}

func newGate(c *Config, model string) *gate {
	g := &gate{
		most: float64(c.Concurrency), warm: 8, unit: c.Backoff, outage: c.MaxOutage, badCost: c.MaxCostNanoUSD / 4,
		w: 1, slow: true, changed: make(chan struct{}),
	}
	if c.loopback() {
		g.warm = 4
	}
	rpm := c.RPM
	if rpm == 0 && strings.HasSuffix(model, ":free") {
		rpm = freeRPM
	}
	g.rpm.perSecond, g.tpm.perSecond = float64(rpm)/60, float64(c.TPM)/60
	return g
}

// A ticket is one call under way.
type ticket struct {
	key    cache.Key // of its question
	sent   time.Time
	tokens float64 // estimated
	n      int     // calls that were sent before
}

// take waits until a call for a question, with about so many tokens, may start; back or
// giveBack must follow.
func (g *gate) take(ctx context.Context, key cache.Key, tokens int64) (ticket, error) {
	for {
		if err := ctx.Err(); err != nil {
			return ticket{}, err
		}
		g.mu.Lock()
		now := time.Now()
		wait := g.wait(now, float64(tokens))
		if wait <= 0 {
			n := g.calls
			g.recent[n%recent] = false
			g.calls++
			g.inFlight++
			g.rpm.level--
			g.tpm.level -= float64(tokens)
			g.next = now.Add(g.spacing())
			g.mu.Unlock()
			return ticket{key, now, float64(tokens), n}, nil
		}
		changed := g.changed
		g.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// wait is how long it takes until a call may start, an hour if one under way has to come back
// first.
func (g *gate) wait(now time.Time, tokens float64) (d time.Duration) {
	width := math.Ceil(min(g.w, g.most))
	switch {
	case g.down || !g.useful:
		width = 1
	case g.waste >= wasteLimits:
		width = min(width, wasteWidth)
	}
	if float64(g.inFlight) >= width {
		return time.Hour
	}
	if g.down {
		d = g.probe.Sub(now)
	}
	return max(d, g.next.Sub(now), g.held.Sub(now), g.rpm.wait(now, 1), g.tpm.wait(now, tokens))
}

// spacing is the time between the starts of two calls.
func (g *gate) spacing() time.Duration {
	share := 1.0
	if g.slow {
		share = 0.5
	}
	return time.Duration(share * g.latency / g.w * float64(time.Second))
}

// wake lets those that wait look again.
func (g *gate) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// giveBack ends a call that was not made, or that says nothing of the service.
func (g *gate) giveBack() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	g.wake()
}

// back ends a call, of which f says why it brought no usable answer; nil if it did. free
// says that the failure is the service's and no attempt of its question. The stop is what
// ends the judge, nil if it may go on.
func (g *gate) back(t ticket, f *failure, cost, tokens int64) (free bool, stop *judge.StopError) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.wake()
	g.inFlight--
	now := time.Now()
	if tokens > 0 {
		g.tpm.level -= float64(tokens) - t.tokens
	}
	class := f.kind()
	if class == classFlow && g.calls-t.n <= recent {
		g.recent[t.n%recent] = true
	}
	switch class {
	case classStop:
	case classFlow:
		return true, g.refused(t, f, now)
	case classTransient:
		return g.fail(t, f, now)
	default:
		g.answer(t, now, class)
		return false, g.judge(class, f, cost)
	}
	return false, nil
}

// answer takes note of any answer. w does not grow by one that does not take the question.
func (g *gate) answer(t ticket, now time.Time, class failureClass) {
	g.answered, g.failures, g.refusals, g.refusing = now, 0, 0, time.Time{}
	took := now.Sub(t.sent).Seconds()
	if g.latency == 0 {
		g.latency = took
	}
	g.latency = 0.9*g.latency + 0.1*took
	first := !g.useful && (class == classOK || class != classContent || g.waste >= unusedAnswers)
	switch {
	case first || g.down:
		g.works, g.useful, g.down, g.slow, g.w = true, true, false, true, max(g.w, g.warm)
		g.next = now
	case !g.useful:
		g.works = true
	case class != classOK && class != classContent:
	case g.slow:
		g.w++
	default:
		if g.answers++; g.answers >= 1/g.step {
			g.move(true)
		}
	}
	g.w = min(g.w, g.most)
	g.strays = max(0, g.strays-1)
}

// move raises or cuts w by a step.
func (g *gate) move(up bool) {
	if up != g.rising {
		g.step, g.moves = max(leastStep, g.step/2), 0
	}
	g.rising, g.answers = up, 0
	if up {
		g.w *= 1 + g.step
	} else {
		g.w = max(leastW, g.w*(1-g.step))
	}
	if g.moves++; g.moves >= 6 {
		g.step, g.moves = min(mostStep, 2*g.step), 0
	}
}

// refusedOf is how many of the last n calls that were sent were refused.
func (g *gate) refusedOf(n int) (refused int) {
	for i := range min(n, g.calls) {
		if g.recent[(g.calls-1-i)%recent] {
			refused++
		}
	}
	return refused
}

// refused takes note of a refusal for the number of calls. Refusals of calls that were sent
// before the last cut say nothing new.
func (g *gate) refused(t ticket, f *failure, now time.Time) *judge.StopError {
	g.refusals++
	if g.refusing.IsZero() {
		g.refusing = now
	}
	loss := float64(g.refusedOf(recent)) / float64(min(recent, g.calls))
	switch {
	case f.delay > refusedFor:
		return stopFor(judge.StopRate, fmt.Errorf("%w; it asks to wait %v, until %s", f.err, f.delay.Round(time.Second), now.Add(f.delay).Local().Format(time.DateTime)), "go on later")
	case now.Sub(g.refusing) > refusedFor:
		return stopFor(judge.StopRate, fmt.Errorf("%w; there was no answer for %v", f.err, refusedFor), "go on later")
	case g.strays > 0 && loss <= muchLoss || t.sent.Before(g.cut):
		return nil
	case g.slow && g.works && g.refusedOf(slowCalls) < slowRefused:
		return nil
	}
	if g.slow {
		g.slow, g.step, g.rising = false, 0.5, false
	}
	switch since := g.calls - g.peakCall; {
	case g.w >= g.peak: // a small rise between cuts is no end of a descent
		g.peak, g.peakLoss, g.peakCall = g.w, 0, g.calls
	case since < recent:
	case g.peakLoss == 0:
		if loss <= muchLoss {
			g.peakLoss, g.peakCall = loss, g.calls
		}
	case g.w < 0.6*g.peak && loss >= max(g.peakLoss/2, 0.05):
		// Fewer calls are refused as often: the refusals are not for their number.
		g.w, g.step, g.strays, g.rising = g.peak, mostStep, strayCalls, true
		return nil
	}
	if loss > muchLoss {
		g.step = max(g.step, mostStep)
	}
	g.move(false)
	g.cut = now
	if g.w <= 1.5 {
		wait := f.delay
		if !f.hinted {
			wait = min(30*time.Second, g.unit/2<<min(g.refusals-1, 10))
		}
		if until := now.Add(wait); until.After(g.held) {
			g.held = until
		}
	}
	return nil
}

// fail takes note of a failure of the service.
func (g *gate) fail(t ticket, f *failure, now time.Time) (free bool, stop *judge.StopError) {
	if g.failures++; g.failures == 1 {
		g.failing, g.failer, g.many = t.sent, t.key, false
	}
	if t.sent.Before(g.failing) {
		g.failing = t.sent
	}
	g.many = g.many || t.key != g.failer // else it may be the question
	g.down = g.down || !g.works || g.failures >= downAfter && g.many
	if !g.down {
		return false, nil
	}
	g.probe = now.Add(max(f.delay, g.unit<<min(max(g.failures-downAfter, 0), longestProbe)))
	since := g.failing
	if g.answered.After(since) {
		since = g.answered
	}
	if g.outage > 0 && g.failures >= downAfter && now.Sub(since) >= g.outage {
		return true, stopFor(judge.StopService, fmt.Errorf("no answer for %v: %w", now.Sub(since).Round(time.Second), f.err), Hint(f.err.Error()))
	}
	return true, nil
}

// judge takes note of what an answer is worth.
func (g *gate) judge(class failureClass, f *failure, cost int64) *judge.StopError {
	switch class {
	case classOK:
		g.rejected = 0
		if g.waste = max(0, g.waste-1); g.waste == 0 {
			g.wasteCost = 0
		}
	case classContent:
		g.rejected = 0
		g.waste++
		if g.wasteCost += cost; g.waste >= wasteStops || g.badCost > 0 && g.wasteCost > g.badCost {
			return stopFor(judge.StopReplies, fmt.Errorf("%d replies more are of no use than of use: %w", g.waste, f.err), Hint(f.err.Error()))
		}
	default:
		if f.halved || class == classRefused && f.status == http.StatusOK {
			return nil // what is asked instead is shorter; a model that refuses has read its request
		}
		if g.rejected++; g.rejected >= rejectStops {
			return stopFor(judge.StopRequests, fmt.Errorf("%d questions in a row: %w", g.rejected, f.err), Hint(f.err.Error()))
		}
	}
	return nil
}

func stopFor(reason judge.StopReason, err error, hint string) *judge.StopError {
	return &judge.StopError{Reason: reason, Err: err, Hint: hint}
}

// hears takes note that the service has answered in another way than by a call.
func (g *gate) hears() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.useful {
		g.works, g.useful, g.w = true, true, min(g.warm, g.most)
	}
	g.answered = time.Now()
	g.wake()
}

// state is how many calls are under way, and whether the service has answered.
func (g *gate) state() (inFlight int64, works bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return int64(g.inFlight), g.works
}

// works reports whether the service has answered for the model.
func (m *member) works() bool {
	_, works := m.gate.state()
	return works
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
