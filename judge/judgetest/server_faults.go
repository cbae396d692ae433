package judgetest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Fault is a way in which an answer goes wrong. Its name stands in the log.
type Fault string

// Faults by which a service asks to come again later. They are not charged.
const (
	RateLimitSeconds  Fault = "429_seconds"        // Retry-After in whole seconds
	RateLimitDecimal  Fault = "429_decimal"        // Retry-After with a fraction
	RateLimitDate     Fault = "429_date"           // Retry-After as an HTTP date
	RateLimitMetadata Fault = "429_metadata"       // metadata.retry_after_seconds
	RateLimitNested   Fault = "429_nested_header"  // metadata.headers["Retry-After"]
	RateLimitReset    Fault = "429_reset_in_200"   // status 200, code 429, X-RateLimit-Reset in the metadata
	RateLimitSilent   Fault = "429_silent"         // no word about when
	UnavailableLater  Fault = "503_retry_after"    // 503 with Retry-After
	Availability      Fault = "availability"       // an availability object, no code
	InFlightBudget    Fault = "402_in_flight"      // 402 with Retry-After: other calls hold the credit
	stray             Fault = "429_stray"          // of ServerConfig.StrayShare
	Timeout408        Fault = "408"                // from here on: nothing is said about when
	ServerError       Fault = "500"                //
	BadGateway        Fault = "502"                //
	Unavailable       Fault = "503"                //
	GatewayTimeout    Fault = "504"                //
	Timeout524        Fault = "524"                //
	Overloaded        Fault = "529"                //
	Error200          Fault = "error_200"          // an error in a body of status 200
	ChoiceError200    Fault = "choice_error_200"   // an error in the choice, with half a text
	EmptyChoices      Fault = "empty_choices"      //
	HTML502           Fault = "html_502"           // the page of a proxy
	BareError         Fault = "bare_error"         // the error is a string
	NoMessage         Fault = "no_message"         // the error has no message
	Hang              Fault = "hang"               // no answer until the client goes; charged
	Reset             Fault = "reset"              // the connection breaks before an answer
	ResetMidBody      Fault = "reset_mid_body"     // it breaks within; charged
	TruncatedBody     Fault = "truncated_body"     // shorter than its Content-Length; charged
	MalformedJSON     Fault = "malformed_json"     // the envelope is not JSON; charged
	TrailingGarbage   Fault = "trailing_garbage"   // two documents in one body; charged
	NullContent       Fault = "null_content"       // from here on: an answer, charged, of no use
	EmptyContent      Fault = "empty_content"      //
	TruncatedContent  Fault = "truncated_content"  // finish reason length
	SchemaMismatch    Fault = "schema_mismatch"    //
	MissingItems      Fault = "missing_items"      // the last claim is not judged
	UnknownID         Fault = "unknown_id"         //
	PlainProse        Fault = "plain_prose"        //
	InventedQuote     Fault = "invented_quote"     // a quote that stands nowhere
	Fenced            Fault = "fenced"             // from here on: unusual and usable
	Prose             Fault = "prose"              // an object with prose around it
	KeepaliveSpace    Fault = "keepalive_ws"       // white space before the body
	SlowDrip          Fault = "slow_drip"          // the body in small pieces
	Slow              Fault = "slow"               // four times the latency
	OddEnvelope       Fault = "odd_envelope"       // costs and counts as strings, ids as numbers, false and [] for what is not there
	OddReply          Fault = "odd_reply"          // labels in capitals, ids as numbers, null for "", members too many, commas too many
	Draft             Fault = "draft"              // another reply within <think> before the reply
	RetypedQuotes     Fault = "retyped_quotes"     // quotes in other case, with marks around them and dots at their end
	BadRequest        Fault = "400"                // from here on: asking again is of no use
	ContextLength     Fault = "400_context_length" // error_type context_length_exceeded
	PaymentRequired   Fault = "402"                // no credit
	Unauthorized      Fault = "401"                //
	Forbidden         Fault = "403"                // the key may not use the model
	DailyLimit        Fault = "429_daily"          // a limit that lifts tomorrow
	Redirect          Fault = "307"                // to ServerConfig.RedirectTo
	DataPolicy        Fault = "404_data_policy"    // no provider that the account allows
	Moderation        Fault = "403_moderation"     //
	Guardrail         Fault = "403_guardrail"      //
	NotFound          Fault = "404"                //
	TooLarge          Fault = "413"                //
	Unprocessable     Fault = "422"                //
	Refusal           Fault = "refusal"            // the model refuses; charged
	ContentFilter     Fault = "content_filter"     // finish reason content_filter; charged
)

