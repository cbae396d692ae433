package token

import "unicode"

// Whitespace returns the maximal runs of text without white space (as
// [unicode.IsSpace] has it), so that punctuation belongs to the word it touches.
//
// A byte that is not part of valid UTF-8 counts as one code point.
func Whitespace(text string) *Index {
	x := newIndex(len(text) / bytesPerWord)
	var at, start int32
	inside := false
	for _, r := range text {
		space := unicode.IsSpace(r)
		if space && inside {
			x.add(start, at)
		}
		if !space && !inside {
			start = at
		}
		inside = !space
		at++
	}
	if inside {
		x.add(start, at)
	}
	return x
}
