package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A Brief is the first look at a run, for a reader with a minute: the numbers that matter
// of each system, what stands out, the gates, and what to type next. It fits 80 columns.
type Brief struct {
	*Summary
	Dir     string          // of the run, for commands
	Failing *Failing        // its worst row first; nil if the run does not say which rows fail
	Change  *compare.Result // from an earlier run, its base; nil if there is none to compare with
	Page    string          // file of the page; "" if it is not there
}

// How much a first look shows.
const (
	briefWidth   = 80 // columns
	briefBlocks  = 3  // systems that have a block of numbers; of more, each has a line
	briefSystems = 20 // systems that are listed
	briefLines   = 4  // of numbers in a block
	briefStands  = 3  // things that stand out
	briefGates   = 3  // gates that did not pass
)

// shortNames are the names of metrics where there is little room: aliases, so that they
// can be typed.
var shortNames = map[string]string{
	"overall_citation_accuracy": "overall",
	"citation_correctness":      "correctness",
	"supported_completeness":    "completeness",
	"hallucination_rate":        "hallucination",
	"span_accuracy_score":       "span_accuracy",
	"mean_consistency":          "consistency",
	"mean_snapped_jaccard":      "span_overlap",
}

func shortName(metric string) string { return cmp.Or(shortNames[metric], metric) }

// Leading are the metrics that a first look shows: those that lead, and those that gates
// name. It is what the change from an earlier run is asked of.
func (s *Summary) Leading() []compare.Quantity {
	var all []compare.Quantity
	for _, name := range s.leading() {
		if d, ok := metrics.Lookup(name); ok {
			all = append(all, compare.Quantity{Metric: d})
		}
	}
	return all
}

