package openrouter

import (
	"context"
	"errors"
	"fmt"

	"ibid/judge"
	"ibid/judge/cache"
)

// A question is one request whose answer is kept as a whole.
type question struct {
	member  *member
	request request
	// read checks a reply and returns what to keep of it. defects are what it
	// had to take back, err is why it cannot be used.
	read func(content string) (verdict []byte, defects []string, err error)
	// replies is how many more whole replies may be paid for; shared by the
	// questions of one row.
	replies *int
	repairs bool // a reply of no use is shown to the model again with its defect
	schema  string
}

// An answer is what is kept of a reply, and what it took.
type answer struct {
	verdict []byte
	call    judge.Call
}

// unanswered is a question that stays without an answer.
type unanswered struct {
	reason judge.Reason
	err    error
	call   judge.Call
}

func (u *unanswered) Error() string { return fmt.Sprintf("%s: %v", u.reason, u.err) }

func (u *unanswered) Unwrap() error { return u.err }

// ask answers a question: from the store, by waiting for whoever is asking the
// same, or by asking.
func (j *Judge) ask(ctx context.Context, q *question) (*answer, error) {
	key := q.request.key()
	if a, err := j.kept(ctx, key); a != nil || err != nil {
		return a, err
	}
	a, first, err := j.flights.do(ctx, key, func() (*answer, error) {
		e, err := j.leases.hold(ctx, key)
		if err != nil {
			return nil, err
		}
		if e != nil {
			return j.fromEntry(e), nil
		}
		defer j.leases.release(key)
		a, err := j.converse(ctx, q, key)
		if _, failed := errors.AsType[*unanswered](err); failed {
			j.counts.failed.Add(1)
		}
		return a, err
	})
	if a != nil && !first {
		// Who waited has paid nothing.
		shared := *a
		shared.call.Cached, shared.call.Attempts = true, 0
		j.counts.cached.Add(1)
		return &shared, nil
	}
	return a, err
}

// kept is the answer that the store has, nil if it has none.
func (j *Judge) kept(ctx context.Context, key cache.Key) (*answer, error) {
	if j.store == nil {
		return nil, nil
	}
	e, err := j.store.Get(ctx, key)
	if e == nil || err != nil {
		return nil, err
	}
	return j.fromEntry(e), nil
}

func (j *Judge) fromEntry(e *cache.Entry) *answer {
	j.counts.cached.Add(1)
	j.counts.savedCost.Add(e.CostNanoUSD)
	call := callOf(e)
	call.Cached = true
	j.counts.answered(&call)
	return &answer{verdict: e.Verdict, call: call}
}

// callOf is what an answer took when it was given.
func callOf(e *cache.Entry) judge.Call {
	return judge.Call{
		Model: e.ModelResolved, Provider: e.Provider, Repaired: e.Status == cache.StatusRepaired,
		PromptTokens: e.PromptTokens, CompletionTokens: e.CompletionTokens, CostNanoUSD: e.CostNanoUSD,
		LatencyMillis: e.LatencyMillis, GenerationID: e.GenerationID, Status: "ok",
	}
}
