package claims

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Most bytes that parts of marks may have. They bound what is looked at twice.
const (
	maxBracket = 300  // of numbers, names, authors
	maxLocated = 4200 // of a file, its page and spans
	maxTarget  = 4096 // of a link
	maxWords   = 4096 // between tags
	maxTag     = 4200
	maxRange   = 100 // sources that [1-100] names
)

// A scanner finds the marks of a text from left to right.
type scanner struct {
	*reading
	text   string
	names  *nameTable
	skip   []extent       // what is not looked at, ascending
	labels map[string]int // of footnotes that are no numbers, see ownList
	at     int            // how far it came
	open   []int          // the brackets of this line that wait for their ]
	index  int            // the end of the last [n] that was an index
	found  []int          // the numbers that marks name, for the last block of a text

	unclosed [closers]bool // of each closing sign, that none follows
}

// Signs that close what is not looked at.
const (
	closeSquareMath = iota
	closeRoundMath
	closeDisplayMath
	closeCode // of up to four backticks
	closers   = closeCode + 5
)

// markBytes are the bytes at which a mark may begin or end.
var markBytes = func() (is [256]bool) {
	for _, b := range []byte("[]()<^:/|`$\\\n") {
		is[b] = true
	}
	for _, r := range "¹⁰【［（\ue200" { // 〔 begins as 【 does
		is[string(r)[0]] = true
	}
	return is
}()

// scan goes on to the byte at end.
func (s *scanner) scan(end int) {
	turns := strings.Contains(s.text[s.at:end], turnWord)
	for s.at < end {
		i := s.at
		for i < end && !markBytes[s.text[i]] && !(turns && s.text[i] == 'c') {
			i++
		}
		if s.at = i; i == end {
			return
		}
		if s.skipped(i) {
			continue
		}
		s.at = s.step(i)
	}
}

// skipped passes what is not looked at.
func (s *scanner) skipped(i int) bool {
	for len(s.skip) > 0 && s.skip[0].start <= i {
		end := s.skip[0].end
		s.skip = s.skip[1:]
		if i < end {
			s.at, s.open = end, s.open[:0]
			return true
		}
	}
	return false
}

// step reads what begins at the byte i and returns where to go on.
func (s *scanner) step(i int) int {
	switch s.text[i] {
	case '\n':
		s.open = s.open[:0]
	case '\\':
		return s.escape(i)
	case '`':
		return s.code(i)
	case '$':
		return s.math(i)
	case '[':
		s.open = append(s.open, i)
	case ']':
		return s.bracket(i)
	case '|':
		return s.excerpt(i)
	case '(':
		return s.paren(i, 1)
	case '<':
		return s.tag(i)
	case '^':
		return s.caret(i)
	case ':':
		return s.colon(i)
	case '/':
		return s.slash(i)
	case 'c':
		return s.turn(i)
	default:
		return s.wide(i)
	}
	return i + 1
}

// wide reads signs beyond ASCII.
func (s *scanner) wide(i int) int {
	r, size := utf8.DecodeRuneInString(s.text[i:])
	switch {
	case superscripts[r] > 0:
		return s.superscript(i)
	case r == '【':
		return s.wideBracket(i, size, '】')
	case r == '［':
		return s.wideBracket(i, size, '］')
	case r == '〔':
		return s.wideBracket(i, size, '〕')
	case r == '（':
		return s.paren(i, size)
	case r == '\ue200':
		return s.turn(i)
	}
	return i + size
}

// past returns the end of the first closing sign behind i, -1 if there is none. It
// looks for a sign that the text does not have only once.
func (s *scanner) past(i, kind int, sign string) int {
	if s.unclosed[kind] {
		return -1
	}
	n := strings.Index(s.text[i:], sign)
	if n < 0 {
		s.unclosed[kind] = true
		return -1
	}
	return i + n + len(sign)
}

// escape passes an escaped sign, or a formula between \[ and \] or \( and \).
func (s *scanner) escape(i int) int {
	switch {
	case strings.HasPrefix(s.text[i:], `\[`):
		if end := s.past(i+2, closeSquareMath, `\]`); end >= 0 {
			return end
		}
	case strings.HasPrefix(s.text[i:], `\(`):
		if end := s.past(i+2, closeRoundMath, `\)`); end >= 0 {
			return end
		}
	}
	if i+1 < len(s.text) && s.text[i+1] == '\n' {
		return i + 1
	}
	return min(i+2, len(s.text))
}

// code passes code between backticks.
func (s *scanner) code(i int) int {
	n := 0
	for i+n < len(s.text) && s.text[i+n] == '`' {
		n++
	}
	if n < closers-closeCode {
		for from := i + n; ; {
			end := s.past(from, closeCode+n, strings.Repeat("`", n))
			if end < 0 {
				break
			}
			if end == len(s.text) || s.text[end] != '`' {
				s.codes = append(s.codes, extent{i, end})
				return end
			}
			for end < len(s.text) && s.text[end] == '`' { // a longer run closes nothing
				end++
			}
			from = end
		}
	}
	return i + n
}

// math passes a formula: $$…$$, or $…$ on one line without a space inside of the signs
// and without a digit behind.
func (s *scanner) math(i int) int {
	if strings.HasPrefix(s.text[i:], "$$") {
		if end := s.past(i+2, closeDisplayMath, "$$"); end >= 0 {
			return end
		}
		return i + 2
	}
	rest := s.text[i+1:]
	n := strings.IndexAny(rest[:min(len(rest), maxBracket)], "$\n")
	if n < 1 || rest[n] != '$' || isSpaceByte(rest[0]) || isSpaceByte(rest[n-1]) || n+1 < len(rest) && isDigitByte(rest[n+1]) {
		return i + 1
	}
	return i + n + 2
}

// add adds a mark, in place of those inside of it. One that begins inside of another, as
// doi: does at the end of an address, is none.
func (s *scanner) add(w written) int {
	if s.dropFrom(w.at.start); s.lastEnd() > w.at.start {
		return w.at.end
	}
	for _, m := range w.refs {
		if m.Number >= 0 {
			s.found = append(s.found, m.Number)
		}
	}
	s.marks = append(s.marks, w)
	return w.at.end
}

// reference is a Mark of a name or URL as written.
func reference(doc string) Mark { return Mark{Source: -1, Doc: doc, Number: -1} }

// byNumber are the Marks of numbers.
func byNumber(numbers []int) []Mark {
	all := make([]Mark, len(numbers))
	for i, n := range numbers {
		all[i] = Mark{Source: -1, Number: n}
	}
	return all
}

