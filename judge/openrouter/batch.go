package openrouter

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"ibid/judge"
	"ibid/judge/cache"
)

// A Batcher asks questions in batches, at about half the price of calls, and waits for
// the replies, for a day at most. It keeps what it has sent, and the replies, in the
// store of its judge, which then answers from them: a reply of a batch is read, checked
// and repaired as that of a call is.
//
// A pass adds all questions of a run and ends with Submit; Wait waits for what was
// submitted. Passes are repeated until Submit says that there is nothing to wait for:
// lines whose time ran out are sent again, as often as calls are tried again, and rows
// may have questions that depend on answers.
//
// Before a batch is sent, its intent is durable, and what the service calls it is
// durable before anything else is sent. A process that is killed in between finds it in
// the service's listing: by its metadata at OpenAI, by model, number of questions, time
// and the ids of its results at OpenRouter. Until that is decided, nothing is sent twice.
//
// A Batcher is not safe for concurrent use; several processes may share a store.
type Batcher struct {
	judge   *Judge
	service *batchService

	fills  map[*member]*batchFill
	short  bool            // the budget had no room for a question of this pass
	unlock func()          // nobody else adds to batches of the endpoint before it is called; or nil
	needs  map[int64]bool  // batches with questions of the run
	held   map[int64]bool  // batches for which the budget has money set aside
	lost   int             // submissions in a row that the service turned out not to have
	others map[string]bool // batches of the service that are not ours
	sent   int64
}

// A BatchProgress says how far the batches that are waited for are.
type BatchProgress struct {
	Batches         []string // as the service calls them; "" while that is not known
	Status          string   // of the one that is furthest behind
	Answered, Asked int64    // questions
	Since           time.Time
}

// A batchFill is a batch that is being filled.
type batchFill struct {
	requests [][]byte // a line each
	size     int
	lines    []cache.BatchLine
	index    map[cache.Key]bool
	reserve  int64 // nano-USD
}

const (
	// Between two looks at a batch, first and at most: most batches take minutes.
	batchPoll    = 50 * time.Millisecond
	batchPollMax = time.Minute
	// batchSkew is how far the clocks of a service and ours may be apart.
	batchSkew = 5 * time.Minute
	// batchChunk is how many results are kept in one transaction.
	batchChunk = 256
	// batchShare is the price of a batch, as a share of that of calls.
	batchShare = 0.5
)

// mostLines is how many questions a batch has at most.
func (c *Config) mostLines() int { return cmp.Or(c.batchLines, maxBatchLines) }

// NewBatcher makes a batcher. The service is asked whether it takes batches once there is
// something to ask.
func (j *Judge) NewBatcher() *Batcher {
	return &Batcher{
		judge: j, service: &batchService{judge: j}, fills: make(map[*member]*batchFill),
		needs: make(map[int64]bool), held: make(map[int64]bool), others: make(map[string]bool),
	}
}

// Close gives the right to add back. Batches go on at the service.
func (b *Batcher) Close() {
	if b.unlock != nil {
		b.unlock()
		b.unlock = nil
	}
}

// Open is what the service calls the batches that are waited for: "no id yet" where its
// answer has not come.
func (b *Batcher) Open() []string {
	all, err := b.judge.store.Batches(context.Background(), b.judge.config.endpoint())
	if err != nil {
		return nil // whoever waits for them will meet it again
	}
	var names []string
	for i := range all {
		if b.needs[all[i].ID] && all[i].State != cache.BatchDone {
			names = append(names, cmp.Or(all[i].ServiceID, "no id yet"))
		}
	}
	return names
}

// Sent is how many batches this process has submitted.
func (b *Batcher) Sent() int64 { return b.sent }

// Add adds the questions that a verdict on r is made from. The first question of a
// model is asked alone, before anything is sent, as in any run.
func (b *Batcher) Add(ctx context.Context, r *judge.Request) error {
	_, err := b.addAll(ctx, b.judge.questions(r))
	return err
}

