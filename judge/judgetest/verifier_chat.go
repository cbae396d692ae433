package judgetest

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
)

// A logToken is one token of a reply with its likeliest alternatives.
type logToken struct {
	Token   string     `json:"token"`
	Logprob float64    `json:"logprob"`
	Bytes   []int      `json:"bytes"`
	Top     []logToken `json:"top_logprobs,omitempty"`
}

// chat serves POST /v1/chat/completions: a reply in the form that the request's template
// calls for, token by token, cut off at max_tokens.
func (v *Verifier) chat(body []byte) (int, []string, any) {
	var q struct {
		Model       string        `json:"model"`
		Messages    []chatMessage `json:"messages"`
		MaxTokens   int           `json:"max_tokens"`
		Logprobs    bool          `json:"logprobs"`
		TopLogprobs int           `json:"top_logprobs"`
		Documents   []struct {
			Text string `json:"text"`
		} `json:"documents"`
		Template struct {
			Guardian map[string]any `json:"guardian_config"`
		} `json:"chat_template_kwargs"`
	}
	if err := json.Unmarshal(body, &q); err != nil || len(q.Messages) == 0 {
		return vllmError(http.StatusBadRequest, "BadRequestError", "messages: %v", err)
	}
	if q.Model != v.config.Model {
		return v.refuseModel(q.Model)
	}
	if q.Logprobs && v.config.Logprobs == LogprobsRefused {
		return vllmError(http.StatusBadRequest, "invalid_request_error", "logprobs are not supported with this model")
	}
	asked := q.Messages[len(q.Messages)-1].Content
	document, claim := documentAndClaim([]string{asked})
	if q.Template.Guardian != nil && len(q.Documents) > 0 {
		document, claim = q.Documents[0].Text, asked
	}
	if n := v.tooLong(document, claim); n > 0 {
		return v.refuseLength(n, "messages")
	}
	support := v.config.Support(document, claim)
	said := func(yes, no string, p float64) []logToken { return []logToken{answerToken(yes, no, p)} }
	var tokens []logToken
	switch {
	case q.Template.Guardian != nil: // yes: the criterion of ungroundedness is met
		tokens = slices.Concat(plainTokens("<score>"), said(" yes", " no", 1-support), plainTokens(" </score>"))
	case strings.Contains(asked, `"SCORE"`):
		tokens = slices.Concat(plainTokens(`{"REASONING": ["The words were compared."], "SCORE": "`), said("PASS", "FAIL", support), plainTokens(`"}`))
	default:
		tokens = said("Yes", "No", support)
	}
	finish := "stop"
	if q.MaxTokens > 0 && q.MaxTokens <= len(tokens) { // the end is a token of its own
		tokens, finish = tokens[:q.MaxTokens], "length"
	}
	var text strings.Builder
	for i := range tokens {
		text.WriteString(tokens[i].Token)
		tokens[i].Top = tokens[i].Top[:min(q.TopLogprobs, len(tokens[i].Top))]
	}
	choice := map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text.String()}, "finish_reason": finish, "logprobs": nil}
	if q.Logprobs && v.config.Logprobs == LogprobsGiven {
		choice["logprobs"] = map[string]any{"content": tokens}
	}
	return http.StatusOK, []string{document + "\t" + claim}, map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": v.config.Model, "choices": []any{choice},
		"usage": map[string]any{"prompt_tokens": 20, "completion_tokens": len(tokens), "total_tokens": 20 + len(tokens)},
	}
}

// answerToken is the likelier of two words, with its variants: nine tenths of the
// probability of a word are those of the word as it is, the rest of it in small letters.
func answerToken(yes, no string, p float64) logToken {
	var top []logToken
	add := func(token string, p float64) {
		if p > 0 {
			top = append(top, logToken{Token: token, Logprob: math.Log(p), Bytes: []int{}})
		}
	}
	for _, w := range []struct {
		word string
		p    float64
	}{{yes, p}, {no, 1 - p}} {
		if lower := strings.ToLower(w.word); lower != w.word {
			add(w.word, 0.9*w.p)
			add(lower, 0.1*w.p)
		} else {
			add(w.word, w.p)
		}
	}
	slices.SortStableFunc(top, func(a, b logToken) int { return cmp.Compare(b.Logprob, a.Logprob) })
	out := top[0]
	out.Top = top
	return out
}

// plainTokens are words that were sure to come.
func plainTokens(text string) []logToken {
	var out []logToken
	for _, word := range strings.SplitAfter(text, " ") {
		if word != "" {
			out = append(out, logToken{Token: word, Bytes: []int{}, Top: []logToken{{Token: word, Bytes: []int{}}}})
		}
	}
	return out
}
