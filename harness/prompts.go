package harness

import (
	"context"

	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge/openrouter"
)

// ReadPrompts makes the prompts that the models of the run m were sent for the
// row at a position of the input; none if no model needed to see the row. Repairs
// and further votes on a doubtful verdict are not among them. It reads the inputs
// again: the error says so if they, or the prompts, are no longer there or no
// longer the same. A run whose judge asks no models is a [*UsageError].
func ReadPrompts(ctx context.Context, m *runs.Manifest, position int64) ([]openrouter.Prompt, error) {
	p, err := reopen(ctx, m)
	if err != nil {
		return nil, err
	}
	if !p.job.Config.Judge.AsksModels() {
		return nil, usagef("judge %s of run %s asks no model", m.Judge.Kind, m.ID)
	}
	judge, err := openrouter.New(liveConfig(&p.job.Config.Settings, ""))
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	defer judge.Close()
	if version := judge.Info().Prompt; version != m.Judge.Prompt {
		return nil, usagef("the prompts changed since run %s was made: version %s, not %s", m.ID, version, m.Judge.Prompt)
	}
	p.judge, p.live = judge, judge
	var prompts []openrouter.Prompt
	err = p.withRow(ctx, position, func(row *dataset.Row, resolver *dataset.Resolver, places *dataset.Resolved) error {
		judging, err := newJudging(p, resolver)
		if err != nil {
			return err
		}
		judging.prepare(row, places)
		if len(judging.claims) > 0 {
			prompts = judge.Prompts(&judging.request)
		}
		return resolver.Err()
	})
	return prompts, err
}

// withRow reads one row with the documents that it names, and resolves its places.
func (p *Plan) withRow(ctx context.Context, position int64, do func(*dataset.Row, *dataset.Resolver, *dataset.Resolved) error) error {
	var row dataset.Row
	err := p.source.Read(ctx, position, 1, func(b *dataset.Batch) error {
		b.Row(0, &row)
		return errEnough // the batch is not released: the row keeps its strings
	})
	if ignoreEnough(err) != nil {
		return err
	}
	var view *dataset.View
	if p.documents != nil {
		named := make(map[string]bool)
		for i := range row.Citations {
			named[row.Citations[i].Doc] = true
		}
		docs, err := dataset.LoadDocuments(ctx, p.documents, dataset.LoadOptions{Need: func(name string) bool { return named[name] }})
		if err != nil {
			return err
		}
		defer docs.Close()
		view = docs.View(textCache)
	}
	resolver := dataset.NewResolver(view, p.conventions)
	var places dataset.Resolved
	resolver.Resolve(&row, &places)
	if err := resolver.Err(); err != nil {
		return err
	}
	return do(&row, resolver, &places)
}
