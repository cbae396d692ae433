package harness

import (
	"context"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/acts"
	"ibid/dataset"
)

// A Merged is one table of what several rounds of annotators said of a dataset.
type Merged struct {
	Items     []acts.MergedItem // questions with their truth, then answers with their labels
	Questions int64             // with a truth
	Labels    int64
	Undecided int64 // truths and labels left out, since several people differ and nobody decided
	Unclear   int64 // annotators of a question left out, since some mark of theirs has no place in a text
}

// MergeRounds makes one opinion of what the dataset has and what was said of a blind
// sample of it. Of a question that several rows have, the first with marks counts.
func (p *Plan) MergeRounds(ctx context.Context, filled *annotations.Filled, m acts.Merging) (*Merged, error) {
	if c := p.conventions; c.OffsetUnit != 0 || c.SpanEnd != dataset.Exclusive || c.OffsetBase != dataset.FromDocument {
		return nil, ibid.Usagef("adjudication needs offsets in code points from the start of documents, with exclusive ends")
	}
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return nil, asUsage(err)
	}
	defer docs.Close()
	r := p.resolver(docs)
	out := new(Merged)
	truths := make(map[string]*truthOpinions) // by question
	var order []string
	var labels []acts.MergedItem
	err = eachRow(ctx, p.people, p.job.Limit, func(row *ibid.Answer) error {
		if row.Err != nil || !p.job.wants(row) {
			return nil
		}
		if err := refuseTwice(row, filled.Said[row.Pos]); err != nil {
			return err
		}
		r.Resolve(row)
		q := truths[row.ID]
		if q == nil {
			id := strings.Clone(row.ID)
			q = new(truthOpinions)
			truths[id], order = q, append(order, id)
		}
		q.add(row, filled)
		if answers, open := m.Labels(labelOpinions(row, filled), decision(filled.Decided[row.Pos], acts.Labels)); len(answers) > 0 || open > 0 {
			out.Labels, out.Undecided = out.Labels+int64(len(answers)), out.Undecided+int64(open)
			if len(answers) > 0 {
				labels = append(labels, acts.MergedItem{ID: strings.Clone(row.ID), System: strings.Clone(row.System), Labels: answers})
			}
		}
		return r.Err()
	})
	if err != nil {
		return nil, err
	}
	for _, id := range order {
		q := truths[id]
		out.Unclear += q.unclear
		truth := m.Truth(q.said, q.decision)
		switch {
		case truth != nil:
			out.Questions++
			out.Items = append(out.Items, acts.MergedItem{ID: id, Truth: truth})
		case len(q.said) > 0:
			out.Undecided++
		}
	}
	out.Items = append(out.Items, labels...)
	return out, nil
}

// truthOpinions are what people said of the truth of one question.
type truthOpinions struct {
	said     []acts.Opinion
	decision *acts.Decision
	unclear  int64
	marked   bool // a row before had marks of its own
}

// add adds what a row has, unless one before had some, and what was said of it blindly.
func (q *truthOpinions) add(row *ibid.Answer, filled *annotations.Filled) {
	if !q.marked && len(row.Truth) > 0 {
		q.marked = true
		unclear := make(map[string]bool)
		for i := range row.Truth {
			t := &row.Truth[i]
			if unclear[t.Annotator] = unclear[t.Annotator] || !t.DocNull && !t.Place.InSets(); unclear[t.Annotator] {
				continue
			}
			o := q.of(strings.Clone(t.Annotator))
			if !t.DocNull {
				o.Marks = append(o.Marks, acts.Mark{Doc: strings.Clone(t.Place.Doc), Start: t.Place.Start, End: t.Place.End})
			}
		}
		q.said = slices.DeleteFunc(q.said, func(o acts.Opinion) bool { return unclear[o.Annotator] })
		for _, is := range unclear {
			if is {
				q.unclear++
			}
		}
	}
	for i := range filled.Said[row.Pos] {
		if it := &filled.Said[row.Pos][i]; it.Truth != nil {
			o := q.of(it.Annotator)
			o.Marks = append(o.Marks, acts.MarksOf(it.Truth)...)
		}
	}
	if d := decision(filled.Decided[row.Pos], acts.Truth); d != nil {
		q.decision = d
	}
}

// of is the opinion of an annotator.
func (q *truthOpinions) of(annotator string) *acts.Opinion {
	i := slices.IndexFunc(q.said, func(o acts.Opinion) bool { return o.Annotator == annotator })
	if i < 0 {
		i = len(q.said)
		q.said = append(q.said, acts.Opinion{Annotator: annotator})
	}
	return &q.said[i]
}

// labelOpinions are what people said of the questions about a row. Of several answers of
// one annotator to a question the first counts.
func labelOpinions(row *ibid.Answer, filled *annotations.Filled) []acts.Opinion {
	var q truthOpinions
	for i := range row.Labels {
		if l := &row.Labels[i]; answered(l) {
			o := q.of(strings.Clone(l.Annotator))
			o.Labels = append(o.Labels, annotations.BlindLabel{
				ClaimID: strings.Clone(l.ClaimID), CitationID: strings.Clone(l.CitationID), Kind: strings.Clone(l.Kind), Value: new(l.Value.Value),
			})
		}
	}
	for i := range filled.Said[row.Pos] {
		if it := &filled.Said[row.Pos][i]; len(it.Labels) > 0 {
			o := q.of(it.Annotator)
			o.Labels, o.Shown = append(o.Labels, it.Labels...), it.Shown()
		}
	}
	return q.said
}

// decision is what adjudicators decided of a part of an item, nil if that is nothing. Of
// several the last counts.
func decision(decided []annotations.BlindItem, part string) (d *acts.Decision) {
	for i := range decided {
		it := &decided[i]
		switch {
		case part == acts.Truth && it.Truth != nil:
			marks := acts.MarksOf(it.Truth)
			d = &acts.Decision{By: it.Annotator, Marks: &marks, How: it.How, From: it.From}
		case part == acts.Labels && len(it.Labels) > 0:
			d = &acts.Decision{By: it.Annotator, Labels: it.Labels}
		}
	}
	return d
}
