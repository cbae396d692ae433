package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/report/doc"
)

// verdictSection is what is seen first: the conclusion, how gates, answers and the judge
// stand, what is wrong with the input, and the systems.
func verdictSection(data *pageData) *doc.Section {
	title, said := conclusions(data)
	systems := standings(data)
	var facts doc.Facts
	fact := func(name string, text ...doc.Span) { facts = append(facts, doc.Fact{Name: name, Text: text}) }
	fact("Gates", gatesText(data)...)
	var answers doc.Text
	for k, r := range data.results {
		of := data.named("%s: ", r)
		if said[k].Answers != title {
			answers = append(answers, doc.Span{Text: of}, doc.Span{Text: said[k].Answers, Link: rowsLink("is:failing")}, doc.Span{Text: " "})
		}
	}
	if len(answers) > 0 {
		fact("Answers", answers[:len(answers)-1]...)
	}
	if why := data.options.NotCompared; why != "" {
		fact("Compared", doc.Span{Text: "not: ", Tone: doc.Warn}, doc.Span{Text: strings.TrimSuffix(why, ".") + "."})
	}
	if text := said[len(said)-1].Since; text != "" && text != title {
		fact("Changes", doc.Span{Text: text, Link: "#changes"})
	}
	fact("Judge", doc.Span{Text: judgesText(data)})
	for _, r := range data.results {
		fact("Run "+clip(r.run.Manifest.ID, 40), doc.Span{Text: runText(r)})
	}
	out := []doc.Block{facts}
	wrong, noted := inputSigns(data)
	out = append(out, wrong...)
	if lead := headLead(data); len(lead) > 0 && len(systems) > 0 {
		since := ""
		if r := data.options.Since; r != nil {
			since = clip(r.Sides[0].Name, 40)
		}
		out = append(out, standingTable(standingCaption(data, lead, systems), lead, systems, since)...)
	}
	out = append(out, gateTables(data)...)
	if len(noted) > 0 {
		out = append(out, doc.Details{Summary: Plural(int64(len(noted)), "note", "notes") + " on the input", Blocks: noted})
	}
	return &doc.Section{ID: "verdict", Title: title, Name: "Verdict", Top: true, Blocks: out}
}

// conclusions are the conclusion of each run, and the sentence for all of them.
func conclusions(data *pageData) (title string, said []Conclusion) {
	var names []string
	for _, r := range data.results {
		n := data.totals.answers(func(k int) bool { return runOfSystem(data, data.systems[k]) == r })
		c := data.options.conclude(n, r.run.Gates)
		said, names = append(said, c), append(names, clip(r.run.Manifest.ID, 40))
	}
	switch {
	case !data.several():
		return said[0].title(), said
	case data.options.Comparison == nil:
		return list(names) + " side by side: they are not compared.", said
	}
	return cmp.Or(said[0].Since, said[0].Systems), said
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
		text += ", of " + clip(data.results[1].run.Manifest.ID, 40)
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
func sortable(data *pageData) bool {
	return (data.options.Since != nil || !data.several()) && data.options.ordered()
}

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
	lead := ""
	if first := headLead(data); len(first) > 0 {
		lead = first[0]
	}
	for _, system := range names {
		bare, of := nameInRun(data, system), runOfSystem(data, system).summary
		s := standing{
			name: clip(system, 80), link: rowsLink("system:" + clip(system, 80)), rank: data.options.rank(bare, lead),
			of: of, block: of.block(bare, ""), change: data.options.Since,
		}
		filters := []string{"is:failing"}
		if system == "" {
			s.name, s.link = allAnswers, "#answers"
		} else {
			filters = []string{"system:" + clip(system, 80), "is:failing"}
			if len(names) < len(data.systems) {
				s.name = clip(bare, 80)
			}
		}
		k := slices.Index(data.systems, system)
		n := data.totals.answers(func(i int) bool { return system == "" || i == k })
		s.failing = doc.Text{{Text: n.failing(), Link: rowsLink(filters...)}}
		out = append(out, s)
	}
	if lead := headLead(data); len(lead) > 0 && sortable(data) {
		sortStandings(lead, out)
	}
	return out
}

// gatesText says how the gates of all runs ended.
func gatesText(data *pageData) (text doc.Text) {
	for k, r := range data.results {
		of := data.named("%s: ", r)
		if k > 0 {
			of = ", " + of
		}
		text = append(text, doc.Span{Text: of}, doc.Span{Text: gatesInWords(r.run.Gates), Tone: gateWords[countGates(r.run.Gates).gravest()].Tone})
	}
	return text
}

// gateTables are the gates of each run, those that did not pass first.
func gateTables(data *pageData) (out []doc.Block) {
	for _, r := range data.results {
		if len(r.run.Gates) == 0 {
			continue
		}
		out = append(out, gateBlocks("Gates"+data.named(" of %s", r), r.run.Gates)...)
	}
	return out
}

// judgesText says who judged, and once on the page what an offline judge leaves open.
func judgesText(data *pageData) string {
	var said []string
	for _, r := range data.results {
		said = append(said, judgeInWords(r))
	}
	return strings.TrimSpace(strings.Join(distinct(said), "; ") + ". " + baselineOf(data))
}

func judgeInWords(r *results) string { return judgeText(r.judgeKind(), &r.run.Manifest.Judge) }

// judgeText is who judged, how many claims, and what that cost.
func judgeText(kind string, j *runs.JudgeRecord) string {
	text := judgedBy(kind, j.Model)
	if kind != "none" && j.Asked > 0 {
		text += fmt.Sprintf(": %s of %s", Thousands(j.Asked-j.Unanswered), Plural(j.Asked, "claim", "claims"))
	}
	if j.CostUSD != nil {
		text += fmt.Sprintf(", $%.2f", *j.CostUSD)
	}
	return text
}

// runText is how large a run is, what it cost and when it was begun.
func runText(r *results) string {
	m := r.run.Manifest
	parts := []string{Plural(m.Rows, "row", "rows"), Plural(m.Citations, "citation", "citations")}
	if n := r.systems; n > 1 {
		parts = append(parts, Plural(int64(n), "system", "systems"))
	}
	parts = append(parts, m.Moved()...)
	return strings.Join(append(parts, m.Timings.Started.UTC().Format("2006-01-02 15:04 UTC")), " · ")
}

// inputSigns are what may be wrong with the input of all runs: what takes verdicts from gates, and
// what was accepted or is only a note.
func inputSigns(data *pageData) (wrong, noted []doc.Block) {
	for _, r := range data.results {
		of := data.named("%s: ", r)
		for _, s := range r.run.Manifest.Signs {
			text := of + s.Sentence() + "."
			if s.Note || s.Accepted {
				noted = append(noted, doc.Para{Text: doc.T(text)})
				continue
			}
			text += fmt.Sprintf(" Gates over %s of it have no verdict. Probably %s. What to do: %s.", Plural(int64(len(s.Metrics)), "metric", "metrics"), s.Cause, s.Tip)
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
