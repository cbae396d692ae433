package judgetest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A turn is one exchange while it lasts.
type turn struct {
	server  *Server
	w       http.ResponseWriter
	r       *http.Request
	request chatRequest
	model   *Model
	random  *rand.Rand // of the body and the attempt
	x       *Exchange
}

// chat serves one request for an answer.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	s.turns.Add(1)
	defer s.turns.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	x := &Exchange{Start: time.Now(), Body: sha256.Sum256(body), Attempt: -1}
	if s.config.KeepBodies {
		x.Text = body
	}
	t := &turn{server: s, w: w, r: r, x: x}
	defer func() {
		if x.End.IsZero() {
			x.End = time.Now()
		}
		s.record(x)
	}()
	if err := json.Unmarshal(body, &t.request); err != nil {
		t.fail(400, apiError{Code: 400, Message: "Invalid JSON in request body"})
		return
	}
	x.Prompt = t.request.tokens()
	x.ask(&t.request)
	if status, e := s.refuse(&t.request); status != 0 {
		t.fail(status, e)
		return
	}
	t.model = s.models[t.request.Model]
	if !t.enter() {
		return
	}
	defer t.leave()
	t.serve()
}

// enter lets the request in, or answers 429.
func (t *turn) enter() bool {
	s := t.server
	if s.bucket != nil {
		if wait, ok := s.bucket.take(); !ok {
			t.limited(wait)
			return false
		}
	}
	s.mu.Lock()
	full := s.config.MaxInFlight > 0 && s.inFlight >= s.config.MaxInFlight
	if !full {
		s.inFlight++
		s.counts.MaxInFlight = max(s.counts.MaxInFlight, s.inFlight)
		t.x.Attempt = s.attempts[t.x.Body]
		s.attempts[t.x.Body]++
	}
	s.mu.Unlock()
	if full {
		t.limited(0)
	}
	return !full
}

func (t *turn) leave() {
	t.server.mu.Lock()
	t.server.inFlight--
	t.server.mu.Unlock()
}

// limited answers 429 the way a limit does: in whole seconds.
func (t *turn) limited(wait time.Duration) {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	t.w.Header().Set("X-RateLimit-Limit", strconv.FormatFloat(t.server.config.Rate, 'f', -1, 64))
	t.w.Header().Set("X-RateLimit-Remaining", "0")
	t.w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(wait).UnixMilli(), 10))
	t.w.Header().Set("Retry-After", strconv.Itoa(seconds))
	t.notBefore(time.Duration(seconds) * time.Second)
	t.fail(429, apiError{Code: 429, Message: "Rate limit exceeded", Metadata: map[string]any{"error_type": "rate_limit_exceeded"}})
}

// notBefore notes that the request may come again after d from now.
func (t *turn) notBefore(d time.Duration) {
	t.x.End = time.Now()
	t.x.NotBefore = t.x.End.Add(d)
}

// fail answers with an error.
func (t *turn) fail(status int, e apiError) {
	t.x.Status = status
	if t.x.End.IsZero() {
		t.x.End = time.Now()
	}
	writeError(t.w, status, e)
}

// serve answers a request that was let in, with a fault if it is its turn.
func (t *turn) serve() {
	s := t.server
	t.random = s.randomOf(t.x)
	share, kind := t.random.Float64(), t.random.IntN(max(1, len(s.config.Faults)))
	switch {
	case share < s.config.StrayShare:
		t.x.Fault = stray
	case len(s.config.Faults) > 0 && share < s.config.StrayShare+s.config.FaultShare && s.oneMoreFault():
		t.x.Fault = s.config.Faults[kind]
	}
	if s.broke() {
		t.fail(402, apiError{Code: 402, Message: "Insufficient credits. Add more using https://openrouter.ai/settings/credits"})
		return
	}
	if t.x.Fault != "" {
		t.inject(t.x.Fault)
		return
	}
	t.think(1)
	t.answer(t.reply())
}

// oneMoreFault counts a fault, unless there are enough.
func (s *Server) oneMoreFault() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config.MaxFaults > 0 && s.faults >= s.config.MaxFaults {
		return false
	}
	s.faults++
	return true
}

// randomOf depends on the body and the attempt, not on when they came.
func (s *Server) randomOf(x *Exchange) *rand.Rand {
	var b [8 + 32 + 8]byte
	binary.BigEndian.PutUint64(b[:], s.config.Seed)
	copy(b[8:], x.Body[:])
	binary.BigEndian.PutUint64(b[40:], uint64(x.Attempt))
	h := sha256.Sum256(b[:])
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])))
}

