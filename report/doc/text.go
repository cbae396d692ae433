package doc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// A Style emphasises text on a terminal, or leaves it as it is when colour is off.
type Style struct{ On bool }

// Bold, Dim, Red and Green are the attributes in use.
func (s Style) Bold(text string) string  { return s.wrap("1", text) }
func (s Style) Dim(text string) string   { return s.wrap("2", text) }
func (s Style) Red(text string) string   { return s.wrap("31", text) }
func (s Style) Green(text string) string { return s.wrap("32", text) }

func (s Style) wrap(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// TextOptions say how text is laid out.
type TextOptions struct {
	Width int  // columns; 0 means 80
	All   bool // what is folded away is shown, too
	Style Style
}

// A textWriter writes blocks as text of a width.
type textWriter struct {
	strings.Builder
	TextOptions
	notes notes
	last  Block // written before
}

// FormatText is blocks as text: no line is wider than the width unless a word is.
func FormatText(o TextOptions, blocks ...Block) string {
	o.Width = cmp.Or(o.Width, 80)
	w := &textWriter{TextOptions: o}
	w.blocks(blocks)
	w.footnotes()
	return w.String()
}

func (w *textWriter) footnotes() {
	if len(w.notes.texts) > 0 {
		w.WriteString("\n")
	}
	for k, note := range w.notes.texts {
		w.wrapped(Superscript(k+1)+" ", Clean(note))
	}
}

func (w *textWriter) blocks(blocks []Block) {
	for _, block := range blocks {
		if _, ok := block.(Form); ok {
			continue
		}
		w.gap(block)
		switch b := block.(type) {
		case Section:
			w.wrapped("", w.Style.Bold(Clean(b.Title)))
			w.last = block
			w.blocks(b.Blocks)
			continue
		case Heading:
			w.wrapped("", w.Style.Bold(Clean(b.Text.String())))
		case Para:
			w.para(b)
		case Table:
			w.table(&b)
		case Facts:
			width := 0
			for _, f := range b {
				width = max(width, uniseg.StringWidth(Clean(f.Name)))
			}
			for _, f := range b {
				name := Clean(f.Name)
				if 4*(width+2) > 3*w.Width { // little room is left beside the names
					w.WriteString(name + "\n")
					w.wrapped("  ", w.styled(f.Text))
					continue
				}
				w.wrapped(name+strings.Repeat(" ", width+2-uniseg.StringWidth(name)), w.styled(f.Text))
			}
		case Panels:
			for _, p := range b {
				w.wrapped("", strings.TrimSpace(w.Style.Bold(Clean(p.Title))+"  "+w.styled(Text{p.State})+"  "+w.Style.Dim(Clean(p.Below))))
				if len(p.Text) > 0 {
					w.wrapped("  ", w.styled(p.Text))
				}
				for _, note := range p.Notes {
					w.wrapped("  ", w.styled(note))
				}
			}
		case Chart:
			w.wrapped("", Clean(b.Caption))
			w.last = Heading{}
			w.blocks([]Block{b.facts()})
			continue
		case Details:
			if b.Open || w.All {
				w.wrapped("", w.Style.Bold(Clean(b.Summary)))
				w.last = Heading{}
				w.blocks(b.Blocks)
				continue
			}
			w.wrapped("", w.Style.Dim(Clean(b.Summary)+", with -v"))
		}
		w.last = block
	}
}

// gap leaves an empty line before a block, unless it belongs to the one before.
func (w *textWriter) gap(block Block) {
	_, wasPara := w.last.(Para)
	_, isPara := block.(Para)
	_, underTitle := w.last.(Section)
	_, underHeading := w.last.(Heading)
	was, wasDetails := w.last.(Details)
	is, isDetails := block.(Details)
	folded := wasDetails && isDetails && !was.Open && !is.Open && !w.All
	if w.Len() > 0 && !(wasPara && isPara) && !(underTitle && isPara) && !underHeading && !folded {
		w.WriteString("\n")
	}
}

func (w *textWriter) para(p Para) {
	text := w.styled(p.Text)
	if p.Kind == Small {
		text = w.Style.Dim(text)
	}
	w.wrapped(map[Kind]string{Note: "note: ", Item: "- "}[p.Kind], text)
}

func (w *textWriter) styled(t Text) string {
	var b strings.Builder
	for _, s := range t {
		text := brackets[s.Mark][0] + Clean(s.Text) + brackets[s.Mark][1]
		switch s.Tone {
		case Good:
			text = w.Style.Green(text)
		case Bad:
			text = w.Style.Red(text)
		case Dim:
			text = w.Style.Dim(text)
		}
		b.WriteString(text)
	}
	return b.String()
}

// wrapped writes a paragraph broken at spaces; further lines are indented as far as the
// head is wide. Codes of styles have no width.
func (w *textWriter) wrapped(head, text string) {
	indent := uniseg.StringWidth(unstyled(head))
	w.WriteString(head)
	at := indent
	for k, word := range strings.Fields(text) {
		width := uniseg.StringWidth(unstyled(word))
		switch {
		case k > 0 && at+1+width > w.Width:
			w.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		case k > 0:
			w.WriteString(" ")
			at++
		}
		w.WriteString(word)
		at += width
	}
	w.WriteString("\n")
}

// unstyled is a text without the codes of styles.
func unstyled(text string) string {
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		if !found {
			return text
		}
		_, after, _ := strings.Cut(rest, "m")
		text = before + after
	}
}