// RetryableFaults are the faults after which the same request can succeed.
func RetryableFaults() []Fault {
	return []Fault{
		RateLimitSeconds, RateLimitDecimal, RateLimitDate, RateLimitMetadata, RateLimitNested, RateLimitReset, RateLimitSilent,
		UnavailableLater, Availability, InFlightBudget,
		Timeout408, ServerError, BadGateway, Unavailable, GatewayTimeout, Timeout524, Overloaded,
		Error200, ChoiceError200, EmptyChoices, HTML502, BareError, NoMessage,
		Hang, Reset, ResetMidBody, TruncatedBody, MalformedJSON, TrailingGarbage,
		NullContent, EmptyContent, TruncatedContent, SchemaMismatch, MissingItems, UnknownID, PlainProse, InventedQuote,
	}
}

// HarmlessFaults are unusual answers that can be used as they are.
func HarmlessFaults() []Fault {
	return []Fault{Fenced, Prose, KeepaliveSpace, SlowDrip, Slow, OddEnvelope, OddReply, Draft, RetypedQuotes}
}

// FinalFaults are the faults that concern one request and stay.
func FinalFaults() []Fault {
	return []Fault{BadRequest, ContextLength, Moderation, Guardrail, TooLarge, Unprocessable, Refusal, ContentFilter}
}

// StoppingFaults are the faults after which no request can succeed.
func StoppingFaults() []Fault {
	return []Fault{Unauthorized, Forbidden, PaymentRequired, NotFound, DailyLimit, DataPolicy, Redirect}
}

// inject serves a fault.
func (t *turn) inject(f Fault) {
	switch {
	case f == stray || slices.Contains(RetryableFaults()[:10], f):
		t.later(f)
	case slices.Contains([]Fault{Hang, Reset, ResetMidBody, TruncatedBody, MalformedJSON, TrailingGarbage}, f):
		t.transport(f)
	case slices.Contains([]Fault{NullContent, EmptyContent, TruncatedContent, SchemaMismatch, MissingItems, UnknownID, PlainProse, InventedQuote}, f):
		t.content(f)
	case slices.Contains(HarmlessFaults(), f):
		t.harmless(f)
	default:
		t.status(f)
	}
}

