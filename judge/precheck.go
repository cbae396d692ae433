package judge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PrecheckContained is [Check.Precheck] of a claim that stands in its evidence.
const PrecheckContained = "contained"

// PrecheckBlank is [ClaimVerdict.Precheck] of a claim that says nothing.
const PrecheckBlank = "blank"

// A claim must be this long for its containment to mean something.
const (
	containedWords = 4
	containedRunes = 10 // of scripts without spaces
)

// Contained finds a claim that stands in text as it is, from the beginning of a
// sentence to the end of one, white space aside. Only then nothing around it
// can turn it into its opposite. Questions and claims of fewer than four words,
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
	before, after := around(text, at)
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

// around is what stands before and after an interval of code points.
func around(text string, at Interval) (before, after string) {
	cp := int32(0)
	from, to := len(text), len(text)
	for i := range text {
		if cp == at.Start {
			from = i
		}
		if cp == at.End {
			to = i
			break
		}
		cp++
	}
	return text[:from], text[to:]
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
	for i, word := range tokensOf(claim) {
		r, _ := utf8.DecodeRuneInString(word)
		number := unicode.IsDigit(r)
		if !number && (i == 0 || !unicode.IsUpper(r) || utf8.RuneCountInString(word) < 2) || slices.Contains(out, word) {
			continue
		}
		if !slices.ContainsFunc(texts, func(text string) bool {
			return strings.Contains(text, word) || number && hasNumber(text, digitsOf(word))
		}) {
			out = append(out, word)
		}
	}
	return out
}

// tokensOf cuts a text at what is neither letter nor digit; a separator between
// two digits does not cut.
func tokensOf(s string) []string {
	var out []string
	start := -1
	for i, r := range s {
		inside := unicode.IsLetter(r) || unicode.IsDigit(r) ||
			(r == '.' || r == ',') && start >= 0 && i+1 < len(s) && isDigit(s[i-1]) && isDigit(s[i+1])
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			out = append(out, s[start:i])
			start = -1
		}
	}
	if start >= 0 {
		out = append(out, s[start:])
	}
	return out
}

// digitsOf drops what separates digits.
func digitsOf(number string) string { return strings.NewReplacer(",", "", ".", "").Replace(number) }

// hasNumber reports whether text has a number of those digits.
func hasNumber(text, digits string) bool {
	return slices.ContainsFunc(tokensOf(text), func(t string) bool { return isDigit(t[0]) && digitsOf(t) == digits })
}
