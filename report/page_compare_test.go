package report

import (
	"fmt"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations/compare"
	"ibid/dataset/runs"
)

// pairOf are two systems of harbour compared, with one sure difference and one
// that is not.
func pairOf() *compare.Result {
	sides := func(alpha, beta float64) []compare.Value {
		return []compare.Value{{Name: "alpha", Estimate: new(alpha), Own: new(alpha), OwnRows: 3}, {Name: "beta", Estimate: new(beta), Own: new(beta), OwnRows: 4}}
	}
	return &compare.Result{
		By: "system", Level: 0.95,
		Sides:    []compare.Side{{Name: "alpha", Run: "night", System: "alpha", Rows: 3, Rank: &[2]int{1, 1}}, {Name: "beta", Run: "night", System: "beta", Rows: 3, Rank: &[2]int{2, 2}}},
		Unpaired: []compare.Unpaired{{Name: "beta", Named: compare.Named{Rows: 1, IDs: []string{"q9"}}}},
		Metrics: []compare.Metric{
			{
				Metric: "char_f1", Agg: "macro", Direction: 1, Deciding: true, Questions: 3, Family: 1, Sides: sides(0.9, 0.5), Leaders: []string{"alpha"},
				Differences: []compare.Difference{{
					Base: "alpha", New: "beta", BaseMean: new(0.9), NewMean: new(0.5), Diff: new(-0.4), Low: new(-0.6), High: new(-0.2),
					P: new(0.0002), Word: compare.Worse, N: 3, Better: 0, Worse: 2, Same: 1,
				}},
			},
			{
				Metric: "citation_correctness", Agg: "macro", Direction: 1, Questions: 3, Sides: sides(0.5, 0.55),
				Differences: []compare.Difference{{
					Base: "alpha", New: "beta", BaseMean: new(0.5), NewMean: new(0.55), Diff: new(0.05), Low: new(-0.2), High: new(0.3),
					MDE: new(0.31), N: 3, Better: 1, Worse: 1, Same: 1,
				}},
			},
			{
				Metric: "char_f1", Agg: "macro", Slice: "lang=en", Direction: 1, Questions: 1, Sides: sides(1, 0),
				Differences: []compare.Difference{{Base: "alpha", New: "beta", BaseMean: new(1.0), NewMean: new(0.0), Diff: new(-1.0), N: 1, Worse: 1}},
			},
		},
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

// comparisonText is a comparison as text of 80 columns, nothing folded.
func comparisonText(t *testing.T, r *compare.Result, all bool) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, NewComparison(r), "text", TextOptions{All: all}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestComparison: terminal, Markdown and page say the same of a pair; columns that say
// least leave the terminal first.
func TestComparison(t *testing.T) {
	const want = `run night: alpha, beta
alpha is best on char_f1.
note: 1 row only in beta (q9)

char_f1, run night: alpha, beta
       rank  value           diff          interval       p  better  worse  n
alpha     1  0.900                                                          3
beta      2  0.500  worse  -0.400  [-0.600, -0.200]  <0.001       0      2  3

other metrics, each interval by itself, with -v
by slice, each interval by itself, with -v
how this was compared, with -v
`
	got := comparisonText(t, pairOf(), false)
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if all := comparisonText(t, pairOf(), true); !strings.Contains(all, "char_f1 [lang=en], beta") || !strings.Contains(all, "Rows are paired by question") {
		t.Errorf("with all:\n%s", all)
	}
	html := writePage(t, twins().page(t, PageOptions{Compared: Compared{Comparison: pairOf()}}))
	var markdown strings.Builder
	if err := Write(&markdown, NewComparison(pairOf()), "markdown", TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"alpha is best on char_f1.", "[-0.600, -0.200]", "0.900", "correctness, beta"} {
		if !strings.Contains(html, said) {
			t.Errorf("the page lacks %q", said)
		}
		if plain := strings.NewReplacer(`\`, "", "&lt;", "<").Replace(markdown.String()); !strings.Contains(plain, said) {
			t.Errorf("Markdown lacks %q", said)
		}
	}
	// The axis goes from -1 to 1, so -0.4 is at 30 %.
	for _, drawn := range []string{`cx="30.00%"`, `x1="20.00%" x2="40.00%"`, ">0.310<"} {
		if !strings.Contains(html, drawn) {
			t.Errorf("the page lacks %q", drawn)
		}
	}
}

func TestNotCompared(t *testing.T) {
	p := twins().page(t, PageOptions{Compared: Compared{NotCompared: "judges differ: a and <b>"}})
	if got := sectionText(t, p, "verdict"); !strings.Contains(got, "\nCompared  not: judges differ: a and <b>.\n") {
		t.Errorf("the first screen says\n%s", got)
	}
	if html := writePage(t, p); !strings.Contains(html, "Not compared: judges differ: a and &lt;b&gt;") {
		t.Error("the page does not say why runs are not compared")
	}
}

// TestWhatChangedBetweenRuns is said at the top, of the system that is worse first.
func TestWhatChangedBetweenRuns(t *testing.T) {
	for _, tt := range []struct {
		system string
		word   compare.Word
		want   string
	}{
		{"", compare.Worse, "Since alpha: beta is worse on char_f1 by 0.400 (p < 0.001)."},
		{"", compare.Tied, "Since alpha: no difference found."},
		{"", compare.Same, "Since alpha: no difference found."},
		{"", compare.Different, "Since alpha: beta differs on char_f1 by 0.400 (p < 0.001)."},
		{"s", compare.Worse, "Since alpha: s is worse on char_f1 by 0.400 (p < 0.001)."},
	} {
		r := pairOf()
		r.By, r.Base = "run", "alpha"
		r.Metrics[0].System, r.Metrics[0].Differences[0].Word = tt.system, tt.word
		if got := headline(t, twins().page(t, PageOptions{Compared: Compared{Comparison: r}})); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.word, got, tt.want)
		}
	}
	r := pairOf()
	r.By, r.Base, r.Metrics = "run", "alpha", r.Metrics[:1]
	r.Metrics[0].Reason, r.Metrics[0].Differences = compare.NotPaired, nil
	if got, want := headline(t, twins().page(t, PageOptions{Compared: Compared{Comparison: r}})), "Since alpha: no question in common, so there is nothing to compare."; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	r.Metrics[0].Reason, r.Metrics[0].Deciding = "judges differ: lexical and none", false
	if got, want := headline(t, twins().page(t, PageOptions{Compared: Compared{Comparison: r}})), "Since alpha: not comparable (judges differ: lexical and none)."; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

// TestWhoIsBest: what the first sentence says of systems follows from their ranks, or from the
// differences from a base.
func TestWhoIsBest(t *testing.T) {
	three := func(leaders []string, ranks ...[2]int) *compare.Result {
		r := &compare.Result{By: "system", Metrics: []compare.Metric{{Metric: "char_f1", Agg: "macro", Direction: 1, Deciding: true, Questions: 1, Leaders: leaders}}}
		for i, s := range []string{"alpha", "beta", "gamma"} {
			r.Sides = append(r.Sides, compare.Side{Name: s, Run: "night", System: s, Rank: &ranks[i]})
		}
		return r
	}
	against := func(w compare.Word) *compare.Result {
		r := pairOf()
		r.Base, r.Metrics[0].Leaders, r.Metrics[0].Differences[0].Word = "alpha", nil, w
		return r
	}
	unpaired := pairOf()
	unpaired.Metrics = unpaired.Metrics[:1]
	unpaired.Metrics[0].Reason, unpaired.Metrics[0].Differences, unpaired.Metrics[0].Leaders = compare.NotPaired, nil, nil
	ranges := func(alpha, beta [2]float64) *compare.Result {
		r := pairOf()
		r.Metrics = append(r.Metrics, compare.Metric{
			Metric: "overall_citation_accuracy", Agg: "macro", Direction: 1,
			Sides: []compare.Value{{Name: "alpha", Low: new(0.3), High: new(0.3), CILow: &alpha[0], CIHigh: &alpha[1]}, {Name: "beta", Low: new(0.7), High: new(0.7), CILow: &beta[0], CIHigh: &beta[1]}},
		})
		return r
	}
	for _, tt := range []struct {
		comparison *compare.Result
		want       string
	}{
		{three([]string{"alpha"}, [2]int{1, 1}, [2]int{2, 3}, [2]int{2, 3}), "alpha is best on char_f1."},
		{three([]string{"alpha", "beta"}, [2]int{1, 2}, [2]int{1, 2}, [2]int{3, 3}), "alpha and beta are tied for best on char_f1; gamma is last."},
		{three([]string{"alpha", "beta", "gamma", "delta", "epsilon"}, [2]int{1, 3}, [2]int{1, 3}, [2]int{1, 3}), "alpha, beta, gamma and 2 others are tied for best on char_f1."},
		{against(compare.Worse), "Against alpha: beta is worse on char_f1 by 0.400 (p < 0.001)."},
		{against(compare.Tied), "Against alpha: no difference found."},
		{unpaired, "The systems answered different questions: compare their numbers with care."},
		{ranges([2]float64{0.2, 0.9}, [2]float64{0.1, 0.8}), "alpha is best on char_f1 (overall is a range)."},
		{ranges([2]float64{0.2, 0.4}, [2]float64{0.5, 0.8}), "beta is better than alpha on overall, whatever the undecided claims are."},
		{nil, "None of 3 answers fails."},
	} {
		f := newFixture()
		for k, system := range []string{"alpha", "beta", "gamma"} {
			f.add(ibid.Answer{ID: "q", System: system}, cells{"char_f1": 0.5}, nil, nil, resolved{})
			v := []float64{0.9, 0.6, 0.1}[k]
			f.macro(system, "", "char_f1", v, v-0.05, v+0.05)
		}
		got := headline(t, f.page(t, PageOptions{Compared: Compared{Comparison: tt.comparison}}))
		if got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
		if n := len(strings.Fields(got)); n > 25 {
			t.Errorf("%q has %d words", got, n)
		}
	}
}

// TestNothingToCompare: systems that share no question stand in the order of their names.
func TestNothingToCompare(t *testing.T) {
	r := pairOf()
	r.Metrics = r.Metrics[:1]
	r.Metrics[0].Reason, r.Metrics[0].Questions, r.Metrics[0].Differences, r.Metrics[0].Leaders = compare.NotPaired, 0, nil, nil
	f := newFixture()
	for k, system := range []string{"alpha", "beta"} {
		f.add(ibid.Answer{ID: "q-" + system, System: system}, cells{"char_f1": 0.5}, nil, nil, resolved{})
		f.macro(system, "", "char_f1", 0.1+0.8*float64(k), 0, 1)
	}
	text := sectionText(t, f.page(t, PageOptions{Compared: Compared{Comparison: r}}), "verdict")
	if strings.Contains(text, "best") || strings.Index(text, "\nalpha ") > strings.Index(text, "\nbeta ") {
		t.Errorf("systems are in an order:\n%s", text)
	}
}

// TestOneConclusion: the terminal, Markdown, JSON and the page say the same sentences.
func TestOneConclusion(t *testing.T) {
	f := harbour()
	c := Compared{Comparison: pairOf(), Since: &compare.Result{By: "run", Base: "dusk", Sides: []compare.Side{{Name: "dusk", Run: "dusk"}, {Name: "night", Run: "night"}}}}
	c.Since.Metrics = []compare.Metric{{Metric: "char_f1", Agg: runs.Macro, System: "beta", Deciding: true, Differences: []compare.Difference{{
		Base: "dusk", New: "night", Diff: new(-0.25), N: 4, Worse: 4, Word: compare.Worse, P: new(0.04),
	}}}}
	c.Since.Failures = []compare.Failures{{Base: "dusk", New: "night", Newly: compare.Named{Rows: 2, IDs: []string{"q1", "q2"}}}}
	run := f.run(t)
	s := NewSummary(run.Manifest, run.Summary, run.Gates)
	s.Compared = c
	var err error
	if s.Failing, err = ReadFailing(run.Dir, run.Manifest, 1); err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{"page": sectionText(t, f.page(t, PageOptions{Compared: c}), "verdict")}
	for _, format := range []string{"text", "markdown", "json"} {
		var out strings.Builder
		if err := Write(&out, s, format, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		forms[format] = out.String()
	}
	for name, text := range forms {
		text = strings.Join(strings.Fields(strings.ReplaceAll(text, `\_`, "_")), " ")
		for _, want := range []string{"alpha is best on char_f1.", "Since dusk: beta is worse on char_f1 by 0.250 (p 0.040); 2 answers newly fail.", "4 of 5 answers fail, 1 not scored.", "1 of 2 failed, 1 of 2 passed"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
	}
}

// TestAnswersInWords: what fails comes first, what is 0 is left out, and no answer passes, or
// counts among those that could fail, that nobody could check.
func TestAnswersInWords(t *testing.T) {
	for want, n := range map[string]answerCount{
		"There are no answers.":                {},
		"1 answer passes.":                     {rows: 1},
		"1 answer fails.":                      {rows: 1, fails: 1},
		"1 answer does not fail, 1 undecided.": {rows: 1, open: [4]int64{1, 0, 0}},
		"None of 1,200 answers fails.":         {rows: 1200},
		"0 of 7 answers fail, 2 not checked.":  {rows: 9, open: [4]int64{0, 0, 2}},
		"0 of 3 answers fail, 3 abstained.":    {rows: 3, open: [4]int64{0, 0, 0, 3}},
		"Nothing could be checked: what the 9 answers cite, or the text of it, is not known.": {rows: 9, open: [4]int64{0, 0, 9}},
		"Nothing is decided of 9 answers: 7 undecided, 2 not checked.":                        {rows: 9, open: [4]int64{7, 0, 2}},
		"14 of 135 answers fail, 1 not scored, 65 undecided, 2 not judged, 3 not checked.":    {rows: 138, fails: 14, errors: 1, open: [4]int64{65, 2, 3}},
	} {
		if got := n.sentence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestManySystems: each system has a line, the best first; of very many some are left out.
func TestManySystems(t *testing.T) {
	f := newFixture()
	for k := range 25 {
		system := fmt.Sprintf("s%02d", k)
		f.add(ibid.Answer{ID: "q", System: system}, cells{"char_f1": 0.5, "char_recall": 0.5}, nil, nil, resolved{})
		v := float64(k) / 100
		f.macro(system, "", "char_f1", v, v, v)
		if k != 24 {
			f.macro(system, "", "char_recall", v/2, 0, 1)
		}
	}
	text := sectionText(t, f.page(t, PageOptions{}), "verdict")
	for _, want := range []string{"\ns24      0/1    0.240  [0.240, 0.240]            –\ns23  ", "\n5 more systems\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestHallucinationIsARate: the score that is 1 less the rate is not shown beside it.
func TestHallucinationIsARate(t *testing.T) {
	r := pairOf()
	r.Metrics[0].Metric = "hallucination_rate"
	f := newFixture()
	for _, system := range []string{"alpha", "beta"} {
		f.add(ibid.Answer{ID: "q1", System: system}, cells{"hallucination_score": 0.5, "hallucination_rate": 0.5, "char_f1": 1.0}, nil, nil, resolved{})
		f.macro(system, "", "hallucination_score", 0.5, 0.4, 0.6)
		f.macro(system, "", "hallucination_rate", 0.5, 0.4, 0.6)
		f.macro(system, "", "char_f1", 1, 0.9, 1)
	}
	p := f.page(t, PageOptions{Compared: Compared{Comparison: r}})
	if html, _, _ := strings.Cut(writePage(t, p), "<script"); strings.Contains(strings.ToLower(html), "hallucination score") || strings.Contains(html, "hallucination_score") {
		t.Error("the page shows the hallucination score")
	}
}
