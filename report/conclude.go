package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// A Conclusion is what came of a run, a sentence for each question. The terminal, the page,
// Markdown and JSON print these sentences, and nothing else says who is best or what fails.
type Conclusion struct {
	Systems string `json:"systems,omitempty"` // who is best, or how runs differ; "" if nothing was compared
	Since   string `json:"since,omitempty"`   // what changed since an earlier run; "" if there is none
	Answers string `json:"answers"`           // how many answers fail, and how many nobody can tell of
	Gates   string `json:"gates,omitempty"`   // how the gates ended; "" without gates
}

// title is the sentence for a reader of one sentence.
func (c *Conclusion) title() string { return cmp.Or(c.Systems, c.Answers) }

// Compared is what the numbers of runs are held against.
type Compared struct {
	Comparison  *compare.Result // of the runs, or of the systems of the one run; nil if there is none
	Since       *compare.Result // the change of the numbers that lead, system by system: of one run since an earlier one, of several since the first; nil if there is none
	NotCompared string          // why there is no comparison, where somebody may expect one
	NotSince    string          // why no change is known since the run that this one is compared with: a sentence
	FirstSeen   string          // since when it has been worse, such as "first seen tonight"; "" if it is not
	BetterSince string          // since when it has been better, and how to accept it: a sentence
	Gone        []string        // metrics that an earlier run has values of, and this one for no row: a sentence for each
}

// conclude makes the conclusion of one run, or of several that stand side by side.
func (c *Compared) conclude(n answerCount, gates []runs.GateResult) Conclusion {
	out := Conclusion{Answers: n.sentence()}
	if len(gates) > 0 {
		out.Gates = "Gates: " + gatesInWords(gates) + "."
	}
	if r := c.Comparison; r != nil && !(n.unknown() && needsVerdicts(r)) {
		out.Systems = NewComparison(r).headline()
	}
	if r := c.Since; r != nil {
		parts := []string{strings.TrimSuffix(NewComparison(r).headline(), ".")}
		if c.FirstSeen != "" {
			parts = append(parts, c.FirstSeen)
		}
		var newly, fixed int64
		for i := range r.Failures {
			newly += r.Failures[i].Newly.Rows
			fixed += r.Failures[i].Fixed.Rows
		}
		if newly > 0 {
			text := fmt.Sprintf("%s newly %s", Plural(newly, "answer", "answers"), oneOrMany(newly, "fails", "fail"))
			if fixed > 0 {
				text += fmt.Sprintf(", %s no longer %s", Thousands(fixed), oneOrMany(fixed, "does", "do"))
			}
			parts = append(parts, text)
		}
		out.Since = strings.Join(parts, "; ") + "."
	}
	out.Since = strings.Join(slices.DeleteFunc(append(slices.Clone(c.Gone), out.Since, c.NotSince, c.BetterSince), func(s string) bool { return s == "" }), " ")
	return out
}

// Gone are sentences about the metric that leads in an earlier run, and those that gates are
// about: each that has values there and for no row of this run, with the commonest reason.
func (s *Summary) Gone(before *Summary) (out []string) {
	gates := before.gateMetrics()
	for k, name := range before.leading() {
		if k > 0 && !slices.Contains(gates, name) {
			continue
		}
		for i := range s.rows {
			r := &s.rows[i]
			if r.System != "" || r.Slice != "" || r.Metric != name || r.Agg != runs.Macro || r.N > 0 || len(r.Reasons) == 0 {
				continue
			}
			why := slices.MaxFunc(sortedKeys(r.Reasons), func(a, b string) int { return cmp.Compare(r.Reasons[a], r.Reasons[b]) })
			out = append(out, fmt.Sprintf("%s is gone: %s (%s).", shortName(name), why, Plural(r.Reasons[why], "row", "rows")))
		}
	}
	return out
}

