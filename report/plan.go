package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ibid/annotations/compare"
)

// WritePlan renders a plan as text, json, csv or markdown.
func WritePlan(w io.Writer, p *compare.Plan, format string, o TextOptions) error {
	switch format {
	case "json":
		return WriteJSON(w, p)
	case "csv":
		return csv.NewWriter(w).WriteAll(planCSV(p))
	}
	if o.Style == nil {
		o.Style = plain{}
	}
	title := fmt.Sprintf("rows needed to find a difference %.4g %% of the time, at p <= %.4g", 100*p.Power, 1-p.Level)
	var b strings.Builder
	if format == "markdown" {
		fmt.Fprintf(&b, "## %s\n\n", title)
		planTable(p).markdown(&b)
	} else {
		fmt.Fprintln(&b, o.Style.Bold(title))
		planTable(p).write(&b, o.Style)
	}
	for _, note := range p.Notes {
		fmt.Fprintf(&b, "\nnote: %s\n", CleanLine(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func planTable(p *compare.Plan) *table {
	t := &table{header: []string{"", "by", "n", "deviation", "mde"}, right: 2}
	for _, delta := range p.Deltas {
		t.header = append(t.header, "for "+strconv.FormatFloat(delta, 'g', -1, 64))
	}
	for _, l := range p.Lines {
		name := l.Metric
		if l.Agg == "micro" {
			name = "micro(" + name + ")"
		}
		from := CleanLine(l.From)
		if !l.Paired {
			from += " (unpaired)"
		}
		row := []string{name, from, Thousands(l.N), numberOrDash(l.Deviation), numberOrDash(l.MDE)}
		for _, n := range l.Rows {
			if n == nil {
				row = append(row, "–")
			} else {
				row = append(row, Thousands(*n))
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// planCSV has one row for each line and difference.
func planCSV(p *compare.Plan) [][]string {
	rows := [][]string{{"metric", "agg", "from", "paired", "n", "clusters", "deviation", "mde", "delta", "rows"}}
	for _, l := range p.Lines {
		for i, delta := range p.Deltas {
			needed := ""
			if l.Rows[i] != nil {
				needed = count(*l.Rows[i])
			}
			rows = append(rows, []string{
				l.Metric, l.Agg, l.From, strconv.FormatBool(l.Paired), count(l.N), count(l.Clusters), exact(l.Deviation), exact(l.MDE), exact(&delta), needed,
			})
		}
	}
	return rows
}
