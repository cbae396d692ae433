package token

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// Words returns the word tokens of text: the segments between the word
// boundaries of Unicode Standard Annex #29 that hold at least one letter or
// number (general category L or N). "can't" and "3.14" are one token each,
// punctuation and white space are none.
//
// A byte that is not part of valid UTF-8 counts as one code point.
func Words(text string) *Index {
	x := new(Index)
	it := words.FromString(text)
	var at int32
	for it.Next() {
		n, wordLike := measure(it.Value())
		if wordLike {
			x.add(at, at+n)
		}
		at += n
	}
	return x
}

// measure returns the number of code points of a segment and whether one of
// them is a letter or a number.
func measure(segment string) (n int32, wordLike bool) {
	for i := 0; i < len(segment); n++ {
		if c := segment[i]; c < utf8.RuneSelf {
			wordLike = wordLike || 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(segment[i:])
		wordLike = wordLike || unicode.IsLetter(r) || unicode.IsNumber(r)
		i += size
	}
	return n, wordLike
}
