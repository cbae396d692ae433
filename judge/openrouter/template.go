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
	YesNo    = "yes-no"   // a claim and a text, to which a chat model says yes or no
	Classify = "classify" // a claim and a text, to which a sequence classifier gives a score
)

// The forms of servers of sequence classifiers.
const (
	predictAPI  = "predict"  // POST /predict of text-embeddings-inference
	classifyAPI = "classify" // POST /classify of vLLM
	scoreAPI    = "score"    // POST /score of vLLM
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
	Like string `json:"like,omitempty"` // the built-in template that it starts from

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

	// Of classify: the form of the server, and one text or a pair of texts.
	API   string   `json:"api,omitempty"`
	Input []string `json:"input,omitempty"`
	// Contradiction is the label of a class that says the opposite, "" if there is
	// none. Logits: the server gives logits; otherwise probabilities.
	Contradiction word `json:"contradiction,omitempty"`
	Logits        bool `json:"logits,omitempty"`

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

const (
	minicheckSystem = "Determine whether the provided claim is consistent with the corresponding document. Consistency in this context implies that all information presented in the claim is substantiated by the document. If not, it should be considered inconsistent. Please assess the claim's consistency with the document by responding with either \"Yes\" or \"No\"."

	factcgInput = "{document}\n\nChoose your answer: based on the paragraph above can we conclude that \"{claim}\"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is "

	lynxMessage = "Given the following QUESTION, DOCUMENT and ANSWER you must analyze the provided answer and determine whether it is faithful to the contents of the DOCUMENT. The ANSWER must not offer new information beyond the context provided in the DOCUMENT. The ANSWER also must not contradict information provided in the DOCUMENT. Output your final verdict by strictly following this format: \"PASS\" if the answer is faithful to the DOCUMENT and \"FAIL\" if the answer is not faithful to the DOCUMENT. Show your reasoning.\n\n--\nQUESTION (THIS DOES NOT COUNT AS BACKGROUND INFORMATION):\n{question}\n\n--\nDOCUMENT:\n{document}\n\n--\nANSWER:\n{claim}\n\n--\n\nYour output should be in JSON FORMAT with the keys \"REASONING\" and \"SCORE\":\n{\"REASONING\": <your reasoning as bullet points>, \"SCORE\": <your final score>}\n"
)

// builtin makes the templates that have a name. The shapes are those of the models'
// cards: Bespoke-MiniCheck-7B, Granite Guardian 3.3, Lynx and FactCG; pair is that of
// a classifier of premise and hypothesis, score that of a cross-encoder.
var builtin = map[string]func() *Template{
	"minicheck": func() *Template {
		return &Template{
			protocol: YesNo, System: minicheckSystem, Role: "user", Message: "Document: {document}\nClaim: {claim}",
			Answer: answerFirst, Tokens: 1, Positive: "yes", Negative: "no",
		}
	},
	"granite-guardian": func() *Template {
		return &Template{
			protocol: YesNo, Role: "assistant", Message: "{claim}", Answer: answerFirst, After: "<score>", Tokens: 20,
			Positive: "yes", Negative: "no", Inverted: true,
			Body: map[string]any{
				"documents":            []any{map[string]any{"doc_id": "0", "text": "{document}"}},
				"chat_template_kwargs": map[string]any{"guardian_config": map[string]any{"criteria_id": "groundedness"}, "think": false},
			},
		}
	},
	"lynx": func() *Template {
		return &Template{
			protocol: YesNo, Role: "user", Message: lynxMessage, Answer: answerFirst, After: `"SCORE":`, Tokens: 800,
			Positive: "PASS", Negative: "FAIL",
		}
	},
	"pair": func() *Template {
		return &Template{protocol: Classify, API: predictAPI, Input: []string{"{document}", "{claim}"}}
	},
	"score": func() *Template {
		return &Template{protocol: Classify, API: scoreAPI, Input: []string{"{document}", "{claim}"}}
	},
	"factcg": func() *Template {
		return &Template{protocol: Classify, API: predictAPI, Input: []string{factcgInput}, Positive: "LABEL_1", ChunkWords: 550}
	},
}

// Templates are the names of the built-in templates of a protocol, sorted.
func Templates(protocol string) []string {
	var names []string
	for name, make := range builtin {
		if make().protocol == protocol {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ParseTemplate reads the setting judge.template of a protocol: members that a
// built-in template, named as like, has otherwise. Without like it is minicheck of
// yes-no, and pair of classify.
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
	like := map[string]string{YesNo: "minicheck", Classify: "pair"}[protocol]
	if name, given := setting["like"]; given {
		like = fmt.Sprint(name)
	}
	make, known := builtin[like]
	if !known || make().protocol != protocol {
		names := Templates(protocol)
		text := fmt.Sprintf("judge.template: %q is no template of protocol %s: take one of %s", like, protocol, strings.Join(names, ", "))
		if near := ibid.Nearest(like, names); near != "" {
			text += "; did you mean " + near + "?"
		}
		return nil, errors.New(text)
	}
	t := make()
	b, err := json.Marshal(setting)
	if err != nil {
		return nil, fmt.Errorf("judge.template: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(t); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, fmt.Errorf("judge.template.%s: want %s, not %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return nil, fmt.Errorf("judge.template: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	t.Like = like
	return t, t.check()
}

// check refuses what cannot be asked or read.
func (t *Template) check() error {
	bad := func(format string, args ...any) error { return fmt.Errorf("judge.template: "+format, args...) }
	if t.ChunkWords < 0 {
		return bad("chunk_words: %d is negative", t.ChunkWords)
	}
	if t.protocol == YesNo {
		body, _ := json.Marshal(t.Body) // of YAML: it can be encoded
		switch asked := t.Message + string(body); {
		case t.System != newFiller("", "", "", "").replace.Replace(t.System):
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
	_, numbered := t.class()
	switch {
	case !strings.Contains(asked, "{claim}") || !strings.Contains(asked, "{document}"):
		return bad("input has to show {claim} and {document}")
	case t.API == predictAPI && len(t.Input) > 2:
		return bad("input has %d texts: want one, or a pair", len(t.Input))
	case t.API == classifyAPI && len(t.Input) != 1:
		return bad("api classify takes one text: set input to a list of one")
	case t.API == scoreAPI && len(t.Input) != 2:
		return bad("api score takes a pair: set input to a list of two texts")
	case t.API == classifyAPI && !numbered:
		return bad("api classify gives scores by the number of the class: set positive to a number, such as 1")
	case !slices.Contains([]string{predictAPI, classifyAPI, scoreAPI}, t.API):
		return bad("api: want %s, %s or %s, not %q", predictAPI, classifyAPI, scoreAPI, t.API)
	}
	return nil
}

// class is the number of the positive class, if its label is one, or LABEL_ and one.
func (t *Template) class() (n int, ok bool) { return classOf(string(t.Positive)) }

func classOf(label string) (n int, ok bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(label), "LABEL_"))
	return n, err == nil && n >= 0
}

// version names the template, and what it says.
func (t *Template) version() string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // it was read from JSON
	}
	sum := sha256.Sum256(b)
	return t.protocol + ":" + t.Like + "-" + hex.EncodeToString(sum[:])[:8]
}

// A filler puts the texts of a row into those of a template.
type filler struct{ replace *strings.Replacer }

func newFiller(claim, document, question, answer string) filler {
	return filler{strings.NewReplacer("{claim}", claim, "{document}", document, "{question}", question, "{answer}", answer)}
}

// all fills in the texts within a value of JSON.
func (f filler) all(v any) any {
	switch v := v.(type) {
	case string:
		return f.replace.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = f.all(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = f.all(member)
		}
		return out
	}
	return v
}

// inputs are the texts of a classifier.
func (t *Template) inputs(f filler) []string {
	out := make([]string, len(t.Input))
	for i := range t.Input {
		out[i] = f.replace.Replace(t.Input[i])
	}
	return out
}
