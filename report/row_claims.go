package report

import (
	"fmt"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// A ClaimView is what became of one claim of the answer.
type ClaimView struct {
	Number    int64          `json:"claim"`
	ID        string         `json:"claim_id,omitempty"`
	Start     *int64         `json:"start"` // code points of the answer
	End       *int64         `json:"end"`
	Text      string         `json:"text"`
	Factual   *bool          `json:"factual"`
	Needs     *bool          `json:"needs_citation"`
	Citations []int64        `json:"citations"`
	Outcome   string         `json:"outcome"`
	Support   *float64       `json:"support"` // of what it cites, together
	Label     string         `json:"label,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Elsewhere *ElsewhereView `json:"elsewhere"`
}

// An ElsewhereView is the best evidence for a claim that it does not cite.
type ElsewhereView struct {
	Doc     string   `json:"doc"`
	Page    *int64   `json:"page"`
	Start   *int64   `json:"start"` // code points of the document, or of the page
	End     *int64   `json:"end"`
	Support *float64 `json:"support"`
	Text    string   `json:"text,omitempty"` // what stands there, if the texts are at hand
}

func claimView(c runs.Record) ClaimView {
	v := ClaimView{
		Number: c["claim"].Int, ID: c["claim_id"].Text, Start: integer(c["start"]), End: integer(c["end"]), Text: c["text"].Text,
		Factual: boolean(c["factual"]), Needs: boolean(c["needs_citation"]), Citations: append([]int64{}, c["citations"].Ints...),
		Outcome: c["outcome"].Text, Support: double(c["support"]), Label: c["label"].Text, Reason: c["reason"].Text,
	}
	if !c["elsewhere_doc"].Null {
		v.Elsewhere = &ElsewhereView{
			Doc: c["elsewhere_doc"].Text, Page: integer(c["elsewhere_page"]), Start: integer(c["elsewhere_start"]),
			End: integer(c["elsewhere_end"]), Support: double(c["elsewhere_support"]),
		}
	}
	return v
}

// Quote takes the text of a place out of the text of its key.
func (e *ElsewhereView) Quote(text string) {
	if e.Start == nil || e.End == nil || *e.Start < 0 || *e.End < *e.Start {
		return
	}
	at := byteOffsets(text, []int64{*e.Start, *e.End})
	e.Text = text[at[0]:at[1]]
}

// place is where the evidence stands, in words.
func (e *ElsewhereView) place() string {
	return (&CitationView{Doc: e.Doc, Page: e.Page, Start: e.Start, End: e.End}).place()
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
	if e := c.Elsewhere; e != nil && c.Outcome != metrics.SupportedByCited.String() {
		text := e.place()
		if e.Support != nil {
			text += ", support " + number(*e.Support)
		}
		if e.Text != "" {
			text += ": “" + e.Text + "”"
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
