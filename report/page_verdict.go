package report

import (
	"cmp"
	"fmt"
	"strings"

	"ibid/dataset/runs"
	"ibid/report/doc"
)

// verdictSection is what is seen first: the conclusion, how answers and gates of each run stand
// and who judged, what is wrong with the input, and the systems.
func verdictSection(data *pageData) *doc.Section {
	title, said := conclusions(data)
	var facts doc.Facts
	var wrong, noted []doc.Block
	for k, r := range data.results {
		of := data.named(" of %s", r)
		fact := func(name string, text doc.Span) {
			facts = append(facts, doc.Fact{Name: name + of, Text: doc.Text{text}})
		}
		if said[k].Answers != title {
			fact("Answers", doc.Span{Text: said[k].Answers, Link: rowsLink("is:failing")})
		}
		fact("Gates", doc.Span{Text: gatesInWords(r.run.Gates), Tone: gateWords[gravest(r.run.Gates)].Tone})
		fact("Judge", doc.Span{Text: judgeInWords(r)})
		fact("Run", doc.Span{Text: runText(r)})
		w, n := inputSigns(r, data.named("%s: ", r))
		wrong, noted = append(wrong, w...), append(noted, n...)
	}
	if why := data.options.NotCompared; why != "" {
		facts.Add("Compared", "not: "+strings.TrimSuffix(why, ".")+".")
	}
	if text := said[len(said)-1].Since; text != "" && text != title {
		facts = append(facts, doc.Fact{Name: "Changes", Text: doc.Text{{Text: text, Link: "#changes"}}})
	}
	out := append([]doc.Block{facts}, wrong...)
	out = append(out, standings(data)...)
	out = append(out, gateTables(data)...)
	out = append(out, folded(Plural(int64(len(noted)), "note", "notes")+" on the input", noted)...)
	return &doc.Section{ID: "verdict", Title: title, Name: "Verdict", Top: true, Blocks: out}
}

// conclusions are the conclusion of each run, and the sentence for all of them.
func conclusions(data *pageData) (title string, said []Conclusion) {
	var names []string
	for _, r := range data.results {
		said, names = append(said, r.summary.conclusion()), append(names, clip(r.run.Manifest.ID, 40))
	}
	switch {
	case !data.several():
		return said[0].title(), said
	case data.options.Comparison == nil:
		return list(names) + " side by side: they are not compared.", said
	}
	return cmp.Or(said[0].Since, said[0].Systems), said
}

const allAnswers = "all answers"

// standings are the systems of all runs: of two runs that are compared, those of the later one.
// Of several runs that nobody compares, numbers may not mean the same, and they stay in order.
func standings(data *pageData) []doc.Block {
	last, since := data.results[len(data.results)-1], data.options.Since != nil
	if !data.several() || len(data.results) == 2 && since {
		return last.summary.standingTable(data.named(", of %s", last))
	}
	var systems []standing
	for _, r := range data.results {
		systems = append(systems, r.summary.standings(r.prefix, data.lead)...)
	}
	return standingTable("system", "Systems", data.lead, systems, since, mostStandings)
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

// judgeInWords is judgeText, and what a judge that compares words leaves open.
func judgeInWords(r *results) string {
	kind, j := r.judgeKind(), &r.run.Manifest.Judge
	text := judgeText(kind, j) + "."
	if kind == "lexical" && j.SupportedFrom == nil && j.UnsupportedTo == nil {
		text += " It compares words: what stands in the cited sentences in other words is undecided."
	}
	return text
}

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
	if n := int64(len(r.summary.Failing.BySystem)); n > 1 {
		parts = append(parts, Plural(n, "system", "systems"))
	}
	parts = append(parts, m.Moved()...)
	return strings.Join(append(parts, minute(m.Timings.Started)+" UTC"), " · ")
}

// inputSigns are what may be wrong with the input of a run: what takes verdicts from gates, and
// what was accepted or is only a note.
func inputSigns(r *results, of string) (wrong, noted []doc.Block) {
	for _, s := range r.run.Manifest.Signs {
		text := of + s.Sentence() + "."
		if s.Note || s.Accepted {
			noted = append(noted, doc.Para{Text: doc.T(text)})
			continue
		}
		text += fmt.Sprintf(" Gates over %s of it have no verdict. Probably %s. What to do: %s.", Plural(int64(len(s.Metrics)), "metric", "metrics"), s.Cause, s.Tip)
		wrong = append(wrong, doc.Para{Kind: doc.Note, Text: doc.Text{{Text: "! ", Tone: doc.Warn}, {Text: text}}})
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
