package report

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// marked is a run of one row that cites [40, 50) where [70, 90) is true.
func marked() *fixture {
	f := newFixture()
	f.texts.documents["report"] = strings.Repeat("0123456789", 10)
	f.add(ibid.Answer{
		ID: "q1", System: "alpha", Query: "How_much?", Answer: "Much.",
		Citations: []ibid.Citation{{Doc: "report", Title: "Report", SourceType: "knowledge_base", Relevance: ibid.Some[float64](0.92)}},
		Truth:     []ibid.Mark{{Annotator: "ada", Doc: "report"}},
	},
		cells{"char_f1": 0.0, "truth_spans": 1, "truth_annotator": "ada"},
		[]cells{{"doc": "report", "start": 40, "end": 50, "unit": "codepoint", "status": "ok", "exact_jaccard": 0.0, "snapped_jaccard": 0.0, "source_type": "knowledge_base"}}, nil,
		resolved{Citations: []ibid.Place{at("report", 40, 50, ibid.StatusOK)}, Truth: []ibid.Place{at("report", 70, 90, ibid.StatusOK)}})
	f.macro("", "", "char_f1", 0, 0, 0.5)
	return f
}

// TestRowText: a row says the same on a terminal and on a page.
func TestRowText(t *testing.T) {
	f := marked()
	data := f.run(t)
	rows, err := runs.Rows().Read(data.Dir)
	if err != nil {
		t.Fatal(err)
	}
	citations, err := runs.Citations.OfRow(data.Dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	v := NewRowView(&RowSource{Run: data.Manifest, Row: &rows[0], Citations: citations, Answer: &f.texts.rows[0], Display: defaultDisplay, Text: func(name string, _ int32) (string, bool) {
		text, ok := f.texts.documents[name]
		return text, ok
	}})
	const want = `How_much?
q1/alpha (#0) ! wrong place, right places of ada

the whole answer
Much.

Cited [1] knowledge base ! wrong place report [40, 50)
  0123456789012345678901234567890123456789⟦0123456789⟧01234567890123456789‹01234567890123456789›0123456789
  Report
  It touches nothing that ada marked.
Should be cited report [70, 90)
  … 012345678901234567890123456789⟦0123456789⟧01234567890123456789‹01234567890123456789›0123456789
  marked by ada

marks: ⟦cited⟧ ‹right› ⟦‹both›⟧

scores, with -v
`
	got := doc.FormatText(doc.TextOptions{Width: 130}, v.section())
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	page := openedRows(t, f.page(t, PageOptions{}))[0]
	for _, said := range []string{"Cited [1] knowledge base", "It touches nothing that ada marked.", "marked by ada", "Should be cited", "report [70, 90)"} {
		if !strings.Contains(page, said) {
			t.Errorf("the page lacks %q", said)
		}
	}
}

// TestExcerpts: words around a place are whole, and what is left out is said.
func TestExcerpts(t *testing.T) {
	text := strings.Repeat("some words ", 20) + "the right place" + strings.Repeat(" of a text", 20)
	v := &RowView{source: &RowSource{Text: func(string, int32) (string, bool) { return text, true }}}
	v.marked = map[textKey][]mark{{doc: "d"}: {cited(220, 235)}}
	const want = "… some words some words some words some words some words ⟦the right place⟧ of a text of a text of a text of a text of a text of a …"
	if got := v.excerpt(textKey{doc: "d"}, 220, 235).String(); strings.Join(strings.Fields(got), " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := v.excerpt(textKey{doc: "d"}, 9000, 9001); got != nil {
		t.Errorf("past the end: %v", got)
	}
}

func TestDiffering(t *testing.T) {
	before, after := "The old quay cost much.", "The new quay cost very much."
	gone, added := differing(before, after, doc.Gone), differing(after, before, doc.Added)
	if g, a := gone.String(), added.String(); g != "The [-old-] quay cost much." || a != "The {+new+} quay cost {+very+} much." {
		t.Errorf("%q, %q", g, a)
	}
}

func TestPartsAreLeftOut(t *testing.T) {
	data := harbour().run(t)
	data.Parts = Parts{NoSpans: true, NoHallucinations: true}
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	row := openedRows(t, p)[2]
	for _, gone := range []string{"<mark", "Should be cited", "Other text supports the claim"} {
		if strings.Contains(row, gone) {
			t.Errorf("the row has %q:\n%s", gone, row)
		}
	}
	if why := sectionText(t, p, "why"); strings.Contains(why, "What became of") {
		t.Errorf("outcomes are shown:\n%s", why)
	}
}

func TestOrigin(t *testing.T) {
	run := time.Date(2026, 4, 30, 14, 30, 0, 0, time.UTC)
	// The two examples of Keeptrusts' page on citation display.
	asset := ibid.Citation{
		SourceType: "knowledge_base", SourceReference: `{"asset_id": "a", "asset_title": "Session Management Policy", "asset_version": 3, "promotion_status": "active"}`,
		Relevance: ibid.Some[float64](0.92), TokenContribution: ibid.Some[int64](856),
	}
	file := ibid.Citation{
		SourceType:      "codebase_context_fabric",
		SourceReference: `{"workspace_name": "backend-api", "file_path": "src/auth/session.ts", "symbol": "validateSession", "last_indexed_at": "2026-04-30T13:45:00Z"}`,
	}
	all := configs.CitationDisplay{ShowProvenance: true, ShowRelevanceScores: true, ShowTokenContribution: true, GroupBySourceType: true}
	tests := []struct {
		name     string
		citation *ibid.Citation
		show     configs.CitationDisplay
		want     string
	}{
		{"asset", &asset, defaultDisplay, "Session Management Policy (v3, active)"},
		{"everything", &asset, all, "Session Management Policy (v3, active), relevance 0.920, 856 tokens"},
		{"file", &file, defaultDisplay, "src/auth/session.ts → validateSession (backend-api, indexed 45 minutes before the run)"},
		{"no provenance", &asset, configs.CitationDisplay{ShowRelevanceScores: true}, "relevance 0.920"},
		{"nothing", &asset, configs.CitationDisplay{}, ""},
		{"title alone", &ibid.Citation{Title: "A title"}, defaultDisplay, "A title"},
		{"not JSON", &ibid.Citation{Title: "A title", SourceReference: "{"}, defaultDisplay, "A title"},
		{"other JSON", &ibid.Citation{SourceReference: `[1, "x"]`}, defaultDisplay, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := originOf(tt.citation, &tt.show, run).String(); got != tt.want {
				t.Errorf("originOf = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCallsOfARow(t *testing.T) {
	data := marked().run(t)
	writeCalls(t, data.Dir,
		runs.Call{
			Model: "some/model", Attempts: 2, PromptTokens: new(int64(1200)), CompletionTokens: new(int64(80)), CostUSD: new(0.00125),
			LatencyMillis: new(int64(2300)), Status: "ok",
		},
		runs.Call{Model: "some/model", Cached: true, Attempts: 1, Status: "ok"},
	)
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"some/model", "1,200 + 80", "$0.001250", "2,300", "ok, from the cache"} {
		if row := openedRows(t, p)[0]; !strings.Contains(row, want) {
			t.Errorf("the row lacks %q:\n%s", want, row)
		}
	}
}

// A citation of the right place that does not support its claim has nothing else
// that should have been cited.
func TestRightPlacesAreNotReplaced(t *testing.T) {
	for exact, want := range map[float64]bool{1: false, 0.8: false, 0.5: true} {
		f := newFixture()
		f.manifest.Judge = runs.JudgeRecord{Kind: "openrouter"}
		f.texts.documents["d"] = "It rained all day."
		f.add(ibid.Answer{ID: "q", System: "s", Answer: "It snowed.", Truth: []ibid.Mark{{Annotator: "ada", Doc: "d"}}}, cells{"truth_spans": 1},
			[]cells{{"doc": "d", "status": "ok", "exact_jaccard": exact, "support": 0.0, "claims": []int32{0}, "best_truth": 0}},
			[]cells{{"text": "It snowed.", "outcome": "unsupported", "citations": []int32{0}}},
			resolved{Citations: []ibid.Place{at("d", 0, 9, ibid.StatusOK)}, Truth: []ibid.Place{at("d", 0, 9, ibid.StatusOK)}})
		p := f.page(t, PageOptions{})
		if row := openedRows(t, p)[0]; strings.Contains(row, "Should be cited") != want {
			t.Errorf("Jaccard %v: %s", exact, row)
		}
	}
}

func writeCalls(t *testing.T, dir string, calls ...runs.Call) {
	t.Helper()
	if err := runs.Calls.Write(dir, calls); err != nil {
		t.Fatal(err)
	}
}

// TestPageNamesTampering: what the judge found of attempts to steer it, and what was found
// without it, stands over the opened row.
func TestPageNamesTampering(t *testing.T) {
	data := harbour().run(t)
	writeTable(t, filepath.Join(data.Dir, runs.VerdictsFile), runs.Verdicts.Fields(), []cells{{
		"id": "q1", "system": "alpha", "row": 0, "claim": 0, "evidence": runs.ClaimEvidence, "judge": "lexical", "source": runs.FromRule,
		"tampering": "in_evidence", "suspected": []string{"hidden in answer at 2: U+200B", "frame in citation:0 at 7: </cited\x1b>"},
	}})
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	for k, row := range openedRows(t, p) {
		for _, said := range []string{"tampering: suspected, hidden in answer at 2: U+200B", "tampering: suspected, frame in citation:0 at 7: &lt;/cited &gt;"} {
			if strings.Contains(row, said) != (k == 0) {
				t.Errorf("row %d: %q is said: %v\n%s", k, said, k != 0, row)
			}
		}
	}
}

// TestCrowdedRow: a row with twice as many citations and true spans that overlap takes
// about twice as long to show. Marks that all begin apart are the worst case.
func TestCrowdedRow(t *testing.T) {
	text := strings.Repeat("some words of prose, ", 2000)
	allocs := func(n int) float64 {
		f := newFixture()
		f.texts.documents["d"] = text
		var places resolved
		var in ibid.Answer
		var citations []cells
		for k := range n {
			start := int64(k*7919) % 40_000
			places.Citations = append(places.Citations, at("d", start, start+500, ibid.StatusOK))
			places.Truth = append(places.Truth, at("d", start+9, start+450, ibid.StatusOK))
			in.Truth = append(in.Truth, ibid.Mark{Annotator: "ada", Doc: "d"})
			citations = append(citations, cells{"doc": "d", "status": "ok", "exact_jaccard": 0.0, "snapped_jaccard": 0.0})
		}
		in.ID, in.System = "q", "s"
		f.add(in, cells{"char_f1": 0.5, "truth_spans": n}, citations, nil, places)
		data := f.run(t)
		return testing.AllocsPerRun(1, func() {
			if _, err := newPage(t.Context(), PageOptions{}, data); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := allocs(1000), allocs(4000)
	t.Logf("%.0f and %.0f allocations", few, many)
	if many > 5*few {
		t.Errorf("four times as many spans take %.0f allocations, not %.0f", many, few)
	}
}

// TestMissedTruth is the first true span that no citation touches, as a look at each
// pair finds it.
func TestMissedTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		view := &RowView{source: &RowSource{Answer: &ibid.Answer{}}}
		place := func() ibid.Place {
			start := rng.Int64N(30)
			return at([]string{"a", "b"}[rng.IntN(2)], start, start+1+rng.Int64N(8), ibid.StatusOK)
		}
		for range rng.IntN(5) {
			view.source.Answer.Citations = append(view.source.Answer.Citations, ibid.Citation{Place: place()})
		}
		for range rng.IntN(5) {
			view.source.Answer.Truth = append(view.source.Answer.Truth, ibid.Mark{Place: place()})
		}
		want := -1
		for k, m := range view.source.Answer.Truth {
			if m.Place.InSets() && (want < 0 || view.touches(want)) && (want < 0 || !view.touches(k)) {
				want = k
			}
		}
		if view.findMissed(); view.missed != want {
			t.Fatalf("of %+v %d is missed, want %d", view.source.Answer, view.missed, want)
		}
	}
}

// touches reports whether some citation touches true span k.
func (v *RowView) touches(k int) bool {
	p := &v.source.Answer.Truth[k].Place
	return slices.ContainsFunc(v.source.Answer.Citations, func(c ibid.Citation) bool {
		q := &c.Place
		return q.InSets() && q.Doc == p.Doc && q.Page == p.Page && q.Start < p.End && p.Start < q.End
	})
}
