package round

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
)

// Measure adds what people say in the round to collections of marks and of labels. In a
// second look each pair is one annotator of the round and one of before.
func (r *Round) Measure(spans *annotations.Spans, labels *annotations.Labels) {
	for _, a := range r.Asked() {
		it, row, earlier := &r.Items[a.Item], a.row(), make(map[string]bool)
		for _, o := range a.Said {
			earlier[o.Annotator] = o.Earlier
		}
		cluster := it.cluster(runs.AppendDocuments(nil, row), a.ID)
		item, _ := annotations.ItemOf(it.page, row, cluster, nil)
		for i := range item.Marks {
			item.Marks[i].Earlier = earlier[item.Marks[i].Annotator]
		}
		spans.Add(&item)
		if !slices.ContainsFunc(a.Said, func(o Opinion) bool { return !o.Earlier }) {
			continue
		}
		for _, j := range annotations.JudgedOf(row, it.cluster(it.cited(), a.ID), nil) {
			for i := range j.Ratings {
				j.Ratings[i].Earlier = j.Ratings[i].Annotator == "" || earlier[j.Ratings[i].Annotator]
			}
			labels.Add(j)
		}
	}
}

// row is what is said as a row that has it. Its position is that of the item.
func (a *Asked) row() *ibid.Answer {
	row := &ibid.Answer{ID: a.ID, System: a.System, Pos: int64(a.Item)}
	for _, o := range a.Said {
		if o.Marks != nil && len(o.Marks) == 0 {
			row.Truth = append(row.Truth, ibid.Mark{Annotator: o.Annotator, DocNull: true})
		}
		for _, m := range o.Marks {
			row.Truth = append(row.Truth, ibid.Mark{Annotator: o.Annotator, Doc: m.Doc, Place: ibid.Place{Doc: m.Doc, Start: m.Start, End: m.End}})
		}
		name := o.Annotator
		if strings.HasPrefix(name, "\x00") {
			name = ""
		}
		for _, l := range answered(o.Labels) {
			row.Labels = append(row.Labels, ibid.Label{Annotator: name, ClaimID: l.ClaimID, CitationID: l.CitationID, Kind: l.Kind, Value: ibid.Some(*l.Value)})
		}
	}
	return row
}

// page is a text of the item, as [annotations.Texts] has it.
func (it *Item) page(doc string, _ int32) (string, bool) { return it.Text(doc) }

// cited are the documents that the item cites.
func (it *Item) cited() []string {
	var docs []string
	for _, c := range it.Citations {
		docs = append(docs, c.Doc)
	}
	slices.Sort(docs)
	return slices.Compact(docs)
}

// cluster is what an item depends on: the documents that it touches, else the only one that
// it has, else its question.
func (it *Item) cluster(touched []string, id string) string {
	if len(touched) == 0 && len(it.Documents) == 1 {
		touched = it.Documents
	}
	if len(touched) == 0 {
		return id
	}
	return annotations.ClusterOf(touched)
}

// Explain fills in the texts of disagreements: what was marked, and which claim a label is
// about.
func (r *Round) Explain(worst []annotations.Disagreement) {
	asked := r.Asked()
	for i := range worst {
		at := worst[i].Row
		worst[i].Row = -1 // of the data, which the round does not know
		worst[i].Explain(asked[at].row(), r.Items[at].page, r.Items[at].claim)
	}
}

// asks are the questions of the kinds of labels.
var asks = map[string]string{
	ibid.SupportLabel:       "How far is this supported by the place that it cites?",
	ibid.RelevantLabel:      "Is the cited place about what is claimed at all?",
	ibid.NeedsCitationLabel: "Should this claim have a citation?",
	ibid.FactualLabel:       "Is this a claim about facts, and not a courtesy or an opinion?",
}

// Parts are what a question asks, the claim that it is about ("" if about none), and the
// cited places that it depends on.
func (it *Item) Parts(q Label) (ask, claim string, cited []Place) {
	ask = asks[q.Kind]
	if q.ClaimID != "" {
		claim = it.claim(q.ClaimID)
	}
	if q.Kind == ibid.NeedsCitationLabel || q.Kind == ibid.FactualLabel {
		return ask, claim, nil // which do not depend on what is cited
	}
	for _, c := range it.Citations {
		if q.CitationID == "" && c.ClaimID == q.ClaimID && q.ClaimID != "" || q.CitationID != "" && c.CitationID == q.CitationID {
			cited = append(cited, c)
		}
	}
	return ask, claim, cited
}

// Ask puts a question of the item in words, with the claim and the cited places that it is
// about.
func (it *Item) Ask(q Label) string {
	ask, claim, cited := it.Parts(q)
	if q.ClaimID != "" {
		ask += "\nClaim: " + claim
	}
	for _, c := range cited {
		text := c.Text
		if whole, ok := it.Text(c.Doc); ok && c.Start != nil && c.End != nil && 0 <= *c.Start && *c.Start < *c.End && *c.End <= int64(utf8.RuneCountInString(whole)) {
			text = cut(whole, *c.Start, *c.End)
		}
		ask += fmt.Sprintf("\nCited: %s (%s)", text, c.Doc)
	}
	return ask
}

// claim is the text of a claim, or its id if that is all that is known.
func (it *Item) claim(id string) string {
	i := slices.IndexFunc(it.Claims, func(c Claim) bool { return c.ID == id })
	if i < 0 || it.Claims[i].Text == "" {
		return id
	}
	return it.Claims[i].Text
}
