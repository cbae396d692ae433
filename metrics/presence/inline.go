package presence

import (
	"fmt"
	"strconv"
	"strings"
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
