package openrouter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/prompts"
)

// backoffMax bounds the random wait after a failure that does not say when to
// come again.
const backoffMax = 30 * time.Second

// maxRepairReply bounds how much of a bad reply is shown to the model again, in
// bytes.
const maxRepairReply = 16 << 10

// maxAdapted bounds how often a question is asked in another form: there are fewer.
const maxAdapted = 10

// A conversation asks one question until it has an answer or may not go on.
type conversation struct {
	judge *Judge
	*question
	key cache.Key

	wire      context.Context                // of calls: what is under way is waited for
	calls     int                            // on the wire
	failures  int                            // that count as attempts
	refusals  int                            // in a row, for their number
	replies   int                            // whole ones that were paid for
	maxTokens int64                          // room for the next reply
	sent      shape                          // of the last call
	adapted   int                            // calls that were refused for their form
	turns     []openai.ChatCompletionMessage // repair turns
	cost      int64
	millis    int64
	batch     bool // the first reply came in a batch
	doubted   bool // a reply had no quote that stands for any of its claims
}

// converse asks a question; ctx is that of its waits. The error is [*unanswered], [*judge.StopError], or one of
// the context or the store.
func (j *Judge) converse(ctx context.Context, c *conversation) (a *answer, err error) {
	defer func() {
		err = j.ended(err)
		if _, failed := errors.AsType[*unanswered](err); failed {
			j.counts.failed.Add(1)
		}
	}()
	// Without prices a budget finds out by itself, without the rest a profile.
	_ = j.LoadPrices(ctx)
	entry, f, err := c.fromBatch(ctx)
	for entry == nil && err == nil {
		if f == nil {
			entry, f, err = c.call(ctx)
		}
		if f != nil && err == nil {
			err = c.after(ctx, f)
			f = nil
		}
	}
	if err != nil {
		return nil, err
	}
	a = answerOf(entry)
	a.asked = true
	return a, nil
}

// after does what a failure calls for. An error ends the conversation.
func (c *conversation) after(ctx context.Context, f *failure) error {
	if f.adapted {
		c.adapted++
		return ctx.Err()
	}
	switch f.class {
	case classFlow:
		c.refusals++
		return sleep(ctx, max(f.delay, c.backoff(c.refusals)))
	case classTransient:
		if f.free {
			return sleep(ctx, f.delay) // the gate lets one call out at a time
		}
		if c.failures++; c.failures > c.judge.config.Retries {
			return c.give(judge.NoAnswer, f)
		}
		return sleep(ctx, max(f.delay, c.backoff(c.failures)))
	case classContent:
		c.failures++
		if c.failures > c.judge.config.Retries || c.replies >= c.most() {
			return c.give(judge.BadReply, f)
		}
		return nil
	}
	return c.give(f.reason, f)
}

// backoff is a random time up to a bound that doubles with every failure.
func (c *conversation) backoff(failures int) time.Duration {
	return time.Duration(rand.Float64() * float64(min(c.judge.config.Backoff<<min(failures-1, 10), backoffMax)))
}

// give leaves the question without an answer.
func (c *conversation) give(reason judge.Reason, f *failure) error {
	return &unanswered{reason: reason, err: f.err, calls: []judge.Call{{
		Model: c.member.model, Attempts: c.calls, CostNanoUSD: c.cost, LatencyMillis: c.millis, Status: string(reason),
		Error: excerpt(f.err.Error()),
	}}}
}

// most is how many replies may be paid for.
func (c *conversation) most() int {
	if c.again {
		return 1
	}
	return maxReplies
}

// stop ends asking the model, if that is what e is about and there are others enough; else all
// asking.
func (c *conversation) stop(e *judge.StopError) error {
	j := c.judge
	switch e.Reason {
	case judge.StopModel, judge.StopService, judge.StopRequests, judge.StopReplies, judge.StopRate:
		j.leaving.Lock()
		defer j.leaving.Unlock()
		others := 0
		for _, m := range j.members {
			if m != c.member && m.stopped.Load() == nil {
				others++
			}
		}
		if 2*others <= len(j.members) {
			break
		}
		if c.member.stopped.CompareAndSwap(nil, e) {
			c.member.halt()
			j.counts.note(fmt.Sprintf("%s is asked no more: %v", c.member.model, e))
		}
		return &unanswered{reason: judge.NoAnswer, err: e}
	}
	return j.stop(e)
}

