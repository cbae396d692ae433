package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// verdictInWords is what somebody must know who reads one sentence: of runs that are compared,
// what changed and how sure that is; of systems, who is best; of one system, how good it is.
func verdictInWords(data *pageData) string {
	r := data.options.Comparison
	switch {
	case sum(data.totals.rows) == 0:
		return "There are no rows."
	case len(data.lead) == 0:
		return "No metric is defined in any row."
	case r != nil && len(r.Pairs) > 0:
		return NewComparison(r).headline()
	case data.several():
		return fmt.Sprintf("%s side by side: they are not compared.", list(runNames(data)))
	case len(data.systems) > 1:
		return bestInWords(data)
	}
	rows, failing := sum(data.totals.rows), sum(data.totals.failing)
	fails := fmt.Sprintf("%s of %s %s.", Thousands(failing), Plural(rows, "answer", "answers"), oneOrMany(failing, "fails", "fail"))
	first := numbersOf(data, "")
	if len(first) == 0 {
		return fails
	}
	text := fmt.Sprintf("%s is %s", first[0].Label, strings.TrimSpace(first[0].Value+" "+first[0].Interval))
	if c := first[0].Change; c != nil && (c.Word.Code == "better" || c.Word.Code == "worse") {
		text += fmt.Sprintf(", %s than in %s by %s", c.Word.Code, line(data.options.Since.Sides[0].Name, 40), strings.TrimLeft(c.Text, "+−"))
	}
	return text + "; " + fails
}

func runNames(data *pageData) (names []string) {
	for _, r := range data.results {
		names = append(names, line(r.run.Manifest.ID, 40))
	}
	return names
}

// bestInWords says which system has the best value where nothing compares them.
func bestInWords(data *pageData) string {
	systems, metric := slices.Clone(data.systems), rankingMetric(data)
	slices.SortStableFunc(systems, func(x, y string) int { return cmp.Compare(rankBy(data, metric, x), rankBy(data, metric, y)) })
	value := numberOrDash(nil)
	if s := data.summary.find(systems[0], "", metric); s != nil {
		value = estimateText(s)
	}
	return fmt.Sprintf("%s has the best %s, %s; nothing says whether that is more than chance.", line(systems[0], 40), metric, value)
}

// rankingMetric is the first metric that matters of which some system has a number.
func rankingMetric(data *pageData) string {
	for _, name := range data.lead {
		for _, system := range data.systems {
			if s := data.summary.find(system, "", name); s != nil && s.Estimate != nil {
				return name
			}
		}
	}
	return data.lead[0]
}

// A standingLine is one of the facts below the headline: what it is about, and what is so.
type standingLine struct {
	Name string
	Word *word // how good that is; nil where there is nothing to say of it
	Says finding
}

// standing says how gates, answers and the judge stand, and what failed newly.
func standing(data *pageData) []standingLine {
	lines := []standingLine{gatesStanding(data), answersStanding(data)}
	if why := data.options.NotCompared; why != "" {
		l := standingLine{Name: "Compared", Word: &word{Short: "not", Tone: toneWarn}}
		l.Says.say("%s.", strings.TrimSuffix(shown(why), "."))
		lines = append(lines, l)
	}
	lines = append(lines, failuresStanding(data)...)
	return append(lines, judgeStanding(data))
}

func gatesStanding(data *pageData) standingLine {
	var all []runs.GateResult
	for _, r := range data.results {
		all = append(all, r.run.Gates...)
	}
	state := gateWords[countGates(all).gravest()]
	l := standingLine{Name: "Gates"}
	switch {
	case len(all) == 0:
		l.Says.say("none is set.")
		return l
	case !data.several():
		l.Word = &word{Short: gatesInWords(all), Tone: state.tone}
		return l
	}
	l.Word = &word{Short: state.page, Tone: state.tone}
	l.Says.list(len(data.results), func(k int) {
		l.Says.say("%s: %s", line(data.results[k].run.Manifest.ID, 40), gatesInWords(data.results[k].run.Gates))
	})
	l.Says.say(".")
	return l
}

func answersStanding(data *pageData) standingLine {
	l := standingLine{Name: "Answers"}
	for k, r := range data.results {
		var rows, failing int64
		for i, s := range data.systems {
			if runOfSystem(data, s) == r {
				rows, failing = rows+data.totals.rows[i], failing+data.totals.failing[i]
			}
		}
		if k > 0 {
			l.Says.say(", ")
		}
		if failing > 0 {
			l.Says.link(failText(failing, rows), "is:failing")
		} else {
			l.Says.say("%s", failText(failing, rows))
		}
		if data.several() {
			l.Says.say(" in %s", line(r.run.Manifest.ID, 40))
		}
	}
	l.Says.say(": something cited or claimed is wrong, or the overall score is low.")
	if n := sum(data.totals.errors); n > 0 {
		l.Says.say(" ")
		l.Says.link(Plural(n, "row", "rows"), "is:error")
		l.Says.say(" could not be scored.")
	}
	return l
}

// failuresStanding counts the answers that fail since an earlier run and did not in it.
func failuresStanding(data *pageData) (lines []standingLine) {
	r := data.options.Since
	if r == nil {
		return nil
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		l := standingLine{Name: "Since " + line(r.Sides[f.Base].Name, 40)}
		if len(r.Failures) > 1 {
			l.Name = line(r.Sides[f.New].Name, 40) + " since " + line(r.Sides[f.Base].Name, 40)
		}
		l.Says = finding{{fmt.Sprintf("%s, %s fixed, %s still failing", Plural(f.Newly.Rows, "new failure", "new failures"), Thousands(f.Fixed.Rows), Thousands(f.Still.Rows)), "#changes"}, {Text: "."}}
		lines = append(lines, l)
	}
	return lines
}

// judgeStanding says who judged, and once on the page what an offline judge leaves open.
func judgeStanding(data *pageData) standingLine {
	l := standingLine{Name: "Judge"}
	var said []string
	for _, r := range data.results {
		said = append(said, judgeInWords(r))
	}
	l.Says.say("%s.", strings.Join(distinct(said), "; "))
	if base := baselineOf(data); base != "" {
		l.Word = &word{Short: "wording", Tone: toneWarn}
		l.Says.say(" %s", base)
	}
	return l
}

// A finding is a sentence that counts back, in parts: what is counted links to its
// rows.
type finding []findingPart

// Text is the whole sentence.
func (f finding) Text() string {
	var b strings.Builder
	for _, p := range f {
		b.WriteString(p.Text)
	}
	return b.String()
}

// say adds text to the sentence.
func (f *finding) say(format string, args ...any) {
	*f = append(*f, findingPart{Text: fmt.Sprintf(format, args...)})
}

// link adds a link to the rows that meet all filters.
func (f *finding) link(text string, filters ...string) {
	*f = append(*f, findingPart{text, rowsLink(filters...)})
}

// list adds n parts with commas between them and "and" before the last one.
func (f *finding) list(n int, add func(k int)) {
	for k := range n {
		switch {
		case k > 0 && k == n-1:
			f.say(" and ")
		case k > 0:
			f.say(", ")
		}
		add(k)
	}
}

func rowsLink(filters ...string) string {
	link := "#"
	for k, f := range filters {
		if k > 0 {
			link += "&"
		}
		link += "f=" + escapeLink(f)
	}
	return link
}

// A findingPart of a sentence is text, or a link to rows.
type findingPart struct{ Text, Link string }
