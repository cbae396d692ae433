package presence

import (
	"strings"
	"unicode"
)

// isSpace reports white space, among it the four separators U+001C to U+001F
// that [unicode.IsSpace] leaves out.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

func trimSpace(s string) string { return strings.TrimFunc(s, isSpace) }

// isWordRune reports the characters that make words: letters of any script,
// marks, digits, the underscore.
func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// digits counts the ASCII digits at the beginning of s.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// dashWidth is the length of the hyphen or en dash at the beginning of s, 0 if
// there is none.
func dashWidth(s string) int {
	switch {
	case strings.HasPrefix(s, "-"):
		return 1
	case strings.HasPrefix(s, "–"):
		return len("–")
	}
	return 0
}

// isOffsetRune reports the characters of a list of spans.
func isOffsetRune(r rune) bool { return '0' <= r && r <= '9' || strings.ContainsRune("-–, \t", r) }

// offsetsPrefix is the length of what a list of spans can hold at the beginning
// of s.
func offsetsPrefix(s string) int {
	if n := strings.IndexFunc(s, func(r rune) bool { return !isOffsetRune(r) }); n >= 0 {
		return n
	}
	return len(s)
}

// onlyOffsets reports whether s holds nothing that a list of spans cannot hold.
func onlyOffsets(s string) bool { return offsetsPrefix(s) == len(s) }

// onlyNumbers reports whether s is made of digits, commas, dashes and spaces,
// with a digit among them.
func onlyNumbers(s string) bool { return strings.ContainsAny(s, "0123456789") && onlyOffsets(s) }
