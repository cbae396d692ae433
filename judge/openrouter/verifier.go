package openrouter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"ibid"
	"ibid/judge"
	"ibid/judge/cache"
)

// keptInParts is from how many bytes on a text may have been too long for a model, so
// that its parts are looked for in the store.
const keptInParts = 128

// A piece is a claim and as much of a text as is asked about at once: one question.
type piece struct {
	claim int
	text  string
	key   cache.Key

	rated  bool
	rating rating
	parts  []*piece // of a text that is too long for the model; their best counts
	most   int      // of the pieces in its call, after a call with more was too long; 0 = no limit
}

// best is the best rating of pieces.
func best(pieces []*piece) (out rating) {
	for _, p := range pieces {
		if p.parts != nil {
			out = out.best(best(p.parts))
		} else {
			out = out.best(p.rating)
		}
	}
	return out
}

// A measuring puts pieces of one row to a small verifier, each once.
type measuring struct {
	judge   *Judge
	request *judge.Request
	pieces  map[cache.Key]*piece
	order   []*piece // as they were made
	calls   []judge.Call
}

// judgeSmall asks about each claim with each passage that it cites, and with all of them
// together.
func (j *Judge) judgeSmall(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	v, open := settle(r)
	j.counts.settled(r, open)
	m := &measuring{judge: j, request: r, pieces: make(map[cache.Key]*piece)}
	cited := make([]citedPieces, len(r.Claims))
	for _, c := range open {
		cited[c] = m.cited(c)
	}
	err := m.measure(ctx)
	v.Calls = m.calls
	if err != nil {
		return nil, rowFailure(r, v, err)
	}
	kinds := j.lexical.Factual(r)
	for _, c := range open {
		out := &v.Claims[c]
		out.Factual = kinds[c]
		j.fillCited(r, c, &cited[c], out)
	}
	if slices.ContainsFunc(m.order, func(p *piece) bool { return p.rating.asked }) {
		for _, c := range open {
			if len(cited[c].evidence) == 0 {
				v.Claims[c].Contradicted = ibid.No
			}
		}
	}
	addInvalid(r, v)
	addVerbatim(r, v)
	return v, nil
}

// citedPieces are those of what a claim cites.
type citedPieces struct {
	evidence []int      // of the request
	alone    [][]*piece // for each of evidence
	joint    []*piece
}

// cited are the pieces of each passage that claim c cites and of all together: one
// after the other, each distinct one once.
func (m *measuring) cited(c int) citedPieces {
	out := citedPieces{evidence: m.request.Cited(c, nil)}
	var all []string
	seen := make(map[judge.Evidence]bool)
	for _, e := range out.evidence {
		passage := m.request.Evidence[e].Passage()
		text := premise(passage.Title, passage.Text)
		out.alone = append(out.alone, m.of(c, text))
		if !seen[passage] {
			seen[passage] = true
			all = append(all, text)
		}
	}
	if len(all) > 0 {
		out.joint = m.of(c, strings.Join(all, "\n\n"))
	}
	return out
}

// premise is what a judge that sees no marks is shown of a passage.
func premise(title, text string) string {
	if title == "" {
		return text
	}
	return title + "\n" + text
}

// fillCited fills in what was said of the passages that claim c cites.
func (j *Judge) fillCited(r *judge.Request, c int, cited *citedPieces, out *judge.ClaimVerdict) {
	out.ElsewhereEvidence = -1
	out.Joint = ibid.None.Support()
	for i, e := range cited.evidence {
		out.Checks = append(out.Checks, judge.Check{
			Evidence: e, Citation: r.Evidence[e].Citation, Support: ibid.Scored(best(cited.alone[i]).support),
		})
	}
	if len(cited.evidence) == 0 {
		return
	}
	joint := best(cited.joint)
	out.Joint, out.Votes, out.Contradicted = ibid.Scored(joint.support), 1, joint.contradicted()
}

// of are the pieces of a claim and a text.
func (m *measuring) of(claim int, text string) []*piece {
	var out []*piece
	for _, chunk := range chunks(text, m.judge.template.ChunkWords) {
		out = append(out, m.piece(claim, chunk))
	}
	return out
}

