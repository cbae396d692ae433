package harness

import (
	"context"

	"ibid/dataset"
)

// survey finds out what the rows have at all, which fixes the components of the
// overall score and tells whether foreign offsets can be converted: a column
// that is there may still be null in every row.
func (p *Plan) survey(ctx context.Context) (err error) {
	if p.source.HasTruth() {
		p.options.SpanComponent, err = p.someRow(ctx, dataset.WantSpans, func(r *dataset.Row) bool { return r.HasTruth })
		if err != nil {
			return err
		}
	}
	if p.source.HasDocuments() {
		p.inline, err = p.someRow(ctx, dataset.WantDocuments, func(r *dataset.Row) bool { return r.HasDocuments })
	}
	return err
}

// someRow reports whether there is a row with a property. It reads no further
// than the first one.
func (p *Plan) someRow(ctx context.Context, want dataset.Want, has func(*dataset.Row) bool) (bool, error) {
	found := false
	var row dataset.Row
	err := p.source.Select(want).Read(ctx, 0, surveyBatch, func(b *dataset.Batch) error {
		defer b.Release()
		for i := 0; i < b.Len() && !found; i++ {
			b.Row(i, &row)
			found = has(&row)
		}
		if found {
			return errEnough
		}
		return nil
	})
	return found, ignoreEnough(err)
}

// surveyBatch is how many rows a survey decodes at a time.
const surveyBatch = 256
