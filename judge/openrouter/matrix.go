package openrouter

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// judgeMatrix asks about all claims of a row at once.
func (j *Judge) judgeMatrix(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	v, open := settle(r)
	for _, p := range j.split(r, open) {
		got, err := j.panel(ctx, p.request)
		if err != nil {
			return nil, rowFailure(r, v, err)
		}
		p.merge(got, v)
		v.Opinions = mergeOpinions(v.Opinions, got.Opinions, &p, len(r.Claims))
	}
	addInvalid(r, v)
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

// mergeOpinions puts the opinions on a part into those on its row.
func mergeOpinions(row, got []judge.Opinion, p *part, claims int) []judge.Opinion {
	for _, o := range got {
		at := slices.IndexFunc(row, func(r judge.Opinion) bool { return r.Model == o.Model && r.Vote == o.Vote })
		if at < 0 {
			at = len(row)
			row = append(row, judge.Opinion{Model: o.Model, Vote: o.Vote, Claims: make([]judge.ClaimVerdict, claims)})
			for c := range row[at].Claims {
				row[at].Claims[c].ElsewhereEvidence = -1
			}
		}
		p.take(o.Claims, row[at].Claims)
	}
	return row
}

// panel asks all models about a request that fits into one call.
func (j *Judge) panel(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	x := newExhibits(r)
	opinions := make([]*judge.Verdict, len(j.members))
	var listed []judge.Opinion
	for i, m := range j.members {
		votes, err := j.votes(ctx, m, x)
		if err != nil {
			return nil, err
		}
		opinions[i] = votes[0]
		if len(votes) > 1 {
			opinions[i] = judge.Combine(votes)
		}
		if len(j.members) > 1 || len(votes) > 1 {
			for n, v := range votes {
				listed = append(listed, judge.Opinion{Model: m.model, Vote: n, Claims: copyClaims(v.Claims)})
			}
		}
	}
	out := opinions[0]
	if len(opinions) > 1 {
		out = judge.Combine(opinions)
	}
	out.Opinions = listed
	return out, nil
}

// votes asks one model as often as the settings say.
func (j *Judge) votes(ctx context.Context, m *member, x *exhibits) ([]*judge.Verdict, error) {
	replies := max(maxReplies, j.config.Votes+1)
	votes := make([]*judge.Verdict, j.config.Votes)
	for n := range votes {
		q := j.matrixQuestion(m, x, n)
		q.replies = &replies
		a, err := j.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		if votes[n], err = x.roster.Decode(a.verdict); err != nil {
			return nil, fmt.Errorf("row %s: what was kept of an answer: %w", x.request.Row, err)
		}
		votes[n].Calls = callsOf(a.calls)
	}
	return votes, nil
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
	rosters := make([]*judge.Roster, len(parts))
	for i := range parts {
		half := newExhibits(parts[i].request)
		rosters[i] = half.roster
		halves = append(halves, j.matrixQuestion(m, half, vote))
	}
	return halves, func(verdicts [][]byte) ([]byte, error) {
		whole := &judge.Verdict{Claims: make([]judge.ClaimVerdict, len(x.request.Claims))}
		for i := range parts {
			v, err := rosters[i].Decode(verdicts[i])
			if err != nil {
				return nil, fmt.Errorf("row %s: what was kept of an answer: %w", x.request.Row, err)
			}
			parts[i].merge(v, whole)
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

func copyClaims(claims []judge.ClaimVerdict) []judge.ClaimVerdict {
	out := slices.Clone(claims)
	for c := range out {
		v := &out[c]
		v.Checks, v.Sufficient = slices.Clone(v.Checks), slices.Clone(v.Sufficient) // an empty list stays one
		for i, set := range v.Sufficient {
			v.Sufficient[i] = slices.Clone(set)
		}
	}
	return out
}
