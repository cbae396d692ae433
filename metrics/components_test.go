package metrics

import (
	"testing"

	"ibid"
)

// farm is a question whose answer makes two claims. Each stands in 100 code points of one
// of two documents of 40,000.
var farm = []ibid.Place{at("a", 8_000, 8_100), at("b", 20_000, 20_100)}

const farmDocument = 40_000

// farmed is the overall score of an answer that cites the given places for its two
// claims. The judge looks whether what is cited contains what it is cited for.
func farmed(t *testing.T, first, second []ibid.Place) *Scores {
	t.Helper()
	r := &Row{Answer: ibid.Answer{HasCitations: true, HasTruth: true}, HasClaims: true, Judged: true}
	for _, p := range farm {
		r.Truth = append(r.Truth, by("", p))
	}
	for k, places := range [][]ibid.Place{first, second} {
		claim := ibid.Claim{Joint: known(0), Elsewhere: known(0)}
		for _, p := range places {
			support := 0.0
			if p.Doc == farm[k].Doc && p.Start <= farm[k].Start+20 && p.End >= farm[k].End-20 || p.Doc == "extra" {
				support = 1
			}
			claim.Joint = known(max(claim.Joint.Value, support))
			claim.Citations = append(claim.Citations, int32(len(r.Citations)))
			r.Citations = append(r.Citations, ibid.Citation{Place: p})
			r.Verdicts = append(r.Verdicts, CitationVerdict{Support: known(support), Relevant: ibid.Yes})
		}
		r.Claims = append(r.Claims, claim)
	}
	return score(t, judgedOptions(), r)
}

func around(p ibid.Place, length int64) ibid.Place {
	start := max(0, (p.Start+p.End-length)/2)
	return at(p.Doc, start, min(start+length, farmDocument))
}

// TestScoreCannotBeBought: what points well is first, and each way to get more without
// pointing better gets less.
func TestScoreCannotBeBought(t *testing.T) {
	all := func(length int64) (places []ibid.Place) {
		for _, doc := range []string{"a", "b"} {
			for start := int64(0); start < farmDocument; start += length {
				places = append(places, at(doc, start, min(start+length, farmDocument)))
			}
		}
		return places
	}
	blurred := func(length int64) [2][]ibid.Place {
		return [2][]ibid.Place{{around(farm[0], length)}, {around(farm[1], length)}}
	}
	value := map[string]float64{}
	for name, cited := range map[string][2][]ibid.Place{
		"honest":              {farm[:1], farm[1:]},
		"both edges off":      {{at("a", 8_010, 8_110)}, {at("b", 19_990, 20_090)}},
		"a good extra":        {{farm[0], at("extra", 5, 105)}, farm[1:]},
		"duplicates":          {{farm[0], farm[0], farm[0]}, {farm[1], farm[1]}},
		"three sentences":     blurred(300),
		"chunks of 1,000":     blurred(1000),
		"chunks of 2,000":     blurred(2000),
		"chunks of 4,000":     blurred(4000),
		"whole documents":     {{at("a", 0, farmDocument)}, {at("b", 0, farmDocument)}},
		"all documents":       {all(farmDocument), all(farmDocument)},
		"everything in 90":    {all(90), all(90)},
		"one of two":          {farm[:1], nil},
		"one of two, doubled": {{farm[0], farm[0]}, nil},
		"wrong places":        {{at("a", 30_000, 30_100)}, {at("b", 100, 200)}},
		"one character":       {{at("a", 8_050, 8_051)}, {at("b", 20_050, 20_051)}},
		"nothing":             {nil, nil},
	} {
		s := farmed(t, cited[0], cited[1])
		v, ok := s.Value(OverallCitationAccuracy)
		if !ok {
			t.Fatalf("%s: %s", name, s.Reasons[OverallCitationAccuracy])
		}
		value[name] = v
		t.Logf("%-20s %.3f  span %.3f quality %.3f consistency %.3f hallucination %.3f", name, v, s.Values[SpanAccuracyScore],
			s.Values[CitationQualityScore], s.Values[AnswerConsistencyScore], s.Values[HallucinationScore])
	}
	for _, name := range []string{"honest", "both edges off", "a good extra", "duplicates"} {
		if value[name] != 1 {
			t.Errorf("%s scores %v, want 1", name, value[name])
		}
	}
	descending := []string{
		"honest", "three sentences", "chunks of 1,000", "chunks of 2,000", "chunks of 4,000", "whole documents", "all documents", "everything in 90", "wrong places",
	}
	for i, name := range descending[1:] {
		if before := descending[i]; value[name] > value[before]+1e-9 || value[name] == value[before] && i == 0 {
			t.Errorf("%s scores %v, %s %v", name, value[name], before, value[before])
		}
	}
	if value["one of two, doubled"] != value["one of two"] {
		t.Errorf("citing one place twice makes %v of %v", value["one of two, doubled"], value["one of two"])
	}
	for _, name := range []string{"wrong places", "nothing"} {
		if value[name] != 0 {
			t.Errorf("%s scores %v", name, value[name])
		}
	}
}

