package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

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
		if r.calls.calls == 0 && m.Judge.Calls == 0 && c == nil && len(corrected) == 0 {
			continue
		}
		of := ""
		if data.several() {
			of = " of " + m.ID
			out = append(out, doc.Heading{Text: doc.T(m.ID)})
		}
		out = append(out, doc.Para{Text: doc.T(judgeInWords(r))}, append(judgeFacts(&m.Judge), r.calls.facts()...))
		if r.calls.calls > 0 {
			out = append(out, r.calls.table("How calls ended"+of))
		}
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
	}
	if j.CostUSD != nil {
		facts.Add("cost", fmt.Sprintf("$%.4f", *j.CostUSD))
		if n := j.Asked; n > 0 {
			facts.Add("cost of 1,000 claims", fmt.Sprintf("$%.4f", *j.CostUSD/float64(n)*1000))
		}
	}
	return facts
}

// callSums are sums over the calls of a run.
type callSums struct {
	calls, asked, answered, again, repaired int64

	latency []float64 // in milliseconds, of those that were not cached
	ended   map[string]int64
}

// readCalls sums up the calls of a run, if it has any.
func readCalls(dir string) (callSums, error) {
	s := callSums{ended: make(map[string]int64)}
	columns := []string{"row", "cached", "repaired", "attempts", "prompt_tokens", "completion_tokens", "latency_ms", "status"}
	err := runs.Calls.Scan(dir, columns, func(_ int64, c *runs.Call) error {
		s.add(c)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return s, err
}

func (s *callSums) add(c *runs.Call) {
	s.calls++
	if c.PromptTokens != nil {
		s.asked += *c.PromptTokens
	}
	if c.CompletionTokens != nil {
		s.answered += *c.CompletionTokens
	}
	if c.Attempts > 1 {
		s.again++
	}
	if c.Repaired {
		s.repaired++
	}
	if c.LatencyMillis != nil && !c.Cached {
		s.latency = append(s.latency, float64(*c.LatencyMillis))
	}
	ended := cmp.Or(c.Status, "ok")
	if _, ok := s.ended[ended]; !ok {
		ended = strings.Clone(ended)
	}
	s.ended[ended]++
}

// facts are sums and quantiles over calls.
func (s *callSums) facts() (facts doc.Facts) {
	if s.asked+s.answered > 0 {
		facts.Add("tokens asked", Thousands(s.asked))
		facts.Add("tokens answered", Thousands(s.answered))
	}
	if n := s.calls; n > 0 {
		facts.Add("calls tried again", fmt.Sprintf("%s (%s)", Thousands(s.again), percent(s.again, n)))
		facts.Add("replies repaired", fmt.Sprintf("%s (%s)", Thousands(s.repaired), percent(s.repaired, n)))
	}
	if n := len(s.latency); n > 0 {
		slices.Sort(s.latency)
		at := func(q float64) string { return fmt.Sprintf("%.1f s", s.latency[min(int(q*float64(n)), n-1)]/1000) }
		facts.Add("latency, half of the calls under", at(0.5))
		facts.Add("latency, 95 % of the calls under", at(0.95))
	}
	return facts
}

// table counts calls by how they ended, the most frequent first.
func (s *callSums) table(caption string) doc.Table {
	names := sortedKeys(s.ended)
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(s.ended[y], s.ended[x]) })
	t := doc.Table{Caption: caption, Class: "kinds", Columns: []doc.Column{{Name: "status"}, {Name: "calls", Number: true}, {Name: "share", Number: true}}}
	for _, name := range names {
		t.Rows = append(t.Rows, []doc.Cell{doc.C(name), doc.C(Thousands(s.ended[name])), doc.C(percent(s.ended[name], s.calls))})
	}
	return t
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