// bracket reads what a ] at i closes.
func (s *scanner) bracket(i int) int {
	if len(s.open) == 0 {
		return i + 1
	}
	start := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	at := extent{start, i + 1}
	content := s.text[start+1 : i]
	if n, ok := s.labels[content]; ok && strings.HasPrefix(content, "^") {
		return s.add(written{form: Caret, at: at, worded: true, refs: byNumber([]int{n})})
	}
	if label, _, ok := strings.Cut(s.text[i+1:min(len(s.text), i+1+maxBracket)], "]"); ok && strings.HasPrefix(label, "[") {
		if n, ok := s.labels[cmp.Or(label[1:], content)]; ok { // [text][label]
			w := written{form: Link, at: extent{start, i + 1 + len(label) + 1}, keep: extent{start + 1, i}, refs: byNumber([]int{n})}
			if s.isNoText(content, "") {
				w.keep = extent{}
			}
			return s.add(w)
		}
	}
	end := 0 // of a link to something else than a source
	if strings.HasPrefix(s.text[i+1:], "(") {
		var done bool
		if end, done = s.link(at, content); done {
			return end
		}
	}
	if !strings.HasPrefix(content, "^") && s.isIndex(at) {
		s.index = at.end
		return at.end
	}
	w, isLocated := written{}, false
	if len(content) <= maxLocated && content != "" && content[0] != '[' {
		w, isLocated = s.located(content)
	}
	if n := len(s.marks); n > 0 && !isLocated && s.marks[n-1].at == (extent{start + 1, i}) { // [[1]], [https://…]
		if last := &s.marks[n-1]; last.form == Numbered || last.form == URL {
			last.at = at
			if last.form == URL {
				last.keep = extent{}
			}
			return at.end
		}
	}
	if ok := isLocated; ok || content != "" && content[0] != '[' {
		if !ok && len(content) <= maxBracket {
			if isIbidem(content) {
				return s.ibid(at)
			}
			w, ok = s.content(content, true)
		}
		if ok {
			w.at = extent{start, max(end, at.end)}
			s.joinRange(&w)
			return s.add(w)
		}
	}
	if end > 0 {
		s.others = append(s.others, link{extent: extent{start, end}, label: extent{start + 1, i}})
		return end
	}
	return at.end
}

// joinRange makes one mark of two with a dash between them: [1]–[3].
func (s *scanner) joinRange(w *written) {
	n := len(s.marks)
	if n == 0 || w.form != Numbered || len(w.refs) != 1 {
		return
	}
	before := s.marks[n-1]
	between := s.text[min(before.at.end, w.at.start):w.at.start]
	if before.form != Numbered || len(before.refs) != 1 || between == "" || dashLength(between) != len(between) {
		return
	}
	if list, ok := parseNumbers(fmt.Sprint(before.refs[0].Number, "-", w.refs[0].Number)); ok && !list.wrong {
		w.at.start, w.refs = before.at.start, byNumber(list.numbers) // add drops the first
	}
}

// ibid notes a mark such as (ibid.).
func (s *scanner) ibid(at extent) int {
	s.gone = append(s.gone, at)
	s.miss("ibidem", s.text[at.start:at.end])
	return at.end
}

// isIbidem reports whether brackets hold the word for a source that was named before.
func isIbidem(content string) bool {
	if len(content) > maxMarkWord {
		return false
	}
	content = strings.ToLower(content)
	for _, word := range [...]string{"ibid", "ebd", "ebenda", "op. cit", "op.cit", "op cit", "loc. cit", "loc.cit", "loc cit"} {
		if rest, ok := strings.CutPrefix(content, word); ok {
			next, _ := utf8.DecodeRuneInString(rest)
			return !isWordRune(next)
		}
	}
	return false
}

// content reads what stands in brackets, or in parentheses.
func (s *scanner) content(content string, square bool) (w written, ok bool) {
	content = strings.TrimSpace(content)
	if content == "" {
		return w, false
	}
	if strings.Contains(content, "†") {
		return s.dagger(content)
	}
	if w, ok = s.name(strings.TrimPrefix(content, "^"), square); ok {
		return w, true
	}
	if one, more, ok := cutPaged(content); ok { // Document 1, p. 3; Document 2
		first, isFirst := s.content(one, square)
		others, isMore := s.content(more, square || first.worded)
		if isFirst && isMore && first.form == Numbered && others.form == Numbered {
			first.refs = append(first.refs, others.refs...)
			return first, true
		}
	}
	numbered, page := cutPage(content)
	if page == 0 {
		numbered = content
	}
	numbered, led := cutLead(numbered)
	if square && len(numbered) > 3 && strings.EqualFold(numbered[:3], "id:") { // [ID: 1]
		numbered = numbered[3:]
	}
	if list, ok := parseNumbers(numbered); ok && (square && !led || list.worded) {
		if list.wrong {
			s.miss("range", content)
			return w, false
		}
		w.form, w.worded, w.refs = Numbered, list.worded, byNumber(list.numbers)
		for i := range w.refs {
			w.refs[i].Page = page
		}
		if list.caret {
			w.form, w.worded = Caret, true
		}
		return w, true
	}
	if authors, ok := parseAuthors(content); ok {
		return written{form: Author, refs: authors}, true
	}
	if at := locator.FindStringIndex(content); at != nil && at[0] > 0 {
		return s.content(content[:at[0]], square)
	}
	return w, false
}

// locator matches a part of a source behind its name or number.
var locator = regexp.MustCompile(`(?i)\s*[,;:]\s*(?:sections?|sec\.|§+|chapters?|ch\.|paragraphs?|para\.|lines?|clauses?|articles?|tables?|figures?|slides?|appendix)\s*['"“]?[\pL\d .\-–]{1,40}['"”]?$`)

