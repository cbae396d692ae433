// Package doc holds what is shown to people before it is text, Markdown or HTML: a
// subject makes blocks, and one renderer for each form prints them.
//
// Strings may hold anything that users' files hold. The renderers make them safe: no
// string becomes a control sequence of a terminal, markup or an element.
package doc

import (
	"slices"
	"strings"
	"unicode"
)

// A Block is one of the types below.
type Block interface{ isBlock() }

// A Section is blocks under a title. ID is its anchor on a page, a constant, and Name is
// what it is called in the navigation of the page, "" for its title. The title of the one at
// the top is that of all.
type Section struct {
	ID, Title, Name string
	Top             bool
	Blocks          []Block
}

// A Heading is a title within a section.
type Heading struct{ Text Text }

// A Kind says what a paragraph is.
type Kind int

// The kinds of paragraphs.
const (
	Plain Kind = iota
	Lead       // the conclusion of a section
	Note       // what a reader must know before reading numbers
	Item       // one of a list
	Small      // how numbers are to be read
)

// A Para is a paragraph.
type Para struct {
	Kind Kind
	Text Text
}

// A Table is rows under named columns. Columns without any content are left out. On a
// page, captions are unique, and Class is one of the classes of its stylesheet. Of a table
// with a Fold, a page holds so many rows at once; the others come from [WriteRows].
type Table struct {
	Caption string
	Columns []Column
	Rows    [][]Cell
	Class   string
	Fold    int
	Apart   bool // notes of the last column are its own, and not of the whole row
}

// A Column is the head of a column. Where there is little room, the columns with the
// highest Keep are left out first; those of 0 stay. Page columns hold drawings, which
// only a page has.
type Column struct {
	Name   string
	Number bool // aligned to the right
	Keep   int
	Page   bool
}

// A Cell is one place of a table. Notes stand below the section, under a number. Step
// shades it on a page: 0 not at all, 1 to 10 more and more. Find is what the script of a
// page finds it by.
type Cell struct {
	Text  Text
	Notes []string
	Strip *Strip
	Bar   []Part
	Step  int
	Find  string
}

// Row begins a row of a table.
func (t *Table) Row() { t.Rows = append(t.Rows, nil) }

// Add adds a cell to the row that was begun last. Its column is that of the first row, which
// makes it; all rows have the same columns.
func (t *Table) Add(c Column, cell Cell) {
	row := &t.Rows[len(t.Rows)-1]
	if len(*row) == len(t.Columns) {
		t.Columns = append(t.Columns, c)
	}
	*row = append(*row, cell)
}

// A Strip is an estimate with its interval on an axis. Places are shares of the axis from
// 0 to 1; an interval that goes beyond the axis ends there. Label says it in words.
type Strip struct {
	At, Low, High float64
	Interval      bool
	Marks         []float64 // lines across the axis, such as 0 or a target
	Label         string
	Tone          Tone
}

// A Part is a share of a bar, from 0 to 1. Label says it in words.
type Part struct {
	Share float64
	Tone  Tone
	Label string
}

// A Chart draws numbers over runs on one axis, a line for each series.
type Chart struct {
	Caption   string
	Labels    []string // of the points, from left to right
	Low, High string   // the ends of the axis
	Breaks    []int    // points before which something else began: no line crosses there
	Series    []Series
}

// A Series is a line of a chart: a point for each label, nil where there is no number.
type Series struct {
	Name   string
	Points []*Strip
}

// Details are blocks that are folded away under a summary unless Open is set.
type Details struct {
	Summary string
	Open    bool
	Blocks  []Block
}

// Facts are names with what is known of them.
type Facts []Fact

// A Fact is a name and a text. ID is its anchor on a page; "" if it has none.
type Fact struct {
	ID   string
	Name string
	Text Text
}

// Add adds a fact, unless there is no text.
func (f *Facts) Add(name, text string) {
	if text != "" {
		*f = append(*f, Fact{Name: name, Text: T(text)})
	}
}

// Panels stand side by side.
type Panels []Panel

// A Panel is a text under a title, and below it what is to be said of it.
type Panel struct {
	Title string
	State Span // how good it is, beside the title
	Below string
	Text  Text
	Notes []Text
}

// A Form asks for something by an address. Only a page has it. Without an Action, the script
// of the page answers it.
type Form struct {
	ID, Action, Button string
	Fields             []Field
}

