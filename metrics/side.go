package metrics

import "ibid/metrics/span"

// A side is one of the two sets of places that are compared: the citations, or
// the truth of one annotator or of several combined. Each set is a slice of
// spans, so that one arithmetic serves all of them.
type side struct {
	spans  []span.Span // the spans of T or P, as given; keys are codes of keyName
	source []int32     // index of the citation or annotation of each span; nil for combined annotators

	// pages touched; keys are codes of documents, page 1 is [0, 1). A place
	// finer than a document whose pages are not known makes the pages of the
	// side unknown: counting the others only would reward not naming pages.
	pages        []span.Span
	pageRanges   bool // some element of pages is longer than one page
	pagesUnknown bool

	docs []span.Span // documents touched; keys are codes of documents, each is [0, 1)
}

func (s *side) reset() {
	s.spans, s.source, s.pages, s.docs = s.spans[:0], s.source[:0], s.pages[:0], s.docs[:0]
	s.pageRanges, s.pagesUnknown = false, false
}

// add enters the place with the given index.
func (s *side) add(index int, p *span.Place, key, doc int32) {
	if p.InSets() {
		s.spans = append(s.spans, p.Span(key))
		s.source = append(s.source, int32(index))
	}
	if !p.Status.Usable() || p.Level == span.Nowhere {
		return
	}
	s.docs = append(s.docs, span.Span{Key: doc, Start: 0, End: 1})
	if p.Level == span.Document {
		return
	}
	if p.FirstPage <= 0 || p.LastPage < p.FirstPage {
		s.pagesUnknown = true
		return
	}
	s.pageRanges = s.pageRanges || p.LastPage > p.FirstPage
	s.pages = append(s.pages, span.Span{Key: doc, Start: p.FirstPage - 1, End: p.LastPage})
}

// totalLength is the sum of the lengths of the spans, repeats counted.
func totalLength(spans []span.Span) int64 {
	var n int64
	for _, s := range spans {
		n += s.Len()
	}
	return n
}
