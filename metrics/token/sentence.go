package token

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Bounds are a half-open interval of code points.
type Bounds struct{ Start, End int32 }

// Sentences returns the sentences of text that can be a claim, in the order of
// the text: the segments of Unicode Standard Annex #29, put right by the rules
// of a [Splitter]. markers are the citations that stand in the text: intervals
// sorted by start, as code points of the text.
func Sentences(text string, markers []Bounds) []Bounds {
	var s Splitter
	return s.Append(nil, text, markers)
}

// A Splitter divides texts into sentences and keeps its memory from one text to
// the next. The zero Splitter is ready; it is not safe for concurrent use.
//
// Sentences are disjoint and sorted, neither begin nor end with white space,
// have a letter or number outside the markers each, and together hold every
// letter and number of the text that has one outside the markers. The rules, over those of the annex:
//
//   - No sentence ends with the point of an abbreviation (English, German,
//     French and some of other languages), of an initial, of a German ordinal,
//     within an address, or at a ! or ? that a closing quotation mark and a
//     small letter follow. After an abbreviation that may end a sentence, such
//     as "Inc.", one begins where a word follows that often begins sentences.
//   - "…" is three points; a word such as iPhone may begin a sentence; marks of
//     emphasis (*, _, ~, `) close with the sentence they follow.
//   - A line ends its sentence, be it a heading, an item of a list or a row of a
//     table, unless the next one goes on in small letters and it ends with a comma, or
//     without punctuation and is long enough to have been wrapped.
//   - The label of an item ("2.", "b.", "IV.") belongs to what it labels.
//   - A marker belongs to the sentence that it follows on its line, before or
//     behind the full stop. One that begins a line belongs to that line if
//     there is more on it, as in a list of references. An opening <statement>
//     begins a sentence.
//   - What has no letter or number outside of markers is no claim: it belongs to
//     the sentence before, or to the first.
//
// The cost is linear in the length of the text, whatever it holds.
type Splitter struct {
	masked
}

// Append appends the sentences of text, as [Sentences] returns them, to dst.
func (s *Splitter) Append(dst []Bounds, text string, markers []Bounds) []Bounds {
	s.reset(text, markers)
	p := pieces{dst: dst, first: len(dst), text: text}
	start, line := 0, 0 // in the masked text: of the piece, of the line
	it := sentences.FromBytes(s.buf)
	for it.Next() {
		b := it.End()
		if b == len(s.buf) {
			break
		}
		newline := isLineEnd(s.buf[:b])
		cut := b
		if newline {
			if s.wraps(line, b) {
				line = b
				continue
			}
			line = b
		} else if cut = s.sentenceEnd(start, b); cut < 0 {
			continue
		}
		if cut == start || isLabel(s.buf[start:cut]) {
			continue
		}
		p.add(s.origin(start), s.origin(cut), hasWord(s.buf[start:cut]))
		start = cut
	}
	p.add(s.origin(start), len(text), hasWord(s.buf[start:]))
	return p.toCodePoints()
}

// pieces gathers sentences as bytes of the text.
type pieces struct {
	dst   []Bounds
	first int // the index in dst of the first sentence
	text  string
	from  int  // where what is waiting for the first sentence starts
	begun bool // something is waiting
}

// add takes the next piece of the text; claim says that it holds a word.
func (p *pieces) add(start, end int, claim bool) {
	start, end = trimSpace(p.text, start, end)
	switch {
	case start >= end:
	case claim:
		if p.begun && len(p.dst) == p.first {
			start = p.from
		}
		p.dst = append(p.dst, Bounds{int32(start), int32(end)})
	case len(p.dst) > p.first:
		p.dst[len(p.dst)-1].End = int32(end)
	case !p.begun:
		p.from, p.begun = start, true
	}
}

// toCodePoints converts the sentences that were gathered.
func (p *pieces) toCodePoints() []Bounds {
	at, cp := 0, 0
	to := func(b int32) int32 {
		cp += utf8.RuneCountInString(p.text[at:b])
		at = int(b)
		return int32(cp)
	}
	for i := p.first; i < len(p.dst); i++ {
		d := &p.dst[i]
		d.Start, d.End = to(d.Start), to(d.End)
	}
	return p.dst
}

// trimSpace moves the ends of text[start:end] past white space.
func trimSpace(text string, start, end int) (int, int) {
	s := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
	start = end - len(s)
	return start, start + len(strings.TrimRightFunc(s, unicode.IsSpace))
}

// hasWord reports whether s holds a letter or a number.
func hasWord(s []byte) bool {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return true
		}
		i += size
	}
	return false
}

// maxLabel is the length in bytes of the longest label.
const maxLabel = 24

// isLabel reports whether s is nothing but the label of an item: "2.", "(b)",
// "IV.", "2.1.", with whatever little stands around it, such as a bullet.
// A blank line ends even a label.
func isLabel(s []byte) bool {
	if len(s) > 4*maxLabel || bytes.Count(s, []byte{'\n'}) > 1 {
		return false
	}
	s = bytes.TrimFunc(s, func(r rune) bool { return !isWordRune(r) && !isStop(r) })
	s, found := bytes.CutSuffix(s, []byte{'.'})
	return found && isLabelName(bytes.TrimRight(s, " ")) // "2[1]." with its marker masked
}

// isLabelName reports whether s is a label without its full stop: a section
// number, a letter, or a small Roman number.
func isLabelName(s []byte) bool {
	if len(s) == 0 || len(s) > maxLabel {
		return false
	}
	if r, size := utf8.DecodeRune(s); size == len(s) && unicode.IsLetter(r) {
		return !isUnspaced(r)
	}
	return isSectionNumber(s) || len(s) <= 5 && (len(bytes.Trim(s, "IVX")) == 0 || len(bytes.Trim(s, "ivx")) == 0)
}

// isSectionNumber reports whether s is numbers of one to three digits with
// single points between them.
func isSectionNumber(s []byte) bool {
	for part := range bytes.SplitSeq(s, []byte{'.'}) {
		if len(part) == 0 || len(part) > 3 || len(bytes.Trim(part, "0123456789")) > 0 {
			return false
		}
	}
	return true
}

// inlineLabel returns where in s a label starts that s ends with, its full stop
// left out, if a colon or semicolon stands before it: "these: 1". word is the
// last word of s. It returns 0 if there is none.
func inlineLabel(s, word []byte) int {
	if len(word) == 0 || !isLabelName(word) {
		return 0
	}
	before := bytes.TrimRight(s[:len(s)-len(word)], " \t")
	if n := len(before); n > 0 && (before[n-1] == ':' || before[n-1] == ';') {
		return len(s) - len(word)
	}
	return 0
}
