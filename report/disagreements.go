package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/metrics/span"
	"ibid/report/doc"
)

// agreementSection is what is known of the agreement of annotators, run by run.
func agreementSection(data *pageData) *doc.Section {
	var out []doc.Block
	for run, r := range data.results {
		if len(r.agreement) == 0 {
			continue
		}
		of := data.named(" of %s", r)
		if data.several() {
			out = append(out, doc.Heading{Text: doc.T(r.run.Manifest.ID)})
		}
		decided, pairs, statistics := agreementTables(r.agreement, of, false)
		out = append(out, decided...)
		for _, t := range shadedTables(r.agreement, of) {
			out = append(out, t)
		}
		out = append(out, pairs...)
		out = append(out, folded("more statistics"+of, statistics)...)
		for _, list := range []struct{ kind, title string }{{runs.SpanAgreement, "Where they disagree most"}, {runs.LabelAgreement, "What they answer differently"}} {
			views := slices.DeleteFunc(slices.Clone(data.disagreements[run]), func(v *disagreementView) bool { return v.found.Kind != list.kind })
			if len(views) > 0 {
				out = append(out, doc.Heading{Text: doc.T(list.title)})
			}
			var more []doc.Block
			for k, v := range views {
				if blocks := v.blocks(rowLink(data, run, v.found.Row)); k < shownDisputes {
					out = append(out, blocks...)
				} else {
					more = append(more, blocks...)
				}
			}
			out = append(out, folded(fmt.Sprintf("%d more", len(views)-shownDisputes), more)...)
		}
	}
	return docSection("agreement", "Agreement", out)
}

// shownDisputes is how many disagreements of a kind are not folded away.
const shownDisputes = 2

// A disagreementView is an item that annotators see differently, with what the page knows
// of its row.
type disagreementView struct {
	found    annotations.Disagreement
	question string
	texts    []doc.Block // of marks: each text as everybody marked it
	unseen   []string    // annotators who did not see the item
	judge    string      // name
}

// how says how little annotators agree on the item.
func (v *disagreementView) how() string {
	switch d := &v.found; {
	case d.Kind == runs.SpanAgreement:
		return "Jaccard " + number(d.Agreement)
	case d.Agreement > 0:
		return fmt.Sprintf("%.0f %% of the pairs agree", 100*d.Agreement)
	}
	return "no two agree"
}

// line is the item in one line: how little they agree, and who marked or said what.
func (v *disagreementView) line() string {
	var all []string
	for _, p := range v.found.Passages {
		what := "marked nothing"
		if p.Doc != "" {
			what = placesOf([]mark{{start: p.Start, end: p.End}})
		}
		all = append(all, nameOf(p.Annotator)+" "+what)
	}
	for _, s := range v.found.Said {
		all = append(all, nameOf(s.Annotator)+" said "+s.Value)
	}
	return v.found.ID + " " + v.how() + ": " + list(all)
}

// blocks are the item, what each annotator marked or said, and who did not see it.
func (v *disagreementView) blocks(link string) []doc.Block {
	d := &v.found
	out := []doc.Block{doc.Heading{Text: doc.Text{{Text: d.ID, Link: link}, {Text: " " + v.how(), Tone: doc.Dim}}}}
	for _, text := range []string{v.question, quoted(clip(d.Text, longStretch))} {
		if text != "" {
			out = append(out, doc.Para{Text: doc.T(text)})
		}
	}
	out = append(out, v.texts...)
	said := func(who, what string) {
		out = append(out, doc.Para{Kind: doc.Item, Text: doc.T(who + " said " + what)})
	}
	for _, s := range d.Said {
		said(nameOf(s.Annotator), s.Value)
	}
	if d.Judge != nil && v.judge != "" {
		said("the judge "+v.judge, number(*d.Judge))
	}
	if len(v.unseen) > 0 {
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T(list(v.unseen) + " did not see it.")})
	}
	return out
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "“" + strings.Join(strings.Fields(text), " ") + "”"
}

// How much of a long stretch of a disputed text is shown, in code points.
const (
	longStretch  = 480
	stretchStart = 340
	stretchEnd   = 110
)

// readDisagreements reads the worst disagreements of all runs.
func readDisagreements(data *pageData) error {
	for run, r := range data.results {
		found, err := annotations.ReadDisagreements(r.run.Dir)
		if err != nil {
			return err
		}
		markers := annotatorsOf(r.agreement)
		for _, d := range found {
			data.disagreements[run] = append(data.disagreements[run], newDisagreement(d, markers, r.run.Manifest.Judge.Name()))
		}
	}
	return nil
}

// annotatorsOf are those who marked places in a run.
func annotatorsOf(rows []runs.AgreementRow) []string {
	seen := make(map[string]bool)
	for _, row := range rows {
		if first, second, ok := runs.CutPair(row.Annotators); ok && row.Kind == runs.SpanAgreement {
			seen[first], seen[second] = true, true
		}
	}
	return sortedKeys(seen)
}

