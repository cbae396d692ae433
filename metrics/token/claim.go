package token

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Claim returns the code points b of the text without the markers in it and
// without the white space they leave: before punctuation, at an end, or beside
// other white space. Brackets that hold nothing but markers go with them, as do
// commas and semicolons between two markers. markers are sorted by start. It takes
// a time that depends on the length of the claim and on that of markers only.
func (t *Text) Claim(b Bounds, markers []Bounds) string {
	var out []byte
	at := max(b.Start, 0)
	marked, spaced := false, false // at follows a marker, and white space among markers
	for _, m := range markers {
		if m.End <= at {
			continue
		}
		if m.Start >= b.End {
			break
		}
		part := t.Slice(int(at), int(m.Start))
		at = min(m.End, b.End)
		if marked && strings.TrimFunc(part, separatesMarkers) == "" {
			spaced = spaced || strings.ContainsFunc(part, unicode.IsSpace)
			continue
		}
		out = appendPart(out, part, marked, spaced)
		marked, spaced = true, false
	}
	last := t.Slice(int(at), int(b.End))
	if !marked {
		return strings.TrimSpace(last)
	}
	return strings.TrimSpace(string(appendPart(out, last, marked, spaced)))
}

// appendPart appends the next part of a claim to out. marked says that markers
// were cut out before it, spaced that there was white space among them.
func appendPart(out []byte, part string, marked, spaced bool) []byte {
	if !marked {
		return append(out, part...)
	}
	right := strings.TrimLeftFunc(part, unicode.IsSpace)
	spaced = spaced || len(right) < len(part)
	left := len(bytes.TrimRightFunc(out, unicode.IsSpace))
	first, size := utf8.DecodeRuneInString(right)
	for {
		last, w := utf8.DecodeLastRune(out[:left])
		if c, ok := closing[last]; !ok || c != first {
			break
		}
		out, part, spaced = out[:left-w], right[size:], false
		right = strings.TrimLeftFunc(part, unicode.IsSpace)
		left = len(bytes.TrimRightFunc(out, unicode.IsSpace))
		first, size = utf8.DecodeRuneInString(right)
	}
	switch {
	case right == "" || strings.ContainsRune(followsUnspaced, first):
		return append(out[:left], right...)
	case len(right) < len(part):
		return append(out[:left], part...)
	case spaced && left == len(out):
		out = append(out, ' ')
	}
	return append(out, right...)
}

// followsUnspaced is what no white space stands before.
const followsUnspaced = ".,;:!?…)]}”’»。，、；：！？．）］】」』》〉，،؛؟۔।॥"

// closing are the brackets that may enclose markers.
var closing = map[rune]rune{'(': ')', '[': ']', '{': '}', '（': '）', '［': '］', '【': '】'}

// separatesMarkers reports whether r may stand between two markers of one list.
func separatesMarkers(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(",;，、；،", r)
}
