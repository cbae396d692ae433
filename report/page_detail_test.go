package report

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ibid"
	"ibid/dataset/runs"
)

// opened returns the first pack of rows of a page.
func opened(t *testing.T, p *page) []rowDetail {
	t.Helper()
	var rows []rowDetail
	openPack(t, p, "rows-0", &rows)
	return rows
}

// TestPageKeepsTexts: what is shown of a row is copied before the next rows take
// the place of its strings.
func TestPageKeepsTexts(t *testing.T) {
	p := marked().page(t, PageOptions{})
	row := opened(t, p)[0]
	if r := row.Record; r.Query != "How_much?" || r.Answer != "Much." || r.Truth[0].Annotator != "ada" || r.Truth[0].Doc != "report" {
		t.Errorf("record = %+v", r)
	}
	var texts []textHeld
	openPack(t, p, "texts-0", &texts)
	if got := texts[0].Pieces[0]; got != strings.Repeat("0123456789", 10) {
		t.Errorf("text = %q", got)
	}
	if c := row.View.Citations[0]; c.Origin.Name != "Report" || row.View.Sources[0].Name != "report" || c.Whose != "marked by ada" {
		t.Errorf("citation = %+v, origin %+v", c, c.Origin)
	}
}

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

func TestToleranceIsMarked(t *testing.T) {
	f := marked()
	f.manifest.Settings = []runs.Setting{{Key: "span_matching.tolerance_chars", Value: "5", Source: "run file"}}
	got := opened(t, f.page(t, PageOptions{}))[0].View.Sources[0].Pieces[0]
	want := []int32{0, 35, 0, 35, 40, markTolerance, 40, 50, markPredicted, 50, 55, markTolerance, 55, 70, 0, 70, 90, markTrue, 90, 100, 0}
	if !slices.Equal(got.Runs, want) {
		t.Errorf("runs = %v, want %v", got.Runs, want)
	}
	// The citation is stretch 2, the truth stretch 5.
	if want := []int32{markPredicted, 0, 2, 2, markTrue, 0, 5, 5}; !slices.Equal(got.Marks, want) {
		t.Errorf("marks = %v, want %v", got.Marks, want)
	}
}

// TestInstead: beside a bad citation stands what should have been cited.
func TestInstead(t *testing.T) {
	c := opened(t, marked().page(t, PageOptions{}))[0].View.Citations[0]
	if want := []int32{markTrue, 0}; !slices.Equal(c.Instead, want) {
		t.Errorf("instead of a citation that touches nothing true: %v, want %v", c.Instead, want)
	}
	rows := opened(t, harbour().page(t, PageOptions{}))
	if c := rows[0].View.Citations[0]; c.Instead != nil {
		t.Errorf("instead of a good citation: %v", c.Instead)
	}
	if c, want := rows[2].View.Citations[0], []int32{markElsewhere, 0}; !slices.Equal(c.Instead, want) || c.Whose != "evidence it does not cite" {
		t.Errorf("instead of a citation whose claim is supported elsewhere: %v (%s), want %v", c.Instead, c.Whose, want)
	}
}

