package round

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// Measure adds what people say in the round to collections of marks and of labels. In a
// second look each pair is one annotator of the round and one of before.
func (r *Round) Measure(spans *annotations.Spans, labels *annotations.Labels) {
	for _, a := range r.Asked() {
		it := &r.Items[a.Item]
		if it.Purpose == Truth {
			item := r.spanItem(it, &a)
			spans.Add(&item)
			continue
		}
		for _, j := range r.judged(it, &a) {
			labels.Add(j)
		}
	}
}

// spanItem is an item of truth. The texts that somebody marked are laid one after the other.
func (r *Round) spanItem(it *Item, a *Asked) annotations.Item {
	var docs []string
	for _, o := range a.Said {
		for _, m := range o.Marks {
			docs = append(docs, m.Doc)
		}
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	out := annotations.Item{ID: a.ID, Row: int64(a.Item), Cluster: it.cluster(docs, a.ID), Known: true}
	starts := make(map[string]int64)
	for _, doc := range docs {
		text, _ := it.Text(doc)
		starts[doc] = out.Length
		out.Length += int64(utf8.RuneCountInString(text))
	}
	for _, o := range marked(a.Said) {
		m := annotations.Mark{Annotator: o.Annotator, Earlier: o.Earlier}
		for _, x := range o.Marks {
			m.Units = append(m.Units, stats.Unit{Start: starts[x.Doc] + x.Start, End: starts[x.Doc] + x.End, Category: 1})
		}
		out.Marks = append(out.Marks, m)
	}
	return out
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

// judged are the questions about an answer that somebody answered.
func (r *Round) judged(it *Item, a *Asked) []annotations.Judged {
	var docs []string
	for _, c := range it.Citations {
		docs = append(docs, c.Doc)
	}
	slices.Sort(docs)
	cluster := it.cluster(slices.Compact(docs), a.ID)
	var out []annotations.Judged
	if !slices.ContainsFunc(a.Said, func(o Opinion) bool { return !o.Earlier }) {
		return nil
	}
	for _, q := range questionsOf(a.Said) {
		j := annotations.Judged{
			Verdict: annotations.VerdictKey{ID: a.ID, System: a.System, Kind: q.Kind, Claim: q.ClaimID, Citation: q.CitationID},
			Row:     int64(a.Item), Kind: q.Kind, Cluster: cluster,
		}
		j.ID = j.Verdict.Name()
		for _, o := range a.Said {
			if v, ok := answer(q, o.Labels); ok {
				name := o.Annotator
				if strings.HasPrefix(name, "\x00") {
					name = ""
				}
				j.Ratings = append(j.Ratings, annotations.Rating{Annotator: name, Value: annotations.Value(v), Earlier: o.Earlier})
			}
		}
		out = append(out, j)
	}
	return out
}

// Explain fills in the texts of disagreements: what was marked, and which claim a label is
// about.
func (r *Round) Explain(worst []annotations.Disagreement) {
	asked := r.Asked()
	for i := range worst {
		d := &worst[i]
		it, a := &r.Items[d.Row], &asked[d.Row]
		d.Row = -1 // of the data, which the round does not know
		if d.Kind == runs.LabelAgreement {
			d.Text = it.claim(d.Verdict.Claim)
			continue
		}
		for _, o := range marked(a.Said) {
			if len(o.Marks) == 0 {
				d.Passages = append(d.Passages, annotations.Passage{Annotator: o.Annotator})
			}
			for _, m := range o.Marks {
				text, _ := it.Text(m.Doc)
				p := annotations.Passage{Annotator: o.Annotator, Doc: m.Doc, Start: m.Start, End: m.End, Text: cut(text, m.Start, min(m.End, m.Start+annotations.PassageLimit))}
				if m.End > m.Start+annotations.PassageLimit {
					p.Text += " …"
				}
				d.Passages = append(d.Passages, p)
			}
		}
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
