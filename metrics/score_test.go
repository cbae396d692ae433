package metrics

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"ibid/metrics/span"
	"ibid/metrics/token"
)

// score scores one row with a fresh scorer.
func score(t testing.TB, o Options, r *Row) *Scores {
	t.Helper()
	s, err := NewScorer(o)
	if err != nil {
		t.Fatal(err)
	}
	var out Scores
	s.Score(r, &out)
	return &out
}

func wantCount(t testing.TB, s *Scores, c Count, want int64) {
	t.Helper()
	if got := s.Counts[c]; got != want || !s.Known[c] {
		t.Errorf("%v = %d (known: %v), want %d", c, got, s.Known[c], want)
	}
}

func wantValue(t testing.TB, s *Scores, m Metric, want float64) {
	t.Helper()
	if got, ok := s.Value(m); !ok || math.Abs(got-want) > 1e-12 {
		t.Errorf("%v = %v %v, want %v", m, got, s.Reasons[m], want)
	}
}

func wantReason(t testing.TB, s *Scores, want Reason, metrics ...Metric) {
	t.Helper()
	for _, m := range metrics {
		if s.Reasons[m] != want || s.Values[m] != 0 {
			t.Errorf("%v = %v, reason %q, want 0, %q", m, s.Values[m], s.Reasons[m], want)
		}
	}
}

// at is a place of characters on page 1.
func at(doc string, start, end int64) span.Place {
	return span.Place{Doc: doc, Status: span.Check(start, end), Start: start, End: end, FirstPage: 1, LastPage: 1}
}

func by(name string, p span.Place) Annotated {
	return Annotated{Annotator: name, Marked: true, Place: p}
}

func cited(places ...span.Place) Row {
	return Row{HasCitations: true, Citations: places, HasTruth: true}
}

func (r Row) against(truth ...Annotated) *Row {
	r.Truth = truth
	return &r
}

func TestUndefined(t *testing.T) {
	truth, citation := by("", at("a", 0, 9)), at("a", 0, 9)
	nobody := Annotated{Annotator: "ann"}
	tests := []struct {
		name string
		row  *Row
		// reasons of char_f1, char_precision, char_recall, mean_exact_jaccard, token_f1, distinct_sources
		want [6]Reason
	}{
		{"nothing known", &Row{}, [6]Reason{NoTruth, NoTruth, NoTruth, NoTruth, NoTruth, NoCitations}},
		{"truth unknown", &Row{HasCitations: true, Citations: []span.Place{citation}}, [6]Reason{NoTruth, NoTruth, NoTruth, NoTruth, NoTruth, Defined}},
		{"citations unknown", &Row{HasTruth: true, Truth: []Annotated{truth}}, [6]Reason{NoCitations, NoCitations, NoCitations, NoCitations, NoCitations, NoCitations}},
		{"both empty", cited().against(), [6]Reason{NothingToCite, NoCitations, NoTruth, NoTruth, NoDocuments, Defined}},
		{"marked nothing", cited().against(nobody), [6]Reason{NothingToCite, NoCitations, NoTruth, NoTruth, NoDocuments, Defined}},
		{"no citation", cited().against(truth), [6]Reason{Defined, NoCitations, Defined, Defined, NoDocuments, Defined}},
		{"no truth span", cited(citation).against(nobody), [6]Reason{Defined, Defined, NoTruth, NoTruth, NoDocuments, Defined}},
		{"unusable citation", cited(at("a", 9, 9)).against(truth), [6]Reason{Defined, NoCitations, Defined, Defined, NoDocuments, Defined}},
		{"both", cited(citation).against(truth), [6]Reason{Defined, Defined, Defined, Defined, NoDocuments, Defined}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := score(t, DefaultOptions(), tt.row)
			for i, m := range []Metric{CharF1, CharPrecision, CharRecall, MeanExactJaccard, TokenF1, DistinctSources} {
				if s.Reasons[m] != tt.want[i] {
					t.Errorf("reason of %v = %q, want %q", m, s.Reasons[m], tt.want[i])
				}
			}
			wantReason(t, s, NoJudge, CitationCompleteness, CitationCorrectness, HallucinationRate, OverallCitationAccuracy, ALCERecall)
			wantReason(t, s, NoClaims, CitationCoverage, AbstentionCorrect, CitationPresence)
		})
	}
}

