package judgetest

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

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
	Cost    float64           `json:"cost"`
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
	prompt := int64(0)
	for i := range t.request.Messages {
		prompt += tokens(t.request.Messages[i].Content) + 4
	}
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
	t.x.NanoUSD = nano
	return &envelope{
		ID: t.generationID(), Provider: model.Provider, Model: model.ID, Object: "chat.completion", Created: time.Now().Unix(),
		Choices: []choice{{FinishReason: finish, Native: finish, Message: message{Role: "assistant", Content: &text}}},
		Usage: usage{
			Prompt: prompt, Completion: completion, Total: prompt + completion, Cost: usd(nano),
			Details: completionDetails{Reasoning: reasoning},
		},
	}
}

func (t *turn) generationID() string {
	return "gen-" + hex.EncodeToString(t.x.Body[:6]) + "-" + strconv.Itoa(t.x.Attempt)
}

// answer sends a text as an answer.
func (t *turn) answer(text string) {
	e := t.envelopeOf(text)
	t.x.Whole = e.Choices[0].FinishReason == "stop"
	t.charge(e)
	if t.request.Stream {
		t.stream(e)
		return
	}
	t.send(mustMarshal(e))
}

// charge takes the price of an answer.
func (t *turn) charge(e *envelope) {
	t.x.Paid = true
	s := t.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent += t.x.NanoUSD
	if !s.config.Lean {
		s.generations[e.ID] = generation{
			ID: e.ID, Model: e.Model, Provider: e.Provider, Cost: e.Usage.Cost,
			Prompt: e.Usage.Prompt, Complete: e.Usage.Completion, Latency: time.Since(t.x.Start).Milliseconds(),
		}
	}
}

// send sends a body as it is, with status 200.
func (t *turn) send(body []byte) {
	if t.r.Context().Err() != nil {
		t.x.Whole = false // paid and nobody there to take it
		return
	}
	t.w.Header().Set("X-Generation-Id", t.generationID())
	t.keep(body)
	t.x.Status, t.x.End = http.StatusOK, time.Now()
	writeBody(t.w, http.StatusOK, body)
}
