package judgetest

import (
	"strings"
)

// A Prompt is what a [Server] reads of the messages of a request: the exhibits
// of the last complete question, between tags that carry its code.
type Prompt struct {
	Question string
	Claims   []PromptClaim
	Evidence []PromptText
	// Sufficient: the schema asks for sets of citations that suffice.
	Sufficient bool
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

// A PromptText is one text of evidence.
type PromptText struct{ ID, Text string }

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
		switch m := &q.Messages[i]; {
		case m.Role == "system" && p.System == "":
			p.System = m.Content
		case m.Role == "user" && p.User == "":
			p.User = m.Content
		}
	}
	if _, rest, ok := strings.Cut(p.User, "<claims-"); ok {
		code, _, _ := strings.Cut(rest, ">")
		p.exhibits(code)
	} else {
		p.pair()
	}
	return p
}

func (p *Prompt) exhibits(code string) {
	p.Question = inside(p.User, "question", code)
	each(inside(p.User, "claims", code), "claim", code, func(attributes, text string) {
		p.Claims = append(p.Claims, PromptClaim{
			ID: attribute(attributes, "id"), Text: text, Cites: strings.Fields(attribute(attributes, "citations")),
		})
	})
	each(inside(p.User, "evidence", code), "passage", code, func(attributes, text string) {
		p.Evidence = append(p.Evidence, PromptText{ID: attribute(attributes, "id"), Text: text})
	})
}

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
		attributes, rest, _ := strings.Cut(rest, ">\n")
		text, rest, ok := strings.Cut(rest, "\n</"+name+"-"+code+">")
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

// Claim returns the claim of that id, nil if there is none.
func (p *Prompt) Claim(id string) *PromptClaim {
	for i := range p.Claims {
		if p.Claims[i].ID == id {
			return &p.Claims[i]
		}
	}
	return nil
}
