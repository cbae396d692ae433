package quote

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"ibid/metrics/token"
)

// A fold is the folded form of a text: its words one after the other, with nothing between.
// Two texts are equal for a quotation if their folded forms are: typography, case, line ends,
// note marks, tags and emphasis are gone. Letters, digits and the signs that change what is
// said stay: < > = + % °, other signs of mathematics and currency, the minus of a number.
type fold struct {
	text  string
	words []word
}

// A word is a word, a number or a sign of a folded form. Letters joined by a hyphen are one;
// of a script without spaces, each letter is one.
type word struct {
	at         int32 // byte of the folded form
	start, end int32 // code points of the text
	hash       uint32
	stops      bool // a sentence ends behind it
}

// end is the byte of the folded form behind word i.
func (f *fold) end(i int) int {
	if i+1 < len(f.words) {
		return int(f.words[i+1].at)
	}
	return len(f.text)
}

// of returns the folded form of words [from, to).
func (f *fold) of(from, to int) string {
	if from >= to {
		return ""
	}
	return f.text[f.words[from].at:f.end(to-1)]
}

// A folder makes a fold. at and cp are where it is in the text, in bytes and code points.
type folder struct {
	s      string
	at, cp int
	out    []byte
	words  []word
	inWord bool
	stop   bool // a full stop stands behind the last word
	digit  bool // the last rune that was kept is a digit and stands directly before
	start  bool // of a line
}

// newFold returns the folded form of s.
func newFold(s string) fold {
	f := folder{s: s, start: true, out: make([]byte, 0, len(s)*7/8), words: make([]word, 0, len(s)/7+1)}
	for f.at < len(s) {
		if c := s[f.at]; f.inWord && 'a' <= c && c <= 'z' && (f.at+1 == len(s) || s[f.at+1] < utf8.RuneSelf) {
			f.out = append(f.out, c)
			f.at, f.cp, f.digit, f.start = f.at+1, f.cp+1, false, false
			f.words[len(f.words)-1].end = int32(f.cp)
			continue
		}
		if n := f.dropped(); n > 0 {
			f.pass(n)
			f.end()
			continue
		}
		c := s[f.at]
		f.start = c == '\n' || c == '\f' || f.start && c == ' '
		if c == '&' && f.entity() {
			continue
		}
		if c < utf8.RuneSelf && (f.at+1 == len(s) || s[f.at+1] < utf8.RuneSelf) {
			f.rune(rune(c), 1, f.at+1)
			f.at, f.cp = f.at+1, f.cp+1
			continue
		}
		f.segment()
	}
	f.end()
	return fold{string(f.out), f.words}
}

// entity reads a character that is written as an entity of HTML, and reports whether one begins here.
func (f *folder) entity() bool {
	name := f.s[f.at:min(len(f.s), f.at+10)]
	name = name[:strings.IndexByte(name, ';')+1]
	text := html.UnescapeString(name)
	if text == name {
		return false
	}
	for _, r := range text {
		if !isIgnored(r) {
			f.rune(r, len(name), f.at+len(name))
		}
	}
	f.at, f.cp = f.at+len(name), f.cp+len(name)
	return true
}

// segment reads a code point with the marks that combine with it.
func (f *folder) segment() {
	r, size := utf8.DecodeRuneInString(f.s[f.at:])
	n := size
	if len(f.s) > f.at+size && f.s[f.at+size] >= utf8.RuneSelf {
		if k := norm.NFKC.NextBoundaryInString(f.s[f.at:min(len(f.s), f.at+64)], true); k > 0 {
			n = k
		}
	}
	points := utf8.RuneCountInString(f.s[f.at : f.at+n])
	switch power := superscript(r); {
	case power != 0 && f.digit: // a power is a number
		f.keep('^', points)
		f.keep(power, points)
	case power != 0: // the mark of a note
		f.digit = false
	case n == size && isIgnored(r):
	case unicode.Is(unicode.So, r) && r != '°' && r != '℃' && r != '℉':
		f.end()
	case n == size && (0x4E00 <= r && r < 0x9FFF || 0xC0 <= r && r < 0x130): // is its own form
		f.rune(r, 1, f.at+n)
	default:
		form := norm.NFKC.String(f.s[f.at : f.at+n])
		if utf8.RuneCountInString(form) == points { // each is in its place
			for _, r := range form {
				f.rune(r, 1, f.at+n)
				f.cp++
			}
			points = 0
			break
		}
		for _, r := range form {
			f.rune(r, points, f.at+n)
		}
	}
	f.at, f.cp = f.at+n, f.cp+points
}

