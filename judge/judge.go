// Package judge asks whether evidence supports what an answer claims.
//
// A [Judge] takes the claims of one answer with the evidence they cite (a
// [Request]) and gives a [Verdict] on each. Kinds that need no network are
// [Human] (what people said), [Replay] (saved replies of a model, read by
// [Parse] as a live model's are) and [Lexical] (a baseline that compares
// wording).
//
// The package takes plain values and knows neither rows nor files of a data
// set. Offsets count Unicode code points, zero-based, and intervals are
// half-open. Support is a number in [0, 1]; an item without a verdict is
// unscored, which is never a number.
package judge

import (
	"context"
	"fmt"
)

// A Judge gives verdicts. It is safe for concurrent use, does not change the
// request, keeps nothing of it, and gives the same verdict on the same request.
type Judge interface {
	// Judge returns a verdict with one element per claim of r, in the order of
	// r. An error that is a [*RowFailure] leaves this request without a verdict
	// and says why; any other error, such as that of ctx, concerns the run.
	Judge(ctx context.Context, r *Request) (*Verdict, error)
	// Info says what judges. It does not change over the life of a judge.
	Info() Info
}

// A Live judge asks models over a network: it takes time, costs money, and bounds
// by itself what is under way. Many requests may wait on it at once.
type Live interface {
	Judge
	// Usage says what it has done so far. It may be called at any time.
	Usage() Usage
	// Close waits for what is under way and makes the answers durable. Nothing
	// may be asked after it.
	Close() error
}

// Info describes a judge.
type Info struct {
	Kind string // "human", "replay", "lexical", "openrouter" or "openai"
	// Model names what gave the verdicts: a language model, the label policy of
	// [Human], or the version of [Lexical]. It is "" if it is not known or
	// differs between verdicts; [Call] then has it.
	Model string
	// Prompt is the version of the prompts that a model is asked with, "" if none is.
	Prompt string
	// Baseline: the verdicts come from a simple method that others are measured
	// against, and are to be labelled so wherever they are shown.
	Baseline bool
}

// A Reason says why a row has no verdict.
type Reason string

// The reasons of this package's judges.
const (
	NoReply  Reason = "no_reply"  // no saved reply for the row
	BadReply Reason = "bad_reply" // the reply breaks a rule of [Parse]
	BadLabel Reason = "bad_label" // a human label that cannot be read

	// Of live judges.
	Blocked     Reason = "blocked"      // the model or its provider refused the material
	Rejected    Reason = "rejected"     // the service does not take the request
	TooLong     Reason = "too_long"     // longer than the model can read, even in parts
	NoAnswer    Reason = "no_answer"    // every attempt failed
	RateLimited Reason = "rate_limited" // a rate limit did not lift in time
)

// A RowFailure says that one request could not be judged. All of its items are
// unscored.
type RowFailure struct {
	Row    string // as in the request
	Reason Reason
	Err    error // what happened; may be nil
	// Calls is what was asked of a model all the same, as in [Verdict].
	Calls []Call
}

// Error reads: row q1/base: bad_reply: claim c2 is missing.
func (f *RowFailure) Error() string { return fmt.Sprintf("row %s: %s", f.Row, f.Cause()) }

// Cause is the error without the row: bad_reply: claim c2 is missing.
func (f *RowFailure) Cause() string {
	if f.Err == nil {
		return string(f.Reason)
	}
	return fmt.Sprintf("%s: %v", f.Reason, f.Err)
}

// Unwrap returns what happened.
func (f *RowFailure) Unwrap() error { return f.Err }

// A StopError says that a judge can answer nothing more: no request will be
// answered until the user does something about it, such as paying or naming
// another model. What was answered before it stands.
type StopError struct {
	Reason StopReason
	Err    error  // what happened; may be nil
	Tip    string // what to do about it
}

// A StopReason says why a judge stopped.
type StopReason string

// Why judges stop.
const (
	StopKey    StopReason = "the key is refused"
	StopCredit StopReason = "credits are used up"
	StopModel  StopReason = "the model is not to be had"
	StopBudget StopReason = "the budget is reached"
)

// Error reads: the budget is reached: $5.00 of $5.00 are spent.
func (e *StopError) Error() string {
	if e.Err == nil {
		return string(e.Reason)
	}
	return fmt.Sprintf("%s: %v", e.Reason, e.Err)
}

// Unwrap returns what happened.
func (e *StopError) Unwrap() error { return e.Err }

// Hint is what to do about it.
func (e *StopError) Hint() string { return e.Tip }
