package openrouter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"ibid/judge"
)

// A failureClass is a kind of failure by what to do about it. Its name stands in the
// store's audit.
type failureClass string

// The classes.
const (
	classOK        failureClass = "ok"
	classFlow      failureClass = "flow"      // too many requests: wait as long as told; does not count as an attempt
	classTransient failureClass = "transient" // the service or the way to it failed: try again
	classContent   failureClass = "content"   // an answer of no use: ask again and name the defect
	classRefused   failureClass = "refusal"   // the model or its provider will not answer: never again
	classRow       failureClass = "row"       // this request cannot be answered; others can
	classStop      failureClass = "stop"      // no request can be answered
)

// A failure is one call that brought no usable answer.
type failure struct {
	class  failureClass
	status int // of HTTP, 0 if there was none
	err    error
	delay  time.Duration // how long to wait at least, if hasDelay
	hinted bool
	reason judge.Reason     // of class Row and Refused
	stop   *judge.StopError // of class Stop
	// billed: the answer may be charged although nobody has seen its price.
	billed  bool
	free    bool   // it is the service's, and no attempt of the question
	adapted bool   // the request will be asked in another form
	halved  bool   // the question will be asked in halves
	words   string // what the service says, in lower case
}

func (f *failure) Error() string { return f.err.Error() }

// kind is the class of a call; f is nil if it has not failed.
func (f *failure) kind() failureClass {
	if f == nil {
		return classOK
	}
	return f.class
}

// classify says what kind of failure a call is; works says that its model has answered before.
// It returns nil if it is none.
func (j *Judge) classify(x *exchange, works bool) *failure {
	wire := x.failure()
	switch {
	case x.moved:
		f := &failure{status: x.status, err: x.err}
		j.stopping(f, judge.StopMoved)
		return f
	case x.err != nil:
		// No whole response. If the request went out, the provider may have
		// done its work and be paid for it.
		return &failure{class: classTransient, status: x.status, err: j.plain(x.err), billed: !neverSent(x.err)}
	case x.unsent != nil:
		f := &failure{err: j.plain(x.unsent)}
		j.stopping(f, judge.StopModel)
		f.stop.Hint = "look up the name of the model"
		return f
	case x.status/100 == 2 && wire == nil:
		return nil
	}
	status := x.status
	switch e := x.envelope.Error; {
	case status < 400 && wire != nil:
		status = wire.status()
	case e == nil || e.none:
		wire = &wireError{Message: cmpOr(x.envelope.Text, x.envelope.Detail, quoted(http.StatusText(status)))}
	}
	f := &failure{status: status, err: j.plain(fmt.Errorf("status %d: %s", status, excerpt(wire.text())))}
	f.words = strings.ToLower(strings.TrimSpace(string(wire.Param) + " " + string(wire.Type) + " " + string(wire.ErrorType) + " " + wire.text() + " " + string(wire.Metadata.Raw)))
	f.delay, f.hinted = delayOf(x.header, wire, time.Now())
	j.sort(f, wire, works)
	return f
}

// cmpOr is the first text that is not empty.
func cmpOr(texts ...json.RawMessage) json.RawMessage {
	for _, t := range texts {
		if s := string(t); s != "" && s != "null" && s != `""` {
			return t
		}
	}
	return nil
}

// sort sets the class of a response with an error; works says that the model has answered before.
func (j *Judge) sort(f *failure, e *wireError, works bool) {
	text := strings.ToLower(e.text())
	switch s := f.status; {
	case e.kind() == "context_length_exceeded", s != http.StatusTooManyRequests && tooLongWords.MatchString(f.words):
		f.class, f.reason = classRow, judge.TooLong
	case e.Availability != nil:
		f.class, f.reason = classRow, judge.Rejected
		if e.Availability.Retryable {
			f.class = classTransient
		}
		if e.Availability.Retryable && f.hinted {
			f.class = classFlow
		}
	case s == http.StatusTooManyRequests && quotaWords.MatchString(f.words), s == http.StatusPaymentRequired && !f.hinted,
		s == http.StatusForbidden && strings.Contains(text, "limit exceeded"):
		j.stopping(f, judge.StopCredit)
	case s == http.StatusTooManyRequests && dailyWords.MatchString(f.words) && (!f.hinted || f.delay > dailyWait):
		j.stopping(f, judge.StopRate)
	case s == http.StatusTooManyRequests, s == http.StatusPaymentRequired:
		f.class = classFlow
	case s == http.StatusUnauthorized,
		s == http.StatusForbidden && !works && !e.moderates() && !moderationWords.MatchString(f.words):
		j.stopping(f, judge.StopKey)
	case s == http.StatusForbidden:
		f.class, f.reason = classRefused, judge.Blocked
	case s == http.StatusNotFound && (!works || e.kind() == "constraint_filtered"),
		s == http.StatusBadRequest && strings.Contains(text, "not a valid model"):
		j.stopping(f, judge.StopModel)
	case s == http.StatusRequestEntityTooLarge:
		f.class, f.reason = classRow, judge.TooLong
	case s >= 400 && s < 500 && s != http.StatusRequestTimeout && s != http.StatusFailedDependency:
		f.class, f.reason = classRow, judge.Rejected
	default:
		f.class = classTransient // also 424: the model behind the server failed
	}
}

