package harness

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ibid/judge"
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
	rows     int // how many may wait
	requests chan queuedRequest
	answered atomic.Int64          // rows
	stop     atomic.Pointer[error] // what ended the asking
}

// A queuedRequest is one row's request on its way.
type queuedRequest struct {
	request *judge.Request
	answer  *answer
	done    *sync.WaitGroup
}

// An answer is what a judge returned for one row.
type answer struct {
	verdict *judge.Verdict
	err     error
}

// startJudgeQueue starts the queue of the run, nil if its judge is not live.
func (p *Plan) startJudgeQueue(ctx context.Context) *judgeQueue {
	if p.live == nil {
		return nil
	}
	c := &judgeQueue{judge: p.judge, requests: make(chan queuedRequest), rows: 1}
	if p.job.Config.Performance.ParallelEvaluation {
		c.rows = rowsPerCall * int(p.job.Config.Judge.Concurrency)
	}
	for range c.rows {
		go c.serve(ctx)
	}
	return c
}

// end lets the goroutines go. All rows must have their answers.
func (c *judgeQueue) end() {
	if c != nil {
		close(c.requests)
	}
}

// watch hands on the parts that are finished. While a live judge answers, it also
// ticks: minutes may pass before a part is complete.
func (c *judgeQueue) watch(finished <-chan finishedPart, done func(finishedPart), tick func(answered int64)) {
	var ticks <-chan time.Time
	if c != nil {
		ticker := time.NewTicker(tickEvery)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case d, open := <-finished:
			if !open {
				return
			}
			done(d)
		case <-ticks:
			tick(c.answered.Load())
		}
	}
}

// workers is how many parts are under way at once: enough that the rows that wait
// never run out while some parts wait for their last rows.
func (p *Plan) workers(c *judgeQueue) int {
	if c == nil || !p.job.Config.Performance.ParallelEvaluation {
		return p.job.workers()
	}
	return p.job.workers() + 2 + 2*c.rows/maxLiveRows
}

func (c *judgeQueue) serve(ctx context.Context) {
	for q := range c.requests {
		q.answer.verdict, q.answer.err = c.ask(ctx, q.request)
		c.answered.Add(1)
		q.done.Done()
	}
}

func (c *judgeQueue) ask(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	if stop := c.stop.Load(); stop != nil {
		return nil, *stop
	}
	v, err := c.judge.Judge(ctx, r)
	if err != nil && !isRowFailure(err) {
		c.stop.CompareAndSwap(nil, &err)
	}
	return v, err
}

func isRowFailure(err error) bool {
	var failure *judge.RowFailure
	return errors.As(err, &failure)
}

// askJudge puts the rows of a part to the live judge and waits for all of them. A row
// without claims, or that cannot be scored, has no answer. Another judge is asked
// row by row, later: the answers are nil.
func (w *worker) askJudge(in inputPart) ([]answer, error) {
	if w.queue == nil {
		return nil, nil
	}
	answers := make([]answer, in.rows)
	var pending sync.WaitGroup
	for i := range in.rows {
		in.batch.Row(i, &w.row)
		if !w.plan.job.wants(&w.row) {
			continue
		}
		r, err := w.scorer.request(&w.row)
		if err != nil {
			pending.Wait()
			return nil, w.atRow(err)
		}
		if r == nil {
			w.queue.answered.Add(1)
			continue
		}
		pending.Add(1)
		w.queue.requests <- queuedRequest{copyOf(r), &answers[i], &pending}
	}
	pending.Wait()
	for i := range answers {
		if err := answers[i].err; err != nil && !isRowFailure(err) {
			return answers, err
		}
	}
	return answers, nil
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
