package judge

import (
	"unicode"
	"unicode/utf8"
)

type featureKind uint8

const (
	featureWord featureKind = iota
	featureNumber
	featureDate
)

// A feature is what the lexical judge compares: a word or a pair of letters, a
// number with its unit, or a date.
type feature struct {
	kind       featureKind
	breaks     bool // a sentence begins with it
	weakBreak  bool // ... unless it is part of a date
	glued      bool // nothing stands between it and the feature before
	dropped    bool // part of another feature
	weak       bool // a pair of Hiragana: an ending or a particle
	start, end int32
	cp, cpEnd  int32
	stem       uint64 // of a word
	word       word
	number     number
	date       date
}

// A scanner cuts texts into features.
type scanner struct {
	lexicon  *lexicon
	features []feature

	text   string
	i      int   // byte
	cp     int32 // code point
	breaks breakState
	prefix unit // of a currency sign before a number
	glued  bool
	minus  bool // the last character is a minus sign that nothing stands before
}

// breakState is what the text since the last feature says of a sentence's end.
type breakState uint8

const (
	noBreak   breakState = iota
	fullStop             // '.', not yet followed by white space
	maybeEnd             // '.' and white space: an end unless a small letter follows
	certainly            // any other mark, or a line end
)

// scan fills s.features with those of text. A byte that is not part of valid
// UTF-8 counts as one code point.
func (s *scanner) scan(text string) {
	s.features = s.features[:0]
	s.text, s.i, s.cp = text, 0, 0
	s.breaks, s.prefix, s.glued, s.minus = certainly, 0, false, false
	for s.i < len(text) {
		r, size := rune(text[s.i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[s.i:])
		}
		switch {
		case r < utf8.RuneSelf && isDigit(byte(r)):
			s.number()
		case spaceless(r):
			s.pair(r, size)
		case wordRune(r):
			s.word()
		case r == '[' || r == '【':
			s.bracket(r, size)
		default:
			s.other(r)
			s.skip(size)
		}
	}
	s.combine()
}

func (s *scanner) skip(size int) {
	s.i += size
	s.cp++
}

// other takes note of a character between words.
func (s *scanner) other(r rune) {
	s.minus = (r == '-' || r == '−') && !s.glued
	s.glued = false
	switch r {
	case ' ', '\t', '\r', 0xA0:
		if s.breaks == fullStop {
			s.breaks = maybeEnd
		}
		return
	case '\n', '!', '?', '。', '！', '？', '؟', '۔', '।', 0x2028, 0x2029:
		s.breaks = certainly
	case '.', '…':
		if s.breaks == noBreak && !s.abbreviated() {
			s.breaks = fullStop
		}
	case '$', '€', '£', '¥', '￥', '＄', '₹':
		s.prefix = s.lexicon.look(mix(hashRune(hashSeed, r))).unit
		return
	}
	s.prefix = 0
}

// abbreviated reports whether the word before a full stop is one that takes one.
func (s *scanner) abbreviated() bool {
	if len(s.features) == 0 {
		return true
	}
	f := &s.features[len(s.features)-1]
	if int(f.end) != s.i {
		return false
	}
	// A number that begins a sentence is that of a list item.
	first, _ := utf8.DecodeRuneInString(s.text[f.start:])
	initial := f.cpEnd-f.cp == 1 && unicode.IsUpper(first)
	return f.word.abbr || initial ||
		f.kind == featureNumber && f.breaks || f.word.month != 0 && f.cpEnd-f.cp <= 4
}

// add appends a feature that begins at the given place and ends here.
func (s *scanner) add(f feature, start int, cp int32) *feature {
	f.start, f.end, f.cp, f.cpEnd = int32(start), int32(s.i), cp, s.cp
	f.breaks = s.breaks == certainly || s.breaks == maybeEnd
	f.weakBreak = s.breaks == maybeEnd
	f.glued = s.glued
	s.breaks, s.glued, s.minus, s.prefix = noBreak, true, false, 0
	s.features = append(s.features, f)
	return &s.features[len(s.features)-1]
}

// word reads a word up to the next apostrophe or character of another kind.
func (s *scanner) word() {
	start, cp := s.i, s.cp
	if s.breaks == maybeEnd {
		if r, _ := utf8.DecodeRuneInString(s.text[start:]); unicode.IsLower(r) {
			s.breaks = noBreak
		}
	}
	fold := newFolder()
	for s.i < len(s.text) {
		if c := asciiWord[s.text[s.i]]; c != 0 {
			fold.add(rune(c))
			s.skip(1)
			continue
		}
		if s.text[s.i] < utf8.RuneSelf {
			break
		}
		r, size := utf8.DecodeRuneInString(s.text[s.i:])
		if !wordRune(r) || spaceless(r) {
			break
		}
		fold.add(lower(r))
		s.skip(size)
	}
	full, stem := fold.hashes()
	f := s.add(feature{stem: stem, word: s.lexicon.look(full)}, start, cp)
	if fold.n == 1 && fold.last == 't' {
		s.contraction(f)
	}
}

// contraction makes the two halves of "isn't" a negation.
func (s *scanner) contraction(t *feature) {
	if len(s.features) < 2 {
		return
	}
	before := &s.features[len(s.features)-2]
	apostrophe, _ := utf8.DecodeRuneInString(s.text[before.end:])
	if t.cp == before.cpEnd+1 && (apostrophe == '\'' || apostrophe == '’') && s.text[before.end-1]|0x20 == 'n' {
		before.dropped = true
		t.word = word{negates: true}
	}
}

// pair reads one letter of a spaceless script. Every two that touch are one
// feature; so is one that touches none.
func (s *scanner) pair(r rune, size int) {
	start, cp := s.i, s.cp
	r = lower(r)
	s.skip(size)
	if s.i == len(s.text) {
		s.single(r, start, cp)
		return
	}
	next, _ := utf8.DecodeRuneInString(s.text[s.i:])
	if !spaceless(next) {
		s.single(r, start, cp)
		return
	}
	h := mix(hashRune(hashRune(hashSeed, r), lower(next)))
	f := s.add(feature{stem: h, word: s.lexicon.look(h), weak: hiragana(r) && hiragana(next)}, start, cp)
	f.end += int32(utf8.RuneLen(next))
	f.cpEnd++
}

// single adds a letter that has no right neighbour, unless its left neighbour
// made a pair with it.
func (s *scanner) single(r rune, start int, cp int32) {
	if n := len(s.features); n > 0 && s.features[n-1].cpEnd == s.cp {
		return
	}
	h := mix(hashRune(hashSeed, r))
	s.add(feature{stem: h, word: s.lexicon.look(h), weak: hiragana(r)}, start, cp)
}

// bracket skips a citation marker such as [3], [1, 2] or 【3†source】.
func (s *scanner) bracket(open rune, size int) {
	const longest = 48
	rest := s.text[s.i+size:]
	for i, r := range rest[:min(len(rest), longest)] {
		switch {
		case open == '[' && r == ']' && i > 0, open == '【' && r == '】':
			s.cp += int32(utf8.RuneCountInString(rest[:i])) + 2
			s.i += size + i + utf8.RuneLen(r)
			s.glued = false
			return
		case open == '[' && !(r < utf8.RuneSelf && isDigit(byte(r)) && (i < 3 || !allDigits(rest[i-3:i]))) && r != ',' && r != ' ' && r != '-' && r != '–':
			s.other(open)
			s.skip(size)
			return
		}
	}
	s.other(open)
	s.skip(size)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}
