package openrouter

import (
	"slices"
	"sync"
	"sync/atomic"

	"ibid/judge"
)

// counters are what has happened so far.
type counters struct {
	settledRows, settledCitations           atomic.Int64
	asked, answers, cached, retries, failed atomic.Int64
	promptTokens, completionTokens          atomic.Int64
	savedCost                               atomic.Int64

	mu    sync.Mutex
	notes []string
}

// Notes say what was learnt of the models and changed about requests.
func (j *Judge) Notes() []string {
	j.counts.mu.Lock()
	defer j.counts.mu.Unlock()
	return slices.Clone(j.counts.notes)
}

// Usage is what the judge has done so far. SavedNanoUSD is an average answer for each row
// that no model had to see.
func (j *Judge) Usage() judge.Usage {
	c := &j.counts
	u := judge.Usage{
		Asked: c.asked.Load(), Cached: c.cached.Load(), Retries: c.retries.Load(), Failed: c.failed.Load(),
		Prechecked: c.settledCitations.Load(), CallsSaved: c.settledRows.Load(),
		PromptTokens: c.promptTokens.Load(), CompletionTokens: c.completionTokens.Load(),
	}
	u.CostNanoUSD = j.budget.total() - j.config.SpentNanoUSD
	for _, m := range j.members {
		inFlight, limit, _ := m.gate.state()
		u.InFlight, u.Limit = u.InFlight+inFlight, u.Limit+limit
	}
	if n := c.answers.Load() + u.Cached; n > 0 {
		u.SavedNanoUSD = u.CallsSaved * (u.CostNanoUSD + c.savedCost.Load()) / n
	}
	return u
}

// answered takes note of an answer.
func (c *counters) answered(call *judge.Call) {
	c.promptTokens.Add(call.PromptTokens)
	c.completionTokens.Add(call.CompletionTokens)
}

// settled notes what no model needs to see: invalid citations, and rows without an open
// claim.
func (c *counters) settled(r *judge.Request, open []int) {
	c.settledCitations.Add(int64(len(r.Invalid)))
	if len(open) == 0 && len(r.Claims) > 0 {
		c.settledRows.Add(1)
	}
}

// note takes note of what was learnt of a model.
func (c *counters) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, text)
}
