package metrics

import "slices"

// firstSpanMetric to lastSpanMetric compare truth with citations.
const (
	firstSpanMetric = CharPrecision
	lastSpanMetric  = OverCitation
)

// scorePredAlone counts the citations of a row whose truth is not known.
func (s *Scorer) scorePredAlone(r *Row, out *Scores) {
	for m := firstSpanMetric; m <= lastSpanMetric; m++ {
		out.undefined(m, NoTruth)
	}
	out.undefined(SpanAccuracyScore, NoTruth)
	if !r.HasCitations {
		return
	}
	z := s.compare.Sizes(nil, s.pred.spans, s.opt.Tolerance)
	m := s.compare.Match(nil, s.pred.spans, s.opt.Tolerance, s.opt.MinOverlap)
	pages := s.compare.Sizes(nil, s.pred.pages, 0)
	out.count(PredChars, z.Pred)
	out.count(CitedChars, z.Pred)
	out.count(TolerancePredChars, z.WidePred)
	out.count(PredSpans, int64(len(s.pred.spans)))
	out.count(DistinctPredSpans, int64(m.DistinctPred))
	if !s.pred.pagesUnknown {
		out.count(PredPages, pages.Pred)
	}
	_, docs, _ := s.countDocs(nil)
	out.count(PredDocs, docs)
	if t, ok := s.measureTokens(r, nil); ok {
		out.count(PredTokens, t.Pred)
	}
}

// scoreTruthAlone counts the truth of a row whose citations are not known. The
// policy mean then sums over annotators, as it does elsewhere.
func (s *Scorer) scoreTruthAlone(r *Row, out *Scores) {
	for m := firstSpanMetric; m <= lastSpanMetric; m++ {
		out.undefined(m, NoCitations)
	}
	out.undefined(SpanAccuracyScore, NoCitations)
	if s.policy == meanOfAll && len(s.annotators) > 1 {
		for i := range s.annotators {
			s.mean.part.reset(s.reasons, s.sums)
			s.countTruth(r, &s.annotators[i].side, &s.mean.part)
			out.addCounts(&s.mean.part)
		}
		return
	}
	s.countTruth(r, s.chosen(out), out)
}

func (s *Scorer) countTruth(r *Row, truth *side, out *Scores) {
	out.count(TruthChars, s.compare.Sizes(truth.spans, nil, 0).Truth)
	out.count(TruthSpans, int64(len(truth.spans)))
	m := s.compare.Match(truth.spans, nil, s.opt.Tolerance, s.opt.MinOverlap)
	out.count(DistinctTruthSpans, int64(m.DistinctTruth))
	if !truth.pagesUnknown {
		out.count(TruthPages, s.compare.Sizes(truth.pages, nil, 0).Truth)
	}
	docs, _, _ := s.countDocs(truth)
	out.count(TruthDocs, docs)
	if t, ok := s.measureTokens(r, truth); ok {
		out.count(TruthTokens, t.Truth)
	}
}

// scorePair compares the citations with one truth.
func (s *Scorer) scorePair(r *Row, truth *side, out *Scores) {
	s.scoreChars(truth, out)
	s.scoreTokens(r, truth, out)
	s.scorePages(truth, out)
	s.scoreDocs(truth, out)
	s.scoreMatches(r, truth, out)
}

// overlap sets precision, recall and F1, which follow each other, of two sets.
// A metric that divides by an empty set names the side that is missing.
func overlap(out *Scores, precision Metric, truth, pred, both int64) {
	out.ratio(precision, both, pred, NoCitations)
	out.ratio(precision+1, both, truth, NoTruth)
	out.ratio(precision+2, 2*both, truth+pred, NothingToCite)
}

