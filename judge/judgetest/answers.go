package judgetest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ibid"
)

// A Prompt is what a [Server] reads in the messages of a request.
type Prompt struct {
	CheckWord    string // "" if its line is not there
	Format       string // of the reply that is asked for: json_schema, json_object, or "" for any
	Claims       []PromptClaim
	Evidence     []PromptText
	Sentences    []PromptText // instead, if the claims of sentences are asked for
	Pair         *PromptPair  // instead, if a number is asked for
	System, User string       // the system message and the first message of the user
	sufficient   bool         // sets of citations that suffice are asked for
}

// A PromptClaim is a claim with the ids of the evidence it cites.
type PromptClaim struct {
	ID, Text string
	Cites    []string
}

// A PromptText is the cited words of a passage, or a sentence.
type PromptText struct{ ID, Text string }

// A PromptPair is a claim and a text.
type PromptPair struct {
	Claim, Text string
	Choice      bool // 1, 2 or 3 is asked for instead of a score
}

// mark matches a citation mark in an answer, such as [1].
var mark = regexp.MustCompile(`\[\d+\]`)

// readPrompt reads messages. Turns after the first message of the user repair a reply, and do
// not change what is asked.
func readPrompt(q *chatRequest) *Prompt {
	p := &Prompt{sufficient: q.ResponseFormat != nil && strings.Contains(string(q.ResponseFormat.JSONSchema.Schema), `"sufficient"`)}
	if q.ResponseFormat != nil {
		p.Format = q.ResponseFormat.Type
	}
	for i := range q.Messages {
		switch m := &q.Messages[i]; {
		case m.Role == "system" && p.System == "":
			p.System = m.Content
		case m.Role == "user":
			p.sufficient = p.sufficient || strings.Contains(m.Content, `"sufficient"`)
			if p.User == "" {
				p.User = m.Content
			}
		}
	}
	if first, _, _ := strings.Cut(p.User, "\n"); strings.HasPrefix(first, "Check word: ") {
		p.CheckWord = strings.TrimPrefix(first, "Check word: ")
	}
	if _, rest, ok := strings.Cut(p.User, "<evidence-"); ok {
		code, _, _ := strings.Cut(rest, ">")
		for _, c := range elements(p.User, "claim", code) {
			p.Claims = append(p.Claims, PromptClaim{c[1], strings.TrimSpace(mark.ReplaceAllString(c[3], "")), strings.Fields(c[2])})
		}
		for _, e := range elements(p.User, "passage", code) {
			_, cited, _ := strings.Cut(e[3], "<cited-"+code+">")
			cited, _, _ = strings.Cut(cited, "</cited-"+code+">")
			p.Evidence = append(p.Evidence, PromptText{e[1], cited})
		}
	} else if _, rest, ok := strings.Cut(p.User, "<sentences-"); ok {
		code, _, _ := strings.Cut(rest, ">")
		for _, s := range elements(p.User, "sentence", code) {
			p.Sentences = append(p.Sentences, PromptText{s[1], strings.Trim(s[3], "\n")})
		}
	} else if _, rest, ok := strings.Cut(p.User, "Claim: "); ok { // the prompts of the specification
		if claim, after, ok := strings.Cut(rest, "\n\n    Cited Text: "); ok {
			text, _, _ := strings.Cut(after, "\n\n    Rate the support")
			p.Pair = &PromptPair{claim, text, false}
		} else if claim, after, ok := strings.Cut(rest, "\n\n        Available Sources:\n"); ok {
			text, _, _ := strings.Cut(after, "\n\n        Is this claim:")
			p.Pair = &PromptPair{claim, text, true}
		}
	}
	return p
}

// elements are those with a name and the code of a prompt: whole, id, citations, text.
func elements(s, name, code string) [][]string {
	tag := name + "-" + code
	return regexp.MustCompile(`(?s)<`+tag+` id="([^"]*)"(?: cites="(?:nothing|([^"]*))")?(?: cut="yes")?>(.*?)</`+tag+`>`).FindAllStringSubmatch(s, -1)
}

// An Answer is a reply by the schema of package judge.
type Answer struct {
	Check     string        `json:"check"`
	Tampering string        `json:"tampering"`
	Claims    []AnswerClaim `json:"claims"`
}

// An AnswerClaim is the verdict on one claim.
type AnswerClaim struct {
	ID                string        `json:"id"`
	Kind              string        `json:"kind"`
	Checks            []AnswerCheck `json:"checks"`
	JointWhy          string        `json:"joint_why"`
	Joint             string        `json:"joint"`
	Elsewhere         string        `json:"elsewhere"`
	ElsewhereEvidence string        `json:"elsewhere_evidence_id"`
	ElsewhereQuote    string        `json:"elsewhere_quote"`
	Sufficient        *[][]string   `json:"sufficient,omitempty"`
}

// An AnswerCheck is the verdict on one claim with one text.
type AnswerCheck struct {
	EvidenceID string `json:"evidence_id"`
	Why        string `json:"why"`
	Quote      string `json:"quote"`
	Support    string `json:"support"`
	Relevant   string `json:"relevant"`
}