// AddSplit adds the questions for the claims of sentences. ready reports that none of
// them has to be waited for.
func (b *Batcher) AddSplit(ctx context.Context, s *judge.Sentences) (ready bool, err error) {
	return b.addAll(ctx, b.judge.splitQuestions(s))
}

func (b *Batcher) addAll(ctx context.Context, questions []*question) (ready bool, err error) {
	ready = true
	for _, q := range questions {
		one, err := b.add(ctx, q)
		if err != nil {
			return false, err
		}
		ready = ready && one
	}
	return ready, nil
}

// add adds a question; ready reports that it is not waited for: its answer is there, or
// it is left to a call.
func (b *Batcher) add(ctx context.Context, q *question) (ready bool, err error) {
	j, m := b.judge, q.member
	key := q.request.key()
	if err := b.lock(ctx); err != nil {
		return false, err
	}
	if known, ready, err := b.known(ctx, key); known || err != nil {
		return ready, err
	}
	if halves, _, err := j.knownHalves(ctx, q); halves != nil || err != nil {
		return true, err // the halves are asked by calls
	}
	// Without prices half of the dearest call stands for a line.
	_ = j.LoadPrices(ctx)
	if err := b.service.check(ctx); err != nil {
		return false, err
	}
	maxTokens, sent := m.profile.budget(q.request.maxTokens, 0), m.profile.shape()
	cost, priced := b.most(q, maxTokens)
	if !m.works() || j.config.MaxCostNanoUSD > 0 && !priced {
		_, err := j.ask(ctx, q)
		if _, failed := errors.AsType[*unanswered](err); failed {
			err = nil // the run will say so
		}
		return true, err
	}
	line := b.service.line(key, q.request.body(sent, nil, maxTokens))
	fill := b.fills[m]
	if fill != nil && (len(fill.lines) >= j.config.mostLines() || fill.size+len(line) > maxBatchBytes) {
		if err := b.send(ctx, m); err != nil {
			return false, err
		}
		fill = nil
	}
	if fill == nil {
		fill = &batchFill{index: make(map[cache.Key]bool)}
		b.fills[m] = fill
	}
	switch {
	case b.short || fill.index[key]:
	case cost > j.budget.room():
		b.short = true
	default:
		fill.requests, fill.size = append(fill.requests, line), fill.size+len(line)
		fill.lines = append(fill.lines, cache.BatchLine{Key: key, MaxTokens: maxTokens, Form: sent.form()})
		fill.index[key] = true
		fill.reserve += cost
		j.budget.batch(cost, 0)
	}
	return false, nil
}

// known reports whether a question needs no line of a new batch: it has an answer, a
// batch is on its way with it, or batches have nothing on it any more.
func (b *Batcher) known(ctx context.Context, key cache.Key) (known, ready bool, err error) {
	if e, err := b.judge.store.Get(ctx, key); e != nil || err != nil {
		return e != nil, true, err
	}
	line, expired, err := b.judge.store.Line(ctx, key)
	switch {
	case line == nil || err != nil:
		return false, false, err
	case line.State == cache.LineAnswered && line.BatchState == cache.BatchDone, line.State == cache.LineRefused:
		return true, true, nil
	case line.BatchState != cache.BatchDone:
		b.needs[line.Batch] = true
		return true, false, nil
	}
	return expired > b.judge.config.Retries, true, nil
}

// most is the most that a question can cost in a batch, in nano-USD; ok is false if
// nobody has told a price.
func (b *Batcher) most(q *question, maxTokens int64) (nano int64, ok bool) {
	j := b.judge
	if p, ok := j.batchPrice(q.member.model); ok {
		return p.cost(q.request.tokens(), maxTokens), true
	}
	rate := j.budget.rate()
	return nanoUSD(batchShare * rate * float64(q.request.tokens()+maxTokens)), rate > 0
}