// What services say of limits that do not lift while a run waits, and of material
// that they will not look at.
var (
	quotaWords      = regexp.MustCompile(`insufficient_quota|exceeded your current quota`)
	dailyWords      = regexp.MustCompile(`per[ -]day|daily|per[ -]month|monthly`)
	moderationWords = regexp.MustCompile(`moderat|flagged|guardrail|content[ _]policy|content[ _]filter|safety`)
)

// dailyWait is from when on a delay that is told is that of a daily limit.
const dailyWait = time.Minute

// moderates reports whether the error is about the material.
func (e *wireError) moderates() bool {
	m := &e.Metadata
	return len(m.Reasons) > 0 || m.FlaggedInput != nil || len(m.Patterns) > 0
}

// neverSent reports whether no connection was made.
func neverSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

func (j *Judge) stopping(f *failure, reason judge.StopReason) {
	f.class = classStop
	f.stop = &judge.StopError{Reason: reason, Hint: Hint(f.err.Error()), Err: f.err}
	if hint := j.wire.at.hint(); hint != "" && f.status == http.StatusNotFound {
		f.stop.Hint = hint
	}
}

// refusal is the failure of an answer in which the model refuses, nil if it
// does not.
func refusal(c *choice) *failure {
	switch {
	case strings.TrimSpace(string(c.Message.Refusal)) != "":
		return &failure{class: classRefused, reason: judge.Blocked, status: http.StatusOK, err: fmt.Errorf("the model refuses: %s", excerpt(string(c.Message.Refusal)))}
	case c.FinishReason == "content_filter":
		return &failure{class: classRefused, reason: judge.Blocked, status: http.StatusOK, err: errors.New("the provider's filter took the answer back")}
	}
	return nil
}

// plain is an error without the key, and without the text of the request.
func (j *Judge) plain(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errTimeout
	}
	text := err.Error()
	if scrubbed := j.wire.secrets.text(text); scrubbed != text {
		return errors.New(scrubbed)
	}
	return err
}

var errTimeout = errors.New("no answer in time")

// excerptLength is how much of a foreign text a message repeats, in bytes.
const excerptLength = 300

// excerpt shortens a foreign text to one line.
func excerpt(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(s) <= excerptLength {
		return s
	}
	return strings.ToValidUTF8(s[:excerptLength], "") + "…"
}

// delayOf is how long a response asks to wait, in the order in which the forms
// are trusted: the header Retry-After (seconds, whole or not, or a date);
// error.availability.retry_after; metadata.retry_after_seconds; Retry-After
// among metadata.headers; X-RateLimit-Reset there or in the header, in
// milliseconds since 1970.
func delayOf(header http.Header, e *wireError, now time.Time) (d time.Duration, ok bool) {
	if d, ok := retryAfter(header.Get("Retry-After"), now); ok {
		return d, true
	}
	if a := e.Availability; a != nil && a.RetryAfter.told {
		return seconds(a.RetryAfter.value), true
	}
	if s := e.Metadata.RetryAfterSeconds; s.told {
		return seconds(s.value), true
	}
	if d, ok := retryAfter(e.nested("Retry-After"), now); ok {
		return d, true
	}
	for _, reset := range []string{e.nested("X-RateLimit-Reset"), header.Get("X-RateLimit-Reset")} {
		if ms, err := strconv.ParseInt(reset, 10, 64); err == nil && ms > 0 {
			return max(0, time.UnixMilli(ms).Sub(now)), true
		}
	}
	return 0, false
}

