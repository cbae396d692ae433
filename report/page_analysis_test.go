package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset/runs"
)

// TestWhatFailsMost counts the worst problems of failing rows, by system, and links them.
func TestWhatFailsMost(t *testing.T) {
	bars := view[whyView](harbour().page(t, PageOptions{})).Problems.Bars
	var got []string
	for _, b := range bars {
		text := b.Word.Short + " " + b.Count + ":"
		for _, s := range b.Systems {
			text += " " + s.Count
		}
		got = append(got, text)
	}
	if want := []string{"could not be scored 1: 1 0", "contradicted 1: 0 1", "not verbatim 1: 0 1", "nothing cited 1: 1 0"}; !slices.Equal(got, want) {
		t.Errorf("problems = %q, want %q", got, want)
	}
	if bars[1].Link != "#f=problem%3Acontradicted" {
		t.Errorf("link = %s", bars[1].Link)
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
	if bars := view[whyView](p).Problems.Bars; len(bars) != 1 || bars[0].Word.Short != "nothing cited" {
		t.Errorf("problems = %+v", bars)
	}
}
