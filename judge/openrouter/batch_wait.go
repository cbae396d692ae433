package openrouter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"ibid/judge"
	"ibid/judge/cache"
)

// Wait waits until all batches with questions of the run have ended and their replies
// are in the store. It calls tell with every look.
func (b *Batcher) Wait(ctx context.Context, tell func(BatchProgress)) error {
	if err := b.begin(ctx); err != nil {
		return err
	}
	for wait := batchPoll; ; wait = min(2*wait, batchPollMax) {
		delay, err := b.look(ctx)
		if err != nil {
			return err
		}
		if len(b.needs) == 0 {
			return nil
		}
		tell(b.progress)
		if err := sleep(ctx, max(wait, delay)); err != nil {
			return err
		}
	}
}

// look looks once at every batch that is waited for. delay is how long the service asks
// to be left alone.
func (b *Batcher) look(ctx context.Context) (delay time.Duration, err error) {
	all, err := b.store.Batches(ctx, b.judge.config.endpoint())
	if err != nil {
		return 0, err
	}
	b.progress = BatchProgress{}
	left := make(map[int64]bool)
	for i := range all {
		batch := &all[i]
		if !b.needs[batch.ID] || batch.State == cache.BatchDone {
			continue
		}
		b.hold(batch)
		var status string // "" once it is over
		var answered int64
		var f *failure
		if batch.State == cache.BatchOpen {
			status, answered, f, err = b.poll(ctx, batch)
		} else {
			status, f, err = b.decide(ctx, batch, all)
		}
		switch {
		case err != nil:
			return 0, err
		case f != nil && ctx.Err() != nil:
			return 0, ctx.Err()
		case f != nil:
			now := b.judge.config.Now()
			if b.failing.IsZero() {
				b.failing = now
			}
			if most := b.judge.config.MaxOutage; f.class == classStop || most > 0 && now.Sub(b.failing) > most {
				return 0, b.gaveUp(f)
			}
			status, delay = "not known", max(delay, f.delay)
		default:
			b.failing = time.Time{}
		}
		if status == "" {
			continue
		}
		left[batch.ID] = true
		p := &b.progress
		p.Batches = append(p.Batches, batch.ServiceID)
		p.Answered, p.Asked = p.Answered+answered, p.Asked+batch.Questions
		if p.Status == "" {
			p.Status, p.Since = status, batch.Created
		}
	}
	b.needs = left
	return delay, nil
}

// settleTime is after how long a submission that no listing shows was never accepted.
func (b *Batcher) settleTime() time.Duration {
	if t := b.judge.config.Timeout; t > 0 {
		return t
	}
	return 2 * time.Minute
}

// decide finds out what became of a batch whose submission had no answer. status is ""
// once the service is known not to have it.
func (b *Batcher) decide(ctx context.Context, batch *cache.Batch, all []cache.Batch) (status string, f *failure, err error) {
	const waiting = "looking for its submission"
	held, err := b.judge.leases.try(ctx, b.lockKey())
	if err != nil || !held {
		return waiting, nil, err // another process may be sending it
	}
	defer b.judge.leases.release(b.lockKey())
	id, open, f, err := b.find(ctx, batch, all)
	switch {
	case f != nil && f.class == classRow:
		return "", nil, b.unknown(ctx, batch, f.err) // there is no listing any more
	case f != nil || err != nil:
		return waiting, f, err
	case id != "":
		b.lost = 0
		return waiting, nil, b.store.OpenBatch(context.WithoutCancel(ctx), batch.ID, id)
	case b.resubmits(batch):
		return "", nil, b.drop(ctx, batch)
	case open, b.judge.config.Now().Sub(batch.Created) < b.settleTime():
		return waiting, nil, nil
	}
	if b.lost++; b.lost > b.judge.config.Retries {
		return "", nil, b.judge.stop(&judge.StopError{Reason: judge.StopService, Err: fmt.Errorf("%d submissions of batches had no answer, and no batch came of them", b.lost)})
	}
	return "", nil, b.drop(ctx, batch)
}

// resubmits reports whether the questions of a batch are asked again although it may be paid
// for: those that an earlier process sent, once.
func (b *Batcher) resubmits(batch *cache.Batch) bool {
	return b.judge.config.Resubmit && batch.Created.Before(b.judge.began)
}

// unknown stops where nobody can tell what became of a batch, or frees its questions where
// they are to be asked again.
func (b *Batcher) unknown(ctx context.Context, batch *cache.Batch, err error) error {
	if b.resubmits(batch) {
		return b.drop(ctx, batch)
	}
	name := cmp.Or(batch.ServiceID, "of "+batch.Created.Local().Format(time.DateTime))
	return b.judge.stop(&judge.StopError{
		Reason: judge.StopUndecided, Err: fmt.Errorf("the batch %s with %d questions: %w", name, batch.Questions, err),
		Hint: "look at the service's own list of batches; --resubmit asks its questions again, which may be paid twice",
	})
}

