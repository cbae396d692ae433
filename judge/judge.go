// Package judge asks whether evidence supports what an answer claims.
//
// A [Judge] takes the claims of one answer with the evidence they cite (a
// [Request]) and gives a [Verdict] on each. Kinds that need no network are
// [Human] (what people said), [Recorded] (what another program said of the citations of a
// row) and [Lexical] (a baseline that compares
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
	"time"
	"unicode/utf8"

	"ibid"
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
	Kind string // "human", "recorded", "lexical", "openrouter" or "openai"
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
	NoReply  Reason = "no_reply"  // a table of verdicts says nothing of the row
	BadReply Reason = "bad_reply" // the reply breaks a rule of [Parse]
	BadLabel Reason = "bad_label" // a human label that cannot be read

	BadVerdict Reason = "bad_verdict" // a recorded verdict that cannot be read, or does not fit the row

	// Of live judges.
	Blocked  Reason = "blocked"   // the model or its provider refused the material
	Rejected Reason = "rejected"  // the service does not take the request
	TooLong  Reason = "too_long"  // longer than the model can read, even in parts
	NoAnswer Reason = "no_answer" // every attempt failed
)

// A RowFailure says that nothing of one request could be judged. All of its items are
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
	Hint   string // what to do about it
}

// An Interrupt is the cause of a context that ends while something is under way that
// is paid for. Nothing new is asked then, and answers are waited for as long as Grace
// says. A context that ends for another cause ends calls at once.
type Interrupt struct{ Grace time.Duration }

func (e *Interrupt) Error() string { return "interrupted" }

// A StopReason says why a judge stopped.
type StopReason string

