package openrouter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// An envelope is what is read of a response. It is lenient where the schema is
// not known for sure: a member of another type than expected counts as absent.
type envelope struct {
	ID       string     `json:"id"`
	Model    string     `json:"model"`
	Provider string     `json:"provider"`
	Choices  []choice   `json:"choices"`
	Usage    usage      `json:"usage"`
	Error    *wireError `json:"error"`
}

type choice struct {
	FinishReason string     `json:"finish_reason"`
	Message      message    `json:"message"`
	Error        *wireError `json:"error"`
}

type message struct {
	Content json.RawMessage `json:"content"` // a string, null, or parts
	Refusal *string         `json:"refusal"`
}

// usage has numbers as they may come: 10, 10.0, null.
type usage struct {
	Prompt     amount   `json:"prompt_tokens"`
	Completion amount   `json:"completion_tokens"`
	Cost       *float64 `json:"cost"` // in USD; nil if the endpoint does not tell
	Prompts    struct {
		Cached amount `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Completions struct {
		Reasoning amount `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// An amount is a count that may be written with a fraction.
type amount int64

// UnmarshalJSON takes any number; anything else is 0.
func (a *amount) UnmarshalJSON(b []byte) error {
	if v, err := strconv.ParseFloat(string(b), 64); err == nil && v >= 0 && v < 1<<53 {
		*a = amount(v)
	}
	return nil
}

// A wireError is an error in any of its shapes: an object with a number or a
// string as code, one with http_status instead, or a bare string.
type wireError struct {
	Code       json.RawMessage `json:"code"`
	Message    json.RawMessage `json:"message"`
	HTTPStatus int             `json:"http_status"`
	ErrorType  string          `json:"error_type"`
	Metadata   struct {
		ErrorType         string                     `json:"error_type"`
		LimitSource       string                     `json:"limit_source"`
		Raw               json.RawMessage            `json:"raw"`
		RetryAfterSeconds *float64                   `json:"retry_after_seconds"`
		Headers           map[string]json.RawMessage `json:"headers"`
		Reasons           []string                   `json:"reasons"`
		FlaggedInput      *string                    `json:"flagged_input"`
		Patterns          []json.RawMessage          `json:"patterns"`
	} `json:"metadata"`
	Availability *struct {
		Retryable  bool     `json:"retryable"`
		RetryAfter *float64 `json:"retry_after"`
	} `json:"availability"`
}

// UnmarshalJSON never fails: whatever an error is, it is one.
func (e *wireError) UnmarshalJSON(b []byte) error {
	type plain wireError
	var p plain
	if err := json.Unmarshal(b, &p); err != nil {
		// A string, or a member of another type: keep what can be kept.
		var loose struct{ Code, Message json.RawMessage }
		if json.Unmarshal(b, &loose) != nil {
			loose.Message = bytes.Clone(b)
		}
		p = plain{Code: loose.Code, Message: loose.Message}
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
	if s == "" {
		s = e.kind()
	}
	if s == "" {
		s = "an error without a message"
	}
	return s
}

// kind is the stable name of the error, "" if it has none.
func (e *wireError) kind() string {
	if e.Metadata.ErrorType != "" {
		return e.Metadata.ErrorType
	}
	return e.ErrorType
}

// status is the error's own, of HTTP; 502 if it has none.
func (e *wireError) status() int {
	if v, err := strconv.ParseFloat(strings.Trim(string(e.Code), `"`), 64); err == nil && v == math.Trunc(v) && v >= 400 && v <= 599 {
		return int(v)
	}
	if e.HTTPStatus >= 400 && e.HTTPStatus <= 599 {
		return e.HTTPStatus
	}
	return http.StatusBadGateway
}

var errNoChoice = errors.New("no choices")

// read decodes a body that must be one JSON document. White space around it is
// fine.
func (v *envelope) read(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("the response is not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the response goes on after its JSON document")
	}
	return nil
}

// failure is the error that a response has within, nil if it has none. A
// response without choices is one.
func (v *envelope) failure() *wireError {
	switch {
	case v.Error != nil:
		return v.Error
	case len(v.Choices) == 0:
		return &wireError{Message: json.RawMessage(quoted(errNoChoice.Error()))}
	}
	return v.Choices[0].Error
}

// content is the text of the answer; ok is false if there is none.
func (m *message) content() (text string, ok bool) {
	if json.Unmarshal(m.Content, &text) == nil {
		return text, strings.TrimSpace(text) != ""
	}
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &parts) != nil {
		return "", false
	}
	for _, p := range parts {
		text += p.Text
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
