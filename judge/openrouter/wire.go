package openrouter

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"ibid/judge/cache"
)

// keyVersion changes whenever what enters a key does.
const keyVersion = "k3"

// A requestHead is what all requests of one kind to one model have.
type requestHead struct {
	config                *Config
	model, system, schema string
	reading               string // how an answer is read, where that is part of the key: the version of a verifier
	logprobs              bool   // the probabilities of tokens are asked for
}

// members are those of the settings, as far as the model takes them, and those that the
// shape adds. Limit, seed and tier are of the request.
func (h *requestHead) members(s shape) map[string]any {
	out := make(map[string]any)
	if s.lowEffort && !h.config.has("reasoning") && !h.config.has("reasoning_effort") {
		if h.config.Kind == KindOpenRouter {
			out["reasoning"] = map[string]any{"effort": "low"}
		} else {
			out["reasoning_effort"] = "low"
		}
	}
	if h.logprobs {
		out["logprobs"], out["top_logprobs"] = true, 5
	}
	maps.Copy(out, h.config.Request)
	for _, name := range append(limitNames, "seed", "service_tier") {
		delete(out, name)
	}
	for i := range droppable {
		if s.dropped&(1<<i) != 0 {
			for _, name := range droppable[i] {
				delete(out, name)
			}
		}
	}
	return out
}

// has reports whether the settings have a member of every request.
func (c *Config) has(name string) bool { return c.Request[name] != nil }

// A request is what one question looks like on the wire.
type request struct {
	head      *requestHead
	user      string // the first message of the user
	seed      int64
	maxTokens int64 // that the reply needs, reasoning apart

	// Of a call that is no chat: the body, and the URL; user and seed mean nothing.
	whole []byte
	path  string
}

// encode writes the body of a request in the shape that the model takes. Members that the
// client library drops or does not know are put behind those that it has: a temperature of
// zero, and those of the settings.
func (q *request) encode(s shape, repairs []openai.ChatCompletionMessage, more map[string]any) []byte {
	h := q.head
	r := openai.ChatCompletionRequest{Model: h.model}
	if h.system != "" {
		r.Messages = append(r.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: h.system})
	}
	r.Messages = append(append(r.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: q.user}), repairs...)
	switch {
	case h.schema == "":
	case s.rung == rungSchema:
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "audit", Strict: true, Schema: json.RawMessage(h.schema)},
		}
	case s.rung == rungObject:
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	members := h.members(s)
	if h.config.has("seed") && s.dropped&(1<<dropSeed) == 0 {
		members["seed"] = q.seed
	}
	maps.Copy(members, more)
	body := quoted(r)
	if len(members) > 0 {
		body = append(append(body[:len(body)-1], ','), quoted(members)[1:]...)
	}
	return body
}

// key identifies the question: the SHA-256 of version, endpoint and nominal body,
// with NUL between them. The nominal body is what the settings say, with the schema
// and every parameter, and without a limit of tokens: what a profile changes of it
// depends on the order in which replies come, and a rerun must find its answers. Nor has
// it the service tier, which changes what an answer costs and not what is asked.
func (q *request) key() cache.Key {
	where, body := q.head.config.endpoint(), q.whole
	if body == nil {
		body = q.encode(shape{}, nil, nil)
	} else {
		where = q.path + "\x00" + q.head.model
	}
	return sha256.Sum256(append([]byte(fmt.Sprint(keyVersion, "\x00", where, "\x00", q.head.reading, "\x00", q.seed, "\x00")), body...))
}

// body is what is sent: with repair turns if they are needed, and room for so many tokens.
func (q *request) body(s shape, repairs []openai.ChatCompletionMessage, maxTokens int64) []byte {
	if q.whole != nil {
		return q.whole
	}
	more := map[string]any{limitNames[0]: maxTokens}
	if s.completion {
		more = map[string]any{limitNames[1]: maxTokens}
	}
	if tier := q.head.config.Request["service_tier"]; tier != nil {
		more["service_tier"] = tier
	}
	return q.encode(s, repairs, more)
}

// tokens estimates the length of the prompt, generously: three bytes a token.
func (q *request) tokens() int64 { return int64(q.length()) / 3 }

// length is that of the prompt in bytes, with what stands around it.
func (q *request) length() int {
	if q.whole != nil {
		return len(q.whole)
	}
	const around = 300
	return around + len(q.head.system) + len(q.head.schema) + len(q.user)
}

// quoted is a value as JSON.
func quoted(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts, and settings from YAML, which has nothing that JSON has not
	}
	return text
}

// An envelope is what is read of a response. A member of another type than
// expected counts as absent, so that no reply that is paid for is lost for it.
type envelope struct {
	ID       label      `json:"id"`
	Model    label      `json:"model"`
	Provider label      `json:"provider"`
	Choices  []choice   `json:"choices"`
	Usage    usage      `json:"usage"`
	Error    *wireError `json:"error"`
	// Of servers that put an error at the top.
	Text   json.RawMessage `json:"message"`
	Detail json.RawMessage `json:"detail"`
}

