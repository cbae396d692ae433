package dataset

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotes are compared after normalising: providers and extractors change white
// space, quotation marks and dashes, but not letters. A run of white space is
// one space, white space at both ends is none, every double or single quotation
// mark and every dash is its ASCII form. Each other code point stays as it is.

// plain returns the normalised form of one code point that is not white space.
func plain(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	switch r {
	case '‘', '’', '‚', '‛', '′', '‹', '›', 'ʼ', '＇':
		return '\''
	case '“', '”', '„', '‟', '″', '«', '»', '＂':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−', '﹘', '﹣', '－':
		return '-'
	}
	return r
}

// eachNormal calls yield with every code point of the normalised form of s and
// with the number of the code point of s that it stands for: for a space, the
// first of its run. It ends when yield returns false.
func eachNormal(s string, yield func(cp int, r rune) bool) {
	cp, space := 0, -1 // space is where the pending run of white space starts
	started := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			if space < 0 {
				space = cp
			}
			cp++
			continue
		}
		if space >= 0 && started && !yield(space, ' ') {
			return
		}
		space, started = -1, true
		if !yield(cp, plain(r)) {
			return
		}
		cp++
	}
}

// normalize returns the normalised form of s.
func normalize(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	eachNormal(s, func(_ int, r rune) bool {
		b.WriteRune(r)
		return true
	})
	return b.String()
}

// original returns the code points of s that the bytes [start, end) of its
// normalised form stand for. Neither the first nor the last of them may be a
// space.
func original(s string, start, end int) (from, to int64) {
	at := 0
	eachNormal(s, func(cp int, r rune) bool {
		if at == start {
			from = int64(cp)
		}
		at += utf8.RuneLen(r)
		to = int64(cp) + 1
		return at < end
	})
	return from, to
}

// occurrences counts where quote, which is not empty, occurs in text, overlaps
// included, up to 2. at is the first place, in bytes.
func occurrences(text, quote string) (n, at int) {
	at = strings.Index(text, quote)
	if at < 0 {
		return 0, 0
	}
	if strings.Contains(text[at+1:], quote) {
		return 2, at
	}
	return 1, at
}

// sameQuote reports whether a quote is the text of a span.
func sameQuote(text, quote string) bool {
	return text == quote || normalize(text) == normalize(quote)
}
