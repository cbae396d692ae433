package judge

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
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
	o := readObject(json.RawMessage(text))
	claims := splitOf(o, s)
	if o.err != nil {
		return nil, &ReplyError{Defect: o.err.Error()}
	}
	return claims, nil
}

func splitOf(o *object, s *Sentences) [][]string {
	n := len(s.Sentences)
	claims := make([][]string, n)
	known := numbersOf(s.Answer + " " + s.Question)
	for _, raw := range o.list("sentences") {
		in := readObject(raw)
		id := in.id("id", "s")
		if o.err = cmp.Or(o.err, in.err); o.err != nil {
			return nil
		}
		k, err := strconv.Atoi(strings.TrimPrefix(id, "s"))
		switch {
		case err != nil || k < 1 || k > n || id != "s"+strconv.Itoa(k):
			o.fail("there is no sentence %q", clip(id))
			return nil
		case claims[k-1] != nil:
			o.fail("sentence %s occurs twice", id)
			return nil
		}
		var texts []string
		if list := in.list("claims"); len(list) > maxSplit {
			o.fail("sentence %s has %d claims, more than %d", id, len(list), maxSplit)
		} else if in.err == nil && json.Unmarshal(in.members["claims"], &texts) != nil {
			in.misshapen("claims", in.members["claims"])
		}
		o.failIn("sentence "+id, in)
		claims[k-1] = []string{}
		for _, text := range texts {
			text = strings.Join(strings.Fields(text), " ")
			if !strings.ContainsFunc(text, isWordRune) {
				o.fail("sentence %s has a claim without a word", id)
			}
			for number := range numbersOf(text) {
				if !known[number] {
					o.fail("a claim of sentence %s has %s, which the answer does not have", id, clip(number))
				}
			}
			claims[k-1] = append(claims[k-1], text)
		}
	}
	for k := range claims {
		if claims[k] == nil {
			o.fail("sentence s%d is missing", k+1)
		}
	}
	return claims
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
