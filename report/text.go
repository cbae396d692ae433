package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// writeText lays the summary out as benchstat would: a table for each system,
// footnotes at the end.
func (s *Summary) writeText(p *paper) {
	p.title(s.Title)
	for _, sign := range s.Run.Shown() {
		p.line(CleanLine(sign.Sentence()))
	}
	switch systems := s.systems(); {
	case p.all || s.by == "" && len(systems) < 2:
		s.writeBlocks(p)
	case s.by != "":
		s.writeBy(p)
	default:
		p.grid(matrix(systems, systemName, p))
	}
	if rows := s.corrected(); len(rows) > 0 {
		p.WriteString("\n")
		p.blocks(correctionTable("corrected for the judge's errors", rows))
	}
	if s.Calibration != nil {
		p.WriteString("\n")
		p.blocks(doc.Heading{Text: doc.T(s.Calibration.Title)}, s.Calibration.summaryTable())
	}
	if len(s.Gates) > 0 {
		p.WriteString("\n")
		p.grid(gateTable(s.Gates))
	}
	p.footnotes()
}

// writeBlocks writes one table for each system and, if all is asked for, for each
// slice, with the counts.
func (s *Summary) writeBlocks(p *paper) {
	for _, block := range s.Blocks {
		if block.Slice != "" && !p.all {
			continue
		}
		p.heading(block.Title)
		if len(block.Lines) == 0 {
			p.line("no metric is defined in any row")
			continue
		}
		t := table{header: []string{"", "macro", levelOf(block), "micro", levelOf(block), "n", "undefined"}, right: 1}
		group := ""
		for _, l := range block.Lines {
			if !l.Count || p.all {
				group = t.head(&l.Metric, group, p.style)
				t.rows = append(t.rows, textLine(l, &p.notes))
			}
		}
		p.grid(&t)
	}
}

// corrected are the numbers that ibid calibrate has corrected.
func (s *Summary) corrected() []runs.SummaryRow {
	var out []runs.SummaryRow
	for _, r := range s.rows {
		if r.Corrected != nil && shownMetric(r.Metric) == r.Metric {
			out = append(out, r)
		}
	}
	return out
}

func (s *Summary) systems() []summaryBlock {
	var out []summaryBlock
	for _, block := range s.Blocks {
		if block.System != "" && block.Slice == "" {
			out = append(out, block)
		}
	}
	return out
}

func systemName(b *summaryBlock) string { return CleanLine(b.System) }

// matrix sets the macro values of several blocks side by side.
func matrix(blocks []summaryBlock, name func(*summaryBlock) string, p *paper) *table {
	t := &table{header: []string{"macro, " + levelOf(blocks[0])}, right: 1}
	row, group := make(map[string]int), ""
	for _, d := range metrics.ByGroup(metrics.Definitions()) {
		if slices.ContainsFunc(blocks, func(b summaryBlock) bool { return b.line(d.Name) != nil }) {
			group = t.head(&d, group, p.style)
			row[d.Name] = len(t.rows)
			t.rows = append(t.rows, []string{d.Name})
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
				cells[0], cells[1] = estimateText(&l.Macro), interval(l.Macro.Low, l.Macro.High)
				cells[2] = Thousands(l.Macro.N) + p.notes.marks(l.Notes)
			}
		}
	}
	return t
}

// levelOf heads the column of intervals.
func levelOf(b summaryBlock) string {
	if len(b.Lines) == 0 {
		return ""
	}
	return fmt.Sprintf("%g %%", 100*b.Lines[0].Macro.Level)
}