// A Field of a form is a text, or a choice where there are options.
type Field struct {
	Label, Name, Value string
	Options            []Option
}

// An Option is a value that can be chosen, and how it is called.
type Option struct{ Value, Text string }

func (Section) isBlock() {}
func (Heading) isBlock() {}
func (Para) isBlock()    {}
func (Table) isBlock()   {}
func (Details) isBlock() {}
func (Panels) isBlock()  {}
func (Facts) isBlock()   {}
func (Chart) isBlock()   {}
func (Form) isBlock()    {}

// A Tone says how good something is. Its words say it, too.
type Tone string

// The tones.
const (
	Good Tone = "good"
	Warn Tone = "warn"
	Bad  Tone = "bad"
	Dim  Tone = "dim"
)

// A Text is stretches of text, one after the other.
type Text []Span

// A Span is a stretch of text. Link is a place on the page, which only a page has, or an
// address.
type Span struct {
	Text string
	Tone Tone
	Link string
	Mark Mark
}

// A Mark says who marked a stretch of text.
type Mark int

// The marks.
const (
	Unmarked    Mark = iota
	Marked           // by one of several annotators
	MarkedByAll      // by all of them
	Cited            // by an answer
	True             // by an annotator, as the right place
	CitedTrue        // by both
	Gone             // of an earlier text: it is not in the later one
	Added            // of a later text: it is not in the earlier one
)

// brackets enclose marked stretches where there is no colour.
var brackets = map[Mark][2]string{
	Marked: {"[", "]"}, MarkedByAll: {"{", "}"}, Cited: {"⟦", "⟧"}, True: {"‹", "›"}, CitedTrue: {"⟦‹", "›⟧"}, Gone: {"[-", "-]"}, Added: {"{+", "+}"},
}

// T is a text of one span.
func T(text string) Text { return Text{{Text: text}} }

// C is a cell of one span.
func C(text string) Cell { return Cell{Text: T(text)} }

// String is the text without its tones and links, marked stretches in brackets.
func (t Text) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(brackets[s.Mark][0] + s.Text + brackets[s.Mark][1])
	}
	return b.String()
}

// empty reports whether a cell has nothing to show.
func (c *Cell) empty() bool {
	return c.Text.String() == "" && c.Strip == nil && c.Bar == nil && len(c.Notes) == 0
}

// columns are the numbers of the columns of a table that have content and are kept.
func (t *Table) columns(kept func(c *Column) bool) (shown []int) {
	for c := range t.Columns {
		content := len(t.Rows) == 0
		for _, row := range t.Rows {
			content = content || !row[c].empty()
		}
		if content && kept(&t.Columns[c]) {
			shown = append(shown, c)
		}
	}
	return shown
}

// facts are the series of a chart as lines of text.
func (c *Chart) facts() (facts Facts) {
	levels := []rune("▁▂▃▄▅▆▇█")
	for _, s := range c.Series {
		var line []rune
		for _, p := range s.Points {
			if p == nil {
				line = append(line, '·')
				continue
			}
			line = append(line, levels[int(min(max(p.At, 0), 1)*float64(len(levels)-1)+0.5)])
		}
		facts.Add(s.Name, string(line))
	}
	return facts
}

// Clean is a text on one line: control characters and line breaks become spaces, and
// characters that are invisible or reorder others become visible.
func Clean(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0x200b, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
			return '␣'
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// notes numbers notes in the order in which they are first shown. Equal ones share a
// number.
type notes struct{ texts []string }

// numbers are those of notes, in order, each once.
func (n *notes) numbers(texts []string) (numbers []int) {
	for _, text := range texts {
		k := slices.Index(n.texts, text)
		if k < 0 {
			k = len(n.texts)
			n.texts = append(n.texts, text)
		}
		numbers = append(numbers, k+1)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// marks are the superscript numbers of notes.
func (n *notes) marks(texts []string) string {
	var marks []string
	for _, k := range n.numbers(texts) {
		marks = append(marks, Superscript(k))
	}
	return strings.Join(marks, "˒")
}

// Superscript is a number as the mark of a note.
func Superscript(n int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	if n < 10 {
		return string(digits[n])
	}
	return Superscript(n/10) + string(digits[n%10])
}
