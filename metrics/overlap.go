package metrics

import (
	"ibid"
	"ibid/metrics/span"
	"ibid/metrics/token"
)

// An overlap is precision, recall and F1 of the sets whose sizes are three counts.
type overlap struct {
	precision, recall, f1 Metric
	truth, pred, both     Count
}

var (
	charOverlap  = overlap{CharPrecision, CharRecall, CharF1, TruthChars, PredChars, OverlapChars}
	tokenOverlap = overlap{TokenPrecision, TokenRecall, TokenF1, TruthTokens, PredTokens, OverlapTokens}
	pageOverlap  = overlap{PagePrecision, PageRecall, PageF1, TruthPages, PredPages, OverlapPages}
	docOverlap   = overlap{DocPrecision, DocRecall, DocF1, TruthDocs, PredDocs, OverlapDocs}
	spanOverlap  = overlap{SpanPrecision, SpanRecall, SpanF1, DistinctTruthSpans, DistinctPredSpans, MatchedSpans}
)

// definitions are those of the three metrics. what names the elements of the sets,
// missing says when they are not known, if they can be unknown, and aliases are other
// names of F1.
func (o overlap) definitions(prefix, what, missing, source string, aliases ...string) map[Metric]Definition {
	if missing != "" {
		missing += ", or "
	}
	return map[Metric]Definition{
		o.precision: {
			Name: prefix + "_precision", Group: what, Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "share of the cited " + what + " that truth marks", Formula: "|T∩P| / |P|",
			UndefinedWhen: missing + "P empty", Source: source, Num: term(o.both), Den: term(o.pred), Derived: true,
		},
		o.recall: {
			Name: prefix + "_recall", Group: what, Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "share of the " + what + " that truth marks which are cited", Formula: "|T∩P| / |T|",
			UndefinedWhen: missing + "T empty", Source: source, Num: term(o.both), Den: term(o.truth), Derived: true,
		},
		o.f1: {
			Name: prefix + "_f1", Aliases: aliases, Group: what, Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "harmonic mean of precision and recall over " + what, Formula: "2|T∩P| / (|T|+|P|)",
			UndefinedWhen: missing + "T and P empty", Source: dice,
			Num: []Term{{Column: o.both.String(), Factor: 2}}, Den: terms(o.truth, o.pred), Derived: true,
		},
	}
}

// score sets the three counts and the three metrics. A metric that divides by an
// empty set names the side that is missing.
func (o overlap) score(out *Scores, truth, pred, both int64) {
	out.count(o.truth, truth)
	out.count(o.pred, pred)
	out.count(o.both, both)
	out.ratio(o.precision, both, pred, ibid.NoCitations)
	out.ratio(o.recall, both, truth, ibid.NoTruth)
	out.ratio(o.f1, 2*both, truth+pred, ibid.NothingToCite)
}

var charDefinitions = merged(
	charOverlap.definitions("char", "characters", "", squad, "char_dice"),
	map[Metric]Definition{
		CharJaccard: {
			Name: "char_jaccard", Group: "characters", Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "overlap of cited and true characters over their union", Formula: "|T∩P| / |T∪P|",
			UndefinedWhen: "T and P empty", Source: jaccard, Num: term(OverlapChars), Den: less(terms(TruthChars, PredChars), OverlapChars), Derived: true,
		},
		ExactMatch: {
			Name: "exact_match", Group: "characters", Kind: Binary, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "1 if exactly the true characters are cited", Formula: "1 if T = P, else 0",
			UndefinedWhen: "T and P empty", Source: squad, Derived: true,
		},
		AnyOverlap: {
			Name: "any_overlap", Group: "characters", Kind: Binary, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "1 if any true character is cited", Formula: "1 if T∩P is not empty, else 0",
			UndefinedWhen: "T and P empty", Source: setTheory, Derived: true,
		},
	},
)

var tokenDefinitions = merged(
	tokenOverlap.definitions("token", "tokens", "no text", squad),
	map[Metric]Definition{
		TokenJaccard: {
			Name: "token_jaccard", Group: "tokens", Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "overlap of cited and true tokens over their union", Formula: "|T∩P| / |T∪P|",
			UndefinedWhen: "no text, or T and P empty", Source: jaccard, Num: term(OverlapTokens),
			Den: less(terms(TruthTokens, PredTokens), OverlapTokens), Derived: true,
		},
	},
)

var (
	pageDefinitions = pageOverlap.definitions("page", "pages", "no page known", setTheory)
	docDefinitions  = docOverlap.definitions("doc", "documents", "", setTheory)
)