// Why judges stop.
const (
	StopKey    StopReason = "the key is refused"
	StopCredit StopReason = "credits are used up"
	StopModel  StopReason = "the model is not to be had"
	StopBudget StopReason = "the budget is reached"

	StopService  StopReason = "the service does not answer"
	StopRequests StopReason = "the service takes no request"
	StopReplies  StopReason = "the model does not reply as it is asked to"
	StopMoved    StopReason = "the service sends requests elsewhere, where they do not follow"
	StopPrice    StopReason = "what calls cost is not known, so the budget cannot be kept"
	StopRate     StopReason = "the rate limit does not lift in time"

	StopBatches   StopReason = "the service takes no batches"
	StopUndecided StopReason = "nobody can tell what became of a batch"
	StopCancelled StopReason = "a batch was cancelled at the service"

	StopEmbedder StopReason = "the endpoint of embeddings does not answer"
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

// clip shortens s for a message, at a code point.
func clip(s string) string {
	const longest = 60
	if len(s) <= longest {
		return s
	}
	n := longest
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// A Request puts the claims of one answer to a judge.
//
// Indices between its lists must be in range. It is not changed while a judge
// reads it.
type Request struct {
	// Row names the row, as "id/system". It finds saved replies and stands in
	// messages; it is never shown to a model.
	Row string

	Question string
	Answer   string
	// Claims are what is judged. A judge reads their text and their citations, and
	// counts them by their position; their verdicts here are not read.
	Claims []ibid.Claim

	// Evidence is the text that valid citations point to, in the order of the
	// citations, each at most once. A citation without evidence has no known text. What
	// [AddPassages] adds stands behind it.
	Evidence []Evidence

	// Sources are the whole texts known to the row, for what a claim could have
	// cited and did not.
	Sources []Source

	Labels []HumanLabel

	// Invalid are the citations that point nowhere, with the reason. No judge is
	// asked about them; those that pass verdicts on citations say none, not
	// relevant, and the reason.
	Invalid []InvalidCitation
}

// An InvalidCitation is a citation that was found wrong before judging.
type InvalidCitation struct {
	Citation int    // index of the row's citation
	Reason   string // such as document_not_found
}

// Cited appends to into what claim c cites: indices of r.Evidence, ascending.
func (r *Request) Cited(c int, into []int) []int {
	e := 0
	for _, citation := range r.Claims[c].Citations {
		for e < len(r.Evidence) && r.Evidence[e].Citation < int(citation) {
			e++
		}
		if e < len(r.Evidence) && r.Evidence[e].Citation == int(citation) {
			into = append(into, e)
		}
	}
	return into
}

// Evidence is the text one citation points to, and what stands around it.
type Evidence struct {
	Text     string // the cited words: support must come from them
	Citation int    // index of the row's citation, or NoCitation

	Doc string // name of the document, "" if it is not known; shown to nobody

	// Title of the document, and what stands before and after the cited words: for
	// what they refer to. A judge that cannot tell them apart reads Text alone.
	Title, Before, After string

	Cut bool  // it was cut out of a longer text, which is not known
	At  Place // where Text stands, if nothing cites it
}

// Passage is what a reader sees of e: equal ones are the same evidence.
func (e Evidence) Passage() Evidence {
	e.Citation, e.Doc, e.At = 0, "", Place{}
	return e
}

// A Source is one whole text: a page, or a document without pages.
type Source struct {
	Doc   string
	Page  int32 // one-based; 0 if the document has no pages
	Text  string
	Cited []Interval // what citations point to in it, in any order
}

// An Interval is the half-open interval [Start, End) of code points of a text.
type Interval struct {
	Start, End int32
	Citation   int // index of the row's citation; read in Source.Cited only
}

// A HumanLabel is what one person said of a claim, of a citation, or of a claim
// with a citation, which are named by their position.
type HumanLabel struct {
	ibid.Label     // with a value
	Claim      int // index of Request.Claims, -1 if the label is on a citation alone
	Citation   int // index of the row's citation, -1 if the label is on a claim alone
}

// A Verdict is what a judge says of one request.
type Verdict struct {
	Claims []ClaimVerdict // one per claim, in the order of the request
	Calls  []Call         // what was asked of a model; nil if none was

	// Tampering says whether the material tries to steer its review, as in
	// [ibid.Tamperings]; "" if the judge does not look.
	Tampering string

	// Opinions are the verdicts that this one was combined from, if there were
	// several: of the models of a panel, or of votes.
	Opinions []Opinion
}

// An Opinion is one of several verdicts on a request.
type Opinion struct {
	Model  string // as it was asked for
	Vote   int    // from 0, in the order in which they were asked
	Claims []ClaimVerdict
}

// A ClaimVerdict is what a judge says of one claim.
type ClaimVerdict struct {
	Factual       ibid.Tri // whether the claim can be checked
	NeedsCitation ibid.Tri // Unset: as Factual

	// Joint is the support by all cited evidence taken together. It is None,
	// without being asked, for a claim that cites nothing.
	Joint        ibid.Support
	JointWhy     string
	Overlap      ibid.Number // of [Lexical]: the share of the claim's words that the cited evidence has
	Contradicted ibid.Tri    // by its cited evidence; Unset: the judge does not ask

	// Checks has one element per citation that the judge was asked about:
	// those with evidence, in the order of the claim's citations; for [Human]
	// all of them.
	Checks []Check

	// Sufficient are the smallest sets of the claim's evidence (indices of
	// Request.Evidence, ascending) of which each carries the claim alone; nil if
	// the judge was not asked.
	Sufficient [][]int

	// Elsewhere is the best support by evidence that the claim does not cite,
	// unscored if the judge does not look.
	Elsewhere ibid.Support
	// ElsewherePlace is where that is, if it is in Request.Sources.
	ElsewherePlace *Place
	// ElsewhereEvidence is the element of Request.Evidence that it is in, -1 if
	// none; ElsewhereAt is where in its text, ElsewhereQuote what the judge copied,
	// ElsewhereAligned what stands there, as in [Check].
	ElsewhereEvidence int
	ElsewhereAt       Interval
	ElsewhereQuote    string
	ElsewhereAligned  string

	Votes int // how many opinions Joint is made of; 0 if it was not asked

	// Unscored says why there is no verdict on the claim, of which JointWhy has the words; ""
	// if there is one. Nothing else is said of the claim then.
	Unscored Reason
	Absent   int // opinions without a verdict on the claim
	Surplus  int // of replies: what they say of the claim that was not asked

	// Precheck says by what the claim was settled before a model was asked, as
	// "blank"; "" if it was not.
	Precheck string
}

// NewVerdict is a verdict that says nothing of n claims yet.
func NewVerdict(n int) *Verdict {
	v := &Verdict{Claims: make([]ClaimVerdict, n)}
	for c := range v.Claims {
		v.Claims[c].ElsewhereEvidence = -1
	}
	return v
}

// UnscoredClaim is what stands for the verdict on a claim that has none.
func UnscoredClaim(reason Reason, why string) ClaimVerdict {
	return ClaimVerdict{Unscored: reason, JointWhy: why, ElsewhereEvidence: -1}
}

// A Place is a passage of one source in code points.
type Place struct {
	Doc        string
	Page       int32 // one-based; 0 if the document has no pages
	Start, End int32
}

// A Check is what a judge says of one claim and one citation of it.
type Check struct {
	Evidence int // index of Request.Evidence, -1 if the request has no text of the citation
	Citation int // index of the row's citation
	Support  ibid.Support
	Relevant ibid.Tri
	// Quote is the passage that decides, as the judge copied it from the evidence;
	// "" if none. QuoteAt is where it stands in Evidence's text, empty if it is not
	// there. Aligned is what stands there, if it differs from Quote in more than
	// white space, else "".
	Quote   string
	QuoteAt Interval
	Aligned string
	Why     string
	Overlap ibid.Number // as in [ClaimVerdict], of this evidence alone

	// Precheck says by what the check was settled before a model was asked: the
	// reason of [Request.Invalid]; "" if it was not.
	Precheck string
}

// A Call is one question to a model, however often it had to be asked.
type Call struct {
	Model, Provider  string // who answered; the model asked for if nobody did
	Cached, Repaired bool
	Attempts         int // requests sent for it; 0 if it was cached
	// Tokens, cost, latency and generation are those of the answer, whenever it
	// was given.
	PromptTokens     int64
	CompletionTokens int64
	CostNanoUSD      int64
	LatencyMillis    int64
	GenerationID     string
	Status           string // "ok", or why there is no answer
	Error            string // what the last attempt met, in words; "" if there is an answer
}

// A Usage says what a judge that asks models has done so far. It counts over the
// life of the judge, which is one process.
type Usage struct {
	Asked       int64 // calls that were sent, retries among them
	Cached      int64 // calls that the cache answered
	Retries     int64 // calls that were sent again
	Failed      int64 // requests that ended without a verdict
	InFlight    int64 // calls under way
	CostNanoUSD int64 // of all calls, also of those without use

	Answered      int64 // calls with a reply of use
	AnswerNanoUSD int64 // what they cost
	ListNanoUSD   int64 // what they would cost by the prices that the endpoint tells, with answers of the usual length and no hidden reasoning; 0 if it tells none
	HiddenTokens  int64 // of their reasoning
}
