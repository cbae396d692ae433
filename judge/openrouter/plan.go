package openrouter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ibid"
	"ibid/judge"
	"ibid/judge/cache"
)

// An Estimate is what rows will take, before anything is sent.
type Estimate struct {
	Rows     int64
	Settled  int64 // of them that need no model
	Cached   int64 // questions that the store answers, or a batch that is on its way
	Repeated int64 // questions that were planned before: their answer will be kept
	Calls    int64 // questions that have to be asked: the least number of calls
	Unpriced int64 // of them whose price is not known
	Batches  int64 // that the calls go out in, the first of each model alone; 0 without batches
	// Tokens of the calls, by length: 3.5 bytes a token of the prompt, and for
	// the answer 60 tokens for each claim and each claim with a citation, with what
	// earlier runs have seen the model reason. MostCompletionTokens are what answers are allowed.
	PromptTokens, CompletionTokens, MostCompletionTokens int64
	// NanoUSD of the calls whose price is known, or that of a token from earlier runs, MostNanoUSD with the longest
	// answers allowed; at the price of batches where they go out in some.
	NanoUSD, MostNanoUSD int64
	LongestPrompt        int64 // tokens of the longest prompt, asked or not
}

// Tokens of an average answer.
const (
	answerFixed = 40
	answerItem  = 60
	answerPair  = 5 // of a question with one claim and one text
)

// A Planner adds up what verdicts will take. It looks into the store of its judge
// and sends nothing; prices are those of [Judge.LoadPrices], or of the settings.
// Retries do not count. It is not safe for concurrent use.
type Planner struct {
	judge *Judge
	seen  map[cache.Key]struct{}
	sum   Estimate
	calls map[*member]int64
}

// NewPlanner returns a planner that has added up nothing.
func (j *Judge) NewPlanner() *Planner {
	return &Planner{judge: j, seen: make(map[cache.Key]struct{}), calls: make(map[*member]int64)}
}

// Estimate is the sum so far.
func (p *Planner) Estimate() Estimate {
	if c := &p.judge.config; c.Batch {
		p.sum.Batches = 0
		for _, n := range p.calls {
			most := int64(c.mostLines())
			p.sum.Batches += (n - 1 + most - 1) / most
		}
	}
	return p.sum
}

// Add adds what a verdict on r will take. The error is that of the store.
func (p *Planner) Add(ctx context.Context, r *judge.Request) error {
	p.sum.Rows++
	questions := p.judge.questions(r)
	if len(questions) == 0 {
		p.sum.Settled++
	}
	return p.addAll(ctx, questions)
}

// AddSplit adds what the claims of sentences will take.
func (p *Planner) AddSplit(ctx context.Context, s *judge.Sentences) error {
	return p.addAll(ctx, p.judge.splitQuestions(s))
}

