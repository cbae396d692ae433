package metrics

import (
	"testing"

	"ibid"
)

// What a judge does not say is undefined and says why; it is no 0, and not counted.
func TestNotAsked(t *testing.T) {
	row := judgedRow([]float64{1, 0}, says(1, 0), says(0, 1), says(0))
	for i := range row.Claims {
		row.Claims[i].Contradicted = ibid.Unset
	}
	for i := range row.Verdicts {
		row.Verdicts[i].Relevant = ibid.Unset
	}
	row.Pairs = [][]PairVerdict{{{Support: known(1)}}, {{Support: known(0)}}, nil}
	// That a citation points nowhere is no relevance of the others.
	row.Citations[1].Place.Status = ibid.StatusDocumentNotFound
	s := score(t, judgedOptions(), row)
	for _, m := range []Metric{ContradictionRate, CitationRelevance, LongCitePrecision, LongCiteF1} {
		if v, ok := s.Value(m); ok || s.Reasons[m] != ibid.NotAsked {
			t.Errorf("%s = %v, %q; want it undefined: not_asked", Definitions()[m].Name, v, s.Reasons[m])
		}
	}
	if s.Known[ContradictedClaims] {
		t.Errorf("contradicted_claims = %d, want null", s.Counts[ContradictedClaims])
	}
	wantValue(t, s, CitationCorrectness, 0.5)
	wantValue(t, s, HallucinationRate, 2.0/3)

	// A judge that asks of one claim says nothing of all of them.
	row.Claims[0].Contradicted = ibid.No
	if s := score(t, judgedOptions(), row); s.Reasons[ContradictionRate] != ibid.NotAsked {
		t.Errorf("one claim of three asked about: %q", s.Reasons[ContradictionRate])
	}
}
