package judgetest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ibid"
)

// A Prompt is what a [Server] reads in the messages of a request.
type Prompt struct {
	Claims   []PromptClaim
	Evidence []PromptText
	// Sentences are set instead if the claims of sentences are asked for.
	Sentences []PromptText
	// Pair is set instead if a number is asked for: how far a text supports a claim.
	Pair *PromptPair
	// System and User are the system message and the first message of the user.
	System, User string

	sufficient bool // sets of citations that suffice are asked for
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

// mark is a citation as it stands in an answer.
var mark = regexp.MustCompile(`\[\d+\]`)

// readPrompt reads messages. Turns after the first message of the user repair a reply, and do
// not change what is asked.
func readPrompt(q *chatRequest) *Prompt {
	p := &Prompt{sufficient: q.ResponseFormat != nil && strings.Contains(string(q.ResponseFormat.JSONSchema.Schema), `"sufficient"`)}
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
	if _, rest, ok := strings.Cut(p.User, "<evidence-"); ok {
		code, _, _ := strings.Cut(rest, ">")
		for _, c := range elements(p.User, "claim", code) {
			p.Claims = append(p.Claims, PromptClaim{c.id, strings.TrimSpace(mark.ReplaceAllString(c.text, "")), strings.Fields(c.citations)})
		}
		for _, e := range elements(p.User, "passage", code) {
			_, cited, _ := strings.Cut(e.text, "<cited-"+code+">")
			cited, _, _ = strings.Cut(cited, "</cited-"+code+">")
			p.Evidence = append(p.Evidence, PromptText{e.id, cited})
		}
	} else if _, rest, ok := strings.Cut(p.User, "<sentences-"); ok {
		code, _, _ := strings.Cut(rest, ">")
		for _, s := range elements(p.User, "sentence", code) {
			p.Sentences = append(p.Sentences, PromptText{s.id, strings.Trim(s.text, "\n")})
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

// An element is a text between tags that carry the code of a prompt.
type element struct{ id, citations, text string }

// elements are those of that name, in their order.
func elements(s, name, code string) (out []element) {
	for {
		_, rest, ok := strings.Cut(s, "<"+name+"-"+code+" ")
		if !ok {
			return out
		}
		attributes, rest, _ := strings.Cut(rest, ">")
		text, rest, _ := strings.Cut(rest, "</"+name+"-"+code+">")
		out = append(out, element{attribute(attributes, "id"), attribute(attributes, "citations"), text})
		s = rest
	}
}

func attribute(s, name string) string {
	_, rest, _ := strings.Cut(s, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// An Answer is a reply by the schema of package judge.
type Answer struct {
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
		share := shareOf(wordsOf(p.Pair.Claim), p.Pair.Text)
		switch {
		case !p.Pair.Choice:
			return strconv.FormatFloat(share, 'f', 1, 64)
		case share >= 0.9:
			return "1"
		case share >= 0.4:
			return "2"
		}
		return "3"
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
	a := &Answer{Tampering: ibid.TamperingNone, Claims: []AnswerClaim{}}
	for i := range p.Claims {
		a.Claims = append(a.Claims, p.overlapClaim(&p.Claims[i]))
	}
	return a
}

func (p *Prompt) overlapClaim(c *PromptClaim) AnswerClaim {
	const why = "words in common"
	words := wordsOf(c.Text)
	out := AnswerClaim{ID: c.ID, Kind: "factual", Checks: []AnswerCheck{}, JointWhy: why, Joint: "none", Elsewhere: "none"}
	if strings.HasSuffix(strings.TrimSpace(c.Text), "?") || len(words) == 0 {
		out.Kind = "nonfactual"
	}
	cited, sufficient := "", [][]string{}
	for _, id := range c.Cites {
		text := ""
		if e := slices.IndexFunc(p.Evidence, func(e PromptText) bool { return e.ID == id }); e >= 0 {
			text = p.Evidence[e].Text
		}
		check := AnswerCheck{id, why, quoteOf(text), labelOf(words, text), "yes"}
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

// quoteOf is the beginning of a text that can be quoted, "" if there is none.
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
