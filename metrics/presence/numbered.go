package presence

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxRange is the most sources that one range such as [1-3] can name. A wider
// one is malformed, so that twelve characters cannot stand for a billion
// citations.
const MaxRange = 1000

const (
	maxDigits       = 9 // of a source number
	dagger          = "†"
	lenticularOpen  = "【"
	lenticularClose = "】"
)

// parseNumbered reads n, a-b and lists of them.
func parseNumbered(content string) (Inline, string) {
	content = trimSpace(content)
	if !startsList(content) {
		return Inline{}, notACitation
	}
	c := Inline{Form: Numbered}
	for part := range strings.SplitSeq(content, ",") {
		r, reason := parseRange(trimSpace(part))
		if reason == "" && r.Last-r.First >= MaxRange {
			reason = "range is wider than " + strconv.Itoa(MaxRange)
		}
		if reason != "" {
			return Inline{}, reason
		}
		c.Numbers = append(c.Numbers, r)
	}
	return c, ""
}

// startsList reports whether content sets out to be a list of numbers: [1],
// [1,], [1-], [,2], [1, p. 5]. Not so [3 people], [2-methyl], [-1, 1] and the
// date [2024-05-01].
func startsList(content string) bool {
	if strings.HasPrefix(content, ",") {
		return onlyNumbers(content)
	}
	first := digits(content)
	if first == 0 {
		return false
	}
	rest := trimSpace(content[first:])
	if rest == "" || rest[0] == ',' {
		return true
	}
	width := dashWidth(rest)
	if width == 0 {
		return false
	}
	rest = trimSpace(rest[width:])
	second := digits(rest)
	if second == 0 {
		return rest == "" || rest[0] == ',' || dashWidth(rest) > 0
	}
	third := rest[second:]
	return dashWidth(third) == 0 || digits(third[dashWidth(third):]) == 0
}

// parseRange reads n or a-b.
func parseRange(s string) (Range, string) {
	n := digits(s)
	switch {
	case s == "":
		return Range{}, "number is missing"
	case n == 0:
		return Range{}, "list holds something other than numbers"
	}
	first, reason := parseNumber(s[:n])
	if reason != "" {
		return Range{}, reason
	}
	rest := trimSpace(s[n:])
	if rest == "" {
		return Range{first, first}, ""
	}
	width := dashWidth(rest)
	if width == 0 {
		return Range{}, "list holds something other than numbers"
	}
	rest = trimSpace(rest[width:])
	if rest == "" {
		return Range{}, "range has no end"
	}
	if digits(rest) != len(rest) {
		return Range{}, "list holds something other than numbers"
	}
	last, reason := parseNumber(rest)
	if reason != "" {
		return Range{}, reason
	}
	if last < first {
		return Range{}, "range runs backwards"
	}
	return Range{first, last}, ""
}

// parseNumber reads a string of digits.
func parseNumber(s string) (int, string) {
	s = strings.TrimLeft(s[:len(s)-1], "0") + s[len(s)-1:]
	if len(s) > maxDigits {
		return 0, "number is too large"
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, "number is missing"
	}
	return n, ""
}

// parseDagger reads n†… and turn:n†….
func parseDagger(content string) (Inline, string) {
	head, locator, _ := strings.Cut(content, dagger)
	c := Inline{Form: Dagger, Locator: locator}
	turn, number, ok := strings.Cut(head, ":")
	if !ok {
		turn, number = "", head
	}
	number = trimSpace(number)
	if number == "" || digits(number) != len(number) {
		return Inline{}, "no number before the dagger"
	}
	n, reason := parseNumber(number)
	if reason != "" {
		return Inline{}, reason
	}
	c.Numbers = []Range{{n, n}}
	if ok {
		turn = trimSpace(turn)
		if turn == "" || digits(turn) != len(turn) {
			return Inline{}, "turn is not a number"
		}
		t, reason := parseNumber(turn)
		if reason != "" {
			return Inline{}, reason
		}
		c.Turn, c.HasTurn = int32(t), true
	}
	return c, ""
}

// lenticular reads 【…】 at i, which stands at the first byte of the bracket or
// of another character, and returns where to go on.
func (s *scanner) lenticular(i int) int {
	if !strings.HasPrefix(s.text[i:], lenticularOpen) {
		return i + 1
	}
	begin := i + len(lenticularOpen)
	rest := s.text[begin:s.limit]
	stop := strings.IndexAny(rest, lenticularOpen+lenticularClose+"\n")
	if stop < 0 {
		stop = len(rest)
	}
	content, end := rest[:stop], begin+stop
	if !strings.HasPrefix(rest[stop:], lenticularClose) {
		if digits(content) > 0 && (strings.Contains(content, dagger) || onlyNumbers(content)) {
			s.reject(i, end, "bracket is not closed")
			return end
		}
		return begin
	}
	end += len(lenticularClose)
	parse := parseNumbered
	if strings.Contains(content, dagger) {
		parse = parseDagger
	}
	c, reason := parse(content)
	c.Start, c.End, c.Lenticular = i, end, true
	switch reason {
	case "":
		s.accept(c)
	case notACitation:
		return begin
	default:
		s.reject(i, end, reason)
	}
	return end
}