// isIndex reports whether a bracket is an index: behind a name of one letter or with a
// _, or before =, ( or .name. The last letter of an abbreviation, as in U.S.[1] or U.S.C[1],
// is no name.
func (s *scanner) isIndex(at extent) bool {
	if at.start == 0 {
		return false
	}
	if s.index == at.start {
		return true
	}
	from := at.start
	for from > 0 && at.start-from < 64 && (isWordByte(s.text[from-1]) || s.text[from-1] == '_') {
		from--
	}
	name := s.text[from:at.start]
	if name == "" {
		r, size := utf8.DecodeLastRuneInString(s.text[:at.start])
		before, _ := utf8.DecodeLastRuneInString(s.text[:at.start-size])
		return unicode.Is(unicode.Greek, r) && !unicode.IsLetter(before)
	}
	if before, _ := utf8.DecodeLastRuneInString(s.text[:from]); unicode.IsLetter(before) {
		return false // a word with letters beyond ASCII
	}
	rest := s.text[at.end:min(len(s.text), at.end+8)]
	spaced := strings.TrimLeft(rest, " ")
	switch {
	case strings.HasSuffix(s.text[:from], ".") && len(name) == 1 && from > 1 && 'A' <= s.text[from-2] && s.text[from-2] <= 'Z':
		return false
	case strings.Contains(name, "_"), len(name) == 1 && !isDigitByte(name[0]), strings.IndexByte(`"'`, s.text[at.start+1]) >= 0:
		return true
	case strings.HasPrefix(rest, "("):
		return true
	case strings.HasPrefix(spaced, "="):
		return true
	}
	return len(rest) > 1 && rest[0] == '.' && 'a' <= rest[1] && rest[1] <= 'z'
}

// link reads [label](target) whose label is at, and returns its end. done is false if
// it is none, end 0, or one to something that is no source.
func (s *scanner) link(at extent, label string) (end int, done bool) {
	target, size := linkTarget(s.text[at.end+1 : min(len(s.text), at.end+1+maxTarget)])
	if size == 0 {
		return 0, false
	}
	end = at.end + 1 + size
	if at.start > 0 && s.text[at.start-1] == '!' {
		s.dropFrom(at.start)
		s.others = append(s.others, link{extent: extent{at.start - 1, end}, label: extent{at.start, at.start}, image: true})
		return end, true
	}
	if strings.HasPrefix(target, "#") {
		if list, ok := parseNumbers(strings.Trim(label, "[] ")); ok && !list.wrong {
			return s.add(written{form: Numbered, at: extent{at.start, end}, refs: byNumber(list.numbers)}), true
		}
		return end, false
	}
	m := reference(target)
	if !isHTTP(target) {
		if m.Source = s.names.find(target); m.Source < 0 {
			return end, false
		}
	}
	w := written{form: Link, at: extent{at.start, end}, keep: extent{at.start + 1, at.end - 1}, refs: []Mark{m}}
	if s.isNoText(label, target) {
		w.keep = extent{}
	}
	return s.add(w), true
}

// dropFrom drops the marks from a byte on.
func (s *scanner) dropFrom(at int) {
	for n := len(s.marks); n > 0 && s.marks[n-1].at.start >= at; n-- {
		s.marks = s.marks[:n-1]
	}
}

// linkTarget reads the target of a link and perhaps its title, up to the closing
// parenthesis. size is 0 if s begins with none.
func linkTarget(s string) (target string, size int) {
	depth, end := 0, -1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n', c == '[' && end < 0:
			return "", 0
		case c == ' ' && end < 0:
			end = i
			if rest := strings.TrimLeft(s[i:], " "); rest == "" || strings.IndexByte(`"'()`, rest[0]) < 0 {
				return "", 0
			}
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				if end < 0 {
					end = i
				}
				return strings.Trim(s[:end], "<>"), i + 1
			}
		}
	}
	return "", 0
}

// isNoText reports whether a label of a link says nothing of its own: a number, a word
// such as "source", a host, the title of its source.
func (s *scanner) isNoText(label, target string) bool {
	label = strings.Trim(label, " []()*_")
	if !strings.ContainsFunc(label, unicode.IsLetter) || markWords[folded(label)] || linkWords[folded(label)] {
		return true
	}
	if _, worded := parseNumbers(label); worded {
		return true
	}
	host := hostOf(target)
	if name := strings.TrimPrefix(strings.ToLower(label), "www."); host != "" && (name == host || strings.HasSuffix(host, "."+name) && strings.Contains(name, ".")) {
		return true
	}
	i := s.names.find(target)
	return i >= 0 && folded(s.names.sources[i].Title) == folded(label)
}

// paren reads what a ( of so many bytes at i opens.
func (s *scanner) paren(i, size int) int {
	rest := s.text[i+size : min(len(s.text), i+size+maxBracket)]
	n := strings.IndexAny(rest, "()（）[【<\n")
	if n < 1 || rest[n] != ')' && !strings.HasPrefix(rest[n:], "）") {
		return i + size
	}
	content := rest[:n]
	closing := 1
	if rest[n] != ')' {
		closing = len("）")
	}
	at := extent{i, i + size + n + closing}
	if isIbidem(content) {
		return s.ibid(at)
	}
	if strings.Contains(content, "://") {
		return i + size
	}
	if w, ok := s.content(content, false); ok {
		w.at = at
		return s.add(w)
	}
	if n := yearLength(content); n > 0 && isYearTail(content[n:]) {
		line := s.text[max(s.lastEnd(), i-maxAuthors):i]
		if start, ok := authorsBefore(line, 0, len(line)); ok {
			names := extent{i - len(line) + start, i}
			authors := s.text[names.start:names.end]
			names.end = names.start + len(strings.TrimRight(authors, " "))
			return s.add(written{form: Author, at: extent{names.start, at.end}, keep: names, refs: []Mark{authorYear(authors, content[:n])}})
		}
	}
	return i + size
}

// lastEnd is the end of the last mark.
func (s *scanner) lastEnd() int {
	if n := len(s.marks); n > 0 {
		return s.marks[n-1].at.end
	}
	return 0
}

// wideBracket reads 【…】 or ［…］ at i.
func (s *scanner) wideBracket(i, size int, closing rune) int {
	rest := s.text[i+size : min(len(s.text), i+size+maxBracket)]
	n := strings.IndexAny(rest, "【】［］〔〕\n")
	if n < 0 || !strings.HasPrefix(rest[n:], string(closing)) {
		return i + size
	}
	w, ok := s.located(rest[:n])
	if !ok {
		w, ok = s.content(rest[:n], true)
	}
	if ok {
		w.at = extent{i, i + size + n + utf8.RuneLen(closing)}
		return s.add(w)
	}
	return i + size
}

