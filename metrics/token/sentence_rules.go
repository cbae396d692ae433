package token

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// The rules look at most so many bytes to either side of a boundary for a word.
const maxRuleWord = 32

// wrapWidth is the length in bytes from which a line that ends without
// punctuation may have been wrapped.
const wrapWidth = 40

// sentenceEnd returns where the sentence from start on ends if it ends at the
// boundary b of the annex, which is no line end: b, or the label of an item
// before it; -1 if it goes on.
func (s *Splitter) sentenceEnd(start, b int) int {
	buf := s.buf
	t, closed, gap := findStop(buf[start:b])
	if t < 0 {
		return b
	}
	t += start
	if !gap {
		// The annex takes the opening brackets of the next sentence for closing ones.
		b = trimOpening(buf, t+1, b)
	}
	stop, size := utf8.DecodeRune(buf[t:])
	next := nextWord(buf[b:])
	switch {
	case !gap && stop < utf8.RuneSelf && !endsUnspaced(buf, t, next):
		return -1
	case closed && stop != '.' && next.lower:
		return -1
	case closed && isHiragana(next.first) && isCornerBracket(buf[t+size:b]):
		return -1
	case stop != '.' || t > start && buf[t-1] == '.':
		return b
	}
	word := lastWord(buf[start:t])
	if at := inlineLabel(buf[start:t], word); at > 0 {
		return start + at
	}
	before, dot := wordBefore(buf[start : t-len(word)])
	if abbreviates(string(word), string(before), dot, next) {
		return -1
	}
	return b
}

// findStop returns where in s, which ends at a boundary, the character is that
// ends the sentence; -1 if there is none. closed says that a quotation mark or
// bracket follows it, gap that white space does.
func findStop(s []byte) (at int, closed, gap bool) {
	for len(s) > 0 {
		r, size := utf8.DecodeLastRune(s)
		s = s[:len(s)-size]
		switch {
		case isStop(r):
			return len(s), closed, gap
		case isWordRune(r):
			return -1, false, false
		case unicode.IsSpace(r):
			gap = true
		default:
			closed = true
		}
	}
	return -1, false, false
}

// trimOpening returns the end of buf[:b] without the opening brackets and
// quotation marks at its end, of which none is before from.
func trimOpening(buf []byte, from, b int) int {
	for b > from {
		r, size := utf8.DecodeLastRune(buf[:b])
		if !unicode.In(r, unicode.Ps, unicode.Pi) {
			break
		}
		b -= size
	}
	return b
}

// endsUnspaced says whether a sentence ends at the ASCII stop buf[t] although no
// white space follows: before a script without capital letters, and where a
// small letter stands before ! or ? and a capital one behind, as in
// "Really?Yes", unless that is part of a path. An ellipsis needs the space.
func endsUnspaced(buf []byte, t int, next followingWord) bool {
	if next.caseless {
		return buf[t] != '.' || buf[max(0, t-1)] != '.'
	}
	if buf[t] == '.' || !next.upper {
		return false
	}
	before := buf[max(0, t-2*maxRuleWord):t]
	before = before[bytes.LastIndexByte(before, ' ')+1:]
	r, _ := utf8.DecodeLastRune(before)
	return unicode.IsLower(r) && !bytes.ContainsAny(before, "/=@&")
}

// wraps reports whether the line of buf that starts at line and ends before b,
// line break included, goes on in the next one.
func (s *Splitter) wraps(line, b int) bool {
	before := bytes.TrimRight(s.buf[line:b], " \t\r\n")
	if len(before) == 0 || bytes.Count(s.buf[line+len(before):b], []byte{'\n'}) > 1 {
		return false
	}
	rest := bytes.TrimLeft(s.buf[b:min(b+maxRuleWord, len(s.buf))], " \t")
	first, size := utf8.DecodeRune(rest)
	if !unicode.IsLower(first) || len(rest) > size && (rest[size] == '.' || rest[size] == ')') {
		return false
	}
	last, _ := utf8.DecodeLastRune(before)
	return last == ',' || b-line >= wrapWidth && (isWordRune(last) || last == '-' || last == ')')
}

// A followingWord is what a boundary is followed by.
type followingWord struct {
	word                   []byte // its letters and digits, as far as they were read
	first                  rune   // of the word
	upper, lower, caseless bool   // first is such a letter
	digit                  bool   // first is a number
	dot                    bool   // a full stop follows the word
}

// nextWord reads the word at the start of s, past quotation marks and brackets.
func nextWord(s []byte) (w followingWord) {
	s = s[:min(len(s), 2*maxRuleWord)]
	start := 0
	for start < len(s) {
		r, size := utf8.DecodeRune(s[start:])
		if isWordRune(r) {
			w.first = r
			break
		}
		if isStop(r) || isLineBreak(r) {
			return w
		}
		start += size
	}
	end := start
	for end < len(s) {
		r, size := utf8.DecodeRune(s[end:])
		if !isWordRune(r) && !unicode.IsMark(r) {
			w.dot = r == '.'
			break
		}
		end += size
	}
	w.upper, w.lower, w.digit = unicode.IsUpper(w.first), unicode.IsLower(w.first), unicode.IsNumber(w.first)
	w.caseless = unicode.IsLetter(w.first) && !w.upper && !w.lower
	w.word = s[start:end]
	return w
}

// lastWord returns the end of s that could be an abbreviation: letters, digits
// and marks with points and hyphens among them, but none of a script that
// writes no spaces. It is empty if it is too long to be one.
func lastWord(s []byte) []byte {
	at := len(s)
	for at > 0 {
		r, size := utf8.DecodeLastRune(s[:at])
		if !isWordRune(r) && !unicode.IsMark(r) && r != '.' && r != '-' && r != '°' || isUnspaced(r) {
			break
		}
		if at -= size; len(s)-at > maxRuleWord {
			return nil
		}
	}
	return s[at:]
}

// wordBefore returns the last word of s, past white space and without its full
// stop, and whether it has one.
func wordBefore(s []byte) (word []byte, dot bool) {
	s = bytes.TrimRight(s[max(0, len(s)-2*maxRuleWord):], " \t\u00a0")
	if dot = len(s) > 0 && s[len(s)-1] == '.'; dot {
		s = s[:len(s)-1]
	}
	return lastWord(s), dot
}

// isUnspaced reports whether r is of a script that writes no spaces between
// words, in which a letter before a full stop is no initial; Korean is one of
// them here.
func isUnspaced(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func isHiragana(r rune) bool { return unicode.Is(unicode.Hiragana, r) }

func isCornerBracket(s []byte) bool {
	return bytes.HasPrefix(s, []byte("」")) || bytes.HasPrefix(s, []byte("』"))
}