func textLine(l summaryLine, notes *footnotes) []string {
	cells := []string{
		l.Metric.Name, estimateText(&l.Macro), interval(l.Macro.Low, l.Macro.High), "", "",
		Thousands(l.Macro.N), Thousands(l.Macro.Undefined),
	}
	if l.HasMicro {
		cells[3], cells[4] = estimateText(&l.Micro), interval(l.Micro.Low, l.Micro.High)
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
	heads  map[int]string // lines of their own above rows, by the numbers of those
}

// head puts the heading of a group of metrics above the next row, where a group begins.
func (t *table) head(d *metrics.Definition, before string, style Style) (group string) {
	if d.Group == before {
		return before
	}
	if t.heads == nil {
		t.heads = make(map[int]string)
	}
	text := style.Bold(d.Group)
	if about := metrics.AboutGroup(d.Group); about != "" {
		text += ": " + about
	}
	t.heads[len(t.rows)] = "\n" + text
	return d.Group
}

func (t *table) write(b *strings.Builder, style Style) {
	t.stream(b, style, func(yield func([]string) error) error {
		for _, row := range t.rows {
			if err := yield(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// stream writes a table of rows that a function gives, twice the same.
func (t *table) stream(w io.Writer, style Style, rows func(yield func([]string) error) error) error {
	widths := make([]int, len(t.header))
	err := rows(func(row []string) error {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, width := range widths {
		if width > 0 {
			widths[i] = max(width, utf8.RuneCountInString(t.header[i]))
		}
	}
	if _, err := io.WriteString(w, style.Dim(t.line(t.header, widths))+"\n"); err != nil {
		return err
	}
	n := 0
	return rows(func(row []string) error {
		line := t.line(row, widths)
		if head := t.heads[n]; head != "" && len(t.heads) > 1 { // one group needs no name
			if _, err := io.WriteString(w, head+"\n"); err != nil {
				return err
			}
		}
		n++
		switch {
		case len(row) > 1 && row[1] == "FAIL":
			line = style.Red(line)
		case len(row) > 1 && row[1] == "PASS":
			line = style.Green(line)
		}
		_, err := io.WriteString(w, line+"\n")
		return err
	})
}

// markdown writes the table in the syntax of GitHub.
func (t *table) markdown(b *strings.Builder) {
	line := func(cells []string) {
		b.WriteString("|")
		for _, cell := range cells {
			b.WriteString(" " + markdownText(cell) + " |")
		}
		b.WriteString("\n")
	}
	line(t.header)
	b.WriteString("|")
	for i := range t.header {
		if i < t.right {
			b.WriteString("---|")
		} else {
			b.WriteString("--:|")
		}
	}
	b.WriteString("\n")
	for _, row := range t.rows {
		line(row)
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

// byColumns is how many values of a field stand side by side.
const byColumns = 4

// By narrows the summary to the numbers of a field, one of [runs.SummaryFields]; ok
// is false for any other.
func (s *Summary) By(field string) (by *Summary, ok bool) {
	has := func(system, slice string) bool { return strings.HasPrefix(slice, field+"=") }
	if field == "system" {
		has = func(system, slice string) bool { return system != "" && slice == "" }
	}
	by = &Summary{Run: s.Run, Took: s.Took, Title: s.Title + ", by " + CleanLine(field), by: field}
	for _, b := range s.Blocks {
		if has(b.System, b.Slice) {
			by.Blocks = append(by.Blocks, b)
		}
	}
	for _, r := range s.rows {
		if has(r.System, r.Slice) {
			by.rows = append(by.rows, r)
		}
	}
	return by, len(by.rows) > 0
}

// Only narrows the summary to some metrics, by name or alias.
func (s *Summary) Only(names []string) *Summary {
	wanted, shown := make(map[string]bool), make(map[string]bool)
	for _, name := range names {
		if d, ok := metrics.Lookup(name); ok {
			wanted[d.Name], shown[shownMetric(d.Name)] = true, true
		}
	}
	only := *s
	only.Blocks, only.rows = nil, nil
	for _, b := range s.Blocks {
		b.Lines = slices.DeleteFunc(slices.Clone(b.Lines), func(l summaryLine) bool { return !shown[l.Metric.Name] })
		for i := range b.Lines {
			b.Lines[i].Count = false // it was asked for
		}
		only.Blocks = append(only.Blocks, b)
	}
	for _, r := range s.rows {
		if wanted[r.Metric] {
			only.rows = append(only.rows, r)
		}
	}
	return &only
}

// writeBy sets the values of the field side by side: all systems, then each.
func (s *Summary) writeBy(p *paper) {
	groups, name := s.sliceGroups(), func(block *summaryBlock) string {
		return CleanLine(strings.TrimPrefix(block.Slice, s.by+"="))
	}
	if s.by == "system" {
		groups, name = [][]summaryBlock{s.Blocks}, systemName
	}
	for _, group := range groups {
		if s.by != "system" {
			p.heading(CleanLine(blockTitle(group[0].System, "")))
		}
		for columns := range slices.Chunk(group, byColumns) {
			p.WriteString("\n")
			p.grid(matrix(columns, name, p))
			s.writeTook(p, columns)
		}
	}
}

// writeTook writes what the answers of the systems of some blocks took.
func (s *Summary) writeTook(p *paper, columns []summaryBlock) {
	if s.by != "system" {
		return
	}
	var names []string
	var all []compare.Took
	for i := range columns {
		names, all = append(names, systemName(&columns[i])), append(all, s.Took[columns[i].System])
	}
	if t := tookTable(names, all); t != nil {
		p.WriteString("\n")
		p.blocks(*t)
	}
}

// sliceGroups splits the blocks by system.
func (s *Summary) sliceGroups() [][]summaryBlock {
	var groups [][]summaryBlock
	for _, block := range s.Blocks {
		if n := len(groups); n > 0 && groups[n-1][0].System == block.System {
			groups[n-1] = append(groups[n-1], block)
			continue
		}
		groups = append(groups, []summaryBlock{block})
	}
	return groups
}

// footnotes numbers notes in the order in which they are first shown. Equal ones
// share a number.
type footnotes struct{ texts []string }

// numbers are those of notes, in order, each once.
func (f *footnotes) numbers(notes []string) []int {
	var numbers []int
	for _, text := range notes {
		k := slices.Index(f.texts, text)
		if k < 0 {
			k = len(f.texts)
			f.texts = append(f.texts, text)
		}
		numbers = append(numbers, k+1)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// marks are the superscript numbers of notes.
func (f *footnotes) marks(notes []string) string {
	var marks []string
	for _, n := range f.numbers(notes) {
		marks = append(marks, superscript(n))
	}
	return strings.Join(marks, "˒")
}

func superscript(n int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	var b strings.Builder
	for _, d := range fmt.Sprint(n) {
		b.WriteRune(digits[d-'0'])
	}
	return b.String()
}

// notesOf are what a reader must know of a metric: what its intervals rest on,
// and what could become of it if everything were scored.
func notesOf(l *summaryLine) []string {
	notes := slices.Concat(l.Macro.Warnings, l.Micro.Warnings)
	if text := coverageNote(l); text != "" {
		notes = append(notes, text)
	}
	return notes
}

// Metrics of which most was scored, and which the rest could hardly change, share
// one note.
const (
	mostlyScored     = 0.9  // least coverage
	slightlyUnscored = 0.05 // greatest distance of the bounds
)

// coverageNote says how much of a metric was scored, and its least and greatest
// value if all of it were; nothing where all of it was.
func coverageNote(l *summaryLine) string {
	c := l.Macro.Coverage
	if c == nil || *c >= 1 {
		return ""
	}
	if *c >= mostlyScored && slight(&l.Macro) && (slight(&l.Micro) || !l.HasMicro) {
		return "some of it was not scored: that could change it by 0.05 at most"
	}
	macro, micro := bounds(&l.Macro), bounds(&l.Micro)
	switch {
	case macro == "" && micro == "":
		return share(*c) + " of it was scored: the rest could change it by any amount"
	case micro == "" || micro == macro:
		micro = ""
	case macro == "":
		micro = "micro " + micro
	default:
		macro, micro = "macro "+macro, ", micro "+micro
	}
	return share(*c) + " of it was scored: with the rest it would be " + macro + micro
}

// slight reports whether a value hardly depends on what is unscored.
func slight(r *runs.SummaryRow) bool {
	return r.BoundLow != nil && r.BoundHigh != nil && *r.BoundHigh-*r.BoundLow <= slightlyUnscored
}

// bounds are the least and the greatest value of a row of the summary, "" if it
// has none.
func bounds(r *runs.SummaryRow) string {
	if r.BoundLow == nil || r.BoundHigh == nil {
		return ""
	}
	low, high := short(*r.BoundLow), short(*r.BoundHigh)
	if low == high {
		return low
	}
	return "between " + low + " and " + high
}

// share prints a share of less than all, and not as if it were all.
func share(v float64) string {
	if v >= 0.9995 {
		return "over 0.999"
	}
	return short(v)
}

// short is number without zeros at the end.
func short(v float64) string {
	text := number(v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// A paper is a text for people that is written as plain text or as Markdown:
// headings, tables, lines.
type paper struct {
	strings.Builder
	markdown bool
	all      bool // see [TextOptions]
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

// blocks writes blocks in the form of the paper.
func (p *paper) blocks(blocks ...doc.Block) {
	if p.markdown {
		p.WriteString(doc.FormatMarkdown(blocks...))
	} else {
		p.WriteString(doc.FormatText(doc.TextOptions{All: p.all, Style: p.style}, blocks...))
	}
}

func (p *paper) grid(t *table) {
	if p.markdown {
		t.markdown(&p.Builder)
	} else {
		t.write(&p.Builder, p.style)
	}
}

// table writes a table that has rows, without the columns that are empty.
func (p *paper) table(t *table) {
	if t == nil || len(t.rows) == 0 {
		return
	}
	p.WriteString("\n")
	if !p.markdown {
		p.grid(t)
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
