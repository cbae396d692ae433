package harness

import (
	"context"

	"ibid"
	"ibid/annotations"
	"ibid/dataset"
)

// markedPart is what the annotators of one part marked, collected while its rows were
// scored.
type markedPart struct {
	found
	labelled bool // some row has labels
	compared bool // some row may have labels of two people on one question
	partly   bool // some annotated row has a value that scoring cannot read, and agreement perhaps need not
}

// note notes a row that was scored, or that failure says why it was not.
func (m *markedPart) note(p *Plan, r *dataset.Resolver, row *ibid.Answer, failure error) error {
	if row.Err != nil {
		m.partly = m.partly || annotations.SeveralMarked(row) || len(row.Labels) > 0
		return nil
	}
	m.labelled = m.labelled || len(row.Labels) > 0
	m.compared = m.compared || annotations.SeveralLabelled(row.Labels)
	if !annotations.SeveralMarked(row) {
		return nil
	}
	if row.QueryNull || row.AnswerNull { // for which rows fail before their places are looked at
		failure = r.Resolve(row)
	}
	m.noteMarks(p, r, row, failure)
	return r.Err()
}

// markedParts adds up what annotators marked, part by part in the order of the input, so
// that agreement need not read the dataset again.
type markedParts struct {
	sum      *Annotated
	parts    inOrder[*markedPart]
	marked   bool // two annotators marked some row
	labelled bool
	compared bool
	partly   bool // not all of some part is known
}

func newMarkedParts(p *Plan) *markedParts {
	return &markedParts{sum: p.noneAnnotated(keptDisagreements)}
}

// add adds a part; parts may come in any order.
func (m *markedParts) add(number int64, part *markedPart) {
	m.marked = m.marked || len(part.items) > 0
	m.labelled, m.compared, m.partly = m.labelled || part.labelled, m.compared || part.compared, m.partly || part.partly
	if m.partly {
		m.parts.waiting = nil
		return
	}
	m.parts.add(number, part, func(part *markedPart) { m.sum.add(&part.found) })
}

// all is what all annotators said, nil if more than what was collected is needed: labels, or
// rows that other processes have scored.
func (m *markedParts) all() *Annotated {
	if m == nil || m.partly || m.compared || m.labelled && m.marked {
		return nil
	}
	return m.sum
}

// unreadLabels reports whether rows have labels that the run, which has no judge, does
// not read. That there is a column for them says nothing: our own writer always has it.
func (p *Plan) unreadLabels(ctx context.Context) (bool, error) {
	if !p.source.HasLabels() || p.want()&dataset.WantLabels != 0 {
		return false, nil
	}
	if p.labels != nil {
		return true, nil
	}
	return someBatch(ctx, p.people.Select(dataset.WantLabels), keysBatch, (*dataset.Batch).HasLabels)
}
