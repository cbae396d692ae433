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
	"ibid/report/doc"
)

// A Brief is the first look at a run, for a reader with a minute: the numbers that matter
// of each system, what stands out, the gates, and what to type next. It fits 80 columns.
type Brief struct {
	*Summary
	Dir     string          // of the run, for commands
	Failing *Failing        // its worst row first; nil if nobody asked
	Change  *compare.Result // from an earlier run, its base; nil if there is none to compare with
	Page    string          // file of the page; "" if it is not there
}

// How much a first look shows.
const (
	briefWidth  = 80 // columns
	briefLead   = 8  // numbers of a system
	briefStands = 3  // things that stand out
	briefGates  = 3  // gates that did not pass
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
	return names[:min(len(names), briefLead)]
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

// Write renders the first look as text.
func (f *Brief) Write(w io.Writer, style Style) error {
	blocks := f.Summary.standingTable(f.leading(), f.Change, f.Failing)
	if f.Change != nil {
		blocks = append(blocks, doc.Para{Kind: doc.Small, Text: doc.T("~ chance may explain the change; = no answer changed")})
	}
	blocks = append(blocks, f.standsOut()...)
	blocks = append(blocks, f.gates()...)
	blocks = append(blocks, f.next())
	_, err := io.WriteString(w, doc.FormatText(doc.TextOptions{Style: styleOf(style)}, doc.Section{Title: f.headline(), Blocks: blocks}))
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
	if kind := m.Judge.Kind; kind == "none" {
		text += "; no judge"
	} else if kind != "" {
		text += "; judge: " + judgedBy(strings.ToLower(kind), clipLine(m.Judge.Model, 30))
	}
	return text
}

// standsOut is what stands out of a run, the gravest first: signs that the input is wrong,
// what was not judged, numbers that are corrected, what changed since an earlier run, and why
// rows fail.
func (f *Brief) standsOut() (out []doc.Block) {
	var all []string
	for _, sign := range f.Run.Shown() {
		all = append(all, sign.Sentence())
	}
	if j := &f.Run.Judge; j.Unanswered > 0 {
		all = append(all, fmt.Sprintf("not judged: %s of %s", Thousands(j.Unanswered), Plural(j.Asked, "claim", "claims")))
	}
	if text := f.correctedLine(); text != "" {
		all = append(all, text)
	}
	if f.Change != nil {
		if text := NewComparison(f.Change).headline(); text != "" {
			all = append(all, text)
		}
		for i := range f.Change.Failures {
			if newly := &f.Change.Failures[i].Newly; newly.Rows > 0 {
				all = append(all, fmt.Sprintf("new failures since %s: %s (%s)", clipLine(f.Change.Sides[0].Run, 24), Thousands(newly.Rows), idList(*newly)))
			}
		}
	}
	if f.Failing != nil {
		if text := f.Failing.reasonsLine(briefWidth); text != "" {
			all = append(all, text)
		}
	}
	for i, text := range all[:min(len(all), briefStands)] {
		more := ""
		if left := len(all) - briefStands; left > 0 && i == briefStands-1 {
			more = fmt.Sprintf(" (%d more)", left)
		}
		out = append(out, doc.Para{Text: doc.T(clipLine(text, 2*briefWidth-len(more)) + more)})
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

// gates are how many gates passed, and those that did not.
func (f *Brief) gates() []doc.Block {
	if len(f.Gates) == 0 {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(f.Gates), func(g runs.GateResult) bool { return g.Verdict == runs.Passed })
	tone := doc.Good
	if len(others) > 0 {
		tone = doc.Bad
	}
	out := []doc.Block{doc.Para{Text: doc.Text{{Text: "gates: " + gatesInWords(f.Gates), Tone: tone}}}}
	for _, g := range others[:min(len(others), briefGates)] {
		out = append(out, doc.Para{Text: doc.Text{{Text: fmt.Sprintf("%s  %s: %s", gateWords[g.Verdict].text, g.Gate, gateText(g)), Tone: doc.Bad}}})
	}
	if left := len(others) - briefGates; left > 0 {
		out = append(out, doc.Para{Text: doc.T(fmt.Sprintf("%d more: ibid gate %s", left, f.Dir))})
	}
	return out
}

// next are the commands to type next.
func (f *Brief) next() (next doc.Facts) {
	if f.Failing != nil && len(f.Failing.Rows) > 0 {
		r := &f.Failing.Rows[0]
		next.Add("ibid show "+f.Dir+" "+shellWord(r.name()), "# the worst: "+problemWords[r.Problem].Short)
	}
	if f.Page != "" {
		next.Add(f.Page, "# the page")
	} else {
		next.Add("ibid show "+f.Dir+" --all", "# every metric")
	}
	return next
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
