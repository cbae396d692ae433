package openrouter

import (
	"slices"
	"sync"
	"sync/atomic"

	"ibid/judge"
)

// counters are what has happened so far.
type counters struct {
	asked, cached, retries, failed       atomic.Int64
	answered, answerCost, listed, hidden atomic.Int64

	mu    sync.Mutex
	notes []string
}

// Notes say what was learnt of the models and changed about requests.
func (j *Judge) Notes() []string {
	j.counts.mu.Lock()
	defer j.counts.mu.Unlock()
	return slices.Clone(j.counts.notes)
}

// Usage is what the judge has done so far.
func (j *Judge) Usage() judge.Usage {
	c := &j.counts
	u := judge.Usage{
		Asked: c.asked.Load(), Cached: c.cached.Load(), Retries: c.retries.Load(), Failed: c.failed.Load(),
		CostNanoUSD: j.budget.total() - j.config.SpentNanoUSD,
		Answered:    c.answered.Load(), AnswerNanoUSD: c.answerCost.Load(), ListNanoUSD: c.listed.Load(), HiddenTokens: c.hidden.Load(),
	}
	for _, m := range j.members {
		inFlight, _ := m.gate.state()
		u.InFlight += inFlight
	}
	return u
}

// note takes note of what was learnt of a model.
func (c *counters) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, text)
}
