package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ibid"
)

// within checks what is known of a row against one way in which everything that
// was unscored can turn out.
func within(t *testing.T, s, whole *Scores) {
	t.Helper()
	for m := range Metric(numMetrics) {
		v, ok := whole.Value(m)
		if whole.HasBounds[m] {
			t.Fatalf("%v of a whole row has bounds", m)
		}
		switch got, defined := s.Value(m); {
		case m == ConsistencyVariance || m == DRBEffectiveCitations:
			if s.HasBounds[m] {
				t.Fatalf("%v has bounds", m)
			}
		case s.HasBounds[m]:
			if !ok && m != NecessityShared { // of which the denominator is open, too
				t.Fatalf("%v has bounds, but can be %q", m, whole.Reasons[m])
			}
			if ok && !(s.Low[m]-1e-12 <= v && v <= s.High[m]+1e-12) {
				t.Fatalf("%v can be %v, which is outside [%v, %v]", m, v, s.Low[m], s.High[m])
			}
			if defined && !(s.Low[m]-1e-12 <= got && got <= s.High[m]+1e-12) {
				t.Fatalf("%v = %v is outside [%v, %v]", m, got, s.Low[m], s.High[m])
			}
		case s.Reasons[m] != whole.Reasons[m] || math.Abs(got-v) > 1e-12:
			t.Fatalf("%v = %v %q has no bounds, but can be %v %q", m, got, s.Reasons[m], v, whole.Reasons[m])
		}
	}
}

// Whatever the missing verdicts are, the value of the whole row is within the
// bounds; a metric without bounds does not depend on them.
func TestBoundsHoldForEveryCompletion(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	seen := make([]bool, len(Definitions()))
	rows, completions := 0, 0
	for rows < 400 {
		r := randomRow(rng, rng.IntN(3))
		judge(rng, r, 1+rng.IntN(3), 0.15)
		for i := range r.Claims {
			r.Claims[i].Factual = max(r.Claims[i].Factual, ibid.No)
			r.Claims[i].NeedsCitation = max(r.Claims[i].NeedsCitation, ibid.No)
		}
		if rng.IntN(10) == 0 {
			loseVerdicts(r)
		}
		if rng.IntN(4) == 0 {
			r.Truth = nil
		}
		o := judgedOptions()
		o.Necessity, o.Human, o.SpanComponent, o.AsksElsewhere = true, rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0
		s := score(t, o, r)
		whole := copyRow(r)
		whole.JudgeFailed = false
		all := openVerdicts(whole, o.AsksElsewhere)
		total := 1
		for _, x := range all {
			total = min(total*x.ways, 1<<20)
		}
		if total == 1 {
			continue
		}
		rows++
		for m, has := range s.HasBounds {
			seen[m] = seen[m] || has
		}
		sc := NewScorer(o)
		var out Scores
		for n := range min(total, 300) {
			rest := n
			for _, x := range all {
				if total <= 300 {
					x.set(rest % x.ways)
					rest /= x.ways
				} else {
					x.set(rng.IntN(x.ways))
				}
			}
			sc.Score(whole, &out)
			within(t, s, &out)
			completions++
		}
	}
	t.Logf("%d rows, %d completions", rows, completions)
	for m, d := range Definitions()[:numMetrics] {
		judged := d.Judged || d.Group == "overall"
		none := Metric(m) == ConsistencyVariance || Metric(m) == DRBEffectiveCitations || Metric(m) == CitationCoverage
		if want := judged && !none; seen[m] != want {
			t.Errorf("%s: bounds were seen: %v, want %v", d.Name, seen[m], want)
		}
	}
}

// The bounds of the metrics over claims and citations are reached: they are no
// wider than they must be.
func TestBoundsAreReached(t *testing.T) {
	row := judgedRow([]float64{-1, 1}, says(-1, 0), says(1, 1), says(0))
	for i := range row.Verdicts {
		row.Verdicts[i].Relevant = ibid.Yes
	}
	row.Pairs = [][]PairVerdict{make([]PairVerdict, 1), {{Support: known(1), Relevant: ibid.Yes}}, nil}
	o := judgedOptions()
	o.SpanComponent = false
	s := score(t, o, row)
	var low, high [numMetrics]float64
	for i := range low {
		low[i], high[i] = math.Inf(1), math.Inf(-1)
	}
	whole := copyRow(row)
	all := openVerdicts(whole, true)
	total := 1
	for _, x := range all {
		total *= x.ways
	}
	for n := range total {
		for _, x := range all {
			x.set(n % x.ways)
			n /= x.ways
		}
		out := score(t, o, whole)
		for m := range low {
			low[m], high[m] = min(low[m], out.Values[m]), max(high[m], out.Values[m])
		}
	}
	for _, m := range []Metric{
		SupportedCompleteness, CitedClaimPrecision, CitationCorrectness, MeanSupportScore, FactualConsistency, MeanConsistency,
		HallucinationRate, ContradictionRate, OverallCitationAccuracy, ALCERecall, LongCiteRecall, LongCitePrecision, LongCiteF1,
		TRECWeightedPrecision, TRECWeightedRecall, DRBAccuracy,
	} {
		wantBounds(t, s, m, low[m], high[m])
	}
}

