package report

import (
	"strings"
)

// Clean makes a user's text safe for a terminal: control characters become
// visible pictures of themselves, and overrides of the direction of text, with
// which a text can lie about its order, become replacement characters. Line
// feeds and tabs stay.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, text)
}

// CleanLine is [Clean] for what has to stay on one line, such as a name: line
// feeds and tabs become visible, too.
func CleanLine(text string) string { return strings.Map(visible, text) }

// visible is r, or a picture of it.
func visible(r rune) rune {
	switch {
	case r < 0x20:
		return 0x2400 + r // CONTROL PICTURES
	case r == 0x7f:
		return 0x2421
	case r >= 0x80 && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return 0xfffd
	}
	return r
}
