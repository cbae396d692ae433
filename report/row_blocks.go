package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"unicode"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// mostPanels is how many claims and citations of a row are shown; JSON has all.
const mostPanels = 200

// around is how many code points of a text are shown on either side of a place.
const around = 60

func (v *RowView) writeCSV(io.Writer) error { return ibid.Usagef("a row has no csv") }

// section is the row in the form of the terminal and of the page: what became of it, each
// claim beside what it cites and what it should cite, and folded, all that is known of it.
func (v *RowView) section() doc.Section {
	head := doc.Text{{Text: fmt.Sprintf("%s/%s (#%d)", clip(v.ID, 240), clip(v.System, 240), v.Row), Tone: doc.Dim}, {Text: " "}, v.State.span("")}
	if v.Overall != nil {
		head = append(head, doc.Span{Text: " overall " + number(*v.Overall)})
	}
	if v.Annotator != "" {
		head = append(head, doc.Span{Text: ", right places of " + clip(v.Annotator, 100)})
	}
	out := []doc.Block{doc.Para{Text: head}}
	if len(v.Others) > 0 {
		out = append(out, doc.Para{Kind: doc.Small, Text: append(doc.T("same question: "), v.Others...)})
	}
	if v.Error != "" {
		out = append(out, doc.Para{Kind: doc.Note, Text: doc.T("not scored: " + clip(v.Error, longText))})
	}
	for _, text := range tamperingInWords(v.Tampering, v.Suspected) {
		out = append(out, doc.Para{Kind: doc.Note, Text: doc.T("tampering: " + clip(text, longText))})
	}
	answer := v.wholeAnswer()
	if len(v.Claims) == 0 {
		out = append(out, answer...)
	}
	panels, marked := v.panels()
	out = append(out, panels...)
	if marked {
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.Text{{Text: "marks: "}, {Text: "cited", Mark: doc.Cited}, {Text: " "}, {Text: "right", Mark: doc.True}, {Text: " "}, {Text: "both", Mark: doc.CitedTrue}}})
	}
	out = append(out, v.quotationTable()...)
	out = append(out, v.otherTruth()...)
	if v.Before != nil {
		out = append(out, v.Before.blocks(v)...)
	}
	if len(v.Claims) > 0 {
		out = append(out, answer...)
	}
	out = append(out, folded("claims and sources: support", filled(v.Matrix.table()))...)
	out = append(out, v.scoreBlocks())
	out = append(out, folded("what was asked of the judge", filled(callTable(v.Calls)))...)
	return doc.Section{ID: "row", Top: true, Title: cmp.Or(clip(v.Query, 240), clip(v.ID, 240)), Blocks: out}
}

// wholeAnswer is the answer with the numbers of its citations, folded where claims have its
// text.
func (v *RowView) wholeAnswer() []doc.Block {
	if v.Answer == "" {
		return nil
	}
	out := doc.Details{Summary: "the whole answer", Open: len(v.Claims) == 0}
	for text := range strings.Lines(clip(v.markedAnswer(), longAnswer)) {
		if strings.TrimSpace(text) != "" {
			out.Blocks = append(out.Blocks, doc.Para{Text: doc.T(text)})
		}
	}
	return []doc.Block{out}
}

// panels are the claims with what they cite and should cite, side by side, then what is cited
// for no claim, and what is right and cited by nothing. Marked says that a text is among them.
func (v *RowView) panels() (out []doc.Block, marked bool) {
	if v.notKept > 0 {
		return []doc.Block{doc.Para{Text: doc.T(Plural(v.notKept, "citation, which is not among the results", "citations, which are not among the results"))}}, false
	}
	seen, left, most := make([]bool, len(v.Citations)), mostPanels, v.source.Display.MaxCitationsDisplayed
	wanted := make(map[int]bool) // spans of the truth that are shown
	var more []doc.Block
	cite := func(citations []int32) (here doc.Panels) {
		want := 0
		for _, k := range v.grouped(citations) {
			seen[k] = true
			if left--; left < 0 {
				continue
			}
			p := v.citationPanel(&v.Citations[k])
			if most--; most < 0 {
				more = append(more, doc.Panels{p})
				continue
			}
			here = append(here, p)
			if should, ok := v.instead(int(k), wanted); ok && want == 0 { // one stands for all of a claim
				want++
				here = append(here, should)
			}
		}
		return here
	}
	for k := range v.Claims {
		if left--; left >= 0 {
			out = append(out, append(doc.Panels{v.claimPanel(&v.Claims[k])}, cite(v.Claims[k].Citations)...))
		}
	}
	var loose []int32
	for k := range v.Citations {
		if !seen[k] {
			loose = append(loose, int32(k))
		}
	}
	if here := cite(loose); len(here) > 0 {
		if len(v.Claims) > 0 {
			out = append(out, doc.Heading{Text: doc.T("Cited for no claim")})
		}
		out = append(out, here)
	}
	if missed := v.missedPanels(wanted); len(missed) > 0 {
		out = append(out, doc.Heading{Text: doc.T("Right, and cited by nothing")}, missed)
	}
	if len(v.Citations)+len(v.Claims) == 0 && v.Error == "" {
		out = append(out, doc.Para{Text: doc.T("This answer cites nothing.")})
	}
	out = append(out, folded(Plural(int64(len(more)), "more citation", "more citations"), more)...)
	if left < 0 {
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T(fmt.Sprintf("%s more: ibid show RUN ID --json has them", Thousands(int64(-left))))})
	}
	for _, block := range slices.Concat(out, more) {
		panels, _ := block.(doc.Panels)
		marked = marked || slices.ContainsFunc(panels, func(p doc.Panel) bool {
			return slices.ContainsFunc(p.Text, func(s doc.Span) bool { return s.Mark != doc.Unmarked })
		})
	}
	return out, marked
}