func TestPartsAreLeftOut(t *testing.T) {
	data := harbour().run(t)
	data.Parts = Parts{NoSpans: true, NoHallucinations: true}
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	row := opened(t, p)[2].View
	if len(row.Sources) != 0 || row.Citations[0].Instead != nil || row.Claims[0].Outcome != -1 || len(row.Claims[0].Notes) != 0 {
		t.Errorf("row = %+v", row)
	}
	if why := sectionText(t, p, "why"); strings.Contains(why, "What became of") {
		t.Errorf("outcomes are shown:\n%s", why)
	}
	if html := writePage(t, p); strings.Contains(html, "supported elsewhere (") {
		t.Error("the page says what became of claims")
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
	all := Display{Provenance: true, Relevance: true, Tokens: true, BySourceType: true}
	tests := []struct {
		name     string
		citation *ibid.Citation
		show     Display
		want     string
		kind     string
	}{
		{"asset", &asset, defaultDisplay, "Session Management Policy (v3, active)", "knowledge_base"},
		{"everything", &asset, all, "Session Management Policy (v3, active), relevance 0.920, 856 tokens", "knowledge_base"},
		{"file", &file, defaultDisplay, "src/auth/session.ts → validateSession (backend-api, indexed 45 minutes before the run)", "codebase_context_fabric"},
		{"no provenance", &asset, Display{Relevance: true}, "relevance 0.920", ""},
		{"nothing", &asset, Display{}, "", ""},
		{"title alone", &ibid.Citation{Title: "A title"}, defaultDisplay, "A title", ""},
		{"not JSON", &ibid.Citation{Title: "A title", SourceReference: "{"}, defaultDisplay, "A title", ""},
		{"other JSON", &ibid.Citation{SourceReference: `[1, "x"]`}, defaultDisplay, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := originOf(tt.citation, "", &tt.show, run)
			if got := o.text(); got != tt.want || o.Type != tt.kind {
				t.Errorf("originOf = %q of type %q, want %q of type %q", got, o.Type, tt.want, tt.kind)
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
	want := []callShown{
		{"some/model", "$0.00125 · 1,200 tokens asked, 80 answered · 2.3 s · 2 attempts", false},
		{"some/model", "from the cache", true},
	}
	if got := opened(t, p)[0].View.Calls; !slices.Equal(got, want) {
		t.Errorf("calls = %+v, want %+v", got, want)
	}
}

func TestSixDigits(t *testing.T) {
	for _, tt := range []struct{ in, want float64 }{
		{0, 0}, {1, 1}, {0.7645007493545839, 0.764501}, {-0.06666666666666667, -0.0666667}, {123456.789, 123457}, {1e-300, 1e-300}, {5e-324, 5e-324},
	} {
		if got := sixDigits(tt.in); got != tt.want {
			t.Errorf("sixDigits(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

// TestLongTextsAreHeldWhole as long as there is room; then their neighbourhoods.
func TestLongTextsAreHeldWhole(t *testing.T) {
	s := sources{left: 10_000}
	text := strings.Repeat("a", 6000)
	marks := []mark{{3000, 3010, markPredicted, 0}}
	for _, doc := range []string{"first", "second"} {
		s.add(textKey{0, doc, 0}, text, marks)
	}
	if p := s.byKey[textKey{0, "first", 0}].pieces; len(p) != 1 || p[0].end != 6000 {
		t.Errorf("the first text is held as %d pieces", len(p))
	}
	if p := s.byKey[textKey{0, "second", 0}].pieces; len(p) != 1 || p[0].start != 2500 || p[0].end != 3510 {
		t.Errorf("the second text is held from %d to %d", p[0].start, p[0].end)
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
		if got := opened(t, p)[0].View.Citations[0].Instead; (got != nil) != want {
			t.Errorf("Jaccard %v: %+v should have been cited", exact, got)
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
	for _, row := range opened(t, p) {
		want := []string{
			"Tampering: the judge found an attempt to steer it in the evidence.",
			"Tampering: suspected, hidden in answer at 2: U+200B.", "Tampering: suspected, frame in citation:0 at 7: </cited␛>.",
		}
		if row.Record.Row != 0 {
			want = nil
		}
		if !slices.Equal(row.View.Notices, want) {
			t.Errorf("row %d: %q, want %q", row.Record.Row, row.View.Notices, want)
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
		view := &RowView{answer: &ibid.Answer{}}
		place := func() ibid.Place {
			start := rng.Int64N(30)
			return at([]string{"a", "b"}[rng.IntN(2)], start, start+1+rng.Int64N(8), ibid.StatusOK)
		}
		for range rng.IntN(5) {
			view.answer.Citations = append(view.answer.Citations, ibid.Citation{Place: place()})
		}
		for range rng.IntN(5) {
			view.answer.Truth = append(view.answer.Truth, ibid.Mark{Place: place()})
		}
		want := -1
		for k, m := range view.answer.Truth {
			if m.Place.InSets() && (want < 0 || view.touches(want)) && (want < 0 || !view.touches(k)) {
				want = k
			}
		}
		if got := missedTruth(view); got != want {
			t.Fatalf("missedTruth of %+v = %d, want %d", view.answer, got, want)
		}
	}
}

// touches reports whether some citation touches true span k.
func (v *RowView) touches(k int) bool {
	p := &v.answer.Truth[k].Place
	return slices.ContainsFunc(v.answer.Citations, func(c ibid.Citation) bool {
		q := &c.Place
		return q.InSets() && q.Doc == p.Doc && q.Page == p.Page && q.Start < p.End && p.Start < q.End
	})
}
