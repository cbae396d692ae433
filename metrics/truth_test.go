package metrics

import (
	"testing"

	"ibid"
)

func withPolicy(p string) Options {
	o := DefaultOptions()
	o.TruthPolicy = p
	return o
}

// threeAnnotators marks [0,60), [20,80) and [40,100) of one text, and cites
// [40,60).
func threeAnnotators() *Row {
	return cited(at("a", 40, 60)).against(
		by("carl", at("a", 40, 100)), by("ann", at("a", 0, 60)), by("bea", at("a", 20, 80)))
}

func TestTruthPolicies(t *testing.T) {
	tests := []struct {
		policy     string
		chars      int64
		f1, recall float64
		bestTruth  int
		annotator  string
	}{
		{"best", 60, 40.0 / 80, 20.0 / 60, 1, "ann"}, // all alike: the first name
		{"annotator:bea", 60, 40.0 / 80, 20.0 / 60, 2, "bea"},
		{"union", 100, 40.0 / 120, 20.0 / 100, 0, ""},
		{"majority", 60, 40.0 / 80, 20.0 / 60, 0, ""}, // [20,80)
		{"intersection", 20, 1, 1, 0, ""},
		{"mean", 180, 40.0 / 80, 20.0 / 60, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.policy, func(t *testing.T) {
			s := score(t, withPolicy(tt.policy), threeAnnotators())
			wantCount(t, s, TruthChars, tt.chars)
			wantValue(t, s, CharF1, tt.f1)
			wantValue(t, s, CharRecall, tt.recall)
			wantValue(t, s, SpanAccuracyScore, s.Values[MeanSnappedJaccard])
			if got := s.Citations[0]; !got.Defined || got.BestTruth != tt.bestTruth {
				t.Errorf("best truth = %+v, want %d", got, tt.bestTruth)
			}
			if s.TruthAnnotator != tt.annotator || s.HasTruthAnnotator != (tt.annotator != "") {
				t.Errorf("annotator = %q, %v, want %q", s.TruthAnnotator, s.HasTruthAnnotator, tt.annotator)
			}
		})
	}
}