// stop ends all asking.
func (j *Judge) stop(e *judge.StopError) error {
	if j.stopped.CompareAndSwap(nil, e) {
		j.halt()
	}
	return j.stopped.Load()
}

// waiting is ctx for what does not go over the wire: it ends when nothing more is asked, so
// that nobody waits for a limit that does not matter any more.
func waiting(ctx, halted context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(halted, cancel)
	return ctx, func() { stop(); cancel() }
}

// underWay is the context of calls: what has been sent is paid for, so that an
// interrupt that leaves time is waited out.
func underWay(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if interrupt, ok := errors.AsType[*judge.Interrupt](cause); ok {
			select {
			case <-time.After(interrupt.Grace):
			case <-out.Done():
			}
		}
		cancel(cause)
	})
	return out, func() { stop(); cancel(nil) }
}

// ended is the error of a conversation whose context has ended: that of the stop, if
// the judge has stopped.
func (j *Judge) ended(err error) error {
	if stop := j.stopped.Load(); stop != nil && errors.Is(err, context.Canceled) {
		return stop
	}
	return err
}

// call makes one call and judges its answer. err ends the conversation; f says
// why there is no answer. The call is under way until its answer is durable, so
// that what a crash loses is never more than the calls that may be under way.
func (c *conversation) call(ctx context.Context) (e *cache.Entry, f *failure, err error) {
	j := c.judge
	p := c.member.profile
	c.maxTokens = p.budget(c.request.maxTokens, c.maxTokens)
	gate := c.member.gate
	place, err := gate.take(ctx, c.key, c.request.tokens()+c.request.maxTokens)
	if err != nil {
		return nil, nil, err
	}
	held, err := c.reserve(ctx)
	if stopped := cmp.Or(j.stopped.Load(), c.member.stopped.Load()); err == nil && stopped != nil {
		j.budget.settle(held, 0, true, 0)
		err = c.stop(stopped)
	}
	if err != nil {
		gate.giveBack()
		return nil, nil, err
	}
	place.sent = time.Now()
	c.sent = p.shape()
	x := &exchange{body: c.request.body(c.sent, c.turns, c.maxTokens), path: c.request.path}
	c.calls++
	j.counts.asked.Add(1)
	if c.calls > 1 {
		j.counts.retries.Add(1)
	}
	j.complete(c.wire, x, c.member.model)
	f = j.classify(x, c.member.works())
	millis := time.Since(place.sent).Milliseconds()
	c.millis += millis
	cost, known := c.price(x, f)
	tokens := int64(x.envelope.Usage.Prompt + x.envelope.Usage.Completion)
	cost = j.budget.settle(held, cost, known, tokens)
	c.cost += cost
	if f == nil && !known && cost == 0 && j.config.MaxCostNanoUSD > 0 {
		// The answer is kept; nothing more is asked.
		defer j.stop(&judge.StopError{Reason: judge.StopPrice, Hint: "set judge.prices: {prompt: 0, completion: 0} if it costs nothing, else its prices, or leave judge.max_cost_usd out"})
	}
	if f == nil {
		e, f = c.judgeReply(x)
	}
	if err = c.record(ctx, x, f, place.sent, millis, cost); err == nil && f == nil {
		err = j.store.Put(context.WithoutCancel(ctx), e) // it is paid for: an interrupted run keeps it, too
	}
	if err == nil && f != nil {
		err = ctx.Err() // a call that failed because the run ends is no failure of the service
	}
	if f != nil && err == nil && c.adapted < maxAdapted {
		f.adapted = p.adapt(c.sent, c.maxTokens, f)
	}
	if err != nil || f != nil && f.adapted {
		gate.giveBack()
		return nil, f, err
	}
	if f != nil && f.reason == judge.TooLong && c.halves != nil {
		p.reads(windowIn(f.words))
		halves, _ := c.halves()
		f.halved = halves != nil
	}
	if f == nil {
		c.answered(x, cost)
	} else if f.class == classStop {
		err = c.stop(f.stop) // before another call takes its place
	}
	free, stop := gate.back(place, f, cost, tokens)
	if err != nil {
		return nil, nil, err
	}
	if stop != nil {
		return nil, nil, c.stop(stop)
	}
	if f != nil {
		f.free = free
	}
	return e, f, nil
}

