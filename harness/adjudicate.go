package harness

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"

	"ibid/annotations"
	"ibid/dataset"
)

// Adjudicated is the annotator of what stands for several opinions.
const Adjudicated = "adjudicated"

// Adjudication says what became of the opinions of a dataset.
type Adjudication struct {
	Rows      int64
	Marked    int64 // rows whose truth is now one annotator's
	Unclear   int64 // rows whose truth stayed as it was, since some mark has no place in a text
	Labels    int64 // labels written
	Undecided int64 // questions for which the policy found no answer
}

// Adjudicate writes the dataset to path with one opinion instead of several: the
// truth of every row, and the labels of every question. All else stays as it is.
func (p *Plan) Adjudicate(ctx context.Context, policy annotations.Policy, path string) (a Adjudication, err error) {
	if c := p.conventions; c.OffsetUnit != 0 || c.SpanEnd != dataset.Exclusive || c.OffsetBase != dataset.FromDocument {
		return a, usagef("adjudication needs offsets in code points from the start of documents, with exclusive ends")
	}
	for _, in := range p.inputs {
		if sameFile(in.Path, path) {
			u := usagef("%s is both read and written", path)
			u.Tip = "write to another file: what the annotators said must not be lost"
			return a, u
		}
	}
	all, err := dataset.Open(p.job.Config.Dataset, dataset.ReadOptions{Columns: p.job.Config.Columns})
	if err != nil {
		return a, err
	}
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return a, asUsage(err)
	}
	var view *dataset.View
	if docs != nil {
		defer docs.Close()
		view = docs.View(textCache)
	}
	r := dataset.NewResolver(view, p.conventions)
	w, err := dataset.NewWriter(path, p.conventions.OffsetBase.String())
	if err != nil {
		return a, err
	}
	var places dataset.Resolved
	err = eachRow(ctx, all, p.job.Limit, func(row *dataset.Row) error {
		if !p.job.wants(row) {
			return nil
		}
		a.Rows++
		r.Resolve(row, &places)
		if err := r.Err(); err != nil {
			return err
		}
		a.truth(policy, r, row, &places)
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
func (a *Adjudication) truth(policy annotations.Policy, r *dataset.Resolver, row *dataset.Row, places *dataset.Resolved) {
	if len(row.Truth) == 0 {
		return
	}
	texts := layTexts(r, row, places)
	if len(texts.unclear) > 0 {
		a.Unclear++
		return
	}
	a.Marked++
	units := policy.Spans(texts.marks(row, places))
	row.Truth = row.Truth[:0]
	for _, u := range units {
		for _, at := range texts.places(u) {
			row.Truth = append(row.Truth, dataset.Truth{
				Annotator: Adjudicated, Doc: at.doc, Start: dataset.NullInt{Value: at.start, Valid: true}, End: dataset.NullInt{Value: at.end, Valid: true},
			})
		}
	}
	if len(row.Truth) == 0 {
		row.Truth = append(row.Truth, dataset.Truth{Annotator: Adjudicated, DocNull: true})
	}
}

// labels replaces the labels of a row.
func (a *Adjudication) labels(policy annotations.Policy, row *dataset.Row) {
	type question struct{ claim, citation, kind string }
	var order []question
	said := make(map[question][]annotations.Rating)
	for i := range row.Labels {
		l := &row.Labels[i]
		q := question{l.ClaimID, l.CitationID, l.Kind}
		if _, ok := said[q]; !ok {
			order = append(order, q)
			said[q] = nil
		}
		again := slices.ContainsFunc(said[q], func(r annotations.Rating) bool { return l.Annotator != "" && r.Annotator == l.Annotator })
		if answered(l) && !again { // as in agreement, the first of an annotator's counts
			said[q] = append(said[q], annotations.Rating{Annotator: l.Annotator, Value: annotations.Value(l.Value.Value)})
		}
	}
	row.Labels = row.Labels[:0]
	for _, q := range order {
		text, ok := policy.Label(said[q])
		if !ok {
			a.Undecided++
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			a.Undecided++
			continue
		}
		a.Labels++
		row.Labels = append(row.Labels, dataset.Label{
			Annotator: Adjudicated, ClaimID: q.claim, CitationID: q.citation, Kind: q.kind, Value: dataset.NullFloat{Value: v, Valid: true},
		})
	}
}
