package annotations

import (
	"fmt"
	"math"
	"testing"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

var testOptions = Options{
	Level: 0.95, Resamples: 400, Seed: 1, Workers: 2, Worst: 2,
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
		s.Add(&Item{ID: "q", Cluster: "d", Length: 10, Known: true, Marks: []Mark{{"a", []stats.Unit{unit(0, 4)}}, {"b", []stats.Unit{unit(0, 8)}}}})
	}
	s.Add(&Item{ID: "q", Cluster: "d", Length: 10, Known: true, Marks: []Mark{{"a", []stats.Unit{unit(0, 4)}}, {"b", nil}}})
	s.Add(&Item{ID: "lone", Cluster: "d", Length: 10, Known: true, Marks: []Mark{{"a", []stats.Unit{unit(0, 4)}}}})
	r := row(t, s.Statistics(), "char_jaccard")
	if r.Items != 2 || *r.Estimate != 0.25 {
		t.Errorf("%d items with a Jaccard of %v, want 2 with 0.25", r.Items, *r.Estimate)
	}
	if r.Low != nil || r.Verdict != NoVerdict {
		t.Errorf("one document has the interval [%v, %v] and the verdict %s", r.Low, r.High, r.Verdict)
	}
}

// TestPeople: who begins late begins late by as much as the other begins early.
func TestPeople(t *testing.T) {
	s := NewSpans(testOptions)
	for i := range 4 {
		s.Add(&Item{ID: fmt.Sprint(i), Cluster: fmt.Sprint(i), Length: 40, Known: true, Marks: []Mark{{"late", []stats.Unit{unit(6, 20)}}, {"long", []stats.Unit{unit(3, 25)}}}})
	}
	s.Add(&Item{ID: "none", Cluster: "x", Length: 40, Known: true, Marks: []Mark{{"late", nil}, {"long", []stats.Unit{unit(1, 2)}}}})
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

// TestManyDocuments: a collection too large to resample document by document has
// the same values, and about the same interval as if it were small.
func TestManyDocuments(t *testing.T) {
	width := make(map[bool]float64)
	for _, n := range []int{maxClusters, 4 * maxClusters} {
		l := NewLabels(testOptions, []string{"0", "1"})
		draw := stats.NewStream(7)
		agree := 0
		for i := range n {
			a, b := "1", "1"
			if draw.IntN(4) == 0 {
				b = "0"
			} else {
				agree++
			}
			l.Add(Judged{ID: fmt.Sprint(i), Row: -1, Cluster: fmt.Sprint(i), Ratings: []Rating{{"x", a}, {"y", b}}})
		}
		r := row(t, l.Statistics(), "percent_agreement")
		if want := float64(agree) / float64(n); math.Abs(*r.Estimate-want) > 1e-12 || r.Documents != int64(n) {
			t.Errorf("%d documents: %v, want %v", r.Documents, *r.Estimate, want)
		}
		width[n > maxClusters] = (*r.High - *r.Low) * math.Sqrt(float64(n))
	}
	if ratio := width[true] / width[false]; ratio < 0.85 || ratio > 1.15 {
		t.Errorf("pooled documents have an interval %.2f times as wide as they should", ratio)
	}
}

// TestJoin: a judge's scores become what people could have said.
func TestJoin(t *testing.T) {
	l := NewLabels(testOptions, nil)
	l.Add(Judged{ID: "1", Kind: "support", Cluster: "a", Ratings: []Rating{{"ada", "0.5"}}})
	l.Add(Judged{ID: "2", Kind: "support", Cluster: "b", Ratings: []Rating{{"ada", "1"}}})
	l.Add(Judged{ID: "3", Kind: "relevant", Cluster: "a", Ratings: []Rating{{"ada", "1"}}})
	l.Add(Judged{ID: "4", Kind: "relevant", Cluster: "b", Ratings: []Rating{{"ada", "0"}}})
	l.Join("judge", 0.7, func(it *Judged) (float64, bool) {
		return map[string]float64{"1": 0.7, "2": 0.8, "3": 0.69}[it.ID], it.ID != "4"
	})
	for i, want := range []string{"0.5", "1", "0"} {
		if got := l.items[i].Ratings[1]; got != (Rating{"judge", want}) {
			t.Errorf("item %d: %v, want %s", i+1, got, want)
		}
	}
	if len(l.items[3].Ratings) != 1 {
		t.Error("the judge said something of item 4")
	}
}

// TestWithJudge: the judge agrees with each person for itself, and the agreement
// of all people is not touched by it.
func TestWithJudge(t *testing.T) {
	labels := NewLabels(testOptions, []string{"0", "1"})
	scores := []float64{0.9, 0.2, 0.8, 0.1}
	for i, said := range [][2]string{{"1", "1"}, {"0", "1"}, {"0", "0"}, {"0", "0"}} {
		key := VerdictKey{ID: fmt.Sprint(i), Kind: "support"}
		labels.Add(Judged{ID: key.ID, Verdict: key, Kind: "support", Cluster: key.ID, Ratings: []Rating{{"ada", said[0]}, {"ben", said[1]}}})
		if !labels.Questions()[key] {
			t.Errorf("%v is no question that people answered", key)
		}
	}
	before := labels.Statistics()
	got := make(map[string]float64)
	for _, r := range labels.WithJudge("bot", 0.7, func(it *Judged) (float64, bool) {
		return scores[it.ID[0]-'0'], it.ID != "3"
	}) {
		if r.Statistic == "percent_agreement" {
			got[r.Annotators] = *r.Estimate
			if r.Items != 3 {
				t.Errorf("%s rests on %d items, the judge answered 3", r.Annotators, r.Items)
			}
		}
	}
	if len(got) != 2 || math.Abs(got["ada|judge:bot"]-2.0/3) > 1e-12 || math.Abs(got["ben|judge:bot"]-1.0/3) > 1e-12 {
		t.Errorf("agreement with the judge = %v", got)
	}
	for _, r := range before {
		if r.Annotators == runs.AllAnnotators && r.Statistic == "percent_agreement" && *r.Estimate != 0.75 {
			t.Errorf("people agree in %v", *r.Estimate)
		}
	}
}
