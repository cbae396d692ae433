package convert

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An answerText finds passages in an answer, white space ignored: records that
// cut an answer into claims turn its line ends into spaces, or lose them.
type answerText struct {
	dense strings.Builder // the answer without its white space
	at    []int32         // for each byte of dense, the code point it belongs to
}

func newAnswerText(answer string) *answerText {
	a := &answerText{}
	n := int32(0)
	for _, r := range answer {
		if !unicode.IsSpace(r) {
			for range utf8.RuneLen(r) {
				a.at = append(a.at, n)
			}
			a.dense.WriteRune(r)
		}
		n++
	}
	return a
}

// find returns the half-open interval of code points where passage stands in
// the answer. ok is false unless it stands there exactly once, occurrences that
// overlap counted.
func (a *answerText) find(passage string) (start, end int64, ok bool) {
	var b strings.Builder
	for _, r := range passage {
		if !unicode.IsSpace(r) {
			b.WriteRune(r)
		}
	}
	needle, text := b.String(), a.dense.String()
	if needle == "" {
		return 0, 0, false
	}
	lo := strings.Index(text, needle)
	if lo < 0 || strings.Contains(text[lo+1:], needle) {
		return 0, 0, false
	}
	return int64(a.at[lo]), int64(a.at[lo+len(needle)-1]) + 1, true
}
