package metrics

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"ibid"
	"ibid/metrics/span"
)

// The examples of specification 1.0, §7, as ibid reads them and literally.
func TestSpecificationExamples(t *testing.T) {
	onPage := func(doc string, page int32, start, end int64) ibid.Place {
		return ibid.Place{Doc: doc, Page: page, Start: start, End: end, FirstPage: page, LastPage: page}
	}
	pair := func(doc string, page int32, a, b, c, d int64) *Row {
		return cited(onPage(doc, page, c, d)).against(by("", onPage(doc, page, a, b)))
	}
	endToEnd := pair("annual_report.pdf", 5, 1230, 1290, 1234, 1289)
	endToEnd.Answer.Answer = "The company reported $10M in Q1 revenue. [annual_report.pdf:5:1234-1289]"
	endToEnd.HasClaims, endToEnd.Judged = true, true
	endToEnd.Claims = []ibid.Claim{{Extent: ibid.Between(0, 40), Citations: []int32{0}, Joint: known(1), Elsewhere: known(0)}}
	endToEnd.Verdicts = []CitationVerdict{{Support: known(1), Relevant: ibid.Yes}}
	unguided := copyRow(endToEnd)
	unguided.HasTruth = false
	silent := judgedRow(nil)
	silent.HasTruth = true
	unparsable := copyRow(unguided)
	unparsable.Claims[0].Joint, unparsable.Verdicts[0].Support = known(0.5), known(0.5) // as the fallback gives it
	tests := []struct {
		name    string
		row     *Row
		metric  Metric
		want    float64 // below 0: undefined
		literal float64
	}{
		{"perfect match", pair("doc1.pdf", 1, 100, 150, 100, 150), MeanExactJaccard, 1, 1},
		{"perfect match, tolerance widens the union", pair("doc1.pdf", 1, 100, 200, 100, 200), SpanAccuracyScore, 1, 100.0 / 120},
		// The specification expects 50/200, which is no Jaccard of these spans.
		{"partial overlap", pair("doc1.pdf", 1, 100, 200, 150, 250), MeanExactJaccard, 1.0 / 3, 1.0 / 3},
		{"no overlap", pair("doc1.pdf", 1, 100, 150, 200, 250), MeanExactJaccard, 0, 0},
		{"another file", cited(onPage("b", 1, 0, 9)).against(by("", onPage("a", 1, 0, 9))), MeanExactJaccard, 0, 0},
		{"citation validity", endToEnd, CitationCorrectness, 1, 1},
		{"mean support", endToEnd, MeanSupportScore, 1, 1},
		{"end to end, exact", endToEnd, MeanExactJaccard, 55.0 / 60, 55.0 / 60},
		{"end to end, tolerance", endToEnd, MeanToleranceJaccard, 60.0 / 75, 60.0 / 75},
		{"end to end, span component", endToEnd, SpanAccuracyScore, 1, 0.8},
		{"end to end, overall", endToEnd, OverallCitationAccuracy, 1, 0.3*0.8 + 0.7},
		{"end to end, presence", endToEnd, CitationPresence, 1, 1},
		{"no ground truth, span component", unguided, SpanAccuracyScore, -1, 0},
		{"no ground truth, overall", unguided, OverallCitationAccuracy, -1, 0.7},
		{"no claims, hallucination rate", silent, HallucinationRate, -1, 0},
		{"no claims, hallucination score", silent, HallucinationScore, -1, 1},
		{"no claims, overall", silent, OverallCitationAccuracy, -1, 0.15},
		{"an answer that cannot be read", unparsable, OverallCitationAccuracy, -1, 0.25 * 0.5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, compat := range []bool{false, true} {
				o := judgedOptions()
				o.Compat = compat
				want := tt.want
				if compat {
					want = tt.literal
				}
				s := score(t, o, tt.row)
				switch v, ok := s.Value(tt.metric); {
				case ok != (want >= 0):
					t.Errorf("compat %v: %v = %v %q, want %v", compat, tt.metric, v, s.Reasons[tt.metric], want)
				case ok && math.Abs(v-want) > 1e-12:
					t.Errorf("compat %v: %v = %v, want %v", compat, tt.metric, v, want)
				}
			}
		})
	}
	for _, compat := range []bool{false, true} {
		o := judgedOptions()
		o.Compat = compat
		wantCount(t, score(t, o, pair("doc1.pdf", 1, 100, 150, 100, 150)), PerfectMatches, 1)
	}
}

