package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset/runs"
)

func TestAnalysisCountsBack(t *testing.T) {
	p := harbour().page(t, PageOptions{})
	findings := []string{
		"The commonest problem of failing rows is contradicted (the worst in 1 of 4), then not verbatim (1) and nothing cited (1).",
		"Documents most often cited wrongly: report (2 of 3 citations).",
		"Cited, but there is no such document: yearbook (1).",
	}
	advice := []string{
		"Repair the input: 1 row could not be scored.",
		"Read these first: in 1 row the cited text says the opposite of the answer.",
		"Have quotes copied, not retold: in 1 row the quoted text is not in the document.",
	}
	if got := textsOf(view[analysisView](p).Findings); !slices.Equal(got, findings) {
		t.Errorf("findings = %q, want %q", got, findings)
	}
	if got := textsOf(view[analysisView](p).Advice); !slices.Equal(got, advice) {
		t.Errorf("advice = %q, want %q", got, advice)
	}
	if got, want := view[analysisView](p).Findings[0][1], (findingPart{"contradicted", "#f=problem%3Acontradicted"}); got != want {
		t.Errorf("link = %+v, want %+v", got, want)
	}
}

// A group is named when its rows fail much more often than the others'.
func TestGroupsThatStandOut(t *testing.T) {
	f := newFixture()
	for i := range 40 {
		tags := map[string]string{"lang": []string{"en", "de"}[i%2]}
		status, f1 := "ok", 1.0
		if i%2 == 1 && i < 30 || i == 0 { // 15 of 20 in German, 1 of 20 in English
			status, f1 = "document_not_found", 0
		}
		f.add(ibid.Answer{ID: fmt.Sprint(i), System: "s"}, cells{"char_f1": f1, "tags": tags},
			[]cells{{"doc": "d", "status": status}}, nil, resolved{Citations: make([]ibid.Place, 1)})
	}
	p := f.page(t, PageOptions{})
	i := slices.IndexFunc(view[analysisView](p).Findings, func(f finding) bool { return f[0].Text == "lang=de stands out: " })
	if i < 0 {
		t.Fatalf("findings = %q", textsOf(view[analysisView](p).Findings))
	}
	got := view[analysisView](p).Findings[i]
	if want := "lang=de stands out: 15 of its 20 rows fail (75 %), 1 of the other 20 does (5 %)."; got.Text() != want {
		t.Errorf("finding = %q, want %q", got.Text(), want)
	}
	if want := "#f=tag%3Alang%3Dde&f=is%3Afailing"; got[1].Link != want {
		t.Errorf("link = %s, want %s", got[1].Link, want)
	}
	// By hand: p = 16/40, (0.75 − 0.05) / √(0.4 · 0.6 · (1/20 + 1/20)).
	g, all := group{rows: 20, failing: 15}, group{rows: 40, failing: 16}
	if got, want := g.distance(&all), 0.7/math.Sqrt(0.024); math.Abs(got-want) > 1e-12 {
		t.Errorf("distance = %v, want %v", got, want)
	}
	for _, g := range []group{{rows: 40, failing: 16}, {rows: 20, failing: 0}} {
		if d := g.distance(&group{rows: 40, failing: g.failing}); d != 0 {
			t.Errorf("distance of %+v = %v, want 0: there is nothing to compare with", g, d)
		}
	}
}

// TestWorstCitationsShowPassages: also without a script, the passage that is
// cited stands beside the one that should have been.
func TestWorstCitationsShowPassages(t *testing.T) {
	w := view[verdictView](marked().page(t, PageOptions{})).Worst[0]
	if w.Cited == nil || w.Cited.Text != "0123456789" || w.Instead == nil || w.Instead.Text != "01234567890123456789" || w.Instead.Whose != "marked by ada" {
		t.Errorf("cited %+v, instead %+v", w.Cited, w.Instead)
	}
	// What is cited is shown where nobody knows of anything better, too.
	alone := marked().page(t, PageOptions{})
	view[verdictView](alone).Worst[0].Instead = nil
	if html := writePage(t, alone); !strings.Contains(html, `<figcaption>cited</figcaption><blockquote dir="auto">0123456789</blockquote>`) {
		t.Error("the cited passage is not shown by itself")
	}
	data := marked().run(t)
	data.Texts, data.NoTexts = nil, "gone"
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	if w := view[verdictView](p).Worst[0]; w.Cited != nil || w.Instead != nil {
		t.Errorf("without texts: cited %+v, instead %+v", w.Cited, w.Instead)
	}
}

// Where no metric says how good citations are, only problems make rows fail: a
// name of a source in the wording of an answer is not its citation.
func TestRowsFailByWhatIsWrongWithThem(t *testing.T) {
	for _, metric := range []string{"citation_presence", "over_citation", "citation_density"} {
		f := newFixture()
		for i := range 4 {
			status := []string{"ok", "ok", "ok", "document_not_found"}[i]
			f.add(ibid.Answer{ID: fmt.Sprint(i), System: "s"}, cells{metric: []float64{0, 0.25, 1, 1}[i]},
				[]cells{{"doc": "d", "status": status}}, nil, resolved{Citations: make([]ibid.Place, 1)})
		}
		p := f.page(t, PageOptions{})
		if want := "1 of 4 answers fails."; view[verdictView](p).Headline != want {
			t.Errorf("%s: %q, want %q", metric, view[verdictView](p).Headline, want)
		}
		if want := "A row fails if its worst problem is a warning or worse, or if its overall_citation_accuracy is below 0.5."; !slices.Contains(view[methodView](p).Notes, want) {
			t.Errorf("%s: method says %q", metric, view[methodView](p).Notes)
		}
	}
}

// What supports a claim elsewhere does not make a wrong citation of none.
func TestClaimsWithoutCitationsCiteNothingWrong(t *testing.T) {
	f := newFixture()
	f.manifest.Judge = runs.JudgeRecord{Kind: "openrouter"}
	f.add(ibid.Answer{ID: "q", System: "s", Answer: "It rained. It snowed."}, cells{},
		[]cells{{"doc": "d", "status": "ok", "support": 1.0, "label": "full", "claims": []int32{0}}},
		[]cells{
			{"text": "It rained.", "outcome": "supported_by_cited", "support": 1.0, "citations": []int32{0}},
			{"text": "It snowed.", "outcome": "supported_elsewhere", "citations": []int32{}, "elsewhere_doc": "d", "elsewhere_start": 0, "elsewhere_end": 9, "elsewhere_support": 1.0},
		}, resolved{Citations: make([]ibid.Place, 1)})
	p := f.page(t, PageOptions{})
	if want := []string{"Ask for a citation for every statement: in 1 row something should be cited and nothing is."}; !slices.Equal(textsOf(view[analysisView](p).Advice), want) {
		t.Errorf("advice = %q, want %q", textsOf(view[analysisView](p).Advice), want)
	}
}
