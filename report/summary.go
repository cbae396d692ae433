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
	Blocks []summaryBlock
	Gates  []runs.GateResult

	Calibration *Calibration // of the run's judge, nil if there is none

	Open bool // every metric is unfolded

	Compared
	Failing *Failing // its worst row first; nil if nobody asked
	Dir     string   // of the run, for the commands to type next; "" leaves them out
	Page    string   // file of the page; "" if it is not there

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
		b := summaryBlock{System: group[0], Slice: group[1], Title: blockTitle(group[0], group[1])}
		for k, d := range defs {
			i, ok := index[[4]string{group[0], group[1], d.Name, runs.Macro}]
			if !ok || rows[i].N == 0 && rows[i].Reason == "" || hidden(d.Name) {
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

// conclusion is what came of the run. Where nobody asked which rows fail, it counts the rows.
func (s *Summary) conclusion() Conclusion {
	if s.Failing == nil {
		c := s.conclude(answerCount{}, s.Gates)
		c.Answers = Plural(s.Run.Rows, "answer", "answers") + "."
		return c
	}
	return s.conclude(s.Failing.answers, s.Gates)
}

// TextOptions say how text is laid out.
type TextOptions = doc.TextOptions

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
		text = doc.FormatText(o, s)
	}
	_, err := io.WriteString(w, text)
	return err
}

func (s *Summary) writeCSV(w io.Writer) error { return runs.Summary.WriteCSV(w, s.rows) }

// What the first screen has at most.
const (
	mostSigns = 3   // of wrong input
	mostGates = 3   // that did not pass
	signWidth = 160 // of a sign, in code points
)

// section is the first screen of a run: the conclusion, what is wrong with the input, the
// numbers that matter of each system, why answers fail, who judged, and what to type next.
// All else is folded.
func (s *Summary) section() doc.Section {
	c := s.conclusion()
	var out []doc.Block
	para := func(text ...doc.Span) { out = append(out, doc.Para{Text: text}) }
	ended := doc.Span{Text: c.Gates, Tone: gateWords[countGates(s.Gates).gravest()].Tone}
	switch {
	case c.title() != c.Answers:
		para(doc.Span{Text: c.Answers + " "}, ended)
	case c.Gates != "":
		para(ended)
	}
	out = append(out, s.openGates()...)
	if c.Since != "" {
		para(doc.Span{Text: c.Since})
	}
	signs := s.Run.Shown()
	for _, sign := range signs[:min(len(signs), mostSigns)] {
		para(doc.Span{Text: clip(sign.Sentence(), signWidth)})
	}
	if n := len(signs) - mostSigns; n > 0 {
		para(doc.Span{Text: Plural(int64(n), "more sign", "more signs")})
	}
	switch {
	case s.by != "":
		out = append(out, s.byField()...)
	case s.asked:
		out = append(out, s.matrices(s.firstBlocks())...)
	default:
		out = append(out, s.standingTable()...)
	}
	if facts := s.facts(); len(facts) > 0 && s.by == "" {
		out = append(out, facts)
	}
	out = append(out, s.everything())
	if next := s.next(); len(next) > 0 {
		out = append(out, next)
	}
	title := s.Run.ID
	if s.by != "" {
		title += ", by " + s.by
	}
	return doc.Section{Title: title + ": " + c.title(), Blocks: out}
}

// facts are a line each on what is corrected, why answers fail, and who judged.
func (s *Summary) facts() (facts doc.Facts) {
	if text := s.correctedLine(); text != "" {
		facts.Add("corrected", text)
	}
	if s.Failing != nil && s.Failing.Failing > 0 {
		facts.Add("fails", s.Failing.reasonsLine())
	}
	if kind := strings.ToLower(s.Run.Judge.Kind); kind != "" {
		facts.Add("judge", judgeText(kind, &s.Run.Judge))
	}
	return facts
}

// openGates are the gates that did not pass.
func (s *Summary) openGates() (out []doc.Block) {
	left := 0
	for _, g := range s.Gates {
		if g.Verdict == runs.Passed {
			continue
		}
		if len(out) == mostGates {
			left++
			continue
		}
		out = append(out, doc.Para{Kind: doc.Item, Text: doc.Text{gateWords[g.Verdict], {Text: fmt.Sprintf(" %s: %s", g.Gate, gateText(g))}}})
	}
	if left > 0 {
		out = append(out, doc.Para{Kind: doc.Item, Text: doc.T(fmt.Sprintf("%d more", left))})
	}
	return out
}

// everything is what the first screen folds: gates, what people's labels correct, and every
// metric of all answers, of each system and of slices.
func (s *Summary) everything() doc.Details {
	all, sliced := doc.Details{Summary: "every metric", Open: s.Open}, doc.Details{Summary: "by slice"}
	add := func(to *doc.Details, title string, blocks ...doc.Block) {
		to.Blocks = append(append(to.Blocks, doc.Heading{Text: doc.T(title)}), blocks...)
	}
	if len(s.Gates) > 0 {
		add(&all, "Gates", gateBlocks("", s.Gates)...)
	}
	if rows := s.corrected(); len(rows) > 0 {
		add(&all, "Corrected for the judge's errors", correctionTable("", rows))
	}
	if s.Calibration != nil {
		add(&all, s.Calibration.Title, s.Calibration.blocks("")...)
	}
	for i := range s.Blocks {
		to := &all
		if s.Blocks[i].Slice != "" {
			to = &sliced
		}
		add(to, s.Blocks[i].Title, s.Blocks[i].tables("")...)
	}
	if len(sliced.Blocks) > 0 {
		all.Blocks = append(all.Blocks, sliced)
	}
	return all
}

