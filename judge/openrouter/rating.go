package openrouter

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"ibid"
)

// tokenLogprobs are the probabilities of the tokens of a reply.
type tokenLogprobs struct {
	Content []struct {
		tokenLogprob
		Top []tokenLogprob `json:"top_logprobs"`
	} `json:"content"`
}

type tokenLogprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// yes is the probability of the positive word in a reply: the sum over the tokens at
// its place that are that word in any case, where the endpoint gives them and the place
// is one token; otherwise 1 or 0, by the word that stands there.
func (t *Template) yes(reply string, logprobs *tokenLogprobs) (float64, error) {
	from := 0
	if i := strings.LastIndex(reply, "</think>"); i >= 0 {
		from = i + len("</think>")
	}
	if t.After != "" {
		i := strings.LastIndex(reply[from:], t.After)
		if i < 0 {
			return 0, fmt.Errorf("the reply has no %s", t.After)
		}
		from += i + len(t.After)
	}
	at, said := firstWord(reply, from)
	if t.Answer == answerLast && t.After == "" {
		at, said = lastWord(reply, from)
	}
	if logprobs != nil {
		if p, ok := t.probability(reply, at, logprobs); ok {
			return p, nil
		}
	}
	switch {
	case t.Positive.is(said):
		return 1, nil
	case t.Negative.is(said):
		return 0, nil
	}
	return 0, fmt.Errorf("the reply says %q, neither %s nor %s", excerpt(said), t.Positive, t.Negative)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func firstWord(s string, from int) (at int, w string) {
	i := strings.IndexFunc(s[from:], inWord)
	if i < 0 {
		return from, ""
	}
	at = from + i
	if end := strings.IndexFunc(s[at:], func(r rune) bool { return !inWord(r) }); end >= 0 {
		return at, s[at : at+end]
	}
	return at, s[at:]
}

func lastWord(s string, from int) (at int, w string) {
	end := strings.LastIndexFunc(s[from:], inWord)
	if end < 0 {
		return from, ""
	}
	rest := strings.TrimRightFunc(s[from:], func(r rune) bool { return !inWord(r) })
	at = from + strings.LastIndexFunc(rest, func(r rune) bool { return !inWord(r) })
	return firstWord(s, max(at, from))
}

// probability sums over the tokens at byte at of the reply; ok is false if none of the
// two words is one of them.
func (t *Template) probability(reply string, at int, logprobs *tokenLogprobs) (p float64, ok bool) {
	begin := 0
	for i := range logprobs.Content {
		token := &logprobs.Content[i]
		if !strings.HasPrefix(reply[begin:], token.Token) {
			return 0, false // the tokens are not those of the reply
		}
		if begin += len(token.Token); at >= begin {
			continue
		}
		top := token.Top
		if !slices.ContainsFunc(top, func(o tokenLogprob) bool { return o.Token == token.Token }) {
			top = append(slices.Clone(top), token.tokenLogprob)
		}
		for _, o := range top {
			switch {
			case t.Positive.is(o.Token):
				p, ok = p+math.Exp(min(o.Logprob, 0)), true
			case t.Negative.is(o.Token):
				ok = true
			}
		}
		return min(p, 1), ok
	}
	return 0, false
}

// A rating is what a verifier says of a claim and a text. Over several texts, of which
// it read one at a time, it is the best.
type rating struct {
	support     float64
	contradicts float64 // the probability of that class
	asked       bool    // there is such a class
}

// best is the rating of two texts taken together.
func (a rating) best(b rating) rating {
	return rating{max(a.support, b.support), max(a.contradicts, b.contradicts), a.asked || b.asked}
}

// contradicted says whether the texts contradict the claim: the class of contradiction
// has at least 0.5 for one of them, and none supports it as much.
func (a rating) contradicted() ibid.Tri {
	if !a.asked {
		return ibid.Unset
	}
	return ibid.TriOf(a.contradicts >= 0.5 && a.support < 0.5)
}

// speaking are labels that say by themselves what they mean.
var (
	speaking          = []string{"entailment", "entailed", "supported", "supports", "consistent", "grounded", "faithful"}
	speakingAgainst   = []string{"contradiction", "contradicts", "contradicted", "refuted", "refutes"}
	errNoPositive     = errors.New("none of the labels is known to mean support")
	positiveLabelHint = "write the label of support into a file, such as: positive: LABEL_1, and name it as judge.prompts; look at the model's card"
)

// labelOf finds the label that is meant: the one that is named, or the one of those that
// speak for themselves.
func labelOf(named word, known, labels []string) (string, bool) {
	found := ""
	for _, label := range labels {
		switch {
		case named != "":
			n, number := classOf(string(named))
			own, numbered := classOf(label)
			if named.is(label) || number && numbered && n == own {
				return label, true
			}
		case slices.Contains(known, strings.ToLower(label)):
			if found != "" {
				return "", false
			}
			found = label
		}
	}
	return found, found != ""
}

// rate reads the scores of a classifier by label.
func (t *Template) rate(scores map[string]float64) (out rating, err error) {
	labels := slices.Sorted(maps.Keys(scores))
	label, ok := labelOf(t.Positive, speaking, labels)
	if !ok {
		if t.Positive != "" {
			return out, fmt.Errorf("the model has no label %s: it has %s", t.Positive, strings.Join(labels, ", "))
		}
		return out, fmt.Errorf("%w: %s", errNoPositive, strings.Join(labels, ", "))
	}
	for _, name := range labels {
		if v := scores[name]; !(v >= 0 && v <= 1) {
			return out, fmt.Errorf("label %s has %v, which is no probability", name, v)
		}
	}
	out.support = scores[label]
	if t.Inverted {
		out.support = 1 - out.support
	}
	if against, ok := labelOf(t.Contradiction, speakingAgainst, labels); ok && len(labels) > 2 && against != label {
		out.contradicts, out.asked = scores[against], true
	}
	return out, nil
}