// broke reports whether the credits are used up.
func (s *Server) broke() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config.CreditNanoUSD > 0 && s.spent >= s.config.CreditNanoUSD
}

// think takes the time of an answer, times factor, unless the client goes.
func (t *turn) think(factor float64) {
	if t.server.config.Latency == nil {
		return
	}
	wait := time.NewTimer(time.Duration(factor * float64(t.server.config.Latency(t.random))))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-t.r.Context().Done():
	}
}

// reply is the text of a good answer. A model that nothing holds to a shape replies
// in it if the messages have told it, with words around it, else in prose.
func (t *turn) reply() string {
	p := readPrompt(&t.request)
	text := t.server.config.Reply(p)
	held := t.request.ResponseFormat != nil && !t.model.IgnoresFormat
	if p.Pair != nil || held && t.request.ResponseFormat.Type == "json_schema" {
		return text
	}
	for name := range membersOf(text) {
		if !strings.Contains(p.System+p.User, `"`+name+`"`) {
			if held {
				return `{"answer":"The first claim is supported, the others are not."}`
			}
			return "The first claim is supported by the passage, the others are not."
		}
	}
	if held {
		return text
	}
	return "Here is the review.\n\n```json\n" + text + "\n```"
}

// membersOf are the names of all members of a JSON text.
func membersOf(text string) map[string]bool {
	names := make(map[string]bool)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			for name, member := range v {
				names[name] = true
				walk(member)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		walk(v)
	}
	return names
}

// An envelope is the JSON around an answer.
type envelope struct {
	ID       string    `json:"id"`
	Provider string    `json:"provider"`
	Model    string    `json:"model"`
	Object   string    `json:"object"`
	Created  int64     `json:"created"`
	Choices  []choice  `json:"choices"`
	Usage    usage     `json:"usage"`
	Error    *apiError `json:"error,omitempty"`
}

type choice struct {
	Index        int       `json:"index"`
	FinishReason string    `json:"finish_reason"`
	Native       string    `json:"native_finish_reason"`
	Message      message   `json:"message"`
	Error        *apiError `json:"error,omitempty"`
}

type message struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	Refusal *string `json:"refusal"`
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	// Cost is in USD.
	Cost    *float64          `json:"cost,omitempty"`
	BYOK    bool              `json:"is_byok"`
	Prompts promptDetails     `json:"prompt_tokens_details"`
	Details completionDetails `json:"completion_tokens_details"`
	Costs   costDetails       `json:"cost_details"`
}

type promptDetails struct {
	Cached int64 `json:"cached_tokens"`
	Write  int64 `json:"cache_write_tokens"`
}

type completionDetails struct {
	Reasoning int64 `json:"reasoning_tokens"`
}

type costDetails struct {
	Upstream *float64 `json:"upstream_inference_cost"`
}

// tokens estimates how many tokens a text has.
func tokens(text string) int64 { return int64(len(text)+3) / 4 }

// envelopeOf puts a text into an answer, cut where max_tokens ends.
func (t *turn) envelopeOf(text string) *envelope {
	prompt := t.request.tokens()
	reasoning := t.model.ReasoningTokens
	finish := "stop"
	if limit := t.request.limit(); reasoning+tokens(text) > limit {
		finish = "length"
		reasoning = min(reasoning, limit)
		text = text[:min(int64(len(text)), 4*(limit-reasoning))]
	}
	completion := reasoning + tokens(text)
	model := t.model
	if m := t.server.models[model.Resolves]; m != nil {
		model = m
	}
	nano := prompt*model.PromptNanoUSD + completion*model.CompletionNanoUSD
	if t.request.ServiceTier == "flex" {
		nano /= 2
	}
	t.x.NanoUSD = nano
	e := &envelope{
		ID: t.generationID(), Provider: model.Provider, Model: model.ID, Object: "chat.completion", Created: time.Now().Unix(),
		Choices: []choice{{FinishReason: finish, Native: finish, Message: message{Role: "assistant", Content: &text}}},
		Usage: usage{
			Prompt: prompt, Completion: completion, Total: prompt + completion,
			Details: completionDetails{Reasoning: reasoning},
		},
	}
	switch cost := usd(nano); {
	case t.model.BYOK:
		e.Usage.BYOK, e.Usage.Cost, e.Usage.Costs.Upstream = true, new(0.0), &cost
	case !t.model.TellsNoCost:
		e.Usage.Cost = &cost
	}
	return e
}

func (t *turn) generationID() string {
	return "gen-" + hex.EncodeToString(t.x.Body[:6]) + "-" + strconv.Itoa(t.x.Attempt)
}

