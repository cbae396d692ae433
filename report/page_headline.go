package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/annotations/compare"
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
	case r != nil && r.By == "run":
		return changedInWords(r)
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

// changedInWords says which change between runs is the gravest, and how sure it is.
func changedInWords(r *compare.Result) string {
	base := line(r.Sides[0].Name, 40)
	compared, tested, paired := 0, 0, false
	var gravest *compare.Difference
	var of *compare.Pair
	for _, k := range pagePairs(r) {
		p := &r.Pairs[k]
		paired = paired || p.Paired
		for i := range p.Differences {
			d := &p.Differences[i]
			if !d.Headline || d.Slice != "" || d.Diff == nil {
				continue
			}
			compared++
			if d.Outcome != compare.Unknown {
				tested++
			}
			if graver(d, gravest) {
				gravest, of = d, p
			}
		}
	}
	others := make([]string, 0, len(r.Sides)-1)
	for _, s := range r.Sides[1:] {
		others = append(others, line(s.Name, 40))
	}
	switch {
	case !paired:
		return fmt.Sprintf("%s and %s share no question: nothing can be said of their difference.", list(others), base)
	case compared == 0:
		return fmt.Sprintf("%s and %s cannot be compared: no headline metric is defined in both.", list(others), base)
	case tested == 0:
		return fmt.Sprintf("There is too little data to tell %s from %s.", list(others), base)
	case gravest == nil:
		return fmt.Sprintf("%s cannot be told from %s: no headline metric differs by more than chance may explain.", list(others), base)
	}
	d := asShown(gravest)
	system, new := line(of.System, 40), line(r.Sides[of.New].Name, 40)
	text := fmt.Sprintf("%s is %s than %s", new, d.Outcome, base)
	switch {
	case d.Outcome == compare.Different:
		text = strings.TrimSpace(fmt.Sprintf("%s %s differs from %s", system, new, base))
	case system != "":
		text = fmt.Sprintf("%s is %s in %s than in %s", system, d.Outcome, new, base)
	}
	return fmt.Sprintf("%s: %s %s after %s, %s.", text, inSentence(quantityLabel(quantityOf(&d))), numberOrDash(d.New), numberOrDash(d.Base), sureness(&d))
}

// graver orders sure differences: worse before better, better before different, and of
// those the first. Nothing is graver than a difference that chance may explain.
func graver(d, than *compare.Difference) bool {
	order := []compare.Outcome{compare.Different, compare.Better, compare.Worse}
	at := slices.Index(order, d.Outcome)
	return at >= 0 && (than == nil || at > slices.Index(order, than.Outcome))
}

// sureness is a difference with its interval and adjusted p-value.
func sureness(d *compare.Difference) string {
	text := differenceText(d.Diff)
	if detail := differenceDetail(d); detail != "" {
		text += " " + detail
	}
	return text
}

// bestInWords says which system of a run is best by the first metric, as far as chance
// does not explain it.
func bestInWords(data *pageData) string {
	r, metric := data.options.Comparison, decidingMetric(data)
	name := inSentence(label(metric))
	systems := slices.Clone(data.systems)
	slices.SortStableFunc(systems, func(x, y string) int { return cmp.Compare(rankBy(data, metric, x), rankBy(data, metric, y)) })
	value := func(system string) string {
		if s := data.summary.find(system, "", metric); s != nil {
			return numberOrDash(s.Estimate)
		}
		return numberOrDash(nil)
	}
	best := line(systems[0], 40)
	if ranking := rankingBy(r, metric); ranking != nil {
		return rankedInWords(r, ranking, name, value)
	}
	if r != nil && len(r.Sides) == 2 && r.Pairs[0].Paired {
		if d := headlineOf(&r.Pairs[0], metric); d != nil && d.Diff != nil {
			base, other := line(r.Sides[0].Name, 40), line(r.Sides[1].Name, 40)
			switch d.Outcome {
			case compare.Better, compare.Worse:
				return fmt.Sprintf("%s is %s than %s: %s %s against %s, %s.", other, d.Outcome, base, name, numberOrDash(d.New), numberOrDash(d.Base), sureness(d))
			case compare.Undecided:
				return fmt.Sprintf("%s cannot be told from %s: %s %s against %s, %s.", other, base, name, numberOrDash(d.New), numberOrDash(d.Base), sureness(d))
			}
		}
	}
	if r != nil && !slices.ContainsFunc(r.Pairs, func(p compare.Pair) bool { return p.Paired }) {
		return fmt.Sprintf("%s has the best %s, %s; the systems answered different questions, so nobody is surely better.", best, name, value(systems[0]))
	}
	return fmt.Sprintf("%s has the best %s, %s; nothing says whether that is more than chance.", best, name, value(systems[0]))
}