// grouped are citations, those of one kind of source together if the display wants that.
func (v *RowView) grouped(citations []int32) []int32 {
	list := slices.DeleteFunc(slices.Clone(citations), func(k int32) bool { return k < 0 || int(k) >= len(v.Citations) })
	if v.source.Display.GroupBySourceType {
		first := make(map[string]int)
		for i, k := range list {
			if _, ok := first[v.Citations[k].SourceType]; !ok {
				first[v.Citations[k].SourceType] = i
			}
		}
		slices.SortStableFunc(list, func(a, b int32) int { return first[v.Citations[a].SourceType] - first[v.Citations[b].SourceType] })
	}
	return list
}

// addNote adds a sentence to the notes of a panel if it is true.
func addNote(p *doc.Panel, is bool, format string, args ...any) {
	if is {
		p.Notes = append(p.Notes, doc.T(fmt.Sprintf(format, args...)))
	}
}

// claimPanel is a claim, what became of it and why.
func (v *RowView) claimPanel(c *claimView) doc.Panel {
	p := doc.Panel{Title: fmt.Sprintf("Claim %d", c.Number+1), Text: doc.T(clip(c.Text, longText))}
	if v.source.Parts.NoHallucinations {
		return p
	}
	p.State = wordOf(outcomeWords, c.Outcome).span("")
	if c.Support != nil && len(c.Citations) > 0 {
		p.Below = "support " + number(*c.Support)
	}
	addNote(&p, len(c.Citations) == 0 && c.Outcome != ibid.NotFactual.String(), "It cites nothing.")
	if e := c.Elsewhere; e != nil && c.Outcome != ibid.SupportedByCited.String() {
		support := ""
		if e.Support != nil {
			support = ", support " + number(*e.Support)
		}
		addNote(&p, true, "The best evidence it does not cite: %s%s.", placeInWords(e.Doc, e.Page, e.Start, e.End, ""), support)
		addNote(&p, e.Text != "", "“%s”", shortStretch(e.Text))
	}
	if c.Votes != nil && *c.Votes > 1 {
		addNote(&p, true, "%s votes.", Thousands(int64(*c.Votes)))
	}
	addNote(&p, c.Reason != "", "Reason: %s", clip(c.Reason, longText))
	return p
}