// later asks to come again.
func (t *turn) later(f Fault) {
	delay := t.server.config.RetryAfter
	whole := (delay + time.Second - 1).Truncate(time.Second)
	limited := apiError{Code: 429, Message: "Provider returned error", Metadata: map[string]any{
		"raw": "temporarily rate-limited upstream", "provider_name": t.model.Provider, "is_byok": false, "error_type": "rate_limit_exceeded",
	}}
	header := t.w.Header()
	switch f {
	case RateLimitSeconds, UnavailableLater, InFlightBudget:
		header.Set("Retry-After", strconv.Itoa(int(whole/time.Second)))
		t.notBefore(whole)
	case RateLimitDecimal, stray:
		header.Set("Retry-After", strconv.FormatFloat(delay.Seconds(), 'f', -1, 64))
		t.notBefore(delay)
	case RateLimitDate:
		at := time.Now().Add(delay).Truncate(time.Second).Add(time.Second)
		header.Set("Retry-After", at.UTC().Format(http.TimeFormat))
		t.notBefore(time.Until(at))
	case RateLimitMetadata:
		limited.Metadata["retry_after_seconds"] = delay.Seconds()
		t.notBefore(delay)
	case RateLimitNested:
		limited.Metadata["headers"] = map[string]any{"Retry-After": strconv.FormatFloat(delay.Seconds(), 'f', -1, 64)}
		t.notBefore(delay)
	case RateLimitReset:
		at := time.Now().Add(delay)
		limited.Metadata["headers"] = map[string]any{"X-RateLimit-Reset": strconv.FormatInt(at.UnixMilli(), 10)}
		t.notBefore(time.Until(time.UnixMilli(at.UnixMilli())))
	}
	switch f {
	case RateLimitReset:
		t.fail(200, limited)
	case UnavailableLater:
		t.fail(503, apiError{Code: 503, Message: "Provider overloaded", Metadata: map[string]any{"error_type": "provider_overloaded"}})
	case Availability:
		t.notBefore(delay)
		t.fail(503, apiError{
			HTTPStatus: 503, ErrorType: "provider_unavailable", Message: "No provider is available right now",
			Availability: map[string]any{"code": "providers_cooling_down", "retryable": true, "retry_after": delay.Seconds()},
		})
	case InFlightBudget:
		t.fail(402, apiError{Code: 402, Message: "Requests in flight hold your remaining credit", Metadata: map[string]any{
			"limit_source": "openrouter_in_flight_budget",
		}})
	default:
		t.fail(429, limited)
	}
}

// transport breaks the answer on its way. The provider has done its work and is
// paid, unless the connection broke before.
func (t *turn) transport(f Fault) {
	if f == Reset {
		t.cut(nil)
		return
	}
	e := t.envelopeOf(t.reply())
	body := mustMarshal(e)
	t.charge()
	switch f {
	case Hang:
		t.hang()
	case ResetMidBody:
		t.think(1)
		t.cut(body[:len(body)/2])
	case TruncatedBody:
		t.think(1)
		t.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		t.x.Status = http.StatusOK
		writeBody(t.w, http.StatusOK, body[:len(body)-min(len(body), 500)])
	case MalformedJSON:
		t.think(1)
		t.send(body[:len(body)/2])
	case TrailingGarbage:
		t.think(1)
		t.send(append(append(body, '\n'), body...))
	}
}

// hang gives no answer.
func (t *turn) hang() {
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
		_, _ = out.WriteString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(2*len(begin)) + "\r\n\r\n")
		_, _ = out.Write(begin)
		_ = out.Flush()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset instead of an orderly end
	}
}

// content gives an answer of no use.
func (t *turn) content(f Fault) {
	t.think(1)
	e := t.useless(f)
	t.charge()
	t.send(mustMarshal(e))
}

// useless is an answer of no use.
func (t *turn) useless(f Fault) *envelope {
	text := t.reply()
	e := t.envelopeOf(text)
	c := &e.Choices[0]
	switch f {
	case NullContent:
		c.Message.Content = nil
	case EmptyContent:
		c.Message.Content = new("")
	case TruncatedContent:
		c.Message.Content, c.FinishReason, c.Native = new(text[:len(text)/2]), "length", "max_tokens"
	default:
		c.Message.Content = new(t.spoil(f))
	}
	return e
}

// spoil is a good text made bad.
func (t *turn) spoil(f Fault) string {
	p := readPrompt(&t.request)
	if f == PlainProse || p.Pair != nil {
		return "I have looked at the material and find it hard to say."
	}
	a := OverlapAnswer(p)
	if len(a.Claims) == 0 {
		return "{}"
	}
	last := &a.Claims[len(a.Claims)-1]
	switch f {
	case SchemaMismatch:
		return strings.Replace(a.String(), `"joint_why"`, `"jointWhy"`, 1)
	case MissingItems:
		a.Claims = a.Claims[:len(a.Claims)-1]
	case UnknownID:
		last.ID = "c999"
	case InventedQuote:
		for i := range a.Claims {
			for k := range a.Claims[i].Checks {
				c := &a.Claims[i].Checks[k]
				c.Support, c.Quote = "full", "these words stand nowhere in the evidence"
			}
		}
	}
	return a.String()
}