func (s *Summary) leading() []string {
	blocks := s.firstBlocks()
	names := leadOf(func(name string) bool {
		return slices.ContainsFunc(blocks, func(b summaryBlock) bool { return b.line(name) != nil })
	})
	for _, g := range s.Gates {
		d, ok := metrics.Lookup(metricOf(g.Gate))
		name := shownMetric(d.Name)
		known := slices.ContainsFunc(blocks, func(b summaryBlock) bool { return b.line(name) != nil })
		if ok && known && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names[:min(len(names), 2*briefLines)]
}

func metricOf(gate string) string {
	words := strings.FieldsFunc(gate, func(r rune) bool { return !isNameRune(r) })
	for _, w := range words {
		if _, ok := metrics.Lookup(w); ok {
			return w
		}
	}
	return ""
}

func isNameRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
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

// Write renders the first look as text.
func (f *Brief) Write(w io.Writer, style Style) error {
	style = styleOf(style)
	var b strings.Builder
	fmt.Fprintln(&b, style.Bold(f.headline()))
	blocks, names := f.firstBlocks(), f.leading()
	var shown shownMarks
	if len(blocks) > briefBlocks {
		f.writeLines(&b, blocks, names, &shown, style)
	} else {
		for i := range blocks {
			b.WriteString("\n")
			f.writeBlock(&b, &blocks[i], names, &shown, style)
		}
	}
	if legend := f.legend(shown); legend != "" && len(names) > 0 {
		fmt.Fprintln(&b, style.Dim(legend))
	}
	f.writeStanding(&b, blocks, names)
	f.writeGates(&b, style)
	f.writeNext(&b, style)
	_, err := io.WriteString(w, b.String())
	return err
}

// headline is the run in one line.
func (f *Brief) headline() string {
	m := f.Run
	text := fmt.Sprintf("run %s: %s", clipLine(m.ID, 24), Plural(m.Rows, "row", "rows"))
	if f.Failing != nil {
		text += fmt.Sprintf(", %s %s", Thousands(f.Failing.Failing), oneOrMany(f.Failing.Failing, "fails", "fail"))
	}
	if m.Errors > 0 {
		text += fmt.Sprintf(", %s not scored", Thousands(m.Errors))
	}
	switch m.Judge.Kind {
	case "":
	case "none":
		text += "; no judge"
	default:
		if m.Judge.Baseline {
			text += "; judge: wording (" + m.Judge.Kind + ")"
		} else if m.Judge.Kind == "human" {
			text += "; judge: labels of people (" + clipLine(m.Judge.Model, 30) + ")"
		} else {
			text += "; judge: " + clipLine(cmp.Or(m.Judge.Model, m.Judge.Kind), 30)
		}
	}
	return text
}

// shownMarks are the marks of numbers that are shown: ~ and = of changes, ! of what a sign
// of wrong input is about.
type shownMarks struct{ undecided, none, signed bool }

// writeBlock writes the numbers of a system, two in a line.
func (f *Brief) writeBlock(b *strings.Builder, block *summaryBlock, names []string, shown *shownMarks, style Style) {
	head := "all answers"
	if block.System != "" {
		head = clipLine(block.System, 40)
	}
	if f.Failing != nil && block.System != "" {
		if n := f.Failing.BySystem[block.System]; n > 0 {
			head += fmt.Sprintf(": %s %s", Thousands(n), oneOrMany(n, "fails", "fail"))
		}
	}
	fmt.Fprintln(b, style.Bold(head))
	var cells [][2]string
	var wide [2]int // of the names in the two columns
	for _, name := range names {
		l := block.line(name)
		if l == nil {
			continue
		}
		at := len(cells) % 2
		cells = append(cells, [2]string{shortName(name), f.value(block.System, l, shown)})
		wide[at] = max(wide[at], len(shortName(name)))
	}
	if len(cells) == 0 {
		fmt.Fprintln(b, "no metric is defined in any row")
	}
	text := func(i int) string { return pad(cells[i][0], wide[i%2]) + " " + cells[i][1] }
	left, right := 0, 0
	for i := range cells {
		if n := utf8.RuneCountInString(text(i)); i%2 == 0 {
			left = max(left, n)
		} else {
			right = max(right, n)
		}
	}
	columns, gap := 2, min(3, briefWidth-left-right)
	if gap < 1 { // names as long as these are rare
		columns = 1
	}
	for i := 0; i < min(len(cells), columns*briefLines); i += columns {
		row := text(i)
		if columns == 2 && i+1 < len(cells) {
			row = pad(row, left+gap) + text(i+1)
		}
		fmt.Fprintln(b, row)
	}
}

// value is a number with its interval and its change.
func (f *Brief) value(system string, l *summaryLine, shown *shownMarks) string {
	text := estimateText(&l.Macro) + " " + cmp.Or(l.Macro.Reason, ends(l.Macro.Low, l.Macro.High))
	if f.signed(system, l.Metric.Name) {
		shown.signed = true
		text += "!"
	}
	switch d := f.change(system, l.Metric.Name); {
	case d == nil || d.Diff == nil:
	case d.Higher+d.Lower == 0:
		shown.none = true
		text += " ="
	case d.Outcome == compare.Undecided:
		shown.undecided = true
		text += " " + signed(d.Diff) + "~"
	default:
		text += " " + signed(d.Diff)
	}
	return text
}

// signed reports whether a sign of wrong input is about a number of a system.
func (f *Brief) signed(system, metric string) bool {
	return slices.ContainsFunc(f.Run.Signs, func(s runs.Sign) bool { return s.Counts(system, metric) })
}

// ends are those of an interval, as short as they can be.
func ends(low, high *float64) string {
	switch {
	case low == nil || high == nil:
		return "no interval"
	case *low < 0:
		return interval(low, high)
	}
	return number(*low) + "–" + number(*high)
}

// change is how a number of a system changed, nil if that is not known.
func (f *Brief) change(system, metric string) *compare.Difference {
	return changeOf(f.Change, "", system, metric)
}

// changeOf is how a number of a system changed in a run, "" for any; nil if that is not
// known.
func changeOf(r *compare.Result, run, system, metric string) *compare.Difference {
	if r == nil {
		return nil
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		only := p.System == "" && len(r.Pairs) == 1
		if !p.Paired || run != "" && r.Sides[p.New].Run != run || p.System != system && !only {
			continue
		}
		for k := range p.Differences {
			if d := &p.Differences[k]; d.Metric == metric && d.Slice == "" && d.Agg == runs.Macro {
				return d
			}
		}
	}
	return nil
}

// writeLines writes a line for each system, the best first: the first number in full, the
// others as far as there is room.
func (f *Brief) writeLines(b *strings.Builder, blocks []summaryBlock, names []string, shown *shownMarks, style Style) {
	if len(names) == 0 {
		return
	}
	d, _ := metrics.Lookup(names[0])
	rank := func(block *summaryBlock) float64 { // the least is the best
		l := block.line(names[0])
		if l == nil || l.Macro.Estimate == nil {
			return 2
		}
		if d.Direction == metrics.LowerIsBetter {
			return *l.Macro.Estimate
		}
		return -*l.Macro.Estimate
	}
	blocks = slices.Clone(blocks)
	slices.SortStableFunc(blocks, func(x, y summaryBlock) int { return cmp.Compare(rank(&x), rank(&y)) })
	all := len(blocks)
	blocks = blocks[:min(all, briefSystems)]
	t := &table{header: []string{"system", "fail", shortName(names[0])}, right: 1}
	for i := range blocks {
		row := []string{clipLine(blocks[i].System, 20), "", "–"}
		if f.Failing != nil {
			row[1] = Thousands(f.Failing.BySystem[blocks[i].System])
		}
		if l := blocks[i].line(names[0]); l != nil {
			row[2] = f.value(blocks[i].System, l, shown)
		}
		t.rows = append(t.rows, row)
	}
	for _, name := range names[1:] {
		if t.width()+2+max(5, len(shortName(name))) > briefWidth {
			break
		}
		t.header = append(t.header, shortName(name))
		for i := range blocks {
			cell := "–"
			if l := blocks[i].line(name); l != nil {
				cell = estimateText(&l.Macro)
				if f.signed(blocks[i].System, name) {
					cell, shown.signed = cell+"!", true
				}
			}
			t.rows[i] = append(t.rows[i], cell)
		}
	}
	b.WriteString("\n")
	t.write(b, style)
	if all > len(blocks) {
		fmt.Fprintf(b, "%s more with --all\n", Plural(int64(all-len(blocks)), "system", "systems"))
	}
}

// width is how wide a table is as text.
func (t *table) width() int {
	wide := -2
	for c := range t.header {
		column := utf8.RuneCountInString(t.header[c])
		for _, row := range t.rows {
			column = max(column, utf8.RuneCountInString(row[c]))
		}
		wide += column + 2
	}
	return wide
}

// legend says what stands beside the numbers.
func (f *Brief) legend(shown shownMarks) string {
	var parts []string
	if blocks := f.firstBlocks(); len(blocks) > 0 && len(blocks[0].Lines) > 0 {
		parts = append(parts, "means, "+levelOf(blocks[0])+" intervals")
	}
	if f.Change != nil {
		parts = append(parts, "change since "+clipLine(f.Change.Sides[0].Run, 18))
	}
	if shown.undecided {
		parts = append(parts, "~ may be chance")
	}
	if shown.none {
		parts = append(parts, "= none")
	}
	if shown.signed {
		parts = append(parts, "! see signs")
	}
	return strings.Join(parts, "; ")
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// writeStanding writes what stands out, the gravest first.
func (f *Brief) writeStanding(b *strings.Builder, blocks []summaryBlock, names []string) {
	all := f.standing(blocks, names)
	if len(all) == 0 {
		return
	}
	b.WriteString("\n")
	for i, text := range all[:min(len(all), briefStands)] {
		more := ""
		if left := len(all) - briefStands; left > 0 && i == briefStands-1 {
			more = fmt.Sprintf(" (%d more)", left)
		}
		fmt.Fprintln(b, clipLine(text, briefWidth-len(more))+more)
	}
}

// standing is what stands out of a run: signs that the input is wrong, what was not
// judged, what got worse or better, systems that are apart from all others, and why rows
// fail.
func (f *Brief) standing(blocks []summaryBlock, names []string) []string {
	var out []string
	for _, sign := range f.Run.Shown() {
		out = append(out, sign.Sentence())
	}
	if j := &f.Run.Judge; j.Unanswered > 0 {
		out = append(out, fmt.Sprintf("not judged: %s of %s", Thousands(j.Unanswered), Plural(j.Asked, "claim", "claims")))
	}
	for i := range blocks {
		out = append(out, withheld(&blocks[i], names)...)
		out = append(out, f.moved(&blocks[i], names)...)
	}
	if text := f.correctedLine(); text != "" {
		out = append(out, text)
	}
	if f.Change != nil {
		for i := range f.Change.Failures {
			if newly := &f.Change.Failures[i].Newly; newly.Rows > 0 {
				out = append(out, fmt.Sprintf("new failures since %s: %s (%s)", clipLine(f.Change.Sides[0].Run, 24), Thousands(newly.Rows), idList(*newly)))
			}
		}
	}
	if text := apart(blocks, names); text != "" {
		out = append(out, text)
	}
	if f.Failing != nil {
		if text := f.Failing.reasonsLine(briefWidth); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// correctedLine is the first number that people's labels correct, "" if there is none.
func (f *Brief) correctedLine() string {
	all := f.corrected()
	if len(all) == 0 {
		return ""
	}
	r, of := &all[0], ""
	if r.System != "" {
		of = " of " + clipLine(r.System, 20)
	}
	return fmt.Sprintf("corrected for the judge's errors: %s%s %s %s; more: --all", shortName(r.Metric), of, numberOrDash(r.Corrected), interval(r.CorrectedLow, r.CorrectedHigh))
}

// withheld says why the first number that is withheld is not there.
func withheld(block *summaryBlock, names []string) []string {
	for _, name := range names {
		l := block.line(name)
		if l == nil || l.Macro.Reason == "" {
			continue
		}
		text := shortName(name) + ": " + runs.WithheldText(l.Macro.Reason, l.Macro.BoundLow, l.Macro.BoundHigh)
		if block.System != "" {
			text = clipLine(block.System, 20) + ", " + text
		}
		return []string{text}
	}
	return nil
}

// moved says which number of a system changed the most, of those that changed surely.
func (f *Brief) moved(block *summaryBlock, names []string) []string {
	var most *compare.Difference
	for _, name := range names {
		d := f.change(block.System, name)
		sure := d != nil && d.Diff != nil && (d.Outcome == compare.Better || d.Outcome == compare.Worse)
		if sure && (most == nil || d.Outcome == compare.Worse && most.Outcome == compare.Better) {
			most = d
		}
	}
	if most == nil {
		return nil
	}
	text := fmt.Sprintf("%s by %s: %s since %s, %s", most.Outcome, shortName(most.Metric), signed(most.Diff), clipLine(f.Change.Sides[0].Run, 24), pValue(most))
	if block.System != "" {
		text = clipLine(block.System, 20) + " is " + text
	}
	return []string{text}
}

// apart names the system that is behind all others by the first number: its interval
// lies below all of theirs.
func apart(blocks []summaryBlock, names []string) string {
	if len(blocks) < 2 || len(names) == 0 {
		return ""
	}
	d, _ := metrics.Lookup(names[0])
	// near and far are the ends of an interval, turned so that more is better.
	near := func(l *summaryLine) float64 { return *l.Macro.Low }
	far := func(l *summaryLine) float64 { return *l.Macro.High }
	if d.Direction == metrics.LowerIsBetter {
		near, far = func(l *summaryLine) float64 { return -*l.Macro.High }, func(l *summaryLine) float64 { return -*l.Macro.Low }
	}
	var last *summaryLine // whose interval ends first
	system := ""
	var lines []*summaryLine
	for i := range blocks {
		l := blocks[i].line(names[0])
		if l == nil || l.Macro.Low == nil {
			continue
		}
		lines = append(lines, l)
		if last == nil || far(l) < far(last) {
			last, system = l, blocks[i].System
		}
	}
	if last == nil || slices.ContainsFunc(lines, func(l *summaryLine) bool { return l != last && near(l) <= far(last) }) {
		return ""
	}
	return fmt.Sprintf("%s is behind all others: %s %s %s", clipLine(system, 20), shortName(names[0]), numberOrDash(last.Macro.Estimate), ends(last.Macro.Low, last.Macro.High))
}

// writeGates writes how many gates passed, and those that did not.
func (f *Brief) writeGates(b *strings.Builder, style Style) {
	if len(f.Gates) == 0 {
		return
	}
	others := slices.DeleteFunc(slices.Clone(f.Gates), func(g runs.GateResult) bool { return g.Verdict == runs.Passed })
	text := fmt.Sprintf("gates: %d of %d passed", len(f.Gates)-len(others), len(f.Gates))
	if len(others) == 0 {
		text = style.Green(text)
	} else {
		text = style.Red(text)
	}
	fmt.Fprintf(b, "\n%s\n", text)
	for _, g := range others[:min(len(others), briefGates)] {
		fmt.Fprintln(b, style.Red(CleanLine(fmt.Sprintf("%s  %s: %s", gateWords[g.Verdict].text, g.Gate, gateText(g)))))
	}
	if left := len(others) - briefGates; left > 0 {
		fmt.Fprintf(b, "%d more: ibid gate %s\n", left, f.Dir)
	}
}

func (f *Brief) writeNext(b *strings.Builder, style Style) {
	var next [][2]string
	if f.Failing != nil && len(f.Failing.Rows) > 0 {
		r := &f.Failing.Rows[0]
		next = append(next, [2]string{"ibid show " + f.Dir + " " + shellWord(r.name()), "the worst: " + r.because()})
	}
	if f.Page != "" {
		next = append(next, [2]string{f.Page, "the page"})
	} else {
		next = append(next, [2]string{"ibid show " + f.Dir + " --all", "every metric"})
	}
	b.WriteString("\n")
	wide := 0
	for _, n := range next {
		wide = max(wide, utf8.RuneCountInString(n[0]))
	}
	for _, n := range next {
		fmt.Fprintf(b, "%s  %s\n", pad(n[0], wide), style.Dim("# "+n[1]))
	}
}

func (r *FailingRow) name() string { return r.ID + "/" + r.System }

// shellWord quotes a word for a POSIX shell where that is needed.
func shellWord(word string) string {
	plain := func(r rune) bool { return isNameRune(r) || strings.ContainsRune("./:=,@%+-", r) }
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(CleanLine(word), "'", `'\''`) + "'"
}

// clipLine is a user's text on one line, cut to a width.
func clipLine(text string, width int) string {
	text = CleanLine(text)
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}
