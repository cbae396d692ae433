// Package quote finds quotes in texts that may write them in another form:
// providers and extractors change white space, quotation marks and dashes, but not
// letters. Offsets count Unicode code points, zero-based, and intervals are
// half-open.
package quote

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Form says what may differ between a quote and the text that holds it. White
// space at both ends of either never counts.
type Form uint8

const (
	// Spaces lets any run of white space stand for any other. Bytes that are not
	// valid UTF-8 stay as they are.
	Spaces Form = iota
	// Marks lets white space, all double quotation marks, all single ones, and all
	// dashes stand for each other. A byte that is not valid UTF-8 is U+FFFD.
	Marks
)

// each calls yield for every code point of the normalised form of s: with its
// bytes there, and with the number of the code point of s that it stands for; for
// a space, the first of its run. It ends when yield returns false.
func (f Form) each(s string, yield func(cp int, normal string) bool) {
	cp, space := -1, -1 // space is where the pending run of white space starts
	started := false
	for i, r := range s {
		cp++
		if unicode.IsSpace(r) {
			if space < 0 {
				space = cp
			}
			continue
		}
		if space >= 0 && started && !yield(space, " ") {
			return
		}
		space, started = -1, true
		size := 1
		if r >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		normal := s[i : i+size]
		if f == Marks && r >= utf8.RuneSelf {
			switch r {
			case '‘', '’', '‚', '‛', '′', '‹', '›', 'ʼ', '＇':
				normal = "'"
			case '“', '”', '„', '‟', '″', '«', '»', '＂':
				normal = `"`
			case '‐', '‑', '‒', '–', '—', '―', '−', '﹘', '﹣', '－':
				normal = "-"
			case utf8.RuneError:
				normal = "\uFFFD"
			}
		}
		if !yield(cp, normal) {
			return
		}
	}
}

// Normalize returns the form of s in which quotes are compared: a run of white
// space is one space, white space at both ends is none, and under [Marks] every
// quotation mark and dash is its ASCII form. Other code points stay as they are.
func (f Form) Normalize(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	f.each(s, func(_ int, normal string) bool {
		b.WriteString(normal)
		return true
	})
	return b.String()
}

// Same reports whether quote is the whole of text.
func (f Form) Same(text, quote string) bool {
	return text == quote || f.Normalize(text) == f.Normalize(quote)
}

// Holds reports whether text holds quote anywhere. Every text holds a quote of
// nothing but white space.
func (f Form) Holds(text, quote string) bool {
	return strings.Contains(f.Normalize(text), f.Normalize(quote))
}

// Find looks for quote in text, of which normal is the normalised form. It
// returns how often text holds it, overlaps included, but at most 2, and the code
// points of the first place. A quote of nothing but white space, or that is not
// valid UTF-8 under [Spaces], is not found.
func (f Form) Find(text, normal, quote string) (times, start, end int) {
	quote = f.Normalize(quote)
	if quote == "" || !utf8.ValidString(quote) {
		return 0, 0, 0
	}
	at := strings.Index(normal, quote)
	if at < 0 {
		return 0, 0, 0
	}
	times = 1
	if strings.Contains(normal[at+1:], quote) {
		times = 2
	}
	n := 0
	f.each(text, func(cp int, normal string) bool {
		if n == at {
			start = cp
		}
		n += len(normal)
		end = cp + 1
		return n < at+len(quote)
	})
	return times, start, end
}

// A Finder finds quotes in one text under [Marks]. It normalises the text once, on
// the first search.
type Finder struct {
	text, normal string
	ready        bool
}

// NewFinder returns a finder of quotes in text.
func NewFinder(text string) *Finder { return &Finder{text: text} }

// Once returns the code points [start, end) where the text holds quote. ok is
// false if it does so nowhere or more than once, and for a quote of nothing but
// white space.
func (f *Finder) Once(quote string) (start, end int64, ok bool) {
	if !f.ready {
		f.normal, f.ready = Marks.Normalize(f.text), true
	}
	times, from, to := Marks.Find(f.text, f.normal, quote)
	if times != 1 {
		return 0, 0, false
	}
	return int64(from), int64(to), true
}
