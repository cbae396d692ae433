package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"ibid"
)

// score scores one row with a fresh scorer.
func score(t testing.TB, o Options, r *Row) *Scores {
	t.Helper()
	s := NewScorer(o)
	var out Scores
	s.Score(r, &out)
	wantDerived(t, &out)
	return &out
}

// wantDerived compares the derived metrics of a row with what follows from its columns.
func wantDerived(t testing.TB, s *Scores) {
	t.Helper()
	for m, d := range Definitions() {
		if !d.Derived {
			continue
		}
		x, known := []float64{}, true
		for _, name := range d.Columns() {
			if c, ok := CountByName(name); ok {
				x, known = append(x, float64(s.Counts[c])), known && s.Known[c]
			} else if o, ok := OpenByKey(name); ok {
				x = append(x, float64(s.Open[o]))
			} else {
				of := Metric(named(definitions, name))
				x, known = append(x, s.Values[of]), known && s.Reasons[of] == ibid.Defined
			}
		}
		value, ok := 0.0, false
		if known && !(d.Withheld() && s.Reasons[m] == ibid.Unsettled) {
			value, ok = d.Derive(x)
		}
		if got, defined := s.Value(Metric(m)); ok != defined || ok && got != value {
			t.Errorf("%s = %v %v; its columns %v give %v, %v", d.Name, got, s.Reasons[m], x, value, ok)
		}
	}
}

func wantCount(t testing.TB, s *Scores, c Count, want int64) {
	t.Helper()
	if got := s.Counts[c]; got != want || !s.Known[c] {
		t.Errorf("%v = %d (known: %v), want %d", c, got, s.Known[c], want)
	}
}

// wantOpen compares the items without a verdict with those given, in the form "KEY:N …".
func wantOpen(t testing.TB, s *Scores, want string) {
	t.Helper()
	var got []string
	for o, n := range s.Open {
		if n != 0 {
			got = append(got, fmt.Sprintf("%v:%d", Open(o), n))
		}
	}
	if text := strings.Join(got, " "); text != want {
		t.Errorf("open: %s, want %s", text, want)
	}
}

func wantValue(t testing.TB, s *Scores, m Metric, want float64) {
	t.Helper()
	if got, ok := s.Value(m); !ok || math.Abs(got-want) > 1e-12 {
		t.Errorf("%v = %v %v, want %v", m, got, s.Reasons[m], want)
	}
}

func wantReason(t testing.TB, s *Scores, want ibid.Reason, metrics ...Metric) {
	t.Helper()
	for _, m := range metrics {
		if s.Reasons[m] != want || s.Values[m] != 0 {
			t.Errorf("%v = %v, reason %q, want 0, %q", m, s.Values[m], s.Reasons[m], want)
		}
	}
}

// at is a place of characters on page 1.
func at(doc string, start, end int64) ibid.Place {
	return ibid.Place{Doc: doc, Status: ibid.CheckSpan(start, end), Start: start, End: end, FirstPage: 1, LastPage: 1}
}

// cites are citations of these places.
func cites(places ...ibid.Place) []ibid.Citation {
	list := make([]ibid.Citation, len(places))
	for i, p := range places {
		list[i].Place = p
	}
	return list
}

func by(name string, p ibid.Place) ibid.Mark {
	return ibid.Mark{Annotator: name, Place: p}
}

func cited(places ...ibid.Place) Row {
	return Row{Answer: ibid.Answer{HasCitations: true, Citations: cites(places...), HasTruth: true}}
}

func (r Row) against(truth ...ibid.Mark) *Row {
	r.Truth = truth
	return &r
}

