package judgetest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Fault is a way in which an answer goes wrong. Its name stands in the log.
type Fault string

// A FaultGroup says what a client can do about a fault.
type FaultGroup int

// The groups.
const (
	Retryable FaultGroup = iota // the same request can succeed
	Harmless                    // the answer is unusual and can be used
	Final                       // the fault concerns one request and stays
	Stopping                    // no request can succeed
)

// Faults are the names of the faults of a group.
func Faults(group FaultGroup) (names []Fault) {
	for i := range faults {
		if faults[i].group == group {
			names = append(names, faults[i].name)
		}
	}
	return names
}

// A fault is an error in place of an answer, if it has a status, else an answer of which a text,
// a member or the way it is sent is changed. Answers are charged, unless it is free.
type fault struct {
	name   Fault
	group  FaultGroup
	status int
	after  string // Retry-After
	body   string // of an error; "" for a plain one. SECONDS, DECIMAL, DATE and MILLIS are when to come again
	text   func(reply string) string
	change func(e, choice object)
	send   func(t *turn, body []byte)
	free   bool
}

const prose = "I have looked at the material and find it hard to say."

// limited is an error of a rate limit with one more member of its metadata.
func limited(member string) string {
	return `{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"temporarily rate-limited upstream",` + member + `"error_type":"rate_limit_exceeded"}}}`
}

// plainly is an error with a code and a message.
func plainly(message string) string { return `{"error":{"code":CODE,"message":"` + message + `"}}` }

