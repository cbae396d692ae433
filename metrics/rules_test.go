package metrics

import (
	"math"
	"math/rand/v2"
	"testing"

	"ibid"
)

// A wanted is what a metric of a row should be: its value, or its reason where value is
// negative, and its bounds, none where both are 0.
type wanted struct {
	value, low, high float64
	why              ibid.Reason
}

func wantMetric(t *testing.T, s *Scores, m Metric, w wanted) {
	t.Helper()
	if w.value < 0 {
		wantReason(t, s, w.why, m)
	} else {
		wantValue(t, s, m, w.value)
	}
	if w.low != 0 || w.high != 0 {
		wantBounds(t, s, m, w.low, w.high)
	} else if s.HasBounds[m] {
		t.Errorf("%v has bounds [%v, %v]", m, s.Low[m], s.High[m])
	}
}

// A claim without the verdict on other passages is unsupported; where that verdict was
// asked for, the rate may be lower.
func TestElsewhereMissing(t *testing.T) {
	claims := func() []ibid.Claim {
		missing := says(0, 1)
		missing.Elsewhere = ibid.Support{}
		found := says(0, 2)
		found.Elsewhere = known(1)
		return []ibid.Claim{says(1, 0), missing, found, says(0, 3)}
	}
	o := judgedOptions()
	o.AsksElsewhere = false
	s := score(t, o, judgedRow([]float64{1, 0, 0, 0}, claims()...))
	wantMetric(t, s, HallucinationRate, wanted{value: .5})
	wantOpen(t, s, "")

	o.AsksElsewhere = true
	s = score(t, o, judgedRow([]float64{1, 0, 0, 0}, claims()...))
	wantMetric(t, s, HallucinationRate, wanted{value: .5, low: .25, high: .5})
	wantMetric(t, s, HallucinationScore, wanted{value: .5, low: .5, high: .75})
	wantMetric(t, s, SupportedCompleteness, wanted{value: .25})
	wantMetric(t, s, FactualConsistency, wanted{value: .25})
	for c, want := range map[Count]int64{HallucinatedClaims: 2, FactualClaims: 4} {
		wantCount(t, s, c, want)
	}
	wantOpen(t, s, "elsewhere_outcomes:1")
	if got := s.Outcomes[1]; got != ibid.Unsupported {
		t.Errorf("outcome %v", got)
	}
}

// A verdict belongs to what is cited: identical citations share it. The row is perfect
// otherwise.
func TestIdenticalCitations(t *testing.T) {
	const none = -1
	open := wanted{value: -1, why: ibid.JudgeFailed, high: 1}
	for _, tt := range []struct {
		name                          string
		support                       []float64
		noClaim                       bool // the first citation backs no text, and is not identical to the second
		correctness, quality, overall wanted
	}{
		{"one", []float64{1}, false, wanted{value: 1}, wanted{value: 1}, wanted{value: 1}},
		{"the second has the verdict", []float64{none, 1}, false, wanted{value: 1}, wanted{value: 1}, wanted{value: 1}},
		{"both have one", []float64{0, 1}, false, wanted{value: .5}, wanted{value: 0}, wanted{value: .7}},
		{"neither has one", []float64{none, none}, false, open, open, wanted{value: -1, why: ibid.JudgeFailed, low: .7, high: 1}},
		{"only one that does not count", []float64{1, none}, true, open, open, wanted{value: -1, why: ibid.JudgeFailed, low: .7, high: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var cited []int32
			for i := range tt.support {
				if i > 0 || !tt.noClaim {
					cited = append(cited, int32(i))
				}
			}
			r := judgedRow(tt.support, says(1, cited...))
			for i := range r.Citations {
				r.Citations[i].Place = at("a", 0, 10)
				if tt.support[i] == none {
					r.Verdicts[i] = CitationVerdict{}
				}
			}
			r.Citations[0].NoClaim = tt.noClaim
			r.HasTruth, r.Truth = true, []ibid.Mark{by("", at("a", 0, 10))}
			s := score(t, judgedOptions(), r)
			wantMetric(t, s, CitationCorrectness, tt.correctness)
			wantMetric(t, s, CitationQualityScore, tt.quality)
			wantMetric(t, s, OverallCitationAccuracy, tt.overall)
		})
	}
}

