package openrouter

import (
	"cmp"
	"context"
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
	for wait := batchPoll; ; wait = min(2*wait, batchPollMax) {
		progress, err := b.look(ctx)
		if err != nil || len(b.needs) == 0 {
			return err
		}
		tell(progress)
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// look looks once at every batch that is waited for.
func (b *Batcher) look(ctx context.Context) (p BatchProgress, err error) {
	all, err := b.judge.store.Batches(ctx, b.judge.config.endpoint())
	if err != nil {
		return p, err
	}
	left := make(map[int64]bool)
	for i := range all {
		batch := &all[i]
		if !b.needs[batch.ID] || batch.State == cache.BatchDone {
			continue
		}
		if !b.held[batch.ID] && batch.Run == b.judge.config.Run { // what it can cost is set aside, once
			b.held[batch.ID] = true
			b.judge.budget.batch(batch.ReservedNanoUSD, 0)
		}
		var status string // "" once it is over
		var answered int64
		if batch.State == cache.BatchOpen {
			status, answered, err = b.poll(ctx, batch)
		} else {
			status, err = b.decide(ctx, batch, all)
		}
		if err != nil {
			return p, err
		}
		if status == "" {
			continue
		}
		left[batch.ID] = true
		p.Batches = append(p.Batches, batch.ServiceID)
		p.Answered, p.Asked = p.Answered+answered, p.Asked+batch.Questions
		if p.Status == "" {
			p.Status, p.Since = status, batch.Created
		}
	}
	b.needs = left
	return p, nil
}

// isNew reports whether a batch is so new that the service need not show it everywhere.
func (b *Batcher) isNew(batch *cache.Batch) bool {
	return time.Since(batch.Created) < cmp.Or(b.judge.config.Timeout, 2*time.Minute)
}

// decide finds out what became of a batch whose submission had no answer. status is ""
// once the service is known not to have it.
func (b *Batcher) decide(ctx context.Context, batch *cache.Batch, all []cache.Batch) (status string, err error) {
	const waiting = "looking for its submission"
	unlock, err := b.judge.lease(ctx, b.lockKey())
	if unlock == nil {
		return waiting, err // another process may be sending it
	}
	defer unlock()
	id, open, err := b.find(ctx, batch, all)
	switch {
	case refused(err):
		return "", b.unknown(ctx, batch, err) // there is no listing any more
	case err != nil:
		return "", err
	case id != "":
		b.lost = 0
		return waiting, b.judge.store.OpenBatch(context.WithoutCancel(ctx), batch.ID, id)
	case b.resubmits(batch):
		return "", b.drop(ctx, batch)
	case open || b.isNew(batch):
		return waiting, nil
	}
	if b.lost++; b.lost > b.judge.config.Retries {
		return "", b.judge.stop(&judge.StopError{Reason: judge.StopService, Err: fmt.Errorf("%d submissions of batches had no answer, and no batch came of them", b.lost)})
	}
	return "", b.drop(ctx, batch)
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
	err = fmt.Errorf("the batch %s with %d questions: %w", name, batch.Questions, err)
	return b.judge.stop(stopFor(judge.StopUndecided, err,
		"look at the service's own list of batches; --resubmit asks its questions again, which may be paid twice"))
}

// find looks for a batch in the listing: id is what the service calls it, "" if it is
// not there; open says that one that may be it has not ended, so that nobody knows yet.
func (b *Batcher) find(ctx context.Context, batch *cache.Batch, all []cache.Batch) (id string, open bool, err error) {
	const perPage = 100
	earliest := batch.Created.Add(-batchSkew).Unix()
	for after := ""; ; {
		page, more, err := b.service.page(ctx, after, perPage)
		if err != nil {
			return "", false, err
		}
		for i := range page {
			o := &page[i]
			if o.Created > 0 && int64(o.Created) < earliest {
				return "", open, nil // older ones follow
			}
			ours, known := string(o.Metadata[batchMetadata]) == batch.Token.String(), true
			if b.service.inline() {
				ours, known, err = b.isOurs(ctx, o, batch, all)
			}
			if ours || err != nil {
				return string(o.ID), false, err
			}
			open = open || !known
		}
		if !more || len(page) == 0 {
			return "", open, nil
		}
		last := string(page[len(page)-1].ID)
		if last == after {
			return "", false, unusable("the list of batches has no end")
		}
		after = last
	}
}

// isOurs reports whether a batch of OpenRouter, which keeps no metadata, is ours: it has the
// model and the number of questions, is none that we know, and its results are of our
// questions. known is false while it has none.
func (b *Batcher) isOurs(ctx context.Context, o *batchObject, batch *cache.Batch, all []cache.Batch) (ours, known bool, err error) {
	id := string(o.ID)
	switch {
	case b.others[id], slices.ContainsFunc(all, func(known cache.Batch) bool { return known.ServiceID == id }),
		o.Model != "" && strings.TrimSuffix(string(o.Model), ":batch") != batch.Model,
		o.Counts.Total != 0 && int64(o.Counts.Total) != batch.Questions:
		return false, true, nil
	case !o.ended():
		return false, false, nil
	}
	_, results, there, err := b.service.state(ctx, id, batch.Questions)
	if err != nil || !there {
		return false, false, err
	}
	for i := range results {
		if key, ok := results[i].key(); ok {
			// A question that waits for one batch is in no later one.
			line, _, err := b.judge.store.Line(ctx, key)
			ours = line != nil && line.Batch == batch.ID
			b.others[id] = !ours
			return ours, true, err
		}
	}
	b.others[id] = true
	return false, true, nil
}

// poll looks at a batch that the service has, and keeps its replies once it has ended;
// status is "" then.
func (b *Batcher) poll(ctx context.Context, batch *cache.Batch) (status string, answered int64, err error) {
	o, results, ok, err := b.service.state(ctx, batch.ServiceID, batch.Questions)
	switch {
	case refused(err) && b.isNew(batch):
		return "not known yet", 0, nil
	case refused(err):
		return "", 0, b.unknown(ctx, batch, err)
	case err != nil:
		return "", 0, err
	case !o.ended():
		return string(o.Status), int64(o.Counts.Completed), nil
	case !ok:
		return "ended, results to come", int64(o.Counts.Completed), nil
	}
	kept, err := b.collect(ctx, batch, o, results)
	switch {
	case err != nil:
	case kept == 0 && o.Status == "failed":
		why := fmt.Errorf("batch %s failed: %s", batch.ServiceID, excerpt(o.why()))
		stop := b.judge.stop(stopFor(judge.StopRequests, why, "leave judge.batch out"))
		err = cmp.Or(b.judge.store.DropBatch(context.WithoutCancel(ctx), batch.ID), stop)
	case o.Status == "cancelled" || o.Status == "canceled":
		after := fmt.Errorf("batch %s, after %d of %d answers", batch.ServiceID, kept, batch.Questions)
		err = b.judge.stop(stopFor(judge.StopCancelled, after, "what is left is asked in a new batch"))
	}
	return "", 0, err
}

// collect keeps the replies of a batch that has ended. Where the service says what all of it
// cost, that is shared among the lines by what they would have cost, or by their tokens where
// nobody knows a price.
func (b *Batcher) collect(ctx context.Context, batch *cache.Batch, o *batchObject, results []batchResult) (answered int64, err error) {
	var lines []cache.BatchLine
	var weights []int64
	var all, sum, shared int64
	for i := range results {
		if line, tokens := b.read(&results[i], batch.Model); line.State != "" {
			weight := cmp.Or(line.CostNanoUSD, tokens)
			lines, weights, all = append(lines, line), append(weights, weight), all+weight
		}
	}
	if total, told := o.Usage.cost(); told {
		for i := range lines {
			sum += weights[i]
			upTo := int64(math.Round(float64(total) * float64(sum) / float64(max(all, 1))))
			lines[i].CostNanoUSD, shared = upTo-shared, upTo
		}
	}
	// The end of a batch is paid for, whatever ends the process.
	durable := context.WithoutCancel(ctx)
	var counted int64
	for part := range slices.Chunk(lines, batchChunk) {
		n, err := b.judge.store.SettleLines(durable, batch, part, time.Now())
		if err != nil {
			return 0, err
		}
		counted += n
	}
	b.settle(batch, counted)
	return b.judge.store.EndBatch(durable, batch.ID)
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
			line.Error = excerpt(r.Error.text())
		}
		return line, 0
	}
	x := &exchange{status: int(r.Response.Status), raw: r.Response.Body}
	x.err = x.envelope.read(x.raw)
	if f := b.judge.classify(x, b.judge.works()); f != nil {
		line.Error = excerpt(f.err.Error())
		if f.class != classTransient && f.class != classFlow {
			line.State = cache.LineRefused // a call will tell why
		}
		return line, 0
	}
	line.State, line.Raw = cache.LineAnswered, x.raw
	u := &x.envelope.Usage
	if cost, told := u.cost(); told {
		line.CostNanoUSD = cost
	} else if p, ok := b.judge.batchPrice(model); ok {
		line.CostNanoUSD = p.ofUsage(u)
	}
	return line, int64(u.Prompt + u.Completion)
}

// fromBatch takes the reply that a batch has brought for the question, as if it came from
// a call; nil, nil, nil if there is none.
func (c *conversation) fromBatch(ctx context.Context) (e *cache.Entry, f *failure, err error) {
	j := c.judge
	line, _, err := j.store.Line(ctx, c.key)
	if line == nil || err != nil || line.State != cache.LineAnswered {
		return nil, nil, err
	}
	x := &exchange{status: http.StatusOK, raw: line.Raw}
	if err := x.envelope.read(line.Raw); err != nil || x.failure() != nil {
		return nil, nil, err
	}
	c.calls++
	j.counts.asked.Add(1)
	c.maxTokens, c.sent, c.cost, c.batch = line.MaxTokens, shapeOf(line.Form), line.CostNanoUSD, true
	if e, f = c.judgeReply(x); f != nil {
		return nil, f, c.record(ctx, x, f, time.Now(), 0, 0)
	}
	c.member.gate.hears()
	return e, nil, j.store.Put(context.WithoutCancel(ctx), e)
}