// answered counts what a call with a reply of use has cost, beside what it would by the list.
func (c *conversation) answered(x *exchange, cost int64) {
	n, hidden := &c.judge.counts, int64(x.envelope.Usage.Completions.Reasoning)
	n.answered.Add(1)
	n.answerCost.Add(cost)
	n.hidden.Add(hidden)
	if p, ok := c.judge.priceOf(c.member.model); ok {
		n.listed.Add(p.cost(int64(c.request.length())*2/7, c.question.answer))
	}
	c.member.profile.cost(cost, int64(x.envelope.Usage.Prompt+x.envelope.Usage.Completion), hidden)
}

// reserve sets aside what the call can cost.
func (c *conversation) reserve(ctx context.Context) (held int64, err error) {
	j := c.judge
	most := int64(-1)
	prompt := c.request.tokens()
	for _, turn := range c.turns {
		prompt += int64(len(turn.Content)) / 3
	}
	if p, ok := j.priceOf(c.member.model); ok {
		most = p.cost(prompt, c.maxTokens)
	} else if rate := j.budget.rate(); rate > 0 {
		most = nanoUSD(rate * float64(prompt+c.maxTokens))
	}
	held, err = j.budget.reserve(ctx, most)
	if errors.Is(err, errBudget) {
		return 0, j.stop(stopFor(judge.StopBudget, err, budgetHint))
	}
	return held, err
}

// price is what the call has cost; known is false if it may be charged and
// nobody has said how much, in which case it is the most that it can be, or 0
// if there is no price.
func (c *conversation) price(x *exchange, f *failure) (cost int64, known bool) {
	u := &x.envelope.Usage
	p, priced := c.judge.priceOf(c.member.model)
	cost, told := u.cost()
	switch {
	case told && x.err == nil:
		return cost, true
	case f == nil:
		return p.ofUsage(u), priced
	case f.billed:
		return p.cost(c.request.tokens(), c.maxTokens), false
	}
	return 0, true
}

// judgeReply checks what a response says.
func (c *conversation) judgeReply(x *exchange) (*cache.Entry, *failure) {
	if c.request.whole != nil {
		return c.readReply(x, "")
	}
	choice := &x.envelope.Choices[0]
	if f := refusal(choice); f != nil {
		return nil, f
	}
	text, ok := choice.Message.content()
	p := c.member.profile
	p.reasoned(hiddenTokens(x, text))
	if c.open {
		bytes := c.request.length()
		for _, turn := range c.turns {
			bytes += len(turn.Content)
		}
		if cut := p.tokens(bytes, &x.envelope.Usage); cut != nil {
			return nil, tooLong(cut)
		}
	}
	switch {
	case choice.FinishReason == "error":
		return nil, &failure{class: classTransient, status: http.StatusOK, err: errors.New("the provider broke off")}
	case choice.FinishReason == "length" && !(c.short && ok && !strings.HasPrefix(strings.TrimSpace(text), "<think>")):
		return c.readCut(x, text)
	case !ok:
		c.replies++
		return nil, useless(errors.New("the reply is empty"))
	}
	return c.readReply(x, text)
}

// useless is the failure of a reply that cannot be used.
func useless(err error) *failure {
	return &failure{class: classContent, status: http.StatusOK, err: err}
}

// tooLong is the failure of a reply that shows that less has to be asked at once.
func tooLong(err error) *failure {
	return &failure{class: classRow, status: http.StatusOK, reason: judge.TooLong, err: err}
}