func (m *measuring) piece(claim int, text string) *piece {
	p := &piece{claim: claim, text: text}
	q := m.judge.smallQuestion(m.request, p)
	p.key = q.request.key()
	if same := m.pieces[p.key]; same != nil {
		return same
	}
	m.pieces[p.key] = p
	m.order = append(m.order, p)
	return p
}

// measure rates what is not rated yet: from the store, or by asking. What is too long
// for the model is asked about in two parts.
func (m *measuring) measure(ctx context.Context) error {
	j := m.judge
	for {
		var open []*piece
		for _, p := range m.order {
			if p.rated || p.parts != nil {
				continue
			}
			if err := m.recall(ctx, p); err != nil {
				return err
			}
			if !p.rated && p.parts == nil {
				open = append(open, p)
			}
		}
		if len(open) == 0 {
			return nil
		}
		if server := j.server(ctx); server.maxInput > 0 {
			open = m.splitLong(open, server.maxInput)
		}
		if err := m.ask(ctx, open); err != nil {
			return err
		}
	}
}

// recall rates a piece from the store, or divides it as it was before.
func (m *measuring) recall(ctx context.Context, p *piece) error {
	a, err := m.judge.kept(ctx, p.key)
	if err != nil {
		return err
	}
	if a != nil {
		return m.take(p, a)
	}
	if len(p.text) < keptInParts {
		return nil
	}
	halves := halvesOf(p.text)
	for _, text := range halves {
		found, err := m.known(ctx, p.claim, text)
		if err != nil || !found {
			return err
		}
	}
	m.divide(p, halves)
	return nil
}

// known reports whether the store has a text, whole or in parts.
func (m *measuring) known(ctx context.Context, claim int, text string) (bool, error) {
	p := &piece{claim: claim, text: text}
	found, err := m.judge.peek(ctx, m.judge.smallQuestion(m.request, p))
	if found || err != nil || len(text) < keptInParts {
		return found, err
	}
	halves := halvesOf(text)
	for _, half := range halves {
		if found, err := m.known(ctx, claim, half); err != nil || !found {
			return false, err
		}
	}
	return halves != nil, nil
}

// divide lets the best of two parts stand for a piece.
func (m *measuring) divide(p *piece, texts []string) {
	for _, text := range texts {
		p.parts = append(p.parts, m.piece(p.claim, text))
	}
}

// splitLong divides pieces that the server would surely refuse, for a word is a token at
// least, and returns the others.
func (m *measuring) splitLong(open []*piece, maxTokens int) []*piece {
	var out []*piece
	for _, p := range open {
		words := len(strings.Fields(p.text))
		if halves := halvesOf(p.text); halves != nil && words > maxTokens {
			m.divide(p, halves)
			continue
		}
		out = append(out, p)
	}
	return out
}

// take rates a piece by an answer.
func (m *measuring) take(p *piece, a *answer) error {
	r, err := m.judge.rate(a.verdict)
	if err != nil {
		return m.judge.stop(&judge.StopError{Reason: judge.StopReplies, Err: err, Hint: positiveLabelHint})
	}
	p.rated, p.rating = true, r
	if a.call.Status != "" { // else another piece of the same call has it
		m.calls = append(m.calls, a.call)
	}
	return nil
}

// tooLong puts a piece into a smaller call, or divides one that was asked about alone,
// where that is why there is no answer; false if that cannot be.
func (m *measuring) tooLong(p *piece, together int, err error) bool {
	u, is := errors.AsType[*unanswered](err)
	if !is || u.reason != judge.TooLong {
		return false
	}
	if together > 1 {
		p.most = together / 2
		return true
	}
	halves := halvesOf(p.text)
	if halves == nil {
		return false
	}
	m.calls = append(m.calls, u.call)
	m.divide(p, halves)
	return true
}

