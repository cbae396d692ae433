package claims

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAuthors bounds a citation by authors and year, in bytes.
const maxAuthors = 400

// AuthorYear returns the first citation by authors and year that begins at or after the
// byte from, whether or not any source has those: (Smith, 2020), (Smith & Jones, 2020;
// Kim et al., 2021a, p. 5), Smith (2020).
func AuthorYear(text string, from int) (start, end int, ok bool) {
	for i := from; ; {
		open := strings.IndexByte(text[i:], '(')
		if open < 0 {
			return 0, 0, false
		}
		open += i
		i = open + 1
		rest := text[i:min(len(text), i+maxAuthors)]
		stop := strings.IndexAny(rest, "()\n")
		if stop < 0 || rest[stop] != ')' {
			continue
		}
		inside, end := rest[:stop], i+stop+1
		if citesAuthors(inside) {
			return open, end, true
		}
		if n := yearLength(inside); n > 0 && isYearTail(inside[n:]) {
			if start, ok := authorsBefore(text, from, open); ok {
				return start, end, true
			}
		}
	}
}

// parseAuthors reads authors and years, cut at semicolons.
func parseAuthors(inside string) (refs []Mark, ok bool) {
	if !citesAuthors(inside) {
		return nil, false
	}
	for part := range strings.SplitSeq(inside, ";") {
		names, year, _ := citesAuthor(strings.TrimSpace(part))
		m := authorYear(names, year)
		_, m.Page = cutPage(part)
		refs = append(refs, m)
	}
	return refs, true
}

// citesAuthors reports whether every part of inside, cut at semicolons, is authors and a
// year. Nothing may stand between the bracket and the first: ( Smith, 2020) is no citation.
func citesAuthors(inside string) bool {
	if first, _ := utf8.DecodeRuneInString(inside); unicode.IsSpace(first) {
		return false
	}
	for part := range strings.SplitSeq(inside, ";") {
		if _, _, ok := citesAuthor(strings.TrimSpace(part)); !ok {
			return false
		}
	}
	return true
}

// authorYear is a reference to authors and a year, until it is bound: the surname of the
// first and the year, in small letters.
func authorYear(names, year string) Mark {
	return Mark{Source: -1, Doc: surnameOf(names) + "\x00" + strings.ToLower(year), Number: -1}
}

// leads are what may stand before what is cited.
var leads = [...]string{
	"see also ", "see ", "e.g., ", "e.g. ", "cf. ", "from ", "per ", "according to ", "siehe ", "vgl. ", "voir ", "cf ", "véase ", "ver ", "vedi ", "参见", "见",
}

// cutLead cuts what may stand before authors or the number of a source.
func cutLead(s string) (rest string, found bool) {
	for _, lead := range leads {
		if len(s) > len(lead) && strings.EqualFold(s[:len(lead)], lead) {
			return strings.TrimSpace(s[len(lead):]), true
		}
	}
	return s, false
}

// citesAuthor reads authors and a year.
func citesAuthor(part string) (names, year string, ok bool) {
	part, _ = cutLead(part)
	for i, r := range part {
		previous, _ := utf8.DecodeLastRuneInString(part[:i])
		if i == 0 || !unicode.IsSpace(previous) && previous != ',' || unicode.IsSpace(r) {
			continue
		}
		if n := yearLength(part[i:]); n > 0 && isYearTail(part[i+n:]) {
			names := strings.TrimSpace(part[:i])
			cut, comma := strings.CutSuffix(names, ",")
			return names, part[i : i+n], areAuthors(strings.TrimSpace(cut), comma)
		}
	}
	return "", "", false
}

// surnameOf is the last word of the first of several authors, in small letters.
func surnameOf(names string) string {
	names, _ = cutEtAl(strings.TrimRight(names, ", "))
	first, _, _ := cutAuthor(names)
	words := strings.FieldsFunc(first, unicode.IsSpace)
	if len(words) == 0 {
		return ""
	}
	return strings.ToLower(words[len(words)-1])
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
		s = strings.TrimSpace(s)
		if s == "" {
			return true
		}
		if s[0] != ',' && s[0] != ':' {
			return false
		}
		s = strings.TrimSpace(s[1:])
		n := yearLength(s)
		if n == 0 || dashLength(s[n:]) > 0 { // 1204-1210 are pages
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
			s = strings.TrimSpace(rest)
			break
		}
	}
	return strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789-–, \t") == ""
}

// areAuthors reports whether s names authors: names joined by commas, "and" or
// "&", perhaps with "et al.". One word is a name in any case; more than one
// must look like a name, and be set off from the year by a comma unless joined.
func areAuthors(s string, comma bool) bool {
	s, joined := cutEtAl(s)
	for first := true; ; first = false {
		name, rest, more := cutAuthor(s)
		joined = joined || more
		// "Smith, Jones, & Kim" has an empty name before the last, "Smith, J. K." initials behind it.
		if passed := !first && (name == "" && more || areInitials(name)); !passed && !isName(name, joined || comma) {
			return false
		}
		if !more {
			return true
		}
		s = rest
	}
}

// areInitials reports whether s is initials, such as "J." or "J.-P. K.".
func areInitials(s string) bool {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return unicode.IsSpace(r) || r == '-' || r == '.' }) {
		if r, size := utf8.DecodeRuneInString(part); !unicode.IsUpper(r) || size != len(part) {
			return false
		}
	}
	return strings.Contains(s, ".")
}

// cutAuthor cuts the first name off s at a comma, an ampersand or a word such as "and".
func cutAuthor(s string) (name, rest string, more bool) {
	end, width := len(s), 0
	if i := strings.IndexAny(s, ",&"); i >= 0 {
		end, width = i, 1
	}
	for _, joint := range [...]string{" and ", " und ", " et ", " y ", " e "} {
		if i := strings.Index(s[:end], joint); i >= 0 {
			end, width = i, len(joint)
		}
	}
	return strings.TrimSpace(s[:end]), s[end+width:], width > 0
}

func cutEtAl(s string) (string, bool) {
	for _, end := range [...]string{"et al.", "et al"} {
		if hasFoldSuffix(s, end) && len(s) > len(end) {
			before := s[:len(s)-len(end)]
			if last, _ := utf8.DecodeLastRuneInString(before); unicode.IsSpace(last) {
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
	for word := range strings.FieldsFuncSeq(name, unicode.IsSpace) {
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
	before := trimRightSpace(text[from:open])
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

func trimRightSpace(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

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
var particles = wordSet(listText("name_particles"))

// notAuthors are words before a number of four digits that name no author:
// months, seasons, prepositions, and what numbers are counted in.
var notAuthors = wordSet(listText("not_authors"))

// isNoAuthor looks word up in notAuthors, in any case and without allocating.
func isNoAuthor(word string) bool {
	var lower [16]byte
	if len(word) > len(lower) {
		return false
	}
	for i := range len(word) {
		lower[i] = word[i]
		if c := word[i] | 0x20; 'a' <= c && c <= 'z' {
			lower[i] |= 0x20
		}
	}
	return notAuthors[string(lower[:len(word)])]
}
