package openrouter

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibid"
)

// The protocols of judges that ask models.
const (
	Verdicts = "verdicts" // one schema for all claims and citations of a row
	Score    = "score"    // one question for a claim and a citation, by the prompts of the specification
	YesNo    = "yes-no"   // a claim and a text, to which a chat model says yes or no
	Classify = "classify" // a claim and a text, to which a sequence classifier gives a score
)

// Where a chat model's reply has its answer.
const (
	answerFirst = "first" // the first word
	answerLast  = "last"  // the last word, behind the reasoning
)

// A Template says how a small verifier is asked whether a text supports a claim, and
// how its answer is read. {claim}, {document}, {question} and {answer} stand in its
// texts for those of the row; {answer} is the whole answer.
type Template struct {
	// Of yes-no: a system message, "" for none, and one message; Body are further
	// members of the request. Texts in Body are filled in, too.
	System  string         `json:"system,omitempty"`
	Role    string         `json:"role,omitempty"`
	Message string         `json:"message,omitempty"`
	Body    map[string]any `json:"body,omitempty"`
	// Answer is where the answer stands, first or last, or, where After is given, behind
	// the last occurrence of that text. Tokens is the room for a reply.
	Answer string `json:"answer,omitempty"`
	After  string `json:"after,omitempty"`
	Tokens int64  `json:"tokens,omitempty"`
	// Negative is the word beside Positive.
	Negative word `json:"negative,omitempty"`

	// Of classify: one text or a pair of texts, and the label of a class that says the
	// opposite, "" if there is none.
	Input         []string `json:"input,omitempty"`
	Contradiction word     `json:"contradiction,omitempty"`

	// Positive is the word of a reply, or the label of the class, that speaks for
	// support; with Inverted it speaks against it. A label may be the number of its
	// class. "" takes the one label that speaks for itself, such as entailment.
	Positive word `json:"positive,omitempty"`
	Inverted bool `json:"inverted,omitempty"`
	// ChunkWords is how many words of a text are asked about at once, in whole
	// sentences; 0 = all, unless that is too long for the model. The best counts.
	ChunkWords int `json:"chunk_words,omitempty"`

	protocol string
}

// A word may be written as a number.
type word string

// UnmarshalJSON takes a string, and a number as it is written.
func (w *word) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*w = word(s)
		return nil
	}
	if _, ok := numberOf(b); !ok {
		return errors.New("want a text or a number")
	}
	*w = word(b)
	return nil
}

// is reports whether text is the word, in any case and with space around it.
func (w word) is(text string) bool { return strings.EqualFold(strings.TrimSpace(text), string(w)) }

// minicheckSystem is the instruction of Bespoke-MiniCheck-7B, from its card.
const minicheckSystem = "Determine whether the provided claim is consistent with the corresponding document. Consistency in this context implies that all information presented in the claim is substantiated by the document. If not, it should be considered inconsistent. Please assess the claim's consistency with the document by responding with either \"Yes\" or \"No\"."

// DefaultTemplate is the template of a protocol without judge.prompts: the request of
// Bespoke-MiniCheck-7B, or a pair of premise and hypothesis.
func DefaultTemplate(protocol string) *Template {
	if protocol == Classify {
		return &Template{protocol: Classify, Input: []string{"{document}", "{claim}"}}
	}
	return &Template{
		protocol: YesNo, System: minicheckSystem, Role: "user", Message: "Document: {document}\nClaim: {claim}",
		Answer: answerFirst, Tokens: 1, Positive: "yes", Negative: "no",
	}
}

// ParseTemplate reads the setting judge.prompts of a protocol. Of a classifier it has what
// differs from [DefaultTemplate], of a chat model the message and what differs beside it; the
// message of the system is "" unless it is given.
//
// An error has a hint.
func ParseTemplate(protocol string, setting map[string]any) (*Template, error) {
	t, err := parseTemplate(protocol, setting)
	if err != nil {
		return nil, &ibid.Error{Err: err, Hint: "ibid help verifiers has the templates and their members"}
	}
	return t, nil
}

func parseTemplate(protocol string, setting map[string]any) (*Template, error) {
	t := DefaultTemplate(protocol)
	if len(setting) > 0 {
		t.System, t.Message = "", ""
	}
	b, err := json.Marshal(setting)
	if err != nil {
		return nil, fmt.Errorf("judge.prompts: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(t); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, fmt.Errorf("judge.prompts.%s: want %s, not %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return nil, fmt.Errorf("judge.prompts: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return t, t.check()
}

// check refuses what cannot be asked or read.
func (t *Template) check() error {
	bad := func(format string, args ...any) error { return fmt.Errorf("judge.prompts: "+format, args...) }
	if t.ChunkWords < 0 {
		return bad("chunk_words: %d is negative", t.ChunkWords)
	}
	if t.protocol == YesNo {
		body, _ := json.Marshal(t.Body) // of YAML: it can be encoded
		switch asked := t.Message + string(body); {
		case t.System != newFiller("", "", "", "").Replace(t.System):
			return bad("system is the same for all questions: {claim}, {document}, {question} and {answer} stand in message or body")
		case !strings.Contains(asked, "{claim}") || !strings.Contains(asked, "{document}"):
			return bad("the request has to show {claim} and {document}")
		case !slices.Contains([]string{"user", "assistant"}, t.Role):
			return bad("role: want user or assistant, not %q", t.Role)
		case !slices.Contains([]string{answerFirst, answerLast}, t.Answer):
			return bad("answer: want %s or %s, not %q", answerFirst, answerLast, t.Answer)
		case t.Positive == "" || t.Negative == "" || t.Positive.is(string(t.Negative)):
			return bad("positive and negative have to be two words")
		case t.Tokens < 1:
			return bad("tokens: %d is no room for a reply", t.Tokens)
		}
		for _, name := range []string{"model", "messages", "stream", "n", "max_tokens", "max_completion_tokens"} {
			if _, given := t.Body[name]; given {
				return bad("body.%s cannot be set here", name)
			}
		}
		return nil
	}
	asked := strings.Join(t.Input, "")
	switch {
	case !strings.Contains(asked, "{claim}") || !strings.Contains(asked, "{document}"):
		return bad("input has to show {claim} and {document}")
	case len(t.Input) > 2:
		return bad("input has %d texts: want one, or a pair", len(t.Input))
	}
	return nil
}

// classOf is the number of a class, if its label is one, or LABEL_ and one.
func classOf(label string) (n int, ok bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(label), "LABEL_"))
	return n, err == nil && n >= 0
}

// version names the protocol, and what the template says.
func (t *Template) version() string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // it was read from JSON
	}
	sum := sha256.Sum256(b)
	return t.protocol + ":" + hex.EncodeToString(sum[:])[:8]
}

// newFiller puts the texts of a row into those of a template.
func newFiller(claim, document, question, answer string) *strings.Replacer {
	return strings.NewReplacer("{claim}", claim, "{document}", document, "{question}", question, "{answer}", answer)
}

// fillAll fills in the texts within a value of JSON.
func fillAll(f *strings.Replacer, v any) any {
	switch v := v.(type) {
	case string:
		return f.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fillAll(f, v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = fillAll(f, member)
		}
		return out
	}
	return v
}