// dagger reads n†… and turn:n†name.
func (s *scanner) dagger(content string) (w written, ok bool) {
	head, name, _ := strings.Cut(content, "†")
	name, _, _ = strings.Cut(name, "†") // its lines
	turn, number, turned := strings.Cut(head, ":")
	if !turned {
		turn, number = "", head
	}
	n, isNumber := wholeNumber(number)
	if _, isTurn := wholeNumber(turn); !isNumber || turned && !isTurn {
		return w, false
	}
	w = written{form: Dagger, worded: true, refs: byNumber([]int{n})}
	if !turned {
		return w, true
	}
	if i := s.names.find(strings.TrimSpace(name)); i >= 0 {
		w.refs[0] = Mark{Source: i, Number: -1}
		return w, true
	}
	s.miss("turn", content)
	w.turn = true
	return w, true
}

const turnWord = "citeturn"

// turn reads citeturn0search3 or fileciteturn0file1, also between the signs U+E200 and U+E201.
func (s *scanner) turn(i int) int {
	rest, opened := strings.CutPrefix(s.text[i:], "\ue200")
	rest, ok := strings.CutPrefix(strings.TrimPrefix(rest, "file"), "cite")
	if !ok {
		_, size := utf8.DecodeRuneInString(s.text[i:])
		return i + size
	}
	var refs []Mark
	for {
		next, ok := strings.CutPrefix(strings.TrimPrefix(rest, "\ue202"), "turn")
		if !ok {
			break
		}
		n := digitsOf(next)
		word := next[n:]
		letters := 0
		for letters < len(word) && 'a' <= word[letters] && word[letters] <= 'z' && !strings.HasPrefix(word[letters:], "turn") {
			letters++
		}
		d := digitsOf(word[letters:])
		if n == 0 || letters == 0 || d == 0 {
			break
		}
		number, _ := strconv.Atoi(word[letters : letters+d])
		refs = append(refs, Mark{Source: -1, Number: number})
		rest = word[letters+d:]
	}
	if len(refs) == 0 {
		return i + 1
	}
	if n := strings.Index(rest[:min(len(rest), maxMarkWord)], "\ue201"); n == 0 || n > 0 && opened { // behind its lines
		rest = rest[n+len("\ue201"):]
	}
	at := extent{len(strings.TrimSuffix(s.text[:i], "file")), len(s.text) - len(rest)}
	for range refs {
		s.miss("turn", s.text[at.start:at.end])
	}
	return s.add(written{form: Turn, at: at, turn: true, refs: refs})
}

// caret reads ^n at i, unless it is a power.
func (s *scanner) caret(i int) int {
	n := digitsOf(s.text[i+1:])
	end := i + 1 + n
	if n == 0 || n > 6 || i > 0 && s.text[i-1] == '[' || s.isPower(i) || continuesNumber(s.text[end:]) {
		return max(end, i+1)
	}
	number, _ := strconv.Atoi(s.text[i+1 : end])
	return s.add(written{form: Caret, at: extent{i, end}, worded: true, refs: byNumber([]int{number})})
}

var superscripts = map[rune]int{'⁰': 1, '¹': 2, '²': 3, '³': 4, '⁴': 5, '⁵': 6, '⁶': 7, '⁷': 8, '⁸': 9, '⁹': 10}

// raised are what stands between superscript numbers, as parseNumbers has it.
var raised = map[rune]string{',': ",", '˒': ",", '⁻': "-", '–': "-"}

// superscript reads word¹,², word¹⁻³ or word⁽¹⁾ at i, unless it is a power.
func (s *scanner) superscript(i int) int {
	text, end := "", i
	for at := i; at < len(s.text) && at-i < maxBracket; {
		r, size := utf8.DecodeRuneInString(s.text[at:])
		at += size
		if d := superscripts[r]; d > 0 {
			text, end = text+strconv.Itoa(d-1), at
		} else if raised[r] == "" {
			break
		}
		text += raised[r]
	}
	next, _ := utf8.DecodeRuneInString(s.text[end:])
	list, ok := parseNumbers(strings.TrimRight(text, ",-"))
	e := extent{i, end}
	if strings.HasSuffix(s.text[:i], "⁽") && next == '⁾' {
		e, next = extent{i - len("⁽"), end + len("⁾")}, 0
	}
	if !ok || list.wrong || s.isPower(e.start) || isWordRune(next) || strings.ContainsRune("⁺⁻⁄", next) {
		return end
	}
	return s.add(written{form: Superscript, at: e, worded: true, refs: byNumber(list.numbers)})
}

// isPower reports whether what stands raised at i is a power: behind a digit, one
// Latin or Greek letter, a unit, or a closing bracket of a formula.
func (s *scanner) isPower(i int) bool {
	if n := len(s.marks); n > 0 && s.marks[n-1].at.end == i {
		return false // the second of a run, ^1^2
	}
	start := i
	for start > 0 && i-start <= 16 {
		r, size := utf8.DecodeLastRuneInString(s.text[:start])
		if !isWordRune(r) && r != '_' && !unicode.IsMark(r) {
			break
		}
		start -= size
	}
	word := s.text[start:i]
	if word == "" {
		return i > 0 && strings.IndexByte(")}|⁻", s.text[i-1]) >= 0
	}
	if isDigitByte(word[len(word)-1]) || raisedUnits[strings.ToLower(word)] {
		return true
	}
	first, size := utf8.DecodeRuneInString(word)
	return size == len(word) && unicode.In(first, unicode.Latin, unicode.Greek)
}

// raisedUnits are the words behind which a raised number is a power: units and functions.
var raisedUnits = wordSet("km\ndm\ncm\nmm\nnm\nµm\nμm\nft\nin\nyd\nmi\nsec\nhr\nmin\nkg\nsin\ncos\ntan\nlog\nln\nexp\nchi\nmc")

// continuesNumber reports whether what follows digits belongs to them: a letter, or a
// decimal point with its digits.
func continuesNumber(rest string) bool {
	if rest == "" {
		return false
	}
	if isWordByte(rest[0]) || rest[0] == '_' {
		return true
	}
	return rest[0] == '.' && digitsOf(rest[1:]) > 0
}

// A numbers is a list of numbers in brackets.
type numbers struct {
	numbers []int
	worded  bool // a word such as "Source" or the sign # stands before one
	caret   bool
	wrong   bool // a range runs backwards or is too wide
}

