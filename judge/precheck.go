package judge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/token"
)

// PrecheckBlank is [ClaimVerdict.Precheck] of a claim that says nothing.
const PrecheckBlank = "blank"

// A claim must be this long for its containment to mean something.
const (
	containedWords = 4
	containedRunes = 10 // of scripts without spaces
)

// Contained finds a claim that stands in text as it is, from the beginning of a
// sentence to the end of one, white space aside. It is no verdict: what stands around it
// may say that it is false. Questions and claims of fewer than four words,
// or ten characters of a script without spaces, are not looked for.
func Contained(claim, text string) (at Interval, ok bool) {
	claim = strings.TrimSpace(claim)
	if !tellsSomething(claim) || len(claim) > len(text)+len(claim)/2 {
		return Interval{}, false
	}
	// Both ends must occur, which nearly always settles it.
	first, last := edges(claim)
	if !strings.Contains(text, first) || !strings.Contains(text, last) {
		return Interval{}, false
	}
	at, ok = findQuote(text, claim)
	if !ok {
		return Interval{}, false
	}
	whole := token.NewText(text)
	before, after := whole.Slice(0, int(at.Start)), whole.Slice(int(at.End), whole.Len())
	if !endsSentence(lastVisible(before)) || !endsSentence(lastRune(claim)) && !beginsEnd(after) {
		return Interval{}, false
	}
	return at, true
}

func tellsSomething(claim string) bool {
	r := lastRune(claim)
	if r == '?' || r == '？' || !utf8.ValidString(claim) {
		return false
	}
	words := 0
	for range strings.FieldsSeq(claim) {
		if words++; words == containedWords {
			return true
		}
	}
	n := 0
	for _, r := range claim {
		if spaceless(r) {
			n++
		}
	}
	return n >= containedRunes
}

func edges(s string) (first, last string) {
	first, last = s, s
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		first = s[:i]
	}
	if i := strings.LastIndexFunc(s, unicode.IsSpace); i >= 0 {
		last = strings.TrimLeftFunc(s[i:], unicode.IsSpace)
	}
	return first, last
}

// lastVisible is the last character of s that is not a space within a line, 0
// if there is none.
func lastVisible(s string) rune { return lastRune(strings.TrimRight(s, " \t\u00a0\u3000")) }

func lastRune(s string) rune {
	if s == "" {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// endsSentence reports whether a sentence ends with r; 0 is the text's edge.
func endsSentence(r rune) bool { return r == 0 || strings.ContainsRune(".!?…。！？\n\r", r) }

// beginsEnd reports whether what follows ends the sentence before it.
func beginsEnd(s string) bool {
	s = strings.TrimLeft(s, " \t\u00a0\u3000")
	if s == "" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s)
	return endsSentence(r)
}

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
			if sameDigits(text[start:end], word) {
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

// sameDigits compares numbers without their separators.
func sameDigits(a, b string) bool {
	i, k := 0, 0
	for {
		for i < len(a) && !isDigit(a[i]) {
			i++
		}
		for k < len(b) && !isDigit(b[k]) {
			k++
		}
		if i == len(a) || k == len(b) {
			return i == len(a) && k == len(b)
		}
		if a[i] != b[k] {
			return false
		}
		i++
		k++
	}
}
