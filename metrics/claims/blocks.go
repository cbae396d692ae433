package claims

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown finds blocks and tables. Inline parsing is left out, as links and marks
// are read by rules of our own; so are HTML, of which answers hold single elements
// around text, and definitions of links, which are lines of a list of references.
var markdown = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
)

// A lineKind says what a line of an answer is.
type lineKind uint8

const (
	textLine      lineKind = iota
	headingLine            // a heading, or a bold line that is nothing else
	captionLine            // of a table, a picture or code
	rowLine                // a row of a table
	headerLine             // the row that heads a table
	referenceLine          // of the answer's own list of references
	linkLine               // nothing but links, or nothing but marks
	otherLine              // code, a rule, a picture
)

// A line is one line of an answer, without the signs of the blocks that it is in.
// Code is one line, however long.
type line struct {
	extent
	kind  lineKind
	block int    // the innermost block it is in: index in answer.blocks
	level int    // of a heading: 1 to 6, boldLevel
	item  bool   // the first line of a list item
	cells []cell // of a row and of the row that heads a table
}

// boldLevel is the level of a bold line: any heading ends what it heads.
const boldLevel = 7

// A cell is one cell of a table.
type cell struct {
	extent
	header extent // the cell above it that heads its column; empty if there is none
}

// A block is a paragraph, or what holds others.
type block struct {
	parent int // -1 if there is none
	kind   blockKind
}

type blockKind uint8

const (
	paragraphBlock blockKind = iota
	listBlock
	itemBlock
	tableBlock
	quoteBlock
)

// readBlocks fills the lines and blocks of the answer, and the gaps: what stands
// within a paragraph and is no part of it, such as the signs of a quotation.
func (a *answer) readBlocks() {
	a.lines, a.blocks, a.gaps = a.lines[:0], a.blocks[:0], a.gaps[:0]
	source := shallow(a.s)
	a.breakAtTags(source)
	if own := OwnStart(a.s); own > 0 { // one empty line
		copy(source, strings.Repeat(" ", own-1)+"\n")
	}
	r := blockReader{answer: a, source: source}
	r.children(markdown.Parse(text.NewReader(source)), -1)
	a.gaps = united(a.gaps)
}

// maxDepth is how many signs of blocks may stand before the text of a line.
const maxDepth = 32

// shallow is s with other characters for the signs of blocks that are nested deeper than
// [maxDepth] on one line: the parser takes a time that grows with the square of the depth.
func shallow(s string) []byte {
	source := []byte(s)
	depth := 0 // -1 behind the signs of a line
	digit := false
	for i, b := range source {
		numbered := digit && (b == '.' || b == ')')
		digit = '0' <= b && b <= '9'
		switch {
		case b == '\n':
			depth = 0
		case depth < 0 || digit || b == ' ' || b == '\t':
		case !numbered && b != '>' && b != '-' && b != '*' && b != '+':
			depth = -1
		default:
			if depth++; depth > maxDepth {
				source[i] = 'x'
			}
		}
	}
	return source
}

// blockTag is a tag of HTML that begins or ends a block of text, or a line; or a row of a table of
// Markdown, in which tags do not.
var blockTag = regexp.MustCompile(`(?im)^[ \t>]*\|.*$|<(/?)(p|div|br|hr|[uo]l|li|table|tr|thead|tbody|blockquote|section|article|h[1-6])(?:\s[^<>\n]*)?/?>`)

// breakAtTags puts into source, in place of tags of HTML, the signs of Markdown that they stand for:
// blank lines, and the beginnings of headings and list items. An answer in which no tag closes and no
// line breaks only speaks of tags.
func (a *answer) breakAtTags(source []byte) {
	closes := false
	var tags [][]int
	for _, m := range blockTag.FindAllStringSubmatchIndex(a.s, -1) {
		if m[4] >= 0 && !meeting(a.codes, extent{m[0], m[1]}) {
			tags = append(tags, m)
			closes = closes || m[2] < m[3] || strings.EqualFold(a.s[m[4]:m[5]], "br")
		}
	}
	for _, m := range tags {
		if !closes {
			return
		}
		sign, name := "", strings.ToLower(a.s[m[4]:m[5]])
		switch opens := m[2] == m[3]; {
		case name == "li" && opens:
			sign = "- "
		case name[0] == 'h' && name != "hr" && opens:
			sign = "# "
		}
		copy(source[m[0]:m[1]], strings.Repeat("\n", m[1]-m[0]-len(sign))+sign)
		a.gaps = append(a.gaps, extent{m[0], m[1]})
	}
}

type blockReader struct {
	*answer
	source []byte
	item   bool // the next line is the first of a list item
}

func (r *blockReader) open(parent int, kind blockKind) int {
	r.blocks = append(r.blocks, block{parent, kind})
	return len(r.blocks) - 1
}

