package report

import (
	"fmt"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// TestWhatFailsMost counts the worst problems of failing rows, by system, and links them.
func TestWhatFailsMost(t *testing.T) {
	p := harbour().page(t, PageOptions{})
	want := `What fails most, of 4 failing rows
state                  count  share     alpha      beta
✗ could not be scored      1   20 %  1 (33 %)         0
✗ contradicted             1   20 %         0  1 (50 %)
✗ not verbatim             1   20 %         0  1 (50 %)
! nothing cited            1   20 %  1 (33 %)         0
`
	if got := sectionText(t, p, "why"); !strings.Contains(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
	if html := writePage(t, p); !strings.Contains(html, `<a href="#f=problem%3Acontradicted">`) {
		t.Error("what fails has no link to its rows")
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
		f.macro("s", "", metric, 0.5, 0.4, 0.6)
		p := f.page(t, PageOptions{})
		if want := "1 of 4 answers fails."; !strings.HasSuffix(headline(t, p), want) {
			t.Errorf("%s: %q, want %q", metric, headline(t, p), want)
		}
		if want := "A row fails if its worst problem is a warning or worse, or if its overall_citation_accuracy is below 0.5."; !strings.Contains(writePage(t, p), want) {
			t.Errorf("%s: the page lacks %q", metric, want)
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
	if why := docView(t, p, "why").Blocks[0].(doc.Table); len(why.Rows) != 1 || why.Rows[0][0].Text.String() != "! nothing cited" {
		t.Errorf("problems = %+v", why.Rows)
	}
}