// String is the answer as a message has it.
func (a *Answer) String() string { return string(mustMarshal(a)) }

// Overlap answers by the share of a claim's words that the evidence has. It depends on nothing
// but the texts, so that two runs have the same verdicts. It is not meant to be right.
func Overlap(p *Prompt) string {
	switch {
	case p.Pair != nil:
		words := wordsOf(p.Pair.Claim)
		if p.Pair.Choice {
			return map[string]string{"full": "1", "mostly": "2", "partial": "2", "none": "3"}[labelOf(words, p.Pair.Text)]
		}
		return strconv.FormatFloat(shareOf(words, p.Pair.Text), 'f', 1, 64)
	case p.Sentences != nil: // the clauses of each; a question claims nothing
		all := []object{}
		for _, s := range p.Sentences {
			claims := []string{}
			if !strings.HasSuffix(s.Text, "?") {
				claims = strings.Split(strings.ReplaceAll(s.Text, ", and ", "; "), "; ")
			}
			all = append(all, object{"id": s.ID, "claims": claims})
		}
		return string(mustMarshal(object{"sentences": all}))
	}
	return OverlapAnswer(p).String()
}

// OverlapAnswer is what [Overlap] says of claims, for a test to change.
func OverlapAnswer(p *Prompt) *Answer {
	a := &Answer{Check: p.CheckWord, Tampering: ibid.TamperingNone, Claims: []AnswerClaim{}}
	for i := range p.Claims {
		a.Claims = append(a.Claims, p.overlapClaim(&p.Claims[i]))
	}
	return a
}

func (p *Prompt) overlapClaim(c *PromptClaim) AnswerClaim {
	words := wordsOf(c.Text)
	out := AnswerClaim{ID: c.ID, Kind: ibid.FactualLabel, Checks: []AnswerCheck{}, JointWhy: "words in common", Joint: "none", Elsewhere: "none"}
	if strings.HasSuffix(strings.TrimSpace(c.Text), "?") || len(words) == 0 {
		out.Kind = "nonfactual"
	}
	cited, sufficient := "", [][]string{}
	for _, id := range c.Cites {
		text := ""
		if e := slices.IndexFunc(p.Evidence, func(e PromptText) bool { return e.ID == id }); e >= 0 {
			text = p.Evidence[e].Text
		}
		check := AnswerCheck{id, "words in common", quoteOf(text), labelOf(words, text), "yes"}
		if check.Support == "none" {
			check.Relevant = "no"
		}
		out.Checks = append(out.Checks, check)
		cited += "\n" + text
		if check.Support == "full" || check.Support == "mostly" {
			sufficient = append(sufficient, []string{id})
		}
	}
	out.Joint = labelOf(words, cited)
	if len(sufficient) == 0 && len(c.Cites) > 1 && (out.Joint == "full" || out.Joint == "mostly") {
		sufficient = append(sufficient, c.Cites)
	}
	if p.sufficient {
		out.Sufficient = &sufficient
	}
	best := 0.0
	for _, e := range p.Evidence {
		if share := shareOf(words, e.Text); share > best && !slices.Contains(c.Cites, e.ID) && quoteOf(e.Text) != "" {
			best = share
			out.Elsewhere, out.ElsewhereEvidence, out.ElsewhereQuote = labelOf(words, e.Text), e.ID, quoteOf(e.Text)
		}
	}
	return out
}

// quoteOf returns up to 60 code points of a text for a quotation. It returns "" for a text
// without characters other than space and U+FFFD.
func quoteOf(text string) string {
	for piece := range strings.SplitSeq(text, "\uFFFD") {
		if piece = strings.TrimSpace(piece); piece != "" {
			runes := []rune(piece)
			return strings.TrimSpace(string(runes[:min(len(runes), 60)]))
		}
	}
	return ""
}

// labelOf is how far a text supports a claim of those words.
func labelOf(words []string, text string) string {
	switch share := shareOf(words, text); {
	case quoteOf(text) == "":
		return "none"
	case share >= 0.9:
		return "full"
	case share >= 0.7:
		return "mostly"
	case share >= 0.4:
		return "partial"
	}
	return "none"
}

// shareOf is the fraction of words that text has.
func shareOf(words []string, text string) float64 {
	if len(words) == 0 {
		return 0
	}
	has, n := make(map[string]bool), 0
	for _, w := range wordsOf(text) {
		has[w] = true
	}
	for _, w := range words {
		if has[w] {
			n++
		}
	}
	return float64(n) / float64(len(words))
}

// wordsOf are the runs of letters and digits, in lower case; of scripts without spaces, every
// letter.
func wordsOf(text string) (words []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if strings.ContainsFunc(w, func(r rune) bool { return r >= 0x2E80 }) {
			words = append(words, strings.Split(w, "")...)
		} else {
			words = append(words, w)
		}
	}
	return words
}