func TestUndefined(t *testing.T) {
	truth, citation := by("", at("a", 0, 9)), at("a", 0, 9)
	nobody := ibid.Mark{Annotator: "ann", DocNull: true}
	tests := []struct {
		name string
		row  *Row
		// reasons of char_f1, char_precision, char_recall, mean_exact_jaccard, token_f1
		want [5]ibid.Reason
	}{
		{"nothing known", &Row{}, [5]ibid.Reason{ibid.NoTruth, ibid.NoTruth, ibid.NoTruth, ibid.NoTruth, ibid.NoTruth}},
		{"truth unknown", &Row{Answer: ibid.Answer{HasCitations: true, Citations: cites(citation)}}, [5]ibid.Reason{ibid.NoTruth, ibid.NoTruth, ibid.NoTruth, ibid.NoTruth, ibid.NoTruth}},
		{"citations unknown", &Row{Answer: ibid.Answer{HasTruth: true, Truth: []ibid.Mark{truth}}}, [5]ibid.Reason{ibid.NoCitations, ibid.NoCitations, ibid.NoCitations, ibid.NoCitations, ibid.NoCitations}},
		{"both empty", cited().against(), [5]ibid.Reason{ibid.NothingToCite, ibid.NoCitations, ibid.NoTruth, ibid.NoTruth, ibid.NoDocuments}},
		{"marked nothing", cited().against(nobody), [5]ibid.Reason{ibid.NothingToCite, ibid.NoCitations, ibid.NoTruth, ibid.NoTruth, ibid.NoDocuments}},
		{"no citation", cited().against(truth), [5]ibid.Reason{ibid.Defined, ibid.NoCitations, ibid.Defined, ibid.Defined, ibid.NoDocuments}},
		{"no truth span", cited(citation).against(nobody), [5]ibid.Reason{ibid.Defined, ibid.Defined, ibid.NoTruth, ibid.NoTruth, ibid.NoDocuments}},
		{"unusable citation", cited(at("a", 9, 9)).against(truth), [5]ibid.Reason{ibid.Defined, ibid.NoCitations, ibid.Defined, ibid.Defined, ibid.NoDocuments}},
		{"both", cited(citation).against(truth), [5]ibid.Reason{ibid.Defined, ibid.Defined, ibid.Defined, ibid.Defined, ibid.NoDocuments}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := score(t, DefaultOptions(), tt.row)
			for i, m := range []Metric{CharF1, CharPrecision, CharRecall, MeanExactJaccard, TokenF1} {
				if s.Reasons[m] != tt.want[i] {
					t.Errorf("reason of %v = %q, want %q", m, s.Reasons[m], tt.want[i])
				}
			}
			for m, d := range Definitions() {
				if d.Judged || Metric(m) == OverallCitationAccuracy {
					wantReason(t, s, ibid.NoJudge, Metric(m))
				}
			}
			wantValue(t, s, CitationPresence, 0)
		})
	}
}

func TestKnownCounts(t *testing.T) {
	truth, citation := by("", at("a", 0, 9)), at("a", 3, 5)
	truthOnly := score(t, DefaultOptions(), &Row{Answer: ibid.Answer{HasTruth: true, Truth: []ibid.Mark{truth, truth}}})
	wantCount(t, truthOnly, TruthChars, 9)
	wantCount(t, truthOnly, TruthSpans, 2)
	wantCount(t, truthOnly, DistinctTruthSpans, 1)
	wantCount(t, truthOnly, TruthPages, 1)
	wantCount(t, truthOnly, TruthDocs, 1)
	predOnly := score(t, DefaultOptions(), &Row{Answer: ibid.Answer{HasCitations: true, Citations: cites(citation, at("b", 0, 4))}})
	wantCount(t, predOnly, PredChars, 6)
	wantCount(t, predOnly, PredSpans, 2)
	wantCount(t, predOnly, DistinctPredSpans, 2)
	wantCount(t, predOnly, PredPages, 2)
	wantCount(t, predOnly, PredDocs, 2)
	wantCount(t, predOnly, Citations, 2)
	for _, c := range []Count{PredChars, OverlapChars, MatchedSpans, Citations, Claims} {
		if truthOnly.Known[c] {
			t.Errorf("without citations %v is known", c)
		}
	}
	for _, c := range []Count{TruthChars, OverlapChars, MatchedSpans, PerfectMatches, CorrectCitations} {
		if predOnly.Known[c] {
			t.Errorf("without truth %v is known", c)
		}
	}
	if predOnly.Citations[0].Defined {
		t.Error("without truth the citations have a Jaccard")
	}
}

func TestStatuses(t *testing.T) {
	var row Row
	row.HasCitations, row.HasTruth = true, true
	for _, status := range ibid.Statuses() {
		p := at("a", 10*int64(status), 10*int64(status)+5)
		p.Status = status
		row.Citations = append(row.Citations, ibid.Citation{Place: p})
	}
	s := score(t, DefaultOptions(), &row)
	wantCount(t, s, Citations, 15)
	wantCount(t, s, ValidCitations, 6)
	wantCount(t, s, PredSpans, 12)
	wantCount(t, s, PredChars, 60)
	for i, c := range s.Citations {
		if want := ibid.Status(i).Usable(); c.Defined != want || c.BestTruth != -1 {
			t.Errorf("citation with status %v: defined %v with best truth %d, want %v, -1", ibid.Status(i), c.Defined, c.BestTruth, want)
		}
	}
}

func TestPerfectCitationScoresOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		row := Row{Answer: ibid.Answer{HasCitations: true, HasTruth: true}}
		for range 1 + rng.IntN(5) {
			start := rng.Int64N(500)
			p := at(strconv.Itoa(rng.IntN(2)), start, start+1+rng.Int64N(60))
			row.Citations = append(row.Citations, ibid.Citation{Place: p})
			row.Truth = append(row.Truth, by("", p))
		}
		s := score(t, DefaultOptions(), &row)
		for _, m := range []Metric{
			CharPrecision, CharRecall, CharF1, CharJaccard, ExactMatch, AnyOverlap, PageF1, DocF1,
			MeanSnappedJaccard, SpanPrecision, SpanRecall, SpanF1, SpanAccuracyScore,
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

func TestCitationDensity(t *testing.T) {
	row := Row{Answer: ibid.Answer{HasCitations: true, Citations: cites(at("a", 0, 6), at("a", 3, 9)), Answer: "näß…"}}
	s := score(t, DefaultOptions(), &row)
	wantCount(t, s, AnswerChars, 4)
	wantCount(t, s, CitedChars, 9)
	wantValue(t, s, CitationDensity, 9.0/4)
	row.Citations = row.Citations[:0]
	wantValue(t, score(t, DefaultOptions(), &row), CitationDensity, 0)
	row.Answer.Answer = ""
	wantReason(t, score(t, DefaultOptions(), &row), ibid.NoClaims, CitationDensity)

	// Nobody knows how long a text is that is not there; an invented one has no length.
	row.Answer.Answer = "näß…"
	for status, unknown := range map[ibid.Status]bool{ibid.StatusOK: true, ibid.StatusUnchecked: true, ibid.StatusDocumentNotFound: false, ibid.StatusPageNotFound: false} {
		row.Citations = append(cites(at("a", 0, 6)), ibid.Citation{Place: ibid.Place{Doc: "b", Level: ibid.LevelDocument, Status: status}})
		s := score(t, DefaultOptions(), &row)
		if unknown {
			wantReason(t, s, ibid.NoDocuments, CitationDensity)
		} else {
			wantValue(t, s, CitationDensity, 6.0/4)
		}
		if s.Known[CitedChars] == unknown {
			t.Errorf("%v: cited_chars known: %v", status, !unknown)
		}
	}
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
		for m, d := range Definitions() {
			all[d.Name] = s.Values[m]
		}
		for o, n := range s.Open {
			all[Open(o).String()] = float64(n)
		}
		return all
	}
	total := func(terms []Term, columns map[string]float64) float64 {
		var sum float64
		for _, x := range terms {
			v, ok := columns[x.Column]
			times, counted := columns[x.Times]
			if !ok || !counted && x.Times != "" {
				t.Fatalf("no column %s or %s", x.Column, x.Times)
			}
			if counted {
				v *= times
			}
			sum += x.Factor * v
		}
		return sum
	}
	seen := map[string]bool{}
	for i := range 600 {
		r := randomRow(rng, 3)
		r.Answer.Answer, r.Tokens = "some answer", texts{{"a", 0}: 300, {"b", 0}: 300}
		o := DefaultOptions()
		if i >= 300 {
			o = judgedOptions()
			o.Necessity, o.Human = true, i%2 == 0
			judge(rng, r, 1+rng.IntN(4), 0.3)
		}
		r.Quotations = Quotations{Known: i%3 > 0, All: 4, Faithful: 1, Misattributed: 1, Fabricated: 2}
		s := score(t, o, r)
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
		if len(d.Num) > 0 && !seen[d.Name] {
			t.Errorf("no row defined %s", d.Name)
		}
	}
}

// randomRow has up to 2k spans a side in two documents; citations have quotes.
func randomRow(rng *rand.Rand, k int) *Row {
	row := Row{Answer: ibid.Answer{HasCitations: true, HasTruth: true}}
	place := func() ibid.Place {
		start := rng.Int64N(1000)
		return at([]string{"a", "b"}[rng.IntN(2)], start, start+20+rng.Int64N(200))
	}
	for i := range k {
		p := place()
		row.Citations = append(row.Citations, ibid.Citation{Place: p, Start: ibid.Some(p.Start), End: ibid.Some(p.End), CitedText: "a quote", Held: i%2 == 0})
		row.Truth = append(row.Truth, by("", place()))
	}
	return &row
}
