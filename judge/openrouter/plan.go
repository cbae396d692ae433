package openrouter

import (
	"context"
	"encoding/json"

	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/prompts"
)

// An Estimate is what rows will take, before anything is sent.
type Estimate struct {
	Rows     int64
	Settled  int64 // of them that need no model
	Cached   int64 // questions that the store answers
	Repeated int64 // questions that were planned before: their answer will be kept
	Calls    int64 // questions that have to be asked: the least number of calls
	Unpriced int64 // of them whose price is not known
	// Tokens of the calls, by length: 3.5 bytes a token of the prompt, and for
	// the answer 60 tokens for each claim and each claim with a citation.
	// MostCompletionTokens are what answers are allowed.
	PromptTokens, CompletionTokens, MostCompletionTokens int64
	// NanoUSD of the calls whose price is known, MostNanoUSD with the longest
	// answers allowed.
	NanoUSD, MostNanoUSD int64
	LongestPrompt        int64 // tokens of the longest prompt, asked or not
}

// Tokens of an average answer.
const (
	answerFixed = 40
	answerItem  = 60
	answerPair  = 5 // of a pairwise question
)

// A Planner adds up what verdicts will take. It looks into the store of its judge
// and sends nothing; prices are those of [Judge.LoadPrices], or of the settings.
// Votes that a doubtful verdict would call for, and retries, do not count. It is
// not safe for concurrent use.
type Planner struct {
	judge *Judge
	seen  map[cache.Key]struct{}
	sum   Estimate
}

// NewPlanner returns a planner that has added up nothing.
func (j *Judge) NewPlanner() *Planner {
	return &Planner{judge: j, seen: make(map[cache.Key]struct{})}
}

// Estimate is the sum so far.
func (p *Planner) Estimate() Estimate { return p.sum }

// Add adds what a verdict on r will take. The error is that of the store.
func (p *Planner) Add(ctx context.Context, r *judge.Request) error {
	p.sum.Rows++
	questions := p.judge.questions(r)
	if len(questions) == 0 {
		p.sum.Settled++
	}
	for i := range questions {
		if err := p.add(ctx, &questions[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *Planner) add(ctx context.Context, q *planned) error {
	e := &p.sum
	prompt := int64(len(q.request.head.text)+len(q.request.user)) * 2 / 7
	e.LongestPrompt = max(e.LongestPrompt, prompt)
	key := q.request.key()
	if _, ok := p.seen[key]; ok {
		e.Repeated++
		return nil
	}
	p.seen[key] = struct{}{}
	if kept, err := p.judge.peek(ctx, &q.question); kept || err != nil {
		e.Cached++
		return err
	}
	most := q.request.maxTokens
	e.Calls++
	e.PromptTokens += prompt
	e.CompletionTokens += q.answer
	e.MostCompletionTokens += most
	if price, ok := p.judge.priceOf(q.member.model); ok {
		e.NanoUSD += price.cost(prompt, q.answer)
		e.MostNanoUSD += price.cost(prompt, most)
	} else {
		e.Unpriced++
	}
	return nil
}

// peek reports whether the store has the answer, without counting it.
func (j *Judge) peek(ctx context.Context, q *question) (bool, error) {
	if j.store == nil {
		return false, nil
	}
	e, err := j.store.Get(ctx, q.request.key())
	return e != nil, err
}

// A planned question has an estimate of its answer in tokens.
type planned struct {
	question
	answer int64
}

// questions are those that a verdict on r is made from at least.
func (j *Judge) questions(r *judge.Request) []planned {
	var out []planned
	if j.config.Mode == Pairwise {
		for c := range r.Claims {
			for _, p := range j.pairQuestions(r, c) {
				for _, m := range j.members {
					out = append(out, planned{*j.questionOf(m, p), answerPair})
				}
			}
		}
		return out
	}
	scratch := &judge.Verdict{Claims: make([]judge.ClaimVerdict, len(r.Claims))}
	for _, p := range j.split(r, j.settle(r, scratch)) {
		x := newExhibits(p.request)
		answer := int64(answerFixed)
		for c := range p.request.Claims {
			answer += answerItem * int64(1+len(x.roster.Cited(c)))
		}
		for _, m := range j.members {
			for vote := range j.config.Votes {
				out = append(out, planned{*j.matrixQuestion(m, x, vote), answer})
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
	for i := range questions {
		q := &questions[i]
		out[i] = Prompt{Model: q.member.model, User: unescaped(q.request.user), Vote: int(q.request.seed - j.config.Seed), MaxTokens: q.request.maxTokens}
		if j.config.Mode == Matrix {
			out[i].System, out[i].Schema = j.prompts.Text(prompts.MatrixSystem), j.config.schema()
		}
	}
	return out
}

// PromptSet returns the prompts that the judge fills in.
func (j *Judge) PromptSet() *prompts.Set { return j.prompts }

// unescaped is the text of the inside of a JSON string.
func unescaped(b []byte) string {
	var s string
	if err := json.Unmarshal(append(append([]byte{'"'}, b...), '"'), &s); err != nil {
		panic(err) // appendEscaped wrote it
	}
	return s
}
