package metrics

import (
	"cmp"
	"fmt"

	"ibid"
	"ibid/metrics/span"
)

var matchDefinitions = merged(
	map[Metric]Definition{
		MeanExactJaccard: perTruthSpan(Definition{
			Name:    "mean_exact_jaccard",
			Summary: "mean exact Jaccard of each truth span's best match by tolerance Jaccard",
			Formula: "mean over truth spans x of |x∩y| / |x∪y|, y best by |x∩y⁺| / |x∪y⁺|",
			Source:  specificationPerSpan,
		}),
		MeanToleranceJaccard: perTruthSpan(Definition{
			Name:    "mean_tolerance_jaccard",
			Summary: "mean tolerance Jaccard of each truth span's best match",
			Formula: "mean over truth spans x of max over y of |x∩y⁺| / |x∪y⁺|",
			Source:  specificationPerSpan,
		}),
		MeanSnappedJaccard: perTruthSpan(Definition{
			Name: "mean_snapped_jaccard", Aliases: []string{"span_overlap"},
			Summary: "mean of each truth span's best Jaccard after small boundary errors are forgiven",
			Formula: "mean over truth spans x of max over y of |x∩y'| / |x∪y'|; y' = y with ends within min(tolerance, |x|/4) of x's moved onto them",
			Source:  jaccard,
		}),
		BoundaryErrorStart: boundaryError("start"),
		BoundaryErrorEnd:   boundaryError("end"),
		OverCitation: {
			Name: "over_citation", Group: "matched spans", Kind: Ratio, Direction: LowerIsBetter, Min: 0, Max: 1,
			Summary: "share of predicted spans that touch no truth", Formula: "predicted spans touching no truth / predicted spans",
			UndefinedWhen: "no predicted span", Source: "false discovery rate over spans",
			Num: term(UntouchedPredSpans), Den: term(PredSpans), Derived: true,
		},
	},
	matchedSpanDefinitions(),
)

const specificationPerSpan = specification + ", per truth span"

// perTruthSpan completes the definition of a mean over truth spans.
func perTruthSpan(d Definition) Definition {
	d.Group, d.Kind, d.Direction, d.Max = "best matches", Mean, HigherIsBetter, 1
	d.UndefinedWhen, d.Num, d.Den = "no truth span", sumOf(d.Name, TruthSpans), term(TruthSpans)
	return d
}

func boundaryError(end string) Definition {
	return Definition{
		Name: "boundary_error_" + end, Group: "matched spans", Kind: Mean, Direction: Neutral, Min: anyNumber, Max: unbounded,
		Summary: "mean signed distance of the " + end + "s of matched pairs, in code points; positive = too late",
		Formula: "mean over matched pairs of (predicted " + end + " − truth " + end + ")", UndefinedWhen: "no matched pair",
		Source: "signed error", Num: sumOf("boundary_error_"+end, MatchedSpans), Den: term(MatchedSpans),
	}
}

// matchedSpanDefinitions are precision, recall and F1 of spans matched one to one.
func matchedSpanDefinitions() map[Metric]Definition {
	all := spanOverlap.definitions("span", "matched spans", "", setTheory)
	for m, text := range map[Metric]struct{ summary, formula, undefined string }{
		SpanPrecision: {"share of predicted spans matched one to one", "m / |pred spans|", "no predicted span"},
		SpanRecall:    {"share of truth spans matched one to one", "m / |truth spans|", "no truth span"},
		SpanF1:        {"harmonic mean of span precision and recall", "2m / (|truth spans| + |pred spans|)", "neither truth nor predicted span"},
	} {
		d := all[m]
		d.Summary, d.UndefinedWhen = text.summary, text.undefined
		d.Formula = text.formula + "; m = pairs of the one-to-one matching of distinct spans with Jaccard ≥ min_overlap_threshold"
		all[m] = d
	}
	return all
}

// scoreMatches compares span with span: best matches, the one-to-one matching,
// and the shape of what is cited. It leaves the best truth of each predicted
// span in s.cited.
func (s *Scorer) scoreMatches(r *Row, truth *side, out *Scores) {
	compared := truth.spans
	if most := s.opt.RowPairs; most > 0 && int64(len(compared))*int64(len(s.pred.spans)) > most {
		if n := s.compare.Pairs(compared, s.pred.spans, s.opt.Tolerance); n > most {
			out.LimitErr = fmt.Errorf("limits: %d pairs of a citation and a truth span overlap, more than %d", n, most)
			compared = nil
		}
	}
	m := s.compare.Match(compared, s.pred.spans, s.opt.Tolerance, s.opt.MinOverlap)
	nt, np := int64(len(truth.spans)), int64(len(s.pred.spans))+s.pred.loose.spans
	out.count(TruthSpans, nt)
	out.count(PredSpans, np)
	s.scoreBest(m.Truth, out)
	if s.opt.Compat {
		s.scoreLiteral(truth, out)
	}

	matched, dt, dp := int64(len(m.Pairs)), int64(m.DistinctTruth), int64(m.DistinctPred)+s.pred.loose.distinct
	spanOverlap.score(out, dt, dp, matched)
	s.scoreBoundaries(truth, m.Pairs, missing(nt, np), out)

	untouched := s.pred.loose.spans
	for _, p := range m.Pred {
		if !p.Touches {
			untouched++
		}
	}
	out.count(UntouchedPredSpans, untouched)
	out.ratio(OverCitation, untouched, np, ibid.NoCitations)
	for j := range m.Pred {
		if p := &m.Pred[j]; p.Truth >= 0 {
			p.Truth = s.annotation(r, truth, p.Truth)
		}
	}
	s.cited = m.Pred
}

