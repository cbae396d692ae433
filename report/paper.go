package report

import (
	"fmt"
	"strings"
)

// A paper is a text for people that is written as plain text or as Markdown:
// headings, tables, lines.
type paper struct {
	strings.Builder
	markdown bool
	style    Style
	notes    footnotes
}

func (p *paper) title(text string) {
	if p.markdown {
		fmt.Fprintf(p, "## %s\n", markdownText(text))
		return
	}
	fmt.Fprintln(p, p.style.Bold(text))
}

// heading begins a section.
func (p *paper) heading(text string) {
	if p.markdown {
		fmt.Fprintf(p, "\n### %s\n\n", markdownText(text))
		return
	}
	fmt.Fprintf(p, "\n%s\n", p.style.Bold(text))
}

// line is a paragraph.
func (p *paper) line(text string) {
	if p.markdown {
		fmt.Fprintf(p, "\n%s\n", markdownText(text))
		return
	}
	fmt.Fprintln(p, text)
}

// item belongs to the line before it.
func (p *paper) item(text string) {
	if p.markdown {
		fmt.Fprintf(p, "- %s\n", markdownText(text))
		return
	}
	fmt.Fprintf(p, "    %s\n", text)
}

// table writes a table that has rows, without the columns that are empty.
func (p *paper) table(t *table) {
	if len(t.rows) == 0 {
		return
	}
	p.WriteString("\n")
	if !p.markdown {
		t.write(&p.Builder, p.style)
		return
	}
	var kept []int
	for c := range t.header {
		for _, row := range t.rows {
			if row[c] != "" {
				kept = append(kept, c)
				break
			}
		}
	}
	line := func(cell func(c int) string) {
		p.WriteString("|")
		for _, c := range kept {
			p.WriteString(" " + cell(c) + " |")
		}
		p.WriteString("\n")
	}
	line(func(c int) string { return markdownText(t.header[c]) })
	line(func(c int) string {
		if c < t.right {
			return "---"
		}
		return "--:"
	})
	for _, row := range t.rows {
		line(func(c int) string { return markdownText(row[c]) })
	}
}

// footnotes writes the notes that were marked.
func (p *paper) footnotes() {
	if len(p.notes.texts) > 0 {
		p.WriteString("\n")
	}
	for i, note := range p.notes.texts {
		if p.markdown {
			fmt.Fprintf(p, "%s %s\n\n", superscript(i+1), markdownText(note))
		} else {
			fmt.Fprintf(p, "%s %s\n", superscript(i+1), CleanLine(note))
		}
	}
}
