package openrouter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ibid"
	"ibid/judge"
	"ibid/judge/prompts"
)

// maxReplies is how many whole replies one request may cost.
const maxReplies = 4

// Needs of a reply in tokens.
const (
	needFixed    = 256
	needPair     = 110
	needClaim    = 90
	needLeast    = 512
	needMost     = 8192
	needThinking = 4096 // on top, where the settings ask for reasoning
)

// judgeMatrix asks about all claims of a row at once, each model as often as the settings say. An
// opinion that does not come is absent; a claim without enough of them is unscored. The error is
// a [*judge.RowFailure] if all are.
func (j *Judge) judgeMatrix(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	v, open := settle(r)
	defer addInvalid(r, v)
	if len(open) == 0 {
		return v, nil
	}
	parts := j.split(r, open)
	var opinions []*judge.Verdict
	for _, m := range j.members {
		for vote := range j.config.Votes {
			one := judge.NewVerdict(len(r.Claims))
			for i := range parts {
				if err := j.opinion(ctx, m, vote, &parts[i], one); err != nil {
					return nil, err
				}
			}
			opinions = append(opinions, one)
			v.Opinions = append(v.Opinions, judge.Opinion{Model: m.model, Vote: vote, Claims: one.Claims})
		}
	}
	if len(opinions) == 1 {
		v.Opinions = nil
	}
	said := judge.Combine(opinions)
	v.Tampering, v.Calls = said.Tampering, said.Calls
	scored := false
	for _, c := range open {
		v.Claims[c] = said.Claims[c]
		scored = scored || said.Claims[c].Unscored == ""
	}
	if first := &v.Claims[open[0]]; !scored {
		return nil, &judge.RowFailure{Row: r.Row, Reason: first.Unscored, Err: errors.New(first.JointWhy), Calls: v.Calls}
	}
	return v, nil
}

// opinion adds to one what a model says of a part. What its reply leaves open is asked again, once:
// all of that together, as a part of the row with the answer as a whole.
func (j *Judge) opinion(ctx context.Context, m *member, vote int, p *part, one *judge.Verdict) error {
	for again := false; ; again = true {
		q := j.matrixQuestion(m, p.exhibits, vote)
		q.again = again
		a, err := j.ask(ctx, q)
		if u, ok := errors.AsType[*unanswered](err); ok {
			one.Calls = append(one.Calls, u.calls...)
			why := excerpt(u.err.Error())
			if len(p.claims) == 1 {
				why = strings.TrimPrefix(why, "claim c1: ")
			}
			for _, c := range p.claims {
				one.Claims[c] = judge.UnscoredClaim(u.reason, why)
			}
			return nil
		}
		if err != nil {
			return err
		}
		one.Calls = append(one.Calls, callsOf(a.calls)...)
		if err := p.merge(a.verdict, one); err != nil {
			return err
		}
		var open []int // of the part
		for i, c := range p.claims {
			if one.Claims[c].Unscored != "" {
				open = append(open, i)
			}
		}
		if len(open) == 0 || again && a.asked {
			return nil
		}
		p = p.only(open)
	}
}

// addInvalid gives every claim a check of each invalid citation that it has.
func addInvalid(r *judge.Request, v *judge.Verdict) {
	if len(r.Invalid) == 0 {
		return
	}
	reasons := make(map[int]string, len(r.Invalid))
	for _, i := range r.Invalid {
		reasons[i.Citation] = i.Reason
	}
	for c := range r.Claims {
		for _, i := range r.Claims[c].Citations {
			if reason, ok := reasons[int(i)]; ok {
				v.Claims[c].Checks = append(v.Claims[c].Checks, judge.Check{
					Evidence: -1, Citation: int(i), Support: ibid.None.Support(), Relevant: ibid.No, Precheck: reason,
				})
			}
		}
	}
}

// matrixQuestion is the question about all claims of x.
func (j *Judge) matrixQuestion(m *member, x *exhibits, vote int) *question {
	answer := int64(answerFixed)
	for c := range x.request.Claims {
		answer += answerItem * int64(1+len(x.roster.Cited(c)))
	}
	q := &question{
		member: m, repair: prompts.Repair, open: true, answer: answer,
		request: request{
			head: m.head, user: string(x.prompt(nil, j.prompts, vote, j.config.Necessity)), seed: j.config.seed() + int64(vote), maxTokens: j.need(x.request),
		},
		halves: func() ([]*question, func([][]byte) ([]byte, error)) { return j.matrixHalves(m, x, vote) },
	}
	q.read = func(e *exchange, content string, last bool) (reading, error) {
		return j.readMatrix(q, x, &e.envelope.Usage, content, last)
	}
	q.long = func(context.Context) bool { return m.profile.long(q.request.length(), q.request.maxTokens) }
	return q
}

// matrixHalves are the questions about the halves of x.
func (j *Judge) matrixHalves(m *member, x *exhibits, vote int) (halves []*question, join func(verdicts [][]byte) ([]byte, error)) {
	parts := halvesOfRequest(x.request)
	for i := range parts {
		halves = append(halves, j.matrixQuestion(m, parts[i].exhibits, vote))
	}
	return halves, func(verdicts [][]byte) ([]byte, error) {
		whole := judge.NewVerdict(len(x.request.Claims))
		for i := range parts {
			if err := parts[i].merge(verdicts[i], whole); err != nil {
				return nil, err
			}
		}
		return x.roster.Encode(whole)
	}
}

// readMatrix reads a reply to a question about all claims of x. What it leaves open has no verdict
// in what is kept: that is every claim that cannot be used and, unless this is the last time, one
// that lacks a quote. A reply that leaves all open is an error.
func (j *Judge) readMatrix(q *question, x *exhibits, u *usage, content string, last bool) (reading, error) {
	reply, err := judge.Parse(content, x.roster)
	if reply != nil && reply.HasCheckWord && j.prompts.Has(prompts.MatrixUser, "check") {
		if err := q.member.profile.check(q.request.length(), reply.CheckWord, x.checkWord(), u); err != nil {
			return reading{}, err
		}
	}
	if err != nil {
		return reading{wanted: "all claims"}, err
	}
	v, defects := &reply.Verdict, reply.Defects
	if j.config.Necessity {
		for c := range v.Claims {
			if v.Claims[c].Sufficient == nil && v.Claims[c].Unscored == "" {
				defects = append(defects, judge.Defect{Claim: c, What: "member \"sufficient\" is missing"})
			}
		}
	}
	doubt := false
	for _, d := range defects {
		if !d.Unsure || !last {
			v.Claims[d.Claim], doubt = judge.UnscoredClaim(judge.BadReply, d.What), doubt || d.Unsure
		}
	}
	var open []string
	for c := range v.Claims {
		if v.Claims[c].Unscored != "" {
			open = append(open, x.roster.ClaimID(c))
		}
	}
	if len(open) == len(v.Claims) {
		return reading{doubt: doubt, wanted: strings.Join(open, ", ")}, &judge.ReplyError{Defect: fmt.Sprintf("claim %s: %s", open[0], v.Claims[0].JointWhy)}
	}
	verdict, err := x.roster.Encode(v)
	return reading{verdict: verdict}, err
}

// need is how many tokens a reply may take.
func (j *Judge) need(r *judge.Request) int64 {
	n := int64(needFixed)
	for c := range r.Claims {
		n += needClaim + int64(needPair*len(r.Cited(c, nil)))
	}
	n = min(max(n, needLeast), needMost)
	if j.config.thinks() {
		n += needThinking
	}
	return j.config.room(n)
}
