package harness

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/acts"
	"ibid/dataset"
)

// Adjudication says what became of the opinions of a dataset.
type Adjudication struct {
	Rows      int64
	Marked    int64 // rows whose truth is now one annotator's
	Unclear   int64 // rows whose truth stayed as it was: some mark has no place in a text
	Labels    int64 // labels written
	Undecided int64 // questions for which the policy found no answer
}

// Adjudicate writes the dataset to path with one opinion instead of several: the
// truth of every row, and the labels of every question. All else stays as it is.
func (p *Plan) Adjudicate(ctx context.Context, policy ibid.Policy, path string) (a Adjudication, err error) {
	if c := p.conventions; c.OffsetUnit != 0 || c.SpanEnd != dataset.Exclusive || c.OffsetBase != dataset.FromDocument {
		return a, ibid.Usagef("adjudication needs offsets in code points from the start of documents, with exclusive ends")
	}
	for _, in := range p.inputs {
		if sameFile(in.Path, path) {
			return a, ibid.Usagef("%s is both read and written", path).With("write to another file: what the annotators opinions must not be lost")
		}
	}
	all, err := p.openDataset(dataset.WantAll)
	if err != nil {
		return a, err
	}
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return a, asUsage(err)
	}
	defer docs.Close()
	r := p.resolver(docs)
	w, err := dataset.NewWriter(path, p.conventions.OffsetBase.String())
	if err != nil {
		return a, err
	}
	err = eachRow(ctx, all, p.job.Limit, func(row *ibid.Answer) error {
		if !p.job.wants(row) {
			return nil
		}
		a.Rows++
		r.Resolve(row)
		if err := r.Err(); err != nil {
			return err
		}
		a.truth(policy, r, row)
		a.labels(policy, row)
		return w.Write(row)
	})
	if err != nil {
		return a, errors.Join(err, w.Abort())
	}
	return a, w.Close()
}

// sameFile reports whether two paths lead to one file that is there.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// truth replaces the marks of a row.
func (a *Adjudication) truth(policy ibid.Policy, r *dataset.Resolver, row *ibid.Answer) {
	if len(row.Truth) == 0 {
		return
	}
	texts := newAnnotatedTexts(r, row)
	if len(texts.unclear) > 0 {
		a.Unclear++
		return
	}
	a.Marked++
	units := annotations.CombineMarks(policy, texts.marks(row))
	row.Truth = row.Truth[:0]
	for _, u := range units {
		for _, at := range texts.places(u) {
			row.Truth = append(row.Truth, ibid.Mark{
				Annotator: acts.Adjudicated, Doc: at.doc, Start: ibid.Some(at.start), End: ibid.Some(at.end),
			})
		}
	}
	if len(row.Truth) == 0 {
		row.Truth = append(row.Truth, ibid.Mark{Annotator: acts.Adjudicated, DocNull: true})
	}
}

func (a *Adjudication) labels(policy ibid.Policy, row *ibid.Answer) {
	type question struct{ claim, citation, kind string }
	var order []question
	opinions := make(map[question][]ibid.Opinion)
	for i := range row.Labels {
		l := &row.Labels[i]
		q := question{l.ClaimID, l.CitationID, l.Kind}
		if _, ok := opinions[q]; !ok {
			order = append(order, q)
			opinions[q] = nil
		}
		name := cmp.Or(l.Annotator, ibid.UnnamedAnnotator(i))
		again := slices.ContainsFunc(opinions[q], func(o ibid.Opinion) bool { return o.Annotator == name })
		if answered(l) && !again { // as in agreement, the first of an annotator's counts
			opinions[q] = append(opinions[q], ibid.Opinion{Annotator: name, Value: l.Value.Value})
		}
	}
	row.Labels = row.Labels[:0]
	for _, q := range order {
		v, annotators := policy.Label(opinions[q])
		if annotators == 0 {
			a.Undecided++
			continue
		}
		a.Labels++
		row.Labels = append(row.Labels, ibid.Label{
			Annotator: acts.Adjudicated, ClaimID: q.claim, CitationID: q.citation, Kind: q.kind, Value: ibid.Some(v),
		})
	}
}