// caret reads ^n at i, unless it is a power: x^2, 10^6, (a+b)^2, km^2.
func (s *scanner) caret(i int) int {
	n := digits(s.text[i+1:])
	end := i + 1 + n
	if n == 0 || s.isPower(i) || continuesNumber(s.text[end:]) {
		return max(end, i+1)
	}
	number, reason := parseNumber(s.text[i+1 : end])
	if reason != "" {
		s.reject(i, end, reason)
		return end
	}
	s.accept(Inline{Form: Caret, Start: i, End: end, Numbers: []Range{{number, number}}})
	return end
}

// raised are the words behind which a caret makes a power: units and functions.
var raised = map[string]bool{
	"km": true, "dm": true, "cm": true, "mm": true, "nm": true, "ft": true, "in": true, "yd": true, "mi": true,
	"sec": true, "hr": true, "min": true, "kg": true,
	"sin": true, "cos": true, "tan": true, "log": true, "ln": true, "exp": true, "chi": true, "mc": true,
}

// isPower reports whether the caret at i raises what stands before it.
func (s *scanner) isPower(i int) bool {
	if len(s.items) > 0 && s.items[len(s.items)-1].End == i {
		return false // the second of a run, ^1^2
	}
	start := i
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(s.text[:start])
		if !isWordRune(r) || i-start > 4*utf8.UTFMax {
			break
		}
		start -= size
	}
	word := s.text[start:i]
	if word == "" {
		return i > 0 && strings.IndexByte(")}|", s.text[i-1]) >= 0
	}
	if isDigit(word[len(word)-1]) || raised[strings.ToLower(word)] {
		return true
	}
	// One letter is a variable; in scripts without an alphabet it is a word.
	first, size := utf8.DecodeRuneInString(word)
	return size == len(word) && unicode.In(first, unicode.Latin, unicode.Greek)
}

// continuesNumber reports whether what follows a string of digits belongs to
// it: a letter, or a decimal point with its digits.
func continuesNumber(rest string) bool {
	if rest == "" {
		return false
	}
	if isASCIILetter(rest[0]) || rest[0] == '_' {
		return true
	}
	return rest[0] == '.' && digits(rest[1:]) > 0
}

const (
	openStatement  = "<statement>"
	closeStatement = "</statement>"
	openCite       = "<cite>"
	closeCite      = "</cite>"
)

// tag reads the element at the < at i and returns where to go on.
//
// A statement that is broken somewhere gives no citation: its tag is reported,
// and so is its cite if it holds brackets. HTML's own <cite>, around a title,
// is plain text.
func (s *scanner) tag(i int) int {
	switch {
	case strings.HasPrefix(s.text[i:], openStatement):
		return s.statement(i)
	case strings.HasPrefix(s.text[i:], openCite):
		begin := i + len(openCite)
		content, end := s.citeContent(begin)
		if !strings.HasPrefix(trimSpace(content), "[") {
			return begin
		}
		s.endLine(i)
		s.reject(i, end, "cite outside a statement")
		return end
	}
	return i + 1
}

// citeContent returns the text from begin to </cite>, and the end of that tag;
// without one, up to the next tag or the end of the line.
func (s *scanner) citeContent(begin int) (content string, end int) {
	rest := s.text[begin:]
	stop := strings.IndexAny(rest, "<\n")
	if stop < 0 {
		stop = len(rest)
	}
	end = begin + stop
	if strings.HasPrefix(rest[stop:], closeCite) {
		end += len(closeCite)
	}
	return rest[:stop], end
}

// statement reads <statement>…<cite>…</cite></statement> at i. The body is left
// to the scanner, which jumps over the cite when it comes there.
func (s *scanner) statement(i int) int {
	s.endLine(i)
	begin := i + len(openStatement)
	// A statement ends before the next one begins, closed or not. Looking no
	// further also keeps the cost linear.
	rest := s.text[begin:]
	if next := strings.Index(rest, openStatement); next >= 0 {
		rest = rest[:next]
	}
	body, after, ok := strings.Cut(rest, openCite)
	if !ok || strings.Contains(body, closeStatement) {
		s.reject(i, begin, "statement without a cite")
		return begin
	}
	content, after, ok := strings.Cut(after, closeCite)
	if !ok || strings.IndexByte(content, '<') >= 0 {
		s.reject(i, begin, "cite is not closed")
		return begin
	}
	after = strings.TrimLeft(after, " \t\r\n")
	if !strings.HasPrefix(after, closeStatement) {
		s.reject(i, begin, "statement is not closed")
		return begin
	}
	cite := begin + len(body)
	end := begin + len(rest) - len(after) + len(closeStatement)

	numbers, reason := parseCite(content)
	if reason != "" {
		s.reject(i, end, reason)
		return end
	}
	s.accept(Inline{
		Form: Statement, Start: i, End: end, Numbers: numbers,
		Body: body, BodyStart: begin, BodyEnd: cite,
	})
	s.limit, s.skipTo = cite, end
	return begin
}

// parseCite reads [a-b][c-d]…, the sentences that a statement cites. Nothing
// between the tags means that it needs no citation.
func parseCite(content string) ([]Range, string) {
	var ranges []Range
	for rest := trimSpace(content); rest != ""; rest = trimSpace(rest) {
		inside, after, ok := strings.Cut(rest, "]")
		if rest[0] != '[' || !ok {
			return nil, "cite holds something other than [a-b]"
		}
		r, reason := parseRange(trimSpace(inside[1:]))
		if reason != "" {
			return nil, reason
		}
		ranges, rest = append(ranges, r), after
	}
	return ranges, ""
}
