package token

import "unicode/utf8"

// A class is what the word boundary rules of Unicode Standard Annex #29 make of
// an ASCII byte: one of the first four, or punctuation that joins two letters,
// two digits, or either. The bit of that punctuation is the bit of what it joins
// shifted by joins.
type class uint8

const (
	letter     class = 1 << iota // ALetter
	digit                        // Numeric
	underscore                   // ExtendNumLet
	foreign                      // not ASCII
	midLetter                    // MidLetter, or either
	midDigit                     // MidNum, or either

	joins    = 4
	wordPart = letter | digit | underscore
)

var classes = func() (t [256]class) {
	for c := range t {
		switch {
		case c >= utf8.RuneSelf:
			t[c] = foreign
		case '0' <= c && c <= '9':
			t[c] = digit
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			t[c] = letter
		}
	}
	t['_'] = underscore
	t[':'] = midLetter
	t[','], t[';'] = midDigit, midDigit
	t['.'], t['\''] = midLetter|midDigit, midLetter|midDigit
	return t
}()

// asciiSegment returns the size of the first segment of s, which is not empty,
// and whether it holds a letter or a number. What is no word is cut into single
// bytes. ok is false if the segment is not ASCII, or if a code point after it
// that is not could belong to it.
func asciiSegment(s string) (size int, wordLike, ok bool) {
	last := classes[s[0]]
	if last&wordPart == 0 {
		return 1, false, last != foreign && (len(s) == 1 || classes[s[1]] != foreign)
	}
	seen := last
	i := 1
	for i < len(s) {
		c := classes[s[i]]
		switch {
		case c&wordPart != 0:
			last = c
			seen |= c
			i++
		case c == foreign:
			return 0, false, false
		case c&(last<<joins) == 0 || i+1 == len(s):
			return i, seen&(letter|digit) != 0, true
		case classes[s[i+1]] == foreign:
			return 0, false, false
		case classes[s[i+1]] != last:
			return i, seen&(letter|digit) != 0, true
		default:
			i += 2 // rules WB6, WB7, WB11 and WB12
		}
	}
	return i, seen&(letter|digit) != 0, true
}