// parseNumbers reads 1, 1-3, Source 1, ^2 and lists of them: 1, 2 and 3.
func parseNumbers(s string) (list numbers, ok bool) {
	for s = strings.TrimSpace(plainSpaces.Replace(s)); ; {
		if rest, ok := strings.CutPrefix(s, "^"); ok {
			list.caret, s = true, rest
		}
		for n := markWordLength(s); n > 0; n = markWordLength(s) { // Source: Document 1
			list.worded, s = true, s[n:]
		}
		if rest, ok := strings.CutPrefix(s, "#"); ok {
			list.worded, s = true, strings.TrimLeft(rest, " ")
		}
		low, n := leadingNumber(s)
		if n == 0 {
			return list, false
		}
		s = strings.TrimPrefix(s[n:], "^")
		s = strings.TrimLeft(s, " ")
		high := low
		if n := rangeLength(s); n > 0 {
			s = strings.TrimLeft(s[n:], " ")
			if high, n = leadingNumber(s); n == 0 {
				return list, false
			}
			s = strings.TrimLeft(s[n:], " ")
		}
		if high < low || high-low >= maxRange {
			list.wrong = true
		} else {
			for k := low; k <= high; k++ {
				list.numbers = append(list.numbers, k)
			}
		}
		if s == "" {
			return list, true
		}
		rest := strings.TrimLeft(s, ",;，、；& ")
		word, after, _ := strings.Cut(rest, " ")
		if joints[word] {
			rest = strings.TrimLeft(after, " ")
		}
		if len(rest) == len(s) {
			return list, false
		}
		s = rest
	}
}

// plainSpaces makes spaces of those at which no line breaks.
var plainSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ")

// joints join the last two numbers of a list.
var joints = wordSet("and\nund\net\ny\ne\nen\nи\n和")

// maxMarkWord is the most bytes that a word before a number has.
const maxMarkWord = 40

// markWordLength is the length of a word such as "Source" at the beginning of s, with
// what separates it from its number.
func markWordLength(s string) int {
	n := 0
	for i, r := range s[:runeCut(s, maxMarkWord)] {
		if !unicode.IsLetter(r) && r != ' ' && r != '_' {
			break
		}
		n = i + utf8.RuneLen(r)
	}
	if n == 0 || !markWords[folded(strings.TrimRight(strings.ReplaceAll(s[:n], "_", " "), " "))] {
		return 0
	}
	return len(s) - len(strings.TrimLeft(s[n:], " :.：№_-="))
}

// leadingNumber reads up to six digits, also of full width, of Arabic, Persian or Hindi.
func leadingNumber(s string) (number, size int) {
	for count := 0; ; count++ {
		r, n := utf8.DecodeRuneInString(s[size:])
		d := int(r - '0')
		for _, zero := range "０٠۰०" {
			if zero <= r && r <= zero+9 {
				d = int(r - zero)
			}
		}
		if d < 0 || d > 9 {
			return number, size
		}
		if count == 6 {
			return 0, 0
		}
		number, size = number*10+d, size+n
	}
}

func wholeNumber(s string) (int, bool) {
	s = strings.TrimSpace(s)
	number, n := leadingNumber(s)
	return number, n > 0 && n == len(s)
}

func dashLength(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	if strings.ContainsRune("-‐‑–—～〜", r) && s != "" {
		return size
	}
	return 0
}

// rangeLength is the length of a dash, or of a word such as "to", between the ends of a range.
func rangeLength(s string) int {
	if n := dashLength(s); n > 0 {
		return n
	}
	word, _, more := strings.Cut(s, " ")
	if more && rangeWords[word] {
		return len(word)
	}
	return 0
}

var rangeWords = wordSet("to\nthrough\nbis\nà\naté\nal")

func digitsOf(s string) int {
	n := 0
	for n < len(s) && isDigitByte(s[n]) {
		n++
	}
	return n
}

func isDigitByte(b byte) bool { return '0' <= b && b <= '9' }

func isWordByte(b byte) bool { return isDigitByte(b) || 'a' <= b|0x20 && b|0x20 <= 'z' }

func isSpaceByte(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

// located reads file:page:start-end[,start-end…], or several of them between semicolons. Page
// and spans are taken from the right, so the name of the file may hold colons.
func (s *scanner) located(content string) (w written, ok bool) {
	if one, more, several := strings.Cut(content, ";"); several {
		others := written{}
		if w, ok = s.located(one); ok {
			others, ok = s.located(more)
		}
		w.refs = append(w.refs, others.refs...)
		return w, ok
	}
	last := strings.LastIndexByte(content, ':')
	first := strings.LastIndexByte(content[:max(last, 0)], ':')
	if first < 1 {
		return w, false
	}
	file := strings.TrimSpace(content[:first])
	pageText := strings.TrimSpace(content[first+1 : last])
	page, err := strconv.ParseInt(pageText, 10, 32)
	if file == "" || err != nil || digitsOf(pageText) != len(pageText) {
		if _, _, ok := parseSpan(strings.TrimSpace(content[last+1:])); ok && hasFileEnding(file) {
			s.miss("located", content)
		}
		return w, false
	}
	source := -2
	for part := range strings.SplitSeq(content[last+1:], ",") {
		from, to, ok := parseSpan(strings.TrimSpace(part))
		if !ok {
			if hasFileEnding(file) {
				s.miss("located", content)
			}
			return w, false
		}
		if source == -2 {
			source = s.names.find(file)
		}
		w.refs = append(w.refs, Mark{Source: source, Doc: file, Number: -1, Page: int32(page), HasSpan: true, From: from, To: to})
	}
	w.form = Located
	return w, true
}

// parseSpan reads start-end. A number may have a minus sign, and the end may lie before
// the start: the status of the citation says so.
func parseSpan(s string) (from, to int64, ok bool) {
	sign := 0
	if strings.HasPrefix(s, "-") {
		sign = 1
	}
	n := sign + digitsOf(s[sign:])
	rest := strings.TrimLeft(s[n:], " \t")
	dash := dashLength(rest)
	from, err := strconv.ParseInt(s[:n], 10, 64)
	if err != nil || dash == 0 {
		return 0, 0, false
	}
	end := strings.TrimLeft(rest[dash:], " \t")
	to, err = strconv.ParseInt(end, 10, 64)
	return from, to, err == nil && !strings.HasPrefix(end, "+")
}

// excerpt reads | excerpt: "…"] at the bar at i. The quoted text may hold brackets,
// quotation marks and line ends; it stops at the first quotation mark that a ] follows.
func (s *scanner) excerpt(i int) int {
	quote := excerptStart(s.text[i:])
	if quote == 0 || len(s.open) == 0 {
		return i + 1
	}
	start := s.open[len(s.open)-1]
	head := strings.TrimSpace(s.text[start+1 : i])
	if len(head) > maxLocated || len(head) == 0 || !isDigitByte(head[len(head)-1]) {
		return i + 1
	}
	w, ok := s.located(head)
	if !ok {
		return i + 1
	}
	from := i + quote
	closing, end := closingQuote(s.text, from)
	if end < 0 {
		s.miss("located", head)
		return i + 1
	}
	for k := range w.refs {
		w.refs[k].Quote = s.text[from:closing]
	}
	s.open = s.open[:len(s.open)-1]
	w.at = extent{start, end}
	return s.add(w)
}

// excerptStart is the length of | excerpt: " at the beginning of s, 0 if it is not there.
func excerptStart(s string) int {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s[1:], " \t"), "excerpt:")
	if !ok {
		return 0
	}
	if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), `"`); !ok {
		return 0
	}
	return len(s) - len(rest)
}

