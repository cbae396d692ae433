package annotations

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

var testOptions = Options{
	Level: 0.95, Worst: 2,
	Quality: Quality{Target: 0.85, Recalibrate: 0.8, MinAnnotators: 2},
}

func unit(start, end int64) stats.Unit { return stats.Unit{Start: start, End: end, Category: 1} }

// row finds a statistic of all annotators.
func row(t *testing.T, rows []runs.AgreementRow, statistic string) runs.AgreementRow {
	t.Helper()
	for _, r := range rows {
		if r.Statistic == statistic && r.Annotators == runs.AllAnnotators && r.Slice == "" {
			return r
		}
	}
	t.Fatalf("no %s", statistic)
	return runs.AgreementRow{}
}

// TestRepeatedItems: one question that three systems answered was annotated once.
func TestRepeatedItems(t *testing.T) {
	s := NewSpans(testOptions)
	for range 3 {
		s.Add(&Item{ID: "q", Cluster: "d", Length: 10, Known: true, Marks: []Mark{{Annotator: "a", Units: []stats.Unit{unit(0, 4)}}, {Annotator: "b", Units: []stats.Unit{unit(0, 8)}}}})
	}
	s.Add(&Item{ID: "q", Cluster: "d", Length: 10, Known: true, Marks: []Mark{{Annotator: "a", Units: []stats.Unit{unit(0, 4)}}, {Annotator: "b", Units: nil}}})
	s.Add(&Item{ID: "lone", Cluster: "d", Length: 10, Known: true, Marks: []Mark{{Annotator: "a", Units: []stats.Unit{unit(0, 4)}}}})
	r := row(t, s.Statistics(), "char_jaccard")
	if r.Items != 2 || *r.Estimate != 0.25 {
		t.Errorf("%d items with a Jaccard of %v, want 2 with 0.25", r.Items, *r.Estimate)
	}
	if r.Low == nil || *r.Low > 0.1 || *r.High < 0.5 {
		t.Errorf("two items have the interval [%v, %v]", r.Low, r.High)
	}
	if r := row(t, s.Statistics(), "char_jaccard"); r.Verdict != Undecided || r.Need != nil {
		t.Errorf("one document of two items has the verdict %s, and %v items would decide", r.Verdict, r.Need)
	}
}

// TestPeople: who begins late begins late by as much as the other begins early.
func TestPeople(t *testing.T) {
	s := NewSpans(testOptions)
	for i := range 4 {
		s.Add(&Item{ID: fmt.Sprint(i), Cluster: fmt.Sprint(i), Length: 40, Known: true, Marks: []Mark{{Annotator: "late", Units: []stats.Unit{unit(6, 20)}}, {Annotator: "long", Units: []stats.Unit{unit(3, 25)}}}})
	}
	s.Add(&Item{ID: "none", Cluster: "x", Length: 40, Known: true, Marks: []Mark{{Annotator: "late", Units: nil}, {Annotator: "long", Units: []stats.Unit{unit(1, 2)}}}})
	a := Measure(s, nil)
	late, long := a.Marking[0], a.Marking[1]
	if late.StartShift.Value != 3 || late.EndShift.Value != -5 || long.StartShift.Value != -3 || long.EndShift.Value != 5 {
		t.Errorf("shifts %v and %v", late, long)
	}
	if late.Empty != 1 || long.Empty != 0 || math.Abs(late.LengthRate.Value*long.LengthRate.Value-1) > 1e-12 {
		t.Errorf("late marked nothing in %d items, long in %d; lengths %v and %v", late.Empty, long.Empty, late.LengthRate, long.LengthRate)
	}
	if len(a.Worst) != 2 || a.Worst[0].ID != "none" {
		t.Errorf("worst: %v", a.Worst)
	}
}

// TestOrderOfRepeatedItems: the same marks in another order are the same item.
func TestOrderOfRepeatedItems(t *testing.T) {
	s := NewSpans(testOptions)
	ada, ben := Mark{Annotator: "ada", Units: []stats.Unit{unit(0, 4), unit(6, 8)}}, Mark{Annotator: "ben", Units: []stats.Unit{unit(0, 4)}}
	s.Add(&Item{ID: "q", Cluster: "d", Length: 10, Known: true, Marks: []Mark{ada, ben}})
	turned := Mark{Annotator: "ada", Units: []stats.Unit{unit(6, 8), unit(0, 4)}}
	s.Add(&Item{ID: "q", Cluster: "d", Length: 10, Known: true, Marks: []Mark{ben, turned}})
	if r := row(t, s.Statistics(), "char_jaccard"); r.Items != 1 {
		t.Errorf("%d items, want 1", r.Items)
	}
}

