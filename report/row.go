package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/presence"
	"ibid/metrics/span"
)

// A RowView is the view model of one row: what it scored and, if its texts are
// at hand, where its citations point.
type RowView struct {
	Schema    string         `json:"schema"`
	Row       int64          `json:"row"`
	ID        string         `json:"id"`
	System    string         `json:"system"`
	Error     string         `json:"error,omitempty"`
	Query     string         `json:"query"`
	Answer    string         `json:"answer"`
	Annotator string         `json:"truth_annotator,omitempty"`
	Metrics   []Value        `json:"metrics"`
	Claims    []ClaimView    `json:"claims"`
	Citations []CitationView `json:"citations"`
	Calls     []CallView     `json:"judge_calls,omitempty"` // of a judge that asks models

	// Tampering says whether the material tries to steer the judge: none,
	// in_answer, in_evidence; "" if the judge does not look.
	Tampering string       `json:"tampering,omitempty"`
	Truth     []TruthView  `json:"truth"`
	Sources   []SourceView `json:"sources"`

	Presence *presence.Signals `json:"presence,omitempty"` // nil if the answer is not at hand

	Display Display `json:"-"` // what the text shows of citations; JSON has them all
}

// A Value is one metric of the row. Number is nil where the metric is undefined,
// and Reason says why.
type Value struct {
	Name   string   `json:"name"`
	Number *float64 `json:"value"`
	Reason string   `json:"undefined,omitempty"`
}

// A TruthView is one span that an annotator marked.
type TruthView struct {
	Annotator string     `json:"annotator"`
	Place     span.Place `json:"place"`
}

// A SourceView is one text with the neighbourhoods of the row's spans.
type SourceView struct {
	Doc      string    `json:"doc"`
	Page     int32     `json:"page"`
	Passages []Passage `json:"passages"`
}

// NewRowView takes over what the results say.
func NewRowView(key runs.RowKey, row runs.Record, claims, citations []runs.Record) *RowView {
	v := &RowView{
		Schema: "ibid.row/v1", Row: key.Row, ID: key.ID, System: key.System, Error: key.Error,
		Annotator: row["truth_annotator"].Text, Tampering: row["tampering"].Text, Display: DefaultDisplay(),
	}
	reasons := make(map[string]string)
	undefined := row["undefined"]
	for i, name := range undefined.Keys {
		reasons[name] = undefined.Texts[i]
	}
	for _, d := range metrics.Definitions() {
		if cell, ok := row[d.Name]; ok {
			v.Metrics = append(v.Metrics, Value{Name: d.Name, Number: double(cell), Reason: reasons[d.Name]})
		}
	}
	for _, c := range claims {
		v.Claims = append(v.Claims, claimView(c))
	}
	for _, c := range citations {
		v.Citations = append(v.Citations, citationView(c))
	}
	return v
}

func integer(c dataset.Cell) *int64 {
	if c.Null {
		return nil
	}
	return &c.Int
}

func boolean(c dataset.Cell) *bool {
	if c.Null {
		return nil
	}
	return new(c.Int != 0)
}

func double(c dataset.Cell) *float64 {
	if c.Null {
		return nil
	}
	return &c.Double
}

// AddText adds the text of one key, around the row's spans in it: predicted are
// the places of its citations, true those of v.Truth.
func (v *RowView) AddText(doc string, page int32, text string, predicted []span.Place) {
	var marks []Mark
	add := func(p *span.Place, isTrue bool) {
		if p.Doc == doc && p.Page == page && p.InSets() {
			marks = append(marks, Mark{p.Start, p.End, isTrue})
		}
	}
	for i := range predicted {
		add(&predicted[i], false)
	}
	for i := range v.Truth {
		if v.Annotator == "" || v.Truth[i].Annotator == v.Annotator {
			add(&v.Truth[i].Place, true)
		}
	}
	if passages := Passages(text, marks); len(passages) > 0 {
		v.Sources = append(v.Sources, SourceView{doc, page, passages})
	}
	slices.SortFunc(v.Sources, func(a, b SourceView) int {
		return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.Page, b.Page))
	})
}