// citationPanel is a citation, what stands there, and what is right and wrong with it.
func (v *RowView) citationPanel(c *citationView) doc.Panel {
	w, status := problemWords[c.Problem], wordOf(statusWords, c.Status)
	if c.Problem == metrics.NoProblem || c.Problem == metrics.StatusProblem(statusNamed[c.Status]) {
		w = status
	}
	title := fmt.Sprintf("Cited [%d]", c.Number+1)
	if v.source.Display.GroupBySourceType && c.SourceType != "" {
		title += " " + strings.ReplaceAll(clip(c.SourceType, 80), "_", " ")
	}
	p := doc.Panel{Title: title, State: w.span(""), Below: c.Place}
	if c.Origin != nil {
		p.Notes = append(p.Notes, c.Origin)
	}
	if k := int(c.Number); v.source.Answer != nil && k >= 0 && k < len(v.source.Answer.Citations) && v.source.Answer.Citations[k].Place.InSets() && !v.source.Parts.NoSpans {
		at := &v.source.Answer.Citations[k].Place
		p.Text = v.excerpt(keyOf(at), at.Start, at.End)
	}
	good := c.Status == ibid.StatusOK.String()
	switch {
	case good:
	case c.Status == ibid.StatusQuoteRepaired.String() && c.RepairedStart != nil && c.RepairedEnd != nil:
		addNote(&p, true, "%s: %s.", strings.TrimSuffix(status.Long, "."), extent(*c.RepairedStart, *c.RepairedEnd))
	default:
		addNote(&p, true, "%s", status.Long)
	}
	addNote(&p, !good && c.Meant != "", "Did you mean %s?", c.Meant)
	if exact := c.ExactJaccard; exact != nil && !v.source.Parts.NoSpans {
		who := cmp.Or(clip(v.Annotator, 100), "an annotator")
		switch snapped := c.SnappedJaccard; {
		case *exact == 1:
			addNote(&p, true, "It points exactly at what %s marked.", who)
		case *exact == 0:
			addNote(&p, true, "It touches nothing that %s marked.", who)
		case snapped != nil && *snapped > *exact:
			addNote(&p, true, "It overlaps what %s marked: Jaccard %s, %s when ends that miss by a few characters count as hits.", who, number(*exact), number(*snapped))
		default:
			addNote(&p, true, "It overlaps what %s marked: Jaccard %s.", who, number(*exact))
		}
	}
	valid := validStatus(c.Status)
	if support := verdictOf(&c.Citation); support != "" && valid {
		name := cmp.Or(judgeWords[strings.ToLower(v.source.Run.Judge.Kind)].verdict, "Judge")
		addNote(&p, true, "%s: %s.", name, support)
	} else if support != "" {
		addNote(&p, true, "It was not judged: a citation that is not valid supports nothing.")
	}
	addNote(&p, c.Relevant != nil && !*c.Relevant && valid, "It is not relevant to its claim.")
	addNote(&p, c.Necessary != nil && !*c.Necessary, "The claim is supported without it.")
	addNote(&p, c.Precheck != "" && c.Precheck != c.Status,
		"Check before judging: %s.", strings.ReplaceAll(clip(c.Precheck, 200), "_", " "))
	addNote(&p, c.Reason != "", "Reason: %s", clip(c.Reason, longText))
	addNote(&p, !good && c.CitedText != "", "It quotes “%s”.", clip(c.CitedText, longStretch))
	addNote(&p, c.Quote != "", "Evidence: “%s”", clip(c.Quote, longStretch))
	return p
}

// excerpt is what stands around a place of a text, with what is cited and right in it; nil if
// the text is not at hand.
func (v *RowView) excerpt(key textKey, start, end int64) (out doc.Text) {
	if v.source.Text == nil || start < 0 || end <= start {
		return nil
	}
	whole, ok := v.source.Text(key.doc, key.page)
	if !ok {
		return nil
	}
	from, to := max(0, start-around), end+around
	at := bytesBefore(whole, []int64{from, start, end, to})
	if at[1] == at[2] {
		return nil // past the end of the text
	}
	// Only whole words are shown, where the text has words.
	lead, tail := whole[at[0]:at[1]], whole[at[2]:at[3]]
	if at[0] > 0 {
		out = append(out, doc.Span{Text: "… "})
		if k := strings.IndexFunc(lead, unicode.IsSpace); k >= 0 {
			from += int64(len([]rune(lead[:k]))) + 1
		}
	}
	if k := strings.LastIndexFunc(tail, unicode.IsSpace); at[3] < len(whole) && k >= 0 {
		to -= int64(len([]rune(tail[k:])))
	}
	out = append(out, markSpans(runsOf(whole, from, to, v.marked[key]), doc.Cited, doc.True, doc.CitedTrue)...)
	if at[3] < len(whole) {
		out = append(out, doc.Span{Text: " …"})
	}
	return out
}

// shouldBeCited is the panel of a place that should have been cited.
func (v *RowView) shouldBeCited(title, whose, name string, page int32, start, end int64) doc.Panel {
	return doc.Panel{Title: title, Below: sourceName(name, page) + " " + extent(start, end), Text: v.excerpt(textKey{doc: name, page: page}, start, end), Notes: []doc.Text{doc.T(whose)}}
}