func TestBestAnnotator(t *testing.T) {
	nothing := ibid.Mark{Annotator: "aaa", DocNull: true}
	tests := []struct {
		name string
		row  *Row
		want string
	}{
		{"highest char_f1", cited(at("a", 0, 10)).against(by("x", at("a", 0, 5)), by("y", at("a", 0, 9))), "y"},
		{"by one code point in 2^31", cited(at("a", 0, ibid.MaxEnd)).against(
			by("x", at("a", 0, ibid.MaxEnd-2)), by("y", at("a", 0, ibid.MaxEnd-1))), "y"},
		{"first name on ties", cited(at("a", 0, 10)).against(by("y", at("a", 0, 5)), by("x", at("a", 5, 10))), "x"},
		{"defined before undefined", cited().against(nothing, by("x", at("a", 0, 5))), "x"},
		{"all undefined", cited().against(ibid.Mark{Annotator: "b", DocNull: true}, nothing), "aaa"},
		{"zero before nothing marked", cited(at("a", 0, 10)).against(nothing, by("x", at("b", 0, 5))), "aaa"},
		{"the unnamed one comes first", cited(at("a", 0, 10)).against(by("x", at("a", 0, 5)), by("", at("a", 0, 5))), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := score(t, withPolicy("best"), tt.row).TruthAnnotator; got != tt.want {
				t.Errorf("annotator = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMissingAnnotator(t *testing.T) {
	s := score(t, withPolicy("annotator:zoe"), threeAnnotators())
	wantReason(t, s, ibid.NoTruth, CharF1, CharPrecision, SpanF1, SpanAccuracyScore)
	if s.Known[TruthChars] || s.HasTruthAnnotator {
		t.Error("the truth of a missing annotator is known")
	}
	wantCount(t, s, PredChars, 20)

	r := cited(at("a", 0, 5)).against(ibid.Mark{Annotator: "zoe", DocNull: true}, by("ann", at("a", 0, 5)))
	s = score(t, withPolicy("annotator:zoe"), r)
	wantValue(t, s, CharPrecision, 0)
	wantCount(t, s, TruthChars, 0)
}

// An annotator who marks a place twice has one vote, and one who marked nothing
// counts among all.
func TestMajorityCountsPeople(t *testing.T) {
	r := cited(at("a", 0, 10)).against(
		by("ann", at("a", 0, 10)), by("ann", at("a", 5, 12)), by("bea", at("a", 5, 10)), ibid.Mark{Annotator: "carl", DocNull: true})
	s := score(t, withPolicy("majority"), r)
	wantCount(t, s, TruthChars, 5)
	wantCount(t, s, TruthSpans, 1)
	wantCount(t, s, TruthPages, 1)
	s = score(t, withPolicy("intersection"), r)
	wantCount(t, s, TruthChars, 0)
	wantCount(t, s, TruthDocs, 0)
	s = score(t, withPolicy("union"), r)
	wantCount(t, s, TruthChars, 12)
	wantCount(t, s, TruthSpans, 1)
}

// More than half of an even number of annotators is one more than half of them.
func TestMajorityOfEvenNumber(t *testing.T) {
	two := cited(at("a", 0, 10)).against(by("ann", at("a", 0, 10)), by("bea", at("a", 5, 15)))
	wantCount(t, score(t, withPolicy("majority"), two), TruthChars, 5)
	four := cited(at("a", 0, 10)).against(
		by("ann", at("a", 0, 10)), by("bea", at("a", 5, 15)), by("carl", at("a", 8, 15)), by("dora", at("b", 0, 10)))
	s := score(t, withPolicy("majority"), four)
	wantCount(t, s, TruthChars, 2) // [8,10) of a; [10,15) has two of four
	wantCount(t, s, TruthDocs, 1)
}

// Documents and pages of the combined truth are those of its spans.
func TestCombinedDocumentsAndPages(t *testing.T) {
	onPages := func(p ibid.Place, first, last int32) ibid.Place {
		p.FirstPage, p.LastPage = first, last
		return p
	}
	apart := cited(onPages(at("a", 0, 10), 1, 1)).against(
		by("ann", onPages(at("a", 0, 10), 1, 1)), by("bea", onPages(at("a", 20, 30), 1, 1)), by("carl", onPages(at("b", 0, 10), 2, 2)))
	for _, policy := range []string{"majority", "intersection"} {
		s := score(t, withPolicy(policy), apart)
		wantCount(t, s, TruthChars, 0)
		wantCount(t, s, TruthDocs, 0)
		wantCount(t, s, TruthPages, 0)
	}
	s := score(t, withPolicy("union"), apart)
	wantCount(t, s, TruthDocs, 2)
	wantCount(t, s, TruthPages, 2)

	// Both touch page 3, but only with marks of which nothing was agreed on there.
	some := cited(onPages(at("a", 0, 10), 1, 1)).against(
		by("ann", onPages(at("a", 0, 10), 1, 1)), by("ann", onPages(at("a", 50, 60), 3, 3)),
		by("bea", onPages(at("a", 5, 15), 1, 1)), by("bea", onPages(at("a", 70, 80), 3, 3)))
	s = score(t, withPolicy("intersection"), some)
	wantCount(t, s, TruthChars, 5)
	wantCount(t, s, TruthPages, 1)
	wantCount(t, s, TruthDocs, 1)

	// A mark of a whole document without offsets can only be agreed with as a document.
	document := ibid.Place{Doc: "a", Level: ibid.LevelDocument, Status: ibid.StatusOK}
	s = score(t, withPolicy("intersection"), cited(at("a", 0, 10)).against(by("ann", document), by("bea", at("a", 0, 10))))
	wantCount(t, s, TruthChars, 0)
	wantCount(t, s, TruthDocs, 1)
}

func TestMeanPolicy(t *testing.T) {
	r := cited(at("a", 0, 10), at("b", 0, 10)).against(
		by("ann", at("a", 0, 10)), ibid.Mark{Annotator: "bea", DocNull: true}, by("carl", at("b", 0, 5)))
	r.Answer.Answer = "answer"
	s := score(t, withPolicy("mean"), r)
	wantValue(t, s, CharPrecision, 15.0/60) // of the counts of all
	wantValue(t, s, CharRecall, 1)
	wantValue(t, s, CharJaccard, 15.0/60)
	wantValue(t, s, ExactMatch, 0)
	wantValue(t, s, AnyOverlap, 1)
	wantValue(t, s, MeanExactJaccard, (1+0.5)/2) // the mean of ann's and carl's; bea has none
	wantValue(t, s, DocRecall, 1)
	wantValue(t, s, CitationDensity, 20.0/6)
	wantCount(t, s, PredChars, 60)
	wantCount(t, s, OverlapChars, 15)
	wantCount(t, s, Citations, 2)
	wantCount(t, s, CitedChars, 20)
	if got := []int{s.Citations[0].BestTruth, s.Citations[1].BestTruth}; got[0] != 0 || got[1] != 2 {
		t.Errorf("best truths = %v, want [0 2]", got)
	}

	r.HasCitations = false
	s = score(t, withPolicy("mean"), r)
	wantCount(t, s, TruthChars, 15)
	wantReason(t, s, ibid.NoCitations, CharF1)
}

// With one annotator every policy that names nobody is the same, and what a
// scorer saw before does not matter.
func TestOneAnnotatorUnderEveryPolicy(t *testing.T) {
	policies := []string{"best", "union", "majority", "intersection", "mean"}
	one := cited(at("a", 0, 10), at("b", 4, 9)).against(by("ann", at("a", 2, 12)), by("ann", at("b", 0, 9)))
	want := score(t, withPolicy("best"), one)
	for _, p := range policies {
		s := NewScorer(withPolicy(p))
		var got Scores
		for range 2 {
			s.Score(threeAnnotators(), &got)
			s.Score(one, &got)
			if got.Counts != want.Counts || got.Known != want.Known {
				t.Errorf("%s: counts %v, want %v", p, got.Counts, want.Counts)
			}
			for m := range want.Values {
				if got.Values[m] != want.Values[m] || got.Reasons[m] != want.Reasons[m] {
					t.Errorf("%s: %v = %v %v, want %v %v", p, Metric(m), got.Values[m], got.Reasons[m], want.Values[m], want.Reasons[m])
				}
			}
			if got.Citations[0] != want.Citations[0] || got.Citations[1] != want.Citations[1] {
				t.Errorf("%s: citations %v, want %v", p, got.Citations, want.Citations)
			}
		}
	}
}
