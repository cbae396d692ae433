package judgetest

import (
	"net/http"
	"slices"
)

// A Model is what a [Server] says of one model.
type Model struct {
	ID            string
	ContextLength int64
	// Prices in nano-USD a token.
	PromptNanoUSD, CompletionNanoUSD int64
	// Parameters it supports.
	Parameters []string
	// ReasoningTokens it spends on every answer; they count against max_tokens.
	ReasoningTokens int64
	// Provider answers for it.
	Provider string
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

// A generation is what GET /generation tells of an answer.
type generation struct {
	ID       string  `json:"id"`
	Model    string  `json:"model"`
	Provider string  `json:"provider_name"`
	Cost     float64 `json:"total_cost"`
	Prompt   int64   `json:"native_tokens_prompt"`
	Complete int64   `json:"native_tokens_completion"`
	Latency  int64   `json:"latency"`
}

func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) {
	type object = map[string]any
	list := []object{}
	for i := range s.config.Models {
		m := &s.config.Models[i]
		list = append(list, object{
			"id": m.ID, "canonical_slug": m.ID, "name": m.ID, "context_length": m.ContextLength,
			"supported_parameters": m.Parameters,
			"pricing": object{
				"prompt": decimal(m.PromptNanoUSD), "completion": decimal(m.CompletionNanoUSD), "request": "0",
			},
			"top_provider": object{"context_length": m.ContextLength, "max_completion_tokens": nil},
		})
	}
	writeJSON(w, http.StatusOK, object{"data": list})
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

// credits is for management keys only, which this key is not.
func (s *Server) credits(w http.ResponseWriter, _ *http.Request) {
	writeError(w, http.StatusForbidden, apiError{Code: 403, Message: "Only management keys can fetch credits"})
}

func (s *Server) generation(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	g, ok := s.generations[r.URL.Query().Get("id")]
	s.mu.Unlock()
	if !ok {
		writeError(w, http.StatusNotFound, apiError{Code: 404, Message: "Generation not found"})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": g})
}
