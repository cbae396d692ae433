// Package token divides a text into word tokens and converts between the units
// in which people count positions in it: code points, UTF-8 bytes and UTF-16
// code units.
//
// Every offset that leaves the package counts Unicode code points, zero-based,
// and every interval is half-open. A text is a plain string; the package knows
// neither documents nor files.
package token

import (
	"sort"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// An Index holds the tokens of one text: token i is the half-open interval
// [Starts[i], Ends[i]) of code points. Tokens are not empty, do not overlap and
// stand in the order of the text. The zero Index is that of a text without
// tokens.
//
// An Index is safe for concurrent use while nobody changes it.
type Index struct {
	Starts, Ends []int32
}

// Len is the number of tokens.
func (x *Index) Len() int { return len(x.Starts) }

// Range returns the tokens that the code points [start, end) touch, as the
// half-open range [lo, hi) of token numbers. A token is touched if at least one
// of its code points is. The range is empty (lo = hi) if there is none; lo then
// is the number of tokens that end at or before start, so that the ranges of a
// sorted set of spans are sorted, too. start may lie past the end of the text.
//
// It takes O(log n) steps in n tokens and does not allocate.
func (x *Index) Range(start, end int32) (lo, hi int) {
	lo = sort.Search(len(x.Ends), func(i int) bool { return x.Ends[i] > start })
	if start >= end {
		return lo, lo
	}
	hi = lo + sort.Search(len(x.Starts)-lo, func(i int) bool { return x.Starts[lo+i] >= end })
	return lo, hi
}

// Reset takes all tokens out of x, and keeps its memory.
func (x *Index) Reset() { x.Starts, x.Ends = x.Starts[:0], x.Ends[:0] }

// Append appends those tokens [lo, hi) of y that begin where those of x end, or
// later.
func (x *Index) Append(y *Index, lo, hi int) {
	if n := len(x.Ends); n > 0 {
		for lo < hi && y.Starts[lo] < x.Ends[n-1] {
			lo++
		}
	}
	x.Starts, x.Ends = append(x.Starts, y.Starts[lo:hi]...), append(x.Ends, y.Ends[lo:hi]...)
}

// newIndex returns an empty index with room for n tokens.
func newIndex(n int) *Index {
	return &Index{Starts: make([]int32, 0, n), Ends: make([]int32, 0, n)}
}

// add appends the token [start, end), given in code points.
func (x *Index) add(start, end int32) {
	x.Starts = append(x.Starts, start)
	x.Ends = append(x.Ends, end)
}

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
	x.SetWords(text)
	return x
}

// SetWords makes x the index that [Words] returns, in the memory that x has.
func (x *Index) SetWords(text string) {
	x.Reset()
	x.addWords(text, 0)
}

// addWords appends the words of a text that begins at code point at.
func (x *Index) addWords(text string, at int32) {
	it := words.FromString("")
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
