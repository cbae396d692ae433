package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ibid"
	"ibid/metrics/presence"
	"ibid/report/doc"
)

// Marks of spans in plain text; they read without colour.
const (
	predictedOpen, predictedClose = "⟦", "⟧"
	trueOpen, trueClose           = "‹", "›"
)

// WriteText renders the row for a terminal. Citations, claims and truth spans are numbered
// from 1 there, as on the page; the columns count from 0.
func (v *RowView) WriteText(w io.Writer, style Style) error {
	style = styleOf(style)
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
	for _, text := range tamperingInWords(v.Tampering, v.Suspected) {
		fmt.Fprintf(&b, "%s\n", style.Red("tampering: "+CleanLine(text)))
	}
	for i := range v.Claims {
		v.Claims[i].write(&b, style)
	}
	v.writeCitations(&b, style)
	if t := v.Matrix.table(); t != nil {
		b.WriteString("\n")
		t.write(&b, style)
	}
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
	return fmt.Sprintf("%s (of %s read, %d with citations)", verdict, Plural(int64(p.TotalAssistantMessages), "text", "texts"), len(p.MessagesWithCitations))
}

func (v *RowView) writeSources(b *strings.Builder, style Style) {
	if len(v.Sources) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s predicted %s…%s  true %s…%s  both %s%s…%s%s\n", style.Dim("legend"), predictedOpen, predictedClose,
		trueOpen, trueClose, predictedOpen, trueOpen, trueClose, predictedClose)
	for _, s := range v.Sources {
		fmt.Fprintf(b, "\n%s\n", style.Bold(CleanLine(sourceName(s.Doc, s.Page))))
		for _, p := range s.Passages {
			fmt.Fprintf(b, "%s %s\n", style.Dim(fmt.Sprintf("[%d, %d)", p.Start, p.End)), p.text(style))
		}
	}
}

// text renders a passage with its marks.
func (p *passage) text(style Style) string {
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
	undefined := make(map[string]int)
	for _, m := range v.Metrics {
		if m.Number == nil {
			undefined[m.Reason]++
			continue
		}
		if shownMetric(m.Name) != m.Name {
			continue
		}
		t.rows = append(t.rows, []string{m.Name, numberOrDash(m.Number), ""})
	}
	if len(t.rows) > 0 {
		t.write(b, style)
	}
	var reasons []string
	for reason := range undefined {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		fmt.Fprintf(b, "%s\n", style.Dim(fmt.Sprintf("%d metrics undefined: %s", undefined[reason], reason)))
	}
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
		if c.Error != "" {
			status += ": " + c.Error
		}
		t.rows = append(t.rows, []string{
			CleanLine(c.Model), CleanLine(c.Provider), CleanLine(status), fmt.Sprint(c.Attempts), integerText(c.PromptTokens) + " + " + integerText(c.CompletionTokens), costText(c.CostUSD),
			integerText(c.LatencyMillis),
		})
	}
	b.WriteString("\n")
	t.write(b, style)
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

// markedAnswer is the answer with the numbers of its citations in it.
func (v *RowView) markedAnswer() string {
	if !v.display.Markers {
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
			numbers[*c.AnswerEnd] += doc.Superscript(int(c.Number) + 1)
		}
	}
	slices.Sort(at)
	var b strings.Builder
	from := 0
	for k, to := range bytesBefore(v.Answer, at) {
		b.WriteString(v.Answer[from:to] + numbers[at[k]])
		from = to
	}
	return b.String() + v.Answer[from:]
}

// separator stands between two superscript numbers.
const separator = "˒"

// listed are the citations that the text shows, those of one kind of source
// together, and how many more there are.
func (v *RowView) listed() (list []citationView, more int) {
	list = slices.Clone(v.Citations)
	if v.display.BySourceType {
		first := make(map[string]int)
		for i, c := range list {
			if _, ok := first[c.SourceType]; !ok {
				first[c.SourceType] = i
			}
		}
		slices.SortStableFunc(list, func(a, b citationView) int { return first[a.SourceType] - first[b.SourceType] })
	}
	n := min(len(list), v.display.MaxCitations)
	return list[:n], len(list) - n
}

func (v *RowView) writeCitations(b *strings.Builder, style Style) {
	b.WriteString("\n")
	if v.notKept > 0 {
		fmt.Fprintf(b, "citations: %d, which are not among the results\n", v.notKept)
		return
	}
	if len(v.Citations) == 0 {
		b.WriteString("no citations\n")
		return
	}
	t := &table{header: []string{"citation", "source type", "place", "status", "best truth", "Jaccard", "snapped", "support"}, right: 5}
	list, more := v.listed()
	for _, c := range list {
		best := ""
		if c.BestTruth != nil {
			best = fmt.Sprint(*c.BestTruth + 1)
		}
		status := c.Status
		if c.Repaired != "" {
			status += " to " + c.Repaired
		}
		kind := ""
		if v.display.BySourceType {
			kind = CleanLine(c.SourceType)
		}
		t.rows = append(t.rows, []string{fmt.Sprint(c.Number + 1), kind, CleanLine(c.Place), status, best, numberOrDash(c.ExactJaccard), numberOrDash(c.SnappedJaccard), optional(c.Support)})
	}
	if len(list) > 0 {
		t.write(b, style)
	}
	for i := range list {
		list[i].writeWhy(b, style)
	}
	if more > 0 {
		fmt.Fprintf(b, "%s\n", style.Dim(Plural(int64(more), "more citation", "more citations")+": --json has them all"))
	}
}

// writeWhy says what is wrong with a citation, and what the judge said of it: what the
// table has no number for.
func (c *citationView) writeWhy(b *strings.Builder, style Style) {
	say := func(about, text string) {
		fmt.Fprintf(b, "%s %s\n", style.Dim(fmt.Sprintf("citation %d %s:", c.Number+1, about)), line(text, longText))
	}
	if text := c.Origin.text(); text != "" {
		say("source", text)
	}
	for _, r := range c.Remarks {
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

func (c *claimView) write(b *strings.Builder, style Style) {
	outcome := c.Outcome
	switch wordOf(outcomeWords, c.Outcome).Tone {
	case toneGood:
		outcome = style.Green(outcome)
	case toneBad:
		outcome = style.Red(outcome)
	}
	fmt.Fprintf(b, "\n%s %s, %s", style.Bold(fmt.Sprintf("claim %d", c.Number+1)), outcome, c.cites())
	if c.Support != nil {
		fmt.Fprintf(b, ", support %s", number(*c.Support))
	}
	if c.Label != "" {
		fmt.Fprintf(b, " (%s)", c.Label)
	}
	b.WriteString("\n")
	say := func(about, text string) {
		fmt.Fprintf(b, "  %s %s\n", style.Dim(fmt.Sprintf("%-9s", about)), line(text, longText))
	}
	say("text", c.Text)
	for _, r := range c.Remarks {
		switch r.About {
		case "outcome", "citations", "support":
			continue
		}
		say(r.About, r.Text)
		if r.About == "elsewhere" && c.Elsewhere.Text != "" {
			say("evidence", "“"+c.Elsewhere.Text+"”")
		}
	}
}

// cites lists the citations of a claim.
func (c *claimView) cites() string {
	if len(c.Citations) == 0 {
		return "cites nothing"
	}
	var numbers []string
	for _, k := range c.Citations {
		numbers = append(numbers, fmt.Sprint(k+1))
	}
	return "cites " + strings.Join(numbers, ", ")
}
