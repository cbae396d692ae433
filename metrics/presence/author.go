package presence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxParenthesis bounds a citation in parentheses, in bytes.
const maxParenthesis = 400

// nextAuthorYear finds (Smith, 2020), (Smith & Jones, 2020; Kim et al., 2021a,
// p. 5) and Smith (2020).
func nextAuthorYear(text string, from int) (hit, bool) {
	return nextAt(text, "(", from, func(open, i int) (hit, bool) {
		rest := text[i:min(len(text), i+maxParenthesis)]
		stop := strings.IndexAny(rest, "()\n")
		if stop < 0 || rest[stop] != ')' {
			return hit{}, false
		}
		inside, end := rest[:stop], i+stop+1
		if citesAuthors(inside) {
			return hit{AuthorYear, open, end}, true
		}
		if n := yearLength(inside); n > 0 && isYearTail(inside[n:]) {
			start, ok := authorsBefore(text, from, open)
			return hit{AuthorYear, start, end}, ok
		}
		return hit{}, false
	})
}

// citesAuthors reports whether every part of inside, cut at semicolons, is
// authors and a year. Nothing may stand between the parenthesis and the first: ( Smith,
// 2020) is no citation.
func citesAuthors(inside string) bool {
	if first, _ := utf8.DecodeRuneInString(inside); isSpace(first) {
		return false
	}
	for part := range strings.SplitSeq(inside, ";") {
		if !citesAuthor(trimSpace(part)) {
			return false
		}
	}
	return true
}

// leads are what may stand before the authors.
var leads = [...]string{"see also ", "see ", "e.g., ", "e.g. ", "cf. "}

func citesAuthor(part string) bool {
	for _, lead := range leads {
		if len(part) > len(lead) && strings.EqualFold(part[:len(lead)], lead) {
			part = trimSpace(part[len(lead):])
			break
		}
	}
	for i, r := range part {
		previous, _ := utf8.DecodeLastRuneInString(part[:i])
		if i == 0 || !isSpace(previous) && previous != ',' || isSpace(r) {
			continue
		}
		if n := yearLength(part[i:]); n > 0 && isYearTail(part[i+n:]) {
			names := trimSpace(part[:i])
			cut, comma := strings.CutSuffix(names, ",")
			return areAuthors(trimSpace(cut), comma)
		}
	}
	return false
}

// yearLength is the length of the year that s begins with: four digits of any
// script and perhaps a letter, or n.d.
func yearLength(s string) int {
	if strings.HasPrefix(s, "n.d.") {
		return len("n.d.")
	}
	n, count := 0, 0
	for _, r := range s {
		if !unicode.IsDigit(r) {
			break
		}
		n += utf8.RuneLen(r)
		count++
	}
	if count != 4 {
		return 0
	}
	if n < len(s) && 'a' <= s[n] && s[n] <= 'z' {
		n++
	}
	return n
}

// isYearTail reports what may follow a year: more years, or where in the work.
func isYearTail(s string) bool {
	for {
		s = trimSpace(s)
		if s == "" {
			return true
		}
		if s[0] != ',' && s[0] != ':' {
			return false
		}
		s = trimSpace(s[1:])
		n := yearLength(s)
		if n == 0 {
			return isLocator(s)
		}
		s = s[n:]
	}
}

// isLocator reports whether s is a place in a work, such as p. 5, pp. 5-7,
// ch. 3 or 12.
func isLocator(s string) bool {
	for _, word := range [...]string{"pp.", "p.", "pages", "page", "chap.", "ch.", "sec.", "fig.", "para.", "§"} {
		if rest, ok := strings.CutPrefix(s, word); ok {
			s = trimSpace(rest)
			break
		}
	}
	return onlyNumbers(s)
}

// areAuthors reports whether s names authors: names joined by commas, "and" or
// "&", perhaps with "et al.". One word is a name in any case; more than one
// must look like a name, and be set off from the year by a comma unless joined.
func areAuthors(s string, comma bool) bool {
	s, joined := cutEtAl(s)
	for first := true; ; first = false {
		name, rest, more := cutAuthor(s)
		joined = joined || more
		// "Smith, Jones, & Kim" has an empty name before the last.
		if empty := name == "" && !first && more; !empty && !isName(name, joined || comma) {
			return false
		}
		if !more {
			return true
		}
		s = rest
	}
}

