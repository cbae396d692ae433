package metrics

import (
	"context"

	"ibid/metrics/presence"
)

// scorePresence asks whether the answer names a source. That a check of URLs or
// of meaning fails is not the row's fault, but leaves it without a value.
func (s *Scorer) scorePresence(r *Row, out *Scores) {
	in := presence.Input{Messages: r.Messages, Answer: r.Answer, HasAnswer: true}
	if out.PresenceErr = s.opt.Presence.Detect(context.Background(), in, &s.presence); out.PresenceErr != nil {
		out.undefined(CitationPresence, RowError)
		return
	}
	out.Values[CitationPresence], out.Reasons[CitationPresence] = s.presence.Score(), Defined
}
