package openrouter

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"ibid/judge"
)

// counters are what has happened so far.
type counters struct {
	settledRows, settledCitations atomic.Int64

	asked, answers, cached, retries atomic.Int64
	failed, rateLimited, repaired   atomic.Int64
	promptTokens, completionTokens  atomic.Int64
	savedCost                       atomic.Int64

	mu         sync.Mutex
	answeredBy map[Answerer]int64
	dropped    []string
	notes      []string
}

// An Answerer is who gave an answer.
type Answerer struct{ Model, Provider string }

// Stats are what a judge has done so far.
type Stats struct {
	judge.Usage
	RateLimited int64 // calls refused for their number, part of Retries or Failed
	Repaired    int64 // answers that took a repair turn
	// CachedNanoUSD is what cached answers cost when they were given.
	CachedNanoUSD int64
	Paused        bool // calls wait for the service to recover
	// AnsweredBy counts answers, cached ones too. More than one answerer of a
	// model means that the judge changed during the run.
	AnsweredBy map[Answerer]int64
	// Dropped are parameters left out because no provider that is allowed takes
	// them, as "model: parameter".
	Dropped []string
	// Notes say what was learnt of a model and changed about its requests.
	Notes []string
}

// Stats returns a snapshot.
func (j *Judge) Stats() Stats {
	c := &j.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	down := false
	for _, m := range j.members {
		_, _, _, is := m.gate.state()
		down = down || is
	}
	return Stats{
		Usage: j.Usage(), RateLimited: c.rateLimited.Load(), Repaired: c.repaired.Load(), CachedNanoUSD: c.savedCost.Load(), Paused: down,
		AnsweredBy: maps.Clone(c.answeredBy), Dropped: slices.Clone(c.dropped), Notes: slices.Clone(c.notes),
	}
}

// Usage is the part of [Judge.Stats] that all live judges have. SavedNanoUSD is an average
// answer for each row that no model had to see.
func (j *Judge) Usage() judge.Usage {
	c := &j.counts
	u := judge.Usage{
		Asked: c.asked.Load(), Cached: c.cached.Load(), Retries: c.retries.Load(), Failed: c.failed.Load(),
		Prechecked: c.settledCitations.Load(), CallsSaved: c.settledRows.Load(),
		PromptTokens: c.promptTokens.Load(), CompletionTokens: c.completionTokens.Load(),
	}
	spent, _ := j.budget.totals()
	u.CostNanoUSD = spent - j.config.SpentNanoUSD
	for _, m := range j.members {
		inFlight, limit, _, _ := m.gate.state()
		u.InFlight, u.Limit = u.InFlight+inFlight, u.Limit+limit
	}
	if n := c.answers.Load() + u.Cached; n > 0 {
		u.SavedNanoUSD = u.CallsSaved * (u.CostNanoUSD + c.savedCost.Load()) / n
	}
	return u
}

// answered notes an answer and who gave it.
func (c *counters) answered(call *judge.Call) {
	c.promptTokens.Add(call.PromptTokens)
	c.completionTokens.Add(call.CompletionTokens)
	who := Answerer{call.Model, call.Provider}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answeredBy == nil {
		c.answeredBy = make(map[Answerer]int64)
	}
	c.answeredBy[who]++
}

// settled notes what no model needs to see: invalid citations, and rows without an open
// claim.
func (c *counters) settled(r *judge.Request, open []int) {
	c.settledCitations.Add(int64(len(r.Invalid)))
	if len(open) == 0 && len(r.Claims) > 0 {
		c.settledRows.Add(1)
	}
}

// drop notes a parameter that is left out.
func (c *counters) drop(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped = append(c.dropped, what)
}

// note takes note of what was learnt of a model.
func (c *counters) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, text)
}
