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

// number reads digits with all that belongs to them: separators, a sign or a
// unit that touches them. What begins with a digit and goes on with letters
// that say nothing of a number is a word.
func (s *scanner) number() {
	start, cp := s.i, s.cp
	end := s.digits()
	text := s.text[start:end]
	f := feature{kind: featureNumber}
	var ok bool
	if f.date, ok = parseDate(text); ok {
		f.kind = featureDate
		s.to(end)
		s.add(f, start, cp)
		return
	}
	if f.number, ok = parseNumber(text); !ok {
		// Several numbers: the first group of digits is one.
		for end = start; end < len(s.text) && isDigit(s.text[end]); end++ {
		}
		f.number, _ = parseNumber(s.text[start:end])
	}
	f.number.negative = s.minus && f.number.digits != 0
	f.number.unit = s.prefix
	s.to(end)
	if s.suffix(&f.number) {
		s.add(f, start, cp)
		return
	}
	s.i, s.cp = start, cp
	s.word()
}

// to moves on to a byte.
func (s *scanner) to(end int) {
	s.cp += int32(utf8.RuneCountInString(s.text[s.i:end]))
	s.i = end
}

// digits returns the end of the digits here and of the separators between them,
// of which it takes maxGroups at most.
func (s *scanner) digits() int {
	i := s.i
	for groups := 0; i < len(s.text); {
		c := s.text[i]
		if isDigit(c) {
			i++
			continue
		}
		if groups++; groups > maxGroups {
			return i
		}
		size := 1
		switch {
		case c == '.' || c == ',' || c == '-' || c == '/':
		case c == '\'':
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s.text[i:])
			if r != 0xA0 && r != 0x202F && r != 0x2009 && r != '’' {
				return i
			}
			size = n
		default:
			return i
		}
		after := i + size
		if after >= len(s.text) || !isDigit(s.text[after]) {
			return i
		}
		if c == '-' || c == '/' {
			// Only a date has these inside.
			if end := s.dateEnd(); end > 0 {
				return end
			}
			return i
		}
		i = after
	}
	return i
}

// dateEnd returns the end of a date such as 2024-05-17 that begins here, 0 if
// none does.
func (s *scanner) dateEnd() int {
	const longest = len("2024-05-17")
	i := s.i
	for i < len(s.text) && i-s.i <= longest && (isDigit(s.text[i]) || s.text[i] == '-' || s.text[i] == '/') {
		i++
	}
	if _, ok := parseDate(s.text[s.i:i]); ok {
		return i
	}
	return 0
}

// suffix reads what touches a number: a power of ten, a unit, an ordinal
// ending. It reports whether the number ends here; it does not if other
// letters follow.
func (s *scanner) suffix(n *number) bool {
	for s.i < len(s.text) {
		r, _ := utf8.DecodeRuneInString(s.text[s.i:])
		switch {
		case spaceless(r):
			if !s.ideographs(n) {
				return true
			}
		case wordRune(r) || r == '%' || r == '％' || r == '‰' || r == '°' || r == '℃' || r == '℉':
			return s.letters(n, wordRune(r))
		default:
			return true
		}
	}
	return true
}

// ideographs reads a unit or power of ten of one or two letters, the longer one
// first. It reports whether there was one.
func (s *scanner) ideographs(n *number) bool {
	r1, size1 := utf8.DecodeRuneInString(s.text[s.i:])
	h := hashRune(hashSeed, r1)
	if r2, size2 := utf8.DecodeRuneInString(s.text[s.i+size1:]); size2 > 0 {
		if w := s.lexicon.look(mix(hashRune(h, r2))); w.unit != 0 {
			n.unit = w.unit
			s.to(s.i + size1 + size2)
			return true
		}
	}
	w := s.lexicon.look(mix(h))
	if w.unit == 0 && w.times == 0 {
		return false
	}
	if w.unit != 0 {
		n.unit = w.unit
	}
	n.scale(w.times)
	s.to(s.i + size1)
	return true
}

// letters reads the letters that touch a number, or a sign such as %.
func (s *scanner) letters(n *number, isWord bool) bool {
	end := s.i
	h := uint64(hashSeed)
	for end < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[end:])
		if !wordRune(r) && (isWord || end > s.i) || spaceless(r) {
			break
		}
		h = hashRune(h, lower(r))
		end += size
		if !isWord && r != '°' {
			break
		}
	}
	w := s.lexicon.look(mix(h))
	switch {
	case w.unit != 0:
		n.unit = w.unit
	case w.times != 0:
		n.scale(w.times)
	case !w.ordinal:
		return !isWord
	}
	s.to(end)
	return true
}
