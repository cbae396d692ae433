package harness

import (
	"context"
	"fmt"
	"time"

	"ibid/dataset"
	"ibid/judge/cache"
	"ibid/judge/openrouter"
)

// askInBatches asks what the rows of the run ask of the judge, in batches, and waits for the replies. It is nothing to a run that asks in calls.
//
// It forms the questions of all rows as the run itself does, and gives them to a batcher,
// which leaves out what the store of answers has. After it the run goes over the same
// rows and finds the replies; only what batches could not answer is asked in calls. So
// there is one way to a verdict, and one order of results.
func (p *Plan) askInBatches(ctx context.Context, from, to, perPart int64, docs *dataset.Documents) (err error) {
	live, ok := p.live.(*openrouter.Judge)
	if !ok || !p.job.Config.Judge.Batch || from == to {
		return nil
	}
	batcher := live.NewBatcher()
	defer func() {
		p.openBatches = batcher.Open()
		batcher.Close()
	}()
	queue := p.startJudgeQueue(ctx)
	defer queue.end()
	w, err := newWorker(p, p.rowsLayout(), docs)
	if err != nil {
		return err
	}
	w.queue = queue
	tell := func(b openrouter.BatchProgress) {
		usage := live.Usage()
		p.job.progress(Progress{
			Stage: fmt.Sprintf("waiting for %s since %s (%s)", plural(len(b.Batches), "batch", "batches"), b.Since.Local().Format(time.TimeOnly), b.Status),
			Done:  b.Answered, Of: b.Asked, Since: time.Now(), Judge: &usage,
		})
	}
	for {
		if err := p.addQuestions(ctx, w, batcher, from, to, perPart); err != nil {
			return err
		}
		sent := batcher.Sent()
		waiting, err := batcher.Submit(ctx)
		if n := batcher.Sent() - sent; n > 0 {
			p.log.Info("batches submitted", "count", n, "open", batcher.Open())
		}
		if err != nil || !waiting {
			return err
		}
		if err := batcher.Wait(ctx, tell); err != nil {
			return err
		}
	}
}

// addQuestions gives the questions of all rows to a batcher.
func (p *Plan) addQuestions(ctx context.Context, w *worker, batcher *openrouter.Batcher, from, to, perPart int64) error {
	progress, done := p.stage("forming questions", p.Rows), int64(0)
	return p.decode(ctx, from, to, perPart, func(in inputPart) error {
		defer in.batch.Release()
		if _, err := w.askJudge(ctx, in, batcher); err != nil {
			return err
		}
		done += int64(in.rows)
		progress(done)
		return nil
	})
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// warnOfBatches warns of a run that asks in calls what it has in a batch already.
func (p *Plan) warnOfBatches(ctx context.Context, store *cache.SQLite, c *openrouter.Config) error {
	if c.Batch {
		return nil
	}
	open, err := store.OpenLines(ctx, c.Run)
	if open > 0 {
		p.job.warn("%d questions of this run are in batches that are paid for: with judge.batch it waits for them", open)
	}
	return err
}
