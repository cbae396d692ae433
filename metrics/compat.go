package metrics

import "ibid/metrics/span"

// scoreLiteral replaces the best matches of truth spans by those of
// specification 1.0: of all pairs, over all truth spans, the first with the
// largest tolerance Jaccard stands for the row; without a pair everything is 0.
// The sums weigh it by the truth spans, so that micro values can be pooled.
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
	if pairs && tolerance >= s.opt.GoodMatch {
		good = 1
	}
	out.count(PerfectMatches, perfect)
	out.count(GoodMatches, good)
	n := float64(len(truth.spans))
	out.sum(SumExactJaccard, exact*n)
	out.sum(SumToleranceJaccard, tolerance*n)
	out.quotient(MeanExactJaccard, exact, 1, Defined)
	out.quotient(MeanToleranceJaccard, tolerance, 1, Defined)
	out.quotient(SpanAccuracyScore, tolerance, 1, Defined)
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

// fillComponents gives the components the values that specification 1.0 has for
// missing data: 0 without truth, citations or cited claims, and no
// hallucination without claims.
func (s *Scorer) fillComponents(out *Scores) {
	if out.Reasons[SpanAccuracyScore] == NoTruth {
		out.quotient(SpanAccuracyScore, 0, 1, Defined)
	}
	for _, m := range []Metric{CitationQualityScore, AnswerConsistencyScore} {
		if out.Reasons[m] == NoCitations || out.Reasons[m] == NoClaims {
			out.quotient(m, 0, 1, Defined)
		}
	}
	if out.Reasons[HallucinationRate] == NoClaims {
		out.quotient(HallucinationRate, 0, 1, Defined)
		out.quotient(HallucinationScore, 1, 1, Defined)
	}
}