// closingQuote finds the quotation mark that closes an excerpt that begins at from, and
// the end of its bracket. A blank line or the mark of another excerpt means that it was
// never closed.
func closingQuote(text string, from int) (quote, end int) {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '"':
			if rest := strings.TrimLeft(text[i+1:], " \t"); strings.HasPrefix(rest, "]") {
				return i, len(text) - len(rest) + 1
			}
		case '|':
			if excerptStart(text[i:]) > 0 {
				return -1, -1
			}
		case '\n':
			if strings.HasPrefix(text[i+1:], "\n") {
				return -1, -1
			}
		}
	}
	return -1, -1
}

// name reads the name of a source, or several of them between commas or semicolons, perhaps
// behind a word such as "Source:".
func (s *scanner) name(content string, square bool) (w written, ok bool) {
	if strings.Contains(content, "://") && isHTTP(content) && strings.ContainsAny(content, " ,") {
		return w, false
	}
	sourced := false
	if i := strings.IndexAny(content, ":："); 0 < i && i <= maxMarkWord && markWords[folded(content[:i])] && s.names.find(content) < 0 {
		_, size := utf8.DecodeRuneInString(content[i:])
		content, sourced = strings.TrimSpace(content[i+size:]), true
	}
	if rest, _ := cutLead(content); s.names.find(content) < 0 {
		if s.names.find(rest) >= 0 { // see report.pdf
			return s.name(rest, square || rest != content)
		}
		for _, signs := range [...]string{";；", ",，、;；"} {
			if refs := s.several(content, signs, square, sourced); len(refs) > 1 {
				return written{form: Named, refs: refs}, true
			}
		}
	}
	m, ok := s.oneName(content, square, sourced)
	return written{form: Named, refs: []Mark{m}}, ok
}

// several reads names, perhaps with their pages, between some signs. It returns nil if one part
// of content is none.
func (s *scanner) several(content, signs string, square, sourced bool) (refs []Mark) {
	for part := range strings.FieldsFuncSeq(joined.Replace(content), func(r rune) bool { return strings.ContainsRune(signs, r) }) {
		part = strings.TrimSpace(part)
		m, ok := s.oneName(part, square, sourced)
		if _, page := cutPage("x, " + part); !ok && page > 0 && len(refs) > 0 {
			refs[len(refs)-1].Page = page
			continue
		}
		if !ok || m.Source < 0 && !IsFileName(m.Doc) {
			return nil
		}
		refs = append(refs, m)
	}
	return refs
}

// joined makes commas of words between names.
var joined = strings.NewReplacer(" and ", ", ", " & ", ", ", " und ", ", ", " et ", ", ", " y ", ", ")

// oneName reads the name of a source, perhaps behind its number and before a page. Square brackets
// may hold the name of any source, or of a file that is not among the sources. Parentheses without
// a word such as "Source:" hold only file names with an ending, without white space if the file is
// not among the sources, and titles of several words.
func (s *scanner) oneName(content string, square, sourced bool) (m Mark, ok bool) {
	if _, isNumber := wholeNumber(content); isNumber {
		return m, false
	}
	m = Mark{Source: s.names.find(content), Doc: content, Number: -1}
	if m.Source < 0 {
		i := strings.IndexAny(content, ":：-–—,，|(（")
		if n := digitsOf(content); n > 0 && strings.HasPrefix(content[n:], ". ") { // 1. report.pdf
			i = n
		}
		if i > 0 { // Source 1: report.pdf, p. 2
			_, size := utf8.DecodeRuneInString(content[i:])
			name := strings.Trim(content[i+size:], " )）")
			cut, page := cutPage(name)
			if page > 0 {
				name = cut
			}
			_, isNumber := wholeNumber(name)
			list, isList := parseNumbers(content[:i])
			if source := s.names.find(name); source >= 0 && !isNumber && isList && len(list.numbers) == 1 {
				return Mark{Source: source, Doc: name, Number: -1, Page: page}, square || sourced || list.worded
			}
		}
		if name, page := cutPage(content); page > 0 {
			m.Source, m.Doc, m.Page = s.names.find(name), name, page
		} else if i := max(strings.LastIndexAny(content, ",:;#，"), strings.LastIndex(content, " - ")); i > 0 && len(content)-i < maxMarkWord && strings.ContainsAny(content[i:], "0123456789") {
			if source := s.names.find(strings.TrimSpace(content[:i])); source >= 0 { // lines of it, or a section
				m.Source, m.Doc = source, strings.TrimSpace(content[:i])
			}
		}
	}
	file := hasFileEnding(m.Doc)
	return m, (m.Source >= 0 || file && (square || sourced || IsFileName(m.Doc))) && (square || sourced || file || strings.Contains(m.Doc, " "))
}

var pageAt = regexp.MustCompile(`(?i)^(.*[^\s,，;#(（])(?:\s*[,，;]\s*|\s*[(（]|\s+|#)(?:(?:pp?|pgs?|pages?|s|seiten?|páginas?|págs?|pagin[ae]|str|с|стр|页)[. =]*([0-9０-９]{1,6})|第? *([0-9０-９]{1,6}) *[页頁ペ])` +
	`(?: *[-–] *[0-9０-９]+)? *(?:页|頁|ページ|ージ)?[)）]?$`)

// cutPage cuts a page off a name: ", p. 2", "(p. 2)", "#page=2", "，第2页".
func cutPage(s string) (name string, page int32) {
	if !strings.ContainsFunc(s, unicode.IsDigit) {
		return "", 0
	}
	m := pageAt.FindStringSubmatch(s)
	if m == nil {
		return "", 0
	}
	number, _ := leadingNumber(m[2] + m[3])
	return m[1], int32(number)
}