func (p *Planner) addAll(ctx context.Context, questions []*question) error {
	for _, q := range questions {
		if err := p.add(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

func (p *Planner) add(ctx context.Context, q *question) error {
	e := &p.sum
	prompt := int64(q.request.length()) * 2 / 7
	e.LongestPrompt = max(e.LongestPrompt, prompt)
	key := q.request.key()
	if _, ok := p.seen[key]; ok {
		e.Repeated++
		return nil
	}
	p.seen[key] = struct{}{}
	if store := p.judge.store; store != nil {
		if kept, err := store.Get(ctx, key); kept != nil || err != nil {
			e.Cached++
			return err
		}
		line, _, err := store.Line(ctx, key)
		if err != nil {
			return err
		}
		if line != nil && (line.State == cache.LineAnswered || line.BatchState != cache.BatchDone) {
			e.Cached++ // paid for, and here or on its way
			return nil
		}
	}
	first := p.calls[q.member] == 0
	p.calls[q.member]++
	hidden, rate := q.member.profile.takes()
	answer, most := q.answer+hidden, q.member.profile.budget(q.request.maxTokens, 0)
	e.Calls++
	e.PromptTokens += prompt
	e.CompletionTokens += answer
	e.MostCompletionTokens += most
	priceOf := p.judge.priceOf
	if p.judge.config.Batch && !first {
		priceOf = p.judge.batchPrice
	}
	if price, ok := priceOf(q.member.model); ok {
		e.NanoUSD += price.cost(prompt, answer)
		e.MostNanoUSD += price.cost(prompt, most)
	} else if rate > 0 {
		e.NanoUSD += int64(rate * float64(prompt+answer))
		e.MostNanoUSD += int64(rate * float64(prompt+most))
	} else {
		e.Unpriced++
	}
	return nil
}

// questions are those that a verdict on r is made from at least.
func (j *Judge) questions(r *judge.Request) []*question {
	var out []*question
	_, open := settle(r)
	if j.config.Protocol != Verdicts {
		queries, _ := j.smallQueries(r, open)
		for _, q := range queries {
			for _, m := range j.members {
				out = append(out, j.smallQuestion(m, q.query))
			}
		}
		return out
	}
	for _, p := range j.split(r, open) {
		for _, m := range j.members {
			for vote := range j.config.Votes {
				out = append(out, j.matrixQuestion(m, p.exhibits, vote))
			}
		}
	}
	return out
}

// A Prompt is what a model is sent for a row, or for a part of it.
type Prompt struct {
	Model        string
	System, User string // System is "" if there is none
	Vote         int    // from 0
	MaxTokens    int64
	Schema       string // of the reply, "" if it is free text
}

// Prompts are the prompts of a verdict on r, without sending anything; none if
// no model needs to see the row.
func (j *Judge) Prompts(r *judge.Request) []Prompt {
	questions := j.questions(r)
	out := make([]Prompt, len(questions))
	for i, q := range questions {
		head := q.request.head
		out[i] = Prompt{
			Model: head.model, System: head.system, User: q.request.user, Vote: int(q.request.seed - j.config.seed()),
			MaxTokens: q.request.maxTokens, Schema: head.schema,
		}
		if q.request.whole != nil {
			out[i].User = string(q.request.whole)
		}
	}
	return out
}

// A part is a request for some claims of a row, small enough for one call, as it is shown.
type part struct {
	*exhibits
	claims []int // of the row, for each of the request
	// evidence of the row, for each of the request; nil if they are the same.
	evidence []int
}

// settle begins a verdict with what needs no model: claims that say nothing and cite nothing.
// That a claim stands in its evidence word by word settles nothing: what stands around it may
// say that it is false. open are the other claims.
func settle(r *judge.Request) (v *judge.Verdict, open []int) {
	v = judge.NewVerdict(len(r.Claims))
	for c := range r.Claims {
		out := &v.Claims[c]
		says := strings.ContainsFunc(r.Claims[c].Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		if says || len(r.Cited(c, nil)) > 0 {
			open = append(open, c)
			continue
		}
		out.Factual, out.Contradicted, out.Joint, out.Precheck = ibid.No, ibid.No, ibid.None.Support(), judge.PrecheckBlank
	}
	return v, open
}

// split puts claims into as few parts as the settings allow, in their order.
func (j *Judge) split(r *judge.Request, claims []int) []part {
	c := &j.config
	fixed := answerTokens(r, c.MaxPromptTokens)
	long := bulk(r) > c.MaxPromptTokens && fixed+estimate(r, claims, allOf(len(r.Evidence))) > c.MaxPromptTokens
	var parts []part
	for start := 0; start < len(claims); {
		end, pairs := start, 0
		for end < len(claims) {
			more := len(r.Cited(claims[end], nil))
			full := pairs+more > c.MaxPairs || c.MaxClaims > 0 && end-start >= c.MaxClaims ||
				long && fixed+estimate(r, claims[start:end+1], cited(r, claims[start:end+1])) > c.MaxPromptTokens
			if full && end > start {
				break
			}
			pairs += more
			end++
		}
		p := newPart(r, claims[start:end], evidenceFor(r, claims[start:end], long, c.MaxPromptTokens-fixed))
		if fixed == 0 {
			p.cutAnswer()
		}
		parts = append(parts, p)
		start = end
	}
	return parts
}

// evidenceFor is the evidence that a part shows: nil for all of it; in a long
// row what its claims cite, and of the rest what there is room for.
func evidenceFor(r *judge.Request, claims []int, long bool, most int64) []int {
	if !long {
		return nil
	}
	shown := cited(r, claims)
	for e := range r.Evidence {
		if slices.Contains(shown, e) {
			continue
		}
		if with := append(slices.Clone(shown), e); estimate(r, claims, with) <= most {
			shown = with
		}
	}
	slices.Sort(shown)
	return shown
}

// answerTokens are those of the answer at most, 0 if it is so long that only what
// stands around the claims is shown.
func answerTokens(r *judge.Request, most int64) int64 {
	if n := int64(len(r.Answer)) / 3; n <= most/2 {
		return n
	}
	return 0
}

// halvesOfRequest are the halves of a request that was too long for the model, none if it is
// a single claim with what it cites and the sentences around it.
func halvesOfRequest(r *judge.Request) []part {
	claims := allOf(len(r.Claims))
	if n := len(claims); n > 1 {
		return []part{newPart(r, claims[:n/2], cited(r, claims[:n/2])), newPart(r, claims[n/2:], cited(r, claims[n/2:]))}
	}
	only := newPart(r, claims, cited(r, claims))
	only.cutAnswer()
	if bulk(only.request) >= bulk(r) {
		return nil
	}
	return []part{only}
}

// cutAnswer leaves of the answer what stands around the claims.
func (p *part) cutAnswer() {
	q := *p.request
	q.Answer, q.Claims = cutAnswer(q.Answer, q.Claims)
	p.exhibits = newExhibits(&q)
}

func newPart(r *judge.Request, claims, evidence []int) part {
	q := &judge.Request{Row: r.Row, Question: r.Question, Answer: r.Answer, Evidence: r.Evidence}
	if evidence != nil {
		q.Evidence = make([]judge.Evidence, len(evidence))
		for i, e := range evidence {
			q.Evidence[i] = r.Evidence[e]
		}
	}
	for _, c := range claims {
		q.Claims = append(q.Claims, r.Claims[c])
	}
	return part{exhibits: newExhibits(q), claims: claims, evidence: evidence}
}

// only is the part with some of its claims, and all that it shows.
func (p *part) only(claims []int) *part {
	out := newPart(p.request, claims, nil)
	for i, c := range out.claims {
		out.claims[i] = p.claims[c]
	}
	out.evidence = p.evidence
	return &out
}

// merge puts what was kept of the answer on a part into the verdict on its row.
func (p *part) merge(kept []byte, into *judge.Verdict) error {
	from, err := p.roster.Decode(kept)
	if err != nil {
		return fmt.Errorf("row %s: what was kept of an answer: %w", p.request.Row, err)
	}
	for i, c := range p.claims {
		if p.evidence != nil {
			p.restore(&from.Claims[i])
		}
		into.Claims[c] = from.Claims[i]
	}
	if !ibid.Tampered(into.Tampering) {
		into.Tampering = from.Tampering
	}
	return nil
}

// restore names evidence as the row does.
func (p *part) restore(v *judge.ClaimVerdict) {
	for i := range v.Checks {
		v.Checks[i].Evidence = p.evidence[v.Checks[i].Evidence]
	}
	if v.ElsewhereEvidence >= 0 {
		v.ElsewhereEvidence = p.evidence[v.ElsewhereEvidence]
	}
	for _, set := range v.Sufficient {
		for i := range set {
			set[i] = p.evidence[set[i]]
		}
	}
}

// bulk is what all of a request takes at most: texts that occur twice count
// twice. It is cheap, and nearly always small enough to ask no further.
func bulk(r *judge.Request) int64 {
	n := len(r.Question) + len(r.Answer)
	for c := range r.Claims {
		n += len(r.Claims[c].Text)
	}
	for e := range r.Evidence {
		n += shownBytes(&r.Evidence[e])
	}
	return int64(n) / 3
}

// shownBytes is how long a passage is.
func shownBytes(e *judge.Evidence) int {
	return len(e.Title) + len(e.Before) + len(e.Text) + len(e.After)
}

// estimate is how many tokens claims and passages of a request take, generously.
func estimate(r *judge.Request, claims, evidence []int) int64 {
	n := len(r.Question)
	for _, c := range claims {
		n += len(r.Claims[c].Text)
	}
	seen := make(map[judge.Evidence]bool, len(evidence))
	for _, e := range evidence {
		if passage := r.Evidence[e].Passage(); !seen[passage] {
			seen[passage] = true
			n += shownBytes(&passage)
		}
	}
	return int64(n) / 3
}

// cited are the evidence that claims cite, ascending.
func cited(r *judge.Request, claims []int) []int {
	out := []int{}
	for _, c := range claims {
		out = r.Cited(c, out)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func allOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