// cutAuthor cuts the first name off s at a comma, an ampersand or "and".
func cutAuthor(s string) (name, rest string, more bool) {
	end, width := len(s), 0
	if i := strings.IndexAny(s, ",&"); i >= 0 {
		end, width = i, 1
	}
	if i := strings.Index(s[:end], " and "); i >= 0 {
		end, width = i, len(" and ")
	}
	return trimSpace(s[:end]), s[end+width:], width > 0
}

func cutEtAl(s string) (string, bool) {
	for _, end := range [...]string{"et al.", "et al"} {
		if hasFoldSuffix(s, end) && len(s) > len(end) {
			before := s[:len(s)-len(end)]
			if last, _ := utf8.DecodeLastRuneInString(before); isSpace(last) {
				return strings.TrimRight(trimRightSpace(before), ","), true
			}
		}
	}
	return s, false
}

// maxNameWords bounds the name of one author; organisations have long ones.
const maxNameWords = 8

// isName reports whether name is one author. More than one word must be several
// authors, or be set off by a comma, and look like a name.
func isName(name string, several bool) bool {
	count, last, isWord, capital := 0, "", true, true
	for word := range strings.FieldsFuncSeq(name, isSpace) {
		if count == 0 && isNoAuthor(strings.TrimRight(word, ".")) {
			return false
		}
		count, last = count+1, word
		isWord = isWord && isNameWord(word)
		capital = capital && (startsUpper(word) || particles[word])
	}
	switch {
	case count == 0 || count > maxNameWords || !isWord:
		return false
	case count == 1:
		return letters(last) > 1
	}
	return several && capital && startsUpper(last)
}

// isNameWord reports whether w is letters with what names have between them.
func isNameWord(w string) bool {
	for i, r := range w {
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			continue
		}
		if i == 0 || !strings.ContainsRune("'’-‐.", r) {
			return false
		}
	}
	return letters(w) > 0
}

func letters(w string) (n int) {
	for _, r := range w {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// startsUpper is true of scripts without case as well.
func startsUpper(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return !unicode.IsLower(r)
}

// authorsBefore finds the authors that end right before the parenthesis at
// open: Smith (2020), Smith and Jones (2020), Smith et al. (2020).
func authorsBefore(text string, from, open int) (start int, ok bool) {
	before := strings.TrimRightFunc(text[from:open], isSpace)
	if len(before) == open-from {
		return 0, false // f(2020)
	}
	before, _ = cutEtAl(before)
	start = nameStart(before)
	if start < 0 {
		return 0, false
	}
	for _, joint := range [...]string{" and", " &"} {
		if rest, found := strings.CutSuffix(trimRightSpace(before[:start]), joint); found {
			if first := nameStart(trimRightSpace(rest)); first >= 0 {
				start = first
			}
		}
	}
	return from + start, true
}

func trimRightSpace(s string) string { return strings.TrimRightFunc(s, isSpace) }

// nameStart returns where the name that s ends with begins, -1 if the last word
// is none.
func nameStart(s string) int {
	start := strings.LastIndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune("'’-‐", r)
	})
	if start < 0 {
		start = 0
	} else {
		_, size := utf8.DecodeRuneInString(s[start:])
		start += size
	}
	word := s[start:]
	if r, _ := utf8.DecodeRuneInString(word); !unicode.IsUpper(r) || letters(word) < 2 || isNoAuthor(word) {
		return -1
	}
	return start
}

// particles are the lower-case words of names.
var particles = wordSet("van von de der den del della di da la le du dos des ter ten bin ibn al el of for the and on in")

// notAuthors are words before a number of four digits that name no author:
// months, seasons, prepositions, and what numbers are counted in.
var notAuthors = wordSet(`
	january february march april may june july august september october november december
	jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall winter
	in since from until till by before after during between of as at on to around circa ca early late mid
	year years fiscal fy copyright version edition ed est established founded born died
	retrieved accessed updated published released page pages pp figure fig table chapter section part
	about approximately approx nearly roughly almost over under only total
	equation eq room no number vol volume model iso
	the this that these those it its he she they we you and or but when while where see also`)

// isNoAuthor looks word up in notAuthors, in any case and without allocating.
func isNoAuthor(word string) bool {
	var lower [16]byte
	if len(word) > len(lower) {
		return false
	}
	for i := range len(word) {
		lower[i] = word[i]
		if isASCIILetter(word[i]) {
			lower[i] |= 0x20
		}
	}
	return notAuthors[string(lower[:len(word)])]
}

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}
