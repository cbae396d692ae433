package report

import (
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations/compare"
	"ibid/dataset/runs"
)

// pairOf are two systems of harbour compared, with one sure difference and one
// that is not.
func pairOf() *compare.Result {
	return &compare.Result{
		By: "system", Level: 0.95, Power: 0.8, Method: "analytic", Seed: 7, Headline: []string{"char_f1", "citation_correctness"},
		Sides: []compare.Side{{Name: "alpha", Run: "night", System: "alpha", Rows: 3}, {Name: "beta", Run: "night", System: "beta", Rows: 3}},
		Pairs: []compare.Pair{{
			Base: 0, New: 1, Paired: true, Rows: 3, OnlyNew: compare.Named{Rows: 1, IDs: []string{"q9"}},
			Differences: []compare.Difference{
				{
					Metric: "char_f1", Agg: "macro", Headline: true, Direction: 1, Base: new(0.9), New: new(0.5), Diff: new(-0.4), Low: new(-0.6), High: new(-0.2),
					P: new(0.0001), Adjusted: new(0.0002), Outcome: compare.Worse, N: 3, Higher: 0, Lower: 2, Same: 1,
				},
				{
					Metric: "citation_correctness", Agg: "macro", Headline: true, Direction: 1, Base: new(0.5), New: new(0.55), Diff: new(0.05), Low: new(-0.2), High: new(0.3),
					P: new(0.6), Adjusted: new(0.6), Outcome: compare.Undecided, MDE: new(0.31), N: 3, Higher: 1, Lower: 1, Same: 1,
					Corrected: &compare.Corrected{Base: new(0.4), New: new(0.3), Diff: -0.1, Low: -0.15, High: -0.05, Labelled: 12, Method: "ppi++"},
				},
				{Metric: "char_f1", Agg: "macro", Slice: "lang=en", Direction: 1, Base: new(1.0), New: new(0.0), Diff: new(-1.0), Outcome: compare.Unknown},
			},
		}},
		Rankings: []compare.Ranking{{Metric: "char_f1", Agg: "macro", Direction: 1, Places: []compare.Place{
			{Side: 0, Estimate: 0.9, Low: new(0.8), High: new(1.0), Best: 1, Worst: 1, Sure: true}, {Side: 1, Estimate: 0.5, Best: 2, Worst: 2},
		}}},
	}
}

// twins are two systems that answer the same two questions.
func twins() *fixture {
	f := newFixture()
	for _, row := range []struct {
		id, system string
		f1         float64
	}{{"q1", "alpha", 0.9}, {"q1", "beta", 0.2}, {"q2", "alpha", 0.5}, {"q2", "beta", 0.5}, {"q3", "beta", 1}} {
		f.add(ibid.Answer{ID: row.id, System: row.system}, cells{"char_f1": row.f1}, []cells{{"doc": "d", "status": "ok"}}, nil, resolved{Citations: make([]ibid.Place, 1)})
	}
	for _, system := range []string{"", "alpha", "beta"} {
		f.macro(system, "", "char_f1", 0.9, 0.8, 1)
	}
	return f
}

