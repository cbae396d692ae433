package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/presence"
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
	Calls     []runs.Call    `json:"judge_calls,omitempty"` // of a judge that asks models

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
	Place     ibid.Place `json:"place"`
}

// A SourceView is one text with the neighbourhoods of the row's spans.
type SourceView struct {
	Doc      string    `json:"doc"`
	Page     int32     `json:"page"`
	Passages []Passage `json:"passages"`
}

// NewRowView takes over what the results say.
func NewRowView(row *runs.Row, claims []runs.Claim, citations []runs.Citation, calls []runs.Call) *RowView {
	v := &RowView{
		Schema: "ibid.row/v1", Row: row.Row, ID: row.ID, System: row.System, Error: row.Error,
		Annotator: row.Annotator, Tampering: row.Tampering, Calls: calls, Display: DefaultDisplay(),
	}
	for _, d := range metrics.Definitions() {
		number := row.Number(d.Name)
		if reason, undefined := row.Undefined[d.Name]; undefined || number != nil {
			v.Metrics = append(v.Metrics, Value{Name: d.Name, Number: number, Reason: reason})
		}
	}
	for _, c := range claims {
		view := ClaimView{Claim: c}
		if e := c.Elsewhere; e != nil && e.Doc != "" {
			view.Elsewhere = &ElsewhereView{Elsewhere: *e}
		}
		v.Claims = append(v.Claims, view)
	}
	for _, c := range citations {
		view := CitationView{Citation: c}
		if c.RepairedStart != nil && c.RepairedEnd != nil {
			view.Repaired = fmt.Sprintf("[%d, %d)", *c.RepairedStart, *c.RepairedEnd)
		}
		v.Citations = append(v.Citations, view)
	}
	return v
}

