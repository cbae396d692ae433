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
	by    string   // the field that [Summary.By] grouped by
	asked []string // metrics that [Summary.Only] chose
}

// A summaryBlock is the numbers of one system and slice.
type summaryBlock struct {
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
	s := &Summary{Run: m, Gates: gates, rows: rows}
	defs := slices.Concat(metrics.ByGroup(metrics.Definitions()), metrics.CountDefinitions())
	index := make(map[[4]string]int, len(rows))
	for i, r := range rows {
		index[[4]string{r.System, r.Slice, r.Metric, r.Agg}] = i
	}
	for _, group := range groupsOf(rows) {
		b := summaryBlock{System: group[0], Slice: group[1]}
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
		s.Blocks = append(s.Blocks, b)
	}
	return s
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
	case "markdown":
		_, err := io.WriteString(w, doc.FormatMarkdown(v.section()))
		return err
	}
	_, err := io.WriteString(w, doc.FormatText(o, v.section()))
	return err
}

// paras are paragraphs of a kind.
func paras(kind doc.Kind, texts []string) (out []doc.Block) {
	for _, text := range texts {
		out = append(out, doc.Para{Kind: kind, Text: doc.T(text)})
	}
	return out
}

// filled are the tables that have rows.
func filled(tables ...doc.Table) (out []doc.Block) {
	for _, t := range tables {
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// folded are blocks under a summary, nothing if there are none.
func folded(summary string, blocks []doc.Block) []doc.Block {
	if len(blocks) == 0 {
		return nil
	}
	return []doc.Block{doc.Details{Summary: summary, Blocks: blocks}}
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
	ended := doc.Span{Text: c.Gates, Tone: gateWords[gravest(s.Gates)].Tone}
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
	switch s.by {
	case "":
		out = append(out, s.standingTable("")...)
	case "system":
		out = append(append(out, s.standingTable("")...), s.took()...)
	default:
		out = append(out, s.sliceTables(true)...)
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

// facts are a line each on what is corrected, why answers fail, where quotations stand, and who judged.
func (s *Summary) facts() (facts doc.Facts) {
	facts.Add("corrected", s.correctedLine())
	if s.Failing != nil {
		facts.Add("fails", s.Failing.reasonsLine())
	}
	facts.Add("quotes", quotesLine(s.rows, ""))
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
	all := doc.Details{Summary: "every metric", Open: s.Open}
	add := func(title string, blocks ...doc.Block) {
		all.Blocks = append(append(all.Blocks, doc.Heading{Text: doc.T(title)}), blocks...)
	}
	if len(s.Gates) > 0 {
		add("Gates", gateBlocks("", s.Gates)...)
	}
	if rows := s.corrected(); len(rows) > 0 {
		add("Corrected for the judge's errors", correctionTable("", rows))
	}
	if s.Calibration != nil {
		add(s.Calibration.Title, s.Calibration.blocks("")...)
	}
	all.Blocks = append(all.Blocks, s.everyMetric("", len(s.Blocks))...)
	all.Blocks = append(all.Blocks, folded("by slice", s.sliceTables(false))...)
	return all
}

// everyMetric is all numbers of all answers and of the first systems.
func (s *Summary) everyMetric(prefix string, most int) (out []doc.Block) {
	blocks := s.whole()
	for i := range blocks[:min(len(blocks), most)] {
		out = append(append(out, doc.Heading{Text: doc.T(prefix + blocks[i].name())}), blocks[i].tables(" of "+prefix+blocks[i].name())...)
	}
	return out
}

// next are the commands to type next.
func (s *Summary) next() (next doc.Facts) {
	if s.Dir == "" {
		return nil
	}
	if s.Failing != nil && len(s.Failing.Rows) > 0 {
		r := &s.Failing.Rows[0]
		next.Add("ibid show "+s.Dir+" "+ShellWord(r.name()), "# the worst: "+problemWords[r.Problem].Short)
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
	i := slices.IndexFunc(b.Lines, func(l summaryLine) bool { return l.Metric.Name == metric && !l.Count })
	if i < 0 {
		return nil
	}
	return &b.Lines[i]
}

// name is the system of a block as people read it.
func (b *summaryBlock) name() string { return cmp.Or(b.System, allAnswers) }

// standingTable has the numbers that matter of each system, the best first.
func (s *Summary) standingTable(of string) []doc.Block {
	lead := s.leading()
	if len(lead) == 0 {
		return standingTable("", "", nil, nil, false, 0)
	}
	systems, caption := s.standings("", lead), "means with "+levelOf(s.firstBlocks()[0])+" intervals"+of
	if s.ordered() {
		sortStandings(lead, systems)
	}
	out := standingTable("system", caption, lead, systems, s.Since != nil, mostStandings)
	if s.Since != nil {
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T("tied: chance may explain the change; =: no answer changed")})
	}
	return out
}

// maxSlices is how many slices of a key are shown.
const maxSlices = 200

// sliceTables compare the slices of each key by the metrics that lead: over all systems, and if
// wanted of each system.
func (s *Summary) sliceTables(bySystem bool) (out []doc.Block) {
	lead := s.leading()
	groups := make(map[[2]string][]standing) // by key and system
	var order [][2]string
	for i := range s.Blocks {
		b := &s.Blocks[i]
		key, value, sliced := strings.Cut(b.Slice, "=")
		if !sliced || len(b.Lines) == 0 || !bySystem && b.System != "" && len(s.systems()) != 1 {
			continue
		}
		group := [2]string{key, b.System}
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], standing{name: value, link: sliceLink(key, value), of: s, block: b})
	}
	for _, group := range order {
		caption, list := "by "+group[0], groups[group]
		if bySystem {
			caption += ", " + cmp.Or(group[1], allAnswers)
		}
		list = list[:min(len(list), maxSlices)]
		out = append(out, standingTable(group[0], caption, lead, list, false, maxSlices)...)
		if len(list) == maxSlices {
			out = append(out, doc.Para{Text: doc.T(fmt.Sprintf("The first %d: ibid show --by %s --format csv has all.", maxSlices, group[0]))})
		}
	}
	return out
}

func sliceLink(key, value string) string {
	switch key {
	case "system", "provider", "model":
	case "source_type":
		key = "type"
	case runs.SourceStatusSlice:
		key = "state"
	default:
		return rowsLink("tag:" + clip(key, 60) + "=" + clip(value, 60))
	}
	return rowsLink(key + ":" + clip(value, 80))
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
	return append(out, folded("counts"+of, groupTables(b.Lines[first:], level, of))...)
}

// groupTables are metrics, a table for each group.
func groupTables(lines []summaryLine, level, of string) []doc.Block {
	var tables []doc.Table
	group := ""
	for _, l := range lines {
		if l.Metric.Group != group {
			group = l.Metric.Group
			caption := group + of
			if about := metrics.AboutGroup(group); about != "" {
				caption += ": " + about
			}
			tables = append(tables, doc.Table{Caption: caption})
		}
		micro, microEnds := doc.Cell{}, doc.Cell{}
		if l.HasMicro {
			micro, microEnds = doc.C(estimateText(&l.Micro)), doc.C(interval(l.Micro.Low, l.Micro.High))
		}
		part, bounds := l.scored()
		t := &tables[len(tables)-1]
		t.Row()
		t.Add(doc.Column{Name: "metric"}, doc.C(l.Metric.Name))
		t.Add(doc.Column{Name: "macro", Number: true}, doc.C(estimateText(&l.Macro)))
		t.Add(doc.Column{Name: level, Number: true}, doc.C(interval(l.Macro.Low, l.Macro.High)))
		t.Add(doc.Column{Name: "micro", Number: true, Keep: 1}, micro)
		t.Add(doc.Column{Name: level, Number: true, Keep: 2}, microEnds)
		t.Add(doc.Column{Name: "n", Number: true}, doc.C(Thousands(l.Macro.N)))
		t.Add(doc.Column{Name: "undefined", Number: true}, doc.Cell{Text: doc.T(Thousands(l.Macro.Undefined)), Notes: l.Notes})
		t.Add(doc.Column{Name: "scored", Number: true, Keep: 1}, doc.C(part))
		t.Add(doc.Column{Name: "could be"}, doc.C(bounds))
	}
	return filled(tables...)
}

// took is what the answers of the systems took.
func (s *Summary) took() []doc.Block {
	var names []string
	var all []compare.Took
	for _, b := range s.firstBlocks() {
		names, all = append(names, b.name()), append(all, s.Took[b.System])
	}
	return tookTable(names, all)
}

// By narrows the summary to the numbers of a field, one of [runs.SummaryFields]; ok
// is false for any other.
func (s *Summary) By(field string) (by *Summary, ok bool) {
	has := func(system, slice string) bool { return strings.HasPrefix(slice, field+"=") }
	if field == "system" {
		has = func(system, slice string) bool { return system != "" && slice == "" }
	}
	by = NewSummary(s.Run, slices.DeleteFunc(slices.Clone(s.rows), func(r runs.SummaryRow) bool { return !has(r.System, r.Slice) }), nil)
	by.Took, by.by = s.Took, field
	return by, len(by.rows) > 0
}

// Only narrows the summary to some metrics, by name or alias.
func (s *Summary) Only(names []string) *Summary {
	wanted := make(map[string]bool)
	only := *s
	for _, name := range names {
		if d, ok := metrics.Lookup(name); ok && !wanted[d.Name] {
			wanted[d.Name], only.asked = true, append(only.asked, shownMetric(d.Name))
		}
	}
	only.Blocks = nil
	for _, b := range s.Blocks {
		b.Lines = slices.DeleteFunc(slices.Clone(b.Lines), func(l summaryLine) bool { return !slices.Contains(only.asked, l.Metric.Name) })
		for i := range b.Lines {
			b.Lines[i].Count = false // it was asked for
		}
		only.Blocks = append(only.Blocks, b)
	}
	only.rows = slices.DeleteFunc(slices.Clone(s.rows), func(r runs.SummaryRow) bool { return !wanted[r.Metric] })
	return &only
}
