package token

import (
	"unicode"

	"github.com/clipperhouse/uax29/v2/words"
)

// bytesPerWord is about how many bytes of English text there are to a word; it
// only sizes an index before it is filled.
const bytesPerWord = 6

// Words returns the word tokens of text: the segments between the word
// boundaries of Unicode Standard Annex #29 that hold at least one letter or
// number (general category L or N). "can't" and "3.14" are one token each,
// punctuation and white space are none.
//
// A byte that is not part of valid UTF-8 counts as one code point.
func Words(text string) *Index {
	x := newIndex(len(text) / bytesPerWord)
	it := words.FromString("")
	var at int32
	for pos := 0; pos < len(text); {
		// Where the segment is plain ASCII, its end is found without the tables.
		if size, wordLike, ok := asciiSegment(text[pos:]); ok {
			if wordLike {
				x.add(at, at+int32(size))
			}
			at += int32(size)
			pos += size
			continue
		}
		it.SetText(text[pos:])
		it.Next()
		n, wordLike := measure(it.Value())
		if wordLike {
			x.add(at, at+n)
		}
		at += n
		pos += len(it.Value())
	}
	return x
}

// measure returns the number of code points of a segment and whether one of
// them is a letter or a number.
func measure(segment string) (n int32, wordLike bool) {
	for _, r := range segment {
		wordLike = wordLike || unicode.IsLetter(r) || unicode.IsNumber(r)
		n++
	}
	return n, wordLike
}