// Under compat one pair of all stands for the row.
func TestCompatTakesOnePair(t *testing.T) {
	row := cited(at("a", 0, 100), at("a", 500, 550)).against(by("", at("a", 0, 100)), by("", at("a", 500, 600)), by("", at("b", 0, 9)))
	o := DefaultOptions()
	o.SpanComponent = true
	s := score(t, o, row)
	wantValue(t, s, MeanExactJaccard, 0.5)
	wantCount(t, s, PerfectMatches, 1)
	wantCount(t, s, GoodMatches, 1)
	o.Compat = true
	s = score(t, o, row)
	wantValue(t, s, MeanExactJaccard, 1)
	wantValue(t, s, MeanToleranceJaccard, 100.0/110) // clamped at 0
	wantValue(t, s, OverallCitationAccuracy, 100.0/110)
	wantValue(t, s, MeanSnappedJaccard, (1+0.5)/3)
	wantCount(t, s, PerfectMatches, 1)
	wantCount(t, s, GoodMatches, 1)
	for _, empty := range []*Row{cited().against(by("", at("a", 0, 9))), cited(at("a", 0, 9)).against(), cited().against()} {
		s = score(t, o, empty)
		wantValue(t, s, MeanExactJaccard, 0)
		wantValue(t, s, MeanToleranceJaccard, 0)
		wantCount(t, s, GoodMatches, 0)
	}
}

// The literal values equal the code of the specification, over sets of single
// characters.
func TestCompatAgainstTheSpecification(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	chars := func(s span.Span, tolerance int64) map[int64]bool {
		all := map[int64]bool{}
		for c := int64(s.Start); c < int64(s.End); c++ {
			for x := max(0, c-tolerance); x <= c+tolerance; x++ {
				all[x] = true
			}
		}
		return all
	}
	jaccard := func(a, b map[int64]bool) float64 {
		both, union := 0, len(b)
		for x := range a {
			if b[x] {
				both++
			} else {
				union++
			}
		}
		return float64(both) / float64(union)
	}
	for range 300 {
		o := DefaultOptions()
		o.Compat, o.Tolerance = true, rng.Int64N(6)
		row := &Row{Answer: ibid.Answer{HasCitations: true, HasTruth: true}}
		place := func() ibid.Place {
			start := rng.Int64N(30)
			return at(strconv.Itoa(rng.IntN(2)), start, start+1+rng.Int64N(20))
		}
		for range 1 + rng.IntN(3) {
			row.Citations = append(row.Citations, cites(place())...)
			row.Truth = append(row.Truth, by("", place()))
		}
		var exact, tolerance float64
		first := true
		for _, x := range row.Truth {
			for _, y := range row.Citations {
				a, b := span.Span{Start: int32(x.Place.Start), End: int32(x.Place.End)}, span.Span{Start: int32(y.Place.Start), End: int32(y.Place.End)}
				var e, w float64
				if x.Place.Doc == y.Place.Doc {
					e, w = jaccard(chars(a, 0), chars(b, 0)), jaccard(chars(a, 0), chars(b, o.Tolerance))
				}
				if first || w > tolerance {
					exact, tolerance, first = e, w, false
				}
			}
		}
		s := score(t, o, row)
		wantValue(t, s, MeanExactJaccard, exact)
		wantValue(t, s, MeanToleranceJaccard, tolerance)
		wantValue(t, s, SpanAccuracyScore, tolerance)
		good := int64(0)
		if tolerance >= GoodMatch {
			good = 1
		}
		wantCount(t, s, GoodMatches, good)
	}
}

// Under policy mean the span component is the mean over annotators as well.
func TestCompatWithSeveralAnnotators(t *testing.T) {
	o := withPolicy("mean")
	o.Compat, o.SpanComponent = true, true
	s := score(t, o, cited(at("a", 100, 200)).against(by("x", at("a", 100, 200)), by("y", at("a", 400, 500))))
	wantValue(t, s, SpanAccuracyScore, 50.0/120)
	wantValue(t, s, OverallCitationAccuracy, 50.0/120)
}