// readCut reads a reply that ended at its limit, or at the end of the model's context.
func (c *conversation) readCut(x *exchange, text string) (*cache.Entry, *failure) {
	c.replies++
	u, p := &x.envelope.Usage, c.member.profile
	full := u.Prompt > 0 && u.Completion > 0 && float64(u.Completion) < fullShare*float64(c.maxTokens)
	if full {
		p.reads(int64(u.Prompt + u.Completion))
	}
	if c.open {
		// The claims at its front are answered.
		if said, err := c.read(x, text, false); err == nil && said.verdict != nil {
			return c.entry(x, said.verdict), nil
		}
	}
	// Where there is no more room, the same would end the same way; fewer claims may do.
	if full {
		return nil, tooLong(fmt.Errorf("the reply ended after %d tokens, with a prompt of %d: the context of the model is full",
			u.Completion, u.Prompt))
	}
	err := fmt.Errorf("the reply ended at its limit of %d tokens", c.maxTokens)
	more := p.budget(c.request.maxTokens, budgetGrowth*c.maxTokens)
	if more <= c.maxTokens {
		return nil, tooLong(fmt.Errorf("%w, the most that the model may write", err))
	}
	c.maxTokens = more
	return nil, useless(err)
}

// readReply reads a reply that is whole.
func (c *conversation) readReply(x *exchange, text string) (*cache.Entry, *failure) {
	c.replies++
	said, err := c.read(x, text, c.doubted || c.again)
	bad := useless(err)
	if _, ok := errors.AsType[errLabels](err); ok {
		c.judge.stopping(bad, judge.StopReplies)
		bad.stop.Hint = positiveLabelHint
		return nil, bad
	}
	if _, ok := errors.AsType[errCut](err); ok {
		return nil, tooLong(err)
	}
	noJSON, is := errors.AsType[*judge.ReplyError](err)
	if c.request.head.schema != "" {
		c.member.profile.replied(c.sent, !is || !noJSON.NoJSON)
	}
	if err != nil {
		c.doubted = said.doubt
		c.repair(text, err.Error(), said.wanted)
		return nil, bad
	}
	return c.entry(x, said.verdict), nil
}

// repair adds the reply, what is wrong with it and the claims that are wanted to the conversation.
func (c *conversation) repair(reply, defect, wanted string) {
	if c.question.repair == "" {
		return
	}
	c.turns = c.turns[:0]
	if len(reply) <= maxRepairReply {
		c.turns = append(c.turns, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: reply})
	}
	message := c.judge.prompts.Fill(nil, c.question.repair, func(b []byte, field string) []byte {
		switch field {
		case "attempt":
			return fmt.Appendf(b, "%d of %d", c.replies+1, c.most())
		case "claims":
			return append(b, wanted...)
		}
		return append(b, excerpt(defect)...)
	})
	c.turns = append(c.turns, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: string(message)})
}

// hiddenTokens is how many tokens a model has thought that are not in its answer,
// estimated where the endpoint does not count them.
func hiddenTokens(x *exchange, answer string) int64 {
	u, choice := &x.envelope.Usage, &x.envelope.Choices[0]
	shown := int64(len(choice.Message.Reasoning)+len(choice.Message.ReasoningContent)) / 4
	switch {
	case u.Completions.Reasoning > 0:
		return int64(u.Completions.Reasoning)
	case shown > 0:
		return shown
	case choice.FinishReason == "length" && strings.TrimSpace(answer) == "":
		return int64(u.Completion)
	}
	if draft, _, ok := strings.Cut(answer, "</think>"); ok || strings.HasPrefix(strings.TrimSpace(answer), "<think>") {
		return int64(len(draft)) / 4
	}
	return 0
}

// entry is an answer to keep.
func (c *conversation) entry(x *exchange, verdict []byte) *cache.Entry {
	v, j := &x.envelope, c.judge
	status := cache.StatusOK
	if len(c.turns) > 0 {
		status = cache.StatusRepaired
	}
	sent := fmt.Sprintf("max_tokens %d, %v", c.maxTokens, c.sent)
	if c.batch && c.calls == 1 {
		sent = "batch, " + sent
	}
	return &cache.Entry{
		Key: c.key, Status: status, Verdict: verdict, Raw: x.raw,
		ModelRequested: c.member.model, ModelResolved: cmp.Or(string(v.Model), c.member.model), Provider: string(v.Provider), GenerationID: x.generation(),
		Template:     cmp.Or(c.request.head.reading, j.prompts.Version()),
		PromptTokens: int64(v.Usage.Prompt), CompletionTokens: int64(v.Usage.Completion),
		ReasoningTokens: int64(v.Usage.Completions.Reasoning), CachedTokens: int64(v.Usage.Prompts.Cached),
		CostNanoUSD: c.cost, LatencyMillis: c.millis, Attempts: c.calls,
		Created: time.Now(), Run: j.config.Run, Sent: sent,
	}
}

