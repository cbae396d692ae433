package judgetest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ibid"
)

// An Answer is a reply by the schema of package judge.
type Answer struct {
	Tampering string        `json:"tampering"`
	Claims    []AnswerClaim `json:"claims"`
}

// factualClaim is the kind of a claim that can be checked; the other is nonfactual.
const factualClaim = "factual"

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

// Overlap answers by the share of a claim's words that the evidence has. It
// depends on nothing but the texts, so the verdicts of two runs can be
// compared. It is not meant to be right.
func Overlap(p *Prompt) string {
	switch {
	case p.Pair != nil:
		return number(p.Pair)
	case p.Sentences != nil:
		return clauses(p)
	}
	return OverlapAnswer(p).String()
}

// OverlapAnswer is what [Overlap] says, for a test to change.
func OverlapAnswer(p *Prompt) *Answer {
	texts := make(map[string]string, len(p.Evidence))
	for _, e := range p.Evidence {
		texts[e.ID] = e.Text
	}
	a := &Answer{Tampering: ibid.TamperingNone, Claims: []AnswerClaim{}}
	for i := range p.Claims {
		a.Claims = append(a.Claims, overlapClaim(p, &p.Claims[i], texts))
	}
	return a
}

func overlapClaim(p *Prompt, c *PromptClaim, texts map[string]string) AnswerClaim {
	words := wordsOf(c.Text)
	out := AnswerClaim{
		ID: c.ID, Kind: factualClaim, Checks: []AnswerCheck{}, JointWhy: "words in common",
		Joint: "none", Elsewhere: "none",
	}
	if strings.HasSuffix(strings.TrimSpace(c.Text), "?") || len(words) == 0 {
		out.Kind = "nonfactual"
	}
	all := ""
	sufficient := [][]string{}
	for _, id := range c.Cites {
		label := labelOf(words, texts[id])
		check := AnswerCheck{EvidenceID: id, Why: "words in common", Quote: quoteOf(texts[id]), Support: label, Relevant: "yes"}
		if label == "none" {
			check.Relevant = "no"
		}
		out.Checks = append(out.Checks, check)
		all += "\n" + texts[id]
		if label == "full" || label == "mostly" {
			sufficient = append(sufficient, []string{id})
		}
	}
	if len(c.Cites) > 0 {
		out.Joint = labelOf(words, all)
	}
	if len(sufficient) == 0 && len(c.Cites) > 1 && (out.Joint == "full" || out.Joint == "mostly") {
		sufficient = append(sufficient, c.Cites)
	}
	if p.Sufficient {
		out.Sufficient = &sufficient
	}
	best := 0.0
	for _, e := range p.Evidence {
		if share := shareOf(words, e.Text); share > best && !slices.Contains(c.Cites, e.ID) && quoteOf(e.Text) != "" {
			best = share
			out.Elsewhere, out.ElsewhereEvidence, out.ElsewhereQuote = labelFor(share), e.ID, quoteOf(e.Text)
		}
	}
	return out
}

// clauses answers with the clauses of each sentence, cut at "; " and ", and ". A
// question claims nothing.
func clauses(p *Prompt) string {
	all := []sentenceClaims{}
	for _, s := range p.Sentences {
		one := sentenceClaims{ID: s.ID, Claims: []string{}}
		if !strings.HasSuffix(s.Text, "?") {
			one.Claims = strings.Split(strings.ReplaceAll(s.Text, ", and ", "; "), "; ")
		}
		all = append(all, one)
	}
	return sentencesReply(all)
}

// A sentenceClaims is what a sentence claims.
type sentenceClaims struct {
	ID     string   `json:"id"`
	Claims []string `json:"claims"`
}

func sentencesReply(all []sentenceClaims) string {
	return string(mustMarshal(map[string]any{"sentences": all}))
}

// number answers a pair: a score of one decimal, or 1, 2, 3.
func number(p *PromptPair) string {
	share := shareOf(wordsOf(p.Claim), p.Text)
	if !p.Choice {
		return strconv.FormatFloat(share, 'f', 1, 64)
	}
	switch {
	case share >= 0.9:
		return "1"
	case share >= 0.4:
		return "2"
	}
	return "3"
}

// quoteLength is how much a quote repeats, in code points.
const quoteLength = 60

// quoteOf is the beginning of a text that can be quoted, "" if none can.
func quoteOf(text string) string {
	for piece := range strings.SplitSeq(text, "\uFFFD") {
		if piece = strings.TrimSpace(piece); piece != "" {
			runes := []rune(piece)
			return strings.TrimSpace(string(runes[:min(len(runes), quoteLength)]))
		}
	}
	return ""
}

func labelOf(words []string, text string) string {
	if quoteOf(text) == "" {
		return "none"
	}
	return labelFor(shareOf(words, text))
}

func labelFor(share float64) string {
	switch {
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
	has := make(map[string]bool)
	for _, w := range wordsOf(text) {
		has[w] = true
	}
	n := 0
	for _, w := range words {
		if has[w] {
			n++
		}
	}
	return float64(n) / float64(len(words))
}

// wordsOf are the runs of letters and digits, in lower case; of scripts without
// spaces, every letter.
func wordsOf(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if strings.ContainsFunc(w, func(r rune) bool { return r >= 0x2E80 }) {
			words = append(words, strings.Split(w, "")...)
		} else {
			words = append(words, w)
		}
	}
	return words
}

