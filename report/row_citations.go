package report

import (
	"fmt"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics/span"
)

// A CitationView is one citation as the results have it.
type CitationView struct {
	Number    int64    `json:"citation"`
	Doc       string   `json:"doc"`
	Page      *int64   `json:"page"`
	Start     *int64   `json:"start"`
	End       *int64   `json:"end"`
	Unit      string   `json:"unit"`
	Status    string   `json:"status"`
	Repaired  string   `json:"repaired,omitempty"`
	BestTruth *int64   `json:"best_truth"`
	Exact     *float64 `json:"exact_jaccard"`
	Snapped   *float64 `json:"snapped_jaccard"`
	Quote     string   `json:"cited_text,omitempty"`
	Support   *float64 `json:"support"`
	Label     string   `json:"label,omitempty"`
	Relevant  *bool    `json:"relevant"`
	Necessary *bool    `json:"necessary"`
	Precheck  string   `json:"precheck,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	Evidence  string   `json:"quote,omitempty"`        // what the judge quotes of the source
	Meant     string   `json:"did_you_mean,omitempty"` // a document that is there, where the cited one is not
}

func citationView(c runs.Record) CitationView {
	v := CitationView{
		Number: c["citation"].Int, Doc: c["doc"].Text, Page: integer(c["page"]), Start: integer(c["start"]), End: integer(c["end"]),
		Unit: c["unit"].Text, Status: c["status"].Text, BestTruth: integer(c["best_truth"]),
		Exact: double(c["exact_jaccard"]), Snapped: double(c["snapped_jaccard"]), Quote: c["cited_text"].Text,
		Support: double(c["support"]), Label: c["label"].Text, Relevant: boolean(c["relevant"]), Necessary: boolean(c["necessary"]),
		Precheck: c["precheck"].Text, Reason: c["reason"].Text, Evidence: c["quote"].Text,
	}
	if from, to := c["repaired_start"], c["repaired_end"]; !from.Null && !to.Null {
		v.Repaired = fmt.Sprintf("[%d, %d)", from.Int, to.Int)
	}
	return v
}

func (v *RowView) writeCitations(b *strings.Builder, style Style) {
	b.WriteString("\n")
	t := &table{header: []string{"citation", "place", "status", "best truth", "Jaccard", "snapped", "support"}, right: 4}
	for _, c := range v.Citations {
		best := ""
		if c.BestTruth != nil {
			best = fmt.Sprint(*c.BestTruth)
		}
		status := c.Status
		if c.Repaired != "" {
			status += " to " + c.Repaired
		}
		t.rows = append(t.rows, []string{fmt.Sprint(c.Number), CleanLine(c.place()), status, best, Number(c.Exact), Number(c.Snapped), optional(c.Support)})
	}
	if len(t.rows) == 0 {
		b.WriteString("no citations\n")
		return
	}
	t.write(b, style)
	for i := range v.Citations {
		v.Citations[i].writeWhy(b, style)
	}
}

// writeWhy says what is wrong with a citation, and what the judge said of it.
func (c *CitationView) writeWhy(b *strings.Builder, style Style) {
	say := func(what, text string) {
		fmt.Fprintf(b, "%s %s\n", style.Dim(fmt.Sprintf("citation %d %s:", c.Number, what)), line(text, longText))
	}
	if c.Status != span.OK.String() {
		if word := wordOf(statusWords, c.Status); word.Long != "" {
			say("status", word.Long)
		}
	}
	if c.Meant != "" {
		say("hint", "did you mean "+c.Meant+"?")
	}
	if c.Relevant != nil && !*c.Relevant && validStatus(c.Status) {
		say("relevance", "not relevant to its claim")
	}
	if c.Necessary != nil && !*c.Necessary {
		say("necessity", "the claim is supported without it")
	}
	if c.Precheck != "" && c.Precheck != c.Status {
		say("precheck", c.Precheck)
	}
	if c.Reason != "" {
		say("reason", c.Reason)
	}
	if c.Evidence != "" {
		say("evidence", "“"+c.Evidence+"”")
	}
}

// place is where a citation points, in words.
func (c *CitationView) place() string {
	s := c.Doc
	if s == "" {
		s = "–"
	}
	if c.Page != nil {
		s += fmt.Sprintf(" p. %d", *c.Page)
	}
	if c.Start != nil && c.End != nil {
		s += fmt.Sprintf(" [%d, %d)", *c.Start, *c.End)
		if c.Unit != "codepoint" && c.Unit != "" {
			s += " " + c.Unit
		}
	}
	return s
}
