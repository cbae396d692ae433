package metrics

import "ibid/metrics/span"

// tokenSides are the token sets of a row: spans of token numbers.
type tokenSides struct {
	truth, pred []span.Span
	normal      []span.Span
}

// measureTokens compares the tokens that truth, which may be nil, and the
// citations touch. ok is false if the run has no texts or if one key that
// either side marks has none: the tokens of a document that does not exist are
// not known, and leaving them out would make inventing documents pay.
func (s *Scorer) measureTokens(r *Row, truth *side) (z span.Sizes, ok bool) {
	if r.Tokens == nil {
		return span.Sizes{}, false
	}
	t := &s.tokens
	t.truth, t.pred = t.truth[:0], t.pred[:0]
	if truth != nil {
		t.truth, ok = s.appendTokens(t.truth, r.Tokens, truth.spans)
		if !ok {
			return span.Sizes{}, false
		}
	}
	t.pred, ok = s.appendTokens(t.pred, r.Tokens, s.pred.spans)
	if !ok {
		return span.Sizes{}, false
	}
	return s.compare.Sizes(t.truth, t.pred, 0), true
}

// appendTokens appends the tokens touched by the spans, as spans of their
// numbers in the same key.
func (s *Scorer) appendTokens(dst []span.Span, texts TokenSource, spans []span.Span) (tokens []span.Span, ok bool) {
	// Sorted by key, so that every text is asked for once.
	s.tokens.normal = span.Normalize(s.tokens.normal[:0], spans)
	for rest := s.tokens.normal; len(rest) > 0; {
		key := rest[0].Key
		name := s.names.keys[key]
		index, ok := texts.Tokens(name.doc, name.page)
		if !ok {
			return dst, false
		}
		for len(rest) > 0 && rest[0].Key == key {
			lo, hi := index.Range(rest[0].Start, rest[0].End)
			dst = append(dst, span.Span{Key: key, Start: int32(lo), End: int32(hi)})
			rest = rest[1:]
		}
	}
	return dst, true
}
