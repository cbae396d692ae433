package openrouter

import (
	"sync"
	"sync/atomic"

	"ibid/judge"
)

// counters are what has happened so far.
type counters struct {
	rows, settledRows, settledClaims, settledCitations atomic.Int64

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
	Rows          int64 // requests for verdicts
	Asked         int64 // calls on the wire, whatever became of them
	Answers       int64 // usable answers from the wire
	Cached        int64 // answers that were there before
	Retries       int64 // calls after the first for the same question
	RateLimited   int64 // calls refused for their number, part of Retries or Failed
	Repaired      int64 // answers that took a repair turn
	Failed        int64 // questions without an answer
	SettledRows   int64 // rows for which no model had to be asked: calls saved
	SettledClaims int64 // claims settled without a model
	// SettledCitations are citations that no model was asked about: invalid
	// ones, and those of settled claims.
	SettledCitations int64
	// PromptTokens and CompletionTokens are those of all answers, cached ones
	// too.
	PromptTokens, CompletionTokens int64
	// CostNanoUSD is what calls have cost, UncertainNanoUSD the part of it that
	// stands for calls that broke after they were sent and may be charged.
	CostNanoUSD, UncertainNanoUSD int64
	// CachedNanoUSD is what cached answers cost when they were given.
	CachedNanoUSD int64
	// SavedNanoUSD estimates what the settled rows would have cost: an average
	// answer each.
	SavedNanoUSD int64
	// InFlight calls are under way of at most Limit, which adapts to the
	// service's limits.
	InFlight, Limit int
	Paused          bool // calls wait for the service to recover
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
	s := Stats{
		Rows: c.rows.Load(), Asked: c.asked.Load(), Answers: c.answers.Load(), Cached: c.cached.Load(), Retries: c.retries.Load(),
		RateLimited: c.rateLimited.Load(), Repaired: c.repaired.Load(), Failed: c.failed.Load(),
		SettledRows: c.settledRows.Load(), SettledClaims: c.settledClaims.Load(), SettledCitations: c.settledCitations.Load(),
		PromptTokens: c.promptTokens.Load(), CompletionTokens: c.completionTokens.Load(), CachedNanoUSD: c.savedCost.Load(),
		Paused: j.circuit.paused(), AnsweredBy: make(map[Answerer]int64),
	}
	s.CostNanoUSD, s.UncertainNanoUSD = j.budget.totals()
	s.CostNanoUSD -= j.config.SpentNanoUSD
	s.InFlight, s.Limit = j.limiter.state()
	if n := s.Answers + s.Cached; n > 0 {
		s.SavedNanoUSD = s.SettledRows * (s.CostNanoUSD + s.CachedNanoUSD) / n
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for who, n := range c.answeredBy {
		s.AnsweredBy[who] = n
	}
	s.Dropped = append(s.Dropped, c.dropped...)
	s.Notes = append(s.Notes, c.notes...)
	return s
}

// Usage is the part of [Judge.Stats] that all live judges have.
func (j *Judge) Usage() judge.Usage {
	s := j.Stats()
	return judge.Usage{
		Asked: s.Asked, Cached: s.Cached, Retries: s.Retries, Failed: s.Failed, InFlight: int64(s.InFlight), Limit: int64(s.Limit),
		CostNanoUSD: s.CostNanoUSD, Prechecked: s.SettledCitations, CallsSaved: s.SettledRows, SavedNanoUSD: s.SavedNanoUSD,
		PromptTokens: s.PromptTokens, CompletionTokens: s.CompletionTokens,
	}
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

// settled notes what no model needs to see of a row: invalid citations, and claims that
// are not open.
func (c *counters) settled(r *judge.Request, open []int) {
	c.settledCitations.Add(int64(len(r.Invalid)))
	c.settledClaims.Add(int64(len(r.Claims) - len(open)))
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
