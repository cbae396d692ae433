package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ibid/annotations/compare"
	"ibid/metrics"
)

// A Comparison is the view model of how sides compare.
type Comparison struct {
	*compare.Result
}

// NewComparison makes the view model.
func NewComparison(r *compare.Result) *Comparison { return &Comparison{r} }

func (c *Comparison) asJSON() any { return comparisonJSON{c.Result, c.answer()} }

func (c *Comparison) writeCSV(w io.Writer) error { return compare.Lines.WriteCSV(w, c.Lines()) }

// shownPairs is up to how many sides all pairs are shown in text, unless all is
// asked for; of more, only those with the first side.
const shownPairs = 3

// pairs are those to show, and how many are left out.
func (c *Comparison) pairs(all bool) (shown []compare.Pair, left int) {
	for _, p := range c.Pairs {
		if all || len(c.Sides) <= shownPairs || p.Base == 0 {
			shown = append(shown, p)
		} else {
			left++
		}
	}
	return shown, left
}

// title names the sides.
func (c *Comparison) title() string {
	var names []string
	for _, s := range c.Sides[1:] {
		names = append(names, CleanLine(s.Name))
	}
	title := CleanLine(c.Sides[0].Name) + " -> " + strings.Join(names, ", ")
	if c.By != "run" {
		title = "run " + CleanLine(c.Sides[0].Run) + ": " + CleanLine(c.Sides[0].Name) + " -> " + strings.Join(names, ", ")
	}
	return title
}

func (c *Comparison) pairTitle(p *compare.Pair) string {
	base, other := CleanLine(c.Sides[p.Base].Name), CleanLine(c.Sides[p.New].Name)
	title := base + " -> " + other
	switch {
	case p.System != "":
		title += ", system " + CleanLine(p.System)
	case c.By == "run" && c.Sides[p.Base].System == "":
		title += ", all systems"
	}
	if !p.Paired {
		return fmt.Sprintf("%s: not paired, no question in common: %s rows side by side", title, Thousands(p.Rows))
	}
	title += fmt.Sprintf(": %s pairs", Thousands(p.Rows))
	for _, d := range []struct {
		side    string
		dropped compare.Named
	}{{base, p.OnlyBase}, {other, p.OnlyNew}} {
		if d.dropped.Rows > 0 {
			title += fmt.Sprintf(", %s only in %s (%s)", Thousands(d.dropped.Rows), d.side, idList(d.dropped))
		}
	}
	return title
}

// namedIDs is how many dropped rows text names; JSON has more.
const namedIDs = 3

func idList(d compare.Named) string { return firstIDs(d, namedIDs) }

// firstIDs are the first n names.
func firstIDs(d compare.Named, n int) string {
	var ids []string
	for _, id := range d.IDs[:min(n, len(d.IDs))] {
		ids = append(ids, CleanLine(id))
	}
	if d.Rows > int64(len(ids)) {
		ids = append(ids, "…")
	}
	return strings.Join(ids, ", ")
}