func TestKnownCounts(t *testing.T) {
	truth, citation := by("", at("a", 0, 9)), at("a", 3, 5)
	truthOnly := score(t, DefaultOptions(), &Row{HasTruth: true, Truth: []Annotated{truth, truth}})
	wantCount(t, truthOnly, TruthChars, 9)
	wantCount(t, truthOnly, TruthSpans, 2)
	wantCount(t, truthOnly, DistinctTruthSpans, 1)
	wantCount(t, truthOnly, TruthPages, 1)
	wantCount(t, truthOnly, TruthDocs, 1)
	predOnly := score(t, DefaultOptions(), &Row{HasCitations: true, Citations: []span.Place{citation, at("b", 0, 4)}})
	wantCount(t, predOnly, PredChars, 6)
	wantCount(t, predOnly, TolerancePredChars, 15+14)
	wantCount(t, predOnly, PredSpans, 2)
	wantCount(t, predOnly, DistinctPredSpans, 2)
	wantCount(t, predOnly, PredPages, 2)
	wantCount(t, predOnly, PredDocs, 2)
	wantCount(t, predOnly, Citations, 2)
	for _, c := range []Count{PredChars, OverlapChars, UnionChars, MatchedSpans, Citations, Claims} {
		if truthOnly.Known[c] {
			t.Errorf("without citations %v is known", c)
		}
	}
	for _, c := range []Count{TruthChars, OverlapChars, UnionChars, MatchedSpans, PerfectMatches, CorrectCitations} {
		if predOnly.Known[c] {
			t.Errorf("without truth %v is known", c)
		}
	}
	if predOnly.SumKnown[SumSnappedJaccard] || predOnly.Citations[0].Defined {
		t.Error("without truth the citations have a Jaccard")
	}
}

func TestStatuses(t *testing.T) {
	var row Row
	row.HasCitations, row.HasTruth = true, true
	for _, status := range span.Statuses() {
		p := at("a", 10*int64(status), 10*int64(status)+5)
		p.Status = status
		row.Citations = append(row.Citations, p)
	}
	s := score(t, DefaultOptions(), &row)
	wantCount(t, s, Citations, 11)
	wantCount(t, s, ValidCitations, 3)
	wantCount(t, s, PredSpans, 8)
	wantCount(t, s, PredChars, 40)
	for i, c := range s.Citations {
		if want := span.Status(i).Usable(); c.Defined != want || c.BestTruth != -1 {
			t.Errorf("citation with status %v: defined %v with best truth %d, want %v, -1", span.Status(i), c.Defined, c.BestTruth, want)
		}
	}
}

func TestPerfectCitationScoresOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		row := Row{HasCitations: true, HasTruth: true}
		for range 1 + rng.IntN(5) {
			start := rng.Int64N(500)
			p := at(strconv.Itoa(rng.IntN(2)), start, start+1+rng.Int64N(60))
			row.Citations = append(row.Citations, p)
			row.Truth = append(row.Truth, by("", p))
		}
		s := score(t, DefaultOptions(), &row)
		for _, m := range []Metric{
			CharPrecision, CharRecall, CharF1, CharJaccard, ExactMatch, AnyOverlap, PageF1, DocF1,
			MeanBestExactJaccard, MeanSnappedJaccard, SpanPrecision, SpanRecall, SpanF1, SpanLengthRatio, SpanAccuracyScore,
		} {
			wantValue(t, s, m, 1)
		}
		for _, m := range []Metric{OverCitation, BoundaryErrorStart, BoundaryErrorEnd} {
			wantValue(t, s, m, 0)
		}
	}
}

func TestMatching(t *testing.T) {
	row := cited(at("a", 102, 205), at("a", 300, 310), at("b", 0, 10)).against(
		by("", at("a", 100, 200)), by("", at("b", 0, 9)), by("", at("b", 0, 9)))
	s := score(t, DefaultOptions(), row)
	wantCount(t, s, MatchedSpans, 2)
	wantCount(t, s, DistinctTruthSpans, 2)
	wantValue(t, s, SpanPrecision, 2.0/3)
	wantValue(t, s, SpanRecall, 1)
	wantValue(t, s, SpanF1, 0.8)
	wantValue(t, s, BoundaryErrorStart, 1) // (2 + 0) / 2
	wantValue(t, s, BoundaryErrorEnd, 3)   // (5 + 1) / 2
	wantValue(t, s, OverCitation, 1.0/3)
	wantValue(t, s, SpanLengthRatio, (123.0/3)/(118.0/3))
	wantValue(t, s, DistinctSources, 2)
	wantValue(t, s, MeanSnappedJaccard, 1) // 9 code points forgive up to 2
	wantCount(t, s, UntouchedPredSpans, 1)
}