func isIgnored(r rune) bool {
	return r == '\u00AD' || r == '\uFEFF' || 0x200B <= r && r <= 0x200D || r == '\u2060'
}

var superscripts = []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")

// superscript is the digit that r is a superscript of, 0 if it is none.
func superscript(r rune) rune {
	if k := slices.Index(superscripts, r); k >= 0 {
		return '0' + rune(k)
	}
	return 0
}

// rune reads r, which stands for so many code points; next is the byte behind them.
func (f *folder) rune(r rune, points, next int) {
	switch {
	case 'a' <= r && r <= 'z':
		f.keep(r, points)
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsNumber(r):
		alone := token.Unspaced(r)
		if alone || f.stop {
			f.begin(alone || unicode.IsUpper(r) || unicode.IsDigit(r))
		}
		f.keep(unicode.ToLower(r), points)
		if alone {
			f.end()
		}
	case unicode.IsMark(r):
		if f.inWord {
			f.keep(r, points)
		}
	case isSign(r):
		f.sign(r, points)
	case f.joins(r, next):
	default:
		f.end()
		if strings.ContainsRune(".!?。！？", r) && len(f.words) > 0 {
			f.stop = true
		}
	}
}

// begin begins a word behind a full stop.
func (f *folder) begin(sentence bool) {
	f.end()
	if f.stop && sentence {
		f.words[len(f.words)-1].stops = true
	}
	f.stop = false
}

// keep adds r to the word, or begins one with it.
func (f *folder) keep(r rune, points int) {
	if !f.inWord {
		f.begin(false)
		f.words = append(f.words, word{at: int32(len(f.out)), start: int32(f.cp)})
		f.inWord = true
	}
	f.words[len(f.words)-1].end = int32(f.cp + points)
	switch f.digit = '0' <= r && r <= '9'; r {
	case 'ß', 'ẞ':
		f.out = append(f.out, "ss"...)
	case 'œ':
		f.out = append(f.out, "oe"...)
	case 'æ':
		f.out = append(f.out, "ae"...)
	case 'ς':
		f.out = append(f.out, "σ"...)
	default:
		f.out = utf8.AppendRune(f.out, r)
	}
}

// end ends the word.
func (f *folder) end() {
	if f.inWord {
		w := &f.words[len(f.words)-1]
		w.hash = 2166136261
		for _, b := range f.out[w.at:] {
			w.hash = (w.hash ^ uint32(b)) * 16777619
		}
	}
	f.inWord, f.digit = false, false
}

// isSign reports whether r changes what is said. Bars and tildes draw tables and rules.
func isSign(r rune) bool {
	return r == '%' || r == '°' || unicode.In(r, unicode.Sm, unicode.Sc) && r != '|' && r != '~' && r != '−' && r != '⁄'
}

// sign keeps a sign, which is a word of its own. A row of three draws a line.
func (f *folder) sign(r rune, points int) {
	f.end()
	if one := string(r); f.at >= len(one) && f.s[f.at-len(one):f.at] == one || strings.HasPrefix(f.s[f.at:], one+one+one) {
		return
	}
	f.keep(r, points)
	f.end()
}

// joins reports whether r, which is no part of a word, stands within one: an apostrophe, a
// hyphen, the point of a number, the comma of thousands. A minus begins a number.
func (f *folder) joins(r rune, at int) bool {
	next, _ := utf8.DecodeRuneInString(f.s[at:])
	wordy := unicode.IsLetter(next) && !token.Unspaced(next) || unicode.IsDigit(next)
	switch r {
	case '\'', '’', 'ʼ', '‘':
		return f.inWord && unicode.IsLetter(next)
	case '.', ',':
		if !f.digit || !unicode.IsDigit(next) {
			return false
		}
		if r == '.' || digits(f.s[at:]) != 3 {
			f.keep('.', 1)
		}
		return true
	case '/', '⁄': // of a fraction
		if f.digit && (r == '⁄' || unicode.IsDigit(next)) {
			f.keep('/', 1)
			return true
		}
	case '-', '‐', '‑':
		if f.inWord && wordy || f.lineEnd(at) {
			return true
		}
	}
	if isDash(r) && !f.inWord && unicode.IsDigit(next) && (f.at == 0 || f.s[f.at-1] == ' ' || f.s[f.at-1] == '(' || f.s[f.at-1] == '\n') {
		f.begin(false)
		f.keep('-', 1)
		return true
	}
	return false
}

