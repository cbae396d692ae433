package openrouter

import (
	"strings"
	"unicode/utf8"

	"ibid/metrics/token"
)

// chunks divides a text into parts of at most so many words, in whole sentences; a
// longer sentence is a part of its own. 0 leaves it whole.
func chunks(text string, words int) []string {
	if words <= 0 || len(strings.Fields(text)) <= words {
		return []string{text}
	}
	var out []string
	start, n := 0, 0
	pieces := sentencesOf(text)
	for i, s := range pieces {
		w := len(strings.Fields(s.text))
		if n > 0 && n+w > words {
			out = append(out, strings.TrimSpace(text[start:s.start]))
			start, n = s.start, 0
		}
		n += w
		if i == len(pieces)-1 {
			out = append(out, strings.TrimSpace(text[start:]))
		}
	}
	return out
}

// halvesOf divides a text at the sentence, or else the space, that is closest to its
// middle; nil if it has none.
func halvesOf(text string) []string {
	at := -1
	closer := func(i int) {
		if i > 0 && i < len(text) && (at < 0 || abs(2*i-len(text)) < abs(2*at-len(text))) {
			at = i
		}
	}
	for _, s := range sentencesOf(text) {
		closer(s.start)
	}
	if at <= 0 || strings.TrimSpace(text[:at]) == "" {
		at = -1
		for i, r := range text {
			if r == ' ' || r == '\n' || r == '\t' {
				closer(i)
			}
		}
	}
	if at < 0 {
		return nil
	}
	first, second := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at:])
	if first == "" || second == "" {
		return nil
	}
	return []string{first, second}
}

func abs(n int) int { return max(n, -n) }

// A sentenceAt is a sentence of a text and where it begins, in bytes.
type sentenceAt struct {
	text  string
	start int
}

func sentencesOf(text string) []sentenceAt {
	bounds := token.Sentences(text, nil)
	out := make([]sentenceAt, 0, len(bounds))
	at, cp := 0, int32(0)
	to := func(target int32) int {
		for cp < target {
			_, size := utf8.DecodeRuneInString(text[at:])
			at, cp = at+size, cp+1
		}
		return at
	}
	for _, b := range bounds {
		start := to(b.Start)
		out = append(out, sentenceAt{text[start:to(b.End)], start})
	}
	return out
}
