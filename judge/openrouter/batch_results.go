package openrouter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"

	"ibid/judge/cache"
)

// collect keeps the replies of a batch that has ended, which are in the file. What it cost is what the service
// says of all of it, shared among the lines by their own costs at half price; else the
// sum of those.
func (b *Batcher) collect(ctx context.Context, batch *cache.Batch, o *batchObject) (answered int64, err error) {
	j := b.judge
	var costs, tokens int64
	if err := scanLines(b.results, func(r *batchResult) error {
		line, n := b.read(r, batch.Model)
		costs, tokens = costs+line.CostNanoUSD, tokens+n
		return nil
	}); err != nil {
		return 0, err
	}
	total := costs
	if o.Usage != nil {
		if cost, told := o.Usage.cost(); told {
			total = cost
		}
	}
	var lines []cache.BatchLine
	var sum, given, counted int64
	// The end of a batch is paid for, whatever ends the process.
	durable := context.WithoutCancel(ctx)
	keep := func() error {
		n, err := b.store.SettleLines(durable, batch, lines, j.config.Now())
		counted += n
		lines = lines[:0]
		return err
	}
	err = scanLines(b.results, func(r *batchResult) error {
		line, n := b.read(r, batch.Model)
		if line.State == "" {
			return nil
		}
		all, part := costs, line.CostNanoUSD
		if costs == 0 { // nobody knows a price
			all, part = max(tokens, 1), n
		}
		sum += part
		upTo := int64(math.Round(float64(total) * (float64(sum) / float64(all))))
		line.CostNanoUSD, given = upTo-given, upTo
		if lines = append(lines, line); len(lines) < batchChunk {
			return nil
		}
		return keep()
	})
	if err = errors.Join(err, keep()); err != nil {
		return 0, err
	}
	answered, err = b.store.EndBatch(durable, batch.ID)
	if batch.Run != j.config.Run {
		counted = 0
	}
	j.budget.settleBatch(b.holds[batch.ID], counted)
	delete(b.holds, batch.ID)
	return answered, err
}

// read is what a result means for its line: the state is "" if it is none of ours. Its
// cost is what it says itself, else that of its tokens at half price; tokens are all of
// its reply.
func (b *Batcher) read(r *batchResult, model string) (line cache.BatchLine, tokens int64) {
	key, ok := r.key()
	if !ok {
		return line, 0
	}
	line.Key, line.State = key, cache.LineExpired
	if r.Response == nil {
		if line.Error = "no response"; r.Error != nil && !r.Error.none {
			line.Error = excerpt(b.judge.scrub(r.Error.text()))
		}
		return line, 0
	}
	var v envelope
	status := int(r.Response.Status)
	if err := v.read(r.Response.Body); err != nil {
		line.Error = excerpt(err.Error())
		return line, 0
	}
	if e := v.failure(); status/100 != 2 || e != nil {
		if e == nil {
			e = &wireError{}
		}
		if status/100 == 2 {
			status = e.status()
		}
		line.Error = excerpt(b.judge.scrub(fmt.Sprintf("status %d: %s", status, e.text())))
		if status != http.StatusRequestTimeout && status != http.StatusTooManyRequests && status < 500 {
			line.State = cache.LineRefused // a call will tell why
		}
		return line, 0
	}
	line.State, line.Raw = cache.LineAnswered, []byte(b.judge.secrets.text(string(r.Response.Body)))
	prompt, completion := int64(v.Usage.Prompt), int64(v.Usage.Completion)
	if cost, told := v.Usage.cost(); told {
		line.CostNanoUSD = cost
	} else if p, ok := b.judge.batchPrice(model); ok {
		line.CostNanoUSD = p.ofUsage(&v.Usage)
	}
	return line, prompt + completion
}

// fromBatch takes the reply that a batch has brought for the question, as if it came from
// a call; nil, nil, nil if there is none.
func (c *conversation) fromBatch(ctx context.Context) (e *cache.Entry, f *failure, err error) {
	j := c.judge
	if j.store == nil {
		return nil, nil, nil
	}
	line, _, err := j.store.Line(ctx, c.key)
	if line == nil || err != nil || line.State != cache.LineAnswered {
		return nil, nil, err
	}
	x := &exchange{status: http.StatusOK, raw: line.Raw}
	if err := x.envelope.read(line.Raw); err != nil || x.envelope.failure() != nil {
		return nil, nil, err
	}
	c.calls++
	j.counts.asked.Add(1)
	c.maxTokens, c.sent, c.cost, c.batch = line.MaxTokens, shapeOf(line.Form), line.CostNanoUSD, true
	if e, f = c.judgeReply(x); f != nil {
		return nil, f, c.record(ctx, x, f, j.config.Now(), 0, 0)
	}
	j.counts.answers.Add(1)
	c.member.gate.hears()
	return e, nil, c.keep(ctx, e)
}
