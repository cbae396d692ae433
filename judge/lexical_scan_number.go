package judge

import "unicode/utf8"

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
