// Package report shows what files and statistics say: finished runs as text,
// JSON, CSV and Markdown. It recomputes nothing.
//
// A view model decides every number and string first; a renderer only lays out.
package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// A Summary is the view model of one run's numbers.
type Summary struct {
	Run    *runs.Manifest
	Title  string // the run in words
	Blocks []summaryBlock
	Gates  []runs.GateResult

	Calibration *Calibration // of the run's judge, nil if there is none

	Open bool // every metric is unfolded

	Took map[string]compare.Took // what answers took, by system; nil if it is not to be shown

	rows  []runs.SummaryRow
	found map[[2]string]int // blocks by system and slice
	by    string            // the field that [Summary.By] grouped by
	asked bool              // [Summary.Only] chose its metrics
}

// A summaryBlock is the numbers of one system and slice.
type summaryBlock struct {
	Title         string
	System, Slice string
	Lines         []summaryLine
}

// A summaryLine is one metric: its macro value and, where it has one, its micro value.
type summaryLine struct {
	Metric       metrics.Definition
	Macro, Micro runs.SummaryRow
	HasMicro     bool
	Count        bool
	Notes        []string // what a reader must know of it: footnotes
}

// NewSummary makes the view model. Metrics that are undefined in all rows of all
// systems are left out of the blocks, and so is one that people see another for.
func NewSummary(m *runs.Manifest, rows []runs.SummaryRow, gates []runs.GateResult) *Summary {
	s := &Summary{Run: m, Gates: gates, rows: rows, found: make(map[[2]string]int)}
	defs := slices.Concat(metrics.ByGroup(metrics.Definitions()), metrics.CountDefinitions())
	index := make(map[[4]string]int, len(rows))
	for i, r := range rows {
		index[[4]string{r.System, r.Slice, r.Metric, r.Agg}] = i
	}
	for _, group := range groupsOf(rows) {
		b := summaryBlock{System: group[0], Slice: group[1], Title: CleanLine(blockTitle(group[0], group[1]))}
		for k, d := range defs {
			i, ok := index[[4]string{group[0], group[1], d.Name, runs.Macro}]
			if !ok || rows[i].N == 0 && rows[i].Reason == "" || hidden(d) {
				continue
			}
			line := summaryLine{Metric: d, Macro: rows[i], Count: k >= metrics.NumMetrics}
			if j, ok := index[[4]string{group[0], group[1], d.Name, runs.Micro}]; ok {
				line.Micro, line.HasMicro = rows[j], true
			}
			line.Notes = notesOf(&line)
			b.Lines = append(b.Lines, line)
		}
		s.found[group] = len(s.Blocks)
		s.Blocks = append(s.Blocks, b)
	}
	s.Title = s.title()
	return s
}

// block is the numbers of a system and slice; nil if there are none. Those of the only system
// are those of all.
func (s *Summary) block(system, slice string) *summaryBlock {
	i, ok := s.found[[2]string{system, slice}]
	if !ok && system == "" {
		if systems := s.systems(); len(systems) == 1 {
			i, ok = s.found[[2]string{systems[0].System, slice}]
		}
	}
	if !ok {
		return nil
	}
	return &s.Blocks[i]
}

// groupsOf lists the systems and slices in file order. Where there is only one
// system, pooled groups that would repeat it are left out.
func groupsOf(rows []runs.SummaryRow) [][2]string {
	var all [][2]string
	systems := make(map[string]bool)
	for _, r := range rows {
		g := [2]string{r.System, r.Slice}
		if len(all) == 0 || all[len(all)-1] != g {
			all = append(all, g)
		}
		if r.System != "" {
			systems[r.System] = true
		}
	}
	if len(systems) == 1 {
		only := sortedKeys(systems)[0]
		all = slices.DeleteFunc(all, func(g [2]string) bool { return g[0] == "" && slices.Contains(all, [2]string{only, g[1]}) })
	}
	return all
}

func blockTitle(system, slice string) string {
	title := "system " + system
	if system == "" {
		title = "all systems"
	}
	if slice != "" {
		title += ", " + slice
	}
	return title
}

func (s *Summary) title() string {
	m := s.Run
	title := fmt.Sprintf("run %s: %s rows, %s citations", CleanLine(m.ID), Thousands(m.Rows), Thousands(m.Citations))
	if m.Errors > 0 {
		title += fmt.Sprintf(", %s error rows", Thousands(m.Errors))
	}
	if m.Judge.Baseline {
		title += ", judge: " + CleanLine(m.Judge.Kind) + " (a baseline)"
	}
	return title
}

// TextOptions say how text is laid out.
type TextOptions struct {
	All   bool  // every system, slice and count in full
	Style Style // nil for none
}

// A View is what a command prints: text, json, csv or markdown.
type View interface {
	asJSON() any
	writeCSV(w io.Writer) error
	section() doc.Section // text or Markdown
}

// Write renders a view in a format.
func Write(w io.Writer, v View, format string, o TextOptions) error {
	switch format {
	case "json":
		return WriteJSON(w, v.asJSON())
	case "csv":
		return v.writeCSV(w)
	}
	return writeSection(w, v.section(), format, o)
}

