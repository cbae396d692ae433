package harness

import (
	"cmp"
	"context"
	"errors"

	"ibid"
	"ibid/dataset"
	"ibid/metrics/claims"
)

// An Answers reads the rows of a plan with their places and texts, for rounds of annotation.
type Answers struct {
	plan   *Plan
	docs   *dataset.Documents
	source *dataset.Source
}

// OpenAnswers opens the dataset of the plan. Offsets that count from pages cannot be marked.
func (p *Plan) OpenAnswers(ctx context.Context) (*Answers, error) {
	if p.conventions.OffsetBase != dataset.FromDocument {
		return nil, ibid.Usagef("people mark places that count from the start of documents, and these count from pages")
	}
	source, err := p.openDataset(dataset.WantAll)
	if err != nil {
		return nil, err
	}
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return nil, asUsage(err)
	}
	return &Answers{p, docs, source}, nil
}

// Close closes the documents.
func (a *Answers) Close() error { return a.docs.Close() }

// CountsOtherwise reports whether the dataset counts otherwise than in code points with
// exclusive ends, as a table for it would have to.
func (a *Answers) CountsOtherwise() bool {
	c := a.plan.conventions
	return c.OffsetUnit != 0 || c.SpanEnd != dataset.Exclusive
}

// ClaimOptions are the settings that say what a claim is.
func (a *Answers) ClaimOptions() (claims.Options, error) {
	return claimOptions(&a.plan.job.Config.Settings)
}

// Each calls yield with every row that a run would score, in the order of the dataset.
func (a *Answers) Each(ctx context.Context, yield func(*ibid.Answer, *dataset.Resolver) error) error {
	r := a.plan.resolver(a.docs)
	return eachRow(ctx, a.source, a.plan.job.Limit, func(row *ibid.Answer) error {
		if row.Err != nil || !a.plan.job.wants(row) {
			return nil
		}
		r.Resolve(row)
		return errors.Join(r.Err(), yield(row, r))
	})
}

// Rows calls yield with the rows at some positions, ascending and each once.
func (a *Answers) Rows(ctx context.Context, rows []int64, yield func(*ibid.Answer, *dataset.Resolver) error) error {
	r := a.plan.resolver(a.docs)
	return readRows(ctx, a.source, rows, func(row *ibid.Answer) error {
		r.Resolve(row)
		if err := r.Err(); err != nil {
			return err
		}
		return cmp.Or(yield(row, r), r.Err())
	})
}