var faults = []fault{
	{name: "429_seconds", status: 429, after: "SECONDS", body: limited("")},
	{name: "429_decimal", status: 429, after: "DECIMAL", body: limited("")},
	{name: "429_date", status: 429, after: "DATE", body: limited("")},
	{name: "429_metadata", status: 429, body: limited(`"retry_after_seconds":DECIMAL,`)},
	{name: "429_nested_header", status: 429, body: limited(`"headers":{"Retry-After":"DECIMAL"},`)},
	{name: "429_reset_in_200", status: 200, body: limited(`"headers":{"X-RateLimit-Reset":"MILLIS"},`)},
	{name: "429_silent", status: 429, body: limited("")},
	{name: "503_retry_after", status: 503, after: "SECONDS"},
	{name: "availability", status: 503, body: `{"error":{"http_status":503,"error_type":"provider_unavailable","message":"No provider is available right now","availability":{"retryable":true,"retry_after":DECIMAL}}}`},
	{name: "402_in_flight", status: 402, after: "SECONDS", body: `{"error":{"code":402,"message":"Requests in flight hold your remaining credit","metadata":{"limit_source":"openrouter_in_flight_budget"}}}`},
	// Nothing is said about when.
	{name: "408", status: 408},
	{name: "500", status: 500},
	{name: "502", status: 502},
	{name: "503", status: 503},
	{name: "504", status: 504},
	{name: "524", status: 524},
	{name: "529", status: 529},
	{name: "error_200", status: 200, body: `{"error":{"code":502,"message":"Provider returned error"}}`},
	{name: "empty_choices", status: 200, body: `{"id":"gen-0","model":"fake/judge","choices":[]}`},
	{name: "html_502", status: 502, body: "<!DOCTYPE html><html><head><title>502 Bad gateway</title></head><body>cloudflare</body></html>"},
	{name: "bare_error", status: 502, body: `{"error":"boom"}`},
	{name: "no_message", status: 500, body: `{"error":{"code":500}}`},
	{name: "choice_error_200", free: true, change: func(_, choice object) {
		halve(choice)
		choice["finish_reason"], choice["error"] = "error", object{"code": 502, "message": "Provider disconnected"}
	}},
	// The answer is lost on its way.
	{name: "hang", send: (*turn).hang},
	{name: "reset", free: true, send: func(t *turn, _ []byte) { t.cut(nil) }},
	{name: "reset_mid_body", send: func(t *turn, body []byte) { t.cut(body[:len(body)/2]) }},
	{name: "truncated_body", send: func(t *turn, body []byte) {
		t.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		writeBody(t.w, 200, body[:len(body)/2])
	}},
	{name: "malformed_json", send: func(t *turn, body []byte) { t.send(body[:len(body)/2]) }},
	{name: "trailing_garbage", send: func(t *turn, body []byte) { t.send(slices.Concat(body, []byte("\n"), body)) }},
	// The answer is of no use.
	{name: "null_content", change: func(_, choice object) { choice["message"].(object)["content"] = nil }},
	{name: "empty_content", change: func(_, choice object) { choice["message"].(object)["content"] = "" }},
	{name: "truncated_content", change: func(_, choice object) {
		halve(choice)
		choice["finish_reason"], choice["native_finish_reason"] = "length", "max_tokens"
	}},
	{name: "schema_mismatch", text: spoilt(func(s string) string { return strings.Replace(s, `"joint_why"`, `"jointWhy"`, 1) })},
	{name: "missing_items", text: spoilt(withoutLast)},
	{name: "unknown_id", text: spoilt(edited(func(a *Answer) { a.Claims[len(a.Claims)-1].ID = "c999" }))},
	{name: "plain_prose", text: func(string) string { return prose }},
	{name: "invented_quote", text: spoilt(edited(func(a *Answer) {
		for i := range a.Claims {
			for k := range a.Claims[i].Checks {
				c := &a.Claims[i].Checks[k]
				c.Support, c.Quote = "full", "these words stand nowhere in the evidence"
			}
		}
	}))},

	{name: "fenced", group: Harmless, text: func(s string) string { return "```json\n" + s + "\n```" }},
	{name: "prose", group: Harmless, text: func(s string) string { return "Here is my audit:\n" + s + "\nLet me know if {you} need more." }},
	{name: "keepalive_ws", group: Harmless, send: func(t *turn, body []byte) { t.drip(append(slices.Repeat([]byte("\n"), len(body)), body...)) }},
	{name: "slow_drip", group: Harmless, send: (*turn).drip},
	{name: "slow", group: Harmless, send: func(t *turn, body []byte) { t.think(3); t.send(body) }},
	{name: "odd_envelope", group: Harmless, change: oddEnvelope},
	{name: "odd_reply", group: Harmless, text: oddReply},
	{name: "draft", group: Harmless, text: func(s string) string {
		return "<think>\nAt first sight " + withoutLast(s) + " will do. On reflection it will not.\n</think>\n\n" + s
	}},
	{name: "retyped_quotes", group: Harmless, text: retyped},

	{name: "400", group: Final, status: 400},
	{name: "400_context_length", group: Final, status: 400, body: `{"error":{"code":400,"message":"This endpoint's maximum context length is 16000 tokens","metadata":{"error_type":"context_length_exceeded"}}}`},
	{name: "403_moderation", group: Final, status: 403, body: `{"error":{"code":403,"message":"Input was flagged by moderation","metadata":{"reasons":["violence"],"flagged_input":"…"}}}`},
	{name: "403_guardrail", group: Final, status: 403, body: `{"error":{"code":403,"message":"Request blocked by guardrail","metadata":{"patterns":["prompt-injection"]}}}`},
	{name: "413", group: Final, status: 413},
	{name: "422", group: Final, status: 422},
	{name: "refusal", group: Final, change: func(_, choice object) {
		choice["message"] = object{"role": "assistant", "content": nil, "refusal": "I cannot help with that."}
	}},
	{name: "content_filter", group: Final, change: func(_, choice object) {
		choice["finish_reason"], choice["message"] = "content_filter", object{"role": "assistant", "content": nil}
	}},

	{name: "401", group: Stopping, status: 401},
	{name: "403", group: Stopping, status: 403, body: plainly("You are not allowed to use this model with the key KEY")},
	{name: "402", group: Stopping, status: 402},
	{name: "404", group: Stopping, status: 404},
	{name: "429_daily", group: Stopping, status: 429, body: `{"error":{"code":429,"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","metadata":{"headers":{"X-RateLimit-Reset":"TOMORROW"}}}}`},
	{name: "404_data_policy", group: Stopping, status: 404, body: plainly("No endpoints found matching your data policy (Free model publication). Configure: https://openrouter.ai/settings/privacy")},
	{name: "307", group: Stopping, free: true, send: func(t *turn, _ []byte) {
		http.Redirect(t.w, t.r, t.server.URL()+"/elsewhere", http.StatusTemporaryRedirect)
	}},
}

// faultOf is the fault of a name, which the table has.
func faultOf(name Fault) *fault {
	return &faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == name })]
}

// fail answers with the error of a fault.
func (t *turn) fail(f *fault) {
	delay := t.server.config.RetryAfter
	decimal, whole, now := strconv.FormatFloat(delay.Seconds(), 'f', -1, 64), (delay + time.Second - 1).Truncate(time.Second), time.Now()
	date, millis := now.Add(delay).Truncate(time.Second).Add(time.Second), now.Add(delay).Truncate(time.Millisecond)
	for word, until := range map[string]time.Time{"SECONDS": now.Add(whole), "DECIMAL": now.Add(delay), "DATE": date, "MILLIS": millis} {
		if strings.Contains(f.after+f.body, word) {
			t.server.locked(func() { t.server.bodies[t.body].notBefore = until })
		}
	}
	body := f.body
	if body == "" {
		body = plainly("Provider returned error")
	}
	fill := strings.NewReplacer("SECONDS", strconv.Itoa(int(whole/time.Second)), "DECIMAL", decimal, "DATE", date.UTC().Format(http.TimeFormat), "MILLIS", strconv.FormatInt(millis.UnixMilli(), 10),
		"TOMORROW", strconv.FormatInt(now.Add(9*time.Hour).UnixMilli(), 10), "CODE", strconv.Itoa(f.status), "KEY", t.server.config.Key)
	if f.after != "" {
		t.w.Header().Set("Retry-After", fill.Replace(f.after))
	}
	writeBody(t.w, f.status, []byte(fill.Replace(body)))
}