// needsVerdicts reports whether the first metric that decides rests on what claims say. Where
// nothing is known of any, who is best by it is of no meaning.
func needsVerdicts(r *compare.Result) bool {
	if len(r.Metrics) == 0 || !r.Metrics[0].Deciding {
		return false
	}
	d, _ := metrics.Lookup(r.Metrics[0].Metric)
	return d.Judged || d.Name == failingMetric
}

// ordered reports whether systems can be put in order: they answered questions in common, or
// nobody knows.
func (c *Compared) ordered() bool {
	return c.Comparison == nil || slices.ContainsFunc(c.Comparison.Metrics, func(m compare.Metric) bool { return m.Questions > 0 })
}

// rank is the rank of a system by a metric, such as 1–2; "" if it has none.
func (c *Compared) rank(system, metric string) string {
	if c.Comparison == nil || c.Comparison.By != "system" || len(c.Comparison.Metrics) == 0 || c.Comparison.Metrics[0].Metric != metric {
		return ""
	}
	return NewComparison(c.Comparison).rankOf(system)
}

// An answerCount counts answers by what became of them.
type answerCount struct {
	rows, fails, errors int64
	open                [4]int64 // of those that do not fail: undecided, not judged, not checked, abstained
}

// answers counts the answers of some systems by their states.
func (c counts) answers(of func(system int) bool) (n answerCount) {
	for state, bySystem := range c {
		open := slices.IndexFunc(answerWords, func(w word) bool { return w.Code == state })
		for k, rows := range bySystem {
			if !of(k) {
				continue
			}
			n.rows += rows
			switch {
			case open < 0:
				n.fails += rows
			case open < len(n.open):
				n.open[open] += rows
			}
			if state == metrics.ProblemError.String() {
				n.errors += rows
			}
		}
	}
	return n
}

// checked are the answers that could fail: what could not be checked is in no denominator.
func (n answerCount) checked() int64 { return n.rows - n.open[2] }

// failing is how many answers fail, of those that could: 2/24.
func (n answerCount) failing() string { return Thousands(n.fails) + "/" + Thousands(n.checked()) }

// unknown reports whether there is no answer of which anything is known.
func (n answerCount) unknown() bool {
	return n.rows > 0 && n.fails == 0 && n.open[0]+n.open[1]+n.open[2] == n.rows
}

// sentence is what became of the answers, what fails first; what is 0 is left out.
func (n answerCount) sentence() string {
	text := fmt.Sprintf("%s of %s %s", Thousands(n.fails), Plural(n.checked(), "answer", "answers"), oneOrMany(n.fails, "fails", "fail"))
	switch {
	case n.rows == 0:
		return "There are no answers."
	case n.rows == 1 && n.fails == 1:
		return "1 answer fails."
	case n.rows == 1 && n.open == [4]int64{}:
		return "1 answer passes."
	case n.rows == 1:
		text = "1 answer does not fail"
	case n.unknown() && n.open[2] == n.rows:
		return fmt.Sprintf("Nothing could be checked: what the %s answers cite, or the text of it, is not known.", Thousands(n.rows))
	case n.unknown():
		text = fmt.Sprintf("Nothing is decided of %s answers", Thousands(n.rows))
	case n.fails == 0 && n.open == [4]int64{}:
		return fmt.Sprintf("None of %s answers fails.", Thousands(n.rows))
	}
	if n.errors > 0 {
		text += fmt.Sprintf(", %s not scored", Thousands(n.errors))
	}
	separator := ", "
	if n.rows > 1 && n.unknown() {
		separator = ": "
	}
	for i, m := range n.open {
		if m > 0 {
			text, separator = text+separator+Thousands(m)+" "+answerWords[i].Short, ", "
		}
	}
	return text + "."
}