// record writes the call into the store's audit.
func (c *conversation) record(ctx context.Context, x *exchange, f *failure, at time.Time, millis, cost int64) error {
	j := c.judge
	a := cache.Attempt{
		Key: c.key, N: c.calls, HTTPStatus: x.status, Class: string(f.kind()), Millis: millis, CostNanoUSD: cost,
		GenerationID: x.generation(), At: at, Run: j.config.Run,
	}
	if f != nil {
		a.Error = excerpt(f.err.Error())
	}
	return j.store.Record(context.WithoutCancel(ctx), a)
}

// A question is one request whose answer is kept as a whole.
type question struct {
	member  *member
	request request
	// read checks a reply, of a classifier the body of the response. err is why nothing of it
	// can be used; last says that what no quote bears out is unsure then, and not asked again.
	read   func(x *exchange, reply string, last bool) (reading, error)
	again  bool  // it asks for what a reply left open: one reply is paid for
	open   bool  // a reply may leave claims open: they are asked again, as a part
	answer int64 // its length in tokens, of a plan
	short  bool  // the answer is the first word: a reply may end at its limit

	repair prompts.Name // how a reply of no use is shown to the model again with its defect; "" if it is not
	// halves are questions about less of the material, for a model that cannot read all of it,
	// and what makes one answer of theirs; none if it cannot be divided. Nil for questions that
	// are not. long reports that the model is known to be one; nil if nobody knows.
	halves func() (halves []*question, join func(verdicts [][]byte) ([]byte, error))
	long   func(ctx context.Context) bool
}

// A reading is what was made of a reply.
type reading struct {
	verdict []byte // to be kept
	doubt   bool   // it cannot be used for want of quotes alone
	wanted  string // names the claims that were asked for
}

// An answer is what is kept of a reply, and what it took.
type answer struct {
	verdict []byte
	calls   []keyedCall
	asked   bool // a reply was paid for; false if the store had it
}

type keyedCall struct {
	key  cache.Key // of the question; zero for a call without an answer
	call judge.Call
}

// unanswered is a question that stays without an answer.
type unanswered struct {
	reason judge.Reason
	err    error
	calls  []judge.Call
}

func (u *unanswered) Error() string { return fmt.Sprintf("%s: %v", u.reason, u.err) }

func (u *unanswered) Unwrap() error { return u.err }

// ask answers a question: from the store, by waiting for whoever is asking the
// same, or by asking.
func (j *Judge) ask(ctx context.Context, q *question) (*answer, error) {
	key := q.request.key()
	if e, err := j.store.Get(ctx, key); err != nil {
		return nil, err
	} else if e != nil {
		return j.fromEntry(e), nil
	}
	a, first, err := j.once(ctx, key, func() (*answer, error) {
		waits, cancel := waiting(ctx, q.member.halted)
		defer cancel()
		release, e, err := j.hold(waits, key)
		if err != nil {
			return nil, j.ended(err)
		}
		if e != nil {
			return j.fromEntry(e), nil
		}
		defer release()
		halves, join, err := j.knownHalves(waits, q)
		if err != nil {
			return nil, j.ended(err)
		}
		if halves != nil {
			return j.askHalves(ctx, q, halves, join)
		}
		wire, cancel := underWay(ctx)
		defer cancel()
		a, err := j.converse(waits, &conversation{judge: j, question: q, key: key, wire: wire})
		if u, ok := errors.AsType[*unanswered](err); ok && u.reason == judge.TooLong && q.halves != nil {
			if halves, join := q.halves(); halves != nil {
				return j.askHalves(ctx, q, halves, join)
			}
		}
		return a, err
	})
	if stop := q.member.stopped.Load(); stop != nil && errors.Is(err, context.Canceled) && ctx.Err() == nil && j.stopped.Load() == nil {
		err = &unanswered{reason: judge.NoAnswer, err: stop}
	}
	if a == nil || first {
		return a, err
	}
	// Who waited has paid nothing.
	j.counts.cached.Add(1)
	shared := &answer{verdict: a.verdict, calls: slices.Clone(a.calls), asked: a.asked}
	for i := range shared.calls {
		shared.calls[i].call.Cached, shared.calls[i].call.Attempts = true, 0
	}
	return shared, nil
}

