package openrouter

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"ibid"
	"ibid/judge"
	"ibid/judge/prompts"
)

// pairTokens is the longest reply to a question of protocol score, as the specification
// has it.
const pairTokens = 100

// excerptOfSource is how much of each source the specification shows when it
// asks for hallucinations, in code points.
const excerptOfSource = 200

// relevantFrom is the score from which the specification's scale says that a
// text relates to the claim at all.
const relevantFrom = 0.2

// judgePairs asks about each claim with each of its citations by the
// specification's first prompt, and whether what the claim does not cite
// supports it by the second. The joint support is that of the best citation.
func (j *Judge) judgePairs(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	v := &judge.Verdict{Claims: make([]judge.ClaimVerdict, len(r.Claims))}
	for c := range r.Claims {
		v.Claims[c].ElsewhereEvidence = -1
		if err := j.judgePair(ctx, r, c, v); err != nil {
			return nil, rowFailure(r, v, err)
		}
	}
	addInvalid(r, v)
	return v, nil
}

func (j *Judge) judgePair(ctx context.Context, r *judge.Request, c int, v *judge.Verdict) error {
	evidence, out := r.Cited(c, nil), &v.Claims[c]
	questions := j.pairQuestions(r, c)
	scores := make([]ibid.Support, len(questions))
	for i, q := range questions {
		s, err := j.score(ctx, v, q)
		if err != nil {
			return err
		}
		scores[i] = s
	}
	out.Joint = ibid.None.Support()
	out.Checks = make([]judge.Check, len(evidence))
	known := true
	for i, e := range evidence {
		s := scores[i]
		out.Checks[i] = judge.Check{Evidence: e, Citation: r.Evidence[e].Citation, Support: s, Relevant: relevance(s)}
		known = known && s.Known()
		if s.Known() && s.Value > out.Joint.Value {
			out.Joint = s
		}
		out.Votes = len(j.members)
	}
	if !known && out.Joint.Value < 1 {
		// What could not be read may be better.
		out.Joint = ibid.Support{}
	}
	if len(scores) > len(evidence) {
		out.Elsewhere = scores[len(evidence)]
	}
	return nil
}

func relevance(s ibid.Support) ibid.Tri {
	switch {
	case !s.Known():
		return ibid.Unset
	case s.Value >= relevantFrom:
		return ibid.Yes
	}
	return ibid.No
}

// pairQuestions are those about a claim: one for each of its citations, and one
// about what it does not cite, if there is anything.
func (j *Judge) pairQuestions(r *judge.Request, c int) []pairQuestion {
	claim, evidence := &r.Claims[c], r.Cited(c, nil)
	var out []pairQuestion
	for _, e := range evidence {
		out = append(out, j.supportQuestion(claim.Text, r.Evidence[e].Text))
	}
	if uncited := uncitedBy(r, evidence); len(uncited) > 0 {
		out = append(out, j.choiceQuestion(claim.Text, uncited))
	}
	return out
}

// uncitedBy are the texts that a claim that cites evidence does not cite.
func uncitedBy(r *judge.Request, evidence []int) []string {
	citedText := make(map[string]bool)
	for _, e := range evidence {
		citedText[r.Evidence[e].Text] = true
	}
	var out []string
	for e := range r.Evidence {
		if text := r.Evidence[e].Text; !citedText[text] {
			citedText[text] = true
			out = append(out, text)
		}
	}
	return out
}

// A pairQuestion is a prompt and how to read the number that answers it.
type pairQuestion struct {
	prompt []byte
	read   func(number float64) (score float64, ok bool)
}

func (j *Judge) supportQuestion(claim, text string) pairQuestion {
	return pairQuestion{
		prompt: j.fillPair(prompts.Support, claim, "text", text),
		read:   func(v float64) (float64, bool) { return min(max(v, 0), 1), true },
	}
}

func (j *Judge) choiceQuestion(claim string, texts []string) pairQuestion {
	var list strings.Builder
	for i, text := range texts {
		if i > 0 {
			list.WriteByte('\n')
		}
		runes := []rune(text)
		list.WriteString("- " + string(runes[:min(len(runes), excerptOfSource)]) + "...")
	}
	scores := map[float64]float64{1: 1, 2: 0.5, 3: 0}
	return pairQuestion{
		prompt: j.fillPair(prompts.Hallucination, claim, "sources", list.String()),
		read:   func(v float64) (float64, bool) { s, ok := scores[v]; return s, ok },
	}
}

func (j *Judge) fillPair(name prompts.Name, claim, field, text string) []byte {
	return j.prompts.Fill(nil, name, func(b []byte, f string) []byte {
		if f == field {
			return append(b, text...)
		}
		return append(b, claim...)
	})
}

// A pairVerdict is what is kept of an answer with a number.
type pairVerdict struct {
	Score float64 `json:"score"`
}

// score asks all models and returns the mean of their numbers. An answer that
// is no number is unscored, or what the settings say.
func (j *Judge) score(ctx context.Context, v *judge.Verdict, p pairQuestion) (ibid.Support, error) {
	sum := 0.0
	for _, m := range j.members {
		a, err := j.ask(ctx, j.questionOf(m, p))
		if u, ok := errors.AsType[*unanswered](err); ok && u.reason == judge.BadReply {
			v.Calls = append(v.Calls, u.call)
			if j.config.FallbackScore == nil {
				return ibid.Support{}, nil
			}
			sum += *j.config.FallbackScore
			continue
		}
		if err != nil {
			return ibid.Support{}, err
		}
		v.Calls = append(v.Calls, a.call)
		var kept pairVerdict
		if err := json.Unmarshal(a.verdict, &kept); err != nil {
			return ibid.Support{}, err
		}
		sum += kept.Score
	}
	return ibid.Scored(sum / float64(len(j.members))), nil
}

// questionOf puts a question to a model.
func (j *Judge) questionOf(m *member, p pairQuestion) *question {
	replies := maxReplies
	return &question{
		member: m, replies: &replies, schema: "number",
		request: request{head: m.score, user: appendEscaped(nil, p.prompt), seed: j.config.seed(), maxTokens: j.config.room(pairTokens)},
		read:    func(content string) ([]byte, []string, error) { return readNumber(content, p.read) },
	}
}

var firstNumber = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?|\.[0-9]+`)

var errNoNumber = errors.New("the reply has no number of the scale")

// readNumber reads the first number of a reply.
func readNumber(content string, read func(float64) (float64, bool)) ([]byte, []string, error) {
	v, err := strconv.ParseFloat(firstNumber.FindString(content), 64)
	if err != nil {
		return nil, nil, errNoNumber
	}
	score, ok := read(v)
	if !ok {
		return nil, nil, errNoNumber
	}
	verdict, err := json.Marshal(pairVerdict{score})
	return verdict, nil, err
}