func oneOrMany(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// headline is what came of the comparison in a sentence, by the first metric that decides; the
// terminal, the page and JSON have it. It has differences alone: the level of a side depends
// on whose questions it is over.
func (c *Comparison) headline() string {
	var deciding []*compare.Metric
	for i := range c.Metrics {
		if m := &c.Metrics[i]; m.Deciding && m.Reason == "" && (len(deciding) == 0 || m.Metric == deciding[0].Metric && m.Agg == deciding[0].Agg) {
			deciding = append(deciding, m)
		}
	}
	since := "Against " + c.Base
	if c.By == "run" && len(c.Sides) == 2 {
		since = "Since " + c.Base
	}
	if above := c.aboveAll(); above != "" {
		return above
	}
	apart := slices.ContainsFunc(c.Metrics, func(m compare.Metric) bool { return m.Reason == compare.NotPaired })
	switch text := ""; {
	case apart && c.Base == "":
		return "The systems answered different questions: compare their numbers with care."
	case apart:
		return since + ": no question in common, so there is nothing to compare."
	case len(deciding) == 0 || c.Base == "" && len(deciding[0].Leaders) == 0 && len(deciding[0].Differences) == 0:
		text = "not comparable"
		if why := c.notComparable(); why != "" {
			text += " (" + why + ")"
		}
		if c.Base == "" {
			return "The systems are " + text + "."
		}
		return since + ": " + text + "."
	case c.Base == "":
		return c.ranked(deciding[0]) + c.rangeNote() + "."
	default:
		return since + ": " + c.changes(deciding) + c.rangeNote() + "."
	}
}

// notComparable is why no metric decides.
func (c *Comparison) notComparable() string {
	for _, m := range c.Metrics {
		for _, v := range m.Sides {
			if why := cmp.Or(m.Reason, v.Reason); why != "" {
				return why
			}
		}
	}
	return ""
}

// overallRange is the overall score where it is a range for some side; nil if it is not.
func (c *Comparison) overallRange() *compare.Metric {
	for i := range c.Metrics {
		m := &c.Metrics[i]
		if m.Metric == leadCandidates[0] && m.Slice == "" && slices.ContainsFunc(m.Sides, func(v compare.Value) bool { return v.Low != nil }) {
			return m
		}
	}
	return nil
}

func (c *Comparison) rangeNote() string {
	if m := c.overallRange(); m != nil {
		return " (" + shortName(m.Metric) + " is a range)"
	}
	return ""
}

// aboveAll says which side of a run is better than the others whatever the undecided claims are;
// "" if none is.
func (c *Comparison) aboveAll() string {
	m := c.overallRange()
	if m == nil || c.By == "run" || c.Base != "" {
		return ""
	}
	for i := range m.Sides {
		best, above := &m.Sides[i], true
		var others []string
		for k := range m.Sides {
			if v := &m.Sides[k]; k != i {
				above = above && best.CILow != nil && v.CIHigh != nil && *best.CILow > *v.CIHigh
				others = append(others, v.Name)
			}
		}
		if above {
			return fmt.Sprintf("%s is better than %s on %s, whatever the undecided claims are.", best.Name, fewNames(others), shortName(m.Metric))
		}
	}
	return ""
}

// namedAnswers is how many sides the headline names.
const namedAnswers = 3

// fewNames lists some of them.
func fewNames(names []string) string {
	if n := len(names) - namedAnswers; n > 0 {
		return fmt.Sprintf("%s and %s", strings.Join(names[:namedAnswers], ", "), Plural(int64(n), "other", "others"))
	}
	return list(names)
}

// changes is how sides differ from the base, what got worse first.
func (c *Comparison) changes(deciding []*compare.Metric) string {
	var worse, better []string
	why := ""
	for _, m := range deciding {
		for i := range m.Differences {
			d := &m.Differences[i]
			name := cmp.Or(m.System, d.New)
			if m.System != "" && len(c.Sides) > 2 {
				name += " in " + d.New
			}
			switch text := name + " " + differs(m, d); d.Word {
			case compare.Worse:
				worse = append(worse, text)
			case compare.Better, compare.Different:
				better = append(better, text)
			default:
				why = cmp.Or(why, d.Reason)
				if d.Diff != nil && d.Low == nil && d.Word == "" {
					why = "too few questions to tell"
				}
			}
		}
	}
	if all := append(worse, better...); len(all) > 0 {
		return fewNames(all)
	}
	if why != "" {
		return why
	}
	return "no difference found"
}

// differs is how much a side is better or worse, and how sure that is.
func differs(m *compare.Metric, d *compare.Difference) string {
	if d.Diff == nil {
		return ""
	}
	word := "differs"
	if d.Word == compare.Better || d.Word == compare.Worse {
		word = "is " + string(d.Word)
	}
	text := fmt.Sprintf("%s on %s by %s", word, shortQuantity(m), number(math.Abs(*d.Diff)))
	if p := pValue(d); p != "" {
		text += " (p " + strings.Replace(p, "<", "< ", 1) + ")"
	}
	return text
}

// ranked is who is best of several.
func (c *Comparison) ranked(m *compare.Metric) string {
	best := m.Leaders
	text := "Nobody is best on " + shortQuantity(m)
	switch len(best) {
	case 0:
	case 1:
		text = best[0] + " is best on " + shortQuantity(m)
	default:
		text = fewNames(best) + " are tied for best on " + shortQuantity(m)
	}
	lowest := 0 // place that some side may have
	for _, s := range c.Sides {
		if s.Rank != nil {
			lowest = max(lowest, s.Rank[1])
		}
	}
	for _, s := range c.Sides {
		if s.Rank != nil && s.Rank[0] > 2 && s.Rank[0] == lowest {
			text += "; " + s.Name + " is last"
		}
	}
	return text
}

// changesSection lists the answers that fail newly, no longer and still.
func changesSection(data *pageData) *doc.Section {
	r := data.options.Since
	if r == nil || len(r.Failures) == 0 {
		return nil
	}
	links := make(map[[2]string]string)
	for _, x := range data.answers {
		if x.place >= 0 {
			links[[2]string{data.results[x.run].run.Manifest.ID, x.id + "/" + x.name}] = "#row=" + data.key(x)
		}
	}
	blocks := failureLists(r, func(run, name string) string { return links[[2]string{run, name}] })
	if !data.several() { // the list of answers does not know what changed
		for _, b := range blocks {
			b.(doc.Para).Text[0].Link = ""
		}
	}
	return docSection("changes", "Changes", blocks)
}

// namedFailures is how many rows are named that fail anew or were fixed.
const namedFailures = 10

// failureLists are the rows that fail in one run and not in another. Link finds a row of a
// run on the page, "" where there is none; nil links nothing.
func failureLists(r *compare.Result, link func(run, name string) string) []doc.Block {
	var out []doc.Block
	for i := range r.Failures {
		f := &r.Failures[i]
		of := ""
		if len(r.Failures) > 1 {
			of = f.New + ": "
		}
		side := slices.IndexFunc(r.Sides, func(s compare.Side) bool { return s.Name == f.New })
		for _, list := range []struct {
			what, code string
			rows       compare.Named
			n          int // that are named
		}{{"new failures", "new", f.Newly, namedFailures}, {"fixed", "fixed", f.Fixed, namedFailures}, {"still failing", "still", f.Still, namedIDs}} {
			head := doc.Span{Text: fmt.Sprintf("%s%s: %s", of, list.what, Thousands(list.rows.Rows))}
			if link != nil && list.rows.Rows > 0 {
				head.Link = rowsLink("since:" + list.code)
			}
			text, before, after := doc.Text{head}, " (", ")"
			named := list.rows.IDs[:min(len(list.rows.IDs), list.n)]
			for _, id := range named {
				span := doc.Span{Text: id}
				if link != nil {
					span.Link = link(r.Sides[side].Run, id)
				}
				text, before = append(text, doc.Span{Text: before}, span), ", "
			}
			if int64(len(named)) < list.rows.Rows {
				after = ", …)"
			}
			if len(named) > 0 {
				text = append(text, doc.Span{Text: after})
			}
			out = append(out, doc.Para{Kind: doc.Item, Text: text})
		}
	}
	return out
}
