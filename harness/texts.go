package harness

import (
	"context"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// Texts reads the texts of a finished run again: answers from its dataset, the
// cited documents from its documents.
type Texts struct{ plan *Plan }

// OpenTexts opens the dataset and the documents of the run m. The error says so
// if those are no longer there or no longer the same.
func OpenTexts(ctx context.Context, m *runs.Manifest) (*Texts, error) {
	p, err := reopen(ctx, m)
	if err != nil {
		return nil, err
	}
	return &Texts{p}, nil
}

// reopen opens the inputs of a finished run, which must be as it read them.
func reopen(ctx context.Context, m *runs.Manifest) (*Plan, error) {
	config, err := SettingsOf(m, nil, nil)
	if err != nil {
		return nil, err
	}
	p := &Plan{job: &Job{Config: config}}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	if err := p.unchanged(m); err != nil {
		return nil, err
	}
	p.conventions, err = conventionsOf(config, p.source)
	return p, err
}

// Each calls yield with every row of the dataset in the order of the input, the
// places of the row, and a function that returns the text of a key: a document,
// or one page of it when offsets count from pages. Row, places and text are
// valid until yield returns.
//
// The documents at hand are those that some row names as a source or as truth,
// and those in further. They are read once.
func (t *Texts) Each(ctx context.Context, further []string, yield func(row *dataset.Row, places *dataset.Resolved, text func(doc string, page int32) (string, bool)) error) error {
	var view *dataset.View
	if t.plan.documents != nil {
		docs, err := t.load(ctx, further)
		if err != nil {
			return err
		}
		defer docs.Close()
		view = docs.View(textCache)
	}
	resolver := dataset.NewResolver(view, t.plan.conventions)
	var places dataset.Resolved
	return eachRow(ctx, t.plan.source, 0, func(row *dataset.Row) error {
		resolver.Resolve(row, &places)
		if err := resolver.Err(); err != nil {
			return err
		}
		if err := yield(row, &places, resolver.Text); err != nil {
			return err
		}
		return resolver.Err()
	})
}

// load keeps the documents that rows name, and further.
func (t *Texts) load(ctx context.Context, further []string) (*dataset.Documents, error) {
	needed := make(map[string]bool)
	note := func(doc string) {
		if !needed[doc] {
			needed[string([]byte(doc))] = true // a row's strings live in its batch
		}
	}
	for _, doc := range further {
		note(doc)
	}
	err := eachRow(ctx, t.plan.source.Select(dataset.WantKeys|dataset.WantSpans), 0, func(row *dataset.Row) error {
		for i := range row.Citations {
			note(row.Citations[i].Doc)
		}
		for i := range row.Truth {
			note(row.Truth[i].Doc)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return dataset.LoadDocuments(ctx, t.plan.documents, dataset.LoadOptions{Need: func(name string) bool { return needed[name] }})
}