// TestNamesOfPairs: names may have what separates them. Ada agrees with "b|c", and
// "a|b" with nobody.
func TestNamesOfPairs(t *testing.T) {
	s, l := NewSpans(testOptions), NewLabels(testOptions, nil)
	for i := range 4 {
		id := fmt.Sprint(i)
		s.Add(&Item{ID: id, Cluster: id, Length: 90, Known: true, Marks: []Mark{{Annotator: "a", Units: []stats.Unit{unit(0, 4)}}, {Annotator: "b|c", Units: []stats.Unit{unit(0, 4)}}}})
		s.Add(&Item{ID: id, Cluster: id, Length: 90, Known: true, Marks: []Mark{{Annotator: "a|b", Units: []stats.Unit{unit(0, 4)}}, {Annotator: "c", Units: []stats.Unit{unit(6, 9)}}}})
		l.Add(Judged{ID: id, Cluster: id, Ratings: []Rating{{Annotator: "a", Value: "1"}, {Annotator: "b|c", Value: "1"}}})
		l.Add(Judged{ID: "x" + id, Cluster: id, Ratings: []Rating{{Annotator: "a|b", Value: "1"}, {Annotator: "c", Value: "0"}}})
	}
	want := map[string]float64{runs.Pair("a", "b|c"): 1, runs.Pair("a|b", "c"): 0}
	for statistic, rows := range map[string][]runs.AgreementRow{"char_jaccard": s.Statistics(), "percent_agreement": l.Statistics()} {
		got := make(map[string]float64)
		for _, r := range rows {
			if r.Statistic == statistic && r.Annotators != runs.AllAnnotators {
				got[r.Annotators] = *r.Estimate
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", statistic, got, want)
		}
	}
}

// TestAllAgree: documents that all agree are no certainty. Wilson's interval of n
// of n begins at n/(n+z²), above 0.8 from 16 on and above 0.85 from 22 on.
func TestAllAgree(t *testing.T) {
	for documents := 14; documents < 25; documents++ {
		s, l := NewSpans(testOptions), NewLabels(testOptions, nil)
		for i := range documents {
			id := fmt.Sprint(i)
			s.Add(&Item{ID: id, Cluster: id, Length: 90, Known: true, Marks: []Mark{{Annotator: "a", Units: []stats.Unit{unit(0, 4)}}, {Annotator: "b", Units: []stats.Unit{unit(0, 4)}}}})
			l.Add(Judged{ID: id, Cluster: id, Ratings: []Rating{{Annotator: "a", Value: fmt.Sprint(i % 2)}, {Annotator: "b", Value: fmt.Sprint(i % 2)}}})
		}
		rows := append(s.Statistics(), l.Statistics()...)
		z := stats.NormalQuantile(0.95)
		low := float64(documents) / (float64(documents) + z*z)
		for _, statistic := range []string{"char_jaccard", "percent_agreement"} {
			r := row(t, rows, statistic)
			if *r.Estimate != 1 || math.Abs(*r.Low-low) > 1e-12 || *r.High != 1 {
				t.Errorf("%s of %d documents: [%v, %v], %s; want [%v, 1]", statistic, documents, *r.Low, *r.High, r.Verdict, low)
			}
		}
		for statistic, enough := range map[string]int{"char_jaccard": 22, "alpha_nominal": 16} {
			r, reliable := row(t, rows, statistic), documents >= enough
			if *r.Estimate != 1 || (r.Verdict == Reliable) != reliable || (r.Need == nil) != reliable || r.Need != nil && *r.Need != int64(enough) {
				t.Errorf("%s of %d documents: %v, %s", statistic, documents, *r.Estimate, r.Verdict)
			}
		}
	}
}

// TestDocumentsThatTellNothing: agreement rests on documents that somebody marked,
// and on items that two annotators rated, however many others there are.
func TestDocumentsThatTellNothing(t *testing.T) {
	s, l := NewSpans(testOptions), NewLabels(testOptions, nil)
	for i := range 30 {
		id := fmt.Sprint(i)
		marks, ratings := []Mark{{Annotator: "a", Units: nil}, {Annotator: "b", Units: nil}}, []Rating{{Annotator: "a", Value: fmt.Sprint(i % 2)}}
		if i < 2 {
			marks[0].Units, marks[1].Units = []stats.Unit{unit(0, 4)}, []stats.Unit{unit(0, 4)}
			ratings = append(ratings, Rating{Annotator: "b", Value: ratings[0].Value})
		}
		s.Add(&Item{ID: id, Cluster: id, Length: 90, Known: true, Marks: marks})
		l.Add(Judged{ID: id, Cluster: id, Ratings: ratings})
	}
	for statistic, rows := range map[string][]runs.AgreementRow{"char_jaccard": s.Statistics(), "percent_agreement": l.Statistics()} {
		r := row(t, rows, statistic)
		if *r.Estimate != 1 || r.Verdict == Reliable || !slices.Contains(r.Warnings, "rests on about 2 independent units; with fewer than 6 it leans on how alike answers about one document usually are") {
			t.Errorf("%s: %v, %s, %q", statistic, *r.Estimate, r.Verdict, r.Warnings)
		}
	}
	r := row(t, s.Statistics(), "char_jaccard")
	if !slices.Contains(r.Warnings, "nobody marked anything in 28 of the items: these have no value") {
		t.Errorf("char_jaccard: %q", r.Warnings)
	}
}

// TestFewAnnotators: items with fewer annotators than quality control asks for are
// left out, and counted.
func TestFewAnnotators(t *testing.T) {
	o := testOptions
	o.Quality.MinAnnotators = 3
	s, l := NewSpans(o), NewLabels(o, nil)
	add := func(id string, names ...string) {
		it, j := &Item{ID: id, Cluster: id, Length: 90, Known: true}, Judged{ID: id, Cluster: id}
		for _, name := range names {
			it.Marks = append(it.Marks, Mark{Annotator: name, Units: []stats.Unit{unit(0, 4)}})
			j.Ratings = append(j.Ratings, Rating{Annotator: name, Value: "1"})
		}
		s.Add(it)
		l.Add(j)
	}
	add("two", "a", "b")
	if s.Pairable() || l.Pairable() {
		t.Error("two annotators are three")
	}
	add("three", "a", "b", "c")
	a := Measure(s, l)
	for _, statistic := range []string{"char_jaccard", "percent_agreement"} {
		if r := row(t, a.Statistics, statistic); r.Items != 1 {
			t.Errorf("%s: %d items, want 1", statistic, r.Items)
		}
	}
	if want := "1 items have fewer than 3 annotators: left out"; len(a.Warnings) != 2 || a.Warnings[0] != want || a.Warnings[1] != want {
		t.Errorf("warnings %q", a.Warnings)
	}
}

// TestValuesAreNumbers: a number is one value however it is written, and what is
// not finite is none.
func TestValuesAreNumbers(t *testing.T) {
	l := NewLabels(testOptions, []string{"0", "1", "1.0"})
	for i, value := range []string{"1", "1.0", "1e0", "01"} {
		id := fmt.Sprint(i)
		l.Add(Judged{ID: id, Cluster: id, Ratings: []Rating{{Annotator: "a", Value: "1"}, {Annotator: "b", Value: value}}})
	}
	l.Add(Judged{ID: "zero", Cluster: "zero", Ratings: []Rating{{Annotator: "a", Value: "-0"}, {Annotator: "b", Value: "0"}}})
	rows := l.Statistics()
	if r := row(t, rows, "percent_agreement"); *r.Estimate != 1 {
		t.Errorf("percent_agreement %v, want 1", *r.Estimate)
	}
	for _, r := range rows {
		if r.Statistic == "alpha_ordinal" {
			t.Error("two values have an order")
		}
	}
	if _, err := parseNumber("inf"); err == nil {
		t.Error("inf is a number")
	}
}

// TestCrowd: of many annotators, each two are not compared.
func TestCrowd(t *testing.T) {
	s, l := NewSpans(testOptions), NewLabels(testOptions, nil)
	it, j := &Item{ID: "q", Cluster: "d", Length: 9, Known: true}, Judged{ID: "q", Cluster: "d"}
	for i := range 200 {
		name := fmt.Sprint(i)
		it.Marks = append(it.Marks, Mark{Annotator: name, Units: []stats.Unit{unit(0, int64(3+i%2))}})
		j.Ratings = append(j.Ratings, Rating{Annotator: name, Value: fmt.Sprint(i % 2)})
	}
	s.Add(it)
	l.Add(j)
	a := Measure(s, l)
	for _, r := range a.Statistics {
		if r.Annotators != runs.AllAnnotators {
			t.Fatalf("two by two: %s", r.Annotators)
		}
	}
	// Of 200 with 100 on either side, 2*100*99 of 200*199 ordered pairs agree.
	if r := row(t, a.Statistics, "percent_agreement"); math.Abs(*r.Estimate-99.0/199) > 1e-12 {
		t.Errorf("percent_agreement %v", *r.Estimate)
	}
	if p := a.Labelling[1]; p.Name != "1" || p.Agree.Value != 99.0/199 || p.Leaning.Value != 100.0/199 {
		t.Errorf("one of the crowd: %v", p)
	}
	if want := []string{tooManyPairs(), tooManyPairs()}; !slices.Equal(a.Warnings, want) {
		t.Errorf("warnings %q", a.Warnings)
	}
}
