package judgetest

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Fault is the name of a way in which an answer goes wrong.
type Fault string

// A fault is an error in place of an answer, if it has a status, else an answer of which a text,
// a member or the way it is sent is changed. Answers are charged, unless it is free.
type fault struct {
	name        Fault
	group       string
	status      int
	after, body string // Retry-After, and what comes with the status
	text        func(reply string) string
	change      func(e, choice object)
	send        func(t *turn, body []byte)
	free        bool
}

// errorTable has the errors: group, name, status, Retry-After and body. SECONDS, DECIMAL, DATE
// and MILLIS are the forms of the time at which to come again.
//
//go:embed errors.tsv
var errorTable string

// faults has the other faults, and those of the table before them.
var faults = append(readErrors(), []fault{
	{name: "choice_error_200", group: "retryable", free: true, text: half, change: func(_, choice object) {
		choice["finish_reason"], choice["error"] = "error", object{"code": 502, "message": "Provider disconnected"}
	}},
	// The answer is lost on its way.
	{name: "hang", group: "retryable", send: (*turn).hang},
	{name: "reset", group: "retryable", free: true, send: func(t *turn, _ []byte) { t.cut(nil) }},
	{name: "reset_mid_body", group: "retryable", send: func(t *turn, body []byte) { t.cut(body[:len(body)/2]) }},
	{name: "malformed_json", group: "retryable", send: func(t *turn, body []byte) { t.send(body[:len(body)/2]) }},
	{name: "trailing_garbage", group: "retryable", send: func(t *turn, body []byte) { t.send(slices.Concat(body, []byte("\n"), body)) }},
	// The answer is of no use.
	{name: "null_content", group: "retryable", change: func(_, choice object) { choice["message"].(object)["content"] = nil }},
	{name: "empty_content", group: "retryable", text: func(string) string { return "" }},
	{name: "truncated_content", group: "retryable", text: half, change: func(_, choice object) {
		choice["finish_reason"], choice["native_finish_reason"] = "length", "max_tokens"
	}},
	{name: "schema_mismatch", group: "retryable", text: func(s string) string { return strings.Replace(s, `"joint_why"`, `"jointWhy"`, 1) }},
	{name: "plain_prose", group: "retryable", text: func(string) string { return prose }},
	{name: "missing_items", group: "retryable", text: withoutLast},
	{name: "unknown_id", group: "retryable", text: edited(func(a *Answer) { a.Claims[len(a.Claims)-1].ID = "c999" })},
	{name: "invented_quote", group: "retryable", text: edited(func(a *Answer) {
		for _, c := range a.Claims {
			for k := range c.Checks {
				c.Checks[k].Support, c.Checks[k].Quote = "full", "these words stand nowhere in the evidence"
			}
		}
	})},
	{name: "fenced", group: "harmless", text: func(s string) string { return "```json\n" + s + "\n```" }},
	{name: "prose", group: "harmless", text: func(s string) string { return "Here is my audit:\n" + s + "\nLet me know if {you} need more." }},
	{name: "draft", group: "harmless", text: func(s string) string { return "<think>\nPerhaps " + withoutLast(s) + " will do?\n</think>\n\n" + s }},
	{name: "keepalive_ws", group: "harmless", send: func(t *turn, body []byte) { t.drip(append(slices.Repeat([]byte("\n"), len(body)), body...)) }},
	{name: "slow_drip", group: "harmless", send: (*turn).drip},
	// Costs and counts are strings, ids are numbers; an absent member has the value false or [].
	{name: "odd_envelope", group: "harmless", change: func(e, choice object) {
		usage := e["usage"].(object)
		e["id"], e["created"], e["error"] = 4711, "yesterday", nil
		usage["cost"], usage["prompt_tokens"] = strconv.FormatFloat(usage["cost"].(float64), 'f', -1, 64), fmt.Sprint(usage["prompt_tokens"])
		usage["prompt_tokens_details"], usage["completion_tokens_details"], usage["cost_details"] = []any{}, "none", false
		choice["index"], choice["native_finish_reason"], choice["message"].(object)["refusal"] = "0", 7, false
	}},
	{name: "refusal", group: "final", change: func(_, choice object) {
		choice["message"] = object{"role": "assistant", "content": nil, "refusal": "I cannot help with that."}
	}},
	{name: "content_filter", group: "final", change: func(_, choice object) {
		choice["finish_reason"], choice["message"] = "content_filter", object{"role": "assistant", "content": nil}
	}},
	{name: "307", group: "stopping", free: true, send: func(t *turn, _ []byte) {
		http.Redirect(t.w, t.r, t.server.URL()+"/elsewhere", http.StatusTemporaryRedirect)
	}},
}...)