// Marks of spans in plain text; they read without colour.
const (
	predictedOpen, predictedClose = "⟦", "⟧"
	trueOpen, trueClose           = "‹", "›"
)

// WriteText renders the row for a terminal.
func (v *RowView) WriteText(w io.Writer, style Style) error {
	if style == nil {
		style = plain{}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", style.Bold(fmt.Sprintf("%s/%s (#%d)", CleanLine(v.ID), CleanLine(v.System), v.Row)))
	if v.Error != "" {
		fmt.Fprintf(&b, "%s %s\n", style.Red("not scored:"), Clean(v.Error))
	}
	if v.Query != "" || v.Answer != "" {
		fmt.Fprintf(&b, "\n%s %s\n%s %s\n", style.Dim("question"), Clean(v.Query), style.Dim("answer  "), Clean(v.markedAnswer()))
	}
	if v.Annotator != "" {
		fmt.Fprintf(&b, "%s %s\n", style.Dim("truth of"), CleanLine(v.Annotator))
	}
	if p := v.Presence; p != nil {
		fmt.Fprintf(&b, "%s %s\n", style.Dim("presence"), presenceText(p))
	}
	if v.Tampering != "" && v.Tampering != "none" {
		fmt.Fprintf(&b, "%s\n", style.Red("tampering: the judge found an attempt to steer it "+tamperingPlace(v.Tampering)))
	}
	v.writeClaims(&b, style)
	v.writeCitations(&b, style)
	v.writeCalls(&b, style)
	v.writeSources(&b, style)
	v.writeMetrics(&b, style)
	_, err := io.WriteString(w, b.String())
	return err
}

// presenceText says what was found of citations in the text itself.
func presenceText(p *presence.Signals) string {
	verdict := "the text names no source"
	if p.PassesPresenceCheck {
		verdict = "the text names its sources"
	}
	return fmt.Sprintf("%s (texts read: %d, with citations: %v)", verdict, p.TotalAssistantMessages, p.MessagesWithCitations)
}

func (v *RowView) writeSources(b *strings.Builder, style Style) {
	if len(v.Sources) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s predicted %s…%s  true %s…%s  both %s%s…%s%s\n", style.Dim("legend"), predictedOpen, predictedClose,
		trueOpen, trueClose, predictedOpen, trueOpen, trueClose, predictedClose)
	for _, s := range v.Sources {
		name := s.Doc
		if s.Page > 0 {
			name += fmt.Sprintf(" p. %d", s.Page)
		}
		fmt.Fprintf(b, "\n%s\n", style.Bold(CleanLine(name)))
		for _, p := range s.Passages {
			fmt.Fprintf(b, "%s %s\n", style.Dim(fmt.Sprintf("[%d, %d)", p.Start, p.End)), p.text(style))
		}
	}
}

// text renders a passage with its marks.
func (p *Passage) text(style Style) string {
	var b strings.Builder
	if p.Before {
		b.WriteString("…")
	}
	for _, r := range p.Runs {
		text := Clean(r.Text)
		switch {
		case r.Predicted && r.True:
			b.WriteString(predictedOpen + trueOpen + style.Green(text) + trueClose + predictedClose)
		case r.Predicted:
			b.WriteString(predictedOpen + style.Red(text) + predictedClose)
		case r.True:
			b.WriteString(trueOpen + style.Bold(text) + trueClose)
		default:
			b.WriteString(text)
		}
	}
	if p.After {
		b.WriteString("…")
	}
	return b.String()
}

func (v *RowView) writeMetrics(b *strings.Builder, style Style) {
	b.WriteString("\n")
	t := &table{header: []string{"metric", "value", ""}, right: 1}
	hidden := make(map[string]int)
	for _, m := range v.Metrics {
		if m.Number == nil {
			hidden[m.Reason]++
			continue
		}
		t.rows = append(t.rows, []string{m.Name, Number(m.Number), ""})
	}
	if len(t.rows) > 0 {
		t.write(b, style)
	}
	var reasons []string
	for reason := range hidden {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		fmt.Fprintf(b, "%s\n", style.Dim(fmt.Sprintf("%d metrics undefined: %s", hidden[reason], reason)))
	}
}