// find looks for a batch in the listing: id is what the service calls it, "" if it is
// not there; open says that one that may be it has not ended, so that nobody knows yet.
func (b *Batcher) find(ctx context.Context, batch *cache.Batch, all []cache.Batch) (id string, open bool, f *failure, err error) {
	const perPage = 100
	earliest := batch.Created.Add(-batchSkew).Unix()
	for after := ""; ; {
		page, f := b.service.page(ctx, after, perPage)
		if f != nil {
			return "", false, f, nil
		}
		for i := range page.Data {
			o := &page.Data[i]
			if o.Created > 0 && int64(o.Created) < earliest {
				return "", open, nil, nil // older ones follow
			}
			if !b.service.inline() {
				if string(o.Metadata[batchMetadata]) == batch.Token.String() {
					return string(o.ID), false, nil, nil
				}
				continue
			}
			if !b.mayBe(o, batch, all) {
				continue
			}
			if !o.ended() {
				open = true
				continue
			}
			ours, f, err := b.hasLines(ctx, o, batch)
			if ours || f != nil || err != nil {
				return string(o.ID), false, f, err
			}
			b.others[string(o.ID)] = true
		}
		if !page.HasMore || len(page.Data) == 0 {
			return "", open, nil, nil
		}
		last := string(page.Data[len(page.Data)-1].ID)
		if last == after {
			return "", false, &failure{class: classRow, err: errors.New("the list of batches has no end")}, nil
		}
		after = last
	}
}

// mayBe reports whether a batch of OpenRouter has the model and the number of questions
// of ours, and is none that we know.
func (b *Batcher) mayBe(o *batchObject, batch *cache.Batch, all []cache.Batch) bool {
	id := string(o.ID)
	if b.others[id] || slices.ContainsFunc(all, func(known cache.Batch) bool { return known.ServiceID == id }) {
		return false
	}
	return (o.Model == "" || strings.TrimSuffix(string(o.Model), ":batch") == batch.Model) && (o.Counts.Total == 0 || int64(o.Counts.Total) == batch.Questions)
}

// hasLines reports whether the results of a batch that has ended are of our questions.
func (b *Batcher) hasLines(ctx context.Context, o *batchObject, batch *cache.Batch) (ours bool, f *failure, err error) {
	whole, f := b.service.state(ctx, string(o.ID), batch.Questions)
	if f != nil {
		return false, f, nil
	}
	results, _, f := b.service.results(ctx, whole, batch.Questions)
	if f != nil || len(results) == 0 {
		return false, f, nil
	}
	key, ok := results[0].key()
	if !ok {
		return false, nil, nil
	}
	// A question that waits for one batch is in no later one.
	line, _, err := b.store.Line(ctx, key)
	return line != nil && line.Batch == batch.ID, nil, err
}

// poll looks at a batch that the service has, and keeps its replies once it has ended;
// status is "" then.
func (b *Batcher) poll(ctx context.Context, batch *cache.Batch) (status string, answered int64, f *failure, err error) {
	o, f := b.service.state(ctx, batch.ServiceID, batch.Questions)
	var results []batchResult
	var ok bool
	if f == nil && o.ended() {
		results, ok, f = b.service.results(ctx, o, batch.Questions)
	}
	switch {
	case f != nil && f.class == classRow && b.judge.config.Now().Sub(batch.Created) > b.settleTime(): // one that is new may not be known everywhere
		return "", 0, nil, b.unknown(ctx, batch, f.err)
	case f != nil:
		return "", 0, f, nil
	case !o.ended():
		return string(o.Status), int64(o.Counts.Completed), nil, nil
	case !ok:
		return "ended, results to come", int64(o.Counts.Completed), nil, nil
	}
	kept, err := b.collect(ctx, batch, o, results)
	if err != nil {
		return "", 0, nil, err
	}
	delete(b.needs, batch.ID)
	switch {
	case kept == 0 && o.Status == "failed":
		err = cmp.Or(b.store.DropBatch(context.WithoutCancel(ctx), batch.ID), b.judge.stop(&judge.StopError{
			Reason: judge.StopRequests, Err: fmt.Errorf("batch %s failed: %s", batch.ServiceID, excerpt(b.judge.scrub(o.why()))), Hint: "leave judge.batch out",
		}))
	case o.Status == "cancelled" || o.Status == "canceled":
		err = b.judge.stop(&judge.StopError{
			Reason: judge.StopCancelled, Err: fmt.Errorf("batch %s, after %d of %d answers", batch.ServiceID, kept, batch.Questions), Hint: "what is left is asked in a new batch",
		})
	}
	return "", 0, nil, err
}

// collect keeps the replies of a batch that has ended. What it cost is what the service says
// of all of it, shared among the lines by their own costs at half price, or by their tokens
// where nobody knows a price; else the sum of those.
func (b *Batcher) collect(ctx context.Context, batch *cache.Batch, o *batchObject, results []batchResult) (answered int64, err error) {
	j := b.judge
	var lines []cache.BatchLine
	var tokens []int64 // of each
	var costs, allTokens int64
	for i := range results {
		if line, n := b.read(&results[i], batch.Model); line.State != "" {
			lines, tokens = append(lines, line), append(tokens, n)
			costs, allTokens = costs+line.CostNanoUSD, allTokens+n
		}
	}
	total := costs
	if o.Usage != nil {
		if cost, told := o.Usage.cost(); told {
			total = cost
		}
	}
	var sum, shared int64
	for i := range lines {
		all, part := costs, lines[i].CostNanoUSD
		if costs == 0 {
			all, part = max(allTokens, 1), tokens[i]
		}
		sum += part
		upTo := int64(math.Round(float64(total) * (float64(sum) / float64(all))))
		lines[i].CostNanoUSD, shared = upTo-shared, upTo
	}
	// The end of a batch is paid for, whatever ends the process.
	durable := context.WithoutCancel(ctx)
	var counted int64
	for part := range slices.Chunk(lines, batchChunk) {
		n, err := b.store.SettleLines(durable, batch, part, j.config.Now())
		if err != nil {
			return 0, err
		}
		counted += n
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
	c.member.gate.hears()
	return e, nil, c.keep(ctx, e)
}
