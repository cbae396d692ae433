package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// writeCSV writes one row for each difference, with the columns of the Parquet
// form.
func (c *Comparison) writeCSV(w io.Writer) error {
	rows := [][]string{{
		"base", "new", "system", "slice", "metric", "agg", "headline", "paired", "outcome", "n", "undefined", "clusters",
		"higher", "lower", "same", "base_estimate", "new_estimate", "diff", "ci_low", "ci_high", "se", "p", "p_adjusted", "mde",
		"level", "method", "test", "adjustment", "reason", "warnings",
		"corrected_base", "corrected_new", "corrected_diff", "corrected_low", "corrected_high", "labelled", "corrected_method",
	}}
	for _, l := range c.Lines() {
		row := []string{
			l.Base, l.New, l.System, l.Slice, l.Metric, l.Agg, strconv.FormatBool(l.Headline), strconv.FormatBool(l.Paired), string(l.Outcome),
			count(l.N), count(l.Undefined), count(l.Clusters), count(l.Higher), count(l.Lower), count(l.Same),
			exact(l.Difference.Base), exact(l.Difference.New), exact(l.Diff), exact(l.Low), exact(l.High), exact(l.SE),
			exact(l.P), exact(l.Adjusted), exact(l.MDE), exact(&c.Level), l.Method, l.Test, l.Adjustment, l.Reason, strings.Join(l.Warnings, "; "),
		}
		if v := l.Corrected; v != nil {
			row = append(row, exact(v.Base), exact(v.New), exact(&v.Diff), exact(&v.Low), exact(&v.High), count(v.Labelled), v.Method)
		} else {
			row = append(row, make([]string, 7)...)
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// writeMarkdown writes tables fit for a pull request.
func (c *Comparison) writeMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "## %s\n", markdownText(c.title()))
	for _, note := range c.Notes {
		fmt.Fprintf(b, "\n> %s\n", markdownText(note))
	}
	var notes footnotes
	for i := range c.Rankings {
		r := &c.Rankings[i]
		fmt.Fprintf(b, "\n### %s\n\n", markdownText(rankingTitle(r)))
		c.rankingTable(r).markdown(b)
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		fmt.Fprintf(b, "\n### %s\n\n", markdownText(c.pairTitle(p)))
		table, _ := c.pairTable(p, &notes, true)
		table.markdown(b)
		if t := c.correctedTable(p); t != nil {
			b.WriteString("\n")
			t.markdown(b)
		}
	}
	fmt.Fprintf(b, "\n%s\n", markdownText(c.legend()))
	for i, note := range notes.texts {
		fmt.Fprintf(b, "\n%s %s\n", superscript(i+1), markdownText(note))
	}
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