type choice struct {
	FinishReason label            `json:"finish_reason"`
	Message      message          `json:"message"`
	Logprobs     *openai.LogProbs `json:"logprobs"`
	Error        *wireError       `json:"error"`
}

type message struct {
	Content json.RawMessage `json:"content"` // a string, null, or parts
	Refusal label           `json:"refusal"`
	// Reasoning that is shown; it counts as tokens of the reply.
	Reasoning        label `json:"reasoning"`
	ReasoningContent label `json:"reasoning_content"`
}

// usage has numbers as they may come: 10, 10.0, "10", null.
type usage struct {
	Prompt     amount `json:"prompt_tokens"`
	Completion amount `json:"completion_tokens"`
	Cost       number `json:"cost"`
	BYOK       bool   `json:"is_byok"` // the provider charges a key of the user's own
	Costs      struct {
		Upstream number `json:"upstream_inference_cost"`
	} `json:"cost_details"`
	Prompts struct {
		Cached amount `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Completions struct {
		Reasoning amount `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// cost is what the endpoint says that a call has cost, told is false if it says
// nothing: its own charge, and with a key of the user's own that of the provider.
func (u *usage) cost() (nano int64, told bool) {
	usd, told := u.Cost.value, u.Cost.told
	if u.BYOK && u.Costs.Upstream.told {
		usd, told = usd+u.Costs.Upstream.value, true
	}
	return nanoUSD(usd), told
}

// A label is a name that may be written as a number; anything else is "".
type label string

// UnmarshalJSON takes a string, and a number as it is written.
func (l *label) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*l = label(s)
	} else if _, ok := numberOf(b); ok {
		*l = label(b)
	}
	return nil
}

// An amount is a count that may be written with a fraction, or as a string.
type amount int64

// UnmarshalJSON takes any number that is not negative; anything else is 0.
func (a *amount) UnmarshalJSON(b []byte) error {
	if v, ok := numberOf(b); ok && v >= 0 && v < 1<<53 {
		*a = amount(v)
	}
	return nil
}

// A number is not negative, such as a price in USD; told is false if the endpoint does not say.
type number struct {
	value float64
	told  bool
}

// UnmarshalJSON takes a number, or one written as a string; a negative one means that it
// depends.
func (n *number) UnmarshalJSON(b []byte) error {
	if v, ok := numberOf(b); ok && v >= 0 {
		*n = number{v, true}
	}
	return nil
}

