package annotations

import (
	"cmp"
	"slices"

	"ibid/metrics/stats"
)

// A Disagreement is an item that its annotators see differently.
type Disagreement struct {
	Kind      string  `json:"kind"` // runs.SpanAgreement or runs.LabelAgreement
	ID        string  `json:"id"`   // of the item
	Row       int64   `json:"row"`  // position in the input, -1 if it has none
	Agreement float64 `json:"agreement"`

	// What a reader needs to see; whoever has the texts fills it in.
	Text     string    `json:"text,omitempty"`  // of a label disagreement: the claim
	Passages []Passage `json:"marks,omitempty"` // of a span disagreement: every mark with its text

	Said    []Rating   `json:"labels,omitempty"` // of a label disagreement
	Judge   *float64   `json:"judge,omitempty"`  // what the judge of the run said of it, if it said anything
	Verdict VerdictKey `json:"-"`                // what a judge would call it
	Marks   []Mark     `json:"-"`                // of a span disagreement

	spread float64 // of labels that are numbers: the highest less the lowest
}

// A Passage is a mark with its text. An annotator who marked nothing has one
// without a document.
type Passage struct {
	Annotator string `json:"annotator"`
	Doc       string `json:"doc,omitempty"`
	Page      int32  `json:"page,omitempty"`
	Start     int64  `json:"start"`
	End       int64  `json:"end"`
	Text      string `json:"text,omitempty"` // "" if it is not at hand
}

// worst keeps the items with the least agreement.
type worst struct{ items []Disagreement }

func (w *worst) span(it *Item, m *stats.Marked, keep int) {
	var sum, n float64
	m.Pairs(func(_, _ int, p stats.PairScore) {
		if v := p.Jaccard(); v.Defined {
			sum += v.Value
			n++
		}
	})
	if n == 0 || sum == n {
		return
	}
	d := Disagreement{Kind: "span", ID: it.ID, Row: it.Row, Agreement: sum / n}
	if !w.wants(&d, keep) {
		return
	}
	for _, mark := range it.Marks {
		d.Marks = append(d.Marks, Mark{mark.Annotator, slices.Clone(mark.Units)})
	}
	w.add(d, keep)
}

func compareWorst(a, b Disagreement) int {
	return cmp.Or(cmp.Compare(a.Agreement, b.Agreement), cmp.Compare(b.spread, a.spread), cmp.Compare(a.Row, b.Row), cmp.Compare(a.ID, b.ID))
}

func (w *worst) wants(d *Disagreement, keep int) bool {
	return len(w.items) < keep || keep > 0 && compareWorst(*d, w.items[len(w.items)-1]) < 0
}

func (w *worst) add(d Disagreement, keep int) {
	at, _ := slices.BinarySearchFunc(w.items, d, compareWorst)
	w.items = slices.Insert(w.items, at, d)
	w.items = w.items[:min(keep, len(w.items))]
}