// nested is a header that stands in the metadata of an error, "" if it does not.
func (e *wireError) nested(name string) string {
	for key, value := range e.Metadata.Headers {
		if strings.EqualFold(key, name) {
			return string(value)
		}
	}
	return ""
}

// retryAfter reads the value of a Retry-After header.
func retryAfter(s string, now time.Time) (d time.Duration, ok bool) {
	s = strings.TrimSpace(s)
	if v, err := strconv.ParseFloat(s, 64); err == nil && v >= 0 {
		return seconds(v), true
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// maxDelay bounds a delay, so that a date in the far future stays a number.
const maxDelay = 24 * time.Hour

func seconds(v float64) time.Duration {
	if !(v > 0) {
		return 0
	}
	return time.Duration(math.Ceil(min(v, maxDelay.Seconds()) * float64(time.Second)))
}

// hints say what to do about a failure, by what its text says. The first that fits
// counts.
var hints = []struct {
	text *regexp.Regexp // of the text in lower case
	hint string
}{
	{regexp.MustCompile(`data policy|privacy|guardrail restrictions`), "allow its providers in the privacy settings of the account, or name another model"},
	{regexp.MustCompile(`requested parameters`), "leave require_parameters out of judge.request, or name another model"},
	{tooLongWords, "ask for less at once: performance.batch_size, judge.evidence: span, or a model that reads more"},
	{regexp.MustCompile(`a redirect to`), "if that is the service that you mean, set judge.base_url to it"},
	{regexp.MustCompile(`no such host|server misbehaving|name resolution`), "look at the host in judge.base_url, and at the network"},
	{regexp.MustCompile(`connection refused`), "start the server, or look at judge.base_url"},
	{regexp.MustCompile(`certificate|tls:`), "look at judge.base_url: its certificate is not one that this machine trusts"},
	{regexp.MustCompile(`no answer in time`), "raise judge.timeout, or lower judge.concurrency"},
	{regexp.MustCompile(`^status 401`), "set the API key of the judge in its environment variable"},
	{regexp.MustCompile(`^status 402|insufficient_quota|exceeded your current quota`), "add credit, or use another key; answers so far are kept"},
	{regexp.MustCompile(`^status 403`), "look at what the key and the account may use, or name another model"},
	{regexp.MustCompile(`^status 404`), "look up the name of the model, and judge.base_url"},
	{regexp.MustCompile(`^status 429`), "lower judge.rpm or judge.concurrency, or go on later"},
	{regexp.MustCompile(`^status 4`), "the service does not take the request: look at judge.model, judge.base_url and judge.request"},
	{regexp.MustCompile(`^status 5|reset by peer|broken pipe|eof`), "the service is in trouble: go on later"},
	{regexp.MustCompile(`refuses|filter`), "the model will not judge this material; another may"},
	{regexp.MustCompile(`limit of \d+ tokens`), "lower performance.batch_size, or name a model that may write more"},
	{regexp.MustCompile(`response is not json|goes on after|no choices|more than \d+ bytes`), "look at judge.base_url: something else than a model answers"},
	{regexp.MustCompile(`reply|claim|json|sentence|member|label`), "the model does not keep to the shape of replies; name another, or raise judge.retry_attempts"},
}

// Hint is what to do about a failure of which that is the text; "" if nobody knows.
func Hint(failure string) string {
	text := strings.ToLower(failure)
	for i := range hints {
		if hints[i].text.MatchString(text) {
			return hints[i].hint
		}
	}
	return ""
}

// windowWords are how services say how many tokens a model reads, in the same texts.
var windowWords = regexp.MustCompile(`(?:n_ctx|(?:context|model|input)[ _](?:length|size|window)(?: of this model)?|maximum number of tokens(?: allowed)?|limited to)["':=( ]*(?:is|of)? ?\(?(\d+)`)

// windowIn is how many tokens a model reads, as a refusal says; 0 if it does not say.
func windowIn(words string) int64 {
	m := windowWords.FindStringSubmatch(words)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(m[1], 10, 64) // one that is too long for a number says nothing
	return n
}

// tooLongWords are how services say that a prompt is longer than the model reads.
var tooLongWords = regexp.MustCompile(`context[ _](length|size|window)|exceed_context_size|maximum (model|input) length|prompt is too long|input is too long|reduce the length of|too many (input )?tokens|exceeds the maximum number of tokens`)
