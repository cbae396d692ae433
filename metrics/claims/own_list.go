package claims

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An entry is one of the answer's own list of references.
type entry struct {
	number int
	url    string // "" if it has none
	text   string // without number, URL and signs of lists and links
}

// An ownList is the list of references that an answer brings itself, and what else of
// its lines is not looked at.
type ownList struct {
	text    string
	skip    []extent // code and the list, ascending
	regions []extent // headings and entries
	entries []entry
	labels  map[string]int // numbers of definitions such as [^smith]: … and [smith]: https://…, from firstLabel on

	heading extent // a line that heads a list if the next one is an entry
	listing bool
	defines bool   // the line before is a definition or goes on with one
	fence   string // the sign that opened code
	code    int    // where it began

	last []lastLine // the last block of lines that may be entries
}

// A lastLine is a line of a last block.
type lastLine struct {
	extent
	number int
}

// findList reads the lines of a text from a byte on: code in fences, definitions such as [^1]: …, and
// what stands below a heading of [ReferenceHeadings] or behind it and a colon. A list
// ends with the first line of another kind.
func findList(text string, from int) *ownList {
	l := &ownList{text: text}
	for start := from; start < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		l.line(extent{start, end})
		start = end + 1
	}
	if l.fence != "" {
		l.skip = append(l.skip, extent{l.code, len(text)})
	}
	return l
}

// line reads one line.
func (l *ownList) line(e extent) {
	line := strings.TrimLeft(strings.TrimSpace(l.text[e.start:e.end]), "> ")
	if l.fence != "" {
		if strings.HasPrefix(line, l.fence) && strings.Trim(line, l.fence[:1]) == "" {
			l.skip = append(l.skip, extent{l.code, e.end})
			l.fence = ""
		}
		return
	}
	if line == "" {
		l.defines = false
		return
	}
	if sign := line[0]; sign == '`' || sign == '~' {
		n := len(line) - len(strings.TrimLeft(line, string(sign)))
		if n >= 3 && (sign == '~' || strings.IndexByte(line[n:], '`') < 0) {
			l.fence, l.code = line[:n], e.start
			l.listing, l.heading, l.last = false, extent{}, nil
			return
		}
	}
	if l.definition(line, e) {
		return
	}
	isEntry := l.looksLikeEntry(line)
	if !l.heading.empty() {
		if l.listing = isEntry; isEntry {
			l.take(l.heading)
		}
		l.heading = extent{}
	}
	if l.listing {
		if isEntry {
			l.take(e)
			l.addEntries(line)
			return
		}
		if l.text[e.start] == ' ' || l.text[e.start] == '\t' {
			l.goOn(line, e)
			return
		}
		l.listing = false
	}
	if l.headed(line, e) {
		return
	}
	l.lastLine(line, e)
}

func (l *ownList) take(e extent) {
	l.regions = append(l.regions, e)
	l.skip = append(l.skip, e)
}

// firstLabel is the number of the first footnote whose label is none.
const firstLabel = 1 << 20

// definition reads [^1]: …, [^smith]: …, [1]: … or [smith]: https://…, and the lines that it goes
// on with.
func (l *ownList) definition(line string, e extent) bool {
	number, n, _ := entryNumber(line)
	if label, rest, _ := strings.Cut(line, "]"); n == 0 && len(label) > 1 && label[0] == '[' && strings.HasPrefix(rest, ": ") &&
		(label[1] == '^' || isHTTP(strings.Trim(rest[1:], " <>"))) {
		if l.labels == nil {
			l.labels = map[string]int{}
		}
		number, n = firstLabel+len(l.labels), len(line)-len(rest)+1
		l.labels[label[1:]] = number
	}
	if n > 0 && line[0] == '[' && strings.HasPrefix(line[n-1:], ":") {
		if !l.heading.empty() {
			l.take(l.heading)
			l.heading = extent{}
		}
		l.take(e)
		l.defines = true
		l.add(number, line[n:])
		return true
	}
	if l.defines {
		if l.defines = n == 0; l.defines {
			l.goOn(line, e)
		}
	}
	return l.defines
}

// goOn reads a line that the last entry goes on with.
func (l *ownList) goOn(line string, e extent) {
	l.take(e)
	if n := len(l.entries); n > 0 && l.entries[n-1].url == "" && len(l.entries[n-1].text) < maxBracket {
		last := l.entries[n-1]
		l.entries = l.entries[:n-1]
		l.add(last.number, last.text+" "+line)
	}
}

// headed reads a line that heads a list, or begins one with such a word and a colon.
func (l *ownList) headed(line string, e extent) bool {
	rest, ok := referenceWord(line)
	if !ok {
		return false
	}
	if rest == "" {
		l.heading = e
		return true
	}
	if _, n, _ := entryNumber(rest); n == 0 || strings.TrimFunc(rest[n:], isPunctuation) == "" || !strings.ContainsFunc(rest, unicode.IsLetter) {
		return false
	}
	l.take(e)
	l.addEntries(rest)
	l.listing = true
	return true
}

// referenceWord reports whether a line is, or begins with, a word that heads a list of
// references and a colon; rest is what follows.
func referenceWord(line string) (rest string, ok bool) {
	head := strings.TrimLeft(line, "#*_ \t>")
	head = strings.TrimLeftFunc(head, func(r rune) bool { return unicode.IsDigit(r) || r == '.' || r == ' ' })
	if i := strings.IndexAny(head[:runeCut(head, 60)], ":："); i >= 0 {
		_, size := utf8.DecodeRuneInString(head[i:])
		rest = strings.Trim(head[i+size:], "*_ \t")
		head = head[:i]
	} else if len(head) > 60 {
		return "", false
	}
	return rest, referenceWords[folded(strings.Trim(head, "*_ \t()0123456789"))]
}

