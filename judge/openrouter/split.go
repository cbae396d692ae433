package openrouter

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibid/judge"
	"ibid/judge/prompts"
)

// maxSentences is how many sentences one question for claims has.
const maxSentences = 24

// Needs of a reply with claims in tokens.
const (
	needSplitFixed    = 256
	needSplitSentence = 160
)

// Split asks the first model for the claims of each sentence.
func (j *Judge) Split(ctx context.Context, s *judge.Sentences) (*judge.Split, error) {
	out := &judge.Split{}
	for _, q := range j.splitQuestions(s) {
		a, err := j.ask(ctx, q)
		if u, ok := errors.AsType[*unanswered](err); ok {
			return nil, &judge.RowFailure{Row: s.Row, Reason: u.reason, Err: fmt.Errorf("claims: %w", u.err), Calls: append(out.Calls, u.calls...)}
		}
		if err != nil {
			return nil, err
		}
		var claims [][]string
		if err := json.Unmarshal(a.verdict, &claims); err != nil {
			return nil, fmt.Errorf("row %s: what was kept of its claims: %w", s.Row, err)
		}
		out.Claims = append(out.Claims, claims...)
		out.Calls = append(out.Calls, callsOf(a.calls)...)
	}
	return out, nil
}

// splitQuestions are the questions for the claims of s, some sentences each.
func (j *Judge) splitQuestions(s *judge.Sentences) []*question {
	var out []*question
	for sentences := range slices.Chunk(s.Sentences, maxSentences) {
		part := *s
		part.Sentences = sentences
		need := j.config.room(needSplitFixed + needSplitSentence*int64(len(sentences)))
		out = append(out, &question{
			member: j.members[0], repair: prompts.ClaimsRepair, answer: need / 2,
			request: request{
				head: j.members[0].split, user: string(splitPrompt(&part, j.prompts)), seed: j.config.seed(), maxTokens: need,
			},
			read: func(_ *exchange, content string, _ bool) (reading, error) {
				claims, err := judge.ParseSplit(content, &part)
				if err != nil {
					return reading{}, err
				}
				kept, err := json.Marshal(claims)
				return reading{verdict: kept}, err
			},
		})
	}
	return out
}

// splitPrompt is the message of the user that asks for the claims of s.
func splitPrompt(s *judge.Sentences, set *prompts.Set) []byte {
	all := append([]string{s.Question, s.Answer}, s.Sentences...)
	f := fence{codeOf(sha256.Sum256([]byte(strings.Join(all, "\x00"))), all)}
	return set.Fill(nil, prompts.ClaimsUser, func(b []byte, field string) []byte {
		switch field {
		case "code":
			return append(b, f.code[:]...)
		case "sentences":
			return strconv.AppendInt(b, int64(len(s.Sentences)), 10)
		}
		b = f.close(append(f.tag(b, "question"), s.Question...), "question")
		b = f.close(append(f.tag(append(b, '\n'), "answer"), s.Answer...), "answer")
		b = f.tag(append(b, '\n'), "sentences")
		for i, text := range s.Sentences {
			b = f.close(fmt.Appendf(b, "<sentence-%s id=\"s%d\">\n%s", f.code, i+1, text), "sentence")
		}
		return f.endTag(b, "sentences")
	})
}
