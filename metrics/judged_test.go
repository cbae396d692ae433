package metrics

import (
	"math"
	"slices"
	"testing"

	"ibid"
)

// Worked out by hand: five claims, of which the last states no fact and the
// fourth needs no citation; four citations, the last of an invented document.
func TestJudgedMetrics(t *testing.T) {
	opinion := says(0)
	opinion.Factual = ibid.No
	plain := says(0)
	plain.NeedsCitation, plain.Elsewhere = ibid.No, known(1)
	against := says(0, 1)
	against.Contradicted = ibid.Yes
	row := judgedRow([]float64{1, 0, 0.7, 1}, says(0.8, 0, 2), against, says(0.75, 3), plain, opinion)
	row.Citations[3].Place.Status = ibid.StatusDocumentNotFound
	row.Verdicts[1].Relevant = ibid.No
	for i, length := range []int64{10, 20, 30, 40, 100} {
		row.Claims[i].Extent = ibid.Between(int64(200*i), int64(200*i)+length)
	}
	row.HasTruth, row.Truth = true, []ibid.Mark{by("", at("a", 0, 10))}
	s := score(t, judgedOptions(), row)

	for c, want := range map[Count]int64{
		Citations: 4, ValidCitations: 3, ScoredCitations: 4, CorrectCitations: 2,
		RelevantCitations: 2, RelevanceCitations: 4,
		Claims: 5, FactualClaims: 4, NeedingClaims: 3, CitedClaims: 3, SupportedClaims: 1, ConsistentClaims: 1,
		ContradictedClaims: 1, HallucinatedClaims: 2, ConsistencyClaims: 3,
	} {
		wantCount(t, s, c, want)
	}
	wantOpen(t, s, "")
	for m, want := range map[Metric]float64{
		CitationCompleteness: 1, SupportedCompleteness: 1.0 / 3, CitedClaimPrecision: 1.0 / 3,
		CitationCorrectness: 0.5, CitationRelevance: 0.5, MeanSupportScore: 1.7 / 4,
		FactualConsistency: 0.25, MeanConsistency: 0.8 / 3, ConsistencyVariance: (0.64 - 0.64/3) / 2,
		HallucinationRate: 0.5, ContradictionRate: 0.25, CitationCoverage: 0.3, WrongAbstention: 0,
		SpanAccuracyScore: 0.5, CitationQualityScore: 0.5, AnswerConsistencyScore: 0.8 / 3, HallucinationScore: 0.5,
		OverallCitationAccuracy: 0.3*0.5 + 0.3*0.5 + 0.25*0.8/3 + 0.15*0.5,
	} {
		wantValue(t, s, m, want)
	}
	want := []ibid.Outcome{ibid.SupportedByCited, ibid.Contradicted, ibid.Unsupported, ibid.SupportedElsewhere, ibid.NotFactual}
	if !slices.Equal(s.Outcomes, want) {
		t.Errorf("outcomes = %v, want %v", s.Outcomes, want)
	}
	if slices.Contains(s.HasBounds[:], true) {
		t.Error("a row without anything unscored has bounds")
	}
}

