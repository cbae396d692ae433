package report

import (
	"fmt"
	"slices"

	"ibid/dataset/runs"
	"ibid/report/doc"
)

// judgeSection tells what judges did and what they are worth: of runs that asked a model,
// whose judge was compared with people, or whose scores are corrected.
func judgeSection(data *pageData) *doc.Section {
	var out []doc.Block
	for _, r := range data.results {
		m, c := r.run.Manifest, r.calibration
		corrected := r.summary.corrected()
		if m.Judge.Calls == 0 && c == nil && len(corrected) == 0 {
			continue
		}
		of := ""
		if data.several() {
			of = " of " + m.ID
			out = append(out, doc.Heading{Text: doc.T(m.ID)})
		}
		out = append(out, doc.Para{Text: doc.T(judgeInWords(r))}, judgeFacts(&m.Judge))
		if c != nil {
			source := "Compared with the labels that people gave in this run."
			if c.Of != m.ID {
				source = fmt.Sprintf("Compared with the labels that people gave in the run %s, which had the same judge.", c.Of)
			}
			out = append(out, doc.Para{Text: doc.T(source)})
			for _, w := range c.Warnings {
				out = append(out, doc.Para{Kind: doc.Note, Text: doc.T(w)})
			}
			out = append(out, c.blocks(of)...)
		}
		if len(corrected) > 0 {
			out = append(out, correctionTable("Scores corrected by what people said"+of, corrected))
		}
	}
	if out == nil {
		return nil
	}
	return docSection("judge", "Judge", out)
}

// judgeFacts are those that the manifest has.
func judgeFacts(j *runs.JudgeRecord) (facts doc.Facts) {
	if j.Model != "" {
		facts.Add("model", j.Model)
	}
	if j.Asked > 0 {
		facts.Add("claims asked about", Thousands(j.Asked))
		facts.Add("answered", fmt.Sprintf("%s (%s)", Thousands(j.Asked-j.Unanswered), percent(j.Asked-j.Unanswered, j.Asked)))
	}
	if j.Calls > 0 {
		facts.Add("calls", Thousands(j.Calls))
		facts.Add("from the cache", fmt.Sprintf("%s (%s)", Thousands(j.Cached), percent(j.Cached, j.Calls)))
		facts.Add("retries", Thousands(j.Retries))
	}
	if j.PromptTokens+j.CompletionTokens > 0 {
		facts.Add("tokens", fmt.Sprintf("%s asked, %s answered", Thousands(j.PromptTokens), Thousands(j.CompletionTokens)))
	}
	if j.LatencyMillis != nil {
		facts.Add("mean latency of a call", fmt.Sprintf("%.1f s", *j.LatencyMillis/1000))
	}
	if j.CostUSD != nil {
		facts.Add("cost", fmt.Sprintf("$%.4f", *j.CostUSD))
		if n := j.Asked; n > 0 {
			facts.Add("cost of 1,000 claims", fmt.Sprintf("$%.4f", *j.CostUSD/float64(n)*1000))
		}
	}
	return facts
}

// distinct are texts, each once, in the order of their first appearance.
func distinct(texts []string) (out []string) {
	for _, s := range texts {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// baselineOf says, where verdicts are those of the lexical baseline, what that means, and
// of which runs where another judge judged others; "" if none are. The page says it once.
func baselineOf(data *pageData) string {
	var names []string
	others := false
	for _, r := range data.results {
		if r.judgeKind() == "lexical" {
			names = append(names, line(r.run.Manifest.ID, 80))
		} else {
			others = true
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := "It compares words: what stands in the cited sentences in other words is undecided."
	if others {
		text = "The lexical one, in " + list(names) + ", compares words: what is worded otherwise is undecided."
	}
	return text
}