// instead is what should have been cited in place of a bad citation: the evidence for its
// claim that stands elsewhere, else the true span that it is nearest to, else one that no
// citation touches. Nothing stands in for a citation of the right place.
func (v *RowView) instead(k int, wanted map[int]bool) (doc.Panel, bool) {
	c := &v.Citations[k]
	if c.Problem <= metrics.ProblemQuoteMoved || v.source.Answer == nil || v.source.Parts.NoSpans {
		return doc.Panel{}, false
	}
	for _, k := range c.Claims {
		if k >= 0 && int(k) < len(v.Claims) && v.Claims[k].Outcome == ibid.SupportedElsewhere.String() && !v.source.Parts.NoHallucinations {
			if e := v.Claims[k].Elsewhere; e != nil && e.Start != nil && e.End != nil {
				return v.shouldBeCited("Should be cited", "evidence that it does not cite", e.Doc, pageOf(e.Page), *e.Start, *e.End), true
			}
		}
	}
	if e, s := c.ExactJaccard, c.SnappedJaccard; e != nil && *e >= metrics.GoodMatch || e != nil && s != nil && *s >= metrics.GoodMatch {
		return doc.Panel{}, false
	}
	best := v.missed
	if b := c.BestTruth; b != nil && *b >= 0 && int(*b) < len(v.source.Answer.Truth) && v.source.Answer.Truth[*b].Place.InSets() && v.scores(int(*b)) {
		best = int(*b)
	}
	if best < 0 || wanted[best] {
		return doc.Panel{}, false
	}
	wanted[best] = true
	return v.truthPanel("Should be cited", best), true
}

func (v *RowView) truthPanel(title string, k int) doc.Panel {
	p := &v.source.Answer.Truth[k].Place
	return v.shouldBeCited(title, "marked by "+nameOf(v.source.Answer.Truth[k].Annotator), p.Doc, p.Page, p.Start, p.End)
}

// mostMissed is how many right places that nothing cites are shown.
const mostMissed = 10

// missedPanels are the right places that no citation touches and that are not shown yet.
func (v *RowView) missedPanels(wanted map[int]bool) (out doc.Panels) {
	if v.source.Answer == nil || v.source.Parts.NoSpans {
		return nil
	}
	for _, k := range v.untouched {
		if !wanted[k] && len(out) < mostMissed {
			out = append(out, v.truthPanel("Right", k))
		}
	}
	return out
}

// findMissed finds the true spans that no citation touches, and what stands in for a citation
// of no right place: the first of them, else the first true span, -1 if there is none. It takes
// O(n log n) steps.
func (v *RowView) findMissed() {
	type reaching struct{ start, end int64 } // end is the greatest of the citations up to this one
	cited := make(map[textKey][]reaching)
	for i := range v.source.Answer.Citations {
		if p := &v.source.Answer.Citations[i].Place; p.InSets() {
			cited[keyOf(p)] = append(cited[keyOf(p)], reaching{p.Start, p.End})
		}
	}
	for _, list := range cited {
		slices.SortFunc(list, func(a, b reaching) int { return cmp.Compare(a.start, b.start) })
		for i := 1; i < len(list); i++ {
			list[i].end = max(list[i].end, list[i-1].end)
		}
	}
	v.missed = -1
	for k := range v.source.Answer.Truth {
		p := &v.source.Answer.Truth[k].Place
		if !p.InSets() || !v.scores(k) {
			continue
		}
		list := cited[keyOf(p)]
		before := sort.Search(len(list), func(i int) bool { return list[i].start >= p.End }) // those that begin before it ends
		if before == 0 || list[before-1].end <= p.Start {
			v.untouched = append(v.untouched, k)
		} else if v.missed < 0 {
			v.missed = k
		}
	}
	if len(v.untouched) > 0 {
		v.missed = v.untouched[0]
	}
}

// otherTruth says what annotators marked whose spans are not scored here.
func (v *RowView) otherTruth() (out []doc.Block) {
	if v.source.Answer == nil || v.source.Parts.NoSpans {
		return nil
	}
	for k := range v.source.Answer.Truth {
		t, p := &v.source.Answer.Truth[k], &v.source.Answer.Truth[k].Place
		text := ""
		switch {
		case len(out) == mostMissed:
			return out
		case t.DocNull:
			text = nameOf(t.Annotator) + " looked and marked nothing"
		case !v.scores(k):
			text = fmt.Sprintf("%s marked %s %s (not scored in this row)", nameOf(t.Annotator), sourceName(p.Doc, p.Page), extent(p.Start, p.End))
		default:
			continue
		}
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T(text)})
	}
	return out
}

func nameOf(annotator string) string {
	if annotator == "" {
		return "the annotator"
	}
	return clip(annotator, 100)
}

