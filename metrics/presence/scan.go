package presence

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Parse finds the citations that stand in a text, in the order of the text, and
// what is malformed among them.
//
// A bracket that does not set out to be a citation, such as [sic], [fig. 3] or
// the [text] of a link, is plain text and reported nowhere. Brackets nest:
// [report[1].pdf:2:0-5] is one citation of report[1].pdf, [see [1]] holds one
// of 1. The body of a [Statement] is searched as well, so a citation in it
// follows the statement and lies within it.
//
// Offsets that make no span are no reason to reject a citation: they are
// returned as written, for the caller to give them their status. The cost is
// linear in the length of the text, whatever it holds.
func Parse(text string) ([]Inline, []SyntaxError) {
	if !strings.ContainsAny(text, "[^<") && !strings.Contains(text, lenticularOpen) {
		return nil, nil
	}
	s := newScanner(text)
	s.scan()
	slices.SortStableFunc(s.bad, func(a, b SyntaxError) int { return cmp.Compare(a.Start, b.Start) })
	s.numberRuns()
	s.toCodePoints()
	return s.items, s.bad
}

// A scanner works in bytes; toCodePoints converts once at the end.
type scanner struct {
	text  string
	items []Inline
	bad   []SyntaxError

	open      []int // brackets of this line that wait for their ]
	lastClose int   // the end of the last bracket that was closed

	// In the body of a statement, limit is where its <cite> begins and skipTo the
	// end of its element; elsewhere both are the length of the text. Nothing looks
	// beyond limit.
	limit, skipTo int
}

func newScanner(text string) *scanner {
	return &scanner{text: text, limit: len(text), skipTo: len(text)}
}

func (s *scanner) scan() {
	for i := 0; i < len(s.text); {
		if i == s.limit {
			s.endLine(i)
			i, s.limit, s.skipTo = s.skipTo, len(s.text), len(s.text)
			continue
		}
		switch s.text[i] {
		case '\n':
			s.endLine(i)
			i++
		case '[':
			i = s.openBracket(i)
		case ']':
			s.closeBracket(i + 1)
			i++
		case '|':
			i = s.excerpt(i)
		case '^':
			i = s.caret(i)
		case '<':
			i = s.tag(i)
		case lenticularOpen[0]:
			i = s.lenticular(i)
		default:
			i++
		}
	}
	s.endLine(len(s.text))
}

// openBracket reads [^n] at once, since its caret would be another citation
// without its brackets.
func (s *scanner) openBracket(i int) int {
	rest := s.text[i+1:]
	if strings.HasPrefix(rest, "^") {
		n := digits(rest[1:])
		if n > 0 && strings.HasPrefix(rest[1+n:], "]") {
			end := i + n + 3
			if number, reason := parseNumber(rest[1 : 1+n]); reason != "" {
				s.reject(i, end, reason)
			} else {
				s.accept(Inline{Form: Caret, Start: i, End: end, Numbers: []Range{{number, number}}, Bracketed: true})
			}
			return end
		}
	}
	s.open = append(s.open, i)
	return i + 1
}

// closeBracket decides what the innermost open bracket and its ] are.
func (s *scanner) closeBracket(end int) {
	if len(s.open) == 0 {
		return
	}
	start := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	leaf := s.lastClose <= start
	s.lastClose = end
	content := s.text[start+1 : end-1]

	c, reason := Inline{}, notACitation
	switch {
	case leaf:
		c, reason = parseLeaf(content)
	case len(content) <= maxFileName && endsInOffsets(content) && !s.holdsLocated(start):
		// The length is bounded because each bracket of a nest looks at all that
		// it holds.
		c, reason = parseLocated(content)
		if reason != "" {
			reason = locatedAttempt(content)
		}
	}
	c.Start, c.End = start, end
	switch reason {
	case "":
		s.accept(c)
	case notACitation:
	default:
		s.reject(start, end, reason)
	}
}

// parseLeaf reads the content of a square bracket that holds no other.
func parseLeaf(content string) (Inline, string) {
	if strings.Contains(content, dagger) {
		return parseDagger(content)
	}
	if c, reason := parseNumbered(content); reason != notACitation {
		return c, reason
	}
	if endsInOffsets(content) {
		if c, reason := parseLocated(content); reason == "" {
			return c, ""
		}
	}
	return Inline{}, locatedAttempt(content)
}

// holdsLocated reports whether a citation with a file lies behind start: no
// name of a file holds one.
func (s *scanner) holdsLocated(start int) bool {
	for i := len(s.items) - 1; i >= 0 && s.items[i].Start > start; i-- {
		if s.items[i].Form == Located {
			return true
		}
	}
	return false
}

// accept adds c in place of what was found inside it.
func (s *scanner) accept(c Inline) {
	s.dropAfter(c.Start)
	s.items = append(s.items, c)
}

// reject reports text[start:end] in place of what was found inside it.
func (s *scanner) reject(start, end int, reason string) {
	s.dropAfter(start)
	s.bad = append(s.bad, SyntaxError{Start: start, End: end, Text: s.text[start:end], Reason: reason})
}

func (s *scanner) dropAfter(start int) {
	for len(s.items) > 0 && s.items[len(s.items)-1].Start > start {
		s.items = s.items[:len(s.items)-1]
	}
	for len(s.bad) > 0 && s.bad[len(s.bad)-1].Start > start {
		s.bad = s.bad[:len(s.bad)-1]
	}
}

// endLine gives up on the brackets that are open at the end of a line.
func (s *scanner) endLine(end int) {
	for _, start := range s.open {
		tail := s.text[start+1 : end]
		if stop := strings.IndexAny(tail, "[]"); stop >= 0 {
			tail = tail[:stop]
		}
		if n := unclosedAttempt(tail, start+1+len(tail) == end); n > 0 {
			s.reject(start, start+1+n, "bracket is not closed")
		}
	}
	s.open = s.open[:0]
}

// numberRuns groups neighbours: only spaces and tabs may lie between them.
func (s *scanner) numberRuns() {
	for i := 1; i < len(s.items); i++ {
		prev, c := &s.items[i-1], &s.items[i]
		c.Run = prev.Run
		if c.Start < prev.End || strings.Trim(s.text[prev.End:c.Start], " \t") != "" {
			c.Run++
		}
	}
}

// toCodePoints turns every offset from bytes into code points, reading the text
// once. Bytes that are not UTF-8 count as one code point each.
func (s *scanner) toCodePoints() {
	var offsets []*int
	for i := range s.items {
		c := &s.items[i]
		offsets = append(offsets, &c.Start, &c.End)
		if c.Form == Statement {
			offsets = append(offsets, &c.BodyStart, &c.BodyEnd)
		}
	}
	for i := range s.bad {
		offsets = append(offsets, &s.bad[i].Start, &s.bad[i].End)
	}
	slices.SortFunc(offsets, func(a, b *int) int { return cmp.Compare(*a, *b) })
	at, count := 0, 0
	for _, p := range offsets {
		count += utf8.RuneCountInString(s.text[at:*p])
		at, *p = *p, count
	}
}
