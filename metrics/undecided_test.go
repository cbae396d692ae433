package metrics

import (
	"math"
	"testing"

	"ibid"
)

// undecidedRow has n claims, each with a citation of its own: the first are supported, the
// last undecided, as many as that.
func undecidedRow(n, undecided int) *Row {
	r := judgedRow(make([]float64, n))
	for i := range n {
		c := says(1, int32(i))
		c.Extent = ibid.Between(int64(10*i), int64(10*i+10))
		r.Verdicts[i] = CitationVerdict{Support: known(1), Relevant: ibid.Yes}
		if i >= n-undecided {
			c.Joint, r.Verdicts[i].Support = ibid.Undecidable(), ibid.Undecidable()
		}
		r.Claims, r.Pairs = append(r.Claims, c), append(r.Pairs, []PairVerdict{{Support: r.Verdicts[i].Support, Relevant: ibid.Yes}})
	}
	return r
}

// TestUndecided: where more than 1 - min_coverage of the items are undecided, a metric has
// bounds and no value. What needs no support keeps its value.
func TestUndecided(t *testing.T) {
	for _, tt := range []struct {
		n, undecided int
		coverage     float64
		withheld     bool
	}{
		{10, 1, 0.98, true}, {10, 1, 0.9, false}, {10, 2, 0.9, true}, {50, 1, 0.98, false}, {50, 2, 0.98, true}, {3, 3, 0.98, true}, {3, 2, 0, false}, {3, 3, 0, true}, {10, 0, 1, false}, {10, 1, 1, true},
	} {
		o := judgedOptions()
		o.MinCoverage, o.SpanComponent = tt.coverage, false
		s := score(t, o, undecidedRow(tt.n, tt.undecided))
		low := float64(tt.n-tt.undecided) / float64(tt.n)
		for m, want := range map[Metric][3]float64{
			CitationCorrectness: {1, low, 1}, MeanSupportScore: {1, low, 1}, SupportedCompleteness: {1, low, 1}, FactualConsistency: {1, low, 1},
			MeanConsistency: {1, low, 1}, HallucinationRate: {0, 0, 1 - low}, HallucinationScore: {1, low, 1}, CitationQualityScore: {1, low, 1},
			AnswerConsistencyScore: {1, low, 1}, ALCERecall: {1, low, 1}, OverallCitationAccuracy: {1, low, 1},
		} {
			v, ok := s.Value(m)
			if ok == tt.withheld || ok && v != want[0] || !ok && s.Reasons[m] != ibid.Unsettled {
				t.Errorf("%d of %d, %v: %v = %v %q", tt.undecided, tt.n, tt.coverage, m, v, s.Reasons[m])
			}
			if s.HasBounds[m] != (tt.undecided > 0) || s.HasBounds[m] && math.Abs(s.Low[m]-want[1])+math.Abs(s.High[m]-want[2]) > 1e-12 {
				t.Errorf("%d of %d: %v is in [%v, %v]", tt.undecided, tt.n, m, s.Low[m], s.High[m])
			}
		}
		for _, m := range []Metric{CitationCompleteness, CitationCoverage} {
			if v, ok := s.Value(m); !ok || v != 1 {
				t.Errorf("%v = %v %q", m, v, s.Reasons[m])
			}
		}
		if n := s.Open[OpenOf(OpenUndecided, NeedingItems)]; n != int64(tt.undecided) {
			t.Errorf("%d undecided of %d", n, tt.undecided)
		}
	}
}