// harmless gives a good answer in an unusual way.
func (t *turn) harmless(f Fault) {
	if f == Slow {
		t.think(4)
		t.answer(t.reply())
		return
	}
	t.think(1)
	text := t.reply()
	switch f {
	case Fenced:
		text = "```json\n" + text + "\n```"
	case Prose:
		text = "Here is my audit:\n" + text + "\nLet me know if {you} need more."
	case OddReply:
		text = oddReply(text)
	case Draft:
		text = "<think>\nAt first sight " + t.spoil(MissingItems) + " will do. On reflection it will not.\n</think>\n\n" + text
	case RetypedQuotes:
		text = retypeQuotes(text)
	}
	if !slices.Contains([]Fault{KeepaliveSpace, SlowDrip, OddEnvelope}, f) {
		t.answer(text)
		return
	}
	e := t.envelopeOf(text)
	t.x.Whole = e.Choices[0].FinishReason == "stop"
	t.charge()
	body := mustMarshal(e)
	if f == OddEnvelope {
		t.send(oddEnvelope(body))
		return
	}
	t.w.Header().Set("Content-Type", "application/json")
	t.x.Status = http.StatusOK
	if f == KeepaliveSpace {
		for range 5 {
			_, _ = t.w.Write([]byte("\n         "))
			t.flush()
			time.Sleep(time.Millisecond)
		}
		_, _ = t.w.Write(body)
		return
	}
	for piece := range slices.Chunk(body, max(1, len(body)/20)) {
		_, _ = t.w.Write(piece)
		t.flush()
		time.Sleep(time.Millisecond)
	}
}

// oddEnvelope writes what is around an answer as some gateways do.
func oddEnvelope(body []byte) []byte {
	e := decoded(body)
	e["id"], e["created"], e["error"] = 4711, "yesterday", nil
	usage := e["usage"].(object)
	usage["cost"] = strconv.FormatFloat(usage["cost"].(float64), 'f', -1, 64)
	usage["prompt_tokens"] = fmt.Sprint(usage["prompt_tokens"])
	usage["prompt_tokens_details"], usage["completion_tokens_details"], usage["cost_details"] = []any{}, "none", false
	first := e["choices"].([]any)[0].(object)
	first["index"], first["native_finish_reason"] = "0", 7
	first["message"].(object)["refusal"] = false
	return mustMarshal(e)
}

// oddReply writes a reply as models do that know the shape by hearsay.
func oddReply(text string) string {
	if text == "" || text[0] != '{' {
		return text // a number
	}
	a := decoded([]byte(text))
	a["confidence"] = 0.9
	number := func(o object, member string) {
		if id := fmt.Sprint(o[member]); len(id) > 1 {
			o[member], _ = strconv.Atoi(id[1:])
		} else {
			o[member] = nil
		}
	}
	label := func(o object, member string) {
		o[member] = strings.ToUpper(fmt.Sprint(o[member])[:1]) + fmt.Sprint(o[member])[1:]
	}
	for _, c := range a["claims"].([]any) {
		claim := c.(object)
		claim["text"] = "…"
		number(claim, "id")
		number(claim, "elsewhere_evidence_id")
		for _, member := range []string{"kind", "joint", "elsewhere"} {
			label(claim, member)
		}
		if claim["elsewhere_quote"] == "" {
			claim["elsewhere_quote"] = nil
		}
		for _, k := range claim["checks"].([]any) {
			number(k.(object), "evidence_id")
			label(k.(object), "support")
			label(k.(object), "relevant")
		}
	}
	written := string(mustMarshal(a))
	return written[:len(written)-1] + ",\n}"
}

// retypeQuotes writes quotes as models do that type instead of copying.
func retypeQuotes(text string) string {
	if text == "" || text[0] != '{' {
		return text
	}
	a := decoded([]byte(text))
	retype := func(o object, member string) {
		if q := fmt.Sprint(o[member]); q != "" {
			o[member] = "“" + strings.ToUpper(strings.ReplaceAll(q, "-", "–")) + "” ..."
		}
	}
	for _, c := range a["claims"].([]any) {
		retype(c.(object), "elsewhere_quote")
		for _, k := range c.(object)["checks"].([]any) {
			retype(k.(object), "quote")
		}
	}
	return string(mustMarshal(a))
}