func (r *blockReader) children(n ast.Node, in int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.List:
			r.children(c, r.open(in, listBlock))
		case *ast.ListItem:
			r.item = true
			r.children(c, r.open(in, itemBlock))
			r.item = false
		case *ast.Blockquote:
			r.children(c, r.open(in, quoteBlock))
		case *ast.Heading:
			r.heading(c, in)
		case *ast.Paragraph, *ast.TextBlock:
			r.paragraph(c.Lines(), r.open(in, paragraphBlock))
		case *tables.Table:
			r.table(c, r.open(in, tableBlock))
		default: // code, a rule
			if lines := c.Lines(); lines != nil && lines.Len() > 0 {
				r.add(line{extent: extent{lines.At(0).Start, lines.At(lines.Len() - 1).Stop}, kind: otherLine, block: r.open(in, paragraphBlock)})
			} else {
				r.add(line{kind: otherLine, block: r.open(in, paragraphBlock)})
			}
		}
	}
}

// add adds a line. One without a place stands behind the line before.
func (r *blockReader) add(l line) {
	if n := len(r.lines); l.empty() && n > 0 {
		l.extent = extent{r.lines[n-1].end, r.lines[n-1].end}
	}
	l.extent = r.trimmed(l.extent)
	l.item, r.item = r.item, false
	r.lines = append(r.lines, l)
}

// heading reads a heading. Text with a line of dashes below is one only if it could
// be: one line that does not end as a sentence does.
func (r *blockReader) heading(h *ast.Heading, in int) {
	lines := h.Lines()
	if lines == nil || lines.Len() == 0 {
		return
	}
	at := r.open(in, paragraphBlock)
	first := lines.At(0)
	if setext := strings.TrimLeft(string(r.source[lineStart(r.s, first.Start):first.Start]), " \t>") == ""; setext {
		last, _ := lastRune(strings.TrimSpace(string(first.Value(r.source))))
		if lines.Len() > 1 || isStop(last) {
			r.paragraph(lines, at)
			return
		}
	}
	for i := range lines.Len() {
		r.add(line{extent: extent{lines.At(i).Start, lines.At(i).Stop}, kind: headingLine, level: h.Level, block: at})
	}
}

func lineStart(s string, at int) int { return strings.LastIndexByte(s[:at], '\n') + 1 }

func (r *blockReader) paragraph(lines *text.Segments, in int) {
	for i := range lines.Len() {
		s := lines.At(i)
		if i > 0 {
			if gap := (extent{lines.At(i - 1).Stop, s.Start}); !gap.empty() {
				r.gaps = append(r.gaps, gap)
			}
		}
		if strings.TrimSpace(r.s[s.Start:s.Stop]) != "" {
			r.add(line{extent: extent{s.Start, s.Stop}, block: in})
		}
	}
}

func (r *blockReader) table(t *tables.Table, in int) {
	var header []extent
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		l := line{kind: rowLine, block: in}
		if _, ok := row.(*tables.TableHeader); ok {
			l.kind = headerLine
		}
		for n := row.FirstChild(); n != nil; n = n.NextSibling() {
			lines := n.Lines()
			if lines == nil || lines.Len() == 0 {
				l.cells = append(l.cells, cell{})
				continue
			}
			c := cell{extent: r.trimmed(extent{lines.At(0).Start, lines.At(lines.Len() - 1).Stop})}
			if k := len(l.cells); k < len(header) {
				c.header = header[k]
			}
			l.cells = append(l.cells, c)
		}
		var all []extent
		for _, c := range l.cells {
			all = append(all, c.extent)
			if !c.empty() && l.empty() {
				l.extent = c.extent
			} else if !c.empty() {
				l.end = c.end
			}
		}
		if l.kind == headerLine {
			header = all
		}
		if !l.empty() {
			r.add(l)
		}
	}
}

// trimmed is e without the white space at its ends.
func (a *answer) trimmed(e extent) extent {
	s := strings.TrimLeftFunc(a.s[e.start:max(e.start, e.end)], unicode.IsSpace)
	e.start = e.end - len(s)
	e.end = e.start + len(strings.TrimRightFunc(s, unicode.IsSpace))
	return e
}

// within reports whether block b is inside of in, or is it.
func (a *answer) within(b, in int) bool {
	for b > in {
		b = a.blocks[b].parent
	}
	return b == in
}

// bulletStart is where the sign of the list item stands that a line begins.
func (a *answer) bulletStart(l *line) int {
	if !l.item {
		return l.start
	}
	start := lineStart(a.s, l.start)
	return start + len(a.s[start:l.start]) - len(strings.TrimLeft(a.s[start:l.start], " \t>"))
}
