package presence

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Form is one way to write a citation into a text.
type Form uint8

// The forms that [Parse] knows.
const (
	Located   Form = iota // [file:page:start-end], [file:page:s1-e1,s2-e2 | excerpt: "…"]
	Numbered              // [n], [1,2], [1-3], 【n】
	Dagger                // 【n†…】, 【turn:n†…】, [n†…]
	Caret                 // ^n, [^n]
	Statement             // <statement>…<cite>[a-b]</cite></statement>
)

var formNames = [...]string{"located", "numbered", "dagger", "caret", "statement"}

// String returns the form's name, such as "located".
func (f Form) String() string { return formNames[f] }

// Offsets are the two numbers of one span of the source as they were written:
// nothing says whether End is exclusive, and End may be at or below Start.
type Offsets struct{ Start, End int64 }

// A Range is a run of source numbers or sentence numbers, both ends included,
// with 0 <= First <= Last.
type Range struct{ First, Last int }

// An Inline is one citation found in a text.
//
// Start and End are the half-open interval of code points that its marker takes
// up; of a [Statement], the whole element.
type Inline struct {
	Form       Form
	Start, End int

	// Run numbers the groups of citations that only spaces separate, from 0 in
	// the order of the text: [a.pdf:1:0-5] [b.pdf:2:7-9] are one run.
	Run int

	// Form Located: the file, its page, at least one span, the quoted text.
	File       string
	Page       int32
	Spans      []Offsets
	Excerpt    string
	HasExcerpt bool

	// The other forms: source numbers, one for Dagger and Caret. Of a Statement
	// they count the sentences of its source, and none means that the statement
	// cites nothing.
	Numbers []Range

	// Form Dagger: the turn of the conversation, if given, and what follows the
	// dagger.
	Turn    int32
	HasTurn bool
	Locator string

	// Lenticular says that the brackets were 【…】; forms Numbered and Dagger.
	Lenticular bool

	// Bracketed says that a Caret is written [^n], as footnotes in Markdown are.
	Bracketed bool

	// Form Statement: the text between <statement> and <cite>, and where it is.
	Body               string
	BodyStart, BodyEnd int
}

// String writes the citation in its form's canonical spelling, which [Parse]
// reads back as an equal citation.
func (c Inline) String() string {
	var b strings.Builder
	switch c.Form {
	case Located:
		c.writeLocated(&b)
	case Numbered:
		b.WriteString(c.bracket("[", "【"))
		writeRanges(&b, c.Numbers)
		b.WriteString(c.bracket("]", "】"))
	case Dagger:
		b.WriteString(c.bracket("[", "【"))
		if c.HasTurn {
			fmt.Fprintf(&b, "%d:", c.Turn)
		}
		writeRanges(&b, c.Numbers)
		b.WriteString("†" + c.Locator + c.bracket("]", "】"))
	case Caret:
		open, end := "^", ""
		if c.Bracketed {
			open, end = "[^", "]"
		}
		b.WriteString(open)
		writeRanges(&b, c.Numbers)
		b.WriteString(end)
	case Statement:
		b.WriteString(openStatement + c.Body + openCite)
		for _, r := range c.Numbers {
			fmt.Fprintf(&b, "[%d-%d]", r.First, r.Last)
		}
		b.WriteString(closeCite + closeStatement)
	}
	return b.String()
}

func (c *Inline) bracket(square, lenticular string) string {
	if c.Lenticular {
		return lenticular
	}
	return square
}

func (c *Inline) writeLocated(b *strings.Builder) {
	fmt.Fprintf(b, "[%s:%d:", c.File, c.Page)
	for i, s := range c.Spans {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "%d-%d", s.Start, s.End)
	}
	if c.HasExcerpt {
		b.WriteString(` | excerpt: "` + c.Excerpt + `"`)
	}
	b.WriteByte(']')
}

func writeRanges(b *strings.Builder, ranges []Range) {
	for i, r := range ranges {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(r.First))
		if r.Last != r.First {
			b.WriteString("-" + strconv.Itoa(r.Last))
		}
	}
}

// AppendNumbers appends every number of c.Numbers, ranges written out, in the
// order of the text. A range of source numbers is at most [MaxRange] wide;
// those of a [Statement] are not bounded and better read as ranges.
func (c *Inline) AppendNumbers(dst []int) []int {
	for _, r := range c.Numbers {
		for n := r.First; n <= r.Last; n++ {
			dst = append(dst, n)
		}
	}
	return dst
}

// A SyntaxError is a piece of text that sets out to be a citation and is none.
// Nothing of it is used: a malformed citation is never half parsed.
type SyntaxError struct {
	Start, End int    // code points of the text, half-open
	Text       string // text[Start:End]
	Reason     string // such as "span has no end"
}

// Error reads: characters 10-25: span has no end: "[a.pdf:5:12-]"
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("characters %d-%d: %s: %q", e.Start, e.End, e.Reason, e.Text)
}

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