func (s *Scorer) scoreChars(truth *side, out *Scores) {
	z := s.compare.Sizes(truth.spans, s.pred.spans, s.opt.Tolerance)
	out.count(TruthChars, z.Truth)
	out.count(PredChars, z.Pred)
	out.count(CitedChars, z.Pred)
	out.count(OverlapChars, z.Overlap)
	out.count(UnionChars, z.Union)
	out.count(TolerancePredChars, z.WidePred)
	out.count(ToleranceOverlapChars, z.WideOverlap)
	out.count(ToleranceUnionChars, z.WideUnion)
	overlap(out, CharPrecision, z.Truth, z.Pred, z.Overlap)
	out.ratio(CharJaccard, z.Overlap, z.Union, NothingToCite)
	out.ratio(SetToleranceJaccard, z.WideOverlap, z.WideUnion, NothingToCite)
	if z.Union == 0 {
		out.undefined(ExactMatch, NothingToCite)
		out.undefined(AnyOverlap, NothingToCite)
		return
	}
	out.binary(ExactMatch, z.Overlap == z.Union)
	out.binary(AnyOverlap, z.Overlap > 0)
}

// scoreTokens leaves its metrics undefined, as they are at first, if there is no
// text.
func (s *Scorer) scoreTokens(r *Row, truth *side, out *Scores) {
	z, ok := s.measureTokens(r, truth)
	if !ok {
		return
	}
	out.count(TruthTokens, z.Truth)
	out.count(PredTokens, z.Pred)
	out.count(OverlapTokens, z.Overlap)
	overlap(out, TokenPrecision, z.Truth, z.Pred, z.Overlap)
	out.ratio(TokenJaccard, z.Overlap, z.Union, NothingToCite)
}

func (s *Scorer) scorePages(truth *side, out *Scores) {
	if truth.pagesUnknown || s.pred.pagesUnknown {
		for m := PagePrecision; m <= PageF1; m++ {
			out.undefined(m, NoDocuments)
		}
		return
	}
	t, p, both := s.countPages(truth)
	out.count(TruthPages, t)
	out.count(PredPages, p)
	out.count(OverlapPages, both)
	overlap(out, PagePrecision, t, p, both)
}

// fewPages is the number of pages of both sides up to which looking for each of
// them among the others beats sorting.
const fewPages = 12

// countPages counts the distinct pages of truth, of the citations, and of both.
func (s *Scorer) countPages(truth *side) (t, p, both int64) {
	if truth.pageRanges || s.pred.pageRanges || len(truth.pages)+len(s.pred.pages) > fewPages {
		z := s.compare.Sizes(truth.pages, s.pred.pages, 0)
		return z.Truth, z.Pred, z.Overlap
	}
	for i, x := range truth.pages {
		if slices.Contains(truth.pages[:i], x) {
			continue
		}
		t++
		if slices.Contains(s.pred.pages, x) {
			both++
		}
	}
	for i, x := range s.pred.pages {
		if !slices.Contains(s.pred.pages[:i], x) {
			p++
		}
	}
	return t, p, both
}

func (s *Scorer) scoreDocs(truth *side, out *Scores) {
	t, p, both := s.countDocs(truth)
	out.count(TruthDocs, t)
	out.count(PredDocs, p)
	out.count(OverlapDocs, both)
	overlap(out, DocPrecision, t, p, both)
}

// countDocs counts the distinct documents of truth, which may be nil, of the
// citations, and of both.
func (s *Scorer) countDocs(truth *side) (t, p, both int64) {
	const inTruth, inPred = 1, 2
	s.marks = s.marks[:0]
	for range s.names.docs {
		s.marks = append(s.marks, 0)
	}
	for _, d := range s.pred.docs {
		s.marks[d.Key] |= inPred
	}
	if truth != nil {
		for _, d := range truth.docs {
			s.marks[d.Key] |= inTruth
		}
	}
	for _, m := range s.marks {
		t += int64(m & inTruth)
		p += int64(m >> 1)
		both += int64(m & (m >> 1))
	}
	return t, p, both
}
