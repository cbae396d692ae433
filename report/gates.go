package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"ibid/dataset/runs"
)

// Gates is the view model of what became of a run's gates.
type Gates struct {
	Title   string // the verdict in words
	Verdict runs.Verdict
	Lacks   []string // why the run as a whole says too little to be judged by
	Results []runs.GateResult

	run *runs.Manifest
}

// NewGates makes the view model of a verdict and of what it rests on.
func NewGates(m *runs.Manifest, verdict runs.Verdict, lacks []string, results []runs.GateResult) *Gates {
	return &Gates{Title: gatesTitle(m, verdict, results), Verdict: verdict, Lacks: lacks, Results: results, run: m}
}

func gatesTitle(m *runs.Manifest, verdict runs.Verdict, results []runs.GateResult) string {
	count := countGates(results)
	title := fmt.Sprintf("run %s: %s (%d of %d gates passed", CleanLine(m.ID), verdict, count[runs.Passed], len(results))
	if n := count[runs.Failed]; n > 0 {
		title += fmt.Sprintf(", %d failed", n)
	}
	if n := count[runs.NoVerdict]; n > 0 {
		title += fmt.Sprintf(", %d without verdict", n)
	}
	return title + ")"
}

// Write is [Write] of the gates.
func (g *Gates) Write(w io.Writer, format string, o TextOptions) error { return Write(w, g, format, o) }

func (g *Gates) writeTo(p *paper) {
	p.title(g.Title)
	if p.markdown {
		markdownGates(p, g.Results)
	} else {
		p.WriteString("\n")
		p.grid(gateTable(g.Results))
	}
	for _, why := range g.Lacks {
		if p.markdown {
			why = markdownText(why)
		}
		fmt.Fprintf(p, "\n%s\n", why)
	}
}

type gatesJSON struct {
	Schema  string                       `json:"schema"`
	Run     runJSON                      `json:"run"`
	Verdict runs.Verdict                 `json:"verdict"`
	Lacks   runs.ListOf[string]          `json:"lacks"`
	Gates   runs.ListOf[runs.GateResult] `json:"gates"`
}

func (g *Gates) asJSON() any {
	return gatesJSON{"ibid.gate/v1", runOf(g.run), g.Verdict, g.Lacks, g.Results}
}

func (g *Gates) writeCSV(w io.Writer) error {
	rows := [][]string{{"gate", "verdict", "value", "detail", "reason"}}
	for _, r := range g.Results {
		rows = append(rows, []string{r.Gate, string(r.Verdict), exact(r.Value), r.Detail, r.Reason})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// gateTable shows what each gate wants and got.
func gateTable(results []runs.GateResult) *table {
	t := &table{header: []string{"gate", "", "value", "rests on"}, right: 2}
	for _, g := range results {
		t.rows = append(t.rows, []string{CleanLine(g.Gate), gateWords[g.Verdict].text, CleanLine(gateValue(g)), CleanLine(g.Detail)})
	}
	return t
}

// markdownGates writes the same for a pull request.
func markdownGates(p *paper, results []runs.GateResult) {
	p.WriteString("\n| gate | verdict | value |\n|---|---|---|\n")
	for _, g := range results {
		fmt.Fprintf(p, "| `%s` | %s | %s |\n", strings.ReplaceAll(g.Gate, "|", `\|`), g.Verdict, markdownText(gateText(g)))
	}
}

func gateText(g runs.GateResult) string { return strings.TrimSpace(gateValue(g) + " " + g.Detail) }

// gateValue is what a gate looked at, or why there is nothing to look at.
func gateValue(g runs.GateResult) string {
	if g.Reason != "" {
		return g.Reason
	}
	return numberOrDash(g.Value)
}

// A gateWord is what became of gates: on the page, in tables of text, and on top of
// Markdown.
type gateWord struct {
	page, text, sign string
	tone             tone
}

// gateWords are the verdicts in words; "" is that of a run without gates.
var gateWords = map[runs.Verdict]gateWord{
	runs.Passed:    {"passed", "PASS", "✅ gates passed, ", toneGood},
	runs.Failed:    {"failed", "FAIL", "❌ gate failed, ", toneBad},
	runs.NoVerdict: {"no verdict", "NONE", "⚠️ no verdict, ", toneWarn},
	"":             {page: "no gates", tone: toneNeutral},
}

// A gateCount is how many gates ended in which way.
type gateCount map[runs.Verdict]int64

func countGates(results []runs.GateResult) gateCount {
	count := make(gateCount)
	for _, g := range results {
		count[g.Verdict]++
	}
	return count
}

// gravest is the verdict that is said first.
func (c gateCount) gravest() runs.Verdict {
	for _, v := range []runs.Verdict{runs.Failed, runs.NoVerdict, runs.Passed} {
		if c[v] > 0 {
			return v
		}
	}
	return ""
}