// knownHalves returns the halves of a question that is longer than the model is known to read, or
// that was asked in halves before; nil for other questions.
func (j *Judge) knownHalves(ctx context.Context, q *question) (halves []*question, join func([][]byte) ([]byte, error), err error) {
	long := q.long != nil && q.long(ctx)
	if q.halves == nil || !long && !q.open {
		return nil, nil, nil
	}
	if halves, join = q.halves(); !long && len(halves) > 1 {
		var e *cache.Entry
		e, err = j.store.Get(ctx, halves[0].request.key())
		long = e != nil
	}
	if !long {
		return nil, nil, err
	}
	return halves, join, nil
}

// askHalves answers a question by its halves. What they say together is kept as its answer,
// so that a rerun does not ask again what was too long; what they cost stands in theirs.
func (j *Judge) askHalves(ctx context.Context, q *question, halves []*question, join func([][]byte) ([]byte, error)) (*answer, error) {
	out, verdicts := new(answer), make([][]byte, len(halves))
	for i, half := range halves {
		a, err := j.ask(ctx, half)
		if u, ok := errors.AsType[*unanswered](err); ok {
			return nil, &unanswered{u.reason, u.err, append(callsOf(out.calls), u.calls...)} // others may have this one
		}
		if err != nil {
			return nil, err
		}
		verdicts[i], out.calls, out.asked = a.verdict, append(out.calls, a.calls...), out.asked || a.asked
	}
	var err error
	if out.verdict, err = join(verdicts); err != nil {
		return out, err
	}
	return out, j.store.Put(context.WithoutCancel(ctx), &cache.Entry{
		Key: q.request.key(), Status: cache.StatusOK, Verdict: out.verdict, ModelRequested: q.member.model, ModelResolved: q.member.model,
		Template: cmp.Or(q.request.head.reading, j.prompts.Version()), Created: time.Now(), Run: j.config.Run, Sent: "in halves",
	})
}

// callsOf are calls, one for each question: those that share one meet at the same time, and
// either may be the one that asks.
func callsOf(all []keyedCall) []judge.Call {
	var out []judge.Call
	at := make(map[cache.Key]int)
	for _, c := range all {
		first, seen := at[c.key]
		switch {
		case !seen || c.key == cache.Key{}:
			at[c.key] = len(out)
			out = append(out, c.call)
		case out[first].Cached:
			out[first] = c.call
		}
	}
	return out
}

// fromEntry takes an answer of the store.
func (j *Judge) fromEntry(e *cache.Entry) *answer {
	j.counts.cached.Add(1)
	a := answerOf(e)
	if !j.paidBefore(e) {
		a.calls[0].call.Cached, a.calls[0].call.Attempts = true, 0
	}
	return a
}

// paidBefore reports whether an earlier process of this run paid for an answer. It is true
// once for each: other rows with the same question have it from the store.
func (j *Judge) paidBefore(e *cache.Entry) bool {
	if e.Run != j.config.Run || !e.Created.Before(j.began) {
		return false
	}
	_, taken := j.before.LoadOrStore(e.Key, true)
	return !taken
}

// answerOf is an answer as it was given.
func answerOf(e *cache.Entry) *answer {
	return &answer{verdict: e.Verdict, calls: []keyedCall{{e.Key, judge.Call{
		Model: e.ModelResolved, Provider: e.Provider, Repaired: e.Status == cache.StatusRepaired, Attempts: e.Attempts,
		PromptTokens: e.PromptTokens, CompletionTokens: e.CompletionTokens, CostNanoUSD: e.CostNanoUSD,
		LatencyMillis: e.LatencyMillis, GenerationID: e.GenerationID, Status: "ok",
	}}}}
}
