package doc

import (
	"strings"
	"unicode"
)

// A markdownWriter writes blocks as GitHub reads them.
type markdownWriter struct {
	strings.Builder
	notes notes
}

// FormatMarkdown is blocks as Markdown for a pull request. Details fold there; columns
// with drawings or a Keep of 3 and more are left out.
func FormatMarkdown(blocks ...Block) string {
	w := &markdownWriter{}
	w.blocks(blocks, false)
	for k, note := range w.notes.texts {
		w.WriteString("\n" + Superscript(k+1) + " " + markdownLine(note) + "\n")
	}
	return w.String()
}

// blocks writes blocks; the summary of Details is the caption of a table that is first in them.
func (w *markdownWriter) blocks(blocks []Block, folded bool) {
	item := false // the block before is an item of a list
	for k, block := range blocks {
		p, isPara := block.(Para)
		isItem := isPara && p.Kind == Item
		if w.Len() > 0 && !(item && isItem) {
			w.WriteString("\n")
		}
		item = isItem
		switch b := block.(type) {
		case Section:
			w.WriteString("## " + markdownText(b.Title) + "\n")
			w.blocks(b.Blocks, false)
		case Heading:
			w.WriteString("### " + markdownText(b.Text.String()) + "\n")
		case Para:
			w.para(b)
		case Table:
			if !folded || k > 0 {
				w.WriteString(markdownLine(b.Caption) + "\n\n")
			}
			w.table(&b)
		case Facts:
			for _, f := range b {
				w.WriteString("- " + markdownLine(f.Name) + ": " + markdownText(f.Text.String()) + "\n")
			}
		case Panels:
			for _, p := range b {
				w.WriteString("- **" + strings.TrimSpace(markdownText(p.Title)) + "** " + markdownText(p.State.Text+" "+p.Below+" "+p.Text.String()) + "\n")
				for _, note := range p.Notes {
					w.WriteString("  " + markdownLine(note.String()) + "\n")
				}
			}
		case Chart:
			w.WriteString(markdownLine(b.Caption) + "\n")
			w.blocks([]Block{b.facts()}, false)
		case Details:
			open := ""
			if b.Open {
				open = " open"
			}
			w.WriteString("<details" + open + "><summary>" + markdownText(b.Summary) + "</summary>\n")
			w.blocks(b.Blocks, true)
			w.WriteString("\n</details>\n")
		}
	}
}

func (w *markdownWriter) para(p Para) {
	if p.Kind == Lead {
		w.WriteString("**" + strings.TrimSpace(markdownSpans(p.Text, markdownText)) + "**\n")
		return
	}
	w.WriteString(map[Kind]string{Note: "> ", Item: "- "}[p.Kind] + markdownSpans(p.Text, markdownLine) + "\n")
}

// markdownSpans is a text with its links to other sites; first writes what it begins with. Links
// within a page lead nowhere here.
func markdownSpans(t Text, first func(string) string) string {
	var b strings.Builder
	plain, write := "", first
	flush := func() {
		if plain != "" {
			b.WriteString(write(plain))
			plain, write = "", markdownText
		}
	}
	for _, s := range t {
		if !strings.HasPrefix(s.Link, "https://") && !strings.HasPrefix(s.Link, "http://") {
			plain += s.Text
			continue
		}
		flush()
		b.WriteString("[" + markdownText(s.Text) + "](" + strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E").Replace(Clean(s.Link)) + ")")
		write = markdownText
	}
	flush()
	return b.String()
}

func (w *markdownWriter) table(t *Table) {
	shown := t.columns(func(c *Column) bool { return !c.Page && c.Keep < 3 })
	if len(shown) == 0 {
		return
	}
	line := func(cell func(c int) string) {
		w.WriteString("|")
		for _, c := range shown {
			w.WriteString(" " + cell(c) + " |")
		}
		w.WriteString("\n")
	}
	line(func(c int) string { return markdownText(t.Columns[c].Name) })
	line(func(c int) string {
		if t.Columns[c].Number {
			return "--:"
		}
		return "---"
	})
	for _, row := range t.Rows {
		line(func(c int) string { return markdownText(row[c].Text.String()) + w.notes.marks(row[c].Notes) })
	}
}

// markdownText keeps a text from being read as markup, a link, a mention or the number of
// an issue. A comment, which GitHub leaves out, parts what would be one of the last three.
func markdownText(text string) string {
	text = Clean(text)
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*_[]|~$", r):
			b.WriteString("\\" + string(r))
		default:
			b.WriteRune(r)
		}
		rest := text[i+len(string(r)):]
		linked := r == '@' || r == '#' || r == ':' && strings.HasPrefix(rest, "//") ||
			(r == 'w' || r == 'W') && i >= 2 && strings.EqualFold(text[i-2:i+1], "www") && strings.HasPrefix(rest, ".")
		if linked && rest != "" {
			b.WriteString("<!-- -->")
		}
	}
	return b.String()
}

// markdownLine is markdownText at the beginning of a line, where more characters are
// markup.
func markdownLine(text string) string {
	out := strings.TrimLeftFunc(markdownText(text), unicode.IsSpace)
	digits := len(out) - len(strings.TrimLeft(out, "0123456789"))
	switch {
	case out == "":
	case strings.ContainsRune("#+-=>", rune(out[0])):
		return "\\" + out
	case digits > 0 && digits < len(out) && (out[digits] == '.' || out[digits] == ')'):
		return out[:digits] + "\\" + out[digits:]
	}
	return out
}