// ask asks about pieces side by side: one call each, or, of a classifier, as many to a
// call as its server takes.
func (m *measuring) ask(ctx context.Context, open []*piece) error {
	j, size := m.judge, 1
	if j.template.protocol == Classify {
		size = j.server(ctx).maxBatch
	}
	groups := groupsOf(open, size)
	answers := make([][]*answer, len(groups))
	errs := make([]error, len(groups))
	var all sync.WaitGroup
	for g, group := range groups {
		all.Go(func() {
			questions := make([]*question, len(group))
			for i, p := range group {
				questions[i] = j.smallQuestion(m.request, p)
			}
			if j.template.protocol == Classify {
				answers[g], errs[g] = j.askTogether(ctx, questions)
				return
			}
			var a *answer
			a, errs[g] = j.ask(ctx, questions[0])
			answers[g] = []*answer{a}
		})
	}
	all.Wait()
	var failed error
	for g, group := range groups {
		for i, p := range group {
			switch {
			case errs[g] == nil:
				if err := m.take(p, answers[g][i]); err != nil {
					return err
				}
			case m.tooLong(p, len(group), errs[g]):
			default:
				failed = cmp.Or(failed, errs[g])
			}
		}
	}
	return failed
}

func groupsOf(pieces []*piece, size int) [][]*piece {
	var out [][]*piece
	for len(pieces) > 0 {
		most := size
		if pieces[0].most > 0 {
			most = min(most, pieces[0].most)
		}
		n := 1
		for n < min(most, len(pieces)) && pieces[n].most == pieces[0].most {
			n++
		}
		out = append(out, pieces[:n])
		pieces = pieces[n:]
	}
	return out
}

// smallQuestion is the question about a piece.
func (j *Judge) smallQuestion(r *judge.Request, p *piece) *question {
	t, m := j.template, j.members[0]
	f := newFiller(r.Claims[p.claim].Text, p.text, r.Question, r.Answer)
	replies := maxReplies
	q := &question{member: m, replies: &replies, template: t.version()}
	if t.protocol == Classify {
		inputs := make([]string, len(t.Input))
		for i := range inputs {
			inputs[i] = f.Replace(t.Input[i])
		}
		q.request = request{head: m.small, seed: j.config.seed(), whole: j.classifierBody([][]string{inputs}), path: j.classifierURL()}
		q.inputs = inputs
		return q
	}
	q.request = request{
		head: m.small, user: appendEscaped(nil, []byte(f.Replace(t.Message))), seed: j.config.seed(),
		maxTokens: j.config.room(t.Tokens),
	}
	if len(t.Body) > 0 {
		b, err := json.Marshal(fillAll(f, t.Body)) // keys in sorted order
		if err != nil {
			panic(err) // it came from JSON
		}
		q.request.more = append([]byte{','}, b[1:len(b)-1]...)
	}
	q.short = t.Answer == answerFirst && t.After == ""
	q.readChoice = func(c *choice, text string) ([]byte, error) {
		yes, err := t.yes(text, c.Logprobs)
		if err != nil {
			return nil, err
		}
		return json.Marshal(smallVerdict{Yes: &yes})
	}
	return q
}

// A smallVerdict is what is kept of an answer: the probability of the positive word, or
// the scores of the classes.
type smallVerdict struct {
	Yes    *float64           `json:"yes,omitempty"`
	Scores map[string]float64 `json:"scores,omitempty"`
}

// rate reads what is kept of an answer.
func (j *Judge) rate(verdict []byte) (rating, error) {
	var v smallVerdict
	if err := json.Unmarshal(verdict, &v); err != nil {
		return rating{}, err
	}
	if v.Yes == nil {
		return j.template.rate(v.Scores)
	}
	if j.template.Inverted {
		return rating{support: 1 - *v.Yes}, nil
	}
	return rating{support: *v.Yes}, nil
}

// newSmallHead writes what all requests of a small verifier have. How the answer is read
// is part of the key, for what is kept is what was read.
func newSmallHead(c *Config, model string, t *Template) *requestHead {
	h := &requestHead{config: c, model: model, system: t.System, role: t.Role, logprobs: t.protocol == YesNo}
	return h.finish(strings.Join([]string{t.Answer, t.After, string(t.Positive), string(t.Negative)}, "\x00") + "\x00")
}