// answer sends a text as an answer.
func (t *turn) answer(text string) {
	e := t.envelopeOf(text)
	t.x.Whole = e.Choices[0].FinishReason == "stop"
	t.charge()
	t.send(mustMarshal(e))
}

// charge takes the price of an answer.
func (t *turn) charge() {
	t.x.Paid = true
	s := t.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent += t.x.NanoUSD
}

// send sends a body as it is, with status 200.
func (t *turn) send(body []byte) {
	if t.r.Context().Err() != nil {
		t.x.Whole = false // paid and nobody there to take it
		return
	}
	t.w.Header().Set("X-Generation-Id", t.generationID())
	t.x.Status, t.x.End = http.StatusOK, time.Now()
	writeBody(t.w, http.StatusOK, body)
}

// A Model is what a [Server] says of one model.
type Model struct {
	ID            string
	ContextLength int64
	// ContextError is what it says to a longer prompt, with %d for its length in
	// tokens and the context; it reads any prompt if there is none. TopError puts it
	// at the top of the body, as vLLM did.
	ContextError string
	TopError     bool
	// Prices in nano-USD a token.
	PromptNanoUSD, CompletionNanoUSD int64
	// Parameters it supports.
	Parameters []string
	// ReasoningTokens it spends on every answer; they count against max_tokens.
	ReasoningTokens int64
	// Provider answers for it.
	Provider string
	// TellsNoCost: neither /models nor answers say what it costs.
	TellsNoCost bool
	// BYOK: the user's own key pays the provider, and answers say so.
	BYOK bool
	// MaxCompletion is the most tokens of a reply; more are refused. 0 = no limit.
	MaxCompletion int64
	// Refuses are parameters that it does not take: 400, as OpenAI words it. It
	// wants max_completion_tokens if max_tokens is among them.
	Refuses []string
	// Formats are the types of response_format that it takes, others are 400; nil
	// for all. IgnoresFormat: it takes all and heeds none.
	Formats       []string
	IgnoresFormat bool
	// Resolves names the model that answers in its place, as a router does; ""
	// for itself.
	Resolves string
}

// DefaultModels are a plain model, one that reasons and takes no temperature,
// one without structured outputs, and a router.
func DefaultModels() []Model {
	all := []string{"max_tokens", "temperature", "seed", "response_format", "structured_outputs", "reasoning"}
	without := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(p string) bool { return slices.Contains(names, p) })
	}
	return []Model{
		{ID: "fake/judge", ContextLength: 128_000, PromptNanoUSD: 150, CompletionNanoUSD: 600, Parameters: without("reasoning"), Provider: "Fake"},
		{ID: "other/judge", ContextLength: 128_000, PromptNanoUSD: 300, CompletionNanoUSD: 1200, Parameters: without("reasoning"), Provider: "Other"},
		{ID: "fake/thinker", ContextLength: 200_000, PromptNanoUSD: 1000, CompletionNanoUSD: 4000, Parameters: without("temperature"), ReasoningTokens: 200, Provider: "Fake"},
		{ID: "fake/plain", ContextLength: 16_000, PromptNanoUSD: 50, CompletionNanoUSD: 50, Parameters: without("response_format", "structured_outputs", "reasoning"), Provider: "Fake"},
		{ID: "openrouter/auto", ContextLength: 2_000_000, PromptNanoUSD: -1, CompletionNanoUSD: -1, Parameters: all, Provider: "Fake", Resolves: "fake/judge"},
	}
}

func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) {
	list := []object{}
	for i := range s.config.Models {
		m := &s.config.Models[i]
		described := object{
			"id": m.ID, "canonical_slug": m.ID, "name": m.ID, "context_length": m.ContextLength,
			"supported_parameters": m.Parameters,
			"pricing": object{
				"prompt": decimal(m.PromptNanoUSD), "completion": decimal(m.CompletionNanoUSD), "request": "0",
			},
			"top_provider": object{"context_length": m.ContextLength, "max_completion_tokens": orNil(m.MaxCompletion)},
		}
		if m.TellsNoCost {
			delete(described, "pricing")
		}
		list = append(list, described)
	}
	writeJSON(w, http.StatusOK, object{"data": list})
}

func orNil(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func (s *Server) keyInfo(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	spent := s.spent
	s.mu.Unlock()
	data := map[string]any{
		"label": "sk-or-v1-...", "usage": usd(spent), "limit": nil, "limit_remaining": nil,
		"is_free_tier": false, "rate_limit": map[string]any{"requests": -1, "interval": "10s"},
	}
	if limit := s.config.CreditNanoUSD; limit > 0 {
		data["limit"], data["limit_remaining"] = usd(limit), usd(limit-spent)
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": data})
}