func isDash(r rune) bool { return r == '−' || unicode.Is(unicode.Pd, r) }

// digits is how many digits s begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// lineEnd reports whether a hyphen with the byte at behind it ends a line in a word that the
// next line goes on with. It opens the word again.
func (f *folder) lineEnd(at int) bool {
	rest := strings.TrimLeft(f.s[at:min(len(f.s), at+80)], " \t\r")
	if !strings.HasPrefix(rest, "\n") || len(f.words) == 0 {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " \t\r\n"))
	if before := strings.TrimRight(f.s[:f.at], " "); !unicode.IsLower(next) || before == "" || !unicode.IsLetter(lastRune(before)) {
		return false
	}
	f.inWord = true
	blank := len(f.s[at:min(len(f.s), at+80)]) - len(strings.TrimLeft(rest, " \t\r\n"))
	f.at, f.cp = f.at+blank, f.cp+blank
	return true
}

func lastRune(s string) rune { r, _ := utf8.DecodeLastRuneInString(s); return r }

// pass goes n bytes on.
func (f *folder) pass(n int) {
	f.cp += utf8.RuneCountInString(f.s[f.at : f.at+n])
	f.at += n
}

// dropped is the length of what stands here and is no text: a note mark such as [12], the
// target of a link, a tag, the sign of a quotation or the number of a page on its line.
func (f *folder) dropped() int {
	rest := f.s[f.at:]
	switch {
	case rest[0] == '[':
		return noteLength(rest)
	case rest[0] == ']' && strings.HasPrefix(rest, "]("):
		if end := strings.IndexAny(rest[:min(len(rest), 2000)], ") \n"); end > 2 && rest[end] == ')' {
			return end + 1
		}
	case rest[0] == '<':
		if !f.digit && strings.HasPrefix(rest, "<sup") && noteTag.MatchString(rest) {
			return strings.Index(rest, "</sup>") + len("</sup>")
		}
		if len(rest) > 2 && (isASCIILetter(rest[1]) || (rest[1] == '/' || rest[1] == '!') && (isASCIILetter(rest[2]) || rest[2] == '-')) {
			if end := strings.IndexAny(rest[1:min(len(rest), 500)], "<>"); end > 0 && rest[end+1] == '>' {
				return end + 2
			}
		}
	case f.start && rest[0] == '>':
		return 1
	case f.start && '0' <= rest[0] && rest[0] <= '9' && f.at > 0:
		return pageNumber(rest)
	}
	return 0
}

// noteTag has the mark of a note.
var noteTag = regexp.MustCompile(`^<sup\b[^<>]{0,80}>[\d,][\d, –-]{0,40}</sup>`)

func isASCIILetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// noteLength is the length of a note mark that s begins with: [12], [^1], [3, 4], [5–7].
func noteLength(s string) int {
	body, _, closed := strings.Cut(s[1:min(len(s), 40)], "]")
	numbers := strings.TrimPrefix(body, "^")
	if !closed || numbers == "" || numbers[0] < '0' || numbers[0] > '9' || strings.Trim(numbers, "0123456789,;–- ") != "" {
		return 0
	}
	return len(body) + 2
}

// pageNumber is the length of a line of at most four digits that a sentence goes on behind.
func pageNumber(s string) int {
	n := digits(s)
	rest := s[n:min(len(s), n+80)]
	line, _, ended := strings.Cut(rest, "\n")
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " \t\r\n\f"))
	if n > 4 || !ended || strings.TrimSpace(line) != "" || !unicode.IsLower(next) {
		return 0
	}
	return n
}
