package report

import (
	"fmt"
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
		By: "system", Level: 0.95, Power: 0.8, Headline: []string{"char_f1", "citation_correctness"},
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
	for _, want := range []string{"Differences to alpha", "beta against alpha", "1 row of beta without a counterpart", "corrected −0.100 [−0.150, −0.050], 12 pairs labelled"} {
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
	if got := standingOf(p)[2]; got != "Compared: [not] judges differ: a and <b>." {
		t.Errorf("the first screen says %q", got)
	}
	if html := writePage(t, p); !strings.Contains(html, "Not compared: judges differ: a and &lt;b&gt;") {
		t.Error("the page does not say why runs are not compared")
	}
}

// TestWhatChangedBetweenRuns is said at the top: in one sentence, and of each pair.
func TestWhatChangedBetweenRuns(t *testing.T) {
	r := pairOf()
	r.By = "run"
	for _, tt := range []struct {
		first, second  compare.Outcome
		headline, line string
	}{
		{compare.Worse, compare.Undecided, "beta is worse than alpha: character F1 0.500 after 0.900, −0.400 [−0.600, −0.200], p < 0.001.", "beta against alpha: 1 of 2 headline metrics changed, most character F1: −0.400 [−0.600, −0.200], p < 0.001."},
		{compare.Undecided, compare.Undecided, "beta cannot be told from alpha: no headline metric differs by more than chance may explain.", "beta against alpha: no headline metric differs by more than chance may explain."},
		{compare.Unknown, compare.Unknown, "There is too little data to tell beta from alpha.", "beta against alpha: there is too little data to test a headline metric."},
		{compare.Different, compare.Undecided, "beta differs from alpha: character F1 0.500 after 0.900, −0.400 [−0.600, −0.200], p < 0.001.", "beta against alpha: 1 of 2 headline metrics changed, most character F1: −0.400 [−0.600, −0.200], p < 0.001."},
		{compare.Better, compare.Worse, "beta is worse than alpha: citation correctness 0.550 after 0.500, +0.050 [−0.200, +0.300], p 0.600.", "beta against alpha: 2 of 2 headline metrics changed, most character F1: −0.400 [−0.600, −0.200], p < 0.001."},
	} {
		r.Pairs[0].Differences[0].Outcome, r.Pairs[0].Differences[1].Outcome = tt.first, tt.second
		v := view[verdictView](twins().page(t, PageOptions{Comparison: r}))
		if v.Headline != tt.headline || v.Lines[0].Text() != tt.line {
			t.Errorf("%s and %s: %q and %q, want %q and %q", tt.first, tt.second, v.Headline, v.Lines[0].Text(), tt.headline, tt.line)
		}
	}
	r.Pairs[0].Differences[0].Diff, r.Pairs[0].Differences[1].Diff = nil, nil
	if got, want := view[verdictView](twins().page(t, PageOptions{Comparison: r})).Headline, "beta and alpha cannot be compared: no headline metric is defined in both."; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	r.Pairs[0].Paired = false
	if got, want := view[verdictView](twins().page(t, PageOptions{Comparison: r})).Headline, "beta and alpha share no question: nothing can be said of their difference."; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

// TestWhoIsBest: what the first sentence says of systems follows from their ranking, or
// their difference where there are two.
func TestWhoIsBest(t *testing.T) {
	three := func(places ...compare.Place) *compare.Result {
		r := &compare.Result{By: "system", Rankings: []compare.Ranking{{Metric: "char_f1", Agg: "macro", Direction: 1, Places: places}}}
		for _, s := range []string{"alpha", "beta", "gamma"} {
			r.Sides = append(r.Sides, compare.Side{Name: s, Run: "night", System: s})
		}
		r.Pairs = []compare.Pair{{New: 1, Paired: true}, {New: 2, Paired: true}}
		return r
	}
	two := func(o compare.Outcome) *compare.Result {
		r := pairOf()
		r.Pairs[0].Differences[0].Outcome = o
		return r
	}
	unpaired := pairOf()
	unpaired.Pairs[0].Paired = false
	for _, tt := range []struct {
		comparison *compare.Result
		want       string
	}{
		{three(compare.Place{Side: 0, Best: 1, Worst: 1, Sure: true, Tied: true}, compare.Place{Side: 1, Best: 2, Worst: 3}, compare.Place{Side: 2, Best: 2, Worst: 3}), "alpha is surely best: character F1 0.900, then beta with 0.600."},
		{three(compare.Place{Side: 0, Best: 1, Worst: 2, Tied: true}, compare.Place{Side: 1, Best: 1, Worst: 2, Tied: true}, compare.Place{Side: 2, Best: 3, Worst: 3}), "alpha and beta lead: character F1 0.900 and 0.600, in an order that chance may explain; gamma is surely last with 0.100."},
		{two(compare.Worse), "beta is worse than alpha: character F1 0.500 against 0.900, −0.400 [−0.600, −0.200], p < 0.001."},
		{two(compare.Undecided), "beta cannot be told from alpha: character F1 0.500 against 0.900, −0.400 [−0.600, −0.200], p < 0.001."},
		{unpaired, "alpha has the best character F1, 0.900; the systems answered different questions, so nobody is surely better."},
		{nil, "alpha has the best character F1, 0.900; nothing says whether that is more than chance."},
	} {
		f := newFixture()
		for k, system := range []string{"alpha", "beta", "gamma"} {
			f.add(ibid.Answer{ID: "q", System: system}, cells{"char_f1": 0.5}, nil, nil, resolved{})
			v := []float64{0.9, 0.6, 0.1}[k]
			f.macro(system, "", "char_f1", v, v-0.05, v+0.05)
		}
		got := view[verdictView](f.page(t, PageOptions{Comparison: tt.comparison})).Headline
		if got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
		if n := len(strings.Fields(got)); n > 25 {
			t.Errorf("%q has %d words", got, n)
		}
	}
}

// TestManySystemsAreATable: of more than six systems each has a line, the best first.
func TestManySystemsAreATable(t *testing.T) {
	for _, systems := range []int{6, 7, 25} {
		f := newFixture()
		for k := range systems {
			system := fmt.Sprintf("s%02d", k)
			f.add(ibid.Answer{ID: "q", System: system}, cells{"char_f1": 0.5, "char_recall": 0.5}, nil, nil, resolved{})
			v := float64(k) / 100
			f.macro(system, "", "char_f1", v, v, v)
			if k > 0 {
				f.macro(system, "", "char_recall", v/2, 0, 1)
			}
		}
		v := view[verdictView](f.page(t, PageOptions{}))
		if systems <= maxCards {
			if len(v.Cards) != systems || v.Table != nil {
				t.Errorf("%d systems: %d cards, table %v", systems, len(v.Cards), v.Table)
			}
			continue
		}
		if v.Cards != nil || v.Table == nil || len(v.Table.Cards) != min(systems, maxCardLines) || (v.Table.Left != "") != (systems > maxCardLines) {
			t.Fatalf("%d systems: %d cards, table %+v", systems, len(v.Cards), v.Table)
		}
		if first := v.Table.Cards[0]; first.Name != fmt.Sprintf("s%02d", systems-1) {
			t.Errorf("%d systems: %s is first", systems, first.Name)
		}
		if cells := v.Table.Cells(systemCard{Numbers: []tileView{{Name: "char_recall", Value: "0.1"}}}); len(cells) != 2 || cells[0].Value != "" || cells[1].Value != "0.1" {
			t.Errorf("cells = %+v: a number stands in its column", cells)
		}
	}
}

// TestHallucinationIsARate: the score that is 1 less the rate is not shown beside it.
func TestHallucinationIsARate(t *testing.T) {
	r := pairOf()
	r.Headline = []string{"hallucination_score"}
	r.Rankings = nil
	r.Pairs[0].Differences = []compare.Difference{{
		Metric: "hallucination_score", Agg: "macro", Headline: true, Direction: 1, Base: new(0.7), New: new(0.5), Diff: new(-0.2), Low: new(-0.3), High: new(-0.1), Outcome: compare.Worse,
		N: 3, Higher: 1, Lower: 2,
	}}
	f := newFixture()
	for _, system := range []string{"alpha", "beta"} {
		f.add(ibid.Answer{ID: "q1", System: system}, cells{"hallucination_score": 0.5, "hallucination_rate": 0.5, "char_f1": 1.0}, nil, nil, resolved{})
		f.macro(system, "", "hallucination_score", 0.5, 0.4, 0.6)
		f.macro(system, "", "hallucination_rate", 0.5, 0.4, 0.6)
		f.macro(system, "", "char_f1", 1, 0.9, 1)
	}
	p := f.page(t, PageOptions{Comparison: r})
	l := view[compareView](p).Pairs[0].Lines[0]
	if l.Name != "hallucination_rate" || l.Base != "0.300" || l.New != "0.500" || l.Diff != "+0.200" || l.Interval != "[+0.100, +0.300]" || l.Word.Code != "worse" {
		t.Errorf("difference = %+v", l)
	}
	if want := []flipLink{{"better", "1", ""}, {"worse", "2", ""}, {"same", "0", ""}}; !slices.EqualFunc(l.Flips, want, func(a, b flipLink) bool { return a.Sign == b.Sign && a.Text == b.Text }) {
		t.Errorf("flips = %+v: they are turned with the metric", l.Flips)
	}
	if html, _, _ := strings.Cut(writePage(t, p), "<script"); strings.Contains(strings.ToLower(html), "hallucination score") || strings.Contains(html, "hallucination_score") {
		t.Error("the page shows the hallucination score")
	}
}

// TestAdjustedIsSaid: a difference whose interval excludes 0 and that chance may explain
// all the same is not left without a word.
func TestAdjustedIsSaid(t *testing.T) {
	for _, tt := range []struct {
		low, high float64
		outcome   compare.Outcome
		want      string
	}{
		{-0.2, 0.3, compare.Undecided, "~"},
		{0.1, 0.3, compare.Undecided, "~ p adjusted"},
		{-0.3, -0.1, compare.Undecided, "~ p adjusted"},
		{-0.3, -0.1, compare.Worse, "worse"},
	} {
		if got := differenceWord(&compare.Difference{Low: &tt.low, High: &tt.high, Outcome: tt.outcome}).Short; got != tt.want {
			t.Errorf("[%v, %v] %s: %q, want %q", tt.low, tt.high, tt.outcome, got, tt.want)
		}
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