// writeSection writes text, or Markdown.
func writeSection(w io.Writer, s doc.Section, format string, o TextOptions) error {
	text := doc.FormatMarkdown(s)
	if format != "markdown" {
		text = doc.FormatText(doc.TextOptions{All: o.All, Style: styleOf(o.Style)}, s)
	}
	_, err := io.WriteString(w, text)
	return err
}

// styleOf is a style, or none.
func styleOf(s Style) Style {
	if s == nil {
		return plain{}
	}
	return s
}

// A Style emphasises text on a terminal.
type Style = doc.Style

type plain struct{}

func (plain) Bold(s string) string { return s }

func (plain) Dim(s string) string { return s }

func (plain) Red(s string) string { return s }

func (plain) Green(s string) string { return s }

// Write is [Write] of the summary.
func (s *Summary) Write(w io.Writer, format string, o TextOptions) error {
	return Write(w, s, format, o)
}

func (s *Summary) writeCSV(w io.Writer) error { return runs.Summary.WriteCSV(w, s.rows) }

// section is what was found: the verdict of the gates, what is wrong with the input, the
// numbers that matter of each system, and all others, folded.
func (s *Summary) section() doc.Section {
	var out []doc.Block
	if len(s.Gates) > 0 {
		w := gateWords[countGates(s.Gates).gravest()]
		out = append(out, doc.Para{Kind: doc.Lead, Text: doc.Text{{Text: w.sign + "gates: " + gatesInWords(s.Gates), Tone: w.tone.doc()}}})
		out = append(out, gateBlocks("Gates", s.Gates)...)
	}
	for _, sign := range s.Run.Shown() {
		out = append(out, doc.Para{Text: doc.T(sign.Sentence())})
	}
	switch {
	case s.by != "":
		out = append(out, s.byField()...)
	case s.asked:
		out = append(out, s.matrices(s.firstBlocks())...)
	default:
		out = append(out, s.standingTable(s.leading(), nil, nil)...)
	}
	if rows := s.corrected(); len(rows) > 0 {
		out = append(out, correctionTable("corrected for the judge's errors", rows))
	}
	if s.Calibration != nil {
		out = append(out, doc.Details{Summary: s.Calibration.Title, Open: s.Open, Blocks: s.Calibration.blocks("")})
	}
	all, sliced := doc.Details{Summary: "every metric", Open: s.Open}, doc.Details{Summary: "by slice"}
	for i := range s.Blocks {
		if b := &s.Blocks[i]; b.Slice == "" {
			all.Blocks = append(append(all.Blocks, doc.Heading{Text: doc.T(b.Title)}), b.tables("")...)
		} else {
			sliced.Blocks = append(append(sliced.Blocks, doc.Heading{Text: doc.T(b.Title)}), b.tables("")...)
		}
	}
	if len(sliced.Blocks) > 0 {
		all.Blocks = append(all.Blocks, sliced)
	}
	out = append(out, all)
	return doc.Section{Title: s.Title, Blocks: out}
}

