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
	Gone        []string        // metrics that an earlier run has values of, and this one for no row: a sentence for each
}

// conclude makes the conclusion of one run, or of several that stand side by side.
func (c *Compared) conclude(n answerCount, gates []runs.GateResult) Conclusion {
	out := Conclusion{Answers: n.sentence()}
	if len(gates) > 0 {
		out.Gates = "Gates: " + gatesInWords(gates) + "."
	}
	if r := c.Comparison; r != nil && len(r.Pairs) > 0 && !(n.unknown() && needsVerdicts(r)) {
		out.Systems = NewComparison(r).headline()
	}
	if r := c.Since; r != nil {
		out.Since = NewComparison(r).headline()
		var newly int64
		for i := range r.Failures {
			newly += r.Failures[i].Newly.Rows
		}
		if newly > 0 {
			out.Since = strings.TrimSuffix(out.Since, ".") + fmt.Sprintf("; %s newly %s.", Plural(newly, "answer", "answers"), oneOrMany(newly, "fails", "fail"))
		}
	}
	out.Since = strings.TrimSpace(strings.Join(c.Gone, " ") + " " + out.Since)
	return out
}

// Gone are sentences about the metric that leads in an earlier run, and those that gates are
// about: each that has values there and for no row of this run, with the commonest reason.
func (s *Summary) Gone(before *Summary) (out []string) {
	block, gates, leads := before.block("", ""), before.gateMetrics(), true
	for _, name := range before.leading() {
		if l := block.line(name); l == nil || l.Macro.N == 0 || !leads && !slices.Contains(gates, name) {
			continue
		}
		leads = false
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
	if len(r.Headline) == 0 {
		return false
	}
	d, _ := metrics.Lookup(quantityNamed(r.Headline[0]).Metric)
	return d.Judged || d.Name == failingMetric
}

// ordered reports whether systems can be put in order: they answered questions in common, or
// nobody knows.
func (c *Compared) ordered() bool {
	return c.Comparison == nil || slices.ContainsFunc(c.Comparison.Pairs, func(p compare.Pair) bool { return p.Paired })
}

// rank is the rank of a system by a metric, such as 1–2; "" if it has none.
func (c *Compared) rank(system, metric string) string {
	if c.Comparison == nil || len(c.Comparison.Rankings) == 0 {
		return ""
	}
	r := &c.Comparison.Rankings[0]
	if len(r.Places) < 2 {
		return "" // alone among those that have a value
	}
	for i := range r.Places {
		if side := &c.Comparison.Sides[r.Places[i].Side]; side.System == system && r.Metric == metric && c.Comparison.By == "system" {
			return rankText(&r.Places[i])
		}
	}
	return ""
}

// rankText is a rank: a range where chance may explain the order.
func rankText(p *compare.Place) string {
	if p.Worst > p.Best {
		return fmt.Sprintf("%d–%d", p.Best, p.Worst)
	}
	return fmt.Sprint(p.Best)
}

// An answerCount counts answers by what became of them.
type answerCount struct {
	rows, fails, errors int64
	open                [4]int64 // of those that do not fail: undecided, not judged, not checked, abstained
}

// answers counts the answers of some systems.
func (t *totals) answers(of func(system int) bool) (n answerCount) {
	for k := range t.rows {
		if !of(k) {
			continue
		}
		n.rows, n.fails, n.errors = n.rows+t.rows[k], n.fails+t.failing[k], n.errors+t.errors[k]
		for i := range n.open {
			if counts := t.problem[answerWords[i].Code]; counts != nil {
				n.open[i] += counts[k]
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

// comparisonJSON is a comparison with its headline.
type comparisonJSON struct {
	*compare.Result
	Headline string `json:"answer"`
}

// headline is what came of the comparison in a sentence, by the first metric that decides; the
// terminal, the page and JSON have it. It has differences alone: the level of a side depends
// on whose questions it is over.
func (c *Comparison) headline() string {
	if len(c.Rankings) > 0 && len(c.Rankings[0].Places) > 1 && (c.By != "run" || len(c.Sides) > 2) {
		return c.ranked(&c.Rankings[0])
	}
	prefix := "Against "
	if c.By == "run" {
		prefix = "Since "
	}
	prefix += CleanLine(c.Sides[0].Name) + ": "
	said := make(map[compare.Outcome][]string)
	paired, why := false, ""
	for _, k := range pagePairs(c.Result) {
		p := &c.Pairs[k]
		if p.Base != 0 || !p.Paired || len(p.Differences) == 0 {
			continue
		}
		paired = true
		d := &p.Differences[0]
		if d.Diff == nil {
			why = d.Reason
			continue
		}
		said[d.Outcome] = append(said[d.Outcome], CleanLine(cmp.Or(p.System, c.Sides[p.New].Name))+" "+differs(d))
	}
	switch all := slices.Concat(said[compare.Worse], said[compare.Better], said[compare.Different]); {
	case !paired && c.By != "run":
		return "The systems answered different questions: compare their numbers with care."
	case !paired:
		return prefix + "no question in common, so there is nothing to compare."
	case len(all) > namedAnswers:
		return fmt.Sprintf("%s%s and %d others.", prefix, strings.Join(all[:namedAnswers], ", "), len(all)-namedAnswers)
	case len(all) > 0:
		return prefix + list(all) + "."
	case len(said[compare.Undecided]) > 0:
		return prefix + "no difference found."
	case len(said[compare.Unknown]) > 0:
		return prefix + "too few questions to tell."
	}
	return prefix + "not comparable (" + why + ")."
}

// namedAnswers is how many sides the headline names.
const namedAnswers = 3

// differs is how much a side is better or worse, and how sure that is.
func differs(d *compare.Difference) string {
	word := "differs"
	if d.Outcome == compare.Better || d.Outcome == compare.Worse {
		word = "is " + string(d.Outcome)
	}
	text := fmt.Sprintf("%s on %s by %s", word, shortQuantity(d), number(math.Abs(*d.Diff)))
	if p := pValue(d); p != "" {
		text += " (p " + strings.Replace(p, "<", "< ", 1) + ")"
	}
	return text
}

// ranked is who is best of several.
func (c *Comparison) ranked(r *compare.Ranking) string {
	var best []string
	for i := range r.Places {
		if p := &r.Places[i]; p.Sure || p.Tied {
			best = append(best, CleanLine(c.Sides[p.Side].Name))
		}
	}
	metric := shortQuantity(&compare.Difference{Metric: r.Metric, Agg: r.Agg})
	text := ""
	switch n := len(best); {
	case r.Places[0].Sure || n == 1:
		text = best[0] + " is best on " + metric
	case n == 0:
		text = "Nobody is best on " + metric
	case n > namedAnswers:
		text = fmt.Sprintf("%s and %d others are tied for best on %s", strings.Join(best[:namedAnswers], ", "), n-namedAnswers, metric)
	default:
		text = list(best) + " are tied for best on " + metric
	}
	if n := len(r.Places); n > 2 && r.Places[n-1].Best == n && !r.Places[n-1].Tied {
		text += "; " + CleanLine(c.Sides[r.Places[n-1].Side].Name) + " is last"
	}
	return text + "."
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
			of = r.Sides[f.New].Name + ": "
		}
		for _, list := range []struct {
			what, code string
			rows       compare.Named
			n          int // that are named
		}{{"new failures", "new", f.Newly, namedFailures}, {"fixed", "fixed", f.Fixed, namedFailures}, {"still failing", "still", f.Still, namedIDs}} {
			head := doc.Span{Text: fmt.Sprintf("%s%s: %s", of, list.what, Thousands(list.rows.Rows))}
			if link != nil && list.rows.Rows > 0 {
				head.Link = rowsLink("since:" + list.code)
			}
			text := doc.Text{head}
			for k, id := range list.rows.IDs[:min(len(list.rows.IDs), list.n)] {
				before, span := ", ", doc.Span{Text: id}
				if k == 0 {
					before = " ("
				}
				if link != nil {
					span.Link = link(r.Sides[f.New].Run, id)
				}
				text = append(text, doc.Span{Text: before}, span)
			}
			switch n := int64(min(len(list.rows.IDs), list.n)); {
			case n > 0 && n < list.rows.Rows:
				text = append(text, doc.Span{Text: ", …)"})
			case n > 0:
				text = append(text, doc.Span{Text: ")"})
			}
			out = append(out, doc.Para{Kind: doc.Item, Text: text})
		}
	}
	return out
}