// table writes a table without drawings. Right under a heading it needs no caption. Columns
// leave by Keep until the others fit; then the first is clipped. Notes are those of the columns
// that are shown.
func (w *textWriter) table(t *Table) {
	before := slices.Clone(w.notes.texts)
	keep := 0
	for _, c := range t.Columns {
		keep = max(keep, c.Keep)
	}
	var shown, widths []int
	var cells [][]string
	for ; ; keep-- {
		shown, widths = t.columns(func(c *Column) bool { return !c.Page && c.Keep <= keep }), nil
		w.notes.texts = slices.Clone(before)
		cells = w.cells(t, shown)
		total := -2
		for _, c := range shown {
			width := uniseg.StringWidth(Clean(t.Columns[c].Name))
			for _, row := range cells {
				width = max(width, uniseg.StringWidth(unstyled(row[c])))
			}
			widths = append(widths, width)
			total += width + 2
		}
		if total <= w.Width {
			break
		}
		if keep == 0 {
			widths[0] = min(widths[0], max(8, widths[0]-(total-w.Width)))
			break
		}
	}
	if _, titled := w.last.(Heading); t.Caption != "" && !titled {
		w.wrapped("", Clean(t.Caption))
	}
	if len(shown) == 0 {
		return
	}
	head := make([]string, len(t.Columns))
	for c := range t.Columns {
		head[c] = Clean(t.Columns[c].Name)
	}
	w.WriteString(w.Style.Dim(t.line(head, shown, widths)) + "\n")
	for _, row := range cells {
		w.WriteString(strings.TrimRight(t.line(row, shown, widths), " ") + "\n")
	}
}

// cells are the cells of a table as text, with marks of the notes of the columns that are
// shown. Unless the table says otherwise, notes of the last column are of the whole row: where
// it is left out, the last that is shown has their marks.
func (w *textWriter) cells(t *Table, shown []int) [][]string {
	cells := make([][]string, len(t.Rows))
	for r, row := range t.Rows {
		for c := range row {
			text, notes := w.styled(row[c].Text), row[c].Notes
			switch {
			case !slices.Contains(shown, c):
				notes = nil
			case c == shown[len(shown)-1] && c < len(row)-1 && !t.Apart:
				notes = slices.Concat(notes, row[len(row)-1].Notes)
			}
			cells[r] = append(cells[r], text+w.notes.marks(notes))
		}
	}
	return cells
}

// line is one line of a table.
func (t *Table) line(cells []string, shown, widths []int) string {
	var b strings.Builder
	for k, c := range shown {
		if k > 0 {
			b.WriteString("  ")
		}
		cell := clip(cells[c], widths[k])
		pad := strings.Repeat(" ", max(0, widths[k]-uniseg.StringWidth(unstyled(cell))))
		if t.Columns[c].Number {
			b.WriteString(pad + cell)
		} else {
			b.WriteString(cell + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// clip cuts a text to a width, between graphemes. A clipped text loses its style.
func clip(text string, width int) string {
	if uniseg.StringWidth(unstyled(text)) <= width {
		return text
	}
	out, left := "", width-1
	for g := uniseg.NewGraphemes(unstyled(text)); g.Next() && left >= g.Width(); left -= g.Width() {
		out += g.Str()
	}
	return out + "…"
}
