package metrics

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ibid"
)

// scoreKind is what a scorer says of some citations of a row.
func scoreKind(o Options, r *Row, part ...int32) *Scores {
	var all, out Scores
	s := NewScorer(o)
	s.Score(r, &all)
	s.ScoreKind(r, &all, part, &out)
	return &out
}

// cutTo is a row with some of its citations alone; others that are identical lend their verdicts.
func cutTo(r *Row, all *Scores, part []int32) *Row {
	out := copyRow(r)
	out.Citations, out.Verdicts, out.Scopes, out.Pairs = nil, nil, nil, nil
	for _, i := range part {
		v := r.Verdicts[i]
		of := r.Verdicts[all.Citations[i].VerdictOf]
		v.Support, v.Relevant, v.Quoted = of.Support, of.Relevant, of.Quoted
		out.Citations, out.Verdicts = append(out.Citations, r.Citations[i]), append(out.Verdicts, v)
	}
	for k := range out.Claims {
		var cites []int32
		for _, i := range r.Claims[k].Citations {
			if at := slices.Index(part, i); at >= 0 {
				cites = append(cites, int32(at))
			}
		}
		out.Claims[k].Citations = cites
	}
	return out
}

// TestScoreKind: some citations of a row count as in a row that has no others; other numbers are not
// known of them. Citations that have no verdict leave no value.
func TestScoreKind(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	seen := make(map[string]int)
	for range 3000 {
		r := randomRow(rng, 2+rng.IntN(12))
		judge(rng, r, 1+rng.IntN(3), []float64{0.1, 0.5}[rng.IntN(2)])
		for i := range r.Citations {
			if c := &r.Citations[i]; i > 0 && rng.IntN(3) == 0 {
				c.Place = r.Citations[rng.IntN(i)].Place
			}
			r.Verdicts[i].NoText = !r.Verdicts[i].Support.Known() && rng.IntN(3) == 0
		}
		r.JudgeFailed = rng.IntN(10) == 0
		o := judgedOptions()
		o.Compat, o.Human, o.MinCoverage = rng.IntN(4) == 0, rng.IntN(4) == 0, []float64{0.5, 0.98}[rng.IntN(2)]
		o.JudgeComponents = rng.IntN(5) > 0
		var part []int32
		for i := range r.Citations {
			if rng.IntN(2) == 0 {
				part = append(part, int32(i))
			}
		}
		if len(part) == 0 {
			continue
		}
		all := score(t, o, r)
		got, want := scoreKind(o, r, part...), score(t, o, cutTo(r, all, part))
		for _, c := range CitationCounts {
			if got.Counts[c] != want.Counts[c] || got.Known[c] != want.Known[c] {
				t.Fatalf("%v of %v is %d %t, want %d %t", c, part, got.Counts[c], got.Known[c], want.Counts[c], want.Known[c])
			}
		}
		for _, open := range CitationOpen {
			if seen[open.String()] += int(got.Open[open]); got.Open[open] != want.Open[open] {
				t.Fatalf("%v of %v is %d, want %d", open, part, got.Open[open], want.Open[open])
			}
		}
		for _, m := range CitationMetrics {
			seen[m.String()+" "+got.Reasons[m].String()]++
			if got.Reasons[m] != want.Reasons[m] || math.Abs(got.Values[m]-want.Values[m]) > 1e-12 || got.HasBounds[m] != want.HasBounds[m] {
				t.Fatalf("%v of %v is %v %q, want %v %q", m, part, got.Values[m], got.Reasons[m], want.Values[m], want.Reasons[m])
			}
			if math.Abs(got.Low[m]-want.Low[m])+math.Abs(got.High[m]-want.High[m]) > 1e-12 && got.HasBounds[m] {
				t.Fatalf("%v of %v is in [%v, %v], want [%v, %v]", m, part, got.Low[m], got.High[m], want.Low[m], want.High[m])
			}
		}
	}
	for _, what := range []string{
		"undecided_citations", "no_text_citations", "unscored_relevance", "citation_correctness ", "citation_correctness undecided", "citation_correctness judge_failed",
		"citation_correctness no_documents", "citation_quality_score ", "mean_support_score no_judge", "fabricated_citation_rate no_documents", "offset_accuracy ",
	} {
		if seen[what] == 0 {
			t.Errorf("no row has %s: %v", what, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// TestScoreKindByHand: of four citations two are of one kind, one is undecided, and one has no verdict.
func TestScoreKindByHand(t *testing.T) {
	r := judgedRow([]float64{1, 0, -1, -1}, says(1, 0, 1, 2, 3))
	r.Verdicts[2].Support = ibid.Undecidable()
	r.Citations[1].Place.Status = ibid.StatusDocumentNotFound
	o := judgedOptions()
	o.MinCoverage = 0.5
	s := scoreKind(o, r, 0, 1)
	wantCount(t, s, Citations, 2)
	wantCount(t, s, ValidCitations, 1)
	wantCount(t, s, MissingCitations, 1)
	wantCount(t, s, CorrectCitations, 1)
	wantValue(t, s, CitationCorrectness, 0.5)
	wantValue(t, s, FabricatedCitationRate, 0.5)
	if s.HasBounds[CitationCorrectness] || s.Bounded {
		t.Errorf("bounds of what is scored: [%v, %v]", s.Low[CitationCorrectness], s.High[CitationCorrectness])
	}
	s = scoreKind(o, r, 0, 2)
	wantValue(t, s, CitationCorrectness, 1)
	if s.Low[CitationCorrectness] != 0.5 || s.High[CitationCorrectness] != 1 {
		t.Errorf("with one undecided: [%v, %v]", s.Low[CitationCorrectness], s.High[CitationCorrectness])
	}
	o.MinCoverage = 0.98
	s = scoreKind(o, r, 0, 2)
	wantReason(t, s, ibid.Unsettled, CitationCorrectness, MeanSupportScore, CitationQualityScore)
	s = scoreKind(o, r, 3)
	wantReason(t, s, ibid.JudgeFailed, CitationCorrectness, MeanSupportScore, CitationQualityScore)
	wantCount(t, s, Citations, 1)
	wantValue(t, s, FabricatedCitationRate, 0)
}
