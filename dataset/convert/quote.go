package convert

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/token"
)

// fold returns the form of r in which quotes are compared: typographic
// quotation marks and dashes become plain ones, white space a blank.
func fold(r rune) rune {
	switch r {
	case '‘', '’', '‚', '‛', '′', '´', '`', '‹', '›':
		return '\''
	case '“', '”', '„', '‟', '″', '«', '»':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−', '﹘', '﹣', '－':
		return '-'
	}
	if unicode.IsSpace(r) {
		return ' '
	}
	return r
}

// A folded text is one whose code points are folded, with runs of white space
// as one blank and none at its ends.
type folded struct {
	s string

	// at[i] is the code point of the text that the one beginning at byte i of s
	// came from; nil when it was not asked for.
	at []int32
}

// foldText folds s and, if places is set, remembers where each code point came
// from.
func foldText(s string, places bool) folded {
	var b strings.Builder
	b.Grow(len(s))
	var at []int32
	put := func(r rune, cp int) {
		b.WriteRune(r)
		for places && len(at) < b.Len() {
			at = append(at, int32(cp))
		}
	}
	cp, blank := 0, -1
	for _, r := range s {
		switch r = fold(r); {
		case r != ' ':
			if blank >= 0 && b.Len() > 0 {
				put(' ', blank)
			}
			put(r, cp)
			blank = -1
		case blank < 0:
			blank = cp
		}
		cp++
	}
	return folded{b.String(), at}
}

// sameQuote reports whether a passage is the quote but for white space,
// quotation marks and dashes.
func sameQuote(passage, quote string) bool {
	// Folding cannot lengthen a string by more than white space takes away, so
	// most differing pairs are told apart here.
	if passage == quote {
		return true
	}
	f := foldText(quote, false).s
	return f != "" && foldText(passage, false).s == f
}

// A searcher finds quotes in one text.
type searcher struct {
	text *token.Text
	form *folded // of text, once it was needed
}

// once returns the span of code points at which the folded text holds the folded
// quote, if it does so exactly once.
func (s *searcher) once(quote string) (lo, hi int, ok bool) {
	q := foldText(quote, false).s
	if q == "" {
		return 0, 0, false
	}
	if s.form == nil {
		f := foldText(s.text.String(), true)
		s.form = &f
	}
	at := strings.Index(s.form.s, q)
	if at < 0 {
		return 0, 0, false
	}
	_, size := utf8.DecodeRuneInString(q)
	if strings.Contains(s.form.s[at+size:], q) {
		return 0, 0, false
	}
	return int(s.form.at[at]), int(s.form.at[at+len(q)-1]) + 1, true
}
