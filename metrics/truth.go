package metrics

import (
	"cmp"
	"slices"

	"ibid/metrics/span"
)

// An annotator is what one person marked in a row.
type annotator struct {
	name string
	side side
}

// loadTruth sorts the truth of the row by annotator, in the order of their
// names. It reports whether truth is known: not if the list is null, nor if the
// one annotator asked for has not seen the row.
func (s *Scorer) loadTruth(r *Row) bool {
	s.annotators = s.annotators[:0]
	if !r.HasTruth {
		return false
	}
	for i := range r.Truth {
		t := &r.Truth[i]
		if s.policy == oneAnnotator && t.Annotator != s.name {
			continue
		}
		a := s.annotator(t.Annotator)
		if t.Marked {
			key, doc := s.names.codes(t.Place.Doc, t.Place.Page)
			a.side.add(i, &t.Place, key, doc)
		}
	}
	if s.policy == oneAnnotator {
		return len(s.annotators) > 0
	}
	if len(s.annotators) > 1 {
		slices.SortFunc(s.annotators, func(a, b annotator) int { return cmp.Compare(a.name, b.name) })
	}
	return true
}

// annotator returns the entry for a name, a new one if there is none.
func (s *Scorer) annotator(name string) *annotator {
	for i := range s.annotators {
		if s.annotators[i].name == name {
			return &s.annotators[i]
		}
	}
	if n := len(s.annotators); n < cap(s.annotators) {
		s.annotators = s.annotators[:n+1] // keeps the slices of an earlier row
	} else {
		s.annotators = append(s.annotators, annotator{})
	}
	a := &s.annotators[len(s.annotators)-1]
	a.name = name
	a.side.reset()
	return a
}

// best returns the annotator with the highest char_f1: a defined one before an
// undefined one, the first name on ties.
func (s *Scorer) best() *annotator {
	best := &s.annotators[0]
	if len(s.annotators) == 1 {
		return best
	}
	var most span.Fraction
	for i := range s.annotators {
		a := &s.annotators[i]
		z := s.compare.Sizes(a.side.spans, s.pred.spans, 0)
		f1 := span.Fraction{Num: 2 * z.Overlap, Den: z.Truth + z.Pred}
		if f1.Den > 0 && (most.Den == 0 || f1.Compare(most) > 0) {
			best, most = a, f1
		}
	}
	return best
}

// combine fills s.combined with what at least k annotators marked.
func (s *Scorer) combine(k int) *side {
	c := &s.combined
	c.reset()
	for i := range s.annotators {
		c.pagesUnknown = c.pagesUnknown || s.annotators[i].side.pagesUnknown
	}
	c.pageRanges = true // runs of pages are merged
	c.spans = s.atLeast(c.spans, k, func(a *side) []span.Span { return a.spans })
	c.pages = s.atLeast(c.pages, k, func(a *side) []span.Span { return a.pages })
	c.docs = s.atLeast(c.docs, k, func(a *side) []span.Span { return a.docs })
	c.source = nil
	return c
}

// atLeast appends to dst what at least k annotators have in the given set.
func (s *Scorer) atLeast(dst []span.Span, k int, set func(*side) []span.Span) []span.Span {
	s.votes = s.votes[:0]
	for i := range s.annotators {
		// Normalized first, so that nobody votes twice for the same code point.
		s.votes = span.Normalize(s.votes, set(&s.annotators[i].side))
	}
	return s.compare.AtLeast(dst, s.votes, k)
}

// chosen returns the truth that the policy scores against, for every policy but
// meanOfAll, and notes a single annotator's name.
func (s *Scorer) chosen(out *Scores) *side {
	n := len(s.annotators)
	if n == 0 {
		s.combined.reset()
		return &s.combined
	}
	switch s.policy {
	case unionOfAll:
		return s.combine(1)
	case majorityOfAll:
		return s.combine(n/2 + 1)
	case intersectionOfAll:
		return s.combine(n)
	}
	a := s.best()
	out.TruthAnnotator, out.HasTruthAnnotator = a.name, a.name != ""
	return &a.side
}
