package claims

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPointer is how many bytes before a mark are searched for a pointer or an attribution.
const maxPointer = 64

// pointers are the words of a sentence before the mark at its end, such as "This information comes
// from". attributions are the words of a clause before a mark, such as "as stated in".
var (
	pointers     = newPointers(listText("pointers"))
	attributions = newPointers(listText("attribution"))
)

// copulas need what follows them: "The estimate is based on [1]." is not "The estimate is."
var copulas = map[string]bool{"is": true, "are": true, "was": true, "were": true, "be": true, "been": true, "ist": true, "sind": true, "war": true, "est": true, "es": true, "è": true}

// forMore matches what may follow the mark in a pointer.
var forMore = regexp.MustCompile(`^ for (?:more |further |full )?(?:details?|information)\b`)

// newPointers groups phrases by their last words, the longest first.
func newPointers(list string) map[string][]string {
	all := make(map[string][]string)
	for _, p := range lines(list) {
		all[lastWord(p)] = append(all[lastWord(p)], folded(p))
	}
	for _, of := range all {
		slices.SortFunc(of, func(a, b string) int { return len(b) - len(a) })
	}
	return all
}

// pointer extends marks to the sentence around them if it only names a source, as in "See Document
// 1.", or to the clause that does so, as in ", as stated in [1]". The extent includes brackets
// around either, and the full stop of a sentence.
func (r *reading) pointer(e extent) (extent, bool) {
	purpose := len(forMore.FindString(r.text[e.end:min(len(r.text), e.end+maxPointer)]))
	end := len(r.text) - len(strings.TrimLeft(r.text[e.end+purpose:], " )）*_"))
	stop, size := utf8.DecodeRuneInString(r.text[end:])
	ends := size == 0 || stop == '\n'
	if !ends && !isStop(stop) {
		return e, false
	}
	if isStop(stop) {
		end += size
		end = len(r.text) - len(strings.TrimLeft(r.text[end:], ")）*_"))
	}
	from := max(0, e.start-maxPointer)
	from += len(r.text[from:e.start]) - len(strings.TrimLeftFunc(r.text[from:e.start], func(c rune) bool { return c == utf8.RuneError }))
	left := strings.TrimRight(r.text[from:e.start], " :：*_")
	head, dash := strings.CutSuffix(strings.TrimRight(left, "-"), "—")
	if !dash {
		head, dash = strings.CutSuffix(strings.TrimRight(left, "-"), "–")
	}
	begins := func(head string) bool {
		head = strings.TrimRightFunc(head, func(c rune) bool { return unicode.IsSpace(c) && c != '\n' || strings.ContainsRune("(（*_>", c) })
		last, _ := utf8.DecodeLastRuneInString(head)
		return head == "" && from == 0 || last == '\n' || isStop(last) || strings.ContainsRune("\"”»", last)
	}
	if dash && begins(head) && ends {
		return extent{from + len(head), e.end}, true
	}
	if head, ok := cutPhrase(left, pointers); ok {
		if begins(head) {
			return extent{from + len(strings.TrimRight(head, "(（*_")), end}, true
		}
		if cut := strings.TrimRight(head, " *_"); ends && len(strings.TrimRight(cut, "—–")) < len(cut) { // … — Source: [1]
			return extent{from + len(strings.TrimRight(cut, " —–")), e.end}, true
		}
	}
	head, ok := cutPhrase(left, attributions)
	if head = strings.TrimRight(head, " "); !ok || begins(head) || copulas[lastWord(head)] {
		return e, false
	}
	if open := strings.TrimRight(head, "(（"); open != head {
		return extent{from + len(open), len(r.text) - len(strings.TrimLeft(r.text[e.end:], ")）"))}, true
	}
	return extent{from + len(strings.TrimRight(head, ",")), e.end}, true
}

// cutPhrase cuts the longest phrase that is the last words of a text.
func cutPhrase(text string, phrases map[string][]string) (head string, ok bool) {
	some := phrases[lastWord(text)]
	if len(some) == 0 {
		return text, false
	}
	low := strings.ToLower(text)
	if len(low) != len(text) {
		return text, false
	}
	for _, p := range some {
		if head, ok := strings.CutSuffix(low, p); ok {
			if last, _ := utf8.DecodeLastRuneInString(head); !isWordRune(last) || head == "" {
				return text[:len(head)], true
			}
		}
	}
	return text, false
}