// numberOf reads a number, or a string that holds one and nothing else.
func numberOf(b []byte) (v float64, ok bool) {
	var s string
	if json.Unmarshal(b, &s) == nil {
		b = []byte(strings.TrimSpace(s))
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// lenient is what is left of a decoding error when members of another type than
// expected count as absent: encoding/json skips them and reads on.
func lenient(err error) error {
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// A wireError is an error in any of its shapes: an object with a number or a
// string as code, one with http_status instead, or a bare string.
type wireError struct {
	Code       number          `json:"code"`
	Message    json.RawMessage `json:"message"`
	Param      label           `json:"param"`
	Type       label           `json:"type"`
	HTTPStatus amount          `json:"http_status"`
	ErrorType  label           `json:"error_type"`
	Metadata   struct {
		ErrorType         label             `json:"error_type"`
		Raw               json.RawMessage   `json:"raw"`
		RetryAfterSeconds number            `json:"retry_after_seconds"`
		Headers           map[string]label  `json:"headers"`
		Reasons           []json.RawMessage `json:"reasons"`
		FlaggedInput      *string           `json:"flagged_input"`
		Patterns          []json.RawMessage `json:"patterns"`
	} `json:"metadata"`
	Availability *struct {
		Retryable  bool   `json:"retryable"`
		RetryAfter number `json:"retry_after"`
	} `json:"availability"`
	none bool // false, 0, "", {} or [] in the place of an error
}

// UnmarshalJSON never fails: whatever an error is, it is one, unless it is empty.
func (e *wireError) UnmarshalJSON(b []byte) error {
	type plain wireError
	var p plain
	switch {
	case slices.Contains([]string{`false`, `0`, `""`, `{}`, `[]`}, string(b)):
		p.none = true
	case len(b) == 0 || b[0] != '{' || lenient(json.Unmarshal(b, &p)) != nil:
		p = plain{Message: bytes.Clone(b)}
	}
	*e = wireError(p)
	return nil
}

// text is what the error says.
func (e *wireError) text() string {
	var s string
	if json.Unmarshal(e.Message, &s) != nil {
		s = string(e.Message)
	}
	return cmp.Or(s, e.kind(), "an error without a message")
}

// kind is the stable name of the error, "" if it has none.
func (e *wireError) kind() string {
	return string(cmp.Or(e.Metadata.ErrorType, e.ErrorType))
}

// status is the error's own, of HTTP; 502 if it has none.
func (e *wireError) status() int {
	for _, status := range []float64{e.Code.value, float64(e.HTTPStatus)} {
		if status == math.Trunc(status) && status >= 400 && status <= 599 {
			return int(status)
		}
	}
	return http.StatusBadGateway
}

// read decodes a body that must be one JSON document. White space around it is
// fine.
func (v *envelope) read(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if err := lenient(d.Decode(v)); err != nil {
		return fmt.Errorf("the response is not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the response goes on after its JSON document")
	}
	return nil
}

// content is the text of the answer; ok is false if there is none.
func (m *message) content() (text string, ok bool) {
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &text) != nil && json.Unmarshal(m.Content, &parts) == nil {
		for _, p := range parts {
			text += p.Text
		}
	}
	return text, strings.TrimSpace(text) != ""
}

// nanoUSD is a number of US dollars in billionths, rounded up so that a budget
// is never counted short.
func nanoUSD(usd float64) int64 {
	if !(usd > 0) {
		return 0
	}
	return int64(math.Ceil(min(usd*1e9, math.MaxInt64/2) - 1e-3))
}

// maxResponse bounds the body of a response in bytes.
const maxResponse = 8 << 20

// An exchange is one request as it went over the wire: what to send goes in, what came
// back, and what the client library loses of it, comes out.
type exchange struct {
	body []byte // to send
	path string // the URL of a call that is no chat, else ""

	status   int  // of HTTP; 0 if no response came
	moved    bool // it is a redirect, which is not followed
	header   http.Header
	raw      []byte // body of the response
	envelope envelope
	err      error // why there is no whole response
	unsent   error // why the library would not even send it
}

// failure is the error that the response has within, nil if it has none. An answer of a chat
// without choices is one.
func (x *exchange) failure() *wireError {
	v := &x.envelope
	switch {
	case v.Error != nil && !v.Error.none:
		return v.Error
	case x.path != "":
		return nil
	case len(v.Choices) == 0:
		return &wireError{Message: quoted("no choices")}
	}
	if e := v.Choices[0].Error; e != nil && !e.none {
		return e
	}
	return nil
}

// generation is what the service calls the answer, "" if it does not say.
func (x *exchange) generation() string {
	return cmp.Or(string(x.envelope.ID), x.header.Get("X-Generation-Id"))
}

// exchangeKey finds the exchange of a call in its context.
type exchangeKey struct{}

// A doer makes requests. It stands between the client library and HTTP, too, where it sends
// the body of the exchange in place of the library's, which would drop a temperature of zero
// and fields it does not know.
type doer struct {
	client  *http.Client
	at      endpoint
	key     string
	headers map[string]string
	secrets *scrubber
}

// transfer makes a request, and reads the response to its end, so that the connection can be
// used again: so many bytes at most. content is the type of the body. The error is that of x.
func (d *doer) transfer(ctx context.Context, method, address, content string, x *exchange, most int64) (err error) {
	defer func() { x.err = err }()
	q, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(x.body))
	if err != nil {
		return err
	}
	if content != "" {
		q.Header.Set("Content-Type", content)
	}
	d.at.sign(q.Header, d.key)
	for name, value := range d.headers {
		q.Header.Set(name, value)
	}
	resp, err := d.client.Do(q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	x.status, x.header = resp.StatusCode, resp.Header
	if to, err := resp.Location(); err == nil && resp.StatusCode/100 == 3 {
		x.moved = true
		return fmt.Errorf("status %d: a redirect to %s", resp.StatusCode, d.secrets.text(to.Scheme+"://"+to.Host+to.Path))
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	x.raw = []byte(d.secrets.text(string(raw))) // a service may repeat the key in an answer
	switch {
	case err != nil:
		return fmt.Errorf("reading the response: %w", err)
	case int64(len(raw)) > most:
		return fmt.Errorf("a response of more than %d bytes", most)
	}
	return nil
}

// ask makes a call of a model. It takes nothing but one whole JSON document for an answer.
func (d *doer) ask(ctx context.Context, address string, x *exchange) error {
	if err := d.transfer(ctx, http.MethodPost, address, "application/json", x, maxResponse); err != nil {
		return err
	}
	if err := x.envelope.read(x.raw); err != nil && x.status == http.StatusOK {
		x.err = err
	}
	return x.err
}

// Do makes a call for the client library.
func (d *doer) Do(q *http.Request) (*http.Response, error) {
	x := q.Context().Value(exchangeKey{}).(*exchange)
	address := *q.URL
	address.RawQuery = d.at.query // with the version of an API, which the library adds, too
	if err := d.ask(q.Context(), address.String(), x); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: x.status, Header: x.header, Body: io.NopCloser(bytes.NewReader(x.raw))}, nil
}

// complete makes one call within its time. What the library makes of a response does not
// count: it takes an error within one for an answer, and no count written 10.0.
func (j *Judge) complete(ctx context.Context, x *exchange, model string) {
	if j.config.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, j.config.Timeout, errTimeout)
		defer cancel()
	}
	if x.path != "" {
		_ = j.wire.ask(ctx, x.path, x) // the exchange has it
		return
	}
	// The library is told of the model alone: the body is that of the exchange.
	_, err := j.client.CreateChatCompletion(context.WithValue(ctx, exchangeKey{}, x), openai.ChatCompletionRequest{Model: model})
	if x.status == 0 && x.err == nil {
		x.unsent = err
	}
}