// next are the commands to type next.
func (s *Summary) next() (next doc.Facts) {
	if s.Dir == "" {
		return nil
	}
	if s.Failing != nil && len(s.Failing.Rows) > 0 {
		r := &s.Failing.Rows[0]
		next.Add("ibid show "+s.Dir+" "+shellWord(r.name()), "# the worst: "+problemWords[r.Problem].Short)
	}
	if s.Page != "" {
		next.Add(s.Page, "# the page")
	}
	return next
}

// correctedLine is the first number that people's labels correct, "" if there is none.
func (s *Summary) correctedLine() string {
	all := s.corrected()
	if len(all) == 0 {
		return ""
	}
	r, of := &all[0], ""
	if r.System != "" {
		of = " of " + clip(r.System, 20)
	}
	return fmt.Sprintf("%s%s %s %s; more: --all", shortName(r.Metric), of, numberOrDash(r.Corrected), interval(r.CorrectedLow, r.CorrectedHigh))
}

// corrected are the numbers that ibid calibrate has corrected.
func (s *Summary) corrected() []runs.SummaryRow {
	return slices.DeleteFunc(slices.Clone(s.rows), func(r runs.SummaryRow) bool {
		return r.Corrected == nil || r.Slice != "" || hidden(r.Metric)
	})
}

func (s *Summary) systems() []summaryBlock {
	return slices.DeleteFunc(s.whole(), func(b summaryBlock) bool { return b.System == "" })
}

// whole are the blocks that are no slices.
func (s *Summary) whole() []summaryBlock {
	return slices.DeleteFunc(slices.Clone(s.Blocks), func(b summaryBlock) bool { return b.Slice != "" })
}

// firstBlocks are the systems; a run without systems has one block.
func (s *Summary) firstBlocks() []summaryBlock {
	if systems := s.systems(); len(systems) > 0 {
		return systems
	}
	return s.whole()
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

// standingTable has the numbers that matter of each system, the best first.
func (s *Summary) standingTable() []doc.Block {
	lead := s.leading()
	if len(lead) == 0 {
		return []doc.Block{doc.Para{Text: doc.T("no metric is defined in any row")}}
	}
	blocks, since := s.firstBlocks(), ""
	if s.Since != nil {
		since = s.Since.Sides[0].Run
	}
	var systems []standing
	for i := range blocks {
		x := standing{name: blocks[i].name(), of: s, block: &blocks[i], change: s.Since, rank: s.rank(blocks[i].System, lead[0])}
		if s.Failing != nil && x.block.System != "" {
			x.failing = doc.T(s.Failing.BySystem[x.block.System].failing())
		}
		systems = append(systems, x)
	}
	if s.ordered() {
		sortStandings(lead, systems)
	}
	out := standingTable("means with "+levelOf(blocks[0])+" intervals", lead, systems, since)
	if s.Since != nil {
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T("tied: chance may explain the change; =: no answer changed")})
	}
	return out
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
	first := slices.IndexFunc(b.Lines, func(l summaryLine) bool { return l.Count }) // counts come last
	if first < 0 {
		first = len(b.Lines)
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
				{Name: "scored", Number: true, Keep: 1},
				{Name: "could be"},
			}})
		}
		t := out[len(out)-1].(doc.Table)
		part, bounds := l.scored()
		row := []doc.Cell{
			doc.C(l.Metric.Name), doc.C(estimateText(&l.Macro)), doc.C(interval(l.Macro.Low, l.Macro.High)),
			{},
			{},
			doc.C(Thousands(l.Macro.N)),
			{Text: doc.T(Thousands(l.Macro.Undefined)), Notes: l.Notes},
			doc.C(part),
			doc.C(bounds),
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
	return tookTable(names, all)
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
	by = &Summary{Run: s.Run, Took: s.Took, by: field}
	by.Blocks = slices.DeleteFunc(slices.Clone(s.Blocks), func(b summaryBlock) bool { return !has(b.System, b.Slice) })
	by.rows = slices.DeleteFunc(slices.Clone(s.rows), func(r runs.SummaryRow) bool { return !has(r.System, r.Slice) })
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
	only.Blocks = nil
	for _, b := range s.Blocks {
		b.Lines = slices.DeleteFunc(slices.Clone(b.Lines), func(l summaryLine) bool { return !shown[l.Metric.Name] })
		for i := range b.Lines {
			b.Lines[i].Count = false // it was asked for
		}
		only.Blocks = append(only.Blocks, b)
	}
	only.rows = slices.DeleteFunc(slices.Clone(s.rows), func(r runs.SummaryRow) bool { return !wanted[r.Metric] })
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
