package metrics

import (
	"cmp"

	"ibid/metrics/span"
)

// meanScratch is the memory of policy meanOfAll.
type meanScratch struct {
	part    Scores // one annotator's numbers
	defined [lastSpanMetric + 1]int
	cited   []span.PredMatch
}

// scoreMean scores against every annotator. A metric is the mean over the
// annotators for whom it is defined; counts and sums are added up, so that
// micro values weigh every annotator's truth. A citation's best truth is sought
// among all annotations.
func (s *Scorer) scoreMean(r *Row, out *Scores) {
	mean := &s.mean
	mean.defined = [lastSpanMetric + 1]int{}
	mean.cited = mean.cited[:0]
	for i := range s.annotators {
		mean.part.reset(s.reasons, s.sums)
		s.scorePair(r, &s.annotators[i].side, &mean.part)
		out.addCounts(&mean.part)
		mean.add(out)
		mean.keep(s.cited)
	}
	for m := firstSpanMetric; m <= lastSpanMetric; m++ {
		if n := mean.defined[m]; n > 0 {
			out.quotient(m, out.Values[m], float64(n), Defined)
		}
	}
	if s.opt.Compat {
		out.copyMetric(SpanAccuracyScore, MeanToleranceJaccard)
	} else {
		out.copyMetric(SpanAccuracyScore, MeanSnappedJaccard)
	}
	// The citations are the same for every annotator.
	out.count(CitedChars, mean.part.Counts[CitedChars])
	s.cited = mean.cited
}

// add adds one annotator's values to out. Where nobody's is defined, the reason
// of the last stays.
func (mean *meanScratch) add(out *Scores) {
	for m := firstSpanMetric; m <= lastSpanMetric; m++ {
		if mean.part.Reasons[m] == Defined {
			out.Values[m] += mean.part.Values[m]
			mean.defined[m]++
		} else {
			out.Reasons[m] = mean.part.Reasons[m]
		}
	}
}

// keep keeps the better of two truth spans of each citation.
func (mean *meanScratch) keep(cited []span.PredMatch) {
	if len(mean.cited) == 0 {
		mean.cited = append(mean.cited, cited...)
		return
	}
	for j, m := range cited {
		old := &mean.cited[j]
		d := cmp.Or(m.Snapped.Compare(old.Snapped), m.Exact.Compare(old.Exact))
		if m.Truth >= 0 && (old.Truth < 0 || d > 0 || d == 0 && m.Truth < old.Truth) {
			*old = m
		}
	}
}

// addCounts adds the known counts and sums of part.
func (s *Scores) addCounts(part *Scores) {
	for c, known := range part.Known {
		if known {
			s.count(Count(c), s.Counts[c]+part.Counts[c])
		}
	}
	for x, known := range part.SumKnown {
		if known {
			s.sum(Sum(x), s.Sums[x]+part.Sums[x])
		}
	}
}