func TestPageCompares(t *testing.T) {
	p := twins().page(t, PageOptions{Comparison: pairOf()})
	c := find[compareView](p)
	if c == nil || len(c.Matrix) != 2 || len(c.Pairs) != 1 {
		t.Fatalf("comparison = %+v", c)
	}
	cells := c.Matrix[0].Cells
	if cells[0].Value != "0.900" || cells[0].Detail != "[0.800, 1.000]" || !cells[0].Base {
		t.Errorf("base = %+v: its value is that of the summary", cells[0])
	}
	if got := cells[1]; got.Value != "0.500" || got.Diff != "−0.400" || got.Detail != "[−0.600, −0.200], p < 0.001" || got.Word.Code != "worse" || got.Word.Tone != toneBad {
		t.Errorf("new = %+v", got)
	}
	lines := c.Pairs[0].Lines
	if len(lines) != 2 || lines[0].MDE != "" || lines[1].MDE != "±0.310" || lines[1].Word.Short != "~" {
		t.Errorf("lines = %+v: MDE is for what is not significant", lines)
	}
	// The axis goes from -1 to 1, so -0.4 is at 30 %.
	if s := lines[0].Strip; s.X != "30.00%" || s.Zero != "50.00%" || s.Low != "20.00%" || s.High != "40.00%" {
		t.Errorf("strip = %+v", s)
	}
	if want := []flipLink{{"better", "0", "#f=changed%3A0%2Fchar_f1%2Fbetter"}, {"worse", "2", "#f=changed%3A0%2Fchar_f1%2Fworse"}, {"same", "1", "#f=changed%3A0%2Fchar_f1%2Fsame"}}; !slices.Equal(lines[0].Flips, want) {
		t.Errorf("flips = %+v", lines[0].Flips)
	}
	if len(c.Pairs[0].More) != 1 || c.Pairs[0].More[0].Slice != "lang=en" || c.Pairs[0].More[0].Word.Short != "no test" {
		t.Errorf("more = %+v", c.Pairs[0].More)
	}
	if d := c.Pairs[0].Dropped; len(d) != 1 || d[0] != "1 row of beta without a counterpart left out: q9" {
		t.Errorf("dropped = %q", d)
	}
	if r := c.Rankings[0].Places; r[0].Says != "surely the best" || r[0].Rank != "1" {
		t.Errorf("ranking = %+v", r)
	}
	html := writePage(t, p)
	for _, want := range []string{"Differences to alpha", "beta against alpha", "1 row of beta without a counterpart", "Seed 7", "corrected −0.100 [−0.150, −0.050], 12 pairs labelled"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestRowsThatChanged are those of the new side that have a counterpart.
func TestRowsThatChanged(t *testing.T) {
	p := twins().page(t, PageOptions{Comparison: pairOf()})
	var x rowIndex
	openPack(t, p, "index", &x)
	i := slices.IndexFunc(x.Flips, func(f flipIndex) bool { return f.Metric == "char_f1" })
	if i < 0 {
		t.Fatalf("flips = %+v", x.Flips)
	}
	// q1/alpha, q1/beta, q2/alpha, q2/beta and q3/beta, which alpha did not answer.
	if f := x.Flips[i]; f.Signs != " - = " || f.Better != "+" {
		t.Errorf("signs = %q, better %q", f.Signs, f.Better)
	}
}

func TestNotCompared(t *testing.T) {
	p := twins().page(t, PageOptions{NotCompared: "judges differ: a and <b>"})
	if html := writePage(t, p); !strings.Contains(html, "Not compared: judges differ: a and &lt;b&gt;") {
		t.Error("the page does not say why runs are not compared")
	}
}

// TestWhatChangedBetweenRuns is said at the top.
func TestWhatChangedBetweenRuns(t *testing.T) {
	r := pairOf()
	r.By = "run"
	p := twins().page(t, PageOptions{Comparison: r})
	if got, want := view[verdictView](p).Lines[len(view[verdictView](p).Lines)-1].Text(), "beta against alpha: Character F1 is worse: −0.400 [−0.600, −0.200]."; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	for _, tt := range []struct {
		first, second compare.Outcome
		want          string
	}{
		{compare.Undecided, compare.Undecided, "none of 2 headline metrics differs by more than chance may explain."},
		{compare.Undecided, compare.Unknown, "the headline metric that could be tested does not differ by more than chance may explain."},
		{compare.Unknown, compare.Unknown, "there is too little data to test 2 headline metrics."},
		{compare.Different, compare.Undecided, "Character F1 is different: −0.400 [−0.600, −0.200]."},
	} {
		r.Pairs[0].Differences[0].Outcome, r.Pairs[0].Differences[1].Outcome = tt.first, tt.second
		p = twins().page(t, PageOptions{Comparison: r})
		if got, want := view[verdictView](p).Lines[len(view[verdictView](p).Lines)-1].Text(), "beta against alpha: "+tt.want; got != want {
			t.Errorf("says %q, want %q", got, want)
		}
	}
	r.Pairs[0].Differences[0].Diff, r.Pairs[0].Differences[1].Diff = nil, nil
	p = twins().page(t, PageOptions{Comparison: r})
	if got, want := view[verdictView](p).Lines[len(view[verdictView](p).Lines)-1].Text(), "beta against alpha: no headline metric is defined on both sides."; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

func TestPicturesOfComparisons(t *testing.T) {
	p := twins().page(t, PageOptions{Comparison: pairOf()})
	goldenPicture(t, "difference.svg", "strip", view[compareView](p).Pairs[0].Lines[0].Strip)
}

// TestSettingsDifference shows what two runs were made of differently, and no
// secret.
func TestSettingsDifference(t *testing.T) {
	first, second := twins(), twins()
	second.manifest.ID = "other"
	first.manifest.Settings = []runs.Setting{{Key: "seed", Value: "1"}, {Key: "thresholds.supported", Value: "0.7"}, {Key: "judge.key", Value: "secret-1"}}
	second.manifest.Settings = []runs.Setting{{Key: "seed", Value: "1"}, {Key: "thresholds.supported", Value: "0.5"}, {Key: "judge.key", Value: "secret-2"}}
	second.manifest.Versions = map[string]string{"ibid": "2"}
	p, err := newPage(t.Context(), PageOptions{}, first.run(t), second.run(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []settingsLine{{"thresholds.supported", []string{"0.7", "0.5"}}, {"version of ibid", []string{"–", "2"}}}
	if view[provenanceView](p).Differs == nil || !slices.EqualFunc(view[provenanceView](p).Differs.Lines, want, func(a, b settingsLine) bool { return a.Key == b.Key && slices.Equal(a.Values, b.Values) }) {
		t.Errorf("differences = %+v, want %+v", view[provenanceView](p).Differs, want)
	}
	if p := twins().page(t, PageOptions{}); view[provenanceView](p).Differs != nil {
		t.Errorf("one run differs in %+v", view[provenanceView](p).Differs)
	}
}
