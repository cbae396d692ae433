package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
)

// Gates is the view model of what became of a run's gates.
type Gates struct {
	Title   string // the verdict in words
	Verdict runs.Verdict
	Lacks   []string // why the run as a whole says too little to be judged by
	Results []runs.GateResult
	Drift   *compare.Drift // of the judge since the baseline; nil without anchors

	run *runs.Manifest
}

// NewGates makes the view model of a verdict and of what it rests on.
func NewGates(m *runs.Manifest, verdict runs.Verdict, lacks []string, results []runs.GateResult) *Gates {
	return &Gates{Title: gatesTitle(m, verdict, results), Verdict: verdict, Lacks: lacks, Results: results, run: m}
}

func gatesTitle(m *runs.Manifest, verdict runs.Verdict, results []runs.GateResult) string {
	count := make(map[runs.Verdict]int)
	for _, g := range results {
		count[g.Verdict]++
	}
	title := fmt.Sprintf("run %s: %s (%d of %d gates passed", CleanLine(m.ID), verdict, count[runs.Passed], len(results))
	if n := count[runs.Failed]; n > 0 {
		title += fmt.Sprintf(", %d failed", n)
	}
	if n := count[runs.NoVerdict]; n > 0 {
		title += fmt.Sprintf(", %d without verdict", n)
	}
	return title + ")"
}

// Write renders the gates as text, json, csv or markdown. A nil style is none.
func (g *Gates) Write(w io.Writer, format string, style Style) error {
	switch format {
	case "json":
		return g.writeJSON(w)
	case "csv":
		return g.writeCSV(w)
	}
	var b strings.Builder
	if format == "markdown" {
		fmt.Fprintf(&b, "## %s\n", markdownText(g.Title))
		markdownGates(&b, g.Results)
		for _, why := range g.Lacks {
			fmt.Fprintf(&b, "\n%s\n", markdownText(why))
		}
	} else {
		g.writeText(&b, style)
	}
	g.writeDrift(&b, format, style)
	_, err := io.WriteString(w, b.String())
	return err
}

func (g *Gates) writeText(b *strings.Builder, style Style) {
	if style == nil {
		style = plain{}
	}
	fmt.Fprintf(b, "%s\n\n", style.Bold(g.Title))
	gateTable(g.Results).write(b, style)
	for _, why := range g.Lacks {
		fmt.Fprintf(b, "\n%s\n", why)
	}
}

// writeDrift says what was found of the judge, and what it flipped if it moved.
func (g *Gates) writeDrift(b *strings.Builder, format string, style Style) {
	if g.Drift == nil {
		return
	}
	if style == nil {
		style = plain{}
	}
	p := &paper{markdown: format == "markdown", style: style}
	if !p.markdown {
		p.WriteString("\n")
	}
	p.line(CleanLine(g.Drift.Sentence()))
	if g.Drift.Moved {
		p.flips(g.Drift, p.markdown)
	}
	b.WriteString(p.String())
}

// gatesJSON is the JSON form of gates.
type gatesJSON struct {
	Schema  string            `json:"schema"`
	Run     runJSON           `json:"run"`
	Verdict runs.Verdict      `json:"verdict"`
	Lacks   []string          `json:"lacks"`
	Gates   []runs.GateResult `json:"gates"`
	Drift   *compare.Drift    `json:"drift,omitempty"`
}

func (g *Gates) writeJSON(w io.Writer) error {
	return WriteJSON(w, gatesJSON{"ibid.gate/v1", runOf(g.run), g.Verdict, append([]string{}, g.Lacks...), append([]runs.GateResult{}, g.Results...), g.Drift})
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
		word := map[runs.Verdict]string{runs.Passed: "PASS", runs.Failed: "FAIL", runs.NoVerdict: "NONE"}[g.Verdict]
		t.rows = append(t.rows, []string{CleanLine(g.Gate), word, CleanLine(gateValue(g)), CleanLine(g.Detail)})
	}
	return t
}

// markdownGates writes the same for a pull request.
func markdownGates(b *strings.Builder, results []runs.GateResult) {
	b.WriteString("\n| gate | verdict | value |\n|---|---|---|\n")
	for _, g := range results {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", strings.ReplaceAll(g.Gate, "|", `\|`), g.Verdict, markdownText(gateText(g)))
	}
}

// gateText is the value of a gate with what it rests on.
func gateText(g runs.GateResult) string { return strings.TrimSpace(gateValue(g) + " " + g.Detail) }

// gateValue is what a gate looked at, or why there is nothing to look at.
func gateValue(g runs.GateResult) string {
	if g.Reason != "" {
		return g.Reason
	}
	return numberOrDash(g.Value)
}
