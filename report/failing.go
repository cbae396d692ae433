package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"ibid/dataset/runs"
)

// Failing is the view model of the rows of a run that are not good enough.
type Failing struct {
	Run       *runs.Manifest
	Gate      string // what a row must meet
	Metric    string
	Undefined int64 // rows of which the gate says nothing
	Rows      []FailingRow
}

// A FailingRow is one of them, and what its counts say about why. Value is nil
// for a row that could not be scored.
type FailingRow struct {
	Row    int64    `json:"row"`
	ID     string   `json:"id"`
	System string   `json:"system"`
	Value  *float64 `json:"value"`
	Why    []string `json:"why"`
}

// WhyColumns are the columns of rows.parquet that a reason can be seen in.
var WhyColumns = []string{
	"citations", "valid_citations", "truth_spans", "matched_spans", "claims_needing_citation", "cited_claims",
	"contradicted_claims", "hallucinated_claims", "unscored_claims",
}

// NewFailingRow says why a row fails, from its error or its WhyColumns.
func NewFailingRow(key runs.RowKey, value *float64, row runs.Record) FailingRow {
	f := FailingRow{Row: key.Row, ID: key.ID, System: key.System, Value: value, Why: []string{}}
	if key.Error != "" {
		f.Why = append(f.Why, "not scored: "+key.Error)
		return f
	}
	say := func(n int64, one, many string) {
		if n > 0 {
			f.Why = append(f.Why, plural(n, one, many))
		}
	}
	rest := func(all, part string) int64 { // 0 where one of the two is unknown
		if row[all].Null || row[part].Null {
			return 0
		}
		return row[all].Int - row[part].Int
	}
	if citations := row["citations"]; !citations.Null && citations.Int == 0 {
		f.Why = append(f.Why, "cites nothing")
	}
	say(rest("citations", "valid_citations"), "citation not valid", "citations not valid")
	say(rest("truth_spans", "matched_spans"), "true span missed", "true spans missed")
	say(rest("claims_needing_citation", "cited_claims"), "claim without citation", "claims without citation")
	say(row["contradicted_claims"].Int, "claim contradicted", "claims contradicted")
	say(rest("hallucinated_claims", "contradicted_claims"), "claim unsupported", "claims unsupported")
	say(row["unscored_claims"].Int, "claim not judged", "claims not judged")
	return f
}

// title is the finding in words.
func (f *Failing) title() string {
	failing, unscored := int64(0), int64(0)
	for _, r := range f.Rows {
		if r.Value == nil {
			unscored++
		} else {
			failing++
		}
	}
	title := fmt.Sprintf("run %s: %s of %s fail %s", CleanLine(f.Run.ID), Thousands(failing), plural(f.Run.Rows, "row", "rows"), f.Gate)
	if unscored > 0 {
		title += fmt.Sprintf(", %s not scored", Thousands(unscored))
	}
	if f.Undefined > 0 {
		title += fmt.Sprintf(", %s without value", Thousands(f.Undefined))
	}
	return title
}

// Write renders the rows as text, json, csv or markdown. A nil style is none.
func (f *Failing) Write(w io.Writer, format string, style Style) error {
	switch format {
	case "json":
		return f.writeJSON(w)
	case "csv":
		return f.writeCSV(w)
	case "markdown":
		return f.writeMarkdown(w)
	}
	if style == nil {
		style = plain{}
	}
	var b strings.Builder
	fmt.Fprintln(&b, style.Bold(f.title()))
	if len(f.Rows) > 0 {
		b.WriteString("\n")
		t := &table{header: []string{"row", "id/system", f.Metric, "why"}, right: 4}
		for _, r := range f.Rows {
			t.rows = append(t.rows, []string{
				fmt.Sprintf("#%d", r.Row), CleanLine(r.ID + "/" + r.System), Number(r.Value), CleanLine(strings.Join(r.Why, ", ")),
			})
		}
		t.write(&b, style)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// failingJSON is the JSON form of failing rows.
type failingJSON struct {
	Schema    string       `json:"schema"`
	Run       runJSON      `json:"run"`
	Gate      string       `json:"gate"`
	Undefined int64        `json:"undefined"`
	Rows      []FailingRow `json:"rows"`
}

func (f *Failing) writeJSON(w io.Writer) error {
	return encodeJSON(w, failingJSON{"ibid.failing/v1", runOf(f.Run), f.Gate, f.Undefined, append([]FailingRow{}, f.Rows...)})
}

func (f *Failing) writeCSV(w io.Writer) error {
	rows := [][]string{{"row", "id", "system", f.Metric, "why"}}
	for _, r := range f.Rows {
		rows = append(rows, []string{count(r.Row), r.ID, r.System, exact(r.Value), strings.Join(r.Why, "; ")})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func (f *Failing) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n| row | id | system | %s | why |\n|--:|---|---|--:|---|\n", markdownText(f.title()), f.Metric)
	for _, r := range f.Rows {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", r.Row, markdownText(CleanLine(r.ID)), markdownText(CleanLine(r.System)), Number(r.Value),
			markdownText(CleanLine(strings.Join(r.Why, ", "))))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
