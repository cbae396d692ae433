package harness

import (
	"context"
	"strings"

	"ibid/annotations"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// passageLimit is how many code points of a mark are shown.
const passageLimit = 200

// Explain fills in the texts of disagreements: what was marked, and which claim a
// label is about.
func (p *Plan) Explain(ctx context.Context, worst []annotations.Disagreement) error {
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return err
	}
	if docs != nil {
		defer docs.Close()
	}
	return p.explainIn(ctx, docs, worst)
}

// explainIn is Explain with documents that are at hand; nil are none.
func (p *Plan) explainIn(ctx context.Context, docs *dataset.Documents, worst []annotations.Disagreement) error {
	rows := make([]int64, len(worst))
	for i := range worst {
		rows[i] = worst[i].Row
	}
	next := 0
	return p.eachWholeIn(ctx, docs, rows, func(row *dataset.Row, _ *dataset.Resolved, r *dataset.Resolver) error {
		p.explain(r, row, &worst[next])
		next++
		return nil
	})
}

// keptDisagreements is how many disagreements a run keeps, on places and on labels
// each.
const keptDisagreements = 5

// writeDisagreements leaves the worst disagreements in the run directory, beside
// each label disagreement what the judge says. The places are kept, not their
// texts: whoever shows them reads the documents again.
func (p *Plan) writeDisagreements(ctx context.Context, docs *dataset.Documents, worst []annotations.Disagreement, verdicts annotations.Verdicts) error {
	if err := p.explainIn(ctx, docs, worst); err != nil {
		return err
	}
	for i := range worst {
		d := &worst[i]
		for k := range d.Passages {
			d.Passages[k].Text = ""
		}
		if v, ok := verdicts[d.Verdict]; ok {
			d.Judge = &v
		}
	}
	return annotations.WriteDisagreements(p.Dir, worst)
}

func (p *Plan) explain(r *dataset.Resolver, row *dataset.Row, d *annotations.Disagreement) {
	if d.Kind == runs.LabelAgreement {
		d.Text = strings.Clone(claimText(row, d.ID))
		return
	}
	var places dataset.Resolved
	r.Resolve(row, &places)
	for i := range row.Truth {
		t, at := &row.Truth[i], &places.Truth[i]
		passage := annotations.Passage{Annotator: strings.Clone(t.Annotator)}
		if !t.DocNull {
			passage.Doc, passage.Page, passage.Start, passage.End = strings.Clone(t.Doc), at.Page, at.Start, at.End
			if at.InSets() {
				text, _ := r.Excerpt(at.Doc, at.Page, at.Start, min(at.End, at.Start+passageLimit))
				passage.Text = strings.Clone(text)
			}
			if at.End > at.Start+passageLimit && passage.Text != "" {
				passage.Text += " …"
			}
		}
		d.Passages = append(d.Passages, passage)
	}
}

// claimText is the text of the claim that a label item names, if the row has it.
func claimText(row *dataset.Row, item string) string {
	for i := range row.Labels {
		l := &row.Labels[i]
		if labelItem(row, l) != item {
			continue
		}
		for k := range row.Claims {
			if row.Claims[k].ClaimID == l.ClaimID {
				return row.Claims[k].Text
			}
		}
	}
	return ""
}
