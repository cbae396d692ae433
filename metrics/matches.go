package metrics

import "ibid/metrics/span"

// scoreMatches compares span with span: best matches, the one-to-one matching,
// and the shape of what is cited. It leaves the best truth of each predicted
// span in s.cited.
func (s *Scorer) scoreMatches(r *Row, truth *side, out *Scores) {
	m := s.compare.Match(truth.spans, s.pred.spans, s.opt.Tolerance, s.opt.MinOverlap)
	nt, np := int64(len(truth.spans)), int64(len(s.pred.spans))
	out.count(TruthSpans, nt)
	out.count(PredSpans, np)
	s.scoreBest(m.Truth, out)
	if s.opt.Compat {
		s.scoreLiteral(truth, out)
	}

	matched, dt, dp := int64(len(m.Pairs)), int64(m.DistinctTruth), int64(m.DistinctPred)
	out.count(MatchedSpans, matched)
	out.count(DistinctTruthSpans, dt)
	out.count(DistinctPredSpans, dp)
	overlap(out, SpanPrecision, dt, dp, matched)
	s.scoreBoundaries(truth, m.Pairs, missing(nt, np), out)

	var untouched int64
	for _, p := range m.Pred {
		if !p.Touches {
			untouched++
		}
	}
	out.count(UntouchedPredSpans, untouched)
	out.ratio(OverCitation, untouched, np, NoCitations)
	if nt == 0 || np == 0 {
		out.undefined(SpanLengthRatio, missing(nt, np))
	} else {
		meanPred := float64(totalLength(s.pred.spans)) / float64(np)
		meanTruth := float64(totalLength(truth.spans)) / float64(nt)
		out.quotient(SpanLengthRatio, meanPred, meanTruth, NoTruth)
	}
	for j := range m.Pred {
		if p := &m.Pred[j]; p.Truth >= 0 {
			p.Truth = s.annotation(r, truth, p.Truth)
		}
	}
	s.cited = m.Pred
}

// missing is the reason of a metric that needs pairs of spans and has none.
func missing(truth, pred int64) Reason {
	switch {
	case truth == 0 && pred == 0:
		return NothingToCite
	case truth == 0:
		return NoTruth
	}
	return NoCitations
}

// scoreBest sums up how well each truth span was found.
func (s *Scorer) scoreBest(matches []span.TruthMatch, out *Scores) {
	var exact, tolerance, best, snapped float64
	var perfect, good, exactHits, boundaryHits int64
	for i := range matches {
		m := &matches[i]
		if m.BoundaryHit {
			boundaryHits++
		}
		if m.Pred < 0 { // every Jaccard is 0
			if s.opt.GoodMatch == 0 {
				good++
			}
			continue
		}
		t := m.Tolerance.Float()
		exact += m.Exact.Float()
		tolerance += t
		best += m.BestExact.Float()
		snapped += m.Snapped.Float()
		if m.Exact.Exact() {
			perfect++
		}
		if t >= s.opt.GoodMatch {
			good++
		}
		if m.ExactHit {
			exactHits++
		}
	}
	out.count(PerfectMatches, perfect)
	out.count(GoodMatches, good)
	out.count(ExactHits, exactHits)
	out.count(BoundaryHits, boundaryHits)
	out.sum(SumExactJaccard, exact)
	out.sum(SumToleranceJaccard, tolerance)
	out.sum(SumBestExactJaccard, best)
	out.sum(SumSnappedJaccard, snapped)
	n := float64(len(matches))
	out.quotient(MeanExactJaccard, exact, n, NoTruth)
	out.quotient(MeanToleranceJaccard, tolerance, n, NoTruth)
	out.quotient(MeanBestExactJaccard, best, n, NoTruth)
	out.quotient(MeanSnappedJaccard, snapped, n, NoTruth)
	out.quotient(SpanAccuracyScore, snapped, n, NoTruth)
}

// scoreBoundaries measures how far matched predictions begin and end from their
// truth.
func (s *Scorer) scoreBoundaries(truth *side, pairs []span.Pair, why Reason, out *Scores) {
	var start, end int64
	for _, p := range pairs {
		x, y := truth.spans[p.Truth], s.pred.spans[p.Pred]
		start += int64(y.Start) - int64(x.Start)
		end += int64(y.End) - int64(x.End)
	}
	out.sum(SumBoundaryStart, float64(start))
	out.sum(SumBoundaryEnd, float64(end))
	out.ratio(BoundaryErrorStart, start, int64(len(pairs)), why)
	out.ratio(BoundaryErrorEnd, end, int64(len(pairs)), why)
}

// enterCitations writes the best truth of each predicted span to its citation.
func (s *Scorer) enterCitations(out *Scores) {
	for j, m := range s.cited {
		out.Citations[s.pred.source[j]] = CitationScore{
			Defined: true, BestTruth: int(m.Truth),
			Exact: m.Exact.Float(), Tolerance: m.Tolerance.Float(), Snapped: m.Snapped.Float(),
		}
	}
}

// annotation returns the index in the row's truth of span i of a side.
func (s *Scorer) annotation(r *Row, truth *side, i int32) int32 {
	if truth.source != nil {
		return truth.source[i]
	}
	run := truth.spans[i]
	key := s.names.keys[run.Key]
	for k := range r.Truth {
		t := &r.Truth[k]
		if t.Marked && t.Place.InSets() && t.Place.Doc == key.doc && t.Place.Page == key.page &&
			t.Place.Start < int64(run.End) && t.Place.End > int64(run.Start) {
			return int32(k)
		}
	}
	return -1
}