func readErrors() (all []fault) {
	for line := range strings.Lines(errorTable) {
		c := strings.Split(strings.TrimSpace(line), "\t")
		status, _ := strconv.Atoi(c[2]) // a number
		all = append(all, fault{group: c[0], name: Fault(c[1]), status: status, after: c[3], body: c[4]})
	}
	return all
}

// faultOf is the fault of a name that exists.
func faultOf(name Fault) *fault {
	return &faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == name })]
}

// Faults are those of a group: retryable, after which the same request can succeed; harmless, with
// an answer of use; final, which concern one request and stay; stopping, after which none can
// succeed.
func Faults(group string) (names []Fault) {
	for i := range faults {
		if faults[i].group == group {
			names = append(names, faults[i].name)
		}
	}
	return names
}

// fail answers with an error.
func (t *turn) fail(f *fault) {
	s, now := t.server, time.Now()
	whole, at := (s.config.RetryAfter + time.Second - 1).Truncate(time.Second), now.Add(s.config.RetryAfter)
	date := at.Truncate(time.Second).Add(time.Second)
	millis := func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
	for form, until := range map[string]time.Time{"SECONDS": now.Add(whole), "DATE": date, "DECIMAL": at, "MILLIS": at.Truncate(time.Millisecond)} {
		if strings.Contains(f.after+f.body, form) {
			s.locked(func() { s.notBefore[t.body] = until })
		}
	}
	fill := strings.NewReplacer(
		"SECONDS", strconv.Itoa(int(whole/time.Second)), "DATE", date.UTC().Format(http.TimeFormat), "MILLIS", millis(at),
		"DECIMAL", strconv.FormatFloat(s.config.RetryAfter.Seconds(), 'f', -1, 64), "TOMORROW", millis(now.Add(9*time.Hour)), "KEY", s.config.Key)
	if f.after != "" {
		t.w.Header().Set("Retry-After", fill.Replace(f.after))
	}
	writeBody(t.w, f.status, []byte(fill.Replace(f.body)))
}

// hang gives no answer.
func (t *turn) hang([]byte) {
	select {
	case <-t.r.Context().Done():
	case <-time.After(cmp.Or(t.server.config.HangTime, 24*time.Hour)):
		t.cut(nil)
	}
}

// cut sends the beginning of an answer and breaks the connection.
func (t *turn) cut(begin []byte) {
	if begin != nil {
		t.w.Header().Set("Content-Length", strconv.Itoa(2*len(begin)))
		writeBody(t.w, 200, begin)
		_ = http.NewResponseController(t.w).Flush()
	}
	panic(http.ErrAbortHandler)
}

// drip sends a body in twenty pieces.
func (t *turn) drip(body []byte) {
	t.w.Header().Set("Content-Type", "application/json")
	for piece := range slices.Chunk(body, len(body)/20+1) {
		_, _ = t.w.Write(piece)
		_ = http.NewResponseController(t.w).Flush()
		time.Sleep(time.Millisecond)
	}
}

func half(text string) string { return text[:len(text)/2] }

const prose = "I have looked at the material and find it hard to say."

var withoutLast = edited(func(a *Answer) { a.Claims = a.Claims[:len(a.Claims)-1] })

// edited changes a reply that is an [Answer] with claims; of others it makes prose.
func edited(change func(*Answer)) func(string) string {
	return func(text string) string {
		var a Answer
		if json.Unmarshal([]byte(text), &a) != nil || len(a.Claims) == 0 {
			return prose
		}
		change(&a)
		return a.String()
	}
}
