package harness

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ibid/judge"
	"ibid/judge/openrouter"
)

// rowsPerCall is how many rows wait on a live judge for each call that may be
// under way: rows that sit out a rate limit must not keep others from asking.
const rowsPerCall = 4

// tickEvery is how often a live judge's progress is told.
const tickEvery = 200 * time.Millisecond

// A judgeQueue puts rows of several parts to a live judge side by side. The
// judge bounds its own calls; the queue bounds the rows that wait.
//
// Once an error other than a [judge.RowFailure] has come, nothing more is asked,
// but what is under way is waited for: it is paid for.
type judgeQueue struct {
	judge    judge.Judge
	asking   chan func(context.Context)
	answered atomic.Int64          // rows
	stop     atomic.Pointer[error] // what ended the asking
}

// An answer is what a judge returned for one row.
type answer struct {
	split   *judge.Split // nil if no claims were asked for
	verdict *judge.Verdict
	err     error
}

// startJudgeQueue starts the queue of the run, nil if its judge is not live.
func (p *Plan) startJudgeQueue(ctx context.Context) *judgeQueue {
	if p.live == nil {
		return nil
	}
	c := &judgeQueue{judge: p.judge, asking: make(chan func(context.Context))}
	for range p.waitingRows() {
		go func() {
			for ask := range c.asking {
				ask(ctx)
			}
		}()
	}
	return c
}

// waitingRows is how many rows may wait on a live judge.
func (p *Plan) waitingRows() int {
	if !p.job.Config.Performance.ParallelEvaluation {
		return 1
	}
	return rowsPerCall * int(p.job.Config.Judge.Concurrency)
}

// end lets the goroutines go. All rows must have their answers.
func (c *judgeQueue) end() {
	if c != nil {
		close(c.asking)
	}
}

// workers is how many parts are under way at once: enough that the rows that wait
// never run out while some parts wait for their last rows.
func (p *Plan) workers() int {
	if p.live == nil || !p.job.Config.Performance.ParallelEvaluation {
		return p.job.workers()
	}
	return p.job.workers() + 2 + 2*p.waitingRows()/maxLiveRows
}

// put asks for one row as soon as there is room. pending is done when ask has
// returned, or was left out because the judge has stopped; its error goes to err.
func (c *judgeQueue) put(pending *sync.WaitGroup, err *error, ask func(context.Context) error) {
	pending.Add(1)
	c.asking <- func(ctx context.Context) {
		defer pending.Done()
		if stop := c.stop.Load(); stop != nil {
			*err = *stop
			return
		}
		if *err = ask(ctx); *err != nil && !isRowFailure(*err) {
			c.stop.CompareAndSwap(nil, err)
		}
	}
}

func isRowFailure(err error) bool {
	var failure *judge.RowFailure
	return errors.As(err, &failure)
}

// askJudge puts the rows of a part to the live judge and waits for all of them. A row
// without claims, or that cannot be scored, has no answer. Another judge is asked
// row by row, later: the answers are nil. A batcher takes the questions instead. Where a model
// writes claims from sentences, the sentences go first: a row whose claims are not known yet has
// its questions about claims in a later pass.
func (w *worker) askJudge(ctx context.Context, in inputPart, batcher *openrouter.Batcher) ([]answer, error) {
	if w.queue == nil {
		return nil, nil
	}
	answers := make([]answer, in.rows)
	waits := make(map[*answer]bool)
	if splitter, ok := w.queue.judge.(judge.Splitter); ok && w.scorer.judging.split {
		err := w.askRows(in, answers, func(a *answer, pending *sync.WaitGroup) error {
			s, err := w.scorer.sentences(&w.row)
			if s == nil || err != nil {
				return err
			}
			if batcher != nil {
				ready, err := batcher.AddSplit(ctx, s)
				if waits[a] = !ready; !ready || err != nil {
					return err
				}
			}
			w.queue.put(pending, &a.err, func(ctx context.Context) (err error) {
				a.split, err = splitter.Split(ctx, s)
				return err
			})
			return nil
		})
		if err != nil {
			return answers, err
		}
	}
	return answers, w.askRows(in, answers, func(a *answer, pending *sync.WaitGroup) error {
		if a.err != nil || waits[a] { // its claims are not known
			w.queue.answered.Add(1)
			return nil
		}
		w.scorer.judging.answer = a
		r, err := w.scorer.request(&w.row)
		if r == nil || err != nil {
			w.queue.answered.Add(1)
			return err
		}
		if batcher != nil {
			return batcher.Add(ctx, r)
		}
		r = copyOf(r)
		w.queue.put(pending, &a.err, func(ctx context.Context) (err error) {
			a.verdict, err = w.queue.judge.Judge(ctx, r)
			w.queue.answered.Add(1)
			return err
		})
		return nil
	})
}

// askRows calls ask for each row of a part that is wanted, which is then in w.row, and
// waits for what that has put into the queue.
func (w *worker) askRows(in inputPart, answers []answer, ask func(a *answer, pending *sync.WaitGroup) error) error {
	var pending sync.WaitGroup
	for i := range in.rows {
		in.batch.Row(i, &w.row)
		if !w.plan.job.wants(&w.row) {
			continue
		}
		if err := ask(&answers[i], &pending); err != nil {
			pending.Wait()
			return w.atRow(err)
		}
	}
	pending.Wait()
	for i := range answers {
		if err := answers[i].err; err != nil && !isRowFailure(err) {
			return err
		}
	}
	return nil
}

// copyOf copies the lists of a request; texts are shared, and good as long as the
// part that they are from.
func copyOf(r *judge.Request) *judge.Request {
	c := *r
	c.Claims = slices.Clone(r.Claims)
	for k := range c.Claims {
		c.Claims[k].Citations = slices.Clone(r.Claims[k].Citations)
	}
	c.Evidence = slices.Clone(r.Evidence)
	c.Sources = slices.Clone(r.Sources)
	for i := range c.Sources {
		c.Sources[i].Cited = slices.Clone(r.Sources[i].Cited)
	}
	c.Labels = slices.Clone(r.Labels)
	c.Invalid = slices.Clone(r.Invalid)
	return &c
}