// missing is the reason of a metric that needs pairs of spans and has none.
func missing(truth, pred int64) ibid.Reason {
	switch {
	case truth == 0 && pred == 0:
		return ibid.NothingToCite
	case truth == 0:
		return ibid.NoTruth
	}
	return ibid.NoCitations
}

// scoreBest sums up how well each truth span was found.
func (s *Scorer) scoreBest(matches []span.TruthMatch, out *Scores) {
	var exact, tolerance, snapped float64
	var perfect, good int64
	for i := range matches {
		m := &matches[i]
		if m.Pred < 0 { // every Jaccard is 0
			continue
		}
		t := m.Tolerance.Float()
		exact += m.Exact.Float()
		tolerance += t
		snapped += m.Snapped.Float()
		if m.Exact.Exact() {
			perfect++
		}
		if t >= GoodMatch {
			good++
		}
	}
	out.count(PerfectMatches, perfect)
	out.count(GoodMatches, good)
	n := float64(len(matches))
	out.quotient(MeanExactJaccard, exact, n, ibid.NoTruth)
	out.quotient(MeanToleranceJaccard, tolerance, n, ibid.NoTruth)
	out.quotient(MeanSnappedJaccard, snapped, n, ibid.NoTruth)
}

// scoreBoundaries measures how far matched predictions begin and end from their
// truth.
func (s *Scorer) scoreBoundaries(truth *side, pairs []span.Pair, why ibid.Reason, out *Scores) {
	var start, end int64
	for _, p := range pairs {
		x, y := truth.spans[p.Truth], s.pred.spans[p.Pred]
		start += int64(y.Start) - int64(x.Start)
		end += int64(y.End) - int64(x.End)
	}
	out.ratio(BoundaryErrorStart, start, int64(len(pairs)), why)
	out.ratio(BoundaryErrorEnd, end, int64(len(pairs)), why)
}

// enterCitations writes the best truth of each predicted span to its citation.
func (s *Scorer) enterCitations(out *Scores) {
	for j := range s.cited {
		m, to := &s.cited[j], &out.Citations[s.pred.source[j]]
		exact, snapped := m.Exact.Float(), m.Snapped.Float()
		if !to.Defined || cmp.Or(cmp.Compare(snapped, to.Snapped), cmp.Compare(exact, to.Exact)) > 0 { // the best of its pieces
			to.Defined, to.BestTruth = true, int(m.Truth)
			to.Exact, to.Tolerance, to.Snapped = exact, m.Tolerance.Float(), snapped
		}
	}
}

// annotation returns the index in the row's truth of span i of a side.
func (s *Scorer) annotation(r *Row, truth *side, i int32) int32 {
	if truth.source != nil {
		return truth.source[i]
	}
	run := truth.spans[i]
	doc, page := s.names.name(run.Key)
	for k := range r.Truth {
		t := &r.Truth[k]
		if !t.DocNull && t.Place.InSets() && t.Place.Doc == doc && t.Place.Page == page &&
			t.Place.Start < int64(run.End) && t.Place.End > int64(run.Start) {
			return int32(k)
		}
	}
	return -1
}

// scoreLiteral replaces the best matches of truth spans by those of
// specification 1.0: of all pairs, over all truth spans, the first with the
// largest tolerance Jaccard stands for the row; without a pair everything is 0.
func (s *Scorer) scoreLiteral(truth *side, out *Scores) {
	var exact, tolerance float64
	for _, x := range truth.spans {
		for _, y := range s.pred.spans {
			if x.Key != y.Key {
				continue
			}
			wide := jaccardOf(x, int64(y.Start)-s.opt.Tolerance, int64(y.End)+s.opt.Tolerance)
			if wide > tolerance {
				tolerance, exact = wide, jaccardOf(x, int64(y.Start), int64(y.End))
			}
		}
	}
	var perfect, good int64
	pairs := len(truth.spans) > 0 && len(s.pred.spans) > 0
	if pairs && exact == 1 {
		perfect = 1
	}
	if pairs && tolerance >= GoodMatch {
		good = 1
	}
	out.count(PerfectMatches, perfect)
	out.count(GoodMatches, good)
	out.quotient(MeanExactJaccard, exact, 1, ibid.Defined)
	out.quotient(MeanToleranceJaccard, tolerance, 1, ibid.Defined)
	out.quotient(SpanAccuracyScore, tolerance, 1, ibid.Defined)
}

// jaccardOf is |x∩y| / |x∪y| for y = [start, end), clamped at 0.
func jaccardOf(x span.Span, start, end int64) float64 {
	start = max(start, 0)
	both := min(int64(x.End), end) - max(int64(x.Start), start)
	if both <= 0 {
		return 0
	}
	return float64(both) / float64(x.Len()+end-start-both)
}