// Rows of a system are judged in full; then verdicts get lost. The mean of the
// full rows lies between the means of the bounds.
func TestBoundsBracketTheTruthInASimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for range 20 {
		const rows = 60
		var low, high, truth, naive [numMetrics]float64
		for range rows {
			r := randomRow(rng, 3)
			judge(rng, r, 4, 0)
			for i := range r.Citations {
				r.Citations[i].Place.Status = 0
				r.Claims[0].Citations = append(r.Claims[0].Citations[:0], 0)
			}
			r.Pairs = nil
			whole := score(t, judgedOptions(), r)
			// The judge is at a loss where support is low more often than elsewhere.
			for i := range r.Claims {
				if c := &r.Claims[i]; rng.Float64() < 0.6-0.5*c.Joint.Value {
					c.Joint = ibid.Support{}
				}
			}
			for i := range r.Verdicts {
				if v := &r.Verdicts[i]; rng.Float64() < 0.6-0.5*v.Support.Value {
					v.Support = ibid.Support{}
				}
			}
			s := score(t, judgedOptions(), r)
			for _, m := range simulated {
				v := s.Values[m]
				naive[m] += v
				truth[m] += whole.Values[m]
				if s.HasBounds[m] {
					low[m], high[m] = low[m]+s.Low[m], high[m]+s.High[m]
				} else {
					low[m], high[m] = low[m]+v, high[m]+v
				}
			}
		}
		for _, m := range simulated {
			if !(low[m] <= truth[m]+1e-9 && truth[m] <= high[m]+1e-9) {
				t.Errorf("mean %v = %v is outside [%v, %v]", m, truth[m]/rows, low[m]/rows, high[m]/rows)
			}
		}
		// The scored items alone flatter: the bounds are not there for nothing.
		if naive[MeanSupportScore] <= truth[MeanSupportScore] {
			t.Errorf("support of scored citations = %v, of all = %v", naive[MeanSupportScore]/rows, truth[MeanSupportScore]/rows)
		}
	}
}

var simulated = []Metric{CitationCorrectness, MeanSupportScore, MeanConsistency, CitationQualityScore, AnswerConsistencyScore, TRECWeightedPrecision}

// Coverage says the same as the bounds: an item is open exactly where there
// are any. Of a row without a verdict all claims are open, whether they cite anything or not.
func TestCoverageTerms(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	for range 500 {
		r := randomRow(rng, 2)
		judge(rng, r, 1+rng.IntN(4), 0.2)
		if rng.IntN(4) == 0 {
			loseVerdicts(r)
		}
		o := judgedOptions()
		o.Necessity = true
		s := score(t, o, r)
		for m, d := range Definitions() {
			var items Tally
			for _, of := range d.Items {
				items.Add(of.Tally(float64(s.Counts[of.Count]), s.Known[of.Count], func(o Open) float64 { return float64(s.Open[o]) }))
			}
			if min(items.Scored, items.Unscored, items.NoText) < 0 {
				t.Errorf("%s: items %+v", d.Name, items)
			}
			if len(d.Items) == 0 || d.Group == "dialects" || Metric(m) == OverallCitationAccuracy || Metric(m) == ConsistencyVariance || Metric(m) == CitedClaimPrecision && r.JudgeFailed {
				continue
			}
			if s.HasBounds[m] != (items.Open() > 0) {
				t.Errorf("%s: items %+v, bounds: %v", d.Name, items, s.HasBounds[m])
			}
			if _, ok := s.Value(Metric(m)); ok && items.Scored+float64(s.Open[ElsewhereOutcomes]) == 0 {
				t.Errorf("%s is defined, and nothing of it is scored", d.Name)
			}
		}
	}
}

// Bounds are those of the last row.
func TestBoundsAreForgotten(t *testing.T) {
	sc := NewScorer(judgedOptions())
	var out Scores
	sc.Score(judgedRow([]float64{-1}, says(-1, 0)), &out)
	if !out.HasBounds[CitationCorrectness] {
		t.Fatal("an unscored citation gives no bounds")
	}
	sc.Score(judgedRow([]float64{1}, says(1, 0)), &out)
	if slices.Contains(out.HasBounds[:], true) {
		t.Error("bounds of another row are left")
	}
}

// What no verdict can change is not open.
func TestWhatIsCertainIsNotOpen(t *testing.T) {
	uncited := judgedRow(nil, says(0))
	uncited.JudgeFailed = true
	o := judgedOptions()
	o.SpanComponent, o.Human, o.AsksElsewhere = false, true, false
	s := score(t, o, uncited)
	wantReason(t, s, ibid.JudgeFailed, HallucinationRate, OverallCitationAccuracy, LongCiteRecall)
	wantBounds(t, s, HallucinationRate, 1, 1) // nobody is asked about other passages
	wantBounds(t, s, OverallCitationAccuracy, 0, 0)
	wantReason(t, s, ibid.NoCitations, LongCiteF1)
	if s.HasBounds[LongCiteF1] {
		t.Error("longcite_f1 of an answer without citations has bounds")
	}
	o.Weights.Hallucination = 0
	s = score(t, o, uncited)
	wantReason(t, s, ibid.JudgeFailed, OverallCitationAccuracy) // 0 only if the claim needs a citation
	wantBounds(t, s, OverallCitationAccuracy, 0, 0)

	o = judgedOptions()
	o.Necessity = true
	s = score(t, o, judgedRow([]float64{0.5}, says(1, 0)))
	wantValue(t, s, ALCEPrecision, 1)
	if s.HasBounds[ALCEPrecision] {
		t.Error("the only citation of a supported claim is not known to be needed")
	}
}
