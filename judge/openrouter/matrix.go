package openrouter

import (
	"context"
	"errors"
	"fmt"

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

// judgeMatrix asks about all claims of a row at once, each model as often as the settings say.
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
			one := &judge.Verdict{Claims: make([]judge.ClaimVerdict, len(r.Claims))}
			for c := range one.Claims {
				one.Claims[c].ElsewhereEvidence = -1
			}
			for i := range parts {
				a, err := j.ask(ctx, j.matrixQuestion(m, parts[i].exhibits, vote))
				if err != nil {
					return nil, rowFailure(r, v, err)
				}
				v.Calls = append(v.Calls, callsOf(a.calls)...)
				if err := parts[i].merge(a.verdict, one); err != nil {
					return nil, err
				}
			}
			opinions = append(opinions, one)
			v.Opinions = append(v.Opinions, judge.Opinion{Model: m.model, Vote: vote, Claims: one.Claims})
		}
	}
	said := opinions[0]
	if len(opinions) > 1 {
		said = judge.Combine(opinions)
	} else {
		v.Opinions = nil
	}
	for _, c := range open {
		v.Claims[c] = said.Claims[c]
	}
	v.Tampering = said.Tampering
	return v, nil
}

// rowFailure is the error of a row for one of its questions.
func rowFailure(r *judge.Request, v *judge.Verdict, err error) error {
	u, ok := errors.AsType[*unanswered](err)
	if !ok {
		return err
	}
	return &judge.RowFailure{Row: r.Row, Reason: u.reason, Err: u.err, Calls: append(v.Calls, u.calls...)}
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
	return &question{
		member: m, repair: prompts.Repair,
		request: request{
			head: m.head, user: string(x.prompt(nil, j.prompts, vote, j.config.Necessity)), seed: j.config.seed() + int64(vote), maxTokens: j.need(x.request),
		},
		read:   func(_ *exchange, content string) ([]byte, []string, error) { return j.readMatrix(x, content) },
		halves: func() ([]*question, func([][]byte) ([]byte, error)) { return j.matrixHalves(m, x, vote) },
	}
}

// matrixHalves are the questions about the halves of x.
func (j *Judge) matrixHalves(m *member, x *exhibits, vote int) (halves []*question, join func(verdicts [][]byte) ([]byte, error)) {
	parts := halvesOfRequest(x.request)
	for i := range parts {
		halves = append(halves, j.matrixQuestion(m, parts[i].exhibits, vote))
	}
	return halves, func(verdicts [][]byte) ([]byte, error) {
		whole := &judge.Verdict{Claims: make([]judge.ClaimVerdict, len(x.request.Claims))}
		for i := range parts {
			if err := parts[i].merge(verdicts[i], whole); err != nil {
				return nil, err
			}
		}
		return x.roster.Encode(whole)
	}
}

// readMatrix checks a reply to a request about all claims of a row.
func (j *Judge) readMatrix(x *exhibits, content string) ([]byte, []string, error) {
	reply, err := judge.Parse(content, x.roster)
	if err != nil {
		return nil, nil, err
	}
	if j.config.Necessity {
		for c := range reply.Verdict.Claims {
			if reply.Verdict.Claims[c].Sufficient == nil {
				return nil, nil, fmt.Errorf("claim %s: member \"sufficient\" is missing", x.roster.ClaimID(c))
			}
		}
	}
	verdict, err := x.roster.Encode(&reply.Verdict)
	return verdict, reply.Defects, err
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
