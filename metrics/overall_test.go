package metrics

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ibid"
)

// uncite returns the same answer without its citations.
func uncite(r *Row) *Row {
	u := copyRow(r)
	u.Citations, u.Verdicts, u.Pairs = nil, nil, nil
	for i := range u.Claims {
		c := &u.Claims[i]
		if len(c.Citations) > 0 && c.Joint.Value > c.Elsewhere.Value {
			c.Elsewhere = c.Joint // what it cited is now what it could have cited
		}
		c.Citations, c.Joint, c.Contradicted = nil, ibid.Support{}, ibid.No
	}
	return u
}

// citeCorrectly gives a row claims of which each that needs a citation has one
// that supports it, and others may.
func citeCorrectly(rng *rand.Rand, truth bool) *Row {
	r := &Row{Answer: ibid.Answer{HasCitations: true, HasTruth: truth}, HasClaims: true, Judged: true}
	for i := range 1 + rng.IntN(5) {
		c := ibid.Claim{Factual: ibid.Yes, NeedsCitation: ibid.No + ibid.Tri(rng.IntN(2)), Elsewhere: known(rng.Float64())}
		if rng.IntN(5) == 0 {
			c.Factual, c.NeedsCitation = ibid.No, ibid.No
		}
		if c.NeedsCitation == ibid.Yes || rng.IntN(3) == 0 {
			c.Citations = []int32{int32(len(r.Citations))}
			c.Joint = known(0.7 + 0.3*rng.Float64())
			place := at("a", int64(100*i), int64(100*i+50))
			r.Citations = append(r.Citations, ibid.Citation{Place: place})
			r.Verdicts = append(r.Verdicts, CitationVerdict{Support: c.Joint, Relevant: ibid.Yes})
			if truth {
				r.Truth = append(r.Truth, by("", place))
			}
		}
		r.Claims = append(r.Claims, c)
	}
	return r
}

