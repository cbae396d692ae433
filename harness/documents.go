package harness

import (
	"context"
	"hash/maphash"

	"ibid/dataset"
)

// loadDocuments keeps the documents that some citation or annotation names; nil
// if the run has none. It passes over the dataset once and over the documents
// once, and keeps 8 bytes for each distinct name that is cited.
func (p *Plan) loadDocuments(ctx context.Context) (*dataset.Documents, error) {
	if p.documents == nil {
		return nil, nil
	}
	seed := maphash.MakeSeed()
	needed := make(map[uint64]struct{})
	note := func(doc string, null bool) {
		if !null {
			needed[maphash.String(seed, doc)] = struct{}{}
		}
	}
	progress, rows := p.stage("finding cited documents", p.Rows), int64(0)
	err := eachRow(ctx, p.source.Select(dataset.WantKeys|dataset.WantSpans), p.job.Limit, func(r *dataset.Row) error {
		for i := range r.Citations {
			note(r.Citations[i].Doc, r.Citations[i].DocNull)
		}
		for i := range r.Truth {
			note(r.Truth[i].Doc, r.Truth[i].DocNull)
		}
		if rows++; rows%keysBatch == 0 {
			progress(rows)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.stage("reading documents", p.documents.Rows())(0)
	return dataset.LoadDocuments(ctx, p.documents, dataset.LoadOptions{Need: func(name string) bool {
		_, ok := needed[maphash.String(seed, name)]
		return ok
	}})
}

// documentProblems are the documents whose text could not be used.
func (p *Plan) documentProblems(docs *dataset.Documents) []string {
	if docs == nil {
		return nil
	}
	problems := docs.Problems()
	for _, text := range problems {
		p.job.warn("%s", text)
	}
	return problems
}