// writeTo writes text, or tables fit for a pull request, which have everything.
func (c *Comparison) writeTo(p *paper) {
	p.title(c.title())
	lists, answer := c.failureLists(), c.answer()
	answerForm, listForm, noteForm, noteText := "%s\n", "%s\n", "note: %s\n", CleanLine
	if p.markdown {
		answerForm, listForm, noteForm, noteText = "\n**%s**\n", "- %s\n", "\n> %s\n", markdownText
		answer = markdownText(answer)
		for i := range lists {
			lists[i] = markdownText(lists[i])
		}
	}
	if answer != "" {
		fmt.Fprintf(p, answerForm, answer)
	}
	if p.markdown && len(lists) > 0 {
		p.WriteString("\n")
	}
	for _, text := range lists {
		fmt.Fprintf(p, listForm, text)
	}
	for _, note := range c.shownNotes() {
		fmt.Fprintf(p, noteForm, noteText(note))
	}
	for i := range c.Rankings {
		r := rankingShown(&c.Rankings[i])
		p.heading(rankingTitle(&r))
		p.grid(c.rankingTable(&r))
	}
	all := p.all || p.markdown
	shown, left := c.pairs(all)
	for i := range shown {
		p.heading(c.pairTitle(&shown[i]))
		table, quiet := c.pairTable(&shown[i], &p.notes, all)
		p.grid(table)
		if quiet > 0 {
			fmt.Fprintf(p, "%d more, none of them significant, with -v\n", quiet)
		}
		if t := c.correctedTable(&shown[i]); t != nil {
			p.WriteString("\n")
			p.grid(t)
		}
	}
	if t := c.tookTable(); t != nil {
		p.WriteString("\n")
		p.grid(t)
	}
	if left > 0 {
		fmt.Fprintf(p, "\n%d more pairs with -v, in JSON and CSV\n", left)
	}
	fmt.Fprintf(p, "\n%s\n", noteText(c.legend()))
	for i, note := range p.notes.texts {
		if p.markdown {
			p.WriteString("\n")
		}
		fmt.Fprintf(p, "%s %s\n", superscript(i+1), noteText(note))
	}
}

// shownNotes are the notes with the metrics that people see.
func (c *Comparison) shownNotes() []string {
	var out []string
	for _, note := range c.Notes {
		out = append(out, strings.ReplaceAll(note, metrics.HallucinationScore.String(), metrics.HallucinationRate.String()))
	}
	return out
}

// tookTable is what the answers of the sides took.
func (c *Comparison) tookTable() *table {
	var names []string
	var all []compare.Took
	for _, s := range c.Sides {
		names, all = append(names, CleanLine(s.Name)), append(all, s.Took)
	}
	return tookTable(names, all)
}

// legend says what marks and columns mean.
func (c *Comparison) legend() string {
	alpha := 1 - c.Level
	text := fmt.Sprintf("~ no significant difference: p > %.4g after Holm (headline)", alpha)
	if slices.ContainsFunc(c.Lines(), func(l compare.Line) bool { return !l.Headline }) {
		text += " or Benjamini-Hochberg (the rest)"
	}
	return text + fmt.Sprintf("; mde is the least difference found %.4g %% of the time", 100*c.Power)
}

// pairTable shows the differences of a pair, one line each. Of those that were not
// declared to decide, only significant ones are shown unless all is asked for.
func (c *Comparison) pairTable(p *compare.Pair, notes *footnotes, all bool) (t *table, quiet int) {
	base, other := CleanLine(c.Sides[p.Base].Name), CleanLine(c.Sides[p.New].Name)
	t = &table{right: 1, header: []string{"", base, other, "", "diff", fmt.Sprintf("%g %%", 100*c.Level), "p", "mde", "better", "worse", "same", "n"}}
	differences := shownDifferences(p)
	for i := range differences {
		d := &differences[i]
		if !all && !d.Headline && (d.Outcome == compare.Undecided || d.Outcome == compare.Unknown) {
			quiet++
			continue
		}
		t.rows = append(t.rows, pairLine(d, p.Paired, notes))
	}
	return t, quiet
}

// shownDifferences are the differences of a pair as people see them, each once: the
// hallucination rate stands for the score, and not beside it.
func shownDifferences(p *compare.Pair) []compare.Difference {
	var out []compare.Difference
	for i := range p.Differences {
		d := asShown(&p.Differences[i])
		if !slices.ContainsFunc(out, func(e compare.Difference) bool { return quantityName(&e) == quantityName(&d) }) {
			out = append(out, d)
		}
	}
	return out
}