// Whatever the run has and however it is weighed, leaving the citations out of
// an answer that cites correctly does not raise its score.
func TestNotCitingNeverPays(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 12))
	compared := 0
	for range 3000 {
		o := DefaultOptions()
		o.SpanComponent, o.JudgeComponents = rng.IntN(2) == 0, rng.IntN(4) > 0
		o.Human, o.Compat = rng.IntN(2) == 0, rng.IntN(4) == 0
		if rng.IntN(2) == 0 {
			o.Weights = Weights{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
		}
		row := citeCorrectly(rng, o.SpanComponent)
		cited, uncited := score(t, o, row), score(t, o, uncite(row))
		c, okCited := cited.Value(OverallCitationAccuracy)
		u, okUncited := uncited.Value(OverallCitationAccuracy)
		if okUncited && !okCited && cited.Reasons[OverallCitationAccuracy] != ibid.NoClaims {
			t.Fatalf("cited: %v, uncited: %v", cited.Reasons[OverallCitationAccuracy], u)
		}
		if okCited && okUncited {
			compared++
			if u > c+1e-12 {
				t.Fatalf("uncited %v is above cited %v: %+v", u, c, row)
			}
		}
		if needs := cited.Counts[NeedingClaims] > 0 || len(row.Truth) > 0; o.JudgeComponents && needs && !okUncited {
			t.Fatalf("an answer that does not cite what it should has no score: %v", uncited.Reasons[OverallCitationAccuracy])
		}
		for _, m := range []Metric{CitationCompleteness, SupportedCompleteness, FactualConsistency, AbstentionCorrect, ALCERecall, TRECWeightedRecall, DRBEffectiveCitations} {
			if x, y := cited.Values[m], uncited.Values[m]; y > x+1e-12 && cited.Reasons[m] == ibid.Defined && cited.Counts[NeedingClaims] > 0 {
				t.Fatalf("%v: uncited %v is above cited %v", m, y, x)
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d rows had both scores", compared)
	}
}

func TestOverallReasons(t *testing.T) {
	truth := []ibid.Mark{by("", at("a", 0, 10))}
	with := func(r *Row, known bool, truth ...ibid.Mark) *Row {
		r.HasTruth, r.Truth = known, truth
		return r
	}
	opinion := says(0)
	opinion.Factual = ibid.No
	failed := judgedRow([]float64{1}, says(1, 0))
	failed.JudgeFailed = true
	outside := judgedRow([]float64{1}, says(0))
	outside.Citations[0].Place.Status = ibid.StatusDocumentNotFound
	unknown := judgedRow(nil, says(0))
	unknown.HasCitations = false
	tests := []struct {
		name string
		row  *Row
		want float64 // below 0: undefined
		why  ibid.Reason
	}{
		{"perfect", with(judgedRow([]float64{1}, says(1, 0)), true, truth...), 1, ibid.Defined},
		{"nothing cited though truth asks for it", with(judgedRow(nil, says(0)), true, truth...), 0, ibid.Defined},
		{"nothing cited, known elsewhere", with(judgedRow(nil, ibid.Claim{Elsewhere: known(1)}), true, truth...), 0.15, ibid.Defined},
		{"empty answer though truth asks for it", with(judgedRow(nil), true, truth...), 0, ibid.Defined},
		{"nothing to cite", with(judgedRow(nil, opinion), true), -1, ibid.NothingToCite},
		{"nothing to cite, empty answer", with(judgedRow(nil), true), -1, ibid.NothingToCite},
		{"nothing to cite for truth, but for a claim", with(judgedRow(nil, says(0)), true), -1, ibid.NoTruth},
		{"nothing to cite, and cited", with(judgedRow([]float64{1}, says(1, 0)), true), -1, ibid.NoTruth},
		{"truth missing", with(judgedRow([]float64{1}, says(1, 0)), false), -1, ibid.NoTruth},
		{"judge failed", with(failed, true, truth...), -1, ibid.JudgeFailed},
		{"markers only", with(judgedRow([]float64{-1}), true, truth...), 0, ibid.Defined},
		{"a refusal that cites", with(judgedRow([]float64{1}, opinion), true, truth...), 0, ibid.Defined},
		{"an invented document outside of claims", with(outside, true, truth...), 0.3, ibid.Defined},
		{"citations unknown", with(unknown, true, truth...), -1, ibid.NoCitations},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := score(t, judgedOptions(), tt.row)
			if tt.want < 0 {
				wantReason(t, s, tt.why, OverallCitationAccuracy)
			} else {
				wantValue(t, s, OverallCitationAccuracy, tt.want)
			}
		})
	}
}

// The components are those of the run, not of the row.
func TestComponents(t *testing.T) {
	row := judgedRow([]float64{1}, says(0.5, 0))
	row.HasTruth, row.Truth = true, []ibid.Mark{by("", at("a", 0, 10))}
	const judged = "citation_quality_score,answer_consistency_score,hallucination_score"
	tests := []struct {
		name   string
		change func(*Options)
		want   string
		score  float64
		why    ibid.Reason
	}{
		{"neither", func(o *Options) {}, "", 0, ibid.NoJudge},
		{"truth", func(o *Options) { o.SpanComponent = true }, "span_accuracy_score", 1, ibid.Defined},
		{"judge", func(o *Options) { o.JudgeComponents = true }, judged, (0.3 + 0.125) / 0.7, ibid.Defined},
		{"both", func(o *Options) { o.SpanComponent, o.JudgeComponents = true, true }, "span_accuracy_score," + judged, 0.725, ibid.Defined},
		{"no weight", func(o *Options) {
			o.SpanComponent, o.JudgeComponents = true, true
			o.Weights = Weights{Quality: 2}
		}, "citation_quality_score", 1, ibid.Defined},
		{"no weight at all", func(o *Options) { o.SpanComponent, o.Weights = true, Weights{Quality: 1} }, "", 0, ibid.NoJudge},
		{"compat has all", func(o *Options) { o.JudgeComponents, o.Compat = true, true }, "span_accuracy_score," + judged, 0.725 - 0.3*0.5, ibid.Defined},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := DefaultOptions()
			tt.change(&o)
			s := score(t, o, row)
			if got := strings.Join(o.Components(), ","); got != tt.want || s.Reasons[OverallCitationAccuracy] != tt.why {
				t.Errorf("components %q, reason %q", got, s.Reasons[OverallCitationAccuracy])
			}
			if tt.why == ibid.Defined {
				wantValue(t, s, OverallCitationAccuracy, tt.score)
			}
		})
	}
}