// newDisagreement is a disagreement with no more of its texts than the marks have.
func newDisagreement(d annotations.Disagreement, markers []string, judge string) *disagreementView {
	v := &disagreementView{found: d, judge: judge}
	if d.Kind == runs.LabelAgreement {
		return v
	}
	for _, name := range markers {
		if !slices.ContainsFunc(d.Passages, func(p annotations.Passage) bool { return p.Annotator == name }) {
			v.unseen = append(v.unseen, nameOf(name))
		}
	}
	v.texts = disputedTexts(d.Passages, func(string, int32) (string, bool) { return "", false })
	return v
}

// read takes over what its row holds.
func (v *disagreementView) read(row *ibid.Answer, text func(doc string, page int32) (string, bool)) {
	v.question = strings.Clone(clip(row.Query, 240))
	if v.found.Kind == runs.SpanAgreement {
		v.texts = disputedTexts(v.found.Passages, text)
	}
}

// disputedTexts sets the annotators of each text side by side, all around the same
// places.
func disputedTexts(passages []annotations.Passage, text func(doc string, page int32) (string, bool)) []doc.Block {
	var people []string
	var keys []textKey
	for _, p := range passages {
		if !slices.Contains(people, p.Annotator) {
			people = append(people, p.Annotator)
		}
		if key := (textKey{doc: p.Doc, page: p.Page}); p.Doc != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(people)
	slices.SortFunc(keys, func(a, b textKey) int { return cmp.Or(strings.Compare(a.doc, b.doc), cmp.Compare(a.page, b.page)) })
	var out []doc.Block
	for _, key := range keys {
		said, all := make([][]annotations.Passage, len(people)), make([][]mark, len(people))
		for _, p := range passages {
			k := slices.Index(people, p.Annotator)
			if p.Doc != key.doc || p.Page != key.page {
				continue
			}
			if said[k] = append(said[k], p); p.Start >= 0 && p.End > p.Start {
				all[k] = append(all[k], mark{start: p.Start, end: p.End, kind: markTrue})
			}
		}
		whole, ok := text(key.doc, key.page)
		var panels doc.Panels
		for k, name := range people {
			p := doc.Panel{Title: nameOf(name), Below: placesOf(all[k])}
			switch {
			case len(all[k]) > 0:
			case len(said[k]) > 0:
				p.Below = "marked a place that is not in this text"
			case slices.ContainsFunc(passages, func(p annotations.Passage) bool {
				return p.Annotator == name && p.Doc != ""
			}):
				p.Below = "marked nothing in this text"
			default:
				p.Below = "looked and marked nothing"
			}
			if ok {
				p.Text = sideOf(whole, all, k)
			} else if len(all[k]) > 0 {
				if p.Text = markedBy(said[k]); p.Text == nil {
					p.Below += ": the text is not at hand"
				}
			}
			panels = append(panels, p)
		}
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T(sourceName(key.doc, key.page))}, panels)
	}
	return out
}

// markedBy is what an annotator marked in a text, as far as the marks have it.
func markedBy(passages []annotations.Passage) (out doc.Text) {
	for _, p := range passages {
		if p.Text != "" {
			if out != nil {
				out = append(out, doc.Span{Text: " … "})
			}
			out = append(out, doc.Span{Text: shortStretch(p.Text), Mark: doc.Marked})
		}
	}
	return out
}

func placesOf(marks []mark) string {
	var out []string
	for _, m := range marks {
		out = append(out, extent(m.start, m.end))
	}
	return list(out)
}

// sideOf cuts the neighbourhoods of everybody's marks out of a text, marked as
// annotator k has it.
func sideOf(text string, all [][]mark, k int) (out doc.Text) {
	marks := slices.Concat(all[k], inCommon(all))
	for _, p := range passages(text, slices.Concat(all...)) {
		if p.Before {
			out = append(out, doc.Span{Text: "… "})
		}
		out = append(out, markSpans(runsOf(text, p.Start, p.End, marks), doc.Unmarked, doc.Marked, doc.MarkedByAll)...)
		if p.After {
			out = append(out, doc.Span{Text: " … "})
		}
	}
	return out
}

// inCommon is what everybody marked.
func inCommon(all [][]mark) (common []mark) {
	sets := make([][]span.Interval, len(all))
	for k := range all {
		for _, m := range all[k] {
			sets[k] = append(sets[k], span.Interval{Start: m.start, End: m.end})
		}
	}
	var c span.Comparer
	for _, s := range c.CombineIntervals(ibid.PolicyIntersection, sets) {
		common = append(common, mark{s.Start, s.End, markPredicted})
	}
	return common
}

// shortStretch leaves out the middle of a long stretch.
func shortStretch(text string) string {
	n := int64(utf8.RuneCountInString(text))
	if n <= longStretch {
		return text
	}
	at := bytesBefore(text, []int64{stretchStart, n - stretchEnd})
	return strings.TrimRight(text[:at[0]], " \n") + " … " + strings.TrimLeft(text[at[1]:], " \n")
}

// rowLink links the row at a position of a run's input; "" if the page does not
// list it.
func rowLink(data *pageData, run int, position int64) string {
	if x := data.find(run, position); x != nil && x.place >= 0 {
		return "#row=" + data.key(x)
	}
	return ""
}
