package openrouter

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"ibid/judge/cache"
)

// A ModelInfo is what an endpoint says of a model.
type ModelInfo struct {
	ContextLength int64    // in tokens; 0 if it does not say
	Parameters    []string // that at least one provider takes; nil if it does not say
	Price         Price
	HasPrice      bool
	MaxCompletion int64 // tokens of a reply; 0 if it does not say
	Reasons       bool  // it cannot do without reasoning
}

// Supports reports whether a provider of the model takes a parameter; true if
// nobody says.
func (m *ModelInfo) Supports(parameter string) bool {
	return m.Parameters == nil || slices.Contains(m.Parameters, parameter)
}

const (
	askingTimeout = 15 * time.Second // of what costs nothing
	maxListing    = 32 << 20         // bytes
)

// get asks a service for what it tells beside answers. It costs nothing.
func (j *Judge) get(ctx context.Context, address string) (body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askingTimeout)
	defer cancel()
	x := new(exchange)
	if err := j.wire.transfer(ctx, http.MethodGet, address, "", x, maxListing); err != nil {
		return nil, j.plain(err)
	}
	if x.status != http.StatusOK {
		return nil, fmt.Errorf("status %d", x.status)
	}
	return x.raw, nil
}

// Models asks the endpoint for its models, until it has said them, and returns them by name. It
// costs nothing.
func (j *Judge) Models(ctx context.Context) (map[string]ModelInfo, error) {
	if known := j.listing.Load(); known != nil {
		return *known, nil
	}
	body, err := j.get(ctx, j.wire.at.url("/models", ""))
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	var list struct {
		Data []struct {
			ID         label    `json:"id"`
			Context    amount   `json:"context_length"`
			MaxLength  amount   `json:"max_model_len"` // as vLLM calls it
			Parameters []string `json:"supported_parameters"`
			Pricing    struct {
				Prompt, Completion, Request number
				Cached                      number `json:"input_cache_read"`
			}
			Top struct {
				MaxCompletion amount `json:"max_completion_tokens"`
			} `json:"top_provider"`
			Reasoning struct {
				Mandatory bool `json:"mandatory"`
			} `json:"reasoning"`
		} `json:"data"`
	}
	if err := lenient(json.Unmarshal(body, &list)); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	models := make(map[string]ModelInfo, len(list.Data))
	for _, m := range list.Data {
		info := ModelInfo{
			ContextLength: int64(max(m.Context, m.MaxLength)), Parameters: m.Parameters,
			MaxCompletion: int64(m.Top.MaxCompletion), Reasons: m.Reasoning.Mandatory,
			HasPrice: m.Pricing.Prompt.told && m.Pricing.Completion.told,
		}
		if !m.Pricing.Cached.told {
			m.Pricing.Cached = m.Pricing.Prompt
		}
		info.Price = Price{Prompt: m.Pricing.Prompt.value, Completion: m.Pricing.Completion.value, Cached: m.Pricing.Cached.value, Request: m.Pricing.Request.value}
		models[string(m.ID)] = info
	}
	j.listing.Store(&models)
	return models, nil
}

// LoadPrices asks the endpoint what its models cost, once; later calls do
// nothing. Without prices a budget still holds, but calls go out one by one
// until the first has shown its cost.
func (j *Judge) LoadPrices(ctx context.Context) error {
	var err error
	j.modelsOnce.Do(func() {
		j.recall(ctx)
		if j.config.Kind != KindOpenRouter && j.config.MaxCostNanoUSD == 0 {
			return
		}
		var known map[string]ModelInfo
		known, err = j.Models(ctx)
		provider, _ := j.config.Request["provider"].(map[string]any)
		demanding := j.config.Kind == KindOpenRouter && provider["require_parameters"] == true
		for _, m := range j.members {
			if info, ok := known[m.model]; ok {
				m.profile.describe(&info, demanding)
			}
		}
	})
	return err
}

// learntFor is how long what was learnt of a model counts.
const learntFor = 7 * 24 * time.Hour

// learn keeps what was learnt of a model for later runs. They do without what cannot be kept.
func (j *Judge) learn(model, name string, value float64) {
	_ = j.store.Learn(context.Background(), cache.Learnt{Endpoint: j.config.endpoint(), Model: model, Name: name, Value: value, At: time.Now()})
}

// recall takes over what earlier runs have learnt of the models.
func (j *Judge) recall(ctx context.Context) {
	if j.store == nil {
		return
	}
	all, err := j.store.Learnt(ctx, j.config.endpoint(), time.Now().Add(-learntFor))
	if err != nil {
		return // the first question meets it again
	}
	for _, l := range all {
		for _, m := range j.members {
			if m.model == l.Model {
				m.profile.recall(l.Name, l.Value)
			}
		}
	}
}

// priceOf is the price of a model, ok is false if it is not known.
func (j *Judge) priceOf(model string) (p Price, ok bool) {
	if p, ok = j.config.Prices[model]; ok {
		return p, true
	}
	if known := j.listing.Load(); known != nil {
		p, ok = (*known)[model].Price, (*known)[model].HasPrice
	}
	return p, ok
}

// cost is what tokens cost at most, in nano-USD.
func (p Price) cost(prompt, completion int64) int64 {
	return nanoUSD(p.Prompt*float64(prompt) + p.Completion*float64(completion) + p.Request)
}

// ofUsage is what a call cost, in nano-USD, where its endpoint does not say.
func (p Price) ofUsage(u *usage) int64 {
	cached := min(u.Prompts.Cached, u.Prompt)
	return nanoUSD(p.Prompt*float64(u.Prompt-cached) + p.Cached*float64(cached) + p.Completion*float64(u.Completion) + p.Request)
}