// TestAbstention: abstaining is right where truth is known and empty, and wrong where it is not.
// Without a judge it is known of answers that cite something, and of others where claims are.
func TestAbstention(t *testing.T) {
	abstains := judgedRow(nil)
	abstains.Abstains = true
	says, cites := judgedRow(nil, says(0)), judgedRow([]float64{1}, says(1, 0))
	unknown := func(change func(*Row)) *Row {
		r := judgedRow(nil)
		change(r)
		return r
	}
	no := ibid.Defined
	for name, tt := range map[string]struct {
		row              *Row
		abstained        int64 // -1: not known
		right, wrong     float64
		whyRight, whyNot ibid.Reason // where truth is empty, and where it is not
	}{
		"abstains":              {abstains, 1, 1, 1, no, no},
		"claims, cites nothing": {says, 0, 0, 0, no, no},
		"cites":                 {cites, 0, 0, 0, no, no},
		"empty":                 {judgedRow(nil), 0, 1, 0, no, no},
		"citations not known":   {unknown(func(r *Row) { r.HasCitations = false }), -1, 0, 0, ibid.NoCitations, ibid.NoCitations},
		"claims not known":      {unknown(func(r *Row) { r.HasClaims = false }), -1, 0, 0, ibid.NoClaims, ibid.NoClaims},
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []Options{DefaultOptions(), judgedOptions()} {
				for _, truth := range [][]ibid.Mark{nil, {by("", at("a", 0, 10))}, {by("", ibid.Place{Doc: "a", Level: ibid.LevelPages, FirstPage: 2, LastPage: 2})}} {
					tt.row.HasTruth, tt.row.Truth = true, truth
					s := score(t, o, tt.row)
					if n := s.Counts[Abstained]; tt.abstained < 0 == s.Known[Abstained] || s.Known[Abstained] && n != tt.abstained {
						t.Errorf("abstained %d (known: %v), want %d", n, s.Known[Abstained], tt.abstained)
					}
					right, wrong := s.Reasons[AbstentionCorrect], s.Reasons[WrongAbstention]
					if truth == nil && (right != tt.whyRight || s.Values[AbstentionCorrect] != tt.right || wrong != ibid.NothingToCite) {
						t.Errorf("truth is empty: %v %q, %q", s.Values[AbstentionCorrect], right, wrong)
					}
					if truth != nil && (wrong != tt.whyNot || s.Values[WrongAbstention] != tt.wrong || right != ibid.NoTruth) {
						t.Errorf("truth is known: %v %q, %q", s.Values[WrongAbstention], wrong, right)
					}
				}
				tt.row.HasTruth, tt.row.Truth = false, nil
				wantReason(t, score(t, o, tt.row), ibid.NoTruth, AbstentionCorrect, WrongAbstention)
			}
		})
	}
}

// TestAbstained: an answer that abstains has no judged metric; its overall score is 0
// where something is to be cited, and undefined where nothing is.
func TestAbstained(t *testing.T) {
	row := judgedRow(nil)
	row.Abstains, row.HasTruth = true, true
	s := score(t, judgedOptions(), row)
	wantReason(t, s, ibid.Abstained, CitationCompleteness, CitationCorrectness, HallucinationRate, MeanConsistency, CitationQualityScore, ALCERecall)
	wantReason(t, s, ibid.NothingToCite, OverallCitationAccuracy)
	if of := s.RowReasons(); of.Judge != ibid.Abstained {
		t.Errorf("reason of judged metrics %q", of.Judge)
	}
	row.Truth = []ibid.Mark{by("", at("a", 0, 10))}
	o := judgedOptions()
	o.SpanComponent = true
	s = score(t, o, row)
	wantValue(t, s, OverallCitationAccuracy, 0)
	wantReason(t, s, ibid.Abstained, CitationCompleteness, HallucinationRate)
}
