package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"ibid/dataset/runs"
)

// writeText lays the summary out as benchstat would: a table for each system,
// footnotes at the end.
func (s *Summary) writeText(w io.Writer, o TextOptions) error {
	style := o.Style
	if style == nil {
		style = plain{}
	}
	var b strings.Builder
	fmt.Fprintln(&b, style.Bold(s.Title))
	var notes footnotes
	switch systems := s.systems(); {
	case o.All || s.by == "" && len(systems) < 2:
		s.writeBlocks(&b, o.All, &notes, style)
	case s.by != "":
		s.writeBy(&b, &notes, style)
	default:
		matrix(systems, systemName, &notes).write(&b, style)
	}
	if rows := s.corrected(); len(rows) > 0 {
		fmt.Fprintf(&b, "\n%s\n", style.Bold("corrected for the judge's errors"))
		correctionTable(rows).write(&b, style)
	}
	if s.Calibration != nil {
		fmt.Fprintf(&b, "\n%s\n", style.Bold(s.Calibration.Title))
		s.Calibration.judgedTable().write(&b, style)
	}
	if len(s.Gates) > 0 {
		b.WriteString("\n")
		gateTable(s.Gates).write(&b, style)
	}
	if len(notes.texts) > 0 {
		b.WriteString("\n")
	}
	for i, note := range notes.texts {
		fmt.Fprintf(&b, "%s %s\n", superscript(i+1), CleanLine(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeBlocks writes one table for each system and, if all is asked for, for each
// slice, with the counts.
func (s *Summary) writeBlocks(b *strings.Builder, all bool, notes *footnotes, style Style) {
	for _, block := range s.Blocks {
		if block.Slice != "" && !all {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", style.Bold(block.Title))
		if len(block.Lines) == 0 {
			fmt.Fprintln(b, "no metric is defined in any row")
			continue
		}
		t := table{header: []string{"", "macro", levelOf(block), "micro", levelOf(block), "n", "undefined"}, right: 1}
		for _, l := range block.Lines {
			if !l.Count || all {
				t.rows = append(t.rows, textLine(l, notes))
			}
		}
		t.write(b, style)
	}
}

// corrected are the numbers that ibid calibrate has corrected.
func (s *Summary) corrected() []runs.SummaryRow {
	var out []runs.SummaryRow
	for _, r := range s.rows {
		if r.Corrected != nil {
			out = append(out, r)
		}
	}
	return out
}

// systems are the blocks of whole systems.
func (s *Summary) systems() []Block {
	var out []Block
	for _, block := range s.Blocks {
		if block.System != "" && block.Slice == "" {
			out = append(out, block)
		}
	}
	return out
}

func systemName(b *Block) string { return CleanLine(b.System) }

// matrix sets the macro values of several blocks side by side.
func matrix(blocks []Block, name func(*Block) string, notes *footnotes) *table {
	t := &table{header: []string{"macro, " + levelOf(blocks[0])}, right: 1}
	row := make(map[string]int)
	for _, block := range blocks {
		for _, l := range block.Lines {
			if _, ok := row[l.Metric.Name]; !ok && !l.Count {
				row[l.Metric.Name] = len(t.rows)
				t.rows = append(t.rows, []string{l.Metric.Name})
			}
		}
	}
	for _, block := range blocks {
		t.header = append(t.header, name(&block), "", "n")
		for i := range t.rows {
			t.rows[i] = append(t.rows[i], "–", "", "")
		}
		for _, l := range block.Lines {
			if i, ok := row[l.Metric.Name]; ok {
				cells := t.rows[i][len(t.rows[i])-3:]
				cells[0], cells[1] = Number(l.Macro.Estimate), interval(l.Macro.Low, l.Macro.High)
				cells[2] = Thousands(l.Macro.N) + notes.marks(l.Notes)
			}
		}
	}
	return t
}

// levelOf heads the column of intervals.
func levelOf(b Block) string {
	if len(b.Lines) == 0 {
		return ""
	}
	return fmt.Sprintf("%g %%", 100*b.Lines[0].Macro.Level)
}

func textLine(l Line, notes *footnotes) []string {
	cells := []string{
		l.Metric.Name, Number(l.Macro.Estimate), interval(l.Macro.Low, l.Macro.High), "", "",
		Thousands(l.Macro.N), Thousands(l.Macro.Undefined),
	}
	if l.HasMicro {
		cells[3], cells[4] = Number(l.Micro.Estimate), interval(l.Micro.Low, l.Micro.High)
	}
	cells[6] += notes.marks(l.Notes)
	return cells
}

// A table is text in columns: those before right are aligned to the left, the
// others to the right. Empty columns vanish.
type table struct {
	header []string
	rows   [][]string
	right  int
}

func (t *table) write(b *strings.Builder, style Style) {
	widths := make([]int, len(t.header))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, width := range widths {
		if width > 0 {
			widths[i] = max(width, utf8.RuneCountInString(t.header[i]))
		}
	}
	b.WriteString(style.Dim(t.line(t.header, widths)) + "\n")
	for _, row := range t.rows {
		line := t.line(row, widths)
		switch {
		case len(row) > 1 && row[1] == "FAIL":
			line = style.Red(line)
		case len(row) > 1 && row[1] == "PASS":
			line = style.Green(line)
		}
		b.WriteString(line + "\n")
	}
}

func (t *table) line(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		if widths[i] == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		if i < t.right {
			b.WriteString(cell + pad)
		} else {
			b.WriteString(pad + cell)
		}
	}
	return strings.TrimRight(b.String(), " ")
}