// corrected are the numbers that ibid calibrate has corrected.
func (s *Summary) corrected() []runs.SummaryRow {
	var out []runs.SummaryRow
	for _, r := range s.rows {
		if r.Corrected != nil && r.Slice == "" && shownMetric(r.Metric) == r.Metric {
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

// firstBlocks are the systems; a run without systems has one block.
func (s *Summary) firstBlocks() []summaryBlock {
	if systems := s.systems(); len(systems) > 0 {
		return systems
	}
	var out []summaryBlock
	for _, block := range s.Blocks {
		if block.Slice == "" {
			out = append(out, block)
		}
	}
	return out
}

// line finds a metric of the block, or nil.
func (b *summaryBlock) line(metric string) *summaryLine {
	if b == nil {
		return nil
	}
	i := slices.IndexFunc(b.Lines, func(l summaryLine) bool { return l.Metric.Name == metric && !l.Count })
	if i < 0 {
		return nil
	}
	return &b.Lines[i]
}

// name is the system of a block as people read it.
func (b *summaryBlock) name() string { return cmp.Or(CleanLine(b.System), allAnswers) }

// standingTable has the numbers that matter of each system, the best first. Change is since
// an earlier run and failing says which rows fail; both may be nil.
func (s *Summary) standingTable(lead []string, change *compare.Result, failing *Failing) []doc.Block {
	if len(lead) == 0 {
		return []doc.Block{doc.Para{Text: doc.T("no metric is defined in any row")}}
	}
	blocks, since := s.firstBlocks(), ""
	if change != nil {
		since = change.Sides[0].Run
	}
	var systems []standing
	for i := range blocks {
		x := standing{name: blocks[i].name(), of: s, block: &blocks[i], change: change}
		if failing != nil && x.block.System != "" {
			x.failing = doc.T(Thousands(failing.BySystem[x.block.System]))
		}
		systems = append(systems, x)
	}
	sortStandings(lead, systems)
	return standingTable("means with "+levelOf(blocks[0])+" intervals", lead, systems, since)
}

// levelOf is the level of the intervals of a block.
func levelOf(b summaryBlock) string {
	if len(b.Lines) == 0 {
		return ""
	}
	return fmt.Sprintf("%g %%", 100*b.Lines[0].Macro.Level)
}

// tables are all numbers of the block, a table for each group of metrics, counts folded. Their
// captions end with of.
func (b *summaryBlock) tables(of string) (out []doc.Block) {
	if len(b.Lines) == 0 {
		return []doc.Block{doc.Para{Text: doc.T("no metric is defined in any row")}}
	}
	isCount := func(l summaryLine) bool { return l.Count }
	first := len(b.Lines)
	if i := slices.IndexFunc(b.Lines, isCount); i >= 0 {
		first = i // counts come last
	}
	level := levelOf(*b)
	out = append(out, groupTables(b.Lines[:first], level, of)...)
	if counts := groupTables(b.Lines[first:], level, of); len(counts) > 0 {
		out = append(out, doc.Details{Summary: "counts" + of, Blocks: counts})
	}
	return out
}

// groupTables are metrics, a table for each group.
func groupTables(lines []summaryLine, level, of string) (out []doc.Block) {
	group := ""
	for _, l := range lines {
		if l.Metric.Group != group {
			group = l.Metric.Group
			caption := group + of
			if about := metrics.AboutGroup(group); about != "" {
				caption += ": " + about
			}
			out = append(out, doc.Table{Caption: caption, Columns: []doc.Column{
				{Name: "metric"},
				{Name: "macro", Number: true},
				{Name: level, Number: true},
				{Name: "micro", Number: true, Keep: 1},
				{Name: level, Number: true, Keep: 2},
				{Name: "n", Number: true},
				{Name: "undefined", Number: true},
			}})
		}
		t := out[len(out)-1].(doc.Table)
		row := []doc.Cell{
			doc.C(l.Metric.Name), doc.C(estimateText(&l.Macro)), doc.C(interval(l.Macro.Low, l.Macro.High)),
			{},
			{},
			doc.C(Thousands(l.Macro.N)),
			{Text: doc.T(Thousands(l.Macro.Undefined)), Notes: l.Notes},
		}
		if l.HasMicro {
			row[3], row[4] = doc.C(estimateText(&l.Micro)), doc.C(interval(l.Micro.Low, l.Micro.High))
		}
		t.Rows = append(t.Rows, row)
		out[len(out)-1] = t
	}
	return out
}

// besideName is the longest name of blocks that stand side by side, two in 80 columns.
const besideName = 8

// matrices set the macro values of blocks side by side, some at a time.
func (s *Summary) matrices(blocks []summaryBlock) (out []doc.Block) {
	name := func(b summaryBlock) string {
		if s.by != "" && s.by != "system" {
			return strings.TrimPrefix(b.Slice, s.by+"=")
		}
		return cmp.Or(b.System, allAnswers)
	}
	size := 2
	if slices.ContainsFunc(blocks, func(b summaryBlock) bool { return len(name(b)) > besideName }) {
		size = 1
	}
	for columns := range slices.Chunk(blocks, size) {
		t := doc.Table{Columns: []doc.Column{{Name: "macro, " + levelOf(columns[0])}}}
		for i := range columns {
			t.Columns = append(t.Columns, doc.Column{Name: name(columns[i]), Number: true}, doc.Column{Number: true}, doc.Column{Name: "n", Number: true, Keep: 1})
		}
		for _, d := range metrics.ByGroup(metrics.Definitions()) {
			row, some := []doc.Cell{doc.C(d.Name)}, false
			for i := range columns {
				l := columns[i].line(d.Name)
				if l == nil {
					row = append(row, doc.C(numberOrDash(nil)), doc.Cell{}, doc.Cell{})
					continue
				}
				some = true
				row = append(row, doc.C(estimateText(&l.Macro)), doc.C(interval(l.Macro.Low, l.Macro.High)), doc.Cell{Text: doc.T(Thousands(l.Macro.N)), Notes: l.Notes})
			}
			if some {
				t.Rows = append(t.Rows, row)
			}
		}
		out = append(out, t)
		if s.by == "system" {
			out = append(out, s.took(columns)...)
		}
	}
	return out
}

// took is what the answers of the systems of some blocks took.
func (s *Summary) took(columns []summaryBlock) []doc.Block {
	var names []string
	var all []compare.Took
	for i := range columns {
		names, all = append(names, columns[i].name()), append(all, s.Took[columns[i].System])
	}
	if t := tookTable(names, all); t != nil {
		return []doc.Block{*t}
	}
	return nil
}

// byField sets the values of the field side by side: of all systems, then of each.
func (s *Summary) byField() (out []doc.Block) {
	if s.by == "system" {
		return s.matrices(s.Blocks)
	}
	for _, group := range s.sliceGroups() {
		out = append(out, doc.Heading{Text: doc.T(blockTitle(group[0].System, ""))})
		out = append(out, s.matrices(group)...)
	}
	return out
}

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
	only.asked = true
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
