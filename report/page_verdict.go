package report

import (
	"fmt"
	"slices"
	"strings"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// verdictSection is what is seen first: what came of it in a sentence, how gates, answers and
// the judge stand, what is wrong with the input, and the systems.
func verdictSection(data *pageData) *doc.Section {
	systems := standings(data)
	var facts doc.Facts
	fact := func(name string, text ...doc.Span) { facts = append(facts, doc.Fact{Name: name, Text: text}) }
	fact("Gates", gatesText(data)...)
	fact("Answers", answersText(data)...)
	if why := data.options.NotCompared; why != "" {
		fact("Compared", doc.Span{Text: "not: ", Tone: doc.Warn}, doc.Span{Text: strings.TrimSuffix(shown(why), ".") + "."})
	}
	facts = append(facts, failureFacts(data.options.Since)...)
	fact("Judge", doc.Span{Text: judgesText(data)})
	for _, r := range data.results {
		fact("Run "+line(r.run.Manifest.ID, 40), doc.Span{Text: runText(r)})
	}
	out := []doc.Block{facts}
	wrong, noted := signs(data)
	out = append(out, wrong...)
	if lead := headLead(data); len(lead) > 0 && len(systems) > 0 {
		since := ""
		if r := data.options.Since; r != nil {
			since = line(r.Sides[0].Name, 40)
		}
		out = append(out, standingTable(standingCaption(data, lead, systems), lead, systems, since)...)
	}
	out = append(out, gateTables(data)...)
	if len(noted) > 0 {
		out = append(out, doc.Details{Summary: Plural(int64(len(noted)), "note", "notes") + " on the input", Blocks: noted})
	}
	return &doc.Section{ID: "verdict", Title: verdictInWords(data, systems), Name: "Verdict", Top: true, Blocks: out}
}

// standingCaption says what the table of systems is of, and how it is sorted.
func standingCaption(data *pageData, lead []string, systems []standing) string {
	text := "Systems"
	if len(systems) == 1 && systems[0].name == allAnswers {
		text = "Numbers"
	} else if sortable(data) && rankingMetric(lead, systems) == lead[0] { // nobody is first by a range
		text += ", the best first"
	}
	if data.options.Since != nil && len(data.results) == 2 {
		text += ", of " + line(data.results[1].run.Manifest.ID, 40)
	}
	return text
}

// headLead are the metrics of the first screen, as in a terminal: also those that are ranges
// for every system, which no table of rows has.
func headLead(data *pageData) []string {
	return leadOf(func(name string) bool {
		return slices.ContainsFunc(groupsShown(data), func(s string) bool { return data.number(s, "", name) != nil })
	})
}

// sortable reports whether systems can be put in order: of several runs that nobody compares,
// numbers may not mean the same.
func sortable(data *pageData) bool { return data.options.Since != nil || !data.several() }

const allAnswers = "all answers"

// standings are the systems of the first screen, the best first: of two runs that are
// compared, those of the later one. One system of one run is all of its answers.
func standings(data *pageData) []standing {
	names := data.systems
	switch later := len(data.results) == 2 && data.options.Since != nil; {
	case !data.several() && len(names) < 2:
		names = []string{""}
	case later:
		names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return runOfSystem(data, s) != data.results[1] })
	}
	var out []standing
	for _, system := range names {
		bare, of := nameInRun(data, system), runOfSystem(data, system).summary
		s := standing{
			name: line(system, 80), link: rowsLink("system:" + line(system, 80)),
			of: of, block: of.block(bare, ""), change: data.options.Since,
		}
		rows, failing, filters := sum(data.totals.rows), sum(data.totals.failing), []string{"is:failing"}
		switch k := slices.Index(data.systems, system); {
		case system == "":
			s.name, s.link = allAnswers, "#answers"
		default:
			rows, failing, filters = data.totals.rows[k], data.totals.failing[k], []string{"system:" + line(system, 80), "is:failing"}
			if len(names) < len(data.systems) {
				s.name = line(bare, 80)
			}
		}
		s.failing = doc.Text{{Text: Thousands(failing) + " of " + Thousands(rows), Link: rowsLink(filters...)}}
		out = append(out, s)
	}
	if lead := headLead(data); len(lead) > 0 && sortable(data) {
		sortStandings(lead, out)
	}
	return out
}

