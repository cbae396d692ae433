package metrics

import (
	"slices"
	"testing"

	"ibid"
)

// Citing an invented document costs precision and correctness, whatever the
// judge says of it.
func TestInventedDocument(t *testing.T) {
	row := judgedRow([]float64{1}, says(1, 0))
	row.HasTruth, row.Truth = true, []ibid.Mark{by("", at("a", 0, 10))}
	honest := score(t, judgedOptions(), row)
	invented := at("invented", 0, 10)
	invented.Status = ibid.StatusDocumentNotFound
	row.Citations = append(row.Citations, ibid.Citation{Place: invented})
	row.Verdicts = append(row.Verdicts, CitationVerdict{Support: known(1), Relevant: ibid.Yes})
	row.Claims[0].Citations = []int32{0, 1}
	s := score(t, judgedOptions(), row)
	for _, m := range []Metric{
		CharPrecision, DocPrecision, SpanPrecision, CitationCorrectness, CitationRelevance, MeanSupportScore,
		OverallCitationAccuracy, ALCERecall, LongCitePrecision, TRECWeightedPrecision,
	} {
		if s.Values[m] >= honest.Values[m] || s.Reasons[m] != ibid.Defined {
			t.Errorf("%v = %v with an invented document, %v without", m, s.Values[m], honest.Values[m])
		}
	}
	wantCount(t, s, ValidCitations, 1)
	wantCount(t, s, ScoredCitations, 2)
	wantValue(t, s, CitationCorrectness, 0.5)
	wantValue(t, s, SupportedCompleteness, 1)
}

// Citing the whole document finds the truth and is imprecise.
func TestWholeDocument(t *testing.T) {
	exact := cited(at("a", 5000, 5100)).against(by("", at("a", 5000, 5100)))
	whole := cited(at("a", 0, 10000)).against(by("", at("a", 5000, 5100)))
	o := DefaultOptions()
	o.SpanComponent = true
	s := score(t, o, whole)
	wantValue(t, s, CharRecall, 1)
	wantValue(t, s, CharPrecision, 0.01)
	wantValue(t, s, OverallCitationAccuracy, 0.01)
	wantValue(t, score(t, o, exact), OverallCitationAccuracy, 1)
}

// A citation given twice earns nothing twice.
func TestDuplicateCitations(t *testing.T) {
	row := judgedRow([]float64{1, 0}, says(1, 0), says(0, 1))
	row.HasTruth, row.Truth = true, []ibid.Mark{by("", at("a", 0, 10)), by("", at("b", 20, 30))}
	once := score(t, judgedOptions(), row)
	for range 3 {
		row.Citations = append(row.Citations, row.Citations[0])
		row.Verdicts = append(row.Verdicts, row.Verdicts[0])
		row.Claims[0].Citations = append(row.Claims[0].Citations, int32(len(row.Citations)-1))
	}
	s := score(t, judgedOptions(), row)
	for _, m := range []Metric{
		CharPrecision, CharRecall, SpanPrecision, SpanRecall, MeanSnappedJaccard, CitationCompleteness, SupportedCompleteness,
		CitedClaimPrecision, FactualConsistency, MeanConsistency, HallucinationRate, ALCERecall, DRBAccuracy, DRBEffectiveCitations,
	} {
		wantValue(t, s, m, once.Values[m])
	}
	wantCount(t, s, Citations, 5)
	wantCount(t, s, DistinctPredSpans, 2)
}

// An answer of nothing but markers claims nothing: its citations stay unscored.
func TestMarkersOnly(t *testing.T) {
	row := judgedRow([]float64{-1, -1})
	row.Answer.Answer, row.HasTruth, row.Truth = "[1] [2]", true, []ibid.Mark{by("", at("a", 0, 10))}
	s := score(t, judgedOptions(), row)
	wantReason(t, s, ibid.NoClaims, CitationCorrectness, MeanConsistency, HallucinationRate, CitationCompleteness, ALCERecall)
	wantValue(t, s, OverallCitationAccuracy, 0)
	wantBounds(t, s, CitationCorrectness, 0, 1)
	wantValue(t, s, CharRecall, 1)
	wantValue(t, s, CitationPresence, 0)
	wantCount(t, s, Claims, 0)
	wantCount(t, s, ScoredCitations, 0)
}

// An empty answer has no number but those that are meant for it.
func TestEmptyAnswer(t *testing.T) {
	row := judgedRow(nil)
	row.HasTruth, row.Truth = true, []ibid.Mark{by("", at("a", 0, 10))}
	s := score(t, judgedOptions(), row)
	wantValue(t, s, OverallCitationAccuracy, 0)
	wantValue(t, s, WrongAbstention, 0)
	wantValue(t, s, CitationPresence, 0)
	wantValue(t, s, CharRecall, 0)
	wantReason(t, s, ibid.NoCitations, CharPrecision, CitationCorrectness)
	wantReason(t, s, ibid.NoClaims, CitationCompleteness, HallucinationRate, MeanConsistency, CitationCoverage, LongCiteRecall, CitationDensity)
	if slices.Contains(s.HasBounds[:], true) {
		t.Error("an empty answer has bounds")
	}
	row.Truth = nil
	wantReason(t, score(t, judgedOptions(), row), ibid.NothingToCite, OverallCitationAccuracy)
}
