package judge

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
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
// JSON object with "sentences", each of s1, s2, ... once, read as leniently as
// [Parse] does. Every claim must have a word, and no number that neither the answer nor
// the question has: what a model makes up must not count against the answer. An
// error is a [*ReplyError].
func ParseSplit(reply string, s *Sentences) ([][]string, error) {
	text, err := extract(reply, "sentences")
	if err != nil {
		return nil, &ReplyError{Defect: err.Error(), NoJSON: errors.Is(err, errNoObject)}
	}
	claims, err := splitOf(json.RawMessage(text), s)
	if err != nil {
		return nil, &ReplyError{Defect: err.Error()}
	}
	return claims, nil
}

func splitOf(raw json.RawMessage, s *Sentences) ([][]string, error) {
	o, err := readObject(raw)
	if err != nil {
		return nil, err
	}
	list, err := o.list("sentences")
	if err != nil {
		return nil, err
	}
	n := len(s.Sentences)
	claims := make([][]string, n)
	known := numbersOf(s.Answer + " " + s.Question)
	for _, raw := range list {
		o, err := readObject(raw)
		if err != nil {
			return nil, err
		}
		id, err := o.id("id", "s")
		if err != nil {
			return nil, err
		}
		k, err := strconv.Atoi(strings.TrimPrefix(id, "s"))
		switch {
		case err != nil || k < 1 || k > n || id != "s"+strconv.Itoa(k):
			return nil, fmt.Errorf("there is no sentence %q", clip(id))
		case claims[k-1] != nil:
			return nil, fmt.Errorf("sentence %s occurs twice", id)
		}
		var texts []string
		if list, err := o.list("claims"); err != nil {
			return nil, fmt.Errorf("sentence %s: %w", id, err)
		} else if len(list) > maxSplit {
			return nil, fmt.Errorf("sentence %s has %d claims, more than %d", id, len(list), maxSplit)
		} else if err := json.Unmarshal(o["claims"], &texts); err != nil {
			return nil, fmt.Errorf("sentence %s: %w", id, shapeError("claims", o["claims"]))
		}
		claims[k-1] = []string{}
		for _, text := range texts {
			text = strings.Join(strings.Fields(text), " ")
			if !strings.ContainsFunc(text, isWordRune) {
				return nil, fmt.Errorf("sentence %s has a claim without a word", id)
			}
			for number := range numbersOf(text) {
				if !known[number] {
					return nil, fmt.Errorf("a claim of sentence %s has %s, which the answer does not have", id, clip(number))
				}
			}
			claims[k-1] = append(claims[k-1], text)
		}
	}
	for k := range claims {
		if claims[k] == nil {
			return nil, fmt.Errorf("sentence s%d is missing", k+1)
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