// verdictInWords is what somebody must know who reads one sentence: of runs that are compared,
// what changed and how sure that is; of systems, who is best; of one system, how good it is.
func verdictInWords(data *pageData, systems []standing) string {
	r := data.options.Comparison
	switch {
	case sum(data.totals.rows) == 0:
		return "There are no rows."
	case len(data.lead) == 0:
		return "No metric is defined in any row."
	case r != nil && len(r.Pairs) > 0:
		return NewComparison(r).headline()
	case data.several():
		var names []string
		for _, r := range data.results {
			names = append(names, line(r.run.Manifest.ID, 40))
		}
		return list(names) + " side by side: they are not compared."
	case len(data.systems) > 1:
		metric, value := rankingMetric(data.lead, systems), numberOrDash(nil)
		if s := systems[0].number(metric); s != nil {
			value = estimateText(s)
		}
		return fmt.Sprintf("%s has the best %s, %s; nothing says whether that is more than chance.", clip(systems[0].name, 40), metric, value)
	}
	rows, failing := sum(data.totals.rows), sum(data.totals.failing)
	fails := fmt.Sprintf("%s of %s %s.", Thousands(failing), Plural(rows, "answer", "answers"), oneOrMany(failing, "fails", "fail"))
	for _, name := range data.lead {
		first := systems[0].number(name)
		if first == nil {
			continue
		}
		text := fmt.Sprintf("%s is %s", label(name), strings.TrimSpace(estimateText(first)+" "+interval(first.Low, first.High)))
		if d := systems[0].changed(name); d != nil && d.Diff != nil && (d.Outcome == compare.Better || d.Outcome == compare.Worse) {
			text += fmt.Sprintf(", %s than in %s by %s", d.Outcome, line(data.options.Since.Sides[0].Name, 40), strings.TrimLeft(signed(d.Diff), "+-−"))
		}
		return text + "; " + fails
	}
	return fails
}

// gatesText says how the gates of all runs ended.
func gatesText(data *pageData) (text doc.Text) {
	for k, r := range data.results {
		of := ""
		if data.several() {
			of = line(r.run.Manifest.ID, 40) + ": "
		}
		if k > 0 {
			of = ", " + of
		}
		text = append(text, doc.Span{Text: of}, doc.Span{Text: gatesInWords(r.run.Gates), Tone: gateWords[countGates(r.run.Gates).gravest()].tone.doc()})
	}
	return text
}

// gatesInWords counts gates by how they ended.
func gatesInWords(gates []runs.GateResult) string {
	if len(gates) == 0 {
		return "none is set"
	}
	count := countGates(gates)
	open := count[runs.NoVerdict]
	var parts []string
	for _, part := range []struct {
		n    int64
		what string
	}{{count[runs.Failed], "failed"}, {open, oneOrMany(open, "has no verdict", "have no verdict")}, {count[runs.Passed], "passed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d %s", part.n, len(gates), part.what))
		}
	}
	return strings.Join(parts, ", ")
}

// gateTables are the gates of each run, those that did not pass first.
func gateTables(data *pageData) (out []doc.Block) {
	for _, r := range data.results {
		if len(r.run.Gates) == 0 {
			continue
		}
		caption := "Gates"
		if data.several() {
			caption += " of " + r.run.Manifest.ID
		}
		out = append(out, gateBlocks(caption, r.run.Gates)...)
	}
	return out
}