func TestCitationScores(t *testing.T) {
	row := cited(at("a", 0, 9), at("a", 100, 200), at("c", 0, 9), at("a", 205, 220)).against(
		by("", at("a", 500, 600)), by("", at("a", 104, 204)), by("", at("a", 104, 204)))
	s := score(t, DefaultOptions(), row)
	want := []CitationScore{
		{Defined: true, BestTruth: -1},
		{Defined: true, BestTruth: 1, Exact: 96.0 / 104, Tolerance: 100.0 / 120, Snapped: 1},
		{Defined: true, BestTruth: -1},
		{Defined: true, BestTruth: 1, Exact: 0, Tolerance: 9.0 / 126, Snapped: 0},
	}
	for i, w := range want {
		if s.Citations[i] != w {
			t.Errorf("citation %d = %+v, want %+v", i, s.Citations[i], w)
		}
	}
}

func TestPages(t *testing.T) {
	pages := func(doc string, first, last int32) span.Place {
		return span.Place{Doc: doc, Level: span.Pages, FirstPage: first, LastPage: last}
	}
	noPage := at("a", 0, 9)
	noPage.FirstPage, noPage.LastPage = 0, 0
	wholeDoc := span.Place{Doc: "a", Level: span.Document}
	tests := []struct {
		name                string
		row                 *Row
		truth, pred, common int64
		why                 Reason // of page_f1
	}{
		{"ranges", cited(pages("a", 2, 5), at("b", 0, 4)).against(by("", pages("a", 4, 9))), 6, 5, 2, Defined},
		{"huge ranges", cited(pages("a", 1, math.MaxInt32)).against(by("", pages("a", 2, math.MaxInt32))), math.MaxInt32 - 1, math.MaxInt32, math.MaxInt32 - 1, Defined},
		{"a whole document is coarser", cited(wholeDoc, pages("a", 1, 1)).against(by("", pages("a", 1, 2))), 2, 1, 1, Defined},
		{"nothing at all", cited().against(), 0, 0, 0, NothingToCite},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := score(t, DefaultOptions(), tt.row)
			wantCount(t, s, TruthPages, tt.truth)
			wantCount(t, s, PredPages, tt.pred)
			wantCount(t, s, OverlapPages, tt.common)
			if s.Reasons[PageF1] != tt.why {
				t.Errorf("reason of page_f1 = %q, want %q", s.Reasons[PageF1], tt.why)
			}
		})
	}
	t.Run("a page is not known", func(t *testing.T) {
		s := score(t, DefaultOptions(), cited(noPage, pages("a", 1, 1)).against(by("", pages("a", 1, 1))))
		wantReason(t, s, NoDocuments, PagePrecision, PageRecall, PageF1)
		if s.Known[PredPages] || s.Known[OverlapPages] {
			t.Error("pages are counted")
		}
		wantValue(t, s, DocF1, 1)
	})
}

func TestDocs(t *testing.T) {
	inverted := at("d", 9, 3)
	nowhere := span.Place{Level: span.Nowhere, Status: span.DocumentNotFound}
	row := cited(at("a", 0, 9), at("a", 20, 29), span.Place{Doc: "b", Level: span.Document}, inverted, nowhere).against(
		by("", at("b", 0, 9)), by("", at("c", 0, 9)))
	s := score(t, DefaultOptions(), row)
	wantCount(t, s, TruthDocs, 2)
	wantCount(t, s, PredDocs, 2)
	wantCount(t, s, OverlapDocs, 1)
	wantValue(t, s, DocF1, 0.5)
	wantValue(t, s, DistinctSources, 3) // the inverted citation names its document
}

// texts is a token source in which every text has tokens of four code points
// with a space behind each.
type texts map[keyName]int

func (x texts) Tokens(doc string, page int32) (*token.Index, bool) {
	n, ok := x[keyName{doc, page}]
	var index token.Index
	for i := range n {
		index.Starts = append(index.Starts, int32(5*i))
		index.Ends = append(index.Ends, int32(5*i+4))
	}
	return &index, ok
}