// decidingMetric is the first metric by which the systems of a run are compared, of those
// that people see; the one that leads if they are not compared.
func decidingMetric(data *pageData) string {
	r := data.options.Comparison
	if r == nil {
		return data.lead[0]
	}
	for _, name := range append([]string{data.lead[0]}, r.Headline...) {
		if name == shownMetric(name) && (rankingBy(r, name) != nil || len(r.Sides) == 2 && headlineOf(&r.Pairs[0], name) != nil) {
			return name
		}
	}
	return data.lead[0]
}

// rankingBy is the ranking of three or more sides by a metric, nil if there is none.
func rankingBy(r *compare.Result, metric string) *compare.Ranking {
	if r == nil || len(r.Sides) < 3 {
		return nil
	}
	for i := range r.Rankings {
		if k := &r.Rankings[i]; k.Metric == metric && k.Agg == runs.Macro && len(k.Places) > 1 {
			return k
		}
	}
	return nil
}

// rankedInWords says who is surely best or may be, and who is surely last.
func rankedInWords(r *compare.Result, ranking *compare.Ranking, name string, value func(string) string) string {
	side := func(p *compare.Place) (named, number string) {
		return line(r.Sides[p.Side].Name, 40), value(r.Sides[p.Side].System)
	}
	var tied, numbers []string
	for i := range ranking.Places {
		if p := &ranking.Places[i]; p.Tied {
			who, n := side(p)
			tied, numbers = append(tied, who), append(numbers, n)
		}
	}
	best, number := side(&ranking.Places[0])
	var text string
	switch {
	case ranking.Places[0].Sure || len(tied) < 2:
		second, less := side(&ranking.Places[1])
		text = fmt.Sprintf("%s is surely best: %s %s, then %s with %s", best, name, number, second, less)
	case len(tied) > 3:
		text = fmt.Sprintf("%s has the best %s, %s, but %d others may be as good", best, name, number, len(tied)-1)
	default:
		text = fmt.Sprintf("%s lead: %s %s, in an order that chance may explain", list(tied), name, list(numbers))
	}
	n := len(ranking.Places)
	if last := &ranking.Places[n-1]; n > 2 && last.Best == n && !last.Tied {
		who, least := side(last)
		text += fmt.Sprintf("; %s is surely last with %s", who, least)
	}
	return text + "."
}

// inSentence is a label within a sentence: it begins with a small letter, unless its first
// word is a name such as ALCE.
func inSentence(label string) string {
	first, size := utf8.DecodeRuneInString(label)
	if next, _ := utf8.DecodeRuneInString(label[size:]); unicode.IsUpper(next) || strings.HasPrefix(label, "LongCite") {
		return label
	}
	return strings.ToLower(string(first)) + label[size:]
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

// judgeStanding says who judged, and once on the page that a baseline is none to trust.
func judgeStanding(data *pageData) standingLine {
	l := standingLine{Name: "Judge"}
	var said []string
	for _, r := range data.results {
		said = append(said, judgeInWords(r))
	}
	l.Says.say("%s.", strings.Join(distinct(said), "; "))
	if base := baselineOf(data); base != "" {
		l.Word = &word{Short: "baseline", Tone: toneWarn}
		l.Says.say(" %s", base)
	}
	return l
}
