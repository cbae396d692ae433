package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// openPack reads a pack of a page into out.
func openPack(t testing.TB, p *page, id string, out any) {
	t.Helper()
	for _, k := range p.packs {
		if k.ID != id {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(k.Data)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.NewDecoder(z).Decode(out); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no pack %s", id)
}

func writePage(t testing.TB, p *page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// find is what a section of the page shows; nil if the page has none of that type.
func find[T any](p *page) *T {
	for _, s := range p.Sections {
		if v, ok := s.View.(*T); ok {
			return v
		}
	}
	return nil
}

// docView is the section of a page that is made of blocks.
func docView(t *testing.T, p *page, id string) doc.Section {
	t.Helper()
	for _, s := range p.Sections {
		if s.ID == id {
			return s.View.(doc.Section)
		}
	}
	t.Fatalf("no section %s", id)
	return doc.Section{}
}

// sectionText is a section that is made of blocks as text, nothing folded.
func sectionText(t *testing.T, p *page, id string) string {
	t.Helper()
	return doc.FormatText(doc.TextOptions{Width: 120, All: true, Style: styleOf(nil)}, docView(t, p, id))
}

// view is what a section shows; empty if the page does not have it.
func view[T any](p *page) *T {
	if v := find[T](p); v != nil {
		return v
	}
	return new(T)
}

// headline is the sentence at the top of a page.
func headline(t *testing.T, p *page) string { return docView(t, p, "verdict").Title }

func TestPageSaysTheVerdictInWords(t *testing.T) {
	const want = `alpha has the best citation_correctness, 0.250; nothing says whether that is more than chance.

Gates      1 of 2 failed, 1 of 2 passed
Answers    4 of 5 fail: something cited or claimed is wrong, or the overall score is low. 1 row could not be scored.
Judge      some/model (openrouter).
Run night  5 rows · 4 citations · 2 systems · 2026-05-04 03:02 UTC

Systems, the best first
system    fail  correctness         interval  char_f1
alpha   2 of 3        0.250  [-0.050, 0.550]    0.500
beta    2 of 2        0.100  [-0.200, 0.400]    0.200

Gates
gate                             verdict  value
lo(char_f1)[system=beta] >= 0.4  FAIL     0.100
char_f1 >= 0.3                   PASS     0.350
`
	if got := sectionText(t, harbour().page(t, PageOptions{}), "verdict"); got != want {
		t.Errorf("the page begins with\n%s\nwant\n%s", got, want)
	}
}

func TestPageMetrics(t *testing.T) {
	p := harbour().page(t, PageOptions{})
	systems := doc.FormatText(doc.TextOptions{Style: plain{}, All: true}, docView(t, p, "systems"))
	for _, want := range []string{"\nalpha      3           1 of 1       1           1      2 (67 %)\n", "\nchar_f1, higher is better\nsystem  macro        interval  n\n"} {
		if !strings.Contains(systems, want) {
			t.Errorf("no %q in\n%s", want, systems)
		}
	}
	html := writePage(t, p)
	for _, want := range []string{
		`<a href="#f=tag%3Alang%3Den"><bdi>en</bdi></a>`,
		`<title>char_f1 0.200, 95 % interval 0.100 to 0.300, gate &gt;= 0.400</title>`, `<line class="zero" y1="0" y2="22" x1="40.00%" x2="40.00%"/>`,
		`<line class="ci" y1="11" y2="11" x1="0.00%" x2="55.00%"/><circle class="mark" cy="11" r="5" cx="25.00%"/>`, // [-0.050, 0.550] goes on below 0
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	method := sectionText(t, p, "method")
	if !strings.Contains(method, "\nIntervals\ncr1-t  see the documentation") || !strings.Contains(method, "\nDefinitions of 2 metrics\n") || !strings.Contains(html, `<div id="m-char_f1"><dt>char_f1</dt>`) {
		t.Errorf("method says\n%s", method)
	}
}

func TestPageCountsWhy(t *testing.T) {
	p := harbour().page(t, PageOptions{})
	text, html := sectionText(t, p, "why"), writePage(t, p)
	for _, want := range []string{"\nWhat is known of 4 cited places\n", "\n✗ document not found      1   25 %          0  1 (33 %)\n", "\n! supported elsewhere"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if want := `<a href="#f=status%3Adocument_not_found&amp;f=system%3Abeta"><bdi>1 (33 %)</bdi></a>`; !strings.Contains(html, want) {
		t.Errorf("the page lacks %s", want)
	}
}

func TestPageIndexAndRows(t *testing.T) {
	f := harbour()
	f.manifest.Settings = []runs.Setting{{Key: "span_matching.tolerance_chars", Value: "0", Source: "--set"}}
	p := f.page(t, PageOptions{})
	var x rowIndex
	openPack(t, p, "index", &x)
	if want := []string{"q1/alpha", "q2/beta", "q3/beta", "q4/alpha", "q5/alpha"}; !slices.Equal(x.Keys, want) {
		t.Fatalf("Keys = %q", x.Keys)
	}
	var problems []string
	for _, k := range x.Problem {
		problems = append(problems, x.Problems[k].Code)
	}
	if want := []string{"none", "contradicted", "quote_mismatch", "uncited", "error"}; !slices.Equal(problems, want) {
		t.Errorf("problems = %q, want %q", problems, want)
	}
	if want := []int{4, 1, 2, 3, 0}; !slices.Equal(x.Worst, want) {
		t.Errorf("worst first = %v, want %v", x.Worst, want)
	}
	if m := x.Metrics[1]; m.Name != "char_f1" || !slices.Equal(m.Texts, []string{"0.000", "0.400", "1.000"}) || !slices.Equal(m.Code, []int{2, 0, 1, 0, -1}) {
		t.Errorf("char_f1 = %+v", m)
	}
	if x.Question[1] != "What did the quay cost?" || x.Cited[1] != "1 of 2" || x.Cited[3] != "none" {
		t.Errorf("row 1 = %q, %q", x.Question[1], x.Cited[1])
	}

	var rows []rowDetail
	openPack(t, p, "rows-0", &rows)
	first := rows[0].View
	if want := []int32{0, 19, 0}; !slices.Equal(first.Answer, want) || len(first.Markers) != 1 || first.Markers[0][1] != 0 {
		t.Errorf("answer = %v, markers %v", first.Answer, first.Markers)
	}
	if want := []int32{0, 20, 0, 20, 38, markPredicted | markSupport, 38, 68, 0}; !slices.Equal(first.Sources[0].Pieces[0].Runs, want) {
		t.Errorf("runs = %v, want %v", first.Sources[0].Pieces[0].Runs, want)
	}
	if n := first.Sources[0].Pieces[0].Notes[0]; n.Open != "citation 1 starts and judge's evidence starts" || !slices.Equal(n.Cites, []int32{0}) {
		t.Errorf("note = %+v", n)
	}
	// The emoji is two units: code points [42, 67) are units [43, 68).
	if want := []int32{0, 43, 0, 43, 68, markPredicted}; !slices.Equal(rows[1].View.Sources[0].Pieces[0].Runs, want) {
		t.Errorf("runs after an emoji = %v, want %v", rows[1].View.Sources[0].Pieces[0].Runs, want)
	}
	if s := rows[2].View.Sources; len(s) != 2 || s[1].Name != "diary" || s[1].Pieces[0].Runs[2] != markElsewhere {
		t.Errorf("sources of a claim supported elsewhere = %+v", s)
	}
	if u := x.Undefined[rows[3].Record.Undefined]; len(u) != 1 || u[0].Reason != "no_citations" || !slices.Equal(u[0].Metrics, []string{"citation_correctness"}) {
		t.Errorf("undefined = %q", u)
	}
	if at := slices.Index(x.MetricNames, "char_f1"); at < 0 || *rows[2].Record.Metrics[at] != 0.4 || rows[4].Record.Metrics[at] != nil {
		t.Errorf("metrics = %v, %v", x.MetricNames, rows[2].Record.Metrics)
	}
}

func TestPageWithoutTexts(t *testing.T) {
	data := harbour().run(t)
	data.Texts, data.NoTexts = nil, "answers.parquet is gone"
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	var rows []rowDetail
	openPack(t, p, "rows-0", &rows)
	if len(rows) != 5 || len(rows[0].View.Citations) != 1 || len(rows[0].View.Sources) != 0 {
		t.Errorf("rows = %+v", rows)
	}
	if html := writePage(t, p); !strings.Contains(html, "the texts are not on this page (answers.parquet is gone)") {
		t.Error("the page does not say that texts are missing")
	}
}

func TestPageNamesTheBaseline(t *testing.T) {
	f := harbour()
	f.manifest.Judge = runs.JudgeRecord{Kind: "lexical"}
	p := f.page(t, PageOptions{})
	var x rowIndex
	openPack(t, p, "index", &x)
	if x.Judge != "Lexical judge" {
		t.Errorf("judge = %q", x.Judge)
	}
	if n := strings.Count(writePage(t, p), "in other words is undecided"); n != 1 {
		t.Errorf("the page says %d times what the offline judge leaves open", n)
	}
}

// TestPageTellsJudgesApart: what a model said is not the baseline's, and what
// people said is no judge's.
func TestPageTellsJudgesApart(t *testing.T) {
	lexical, model, people := harbour(), harbour(), harbour()
	lexical.manifest.ID, lexical.manifest.Judge = "words", runs.JudgeRecord{Kind: "lexical"}
	people.manifest.ID, people.manifest.Judge = "labels", runs.JudgeRecord{Kind: "human"}
	p, err := newPage(t.Context(), PageOptions{}, lexical.run(t), model.run(t), people.run(t))
	if err != nil {
		t.Fatal(err)
	}
	want := "lexical; some/model (openrouter); people. The lexical one, in words, compares words: what is worded otherwise is undecided."
	if html := writePage(t, p); !strings.Contains(html, want) {
		t.Errorf("the page lacks %q", want)
	}
	var x rowIndex
	openPack(t, p, "index", &x)
	if x.Judge != "Judge" {
		t.Errorf("verdicts of all runs are called %q", x.Judge)
	}
}

func TestPageWithoutJudge(t *testing.T) {
	f := harbour()
	f.claims, f.manifest.Judge = nil, runs.JudgeRecord{Kind: "none"}
	p := f.page(t, PageOptions{})
	if why := sectionText(t, p, "why"); strings.Contains(why, "What became of") {
		t.Errorf("outcomes of a run without a judge:\n%s", why)
	}
	if text := sectionText(t, p, "verdict"); !strings.Contains(text, "\nJudge      nobody: ") {
		t.Errorf("the page begins with\n%s", text)
	}
	writePage(t, p)
}

func TestPageOfSeveralRuns(t *testing.T) {
	one, two := harbour(), harbour()
	two.manifest.ID = "morning"
	p, err := newPage(t.Context(), PageOptions{}, one.run(t), two.run(t))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range docView(t, p, "systems").Blocks[0].(doc.Table).Rows {
		names = append(names, row[0].Text.String())
	}
	slices.Sort(names)
	if want := []string{"morning/alpha", "morning/beta", "night/alpha", "night/beta"}; !slices.Equal(names, want) {
		t.Errorf("systems = %q", names)
	}
	if view[rowsTable](p).Total != 10 || headline(t, p) != "night and morning side by side: they are not compared." {
		t.Errorf("%d rows, %q", view[rowsTable](p).Total, headline(t, p))
	}
	var x rowIndex
	openPack(t, p, "index", &x)
	if x.Keys[5] != "q1/morning%2Falpha" {
		t.Errorf("key = %s", x.Keys[5])
	}
}

// TestPageIsOneFile checks what a browser would be told to load or allow.
func TestPageIsOneFile(t *testing.T) {
	html := writePage(t, harbour().page(t, PageOptions{}))
	csp := regexp.MustCompile(`content="(default-src[^"]*)"`).FindStringSubmatch(html)
	if csp == nil {
		t.Fatal("no security policy")
	}
	for _, want := range []string{"default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'", "script-src 'sha256-", "style-src 'sha256-"} {
		if !strings.Contains(strings.NewReplacer("&#43;", "+", "&#39;", "'").Replace(csp[1]), want) {
			t.Errorf("policy %q lacks %q", csp[1], want)
		}
	}
	for _, banned := range []string{"unsafe", " src=", "@import", "url(", "<link", "<iframe", "<img", ` style="`, "innerHTML", "javascript:"} {
		if strings.Contains(html, banned) {
			t.Errorf("the page holds %q", banned)
		}
	}
	if on := regexp.MustCompile(`<[a-z][^>]*\son[a-z]+=`).FindString(html[:strings.Index(html, `<script type="application/octet-stream"`)]); on != "" {
		t.Errorf("an event handler in %q", on)
	}
}

var hostileTexts = []string{
	`<script>document.title='hacked'</script>`, `</script><script>document.title='hacked'</script>`, `<img src=x onerror="document.title='hacked'">`,
	`"><svg onload=alert(1)>`, `javascript:alert(1)`, `' onmouseover='alert(1)`, "a\x00b", "abc\u202edef\u2066ghi", "{{.Title}}", "<!--", "]]>", `\u003cscript\u003e`, "🏳️‍🌈\u200f",
}

// hostile is a run in which every text is hostile.
func hostile() *fixture {
	f := newFixture()
	f.manifest.Judge = runs.JudgeRecord{Kind: "openrouter", Model: hostileTexts[1]}
	f.manifest.ID = hostileTexts[0]
	for i, h := range hostileTexts {
		f.texts.documents[h] = strings.Repeat(h+" ", 3)
		f.add(ibid.Answer{
			ID: h, System: hostileTexts[(i+1)%4], Query: h, Answer: h + " and more", Citations: []ibid.Citation{{Doc: h, Title: h}},
			Truth: []ibid.Mark{{Annotator: h, Doc: h}},
		},
			cells{"char_f1": 0.5, "truth_spans": 1, "truth_annotator": h, "tags": map[string]string{h: h, "lang": h}, "undefined": map[string]string{"char_recall": h}},
			[]cells{{"doc": h, "start": 0, "end": 3, "unit": h, "status": "quote_mismatch", "citation_id": h, "cited_text": h, "reason": h, "quote": h, "precheck": h, "source_type": h, "label": "none", "support": 0.0, "claims": []int32{0}}},
			[]cells{{"claim_id": h, "text": h, "start": 0, "end": 3, "outcome": "supported_elsewhere", "citations": []int32{0}, "elsewhere_doc": h, "elsewhere_start": 1, "elsewhere_end": 3, "reason": h}},
			resolved{Citations: []ibid.Place{at(h, 0, 3, ibid.StatusQuoteMismatch)}, Truth: []ibid.Place{at(h, 1, 4, ibid.StatusOK)}})
	}
	f.macro("", "", "char_f1", 0.5, 0.4, 0.6)
	f.macro("", "lang="+hostileTexts[0], "char_f1", 0.5, 0.4, 0.6)
	for i := range 4 {
		f.macro(hostileTexts[i], "", "char_f1", 0.5, 0.4, 0.6)
	}
	f.summary[0].Warnings = hostileTexts[:2]
	f.manifest.Warnings = hostileTexts
	f.manifest.Settings = []runs.Setting{{Key: hostileTexts[0], Value: hostileTexts[1], Source: hostileTexts[2]}}
	f.manifest.Inputs = []runs.Input{{Kind: "dataset", Path: hostileTexts[1]}}
	f.gates = []runs.GateResult{{Gate: hostileTexts[1], Verdict: runs.NoVerdict, Reason: hostileTexts[2]}}
	return f
}

func TestPageEscapesEverything(t *testing.T) {
	f := hostile()
	html := writePage(t, f.page(t, PageOptions{}))
	scripts := strings.Count(html, "<script")
	if own := strings.Count(html, `<script type="application/octet-stream"`) + 1; scripts != own || strings.Count(html, "</script") != own {
		t.Errorf("%d scripts, %d of them the page's own", scripts, own)
	}
	for _, h := range []string{"document.title='hacked'", "<img", "<svg onload", "onerror=\"", "\x00", "\u202e"} {
		if strings.Contains(html, h) {
			t.Errorf("the page holds %q as it is", h)
		}
	}
}

// TestPageClipsLongTexts makes sure that a text of a megabyte is not on the page.
func TestPageClipsLongTexts(t *testing.T) {
	f := newFixture()
	long := strings.Repeat("x", 1<<20)
	f.texts.documents[long] = long
	f.add(ibid.Answer{ID: long, System: long, Query: long, Answer: long, Citations: []ibid.Citation{{Doc: long}}},
		cells{"char_f1": 0.5, "tags": map[string]string{long: long}, "error": nil},
		[]cells{{"doc": long, "start": 0, "end": 1 << 20, "status": "quote_mismatch", "cited_text": long, "reason": long, "quote": long}}, nil,
		resolved{Citations: []ibid.Place{at(long, 0, 1<<20, ibid.StatusOK)}})
	p := f.page(t, PageOptions{})
	var x rowIndex
	openPack(t, p, "index", &x)
	if n := len(x.Keys[0]) + len(x.IDs[0]) + len(x.Question[0]) + len(x.DocNames[0]) + len(x.TagNames[0]); n > 3000 {
		t.Errorf("the index of one row takes %d bytes", n)
	}
	var text []textHeld
	openPack(t, p, "texts-0", &text)
	if len(text[0].Pieces) != 2 {
		t.Errorf("%d pieces of a span of a megabyte, want its beginning and its end", len(text[0].Pieces))
	}
	var rows []rowDetail
	openPack(t, p, "rows-0", &rows)
	if len(rows[0].Record.Answer) > longAnswer+10 || len(rows[0].View.Notices) != 1 {
		t.Errorf("the answer takes %d bytes, notices %q", len(rows[0].Record.Answer), rows[0].View.Notices)
	}
}

// A judge that had no text to read was not asked.
func TestClaimsWithoutVerdicts(t *testing.T) {
	f := newFixture()
	f.manifest.Judge = runs.JudgeRecord{Kind: "lexical"}
	f.add(ibid.Answer{ID: "q", System: "s", Answer: "It rained."}, cells{},
		[]cells{{"doc": "d", "status": "unchecked", "claims": []int32{0}}}, []cells{{"text": "It rained.", "outcome": "unscored", "citations": []int32{0}}},
		resolved{Citations: make([]ibid.Place, 1)})
	p := f.page(t, PageOptions{})
	if html := writePage(t, p); strings.Contains(html, "judge was asked") || !strings.Contains(html, wordOf(outcomeWords, ibid.Unscored.String()).Long) {
		t.Errorf("of a claim that no judge was asked about the page says %q", sectionText(t, p, "why"))
	}
}

// TestPageWithoutRows gives its script empty lists, not null.
func TestPageWithoutRows(t *testing.T) {
	p := newFixture().page(t, PageOptions{})
	var x map[string]any
	openPack(t, p, "index", &x)
	for name, value := range x {
		if value == nil {
			t.Errorf("%s is null", name)
		}
	}
}
