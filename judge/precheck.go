package judge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PrecheckBlank is [ClaimVerdict.Precheck] of a claim that says nothing.
const PrecheckBlank = "blank"

// Differences are the numbers and the capitalised words of a claim, but for its
// first word, that stand in none of the texts, in the order of the claim and
// each once. Groups of digits match with and without their separators. They are
// no verdict: a text may say the same in other words.
func Differences(claim string, texts []string) []string {
	var out []string
	first := true
	for at := 0; ; {
		start, end := nextToken(claim, at)
		if start < 0 {
			return out
		}
		word := claim[start:end]
		at = end
		r, _ := utf8.DecodeRuneInString(word)
		number := isDigit(word[0])
		if (number || !first && unicode.IsUpper(r) && utf8.RuneCountInString(word) > 1) && !slices.Contains(out, word) && !anyHas(texts, word, number) {
			out = append(out, word)
		}
		first = false
	}
}

// anyHas reports whether a text has a word, or a number with the same digits.
func anyHas(texts []string, word string, number bool) bool {
	for _, text := range texts {
		if !number {
			if strings.Contains(text, word) {
				return true
			}
			continue
		}
		for at := 0; ; {
			// A number begins with a digit, so look for the next of those.
			i := strings.IndexByte(text[at:], word[0])
			if i < 0 {
				break
			}
			at += i
			start := at
			for start > 0 && (isDigit(text[start-1]) || joins(text, start-1)) {
				start--
			}
			end := numberEnd(text, at)
			if digitsOf(text[start:end]) == digitsOf(word) {
				return true
			}
			at = end
		}
	}
	return false
}

// nextToken is the next run of letters and digits from at on; a separator
// between two digits is part of it. start is -1 if there is none.
func nextToken(s string, at int) (start, end int) {
	start = -1
	for i, r := range s[at:] {
		i += at
		inside := unicode.IsLetter(r) || unicode.IsDigit(r) || start >= 0 && joins(s, i)
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			return start, i
		}
	}
	return start, len(s)
}

// joins reports whether s has a separator of digits at i.
func joins(s string, i int) bool {
	return (s[i] == '.' || s[i] == ',') && i > 0 && i+1 < len(s) && isDigit(s[i-1]) && isDigit(s[i+1])
}

func numberEnd(s string, at int) int {
	for at < len(s) && (isDigit(s[at]) || joins(s, at)) {
		at++
	}
	return at
}

// digitsOf are those of a number, without their separators.
func digitsOf(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}