// A Prompt is what a [Server] reads of the messages of a request: the exhibits
// of the last complete question, between tags that carry its code.
type Prompt struct {
	Question string
	Answer   string // with the claims that are marked in it
	Claims   []PromptClaim
	Evidence []PromptText
	// Sufficient: the schema asks for sets of citations that suffice.
	Sufficient bool
	// Sentences are set instead if the claims of sentences are asked for.
	Sentences []PromptText
	// Pair is set instead if a claim is put to one text, or to a list of
	// sources, and a number is the answer.
	Pair *PromptPair
	// System and User are the messages as they came; User is the first one.
	System, User string
}

// A PromptClaim is a claim with the ids of the evidence it cites.
type PromptClaim struct {
	ID, Text string
	Cites    []string
}

// A PromptText is one passage of evidence: the cited words, what stands around them,
// and the title of the document; or a sentence.
type PromptText struct{ ID, Title, Before, Text, After string }

// A PromptPair is a claim and a text.
type PromptPair struct {
	Claim, Text string
	Choice      bool // 1, 2 or 3 is asked for instead of a score
}

// readPrompt takes the messages apart. Repair turns after the first message of
// the user do not change what is asked.
func readPrompt(q *chatRequest) *Prompt {
	p := &Prompt{Sufficient: strings.Contains(q.schema(), `"sufficient"`)}
	for i := range q.Messages {
		p.Sufficient = p.Sufficient || q.Messages[i].Role == "user" && strings.Contains(q.Messages[i].Content, `"sufficient"`)
	}
	for i := range q.Messages {
		switch m := &q.Messages[i]; {
		case m.Role == "system" && p.System == "":
			p.System = m.Content
		case m.Role == "user" && p.User == "":
			p.User = m.Content
		}
	}
	if _, rest, ok := strings.Cut(p.User, "<evidence-"); ok {
		code, _, _ := strings.Cut(rest, ">")
		p.exhibits(code)
	} else if _, rest, ok := strings.Cut(p.User, "<sentences-"); ok {
		code, _, _ := strings.Cut(rest, ">")
		p.Question = inside(p.User, "question", code)
		each(inside(p.User, "sentences", code), "sentence", code, func(attributes, text string) {
			p.Sentences = append(p.Sentences, PromptText{ID: attribute(attributes, "id"), Text: strings.Trim(text, "\n")})
		})
	} else {
		p.pair()
	}
	return p
}

func (p *Prompt) exhibits(code string) {
	p.Question = inside(p.User, "question", code)
	p.Answer = inside(p.User, "answer", code)
	for _, material := range []string{p.Answer, inside(p.User, "claims", code)} {
		each(material, "claim", code, func(attributes, text string) {
			p.Claims = append(p.Claims, PromptClaim{
				ID: attribute(attributes, "id"), Text: strings.TrimSpace(mark.ReplaceAllString(text, "")), Cites: strings.Fields(attribute(attributes, "citations")),
			})
		})
	}
	each(inside(p.User, "evidence", code), "passage", code, func(attributes, text string) {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "\n"), "\n")
		e := PromptText{ID: attribute(attributes, "id")}
		if title := inside(text, "title", code); title != "" {
			e.Title = title
			_, text, _ = strings.Cut(text, "</title-"+code+">\n")
		}
		e.Before, e.Text, _ = strings.Cut(text, "<cited-"+code+">")
		e.Text, e.After, _ = strings.Cut(e.Text, "</cited-"+code+">")
		p.Evidence = append(p.Evidence, e)
	})
}

// mark is a citation as it stands in an answer.
var mark = regexp.MustCompile(`\[\d+\]`)

// inside is the text between the tags of that name and code.
func inside(s, name, code string) string {
	_, rest, _ := strings.Cut(s, "<"+name+"-"+code+">\n")
	text, _, _ := strings.Cut(rest, "\n</"+name+"-"+code+">")
	return text
}

// each calls f with the attributes and the text of every element.
func each(s, name, code string, f func(attributes, text string)) {
	for {
		_, rest, ok := strings.Cut(s, "<"+name+"-"+code+" ")
		if !ok {
			return
		}
		attributes, rest, _ := strings.Cut(rest, ">")
		text, rest, ok := strings.Cut(rest, "</"+name+"-"+code+">")
		if !ok {
			return
		}
		f(attributes, text)
		s = rest
	}
}

func attribute(s, name string) string {
	_, rest, _ := strings.Cut(s, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// pair reads the prompts of the specification.
func (p *Prompt) pair() {
	_, rest, ok := strings.Cut(p.User, "Claim: ")
	if !ok {
		return
	}
	if claim, after, ok := strings.Cut(rest, "\n\n    Cited Text: "); ok {
		text, _, _ := strings.Cut(after, "\n\n    Rate the support")
		p.Pair = &PromptPair{Claim: claim, Text: text}
	} else if claim, after, ok := strings.Cut(rest, "\n\n        Available Sources:\n"); ok {
		text, _, _ := strings.Cut(after, "\n\n        Is this claim:")
		p.Pair = &PromptPair{Claim: claim, Text: text, Choice: true}
	}
}
