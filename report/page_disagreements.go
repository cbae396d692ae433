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
)

// A disagreementView is an item that annotators see differently.
type disagreementView struct {
	Title     string
	Link      string // to the row; "" if the page does not list it
	Agreement string // in words
	Question  string

	Texts  []disputedText // of marks
	Unseen string         // who did not see the item, in words

	About string // of labels: the claim
	Said  []saidLine

	found  annotations.Disagreement
	unseen []string
}

// A disputedText is one text, as each annotator marked it.
type disputedText struct {
	Name  string
	Sides []markedSide
}

// A markedSide is what one annotator marked in a text.
type markedSide struct {
	Annotator string
	Places    string // where, in words
	Nothing   string // in place of marks, in words
	Passages  []passage
}

// A saidLine is what somebody said of an item; Judge is true of the judge.
type saidLine struct {
	Name, Value string
	Judge       bool
}

// How much of a long stretch of a disputed text is shown, in code points.
const (
	longStretch  = 480
	stretchStart = 340
	stretchEnd   = 110
)

// readDisagreements reads the worst disagreements of all runs.
func readDisagreements(data *pageData) error {
	for _, r := range data.results {
		found, err := annotations.ReadDisagreements(r.run.Dir)
		if err != nil {
			return err
		}
		markers := annotatorsOf(r.agreement)
		var views []*disagreementView
		for _, d := range found {
			views = append(views, newDisagreement(r, d, markers))
		}
		data.disagreements = append(data.disagreements, views)
	}
	return nil
}

// annotatorsOf are those who marked places in a run.
func annotatorsOf(rows []runs.AgreementRow) []string {
	seen := make(map[string]bool)
	for _, row := range rows {
		if first, second, ok := strings.Cut(row.Annotators, "|"); ok && row.Kind == runs.SpanAgreement {
			seen[first], seen[second] = true, true
		}
	}
	return sortedKeys(seen)
}

// newDisagreement is a disagreement without its texts.
func newDisagreement(r *results, d annotations.Disagreement, markers []string) *disagreementView {
	v := &disagreementView{Title: line(d.ID, 120), About: line(d.Text, 400), found: d}
	if d.Kind == runs.LabelAgreement {
		v.Agreement = "no two agree"
		if d.Agreement > 0 {
			v.Agreement = fmt.Sprintf("%.0f %% of the pairs agree", 100*d.Agreement)
		}
		for _, s := range d.Said {
			v.Said = append(v.Said, saidLine{line(nameOf(s.Annotator), 80), line(s.Value, 40), false})
		}
		if d.Judge != nil {
			v.Said = append(v.Said, saidLine{line(r.run.Manifest.Judge.Name(), 80), number(*d.Judge), true})
		}
		return v
	}
	v.Agreement = "Jaccard " + number(d.Agreement)
	for _, name := range markers {
		if !slices.ContainsFunc(d.Passages, func(p annotations.Passage) bool { return p.Annotator == name }) {
			v.unseen = append(v.unseen, line(nameOf(name), 80))
		}
	}
	if len(v.unseen) > 0 {
		v.Unseen = list(v.unseen) + " did not see it."
	}
	v.Texts = disputedTexts(d.Passages, func(string, int32) (string, bool) { return "", false })
	return v
}

// read takes over what its row holds.
func (v *disagreementView) read(row *ibid.Answer, text func(doc string, page int32) (string, bool)) {
	v.Question = strings.Clone(line(row.Query, 240))
	if v.found.Kind == runs.SpanAgreement {
		v.Texts = disputedTexts(v.found.Passages, text)
	}
}

// disputedTexts sets the annotators of each text side by side, all around the same
// places.
func disputedTexts(passages []annotations.Passage, text func(doc string, page int32) (string, bool)) []disputedText {
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
	marked := func(name string, key textKey) []mark {
		var out []mark
		for _, p := range passages {
			if p.Annotator == name && p.Doc == key.doc && p.Page == key.page && p.Start >= 0 && p.End > p.Start {
				out = append(out, mark{start: p.Start, end: p.End, kind: markTrue})
			}
		}
		return out
	}
	var out []disputedText
	for _, key := range keys {
		t := disputedText{Name: sourceName(key.doc, key.page)}
		var all [][]mark
		for _, name := range people {
			all = append(all, marked(name, key))
		}
		whole, ok := text(key.doc, key.page)
		whole = shown(whole)
		for k, name := range people {
			s := markedSide{Annotator: line(nameOf(name), 80), Places: placesOf(all[k])}
			switch {
			case !marksAnything(passages, name):
				s.Nothing = "looked and marked nothing"
			case len(all[k]) == 0 && marks(passages, name, key):
				s.Nothing = "marked a place that is not in this text"
			case len(all[k]) == 0:
				s.Nothing = "marked nothing in this text"
			}
			if ok {
				s.Passages = sideOf(whole, all, k)
			}
			t.Sides = append(t.Sides, s)
		}
		out = append(out, t)
	}
	return out
}

// marksAnything reports whether an annotator did not just look.
func marksAnything(passages []annotations.Passage, name string) bool {
	return slices.ContainsFunc(passages, func(p annotations.Passage) bool { return p.Annotator == name && p.Doc != "" })
}

// marks reports whether an annotator marked something in a text, or meant to.
func marks(passages []annotations.Passage, name string, key textKey) bool {
	return slices.ContainsFunc(passages, func(p annotations.Passage) bool { return p.Annotator == name && p.Doc == key.doc && p.Page == key.page })
}

func placesOf(marks []mark) string {
	var out []string
	for _, m := range marks {
		out = append(out, extent(m.start, m.end))
	}
	return list(out)
}

// sideOf cuts the neighbourhoods of everybody's marks out of a text, marked as
// annotator k has it: true is what k marked, predicted what all marked.
func sideOf(text string, all [][]mark, k int) []passage {
	list := passages(text, slices.Concat(all...))
	marks := slices.Concat(all[k], inCommon(all))
	for i := range list {
		p := &list[i]
		p.Runs = runsOf(text, p.Start, p.End, marks)
		for n := range p.Runs {
			p.Runs[n].Text = strings.Clone(shortStretch(p.Runs[n].Text)) // the text is gone once the next row is read
		}
	}
	return list
}

// inCommon is what everybody marked.
func inCommon(all [][]mark) []mark {
	common := all[0]
	for _, other := range all[1:] {
		var both []mark
		for _, a := range common {
			for _, b := range other {
				if start, end := max(a.start, b.start), min(a.end, b.end); start < end {
					both = append(both, mark{start: start, end: end, kind: markPredicted})
				}
			}
		}
		common = both
	}
	out := slices.Clone(common)
	for i := range out {
		out[i].kind = markPredicted
	}
	return out
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
	n, ok := data.find(run, position)
	if !ok {
		return ""
	}
	if _, listed := slices.BinarySearch(data.held.rows, n); !listed {
		return ""
	}
	return "#row=" + data.results[run].key(data.rows[n].index)
}