// hang gives no answer.
func (t *turn) hang([]byte) {
	var over <-chan time.Time
	if d := t.server.config.HangTime; d > 0 {
		over = time.After(d)
	}
	select {
	case <-t.r.Context().Done():
	case <-over:
		t.cut(nil)
	}
}

// cut sends the beginning of an answer and breaks the connection.
func (t *turn) cut(begin []byte) {
	hijacker, ok := t.w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, out, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	if begin != nil {
		_, _ = fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", 2*len(begin), begin)
		_ = out.Flush()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset instead of an orderly end
	}
}

// drip sends a body in twenty pieces.
func (t *turn) drip(body []byte) {
	t.w.Header().Set("Content-Type", "application/json")
	for piece := range slices.Chunk(body, len(body)/20+1) {
		_, _ = t.w.Write(piece)
		if f, ok := t.w.(http.Flusher); ok {
			f.Flush()
		}
		time.Sleep(time.Millisecond)
	}
}

func halve(choice object) {
	m := choice["message"].(object)
	m["content"] = m["content"].(string)[:len(m["content"].(string))/2]
}

// edited changes a reply that is an [Answer] with claims; others stay as they are.
func edited(change func(*Answer)) func(string) string {
	return func(text string) string {
		var a Answer
		if json.Unmarshal([]byte(text), &a) != nil || len(a.Claims) == 0 {
			return text
		}
		change(&a)
		return a.String()
	}
}

var withoutLast = edited(func(a *Answer) { a.Claims = a.Claims[:len(a.Claims)-1] })

// spoilt is what an edit makes of a reply, prose if that is nothing.
func spoilt(edit func(string) string) func(string) string {
	return func(text string) string {
		if bad := edit(text); bad != text {
			return bad
		}
		return prose
	}
}

// oddEnvelope writes what is around an answer as some gateways do: costs and counts as strings,
// ids as numbers, false and [] for what is not there.
func oddEnvelope(e, choice object) {
	usage := e["usage"].(object)
	e["id"], e["created"], e["error"] = 4711, "yesterday", nil
	usage["cost"], usage["prompt_tokens"] = strconv.FormatFloat(usage["cost"].(float64), 'f', -1, 64), fmt.Sprint(usage["prompt_tokens"])
	usage["prompt_tokens_details"], usage["completion_tokens_details"], usage["cost_details"] = []any{}, "none", false
	choice["index"], choice["native_finish_reason"], choice["message"].(object)["refusal"] = "0", 7, false
}

var (
	numberedIDs = regexp.MustCompile(`"(id|evidence_id|elsewhere_evidence_id)":"[a-z](\d+)"`)
	labels      = regexp.MustCompile(`"(kind|joint|elsewhere|support|relevant)":"[a-z]`)
)

// oddReply writes a reply as models do that know the shape by hearsay: labels in capitals, ids as
// numbers, null for "", members too many, a comma too many.
func oddReply(text string) string {
	if !strings.HasPrefix(text, "{") {
		return text // a number
	}
	text = numberedIDs.ReplaceAllString(text, `"text":"…","$1":$2`)
	text = labels.ReplaceAllStringFunc(text, func(s string) string { return s[:len(s)-1] + strings.ToUpper(s[len(s)-1:]) })
	return strings.TrimSuffix(strings.ReplaceAll(text, `":""`, `":null`), "}") + ",\"confidence\":0.9,\n}"
}

// retyped writes quotes as models do that type instead of copying: in other case, with marks
// around them and dots at their end.
var retyped = edited(func(a *Answer) {
	retype := func(quote *string) {
		if *quote != "" {
			*quote = "“" + strings.ToUpper(strings.ReplaceAll(*quote, "-", "–")) + "” ..."
		}
	}
	for i := range a.Claims {
		retype(&a.Claims[i].ElsewhereQuote)
		for k := range a.Claims[i].Checks {
			retype(&a.Claims[i].Checks[k].Quote)
		}
	}
})