// A VerifierConfig is a small model, fake/verifier, that says how many of a claim's words a
// document has. It answers as several servers do: GET /info and POST /predict of
// text-embeddings-inference, both beside the /v1 of [Server.URL], and POST /chat/completions.
type VerifierConfig struct {
	Labels    []string // of the classes in order; nil for entailment, neutral, contradiction
	MaxTokens int      // of one input; more are refused. 0 = any
	NoInfo    bool     // there is no /info
	Logprobs  string   // "ignored" or "refused": a chat gives no probabilities of tokens
	// Contradiction is how far a document says the opposite, nil for never.
	Contradiction func(document, claim string) float64
}

func (s *Server) routeVerifier() {
	v := s.config.Verifier
	if v == nil {
		return
	}
	if v.Labels == nil {
		v.Labels = []string{"entailment", "neutral", "contradiction"}
	}
	s.route("POST /api/predict", s.exchange)
	ids := make(map[string]string)
	for i, label := range v.Labels {
		ids[strconv.Itoa(i)] = label
	}
	info := object{"model_type": object{"classifier": object{"id2label": ids}}, "max_input_length": v.MaxTokens}
	if !v.NoInfo {
		s.route("GET /api/info", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, info) })
	}
}

// A verifierRequest is one to any of the servers.
type verifierRequest struct {
	Model       string
	Inputs      [][]string    // of /predict, one pair
	Messages    []chatMessage // of a chat
	MaxTokens   int           `json:"max_tokens"`
	Logprobs    bool
	TopLogprobs int `json:"top_logprobs"`
}

// pair returns the document and the claim in the request, nil if it has none.
func (q *verifierRequest) pair() []string {
	if n := len(q.Messages); n > 0 {
		text := q.Messages[n-1].Content
		if m := minicheck.FindStringSubmatch(text); m != nil {
			return m[1:]
		}
		return []string{text, ""}
	}
	if len(q.Inputs) == 1 && len(q.Inputs[0]) == 2 {
		return q.Inputs[0]
	}
	return nil
}

// minicheck is a text with a document and a claim.
var minicheck = regexp.MustCompile(`(?s)^Document: (.*?)\nClaim: (.*)$`)

// answer reads a request as the server at a path does. inputs are what it was about.
func (v *VerifierConfig) answer(path string, body []byte) (status int, inputs []string, reply any) {
	var q verifierRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return 422, nil, failure(422, err.Error())
	}
	pair, predict := q.pair(), strings.HasSuffix(path, "/predict")
	switch {
	case pair == nil:
		return 422, nil, failure(422, "there is no pair of texts")
	case !predict && q.Model != "fake/verifier":
		return 404, nil, failure(404, "The model does not exist.")
	case q.Logprobs && v.Logprobs == "refused":
		return 400, nil, failure(400, "logprobs are not supported with this model")
	}
	text := strings.Join(pair, "\t")
	switch n := len(strings.Fields(text)) + strings.Count(text, ".") + strings.Count(text, ",") + 2; {
	case v.MaxTokens == 0 || n <= v.MaxTokens:
	case predict:
		return 413, nil, object{"error": fmt.Sprintf("`inputs` must have less than %d tokens. Given: %d", v.MaxTokens, n), "error_type": "Validation"}
	default:
		return 400, nil, failure(400, fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens. Please reduce the length of the input.", v.MaxTokens, n))
	}
	if !predict {
		return 200, []string{text}, v.chat(&q, shareOf(wordsOf(pair[1]), pair[0]))
	}
	classes := []object{}
	for class, p := range v.classes(pair) {
		classes = append(classes, object{"score": p, "label": v.Labels[class]})
	}
	return 200, []string{text}, [][]object{classes}
}

// classes are the probabilities of no and yes, or of entailment, neutral and contradiction.
func (v *VerifierConfig) classes(pair []string) []float64 {
	support, against := shareOf(wordsOf(pair[1]), pair[0]), 0.0
	if len(v.Labels) == 2 {
		return []float64{1 - support, support}
	}
	if v.Contradiction != nil {
		against = min(v.Contradiction(pair[0], pair[1]), 1-support)
	}
	return []float64{support, 1 - support - against, against}
}

// chat is a reply of one word, yes or no. One that has no room for its end is cut off.
func (v *VerifierConfig) chat(q *verifierRequest, support float64) object {
	log := func(p float64) float64 { return math.Log(max(p, 1e-9)) }
	top, finish := []object{{"token": "Yes", "logprob": log(support)}, {"token": "No", "logprob": log(1 - support)}}, "stop"
	if support < 0.5 {
		slices.Reverse(top)
	}
	if q.MaxTokens == 1 {
		finish = "length" // the end is a token of its own
	}
	text := top[0]["token"]
	tokens := []object{{"token": text, "logprob": top[0]["logprob"], "top_logprobs": top[:min(q.TopLogprobs, len(top))]}}
	choice := object{"index": 0, "message": object{"role": "assistant", "content": text}, "finish_reason": finish}
	if q.Logprobs && v.Logprobs == "" {
		choice["logprobs"] = object{"content": tokens}
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": q.Model, "choices": []object{choice},
		"usage": object{"prompt_tokens": 20, "completion_tokens": len(tokens), "total_tokens": 20 + len(tokens)},
	}
}