// What is shared is support, relevance and quote, per claim as well; a verdict of
// another place, another part of the answer or an invalid citation is not.
func TestVerdictIsShared(t *testing.T) {
	row := func() *Row {
		r := judgedRow([]float64{-1, 0.8}, says(1, 0, 1))
		r.Citations[0].Place, r.Citations[1].Place = at("a", 0, 8000), at("a", 0, 8000)
		r.Verdicts[0], r.Verdicts[1].Quoted = CitationVerdict{}, 700
		r.Pairs = [][]PairVerdict{{{}, {Support: known(0.8), Relevant: ibid.Yes}}}
		return r
	}
	s := score(t, judgedOptions(), row())
	wantValue(t, s, MeanSupportScore, 0.8)
	wantMetric(t, s, CitationRelevance, wanted{value: 1})
	wantMetric(t, s, LongCitePrecision, wanted{value: 1})
	wantValue(t, s, CitationQualityScore, 0.35)
	if s.Citations[0].VerdictOf != 1 || s.Citations[1].VerdictOf != 1 {
		t.Errorf("verdicts of %d and %d, want both of 1", s.Citations[0].VerdictOf, s.Citations[1].VerdictOf)
	}
	for name, change := range map[string]func(*Row){
		"place":   func(r *Row) { r.Citations[0].Place.End-- },
		"part":    func(r *Row) { r.Scopes = [][]ibid.Interval{{ibid.Between(0, 5)}, {ibid.Between(5, 9)}} },
		"invalid": func(r *Row) { r.Citations[1].Place.Status = ibid.StatusQuoteMismatch },
	} {
		r := row()
		change(r)
		if s := score(t, judgedOptions(), r); !s.HasBounds[CitationCorrectness] || s.Citations[0].VerdictOf != 0 {
			t.Errorf("another %s shares the verdict", name)
		}
	}
}

// An invalid citation keeps its 0, beside an identical one that is valid.
func TestInvalidKeepsItsVerdict(t *testing.T) {
	r := judgedRow([]float64{-1, 1}, says(1, 0, 1))
	r.Citations[1].Place = r.Citations[0].Place
	r.Citations[0].Place.Status = ibid.StatusQuoteMismatch
	s := score(t, judgedOptions(), r)
	wantMetric(t, s, CitationCorrectness, wanted{value: .5})
	if s.Citations[0].VerdictOf != 0 {
		t.Error("an invalid citation has the verdict on a valid one")
	}
}

// An item stands for its weight: one without a verdict scores as the others do, and
// never more than its own concision.
func TestPartlyScored(t *testing.T) {
	const none = -1
	type item struct {
		concision, support float64 // support none: no verdict
		uncited            bool
	}
	row := func(items []item) *Row {
		var support []float64
		var claims []ibid.Claim
		for _, it := range items {
			if it.uncited {
				claims = append(claims, says(0))
				continue
			}
			claims = append(claims, says(it.support, int32(len(support))))
			support = append(support, it.support)
		}
		r := judgedRow(support, claims...)
		i := 0
		for _, it := range items {
			if !it.uncited {
				r.Citations[i].Place = at(string(rune('a'+i)), 0, int64(math.Round(2000/it.concision)))
				i++
			}
		}
		return r
	}
	for _, tt := range []struct {
		name  string
		of    Metric
		items []item
		want  wanted
	}{
		{"one supports", CitationQualityScore, []item{{1, 1, false}, {.5, none, false}}, wanted{.75, .5, .75, ibid.Defined}},
		{"one of two supports", CitationQualityScore, []item{{1, 0, false}, {1, 1, false}, {.5, none, false}}, wanted{2.5 / 6, 1. / 3, .5, ibid.Defined}},
		{"a short one is open", CitationQualityScore, []item{{.8, 1, false}, {1, none, false}}, wanted{.9, .4, .9, ibid.Defined}},
		{"all scored", CitationQualityScore, []item{{.5, 1, false}, {1, 0, false}}, wanted{value: .25}},
		{"none scored", CitationQualityScore, []item{{.4, none, false}}, wanted{-1, 0, .4, ibid.JudgeFailed}},
		{"claims", AnswerConsistencyScore, []item{{1, 1, false}, {1, 0, true}, {.5, none, false}}, wanted{.5, 1. / 3, .5, ibid.Defined}},
		{"uncited claims alone", AnswerConsistencyScore, []item{{1, 0, true}, {.5, none, false}}, wanted{-1, 0, .25, ibid.JudgeFailed}},
		{"degrees", AnswerConsistencyScore, []item{{1, .6, false}, {.5, 1, false}, {1, none, false}}, wanted{1.1 / 1.5 * 2.5 / 3, 1.1 / 3, .7, ibid.Defined}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantMetric(t, score(t, judgedOptions(), row(tt.items)), tt.of, tt.want)
		})
	}
}

// No value lies outside its bounds, the overall score included.
func TestValuesAreWithinBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for range 3000 {
		r := randomRow(rng, rng.IntN(3))
		judge(rng, r, 1+rng.IntN(4), 0.3)
		for i := range r.Verdicts {
			r.Verdicts[i].Quoted = int64(rng.IntN(4))
		}
		if rng.IntN(2) == 0 { // citations that are too long to be concise
			for i := range r.Citations {
				r.Citations[i].Place.Start *= 40
				r.Citations[i].Place.End *= 40
			}
		}
		o := judgedOptions()
		o.Human, o.AsksElsewhere = rng.IntN(2) == 0, rng.IntN(2) == 0
		s := score(t, o, r)
		for m, has := range s.HasBounds {
			if v, ok := s.Value(Metric(m)); has && ok && !(s.Low[m]-1e-9 <= v && v <= s.High[m]+1e-9) {
				t.Fatalf("%v = %v is outside [%v, %v]", Metric(m), v, s.Low[m], s.High[m])
			}
		}
	}
}