func TestTokens(t *testing.T) {
	source := texts{{"a", 0}: 20, {"b", 0}: 3}
	with := func(r *Row) *Row {
		r.Tokens = source
		return r
	}
	t.Run("touched tokens", func(t *testing.T) {
		// a: truth touches tokens 0, 1, predictions 1, 1, 2; the two predictions
		// share token 1. b: truth touches token 2, the prediction lies behind the text.
		s := score(t, DefaultOptions(), with(cited(at("a", 6, 7), at("a", 8, 12), at("b", 90, 99)).against(
			by("", at("a", 3, 6)), by("", at("b", 12, 50)))))
		wantCount(t, s, TruthTokens, 3)
		wantCount(t, s, PredTokens, 2)
		wantCount(t, s, OverlapTokens, 1)
		wantValue(t, s, TokenPrecision, 1.0/2)
		wantValue(t, s, TokenRecall, 1.0/3)
		wantValue(t, s, TokenF1, 2.0/5)
		wantValue(t, s, TokenJaccard, 1.0/4)
	})
	t.Run("only space", func(t *testing.T) {
		s := score(t, DefaultOptions(), with(cited(at("a", 4, 5)).against(by("", at("a", 0, 2)))))
		wantReason(t, s, NoCitations, TokenPrecision)
		wantValue(t, s, TokenRecall, 0)
	})
	t.Run("no text of one document", func(t *testing.T) {
		s := score(t, DefaultOptions(), with(cited(at("a", 0, 5), at("z", 0, 5)).against(by("", at("a", 0, 5)))))
		wantReason(t, s, NoDocuments, TokenPrecision, TokenRecall, TokenF1, TokenJaccard)
		if s.Known[PredTokens] || s.Known[TruthTokens] {
			t.Error("tokens are counted")
		}
	})
	t.Run("both empty", func(t *testing.T) {
		s := score(t, DefaultOptions(), with(cited().against()))
		wantReason(t, s, NothingToCite, TokenF1, TokenJaccard)
		wantCount(t, s, PredTokens, 0)
	})
}

func TestCitationDensity(t *testing.T) {
	row := Row{HasCitations: true, Citations: []span.Place{at("a", 0, 6), at("a", 3, 9)}, Answer: "näß…"}
	s := score(t, DefaultOptions(), &row)
	wantCount(t, s, AnswerChars, 4)
	wantCount(t, s, CitedChars, 9)
	wantValue(t, s, CitationDensity, 9.0/4)
	row.Citations = row.Citations[:0]
	wantValue(t, score(t, DefaultOptions(), &row), CitationDensity, 0)
	row.Answer = ""
	wantReason(t, score(t, DefaultOptions(), &row), NoClaims, CitationDensity)
}

// Every micro value of one row is the row's own value: the terms of a
// definition and the formula of the scorer must not drift apart.
func TestTermsGiveTheRowsValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	columns := func(s *Scores) map[string]float64 {
		all := map[string]float64{}
		for c, d := range CountDefinitions() {
			all[d.Name] = float64(s.Counts[c])
		}
		for x, d := range SumDefinitions() {
			all[d.Name] = s.Sums[x]
		}
		return all
	}
	total := func(terms []Term, columns map[string]float64) float64 {
		var sum float64
		for _, x := range terms {
			v, ok := columns[x.Column]
			if !ok {
				t.Fatalf("no column %s", x.Column)
			}
			sum += x.Factor * v
		}
		return sum
	}
	seen := map[string]bool{}
	for range 300 {
		r := randomRow(rng, 3)
		r.Answer, r.Tokens = "some answer", texts{{"a", 0}: 300, {"b", 0}: 300}
		s := score(t, DefaultOptions(), r)
		all := columns(s)
		for m, d := range Definitions() {
			value, ok := s.Value(Metric(m))
			if !ok || len(d.Num) == 0 {
				continue
			}
			seen[d.Name] = true
			if got := total(d.Num, all) / total(d.Den, all); math.Abs(got-value) > 1e-12 {
				t.Errorf("terms of %s give %v, the row's value is %v", d.Name, got, value)
			}
			if value < d.Min || value > d.Max {
				t.Errorf("%s = %v is outside [%v, %v]", d.Name, value, d.Min, d.Max)
			}
		}
	}
	for _, d := range Definitions() {
		if len(d.Num) > 0 && !d.Judged && d.Name != "citation_coverage" && !seen[d.Name] {
			t.Errorf("no row defined %s", d.Name)
		}
	}
}

// randomRow has up to 2k spans a side in two documents.
func randomRow(rng *rand.Rand, k int) *Row {
	row := Row{HasCitations: true, HasTruth: true}
	place := func() span.Place {
		start := rng.Int64N(1000)
		return at([]string{"a", "b"}[rng.IntN(2)], start, start+20+rng.Int64N(200))
	}
	for range k {
		row.Citations = append(row.Citations, place())
		row.Truth = append(row.Truth, by("", place()))
	}
	return &row
}