// Worked out by hand: a citation of 8,000 code points whose judge quotes 700 may have
// 2,800 of them; truth of 1,000 in it allows 4,000; a page may be as long as it is.
func TestConcision(t *testing.T) {
	for _, tt := range []struct {
		name     string
		citation ibid.Citation
		quoted   int64
		truth    []ibid.Mark
		want     float64
	}{
		{"as long as allowed", ibid.Citation{Place: at("a", 0, 2000)}, 0, nil, 1},
		{"longer", ibid.Citation{Place: at("a", 0, 8000)}, 0, nil, 0.25},
		{"with a quote", ibid.Citation{Place: at("a", 0, 8000)}, 700, nil, 0.35},
		{"with a short quote", ibid.Citation{Place: at("a", 0, 8000)}, 100, nil, 0.25},
		{"over truth", ibid.Citation{Place: at("a", 0, 8000)}, 700, []ibid.Mark{by("", at("a", 100, 1100))}, 0.5},
		{"over truth of two people", ibid.Citation{Place: at("a", 0, 8000)}, 0, []ibid.Mark{by("ada", at("a", 100, 1100)), by("ben", at("a", 600, 1600))}, 0.75},
		{"beside truth", ibid.Citation{Place: at("a", 0, 8000)}, 0, []ibid.Mark{by("", at("a", 8000, 9000)), by("", at("b", 0, 1000))}, 0.25},
		{"one page", ibid.Citation{Unit: "page", Place: at("a", 0, 8000)}, 0, nil, 1},
		{"four pages", ibid.Citation{Unit: "page", Place: ibid.Place{Doc: "a", Status: ibid.StatusOK, End: 16000, FirstPage: 1, LastPage: 4}}, 0, nil, 0.25},
		{"two blocks", ibid.Citation{Unit: "block", Start: ibid.Some(int64(3)), End: ibid.Some(int64(5)), Place: at("a", 0, 8000)}, 0, nil, 0.5},
		{"a document without a text", ibid.Citation{Place: ibid.Place{Doc: "a", Level: ibid.LevelDocument, Status: ibid.StatusUnchecked}}, 0, nil, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := judgedRow([]float64{1}, says(1, 0))
			r.Citations[0], r.Verdicts[0].Quoted = tt.citation, tt.quoted
			r.HasTruth, r.Truth = true, tt.truth
			s := score(t, judgedOptions(), r)
			if got := s.Citations[0].Concision; got != tt.want {
				t.Errorf("concision %v, want %v", got, tt.want)
			}
			wantValue(t, s, CitationQualityScore, tt.want)
			wantValue(t, s, AnswerConsistencyScore, tt.want)
			wantValue(t, s, CitationCorrectness, 1)
		})
	}
}

// Citing one place twice for one text counts once, for two parts of a claim twice.
func TestRepeats(t *testing.T) {
	r := judgedRow([]float64{1, 0, 0}, says(1, 0, 1, 2))
	r.Citations[2].Place = r.Citations[1].Place
	wantValue(t, score(t, judgedOptions(), r), CitationQualityScore, 0.5)
	part := func(start, end int64) []ibid.Interval { return []ibid.Interval{ibid.Between(start, end)} }
	r.Scopes = [][]ibid.Interval{part(0, 20), part(0, 20), part(0, 20)}
	wantValue(t, score(t, judgedOptions(), r), CitationQualityScore, 0.5)
	r.Scopes[2] = part(20, 30)
	wantValue(t, score(t, judgedOptions(), r), CitationQualityScore, 1.0/3)
}

// A claim may cite as much as one citation may, taken together: the union of what it
// cites counts, once.
func TestClaimConcision(t *testing.T) {
	r := judgedRow([]float64{1, 1, 1}, says(1, 0, 1, 2))
	r.Citations[0].Place, r.Citations[1].Place, r.Citations[2].Place = at("a", 0, 2000), at("a", 1000, 3000), at("b", 0, 1000)
	s := score(t, judgedOptions(), r)
	wantValue(t, s, CitationQualityScore, 1)
	wantValue(t, s, AnswerConsistencyScore, 0.5)
}

// Unscored items bound the components: they are worth at most their concision.
func TestComponentBounds(t *testing.T) {
	r := judgedRow([]float64{1, -1}, says(1, 0), says(-1, 1), says(0))
	r.Citations[1].Place = at("b", 0, 8000)
	s := score(t, judgedOptions(), r)
	wantValue(t, s, CitationQualityScore, 0.625)
	wantBounds(t, s, CitationQualityScore, 0.5, 0.625)
	wantValue(t, s, AnswerConsistencyScore, 1.25/3)
	wantBounds(t, s, AnswerConsistencyScore, 1.0/3, 1.25/3)
}
