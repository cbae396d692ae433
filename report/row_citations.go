package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibid/dataset"
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
	AnswerEnd *int64   `json:"answer_end"`             // code point of the answer at which it is named
	Type      string   `json:"source_type,omitempty"`
	Origin    string   `json:"-"` // in words, as far as the display wants it
}

func citationView(c runs.Record) CitationView {
	v := CitationView{
		Number: c["citation"].Int, Doc: c["doc"].Text, Page: integer(c["page"]), Start: integer(c["start"]), End: integer(c["end"]),
		Unit: c["unit"].Text, Status: c["status"].Text, BestTruth: integer(c["best_truth"]),
		Exact: double(c["exact_jaccard"]), Snapped: double(c["snapped_jaccard"]), Quote: c["cited_text"].Text,
		Support: double(c["support"]), Label: c["label"].Text, Relevant: boolean(c["relevant"]), Necessary: boolean(c["necessary"]),
		Precheck: c["precheck"].Text, Reason: c["reason"].Text, Evidence: c["quote"].Text,
		AnswerEnd: integer(c["answer_end"]), Type: c["source_type"].Text,
	}
	if from, to := c["repaired_start"], c["repaired_end"]; !from.Null && !to.Null {
		v.Repaired = fmt.Sprintf("[%d, %d)", from.Int, to.Int)
	}
	return v
}

// SetOrigins takes over what the dataset says of where citations come from.
func (v *RowView) SetOrigins(citations []dataset.Citation, started time.Time) {
	for i := range v.Citations {
		c := &v.Citations[i]
		if c.Number >= 0 && c.Number < int64(len(citations)) {
			o := originOf(&citations[c.Number], c.Type, &v.Display, started)
			c.Origin = o.text()
		}
	}
}

// markedAnswer is the answer with the numbers of its citations in it.
func (v *RowView) markedAnswer() string {
	if !v.Display.Markers {
		return v.Answer
	}
	var at []int64
	numbers := make(map[int64]string)
	for i := range v.Citations {
		if c := &v.Citations[i]; c.AnswerEnd != nil && *c.AnswerEnd > 0 {
			if numbers[*c.AnswerEnd] == "" {
				at = append(at, *c.AnswerEnd)
			} else {
				numbers[*c.AnswerEnd] += separator
			}
			numbers[*c.AnswerEnd] += superscript(int(c.Number))
		}
	}
	slices.Sort(at)
	var b strings.Builder
	from := 0
	for k, to := range byteOffsets(v.Answer, at) {
		b.WriteString(v.Answer[from:to] + numbers[at[k]])
		from = to
	}
	return b.String() + v.Answer[from:]
}

// separator stands between two superscript numbers.
const separator = "˒"

// listed are the citations that the text shows, those of one kind of source
// together, and how many more there are.
func (v *RowView) listed() (list []CitationView, more int) {
	list = slices.Clone(v.Citations)
	if v.Display.BySourceType {
		first := make(map[string]int)
		for i, c := range list {
			if _, ok := first[c.Type]; !ok {
				first[c.Type] = i
			}
		}
		slices.SortStableFunc(list, func(a, b CitationView) int { return first[a.Type] - first[b.Type] })
	}
	n := min(len(list), v.Display.MaxCitations)
	return list[:n], len(list) - n
}

func (v *RowView) writeCitations(b *strings.Builder, style Style) {
	b.WriteString("\n")
	if len(v.Citations) == 0 {
		b.WriteString("no citations\n")
		return
	}
	t := &table{header: []string{"citation", "source type", "place", "status", "best truth", "Jaccard", "snapped", "support"}, right: 5}
	list, more := v.listed()
	for _, c := range list {
		best := ""
		if c.BestTruth != nil {
			best = fmt.Sprint(*c.BestTruth)
		}
		status := c.Status
		if c.Repaired != "" {
			status += " to " + c.Repaired
		}
		kind := ""
		if v.Display.BySourceType {
			kind = CleanLine(c.Type)
		}
		t.rows = append(t.rows, []string{fmt.Sprint(c.Number), kind, CleanLine(c.place()), status, best, Number(c.Exact), Number(c.Snapped), optional(c.Support)})
	}
	if len(list) > 0 {
		t.write(b, style)
	}
	for i := range list {
		list[i].writeWhy(b, style)
	}
	if more > 0 {
		fmt.Fprintf(b, "%s\n", style.Dim(plural(int64(more), "more citation", "more citations")+": --json has them all"))
	}
}

// writeWhy says what is wrong with a citation, and what the judge said of it.
func (c *CitationView) writeWhy(b *strings.Builder, style Style) {
	say := func(what, text string) {
		fmt.Fprintf(b, "%s %s\n", style.Dim(fmt.Sprintf("citation %d %s:", c.Number, what)), line(text, longText))
	}
	if c.Origin != "" {
		say("source", c.Origin)
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