// AddText adds the text of one key, around the row's spans in it: those of the citations
// and those of v.Truth.
func (v *RowView) AddText(doc string, page int32, text string, cited []ibid.Citation) {
	var marks []Mark
	add := func(p *ibid.Place, isTrue bool) {
		if p.Doc == doc && p.Page == page && p.InSets() {
			marks = append(marks, Mark{p.Start, p.End, isTrue})
		}
	}
	for i := range cited {
		add(&cited[i].Place, false)
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

// tamperingPlace says in words where an attempt to steer the judge was found.
func tamperingPlace(code string) string {
	return strings.ReplaceAll(strings.Replace(code, "in_", "in the ", 1), "_", " ")
}

func (v *RowView) writeCalls(b *strings.Builder, style Style) {
	if len(v.Calls) == 0 {
		return
	}
	t := &table{header: []string{"judge call", "provider", "status", "attempts", "tokens", "cost", "ms"}, right: 3}
	for i := range v.Calls {
		c := &v.Calls[i]
		status := c.Status
		if c.Cached {
			status += ", cached"
		}
		if c.Repaired {
			status += ", repaired"
		}
		t.rows = append(t.rows, []string{
			CleanLine(c.Model), CleanLine(c.Provider), CleanLine(status), fmt.Sprint(c.Attempts), tokensText(c), costText(c.CostUSD),
			integerText(c.LatencyMillis),
		})
	}
	b.WriteString("\n")
	t.write(b, style)
}

func tokensText(c *runs.Call) string {
	return integerText(c.PromptTokens) + " + " + integerText(c.CompletionTokens)
}

func integerText(n *int64) string {
	if n == nil {
		return "–"
	}
	return fmt.Sprint(*n)
}

func costText(usd *float64) string {
	if usd == nil {
		return "–"
	}
	return fmt.Sprintf("$%.6f", *usd)
}

// Display says what the view of a row shows of its citations.
type Display struct {
	Provenance   bool // where a citation comes from, as its provider says
	Relevance    bool // the provider's relevance score
	Tokens       bool // how many tokens the source contributed
	BySourceType bool // citations are grouped by kind of source
	MaxCitations int  // most citations that are seen at once; the rest is seen on request
	Markers      bool // citations are numbered in the answer
}

// DefaultDisplay is what is shown unless somebody wants it otherwise.
func DefaultDisplay() Display {
	return Display{Provenance: true, BySourceType: true, MaxCitations: 10, Markers: true}
}

// Parts are the parts that a report leaves out. The zero value leaves out none.
type Parts struct {
	NoSpans          bool // what is cited and true, in the texts of the documents
	NoHallucinations bool // which claims lack support, and why
}

// A CitationView is one citation as the results have it.
type CitationView struct {
	runs.Citation
	Repaired string `json:"repaired,omitempty"`     // the repaired place in words
	Meant    string `json:"did_you_mean,omitempty"` // a document that is there, where the cited one is not
	Origin   string `json:"-"`                      // in words, as far as the display wants it
}

// SetOrigins takes over what the dataset says of where citations come from.
func (v *RowView) SetOrigins(citations []ibid.Citation, started time.Time) {
	for i := range v.Citations {
		c := &v.Citations[i]
		if c.Number >= 0 && int(c.Number) < len(citations) {
			o := originOf(&citations[c.Number], c.SourceType, &v.Display, started)
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
			if _, ok := first[c.SourceType]; !ok {
				first[c.SourceType] = i
			}
		}
		slices.SortStableFunc(list, func(a, b CitationView) int { return first[a.SourceType] - first[b.SourceType] })
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
			kind = CleanLine(c.SourceType)
		}
		t.rows = append(t.rows, []string{fmt.Sprint(c.Number), kind, CleanLine(PlaceOf(&c.Citation)), status, best, Number(c.ExactJaccard), Number(c.SnappedJaccard), optional(c.Support)})
	}
	if len(list) > 0 {
		t.write(b, style)
	}
	telling := Telling{Annotator: v.Annotator}
	for i := range list {
		list[i].writeWhy(b, style, telling.CitationRemarks(&list[i].Citation, nil))
	}
	if more > 0 {
		fmt.Fprintf(b, "%s\n", style.Dim(plural(int64(more), "more citation", "more citations")+": --json has them all"))
	}
}

// writeWhy says what is wrong with a citation, and what the judge said of it: what the
// table has no number for.
func (c *CitationView) writeWhy(b *strings.Builder, style Style, remarks []Remark) {
	say := func(about, text string) {
		fmt.Fprintf(b, "%s %s\n", style.Dim(fmt.Sprintf("citation %d %s:", c.Number, about)), line(text, longText))
	}
	if c.Origin != "" {
		say("source", c.Origin)
	}
	for _, r := range remarks {
		switch r.About {
		case "match", "support", "claim":
			continue
		case "status":
			if c.Status == ibid.StatusOK.String() {
				continue
			}
		}
		say(r.About, r.Text)
		if r.About == "status" && c.Meant != "" {
			say("hint", "did you mean "+c.Meant+"?")
		}
	}
	if c.Quote != "" {
		say("evidence", "“"+c.Quote+"”")
	}
}

// A ClaimView is what became of one claim of the answer.
type ClaimView struct {
	runs.Claim
	Elsewhere *ElsewhereView `json:"elsewhere"` // nil if no place of it is known
}

// An ElsewhereView is the best evidence for a claim that it does not cite.
type ElsewhereView struct {
	runs.Elsewhere
	Text string `json:"text,omitempty"` // what stands there, if the texts are at hand
}

// Quote takes the text of a place out of the text of its key.
func (e *ElsewhereView) Quote(text string) {
	if e.Start == nil || e.End == nil || *e.Start < 0 || *e.End < *e.Start {
		return
	}
	at := byteOffsets(text, []int64{*e.Start, *e.End})
	e.Text = text[at[0]:at[1]]
}

// writeClaims says claim by claim what became of it, and why.
func (v *RowView) writeClaims(b *strings.Builder, style Style) {
	for i := range v.Claims {
		v.Claims[i].write(b, style)
	}
}

func (c *ClaimView) write(b *strings.Builder, style Style) {
	outcome := c.Outcome
	switch wordOf(outcomeWords, c.Outcome).Tone {
	case Good:
		outcome = style.Green(outcome)
	case Bad:
		outcome = style.Red(outcome)
	}
	fmt.Fprintf(b, "\n%s %s, %s", style.Bold(fmt.Sprintf("claim %d", c.Number)), outcome, c.cites())
	if c.Support != nil {
		fmt.Fprintf(b, ", support %s", number(*c.Support))
	}
	if c.Label != "" {
		fmt.Fprintf(b, " (%s)", c.Label)
	}
	b.WriteString("\n")
	say := func(what, text string) { fmt.Fprintf(b, "  %s %s\n", style.Dim(what), line(text, longText)) }
	say("text     ", c.Text)
	if c.Reason != "" {
		say("reason   ", c.Reason)
	}
	if c.Elsewhere != nil && MissedEvidence(&c.Claim) {
		text := ElsewhereInWords(c.Claim.Elsewhere)
		if c.Elsewhere.Text != "" {
			text += ": “" + c.Elsewhere.Text + "”"
		}
		say("elsewhere", text)
	}
}

// cites lists the citations of a claim.
func (c *ClaimView) cites() string {
	if len(c.Citations) == 0 {
		return "cites nothing"
	}
	return "cites " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c.Citations)), ", "), "[]")
}