// Each row is one way to have no value.
func TestJudgedUndefined(t *testing.T) {
	uncited, opinion := says(0), says(0)
	opinion.Factual = ibid.No
	unsure := says(-1, 0)
	textless := judgedRow([]float64{-1}, unsure)
	textless.Citations[0].Place.Status = ibid.StatusUnchecked
	textless.Verdicts[0].NoText = true
	failed := judgedRow([]float64{1}, says(1, 0), uncited)
	failed.JudgeFailed = true
	unasked := judgedRow([]float64{1}, says(1, 0))
	unasked.Judged = false
	unknownClaims := judgedRow([]float64{1})
	unknownClaims.HasClaims = false
	unknownCitations := judgedRow(nil, says(1))
	unknownCitations.HasCitations = false
	tests := []struct {
		name string
		row  *Row
		// citation_completeness, cited_claim_precision, citation_correctness, mean_consistency, hallucination_rate,
		// citation_coverage, longcite_precision, overall
		want [8]ibid.Reason
	}{
		{"all there", judgedRow([]float64{1}, says(1, 0)), [8]ibid.Reason{5: ibid.NoClaims, 7: ibid.NoTruth}},
		{"nothing claimed or cited", judgedRow(nil), [8]ibid.Reason{ibid.NoClaims, ibid.NoClaims, ibid.NoCitations, ibid.NoClaims, ibid.NoClaims, ibid.NoClaims, ibid.NoClaims, ibid.NoTruth}},
		{"markers only", judgedRow([]float64{-1}), [8]ibid.Reason{ibid.NoClaims, ibid.NoClaims, ibid.NoClaims, ibid.NoClaims, ibid.NoClaims, ibid.NoClaims, ibid.NoClaims, ibid.NoTruth}},
		{"nothing to cite", judgedRow(nil, opinion), [8]ibid.Reason{ibid.NothingToCite, ibid.NothingToCite, ibid.NoCitations, ibid.NoCitations, ibid.NoClaims, ibid.NoClaims, ibid.NoCitations, ibid.NoTruth}},
		{"cited without need", judgedRow([]float64{1}, opinion), [8]ibid.Reason{ibid.NoClaims, ibid.NoClaims, ibid.Defined, ibid.NoCitations, ibid.NoClaims, ibid.NoClaims, ibid.NoCitations, ibid.NoTruth}},
		{"not cited", judgedRow(nil, uncited), [8]ibid.Reason{ibid.Defined, ibid.NoCitations, ibid.NoCitations, ibid.NoCitations, ibid.Defined, ibid.NoClaims, ibid.NoCitations, ibid.NoTruth}},
		{"unsure", judgedRow([]float64{-1}, unsure), [8]ibid.Reason{ibid.Defined, ibid.JudgeFailed, ibid.JudgeFailed, ibid.JudgeFailed, ibid.JudgeFailed, ibid.NoClaims, ibid.Defined, ibid.NoTruth}},
		{"no text", textless, [8]ibid.Reason{ibid.Defined, ibid.NoDocuments, ibid.NoDocuments, ibid.NoDocuments, ibid.NoDocuments, ibid.NoClaims, ibid.Defined, ibid.NoTruth}},
		{"judge failed", failed, [8]ibid.Reason{ibid.JudgeFailed, ibid.JudgeFailed, ibid.JudgeFailed, ibid.JudgeFailed, ibid.JudgeFailed, ibid.NoClaims, ibid.JudgeFailed, ibid.NoTruth}},
		{"not asked", unasked, [8]ibid.Reason{ibid.NoJudge, ibid.NoJudge, ibid.NoJudge, ibid.NoJudge, ibid.NoJudge, ibid.NoClaims, ibid.NoJudge, ibid.NoTruth}},
		{"claims unknown", unknownClaims, [8]ibid.Reason{ibid.NoClaims, ibid.NoClaims, ibid.Defined, ibid.NoClaims, ibid.NoClaims, ibid.NoClaims, ibid.NoClaims, ibid.NoTruth}},
		{"citations unknown", unknownCitations, [8]ibid.Reason{ibid.NoCitations, ibid.NoCitations, ibid.NoCitations, ibid.NoCitations, ibid.NoCitations, ibid.NoCitations, ibid.NoCitations, ibid.NoCitations}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := score(t, judgedOptions(), tt.row)
			for i, m := range []Metric{
				CitationCompleteness, CitedClaimPrecision, CitationCorrectness, MeanConsistency, HallucinationRate,
				CitationCoverage, LongCitePrecision, OverallCitationAccuracy,
			} {
				if s.Reasons[m] != tt.want[i] {
					t.Errorf("reason of %v = %q, want %q", m, s.Reasons[m], tt.want[i])
				}
			}
		})
	}
}

// What is unscored is no number: it moves neither counts nor values.
func TestUnscoredIsNoNumber(t *testing.T) {
	row := judgedRow([]float64{1, -1}, says(1, 0), says(-1, 1))
	s := score(t, judgedOptions(), row)
	for _, m := range []Metric{
		SupportedCompleteness, CitedClaimPrecision, CitationCorrectness, MeanSupportScore, FactualConsistency, MeanConsistency,
		CitationQualityScore, AnswerConsistencyScore, HallucinationScore,
	} {
		wantValue(t, s, m, 1)
		wantBounds(t, s, m, 0.5, 1)
	}
	wantValue(t, s, HallucinationRate, 0)
	wantBounds(t, s, HallucinationRate, 0, 0.5)
	wantValue(t, s, CitationCompleteness, 1)
	wantReason(t, s, ibid.JudgeFailed, ConsistencyVariance)
	for _, m := range []Metric{CitationCompleteness, ConsistencyVariance, CitationRelevance, CharF1} {
		if s.HasBounds[m] {
			t.Errorf("%v has bounds", m)
		}
	}
	for c, want := range map[Count]int64{
		ScoredCitations: 1, CorrectCitations: 1, SupportedClaims: 1, ConsistencyClaims: 1,
	} {
		wantCount(t, s, c, want)
	}
	wantOpen(t, s, "unscored_citations:1 unscored_needing:1 unscored_factual:1 unscored_cited:1 unscored_outcomes:1")
}

func wantBounds(t testing.TB, s *Scores, m Metric, low, high float64) {
	t.Helper()
	if !s.HasBounds[m] || math.Abs(s.Low[m]-low) > 1e-12 || math.Abs(s.High[m]-high) > 1e-12 {
		t.Errorf("bounds of %v = [%v, %v] (given: %v), want [%v, %v]", m, s.Low[m], s.High[m], s.HasBounds[m], low, high)
	}
}

