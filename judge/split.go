package judge

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A Splitter makes claims that stand alone of the sentences of an answer. It is
// safe for concurrent use and gives the same claims for the same sentences.
type Splitter interface {
	// Split returns the claims of each sentence of s. Errors are as those of
	// [Judge].
	Split(ctx context.Context, s *Sentences) (*Split, error)
}

// Sentences are the sentences of one answer, to be split into claims.
type Sentences struct {
	Row       string // as in [Request]
	Question  string
	Answer    string   // the whole of it, for what a sentence refers to
	Sentences []string // in their order
}

// A Split is what a model makes of sentences.
type Split struct {
	Claims [][]string // of each sentence, in the order of the answer; empty if it claims nothing
	Calls  []Call
}

// SplitSchema is the JSON Schema of the reply to a request for claims.
//
//go:embed schema_split.json
var SplitSchema string

// maxSplit is how many claims one sentence may have.
const maxSplit = 32

// ParseSplit reads the reply of a model that was asked for the claims of s: one
// JSON object with "sentences", each of s1, s2, ... once, with prose around it
// ignored. Every claim must have a word, and no number that neither the answer nor
// the question has: what a model makes up must not count against the answer. An
// error is a [*ReplyError].
func ParseSplit(reply string, s *Sentences) ([][]string, error) {
	type sentence struct {
		ID     string    `json:"id"`
		Claims *[]string `json:"claims"`
	}
	var got struct {
		Sentences []sentence `json:"sentences"`
	}
	for rest := reply; got.Sentences == nil; {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			return nil, &ReplyError{"no complete JSON object with sentences"}
		}
		if err := json.NewDecoder(strings.NewReader(rest[i:])).Decode(&got); err != nil {
			got.Sentences = nil
		}
		rest = rest[i+1:]
	}
	n := len(s.Sentences)
	claims := make([][]string, n)
	known := numbersOf(s.Answer + " " + s.Question)
	for _, s := range got.Sentences {
		k, err := strconv.Atoi(strings.TrimPrefix(s.ID, "s"))
		switch {
		case err != nil || k < 1 || k > n || s.ID != "s"+strconv.Itoa(k):
			return nil, &ReplyError{fmt.Sprintf("there is no sentence %q", clip(s.ID))}
		case claims[k-1] != nil:
			return nil, &ReplyError{fmt.Sprintf("sentence %s occurs twice", s.ID)}
		case s.Claims == nil:
			return nil, &ReplyError{fmt.Sprintf("sentence %s has no claims member", s.ID)}
		case len(*s.Claims) > maxSplit:
			return nil, &ReplyError{fmt.Sprintf("sentence %s has %d claims, more than %d", s.ID, len(*s.Claims), maxSplit)}
		}
		claims[k-1] = []string{}
		for _, text := range *s.Claims {
			text = strings.Join(strings.Fields(text), " ")
			if !strings.ContainsFunc(text, isWordRune) {
				return nil, &ReplyError{fmt.Sprintf("sentence %s has a claim without a word", s.ID)}
			}
			for number := range numbersOf(text) {
				if !known[number] {
					return nil, &ReplyError{fmt.Sprintf("a claim of sentence %s has %s, which the answer does not have", s.ID, clip(number))}
				}
			}
			claims[k-1] = append(claims[k-1], text)
		}
	}
	for k := range claims {
		if claims[k] == nil {
			return nil, &ReplyError{fmt.Sprintf("sentence s%d is missing", k+1)}
		}
	}
	return claims, nil
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// numbersOf are the runs of digits in text.
func numbersOf(text string) map[string]bool {
	all := make(map[string]bool)
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsNumber(r) }) {
		all[run] = true
	}
	return all
}
