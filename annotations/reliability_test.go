package annotations

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// TestRule: the verdict is where the interval lies, and the items that would decide are the
// fewest after which it leaves the target out.
func TestRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	count := make(map[string]int)
	for range 2000 {
		e := stats.Estimate{Value: 0.5 + rng.Float64()/2, HasInterval: true, Level: 0.95, Clusters: 40}
		e.Low, e.High = e.Value-rng.Float64()/5, e.Value+rng.Float64()*(1-e.Value)
		items := 40 + rng.Int64N(500)
		r := rule(&e, items, 40, ReliableTarget)
		count[r.verdict]++
		switch {
		case e.Low >= ReliableTarget != (r.verdict == Reliable), e.High < ReliableTarget != (r.verdict == Unreliable):
			t.Fatalf("%+v: %s", e, r.verdict)
		case r.need != nil && (r.verdict != Undecided || *r.need > 10*items):
			t.Fatalf("%+v: %s, %v", e, r.verdict, r.need)
		case r.need == nil:
			continue
		}
		leaves := func(n int64) bool {
			shrunk := math.Sqrt(float64(items) / float64(n))
			low, high := e.Value-(e.Value-e.Low)*shrunk, e.Value+(e.High-e.Value)*shrunk
			return e.Value > ReliableTarget && low >= ReliableTarget || e.Value < ReliableTarget && high <= ReliableTarget
		}
		if !leaves(*r.need+1) || leaves(*r.need-1) && *r.need > items+1 {
			t.Fatalf("%+v of %d items: %d would decide", e, items, *r.need)
		}
	}
	for _, verdict := range []string{Reliable, Unreliable, Undecided} {
		if count[verdict] < 100 {
			t.Errorf("%s %d times", verdict, count[verdict])
		}
	}
}

// TestRuleWhereAllAgree: the documents that are enough are those from which Wilson's upper
// bound of none among them is at most 0.2.
func TestRuleWhereAllAgree(t *testing.T) {
	e := stats.Estimate{Value: 1, Low: 1, High: 1, HasInterval: true, Degenerate: true, Level: 0.95, Clusters: 40}
	for documents := int64(6); documents < 40; documents++ {
		r := rule(&e, 3*documents, documents, ReliableTarget)
		bound := stats.Wilson(0, float64(documents), 0.95).High
		if want := bound <= 1-ReliableTarget; want != (r.verdict == Reliable) || !want && *r.need != 47 {
			t.Errorf("%d documents, at most %.3f of them: %s, %v", documents, bound, r.verdict, r.need)
		}
	}
}

// TestDecides: each kind of data has one verdict, on the statistic that decides about it.
func TestDecides(t *testing.T) {
	for _, tt := range []struct {
		name, deciding, verdict string
		said                    func(i int) [2]string // values of two people
		codeBook                []string
	}{
		{"yes or no", "alpha_nominal", Reliable, func(i int) [2]string { return [2]string{fmt.Sprint(i % 2), fmt.Sprint(i % 2)} }, nil},
		{"degrees", "alpha_ordinal", Reliable, func(i int) [2]string { v := fmt.Sprint(i%3) + ".5"; return [2]string{v, v} }, nil},
		{"words", "alpha_nominal", Unreliable, func(i int) [2]string { return [2]string{[]string{"a", "b", "c"}[i%3], []string{"b", "c", "a"}[i/3%3]} }, nil},
		{"words in order", "alpha_ordinal", Reliable, func(i int) [2]string { v := []string{"low", "mid", "high"}[i%3]; return [2]string{v, v} }, []string{"low", "mid", "high"}},
		{"one value", "alpha_nominal", Undecided, func(int) [2]string { return [2]string{"1", "1"} }, nil},
		{"nearly one value", "alpha_nominal", Undecided, func(i int) [2]string { return [2]string{fmt.Sprint(min(i, 1)), fmt.Sprint(min(i, 1))} }, nil},
	} {
		l := NewLabels(testOptions, tt.codeBook)
		for i := range 40 {
			said := tt.said(i)
			l.Add(Judged{ID: fmt.Sprint(i), Cluster: fmt.Sprint(i), Kind: "k", Slices: []string{"lang=en"}, Ratings: []Rating{{Annotator: "a", Value: said[0]}, {Annotator: "b", Value: said[1]}}})
		}
		var with []runs.AgreementRow
		for _, r := range l.Statistics() {
			if r.Verdict != "" {
				with = append(with, r)
			}
		}
		if len(with) != 1 || with[0].Statistic != tt.deciding || with[0].Verdict != tt.verdict || with[0].Slice != "kind=k" || with[0].Annotators != runs.AllAnnotators {
			t.Errorf("%s: %+v, want %s %s", tt.name, with, tt.deciding, tt.verdict)
		}
		if tt.verdict == Undecided && !slices.ContainsFunc(with[0].Warnings, func(w string) bool { return len(w) > 8 && w[len(w)-7:] == "see ac1" }) {
			t.Errorf("%s: warnings %q", tt.name, with[0].Warnings)
		}
	}
}
