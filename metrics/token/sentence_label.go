package token

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// maxLabel is the length in bytes of the longest label.
const maxLabel = 24

// isLabel reports whether s is nothing but the label of an item: "2.", "(b)",
// "IV.", "2.1.", with whatever little stands around it, such as a bullet.
// A blank line ends even a label.
func isLabel(s []byte) bool {
	if len(s) > 4*maxLabel || bytes.Count(s, []byte{'\n'}) > 1 {
		return false
	}
	s = bytes.TrimFunc(s, func(r rune) bool { return !isWordRune(r) && !isStop(r) })
	s, found := bytes.CutSuffix(s, []byte{'.'})
	return found && isLabelName(bytes.TrimRight(s, " ")) // "2[1]." with its marker masked
}

// isLabelName reports whether s is a label without its full stop: a section
// number, a letter, or a small Roman number.
func isLabelName(s []byte) bool {
	if len(s) == 0 || len(s) > maxLabel {
		return false
	}
	if r, size := utf8.DecodeRune(s); size == len(s) && unicode.IsLetter(r) {
		return !isUnspaced(r)
	}
	return isSectionNumber(s) || len(s) <= 5 && (len(bytes.Trim(s, "IVX")) == 0 || len(bytes.Trim(s, "ivx")) == 0)
}

// isSectionNumber reports whether s is numbers of one to three digits with
// single points between them.
func isSectionNumber(s []byte) bool {
	for part := range bytes.SplitSeq(s, []byte{'.'}) {
		if len(part) == 0 || len(part) > 3 || len(bytes.Trim(part, "0123456789")) > 0 {
			return false
		}
	}
	return true
}

// inlineLabel returns where in s a label starts that s ends with, its full stop
// left out, if a colon or semicolon stands before it: "these: 1". word is the
// last word of s. It returns 0 if there is none.
func inlineLabel(s, word []byte) int {
	if len(word) == 0 || !isLabelName(word) {
		return 0
	}
	before := bytes.TrimRight(s[:len(s)-len(word)], " \t")
	if n := len(before); n > 0 && (before[n-1] == ':' || before[n-1] == ';') {
		return len(s) - len(word)
	}
	return 0
}
