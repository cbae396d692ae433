package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"ibid/annotations/compare"
)

// A Plan is the view model of how many rows a comparison needs.
type Plan struct{ *compare.Plan }

func (p Plan) asJSON() any { return p.Plan }

func (p Plan) writeTo(to *paper) {
	title := fmt.Sprintf("rows needed to find a difference %.4g %% of the time, at p <= %.4g", 100*p.Power, 1-p.Level)
	if to.markdown {
		fmt.Fprintf(to, "## %s\n\n", title)
	} else {
		to.title(title)
	}
	to.grid(p.table())
	for _, note := range p.Notes {
		fmt.Fprintf(to, "\nnote: %s\n", CleanLine(note))
	}
}

func (p Plan) table() *table {
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

// writeCSV has one row for each line and difference.
func (p Plan) writeCSV(w io.Writer) error {
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
	return csv.NewWriter(w).WriteAll(rows)
}