// answersText says how many answers of each run fail, and how many could not be scored.
func answersText(data *pageData) (text doc.Text) {
	say := func(s string, filters ...string) {
		span := doc.Span{Text: s}
		if len(filters) > 0 {
			span.Link = rowsLink(filters...)
		}
		text = append(text, span)
	}
	for k, r := range data.results {
		var rows, failing int64
		for i, s := range data.systems {
			if runOfSystem(data, s) == r {
				rows, failing = rows+data.totals.rows[i], failing+data.totals.failing[i]
			}
		}
		if k > 0 {
			say(", ")
		}
		if failing > 0 {
			say(failText(failing, rows), "is:failing")
		} else {
			say(failText(failing, rows))
		}
		if data.several() {
			say(" in " + line(r.run.Manifest.ID, 40))
		}
	}
	if sum(data.totals.failing) > 0 {
		say(": something cited or claimed is wrong, or the overall score is low.")
	} else {
		say(".")
	}
	if n := sum(data.totals.errors); n > 0 {
		say(" ")
		say(Plural(n, "row", "rows"), "is:error")
		say(" could not be scored.")
	}
	return text
}

// failureFacts count the answers that fail since an earlier run and did not in it.
func failureFacts(r *compare.Result) (facts doc.Facts) {
	if r == nil {
		return nil
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		name := "Since " + line(r.Sides[f.Base].Name, 40)
		if len(r.Failures) > 1 {
			name = line(r.Sides[f.New].Name, 40) + " since " + line(r.Sides[f.Base].Name, 40)
		}
		text := fmt.Sprintf("%s, %s fixed, %s still failing", Plural(f.Newly.Rows, "new failure", "new failures"), Thousands(f.Fixed.Rows), Thousands(f.Still.Rows))
		facts = append(facts, doc.Fact{Name: name, Text: doc.Text{{Text: text, Link: "#changes"}}})
	}
	return facts
}

// judgesText says who judged, and once on the page what an offline judge leaves open.
func judgesText(data *pageData) string {
	var said []string
	for _, r := range data.results {
		said = append(said, judgeInWords(r))
	}
	return strings.TrimSpace(strings.Join(distinct(said), "; ") + ". " + baselineOf(data))
}

func judgeInWords(r *results) string { return judgedBy(r.judgeKind(), r.run.Manifest.Judge.Model) }

// runText is how large a run is, what it cost and when it was begun.
func runText(r *results) string {
	m := r.run.Manifest
	parts := []string{Plural(m.Rows, "row", "rows"), Plural(m.Citations, "citation", "citations")}
	if n := r.systems; n > 1 {
		parts = append(parts, Plural(int64(n), "system", "systems"))
	}
	if m.Judge.CostUSD != nil {
		parts = append(parts, fmt.Sprintf("$%.2f", *m.Judge.CostUSD))
	}
	parts = append(parts, m.Moved()...)
	return strings.Join(append(parts, m.Timings.Started.UTC().Format("2006-01-02 15:04 UTC")), " · ")
}

// signs are what may be wrong with the input of all runs: what takes verdicts from gates, and
// what was accepted or is only a note.
func signs(data *pageData) (wrong, noted []doc.Block) {
	for _, r := range data.results {
		of := ""
		if data.several() {
			of = r.run.Manifest.ID + ": "
		}
		for _, s := range r.run.Manifest.Signs {
			text := of + shown(s.Sentence()) + "."
			if s.Note || s.Accepted {
				noted = append(noted, doc.Para{Text: doc.T(text)})
				continue
			}
			text += fmt.Sprintf(" Gates over %s of it have no verdict. Probably %s. What to do: %s.", Plural(int64(len(s.Metrics)), "metric", "metrics"), shown(s.Cause), shown(s.Tip))
			wrong = append(wrong, doc.Para{Kind: doc.Note, Text: doc.Text{{Text: "! ", Tone: doc.Warn}, {Text: text}}})
		}
	}
	return wrong, noted
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