// looksLikeEntry reports whether a line below a heading is an entry: it begins with a
// number or the sign of an item, or holds a link or an address.
func (l *ownList) looksLikeEntry(line string) bool {
	if l.heading.empty() && !l.listing {
		return false
	}
	if _, n, _ := entryNumber(line); n > 0 || line != withoutBullet(line) {
		return true
	}
	return strings.Contains(line, "](") || strings.Contains(line, "://")
}

func withoutBullet(line string) string {
	for _, sign := range [...]string{"- ", "* ", "+ ", "• ", "– "} {
		if rest, ok := strings.CutPrefix(line, sign); ok {
			return strings.TrimLeft(rest, " ")
		}
	}
	return line
}

// entryNumber reads what an entry begins with: [1], [^1], [doc1], 【1】, ^1, ¹, 1., with a colon
// or without one, or Source 1: with one. size is 0 if line begins with none.
func entryNumber(line string) (number, size int, bracket bool) {
	for i, r := range line { // ¹
		d := superscripts[r]
		if d == 0 && i > 0 {
			return number, i, true
		} else if d == 0 {
			break
		}
		number = min(number*10+d-1, 1e6)
	}
	rest, closing := line, ""
	for _, signs := range [...][2]string{{"[^", "]"}, {"[", "]"}, {"【", "】"}, {"［", "］"}, {"^", ""}} {
		if after, ok := strings.CutPrefix(line, signs[0]); ok {
			rest, closing, bracket = after, signs[1], signs[1] != ""
			break
		}
	}
	rest = rest[markWordLength(rest):]
	if !bracket && (rest == "" || !isDigitByte(rest[0])) {
		return 0, 0, false
	}
	number, n := leadingNumber(rest)
	if n == 0 {
		return 0, 0, false
	}
	rest = rest[n:]
	switch {
	case bracket:
		after, ok := strings.CutPrefix(rest, closing)
		if !ok || strings.HasPrefix(after, "(") {
			return 0, 0, false
		}
		rest = strings.TrimPrefix(after, ":")
	case line[0] == '^':
		rest = strings.TrimPrefix(rest, ":")
	default:
		if rest == "" || strings.IndexByte(".):", rest[0]) < 0 || len(rest) > 1 && !isSpaceByte(rest[1]) {
			return 0, 0, false
		}
		rest = rest[1:]
	}
	return number, len(line) - len(rest), bracket
}

// addEntries adds the entries of a line; several may stand on it, each with its number
// in brackets.
func (l *ownList) addEntries(line string) {
	line = withoutBullet(line)
	for line != "" {
		number, n, bracket := entryNumber(line)
		end := len(line)
		if bracket {
			for i := n; i < len(line); i++ {
				if c := line[i]; c == '[' || c == 0xe3 || c == 0xef {
					if _, m, next := entryNumber(line[i:]); m > 0 && next {
						end = i
						break
					}
				}
			}
		}
		if n == 0 {
			number = len(l.entries) + 1
		}
		l.add(number, line[n:end])
		line = line[end:]
	}
}

// add adds an entry, unless it has no text.
func (l *ownList) add(number int, text string) {
	e := entry{number: number}
	text = strings.TrimSpace(text)
	if i := strings.Index(text, "]("); i >= 0 {
		if target, size := linkTarget(text[i+2:]); size > 0 {
			open := strings.LastIndexByte(text[:i], '[')
			e.url = target
			text = text[:max(open, 0)] + " " + text[open+1:i] + " " + text[i+2+size:]
		}
	}
	if i := strings.Index(text, "://"); e.url == "" && i > 0 && schemeLength(text[:i]) > 0 {
		start, end := i-schemeLength(text[:i]), i+3+urlLength(text[i+3:])
		e.url = text[start:end]
		text = text[:start] + " " + text[end:]
	}
	e.text = strings.Trim(strings.Join(strings.Fields(text), " "), " *_-–—:,;.()<>[]")
	if e.url != "" || e.text != "" {
		l.entries = append(l.entries, e)
	}
}

// lastLine notes a line that may be one of a last block: it begins with a number, in
// brackets or before an address.
func (l *ownList) lastLine(line string, e extent) {
	plain := withoutBullet(line)
	number, n, bracket := entryNumber(plain)
	rest := strings.TrimSpace(plain[n:])
	if n == 0 || !bracket && !strings.Contains(rest, "://") || strings.HasPrefix(rest, "[") && !strings.Contains(rest, "](") || !strings.ContainsFunc(rest, unicode.IsLetter) {
		l.last = l.last[:0]
		return
	}
	l.last = append(l.last, lastLine{e, number})
}

// lastStart is where the last block begins, the end of the text if there is none.
func (l *ownList) lastStart() int {
	if len(l.entries) > 0 || len(l.last) == 0 || l.last[0].start == 0 {
		return len(l.text)
	}
	return l.last[0].start
}

// takeLast makes the last block the list, or as much of its end as has addresses or numbers
// that marks before it name.
func (l *ownList) takeLast(s *scanner) {
	if l.lastStart() == len(l.text) {
		return
	}
	marked := map[int]bool{}
	for _, n := range s.found {
		marked[n] = true
	}
	from, named := len(l.last), false
	for from > 0 && l.last[from-1].start >= s.at {
		line := l.last[from-1]
		if !marked[line.number] && !strings.Contains(l.text[line.start:line.end], "://") {
			break
		}
		named = named || marked[line.number]
		from--
	}
	if !named {
		return
	}
	for _, line := range l.last[from:] {
		l.take(line.extent)
		s.insertSkip(line.extent)
		l.addEntries(strings.TrimSpace(l.text[line.start:line.end]))
	}
}