type object = map[string]any

// decoded is an object that this package has encoded.
func decoded(b []byte) object {
	var o object
	if err := json.Unmarshal(b, &o); err != nil {
		panic(err)
	}
	return o
}

// status gives an error by its status.
func (t *turn) status(f Fault) {
	e := apiError{Message: "Provider returned error"}
	status := 200
	switch f {
	case Error200:
		e.Code = 502
	case ChoiceError200:
		t.choiceError()
		return
	case EmptyChoices:
		t.x.Status = 200
		writeJSON(t.w, 200, map[string]any{"id": t.generationID(), "model": t.model.ID, "choices": []any{}})
		return
	case HTML502:
		t.x.Status = 502
		t.w.Header().Set("Content-Type", "text/html")
		t.w.WriteHeader(502)
		_, _ = t.w.Write([]byte("<!DOCTYPE html><html><head><title>502 Bad gateway</title></head><body>cloudflare</body></html>"))
		return
	case BareError:
		t.x.Status = 502
		writeJSON(t.w, 502, map[string]any{"error": "boom"})
		return
	case NoMessage:
		status, e = 500, apiError{Code: 500}
	case ContextLength:
		status = 400
		e.Message = "This endpoint's maximum context length is 16000 tokens"
		e.Metadata = map[string]any{"error_type": "context_length_exceeded"}
	case Moderation:
		status = 403
		e.Message = "Input was flagged by moderation"
		e.Metadata = map[string]any{"reasons": []string{"violence"}, "flagged_input": "…", "provider_name": t.model.Provider, "model_slug": t.model.ID}
	case Guardrail:
		status = 403
		e.Message = "Request blocked by guardrail"
		e.Metadata = map[string]any{"patterns": []string{"prompt-injection"}}
	case Refusal, ContentFilter:
		t.refusal(f)
		return
	case Redirect:
		t.x.Status = http.StatusTemporaryRedirect
		http.Redirect(t.w, t.r, t.server.config.RedirectTo+"/chat/completions", http.StatusTemporaryRedirect)
		return
	case Forbidden:
		status = 403
		e.Message = "You are not allowed to use this model with the key " + strings.TrimPrefix(t.r.Header.Get("Authorization"), "Bearer ")
	case DailyLimit:
		status = 429
		e.Message = "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day"
		e.Metadata = map[string]any{"headers": map[string]any{"X-RateLimit-Reset": strconv.FormatInt(time.Now().Add(9*time.Hour).UnixMilli(), 10)}}
	case DataPolicy:
		status = 404
		e.Message = "No endpoints found matching your data policy (Free model publication). Configure: https://openrouter.ai/settings/privacy"
	default:
		status, _ = strconv.Atoi(string(f)[:3])
	}
	if e.Code == nil && f != NoMessage {
		e.Code = status
	}
	t.fail(status, e)
}

func (t *turn) choiceError() {
	e := t.envelopeOf(t.reply())
	half := (*e.Choices[0].Message.Content)[:len(*e.Choices[0].Message.Content)/2]
	c := &e.Choices[0]
	c.Message.Content, c.FinishReason, c.Error = &half, "error", &apiError{Code: 502, Message: "Provider disconnected"}
	t.x.NanoUSD = 0 // finish reason error is insured
	t.send(mustMarshal(e))
}

func (t *turn) refusal(f Fault) {
	words := "I cannot help with that."
	e := t.envelopeOf(words)
	c := &e.Choices[0]
	if f == Refusal {
		c.Message.Content, c.Message.Refusal = nil, &words
	} else {
		c.Message.Content, c.FinishReason = nil, "content_filter"
	}
	t.charge()
	t.send(mustMarshal(e))
}