// batchPrice is the price of a model in a batch: its own where the endpoint lists one,
// else half of that of calls. ok is false if neither is known.
func (j *Judge) batchPrice(model string) (p Price, ok bool) {
	if p, ok = j.priceOf(model + ":batch"); ok && len(j.config.Prices) == 0 {
		return p, true
	}
	p, ok = j.priceOf(model)
	return Price{Prompt: batchShare * p.Prompt, Completion: batchShare * p.Completion, Cached: batchShare * p.Cached, Request: batchShare * p.Request}, ok
}

// lockKey is the name of the right to add to batches of the endpoint.
func (b *Batcher) lockKey() cache.Key {
	return sha256.Sum256([]byte("batches\x00" + b.judge.config.endpoint()))
}

// lock takes that right: whoever had it before may have sent a question.
func (b *Batcher) lock(ctx context.Context) (err error) {
	if b.unlock != nil {
		return nil
	}
	waits, cancel := waiting(ctx, b.judge.halted)
	defer cancel()
	b.unlock, _, err = b.judge.hold(waits, b.lockKey())
	return b.judge.ended(err)
}

// Submit sends what the pass has added. waiting reports whether there are batches to
// wait for; if there are not, another pass would add nothing.
func (b *Batcher) Submit(ctx context.Context) (waiting bool, err error) {
	defer b.Close()
	for _, m := range b.judge.members {
		if b.fills[m] != nil {
			if err := b.send(ctx, m); err != nil {
				return false, err
			}
		}
	}
	if b.short && len(b.needs) == 0 {
		err := fmt.Errorf("%w: what is left does not do for a batch of one question", errBudget)
		return false, b.judge.stop(stopFor(judge.StopBudget, err, budgetHint))
	}
	b.short = false
	return len(b.needs) > 0, b.judge.store.TidyBatches(ctx)
}

// send makes a batch of what is there for a model, durably, and submits it.
func (b *Batcher) send(ctx context.Context, m *member) error {
	f := b.fills[m]
	delete(b.fills, m)
	if err := ctx.Err(); err != nil || len(f.lines) == 0 {
		return err
	}
	j := b.judge
	batch := &cache.Batch{
		Endpoint: j.config.endpoint(), Model: m.model, Questions: int64(len(f.lines)), State: cache.BatchIntent,
		Created: time.Now(), ReservedNanoUSD: f.reserve, Run: j.config.Run,
	}
	_, _ = rand.Read(batch.Token[:]) // it never fails
	if err := b.judge.store.AddBatch(ctx, batch, f.lines); err != nil {
		return err
	}
	b.held[batch.ID], b.needs[batch.ID] = true, true
	id, err := b.service.submit(ctx, m.model, f.requests, batch.Token)
	failed, ok := errors.AsType[*failure](err)
	switch {
	case err == nil:
		b.lost = 0
		b.sent++
		return b.judge.store.OpenBatch(context.WithoutCancel(ctx), batch.ID, id)
	case ok && failed.billed:
		return nil // the service may have it: the listing will tell
	case ok:
		err = fmt.Errorf("a batch of %d questions: %w", batch.Questions, err)
		err = j.stop(stopFor(judge.StopRequests, err, "leave judge.batch out"))
	}
	return cmp.Or(b.drop(ctx, batch), err)
}

// drop frees the questions of a batch that the service has not.
func (b *Batcher) drop(ctx context.Context, batch *cache.Batch) error {
	delete(b.needs, batch.ID)
	b.settle(batch, 0)
	return b.judge.store.DropBatch(context.WithoutCancel(ctx), batch.ID)
}

// settle replaces what was set aside for a batch by what it cost. What a batch of another
// run cost is that run's.
func (b *Batcher) settle(batch *cache.Batch, nanoUSD int64) {
	if b.held[batch.ID] {
		delete(b.held, batch.ID)
		b.judge.budget.batch(-batch.ReservedNanoUSD, nanoUSD)
	}
}
