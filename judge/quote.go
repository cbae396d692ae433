package judge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// findQuote finds quote in text where any run of white space matches any other,
// and white space at the ends of quote matches nothing. It returns the first
// place in code points of text. A quote without a visible character, or that is
// not valid UTF-8, is not found.
func findQuote(text, quote string) (at Interval, ok bool) {
	needle := squeeze(quote)
	if needle == "" || !utf8.ValidString(needle) {
		return Interval{}, false
	}
	squeezed := squeeze(text)
	i := strings.Index(squeezed, needle)
	if i < 0 {
		return Interval{}, false
	}
	// The squeezed text differs from text in white space only, so the place is
	// that of the same visible characters, counted.
	from := visible(squeezed[:i])
	to := from + visible(needle)
	var n, cp int32
	for _, r := range text {
		if !unicode.IsSpace(r) {
			if n == from {
				at.Start = cp
			}
			if n++; n == to {
				at.End = cp + 1
				return at, true
			}
		}
		cp++
	}
	return Interval{}, false
}

// squeeze turns every run of white space into one space and drops it at the
// ends.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// visible is the number of code points that are not white space.
func visible(s string) int32 {
	n := int32(0)
	for _, r := range s {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// clipLength is how much of a foreign text a message repeats.
const clipLength = 60

// clip shortens s for a message, at a code point.
func clip(s string) string {
	if len(s) <= clipLength {
		return s
	}
	n := clipLength
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