// cutPaged splits a list of sources behind a page, or before a source with one.
func cutPaged(s string) (one, more string, ok bool) {
	isSign := func(r rune) bool { return strings.ContainsRune(";；,，", r) }
	if len(s) > maxPaged || len(strings.FieldsFunc(s, isSign)) > maxPaged/16 {
		return "", "", false
	}
	for i, sign := range s {
		if isSign(sign) {
			one, more = s[:i], strings.TrimLeft(s[i+utf8.RuneLen(sign):], " ")
			_, before := cutPage(one)
			_, behind := cutPage(more)
			if before > 0 || behind > 0 && markWordLength(more) > 0 {
				return one, more, true
			}
		}
	}
	return "", "", false
}

// maxPaged is the limit on bytes of such a list; it has at most a sixteenth as many parts.
const maxPaged = 128

// hasFileEnding reports whether a name ends as files of documents usually do.
func hasFileEnding(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && len(name)-dot <= 6 && len(name) <= 255 && fileEndings[strings.ToLower(name[dot+1:])] && !strings.ContainsAny(name, "\n\"<>|")
}

// IsFileName reports whether a text is the name of a file as documents have them, and nothing
// else.
func IsFileName(text string) bool { return hasFileEnding(text) && !strings.ContainsAny(text, " \t") }

var fileEndings = wordSet(listText("file_endings"))

// colon reads an address or identifier whose colon stands at i.
func (s *scanner) colon(i int) int {
	left := s.text[max(0, i-8):i]
	right := s.text[i+1:]
	if strings.HasPrefix(right, "//") {
		start, n := i-schemeLength(left), urlLength(right[2:])
		if start == i || n == 0 {
			return i + 3
		}
		at := extent{start, i + 3 + n}
		w := written{form: URL, at: at, refs: []Mark{reference(s.text[start:at.end])}}
		if start > 0 && s.text[start-1] == '<' && strings.HasPrefix(s.text[at.end:], ">") {
			w.at = extent{start - 1, at.end + 1}
		}
		return s.add(w)
	}
	for _, id := range identifiers {
		if !hasFoldSuffix(left, id.prefix) {
			continue
		}
		start := i - len(id.prefix)
		if r, _ := utf8.DecodeLastRuneInString(s.text[:start]); start > 0 && isWordRune(r) {
			return i + 1
		}
		name := strings.TrimLeft(right, " ")
		if n := id.length(name); n > 0 {
			return s.add(written{form: DOI, at: extent{start, len(s.text) - len(name) + n}, refs: []Mark{reference(id.url + id.plain(name[:n]))}})
		}
	}
	return i + 1
}

// slash reads a DOI that stands alone, perhaps behind doi.org/, whose prefix ends at i.
func (s *scanner) slash(i int) int {
	start := i
	for start > 0 && i-start < 9 && isDigitByte(s.text[start-1]) {
		start--
	}
	name, ok := strings.CutSuffix(s.text[:start], "10.")
	if before, _ := utf8.DecodeLastRuneInString(name); !ok || i-start < 4 || isWordRune(before) || before == '.' {
		return i + 1
	}
	n := doiLength(s.text[len(name):])
	if n <= i+1-len(name) { // nothing behind the slash
		return i + 1
	}
	at := extent{len(name), len(name) + n}
	for _, host := range [...]string{"doi.org/", "dx."} {
		if hasFoldSuffix(s.text[:at.start], host) {
			at.start -= len(host)
		}
	}
	return s.add(written{form: DOI, at: at, refs: []Mark{reference("https://doi.org/" + s.text[len(name):at.end])}})
}

// identifiers are names of works that stand for a URL.
var identifiers = []struct {
	prefix, url string
	length      func(s string) int // of the identifier at the beginning of s, 0 if there is none
	plain       func(id string) string
}{
	{"doi", "https://doi.org/", doiLength, func(id string) string { return id }},
	{"arxiv", "https://arxiv.org/abs/", arxivLength, func(id string) string {
		if i := strings.LastIndexByte(id, 'v'); i > 0 && digitsOf(id[i+1:]) == len(id)-i-1 && i+1 < len(id) {
			return id[:i]
		}
		return id
	}},
	{"pmid", "https://pubmed.ncbi.nlm.nih.gov/", func(s string) int {
		if n := digitsOf(s); n <= 9 {
			return n
		}
		return 0
	}, func(id string) string { return id + "/" }},
}

func doiLength(s string) int {
	if !strings.HasPrefix(s, "10.") || !strings.Contains(s[:min(len(s), 20)], "/") {
		return 0
	}
	return urlLength(s)
}

func arxivLength(s string) int {
	n := 0
	for n < len(s) && n < 40 && (isWordByte(s[n]) || s[n] == '.' || s[n] == '/' || s[n] == '-') {
		n++
	}
	n = len(strings.TrimRight(s[:n], ".-/"))
	if digitsOf(s) == 4 || strings.IndexByte(s[:n], '/') > 0 {
		return n
	}
	return 0
}

// urlLength is the length of the rest of a URL: up to white space or a sign that no URL
// holds, less the punctuation and the unopened brackets at its end.
func urlLength(s string) int {
	open, end := 0, 0
scan:
	for i, r := range s[:min(len(s), maxTarget)] {
		switch r {
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				break scan
			}
		case '<', '>', '"', '[', ']', '{', '}', '|', '\\', '^', '`', '（', '）', '。', '，', '、', '；', '：', '！', '？', '】', '【', '」', '「', '”', '“', '»', '«', '\ue200', '\u200b':
			break scan
		default:
			if unicode.IsSpace(r) || r == utf8.RuneError {
				break scan
			}
		}
		if !strings.ContainsRune(".,;:!?'*_", r) {
			end = i + utf8.RuneLen(r)
		}
	}
	return end
}

// schemeLength is the length of the https or http that s ends with, in any case; 0 if it does not.
func schemeLength(s string) int {
	for _, scheme := range [...]string{"https", "http"} {
		if hasFoldSuffix(s, scheme) {
			return len(scheme)
		}
	}
	return 0
}

func hasFoldSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// tag reads the element at the < at i.
func (s *scanner) tag(i int) int {
	rest := s.text[i:min(len(s.text), i+maxTag)]
	name := 1
	for name < len(rest) && name < 16 && (isWordByte(rest[name]) || rest[name] == '_') {
		name++
	}
	kind := strings.ToLower(rest[1:name])
	if kind == "" || kind != "a" && kind != "co" && !numberTags[kind] {
		return i + 1
	}
	n := strings.IndexAny(rest[name:], "<>\n")
	if n < 0 || rest[name+n] != '>' {
		return i + 1
	}
	attributes := rest[name : name+n]
	begin := i + name + n + 1
	switch {
	case kind == "co":
		return s.commandTag(i, begin, attributes)
	case strings.HasSuffix(attributes, "/"):
		s.attributes(extent{i, begin}, extent{begin, begin}, attributes)
		return begin
	}
	words := s.text[begin:min(len(s.text), begin+maxWords)]
	stop := indexFold(words, "</"+kind+">")
	if next := strings.Index(words, "<"+kind); stop < 0 || 0 <= next && next < stop {
		return begin
	}
	inner := extent{begin, begin + stop}
	at := extent{i, inner.end + len(kind) + 3}
	words = words[:stop]
	if kind == "a" {
		if target := attribute(attributes, "href"); isHTTP(target) {
			w := written{form: Link, at: at, keep: inner, refs: []Mark{reference(target)}}
			if s.isNoText(words, target) {
				w.keep = extent{}
			}
			return s.add(w)
		}
		return begin
	}
	if s.attributes(at, inner, attributes) {
		return at.end
	}
	return s.numberTag(kind, at, words, begin)
}

// attributes adds a mark if the attributes of a tag name a source or its number. inner is what
// stands between the tags, empty where there is only one.
func (s *scanner) attributes(at, inner extent, attributes string) bool {
	w := written{form: Tag, at: at, keep: inner}
	doc := attribute(attributes, "doc", "source", "href", "url", "title")
	_, isNumber := wholeNumber(doc)
	list, ok := parseNumbers(attribute(attributes, "id", "ids", "index", "n", "doc", "source"))
	switch {
	case doc != "" && !isNumber && (inner.empty() || strings.TrimSpace(s.text[inner.start:inner.end]) != ""):
		m := reference(doc)
		m.Source = s.names.find(doc)
		w.refs = []Mark{m}
	case ok && !list.wrong:
		w.worded, w.refs = true, byNumber(list.numbers)
	default:
		return false
	}
	s.add(s.cited(w))
	return true
}

// cited decides whether the words of a tag stay: words that the text just said are a quote.
func (s *scanner) cited(w written) written {
	words := s.text[w.keep.start:w.keep.end]
	before := strings.TrimRight(s.text[max(0, w.at.start-2*len(words)-16):w.at.start], " ")
	if said := strings.Trim(words, " .\""); said != "" && strings.HasSuffix(strings.TrimRight(before, ".\""), said) {
		for k := range w.refs {
			w.refs[k].Quote = words
		}
		w.keep = extent{}
		return w
	}
	w.wraps = !w.keep.empty()
	return w
}

// numberTags are the elements that hold numbers of sources.
var numberTags = wordSet("cite\ncitation\ncitations\nsource\nsource_id\nsource_ids\nsources\nref\nreference\ndoc\ndoc_id\ndocument_id\nchunk_id\nsup")

// numberTag reads <cite>1</cite>, <cite>[1][3]</cite>, <sup>[1](url)</sup>.
func (s *scanner) numberTag(kind string, at extent, words string, begin int) int {
	content := strings.TrimSpace(words)
	if strings.HasPrefix(content, "[") && strings.HasSuffix(content, ")") { // one link
		if middle := strings.Index(content, "]("); middle > 0 {
			target, size := linkTarget(content[middle+2:])
			if isHTTP(target) && middle+2+size == len(content) && !strings.Contains(target, "[") {
				return s.add(written{form: Link, at: at, refs: []Mark{reference(target)}})
			}
		}
	}
	if kind == "sup" && s.isPower(at.start) || len(content) > maxBracket {
		return begin
	}
	flat := strings.NewReplacer("][", ",", "] [", ",", "], [", ",").Replace(content)
	list, ok := parseNumbers(strings.Trim(flat, "[] "))
	if source := s.names.find(content); !ok && source >= 0 && (hasFileEnding(content) || s.names.sources[source].Doc == content) {
		m := reference(content)
		m.Source = source
		return s.add(written{form: Tag, at: at, refs: []Mark{m}})
	}
	if refs := s.several(content, ",;", true, false); len(refs) > 1 {
		return s.add(written{form: Tag, at: at, refs: refs})
	}
	if !ok || list.wrong {
		return begin
	}
	return s.add(written{form: Tag, at: at, worded: true, refs: byNumber(list.numbers)})
}

// commandTag reads <co: 0>…</co: 0>, which counts from 0.
func (s *scanner) commandTag(i, begin int, attributes string) int {
	list, ok := parseNumbers(strings.Trim(attributes, ": "))
	words := s.text[begin:min(len(s.text), begin+maxWords)]
	stop := strings.Index(words, "</co")
	if !ok || list.wrong || stop < 0 {
		return begin
	}
	end := strings.IndexByte(words[stop:], '>')
	if next := strings.Index(words, "<co"); end < 0 || 0 <= next && next < stop {
		return begin
	}
	w := written{
		form: Tag, at: extent{i, begin + stop + end + 1}, keep: extent{begin, begin + stop}, wraps: stop > 0, worded: true,
		fromOne: true, refs: byNumber(list.numbers),
	}
	for k := range w.refs {
		w.refs[k].Number++
	}
	return s.add(w)
}

// attributeOf is an attribute of a tag: its name, and its value in quotation marks or without them.
var attributeOf = regexp.MustCompile(`(?:^|\s)(\w+) *= *(?:"([^"]*)"|'([^']*)'|([^\s"']\S*))`)

// attribute is the value of the first attribute of a tag that has one of the names.
func attribute(attributes string, names ...string) string {
	all := attributeOf.FindAllStringSubmatch(attributes, -1)
	for _, name := range names {
		for _, m := range all {
			if m[1] == name {
				return m[2] + m[3] + strings.TrimRight(m[4], "/")
			}
		}
	}
	return ""
}

// indexFold is the index of an ASCII text in small letters in s, in any case.
func indexFold(s, lower string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], lower[:2])
		if i < 0 {
			return -1
		}
		from += i
		if len(s)-from >= len(lower) && strings.EqualFold(s[from:from+len(lower)], lower) {
			return from
		}
		from += 2
	}
}

// insertSkip adds what is not looked at.
func (s *scanner) insertSkip(e extent) {
	s.skip = append(s.skip, e)
	slices.SortFunc(s.skip, func(x, y extent) int { return x.start - y.start })
}