// A row without a verdict still says what it cites, and where it must end up.
func TestJudgeFailed(t *testing.T) {
	row := judgedRow([]float64{1, 1}, says(1, 0), says(1, 1), says(0))
	row.Citations[1].Place.Status = ibid.StatusDocumentNotFound
	row.JudgeFailed = true
	s := score(t, judgedOptions(), row)
	wantReason(t, s, ibid.JudgeFailed, CitationCorrectness, MeanConsistency, FactualConsistency)
	wantBounds(t, s, CitationCompleteness, 2.0/3, 2.0/3)
	wantBounds(t, s, CitationCorrectness, 0, 0.5)
	wantBounds(t, s, SupportedCompleteness, 0, 1.0/3)
	wantBounds(t, s, MeanConsistency, 0, 0.5)
	wantBounds(t, s, ContradictionRate, 0, 1.0/3)
	wantBounds(t, s, HallucinationRate, 0, 1)
	for _, c := range []Count{FactualClaims, NeedingClaims, CitedClaims, SupportedClaims, HallucinatedClaims} {
		if s.Known[c] {
			t.Errorf("%v is known", c)
		}
	}
	for c, want := range map[Count]int64{ScoredCitations: 1, Claims: 3} {
		wantCount(t, s, c, want)
	}
	wantOpen(t, s, "unscored_citations:1 unscored_relevance:1 unscored_needing:3 unscored_factual:3 unscored_cited:1 unscored_outcomes:3")
}

// The labels of people count whatever the status of the citation.
func TestHumanLabels(t *testing.T) {
	row := judgedRow([]float64{1}, says(1, 0))
	row.Citations[0].Place.Status = ibid.StatusDocumentNotFound
	o := judgedOptions()
	wantValue(t, score(t, o, row), CitationCorrectness, 0)
	wantValue(t, score(t, o, row), CitationRelevance, 0)
	wantValue(t, score(t, o, row), SupportedCompleteness, 0)
	o.Human = true
	wantValue(t, score(t, o, row), CitationCorrectness, 1)
	wantValue(t, score(t, o, row), CitationRelevance, 1)
	wantValue(t, score(t, o, row), SupportedCompleteness, 1)
	row.Claims[0].Citations = nil // under every judge
	wantValue(t, score(t, o, row), SupportedCompleteness, 0)
}

// A claim that cites only what nobody has is counted by itself: it is open, but not
// unscored, so that coverage does not suffer.
func TestNoText(t *testing.T) {
	row := judgedRow([]float64{-1, 1}, says(-1, 0), says(1, 1))
	row.Citations[0].Place.Status = ibid.StatusUnchecked
	row.Verdicts[0].NoText = true
	s := score(t, judgedOptions(), row)
	wantCount(t, s, ScoredCitations, 1)
	wantOpen(t, s, "no_text_citations:1 no_text_needing:1 no_text_factual:1 no_text_cited:1 no_text_outcomes:1")
	if s.Outcomes[0] != ibid.NoText {
		t.Errorf("outcome %v, want %v", s.Outcomes[0], ibid.NoText)
	}
	wantValue(t, s, SupportedCompleteness, 1)
	wantValue(t, s, HallucinationRate, 0)
}

// Of an answer whose sources nobody has, only what needs no evidence is known, whatever
// is uncited in it.
func TestTextless(t *testing.T) {
	row := judgedRow([]float64{-1}, says(-1, 0), says(0))
	row.Citations[0].Place.Status = ibid.StatusUnchecked
	row.Verdicts[0].NoText, row.Textless = true, true
	s := score(t, judgedOptions(), row)
	wantValue(t, s, CitationCompleteness, 0.5)
	wantReason(t, s, ibid.NoDocuments, SupportedCompleteness, HallucinationRate, HallucinationScore, AnswerConsistencyScore, CitationQualityScore, ALCERecall, LongCitePrecision)
	row.Citations[0].Place.Status = ibid.StatusDocumentNotFound // invented: known to be bad
	row.Verdicts[0], row.Textless = CitationVerdict{}, false
	s = score(t, judgedOptions(), row)
	wantValue(t, s, SupportedCompleteness, 0)
	wantValue(t, s, CitationCorrectness, 0)
	wantValue(t, s, HallucinationRate, 1)
}

// A claim that cites one text that is there was not left out for want of texts.
func TestOneTextOfTwo(t *testing.T) {
	row := judgedRow([]float64{-1, -1}, says(-1, 0, 1))
	row.Citations[1].Place.Status = ibid.StatusUnchecked
	row.Verdicts[1].NoText = true
	wantReason(t, score(t, judgedOptions(), row), ibid.JudgeFailed, SupportedCompleteness, CitationCorrectness, ALCERecall)
	row.Citations[0].Place.Status = ibid.StatusDocumentNotFound
	row.Verdicts[0] = CitationVerdict{}
	s := score(t, judgedOptions(), row)
	wantReason(t, s, ibid.NoDocuments, SupportedCompleteness)
	wantValue(t, s, CitationCorrectness, 0)
	wantBounds(t, s, CitationCorrectness, 0, 0.5)
	row.JudgeFailed = true
	wantReason(t, score(t, judgedOptions(), row), ibid.JudgeFailed, SupportedCompleteness, CitationCorrectness, TRECWeightedPrecision)
}