// scoreBlocks are the metrics of the row, why others are undefined, and what of its sources
// the text names itself.
func (v *RowView) scoreBlocks() doc.Details {
	var facts doc.Facts
	undefined := make(map[string][]string)
	for _, m := range v.Metrics {
		switch {
		case hidden(m.Name):
		case m.Number == nil:
			undefined[m.Reason] = append(undefined[m.Reason], m.Name)
		default:
			facts.Add(m.Name, number(*m.Number))
		}
	}
	out := doc.Details{Summary: "scores", Blocks: []doc.Block{facts}}
	say := func(text string) { out.Blocks = append(out.Blocks, doc.Para{Kind: doc.Small, Text: doc.T(text)}) }
	for _, reason := range sortedKeys(undefined) {
		say("undefined, " + reason + ": " + strings.Join(undefined[reason], ", "))
	}
	if p := v.Presence; p != nil {
		say("presence: " + p.Explanation)
	}
	for _, key := range sortedKeys(v.Tags) {
		say(clip(key, 80) + " = " + clip(v.Tags[key], 240))
	}
	return out
}

// callTable is what was asked of models.
func callTable(calls []runs.Call) doc.Table {
	t := doc.Table{Caption: "Calls of the judge", Columns: []doc.Column{
		{Name: "model"}, {Name: "provider", Keep: 2}, {Name: "status"}, {Name: "attempts", Number: true, Keep: 1}, {Name: "tokens", Number: true, Keep: 1}, {Name: "cost", Number: true}, {Name: "ms", Number: true},
	}}
	whole := func(n *int64) string {
		if n == nil {
			return "–"
		}
		return Thousands(*n)
	}
	for i := range calls {
		c := &calls[i]
		status, cost := c.Status, "–"
		if c.Cached {
			status += ", from the cache"
		}
		if c.Repaired {
			status += ", repaired"
		}
		if c.Error != "" {
			status += ": " + clip(c.Error, 300)
		}
		if c.CostUSD != nil {
			cost = fmt.Sprintf("$%.6f", *c.CostUSD)
		}
		t.Rows = append(t.Rows, []doc.Cell{
			doc.C(clip(c.Model, 80)), doc.C(clip(c.Provider, 80)), doc.C(status), doc.C(Thousands(int64(c.Attempts))), doc.C(whole(c.PromptTokens) + " + " + whole(c.CompletionTokens)), doc.C(cost), doc.C(whole(c.LatencyMillis)),
		})
	}
	return t
}

// markedAnswer is the answer with the numbers of its citations in it.
func (v *RowView) markedAnswer() string {
	if !v.source.Display.InlineMarkers {
		return v.Answer
	}
	var at []int64
	numbers := make(map[int64]string)
	for i := range v.Citations {
		if c := &v.Citations[i]; c.AnswerEnd != nil && *c.AnswerEnd > 0 {
			if numbers[*c.AnswerEnd] == "" {
				at = append(at, *c.AnswerEnd)
			} else {
				numbers[*c.AnswerEnd] += "˒"
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

// An EarlierAnswer is the answer to the same question in an earlier run.
type earlierAnswer struct {
	run, answer string
	state       word
	places      []string // that it cites, in words
}

// blocks set the earlier answer and the row's own side by side, with what only one of them
// says and cites.
func (e *earlierAnswer) blocks(v *RowView) []doc.Block {
	answer := clip(v.Answer, longAnswer)
	gone, added := differing(e.answer, answer, doc.Gone), differing(answer, e.answer, doc.Added)
	var now []string
	for k := range v.Citations {
		now = append(now, v.Citations[k].Place)
	}
	notes := func(places, others []string) (out []doc.Text) {
		for k, p := range places {
			if !slices.Contains(places[:k], p) && !slices.Contains(others, p) && len(out) < mostMissed {
				out = append(out, doc.T("cites "+p))
			}
		}
		return out
	}
	return []doc.Block{
		doc.Heading{Text: doc.T("Since " + e.run)},
		doc.Panels{
			{Title: e.run, State: e.state.span(""), Text: gone, Notes: notes(e.places, now)},
			{Title: "now", State: v.State.span(""), Text: added, Notes: notes(now, e.places)},
		},
	}
}

// differing is a text with the words marked that another one does not have as often.
func differing(text, other string, mark doc.Mark) (out doc.Text) {
	left := make(map[string]int)
	for _, w := range strings.Fields(other) {
		left[w]++
	}
	for _, w := range strings.Fields(text) {
		as := doc.Unmarked
		if left[w]--; left[w] < 0 {
			as = mark
		}
		if n := len(out); n > 0 && out[n-1].Mark == as {
			out[n-1].Text += " " + w
			continue
		} else if n > 0 {
			out = append(out, doc.Span{Text: " "})
		}
		out = append(out, doc.Span{Text: w, Mark: as})
	}
	return out
}
