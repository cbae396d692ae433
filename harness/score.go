package harness

import (
	"context"
	"errors"

	"ibid/dataset"
	"ibid/judge"
	"ibid/metrics"
	"ibid/metrics/presence"
)

// textCache is how many bytes of texts and tokens a worker keeps at hand.
const textCache = 16 << 20

// A scorer turns rows into scores; each worker has its own. It is a function of
// the row: nothing is carried from one row to the next.
type scorer struct {
	resolver *dataset.Resolver
	metrics  *metrics.Scorer
	texts    metrics.TokenSource // nil if no text can be known
	judging  *judging            // nil without a judge

	row    metrics.Row
	places dataset.Resolved
	scores metrics.Scores
}

func newScorer(p *Plan, docs *dataset.Documents) (*scorer, error) {
	m, err := metrics.NewScorer(p.options)
	if err != nil {
		return nil, err
	}
	s := &scorer{metrics: m}
	var view *dataset.View
	if docs != nil {
		view = docs.View(textCache)
	}
	s.resolver = dataset.NewResolver(view, p.conventions)
	if docs != nil || p.inline {
		s.texts = s.resolver
	}
	if p.judge != nil {
		s.judging, err = newJudging(p, s.resolver)
	}
	return s, err
}

// score fills places and scores. A row that cannot be scored gives the reason as
// failure and has no defined score; err means that the run cannot go on.
func (s *scorer) score(ctx context.Context, in *dataset.Row) (failure, err error) {
	if failure := badRow(in); failure != nil {
		s.scores.Fail(metrics.RowError)
		return failure, nil
	}
	s.resolver.Resolve(in, &s.places)
	if err := s.resolver.Err(); err != nil {
		return nil, err
	}
	if s.places.Err != nil {
		s.scores.Fail(metrics.RowError)
		return s.places.Err, nil
	}
	s.fill(in)
	if s.judging != nil {
		if err := s.judging.row(ctx, in, &s.places); err != nil {
			return nil, err
		}
		s.judging.fill(&s.row)
	}
	s.metrics.Score(&s.row, &s.scores)
	return nil, s.resolver.Err()
}

// request returns what a row asks of the judge: nil if it has no claims or cannot
// be scored. It is valid until the scorer takes the next row.
func (s *scorer) request(in *dataset.Row) (*judge.Request, error) {
	if badRow(in) != nil {
		return nil, nil
	}
	s.resolver.Resolve(in, &s.places)
	if err := s.resolver.Err(); err != nil || s.places.Err != nil {
		return nil, err
	}
	s.judging.prepare(in, &s.places)
	if len(s.judging.claims) == 0 {
		return nil, s.resolver.Err()
	}
	return &s.judging.request, s.resolver.Err()
}

// badRow returns why a row cannot be scored, or nil.
func badRow(in *dataset.Row) error {
	switch {
	case in.Err != nil:
		return in.Err
	case in.QueryNull:
		return errors.New("query: null")
	case in.AnswerNull:
		return errors.New("answer: null")
	}
	return nil
}

// fill makes the metrics' view of the row.
func (s *scorer) fill(in *dataset.Row) {
	r := &s.row
	r.ID, r.System, r.Provider, r.Model = in.ID, in.System, in.Provider, in.Model
	r.Query, r.Answer = in.Query, in.Answer
	r.Tags = r.Tags[:0]
	for _, tag := range in.Tags {
		r.Tags = append(r.Tags, metrics.Tag(tag))
	}
	r.Citations, r.HasCitations = s.places.Citations, in.HasCitations
	r.HasTruth = in.HasTruth
	r.Truth = r.Truth[:0]
	for i := range in.Truth {
		t := &in.Truth[i]
		r.Truth = append(r.Truth, metrics.Annotated{Annotator: t.Annotator, Marked: !t.DocNull, Place: s.places.Truth[i]})
	}
	r.Messages = messagesOf(r.Messages[:0], in)
	r.Tokens = s.texts
}

// messagesOf appends the conversation of a row to dst.
func messagesOf(dst []presence.Message, in *dataset.Row) []presence.Message {
	for i := range in.Messages {
		dst = append(dst, presence.Message{Role: in.Messages[i].Role, Content: in.Messages[i].Content})
	}
	return dst
}