func pairLine(d *compare.Difference, paired bool, notes *footnotes) []string {
	warnings := d.Warnings
	if d.Undefined > 0 {
		what := "pairs"
		if !paired {
			what = "rows"
		}
		warnings = append(slices.Clone(warnings), fmt.Sprintf("%s are left out where a side is undefined", what))
	}
	if d.Reason != "" {
		warnings = append(slices.Clone(warnings), "undefined: "+d.Reason)
	}
	cells := []string{
		quantityName(d), numberOrDash(d.Base), numberOrDash(d.New), string(d.Outcome), signed(d.Diff), interval(d.Low, d.High), pValue(d), "",
		"", "", "", Thousands(d.N) + notes.marks(warnings),
	}
	if d.Outcome == compare.Undecided {
		cells[7] = numberOrDash(d.MDE)
	}
	if paired {
		better, worse := d.Improved(), d.Declined()
		if d.Direction == 0 {
			cells[8], cells[9] = "+"+Thousands(d.Higher), "-"+Thousands(d.Lower)
		} else {
			cells[8], cells[9] = Thousands(better), Thousands(worse)
		}
		cells[10] = Thousands(d.Same)
	}
	return cells
}

// quantityName is the metric, as gates write it.
func quantityName(d *compare.Difference) string {
	name := d.Metric
	if d.Agg == "micro" {
		name = "micro(" + name + ")"
	}
	if d.Slice != "" {
		name += " [" + CleanLine(d.Slice) + "]"
	}
	return name
}

func signed(v *float64) string {
	if v == nil {
		return "–"
	}
	text := number(*v)
	if *v > 0 && text != "0.000" {
		text = "+" + text
	}
	return text
}

// pValue is the adjusted p-value.
func pValue(d *compare.Difference) string {
	switch {
	case d.Adjusted == nil:
		return ""
	case *d.Adjusted < 0.001:
		return "p<0.001"
	}
	return fmt.Sprintf("p=%.3f", *d.Adjusted)
}

func rankingTitle(r *compare.Ranking) string {
	name := r.Metric
	if r.Agg == "micro" {
		name = "micro(" + name + ")"
	}
	return "ranking by " + name
}

// rankingTable shows who is surely best, and who may be.
func (c *Comparison) rankingTable(r *compare.Ranking) *table {
	t := &table{right: 1, header: []string{"", "estimate", "simultaneous", "rank", ""}}
	for _, p := range r.Places {
		rank := fmt.Sprint(p.Best)
		if p.Worst > p.Best {
			rank += fmt.Sprintf("–%d", p.Worst)
		}
		word := ""
		switch {
		case p.Sure:
			word = "surely best"
		case p.Tied:
			word = "may be best"
		}
		t.rows = append(t.rows, []string{CleanLine(c.Sides[p.Side].Name), number(p.Estimate), interval(p.Low, p.High), rank, word})
	}
	return t
}

// correctedTable sets the differences that people's labels correct beside the raw
// ones; nil if there is none.
func (c *Comparison) correctedTable(p *compare.Pair) *table {
	base, other := CleanLine(c.Sides[p.Base].Name), CleanLine(c.Sides[p.New].Name)
	t := &table{right: 1, header: []string{
		"corrected for the judge's errors", base, other, "diff", fmt.Sprintf("%g %%", 100*c.Level), "raw diff", "labelled", "by",
	}}
	differences := shownDifferences(p)
	for i := range differences {
		d := &differences[i]
		if v := d.Corrected; v != nil {
			t.rows = append(t.rows, []string{
				quantityName(d), numberOrDash(v.Base), numberOrDash(v.New), signed(&v.Diff), interval(&v.Low, &v.High), signed(d.Diff),
				fmt.Sprintf("%s of %s", Thousands(v.Labelled), Thousands(d.N)), v.Method,
			})
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t
}

// markdown writes the table in the syntax of GitHub.
func (t *table) markdown(b *strings.Builder) {
	line := func(cells []string) {
		b.WriteString("|")
		for _, cell := range cells {
			b.WriteString(" " + markdownText(cell) + " |")
		}
		b.WriteString("\n")
	}
	line(t.header)
	b.WriteString("|")
	for i := range t.header {
		if i < t.right {
			b.WriteString("---|")
		} else {
			b.WriteString("--:|")
		}
	}
	b.WriteString("\n")
	for _, row := range t.rows {
		line(row)
	}
}
