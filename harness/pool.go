package harness

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// A stretch is a run of parts that follow each other and are still to be done.
type stretch struct{ from, to int64 } // part numbers, half-open

// work is one part on its way to a worker.
type work struct {
	part  int64
	batch *dataset.Batch
	rows  int // of the batch that belong to the run: --limit may end within it
}

// A donePart is what the collector hears of a part.
type donePart struct {
	number int64
	known  rememberedPart
	rows   int64 // rows of the input, also those that --only left out
}

// scoreParts scores the parts of all stretches. One goroutine decodes, workers
// score and encode, and the caller's goroutine collects: no goroutine writes
// what another one reads. done is called once for each part, in the order of
// completion; tick now and then while a live judge answers, with the rows that
// it has answered.
//
// A live judge is asked under ctx, not under the group's: when one worker fails,
// what the others asked is paid for and waited for.
func (p *Plan) scoreParts(ctx context.Context, todo []stretch, rowsPerPart int64, docs *dataset.Documents, done func(donePart), tick func(answered int64)) error {
	asking := p.consult(ctx)
	defer asking.end()
	g, ctx := errgroup.WithContext(ctx)
	parts := make(chan work)
	finished := make(chan donePart)

	g.Go(func() error {
		defer close(parts)
		for _, s := range todo {
			if err := p.decode(ctx, s, rowsPerPart, parts); err != nil {
				return err
			}
		}
		return nil
	})
	layout := runs.NewRowsLayout()
	var workers errgroup.Group
	for range p.workers(asking) {
		w, err := newWorker(p, layout, docs)
		if err != nil {
			return err
		}
		w.asking = asking
		workers.Go(func() error { return w.run(ctx, parts, finished) })
	}
	g.Go(func() error {
		defer close(finished)
		return workers.Wait()
	})
	asking.watch(finished, done, tick)
	return g.Wait()
}

// decode sends the parts of a stretch to the workers, in order.
func (p *Plan) decode(ctx context.Context, s stretch, rowsPerPart int64, parts chan<- work) error {
	next := s.from
	left := p.Rows - s.from*rowsPerPart
	err := p.source.Read(ctx, s.from*rowsPerPart, int(rowsPerPart), func(b *dataset.Batch) error {
		rows := int(min(left, int64(b.Len())))
		left -= int64(rows)
		select {
		case parts <- work{next, b, rows}:
		case <-ctx.Done():
			b.Release()
			return ctx.Err()
		}
		next++
		if next == s.to {
			return errEnough
		}
		return nil
	})
	return ignoreEnough(err)
}

// A worker scores parts, one after the other.
type worker struct {
	plan     *Plan
	asking   *consultation // nil without a live judge
	scorer   *scorer
	record   *recorder
	remember *remembering
	encoder  dataset.Encoder
	row      dataset.Row
}

func newWorker(p *Plan, layout *runs.RowsLayout, docs *dataset.Documents) (*worker, error) {
	s, err := newScorer(p, docs)
	if err != nil {
		return nil, err
	}
	r, err := newRecorder(layout, &p.job.Config.Settings)
	if err != nil {
		return nil, err
	}
	settings := &p.job.Config.Settings
	return &worker{plan: p, scorer: s, record: r, remember: newRemembering(layout, settings)}, nil
}

func (w *worker) run(ctx context.Context, parts <-chan work, finished chan<- donePart) error {
	for in := range parts {
		known, err := w.part(ctx, in)
		in.batch.Release()
		if err != nil {
			return err
		}
		select {
		case finished <- donePart{in.part, known, int64(in.rows)}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// part scores one part, makes its results durable and returns what the summary
// needs of it.
func (w *worker) part(ctx context.Context, in work) (known rememberedPart, err error) {
	answers, err := w.ask(in)
	if err != nil {
		return known, err
	}
	w.record.reset()
	w.remember.begin()
	for i := range in.rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return known, ctx.Err()
		}
		in.batch.Row(i, &w.row)
		if !w.plan.job.wants(&w.row) {
			continue
		}
		if answers != nil {
			w.scorer.judging.answer = &answers[i]
		}
		if err := w.one(ctx); err != nil {
			return known, w.place(err)
		}
	}
	for _, kind := range w.plan.partFiles() {
		if err := w.plan.savePart(in.part, kind, w.encode(w.record.table(kind))); err != nil {
			return known, err
		}
	}
	tally := w.record.tally
	return w.remember.end(w.record.rows, &tally)
}

// place says which row an error is about.
func (w *worker) place(err error) error {
	return fmt.Errorf("%s: row %d: %w", w.row.File, w.row.FileRow, err)
}

func (w *worker) encode(t *dataset.Table) func(io.Writer) error {
	return func(out io.Writer) error { return w.encoder.EncodePart(out, t) }
}

// one scores the current row. A panic is a bug, but not a reason to lose the
// stack or the row's place.
func (w *worker) one(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v\n%s", r, debug.Stack())
		}
	}()
	failure, err := w.scorer.score(ctx, &w.row)
	if err != nil {
		return err
	}
	w.plan.sharing.note(&w.row)
	w.plan.annotators.note(&w.row)
	w.remember.note(&w.row)
	w.record.row(&w.row, w.scorer, failure)
	return nil
}
