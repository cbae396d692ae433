package judgetest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A chatRequest is what the server reads of a request.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Temperature         *float64        `json:"temperature"`
	Seed                *int64          `json:"seed"`
	MaxTokens           *int64          `json:"max_tokens"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens"`
	Stream              bool            `json:"stream"`
	ResponseFormat      *responseFormat `json:"response_format"`
	Provider            map[string]any  `json:"provider"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// limit is the longest answer in tokens.
func (q *chatRequest) limit() int64 {
	switch {
	case q.MaxCompletionTokens != nil:
		return *q.MaxCompletionTokens
	case q.MaxTokens != nil:
		return *q.MaxTokens
	}
	return 1 << 20
}

// schema is the schema asked for, "" if there is none.
func (q *chatRequest) schema() string {
	if q.ResponseFormat == nil || q.ResponseFormat.JSONSchema == nil {
		return ""
	}
	return string(q.ResponseFormat.JSONSchema.Schema)
}

// The names that the API knows; it refuses others.
var (
	roles        = []string{"system", "developer", "user", "assistant", "tool"}
	providerKeys = []string{
		"order", "only", "ignore", "allow_fallbacks", "require_parameters", "data_collection", "zdr", "enforce_distillable_text",
		"quantizations", "sort", "preferred_min_throughput", "preferred_max_latency", "max_price",
	}
)

// refuse says what the API finds wrong with the request: status 0 if nothing.
func (s *Server) refuse(q *chatRequest) (status int, e apiError) {
	bad := func(format string, args ...any) (int, apiError) {
		return 400, apiError{Code: 400, Message: fmt.Sprintf(format, args...)}
	}
	m := s.models[q.Model]
	if m == nil {
		return bad("%s is not a valid model ID", q.Model)
	}
	if len(q.Messages) == 0 {
		return bad("Input required: specify \"prompt\" or \"messages\"")
	}
	for i := range q.Messages {
		if !slices.Contains(roles, q.Messages[i].Role) {
			return bad("messages.%d.role: invalid", i)
		}
	}
	if t := q.Temperature; t != nil && (*t < 0 || *t > 2) {
		return bad("temperature: must be between 0 and 2")
	}
	for key := range q.Provider {
		if !slices.Contains(providerKeys, key) {
			return bad("provider: unrecognized key %q", key)
		}
	}
	if f := q.ResponseFormat; f != nil && f.Type == "json_schema" && (f.JSONSchema == nil || f.JSONSchema.Name == "" || len(f.JSONSchema.Schema) == 0) {
		return bad("response_format.json_schema: name and schema are required")
	}
	if q.Provider["require_parameters"] == true {
		for name, sent := range map[string]bool{"temperature": q.Temperature != nil, "response_format": q.ResponseFormat != nil, "seed": q.Seed != nil} {
			if sent && !slices.Contains(m.Parameters, name) {
				return 404, apiError{
					Code: 404, Message: "No endpoints found that can handle the requested parameters.",
					Metadata: map[string]any{"error_type": "constraint_filtered"},
				}
			}
		}
	}
	return 0, apiError{}
}
