package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// packOf is a pack of a page.
func packOf(t testing.TB, p *doc.Page, id string) string {
	t.Helper()
	for _, k := range p.Packs {
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
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return ""
}

// openedRows are the rows of the first pack of a page, each as HTML.
func openedRows(t testing.TB, p *doc.Page) []string {
	t.Helper()
	const start = `<section id="row"`
	return strings.Split(strings.TrimPrefix(packOf(t, p, "rows-0"), start), start)
}

func writePage(t testing.TB, p *doc.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// docView is the section of a page that is made of blocks.
func docView(t *testing.T, p *doc.Page, id string) doc.Section {
	t.Helper()
	for _, s := range p.Sections {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("no section %s", id)
	return doc.Section{}
}

// sectionText is a section that is made of blocks as text, nothing folded.
func sectionText(t *testing.T, p *doc.Page, id string) string {
	t.Helper()
	return doc.FormatText(doc.TextOptions{Width: 120, All: true}, docView(t, p, id))
}

// headline is the sentence at the top of a page.
func headline(t *testing.T, p *doc.Page) string { return docView(t, p, "verdict").Title }

func TestPageSaysTheVerdictInWords(t *testing.T) {
	const want = `4 of 5 answers fail, 1 not scored.

Gates  1 of 2 failed, 1 of 2 passed
Judge  some/model (openrouter).
Run    5 rows · 4 citations · 2 systems · 2026-05-04 03:02 UTC

means with 95 % intervals
system  fail  correctness         interval  char_f1
alpha    2/3        0.250  [-0.050, 0.550]    0.500
beta     2/2        0.100  [-0.200, 0.400]    0.200

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
	systems := doc.FormatText(doc.TextOptions{All: true}, docView(t, p, "metrics"))
	for _, want := range []string{"\nEvery metric\nall answers\n", "\nby lang\n", "\nalpha\n"} {
		if !strings.Contains(systems, want) {
			t.Errorf("no %q in\n%s", want, systems)
		}
	}
	html := writePage(t, p)
	for _, want := range []string{
		`<a href="#f=tag%3Alang%3Den"><bdi>en</bdi></a>`,
		`<line class="ci" y1="11" y2="11" x1="0.00%" x2="55.00%"/><circle class="mark" cy="11" r="5" cx="25.00%"/>`, // [-0.050, 0.550] goes on below 0
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	method := sectionText(t, p, "method")
	if !strings.Contains(method, "Intervals are two-sided at level 95 %.") || !strings.Contains(method, "\nDefinitions of 2 metrics\n") || !strings.Contains(html, `<div id="m-char_f1"><dt>char_f1</dt>`) {
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

func TestPageListsAndOpensAnswers(t *testing.T) {
	p := harbour().page(t, PageOptions{})
	const want = `question                    system  answer                 correctness
q2 What did the quay cost?  beta    ✗ contradicted               0.000
q3 Was anybody hurt?        beta    ✗ not verbatim               0.000
q5                          alpha   ✗ could not be scored
q4 Who owns it?             alpha   ! nothing cited
q1 How much cargo?          alpha   ✓ passes                     1.000
`
	if got := sectionText(t, p, "answers"); !strings.Contains(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
	if facets := packOf(t, p, "facets"); !strings.HasPrefix(facets, `["system:alpha","problem:passes","annotator:ada","tag:lang=en","status:ok","outcome:supported_by_cited","doc:report","system:beta","problem:contradicted","is:failing"`) {
		t.Errorf("facets = %s", facets)
	}
	if html := writePage(t, p); !strings.Contains(html, `<a href="#row=q1/alpha"><span class="badge good"><bdi>✓ passes</bdi></span></a>`) || !strings.Contains(html, ` data-f="0 0 1 2 3 4 5 6">`) {
		t.Error("the list does not open q1, or has no facets")
	}
	rows := openedRows(t, p)
	if len(rows) != 5 {
		t.Fatalf("%d rows can be opened", len(rows))
	}
	for k, wants := range [][]string{
		{"<bdi>Claim 1</bdi>", "supported by what is cited", `<mark class="p"><span class="sr">(cited: </span>4.2 million tonnes<span class="sr">`, "Evidence: “4.2 million tonnes”"},
		{`(cited: </span>The quay cost 84 million.<span`, "It touches nothing that an annotator marked.", "Reason: it cost 84 million", "There is no document of that name"},
		{"Should be cited", "evidence that it does not cite", "“Nobody was hurt”"},
		{"This answer cites nothing.", "undefined, no_citations: citation_correctness"},
		{"not scored: answer: null"},
	} {
		for _, want := range wants {
			if !strings.Contains(rows[k], want) {
				t.Errorf("row %d lacks %q:\n%s", k, want, rows[k])
			}
		}
	}
}

func TestPageWithoutTexts(t *testing.T) {
	data := harbour().run(t)
	data.Texts, data.NoTexts = nil, "answers.parquet is gone"
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	if rows := openedRows(t, p); len(rows) != 5 || !strings.Contains(rows[0], "report [20, 38)") || strings.Contains(rows[0], "<blockquote dir=\"auto\"><bdi>The harbour") {
		t.Errorf("rows = %q", rows)
	}
	if html := writePage(t, p); !strings.Contains(html, "the texts are not on this page (answers.parquet is gone)") {
		t.Error("the page does not say that texts are missing")
	}
}

func TestPageNamesTheBaseline(t *testing.T) {
	f := harbour()
	f.manifest.Judge = runs.JudgeRecord{Kind: "lexical"}
	p := f.page(t, PageOptions{})
	if row := openedRows(t, p)[0]; !strings.Contains(row, "Lexical judge: full support 1.000.") {
		t.Errorf("the row does not name the judge:\n%s", row)
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
	for _, want := range []string{
		"Judge of words     wording. It compares words: what stands in the cited sentences",
		"Judge of night     some/model (openrouter).", "Judge of labels    labels of people.",
	} {
		if text := sectionText(t, p, "verdict"); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestPageWithoutJudge(t *testing.T) {
	f := harbour()
	f.claims, f.manifest.Judge = nil, runs.JudgeRecord{Kind: "none"}
	p := f.page(t, PageOptions{})
	if why := sectionText(t, p, "why"); strings.Contains(why, "What became of") {
		t.Errorf("outcomes of a run without a judge:\n%s", why)
	}
	if text := sectionText(t, p, "verdict"); !strings.Contains(text, "\nJudge  nobody: ") {
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
	for _, b := range docView(t, p, "verdict").Blocks {
		if t, ok := b.(doc.Table); ok && t.Class == "standing" {
			for _, row := range t.Rows {
				names = append(names, row[0].Text.String())
			}
		}
	}
	slices.Sort(names)
	if want := []string{"morning/alpha", "morning/beta", "night/alpha", "night/beta"}; !slices.Equal(names, want) {
		t.Errorf("systems = %q", names)
	}
	if len(openedRows(t, p)) != 10 || headline(t, p) != "night and morning side by side: they are not compared." {
		t.Errorf("%d rows, %q", len(openedRows(t, p)), headline(t, p))
	}
	if html := writePage(t, p); !strings.Contains(html, `href="#row=q1/morning%2Falpha"`) {
		t.Error("no link to a row of the second run")
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
		if !strings.Contains(strings.ReplaceAll(csp[1], "&#39;", "'"), want) {
			t.Errorf("policy %q lacks %q", csp[1], want)
		}
	}
	for _, banned := range []string{"unsafe", " src=", "@import", "url(", "<iframe", "<img", ` style="`, "innerHTML", "javascript:"} {
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
	f.manifest.Settings = []configs.Value{{Key: hostileTexts[0], Value: hostileTexts[1], Source: hostileTexts[2]}}
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
	row := openedRows(t, p)[0]
	if n := len(packOf(t, p, "facets")); n > 2000 || len(row) > 3*longAnswer || !strings.Contains(row, " … ") {
		t.Errorf("the row takes %d bytes, its facets %d", len(row), n)
	}
	if html := writePage(t, p); len(html) > 100_000 {
		t.Errorf("the page has %d bytes", len(html))
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

func TestPageWithoutRows(t *testing.T) {
	p := newFixture().page(t, PageOptions{})
	if got := packOf(t, p, "facets"); got != "[]" || headline(t, p) != "There are no answers." {
		t.Errorf("facets %s, %q", got, headline(t, p))
	}
	writePage(t, p)
}