// scorePredAlone counts the citations of a row without truth to score against, and why.
func (s *Scorer) scorePredAlone(r *Row, why ibid.Reason, out *Scores) {
	out.allUndefined(comparisons, why)
	out.undefined(SpanAccuracyScore, why)
	if !r.HasCitations {
		return
	}
	z := s.compare.Sizes(nil, s.pred.spans, s.opt.Tolerance)
	s.pred.loose.count(&z, s.opt.Tolerance)
	m := s.compare.Match(nil, s.pred.spans, s.opt.Tolerance, s.opt.MinOverlap)
	pages := s.compare.Sizes(nil, s.pred.pages, 0)
	out.count(PredChars, z.Pred)
	out.count(CitedChars, z.Pred)
	out.count(PredSpans, int64(len(s.pred.spans))+s.pred.loose.spans)
	out.count(DistinctPredSpans, int64(m.DistinctPred)+s.pred.loose.distinct)
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
	out.allUndefined(comparisons, ibid.NoCitations)
	out.undefined(SpanAccuracyScore, ibid.NoCitations)
	if s.policy == ibid.PolicyMean && len(s.annotators) > 1 {
		for i := range s.annotators {
			s.mean.part.reset(&s.reasons)
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

func (s *Scorer) scoreChars(truth *side, out *Scores) {
	z := s.compare.Sizes(truth.spans, s.pred.spans, s.opt.Tolerance)
	s.pred.loose.count(&z, s.opt.Tolerance)
	charOverlap.score(out, z.Truth, z.Pred, z.Overlap)
	out.count(CitedChars, z.Pred)
	out.ratio(CharJaccard, z.Overlap, z.Union, ibid.NothingToCite)
	if z.Union == 0 {
		out.undefined(ExactMatch, ibid.NothingToCite)
		out.undefined(AnyOverlap, ibid.NothingToCite)
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
	tokenOverlap.score(out, z.Truth, z.Pred, z.Overlap)
	out.ratio(TokenJaccard, z.Overlap, z.Union, ibid.NothingToCite)
}

func (s *Scorer) scorePages(truth *side, out *Scores) {
	if truth.pagesUnknown || s.pred.pagesUnknown {
		for _, m := range [...]Metric{PagePrecision, PageRecall, PageF1} {
			out.undefined(m, ibid.NoDocuments)
		}
		return
	}
	z := s.compare.Sizes(truth.pages, s.pred.pages, 0)
	pageOverlap.score(out, z.Truth, z.Pred, z.Overlap)
}

func (s *Scorer) scoreDocs(truth *side, out *Scores) {
	t, p, both := s.countDocs(truth)
	docOverlap.score(out, t, p, both)
}

// countDocs counts the distinct documents of truth, which may be nil, of the
// citations, and of both.
func (s *Scorer) countDocs(truth *side) (t, p, both int64) {
	const inTruth, inPred = 1, 2
	s.marks = s.marks[:0]
	for range s.names.docs.all {
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

// tokenSides are the token sets of a row: spans of token numbers.
type tokenSides struct {
	truth, pred []span.Span
	marked      [2][]span.Span // normal spans of truth and of citations
	all         []span.Span    // and of both
	index       token.Index    // tokens of one key that some span touches
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
	t.truth, t.pred, t.all = t.truth[:0], t.pred[:0], append(t.all[:0], s.pred.spans...)
	t.marked[0] = t.marked[0][:0]
	if truth != nil {
		t.all = append(t.all, truth.spans...)
		t.marked[0] = span.Normalize(t.marked[0], truth.spans)
	}
	t.marked[1] = span.Normalize(t.marked[1][:0], s.pred.spans)
	t.all = span.Normalize(t.all[:0], t.all) // sorted by key, so that every text is asked for once
	truths, preds := t.marked[0], t.marked[1]
	for rest := t.all; len(rest) > 0; {
		key := rest[0].Key
		doc, page := s.names.name(key)
		t.index.Reset()
		for ; len(rest) > 0 && rest[0].Key == key; rest = rest[1:] {
			if !r.Tokens.Tokens(&t.index, doc, page, rest[0].Start, rest[0].End) {
				return span.Sizes{}, false
			}
		}
		t.truth, truths = t.number(t.truth, truths, key)
		t.pred, preds = t.number(t.pred, preds, key)
	}
	return s.compare.Sizes(t.truth, t.pred, 0), true
}

// number appends the tokens that the spans of a key, which come first, touch, as
// spans of their numbers. rest are the other spans.
func (t *tokenSides) number(dst, spans []span.Span, key int32) (tokens, rest []span.Span) {
	for len(spans) > 0 && spans[0].Key == key {
		lo, hi := t.index.Range(spans[0].Start, spans[0].End)
		dst = append(dst, span.Span{Key: key, Start: int32(lo), End: int32(hi)})
		spans = spans[1:]
	}
	return dst, spans
}
