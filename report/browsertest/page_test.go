package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	shownRows = `document.querySelectorAll("#table tr.row").length`
	firstID   = `document.querySelector("#table tr.row .id").textContent`
	opened    = `document.querySelector("#table .row-detail") !== null`
	closed    = `document.querySelector("#table td.detail") === null`
)

// harbour is six answers by three systems over two documents.
const harbour = `{"id":"q-01","system":"pointer","query":"How much cargo did Port Lindow handle in 2024?","answer":"Port Lindow handled 4.2 million tonnes of cargo in 2024, a record.","citations":[{"doc":"harbour-report.txt","start":36,"end":79,"cited_text":"handled 4.2 million tonnes of cargo in 2024","answer_start":0,"answer_end":30}],"tags":{"topic":"harbour"},"truth":[{"annotator":"ada","doc":"harbour-report.txt","start":36,"end":79}]}
{"id":"q-01","system":"careful","query":"How much cargo did Port Lindow handle in 2024?","answer":"About 4.2 million tonnes in all.","citations":[{"doc":"harbour-report.txt","start":30,"end":75}],"tags":{"topic":"harbour"},"truth":[{"annotator":"ada","doc":"harbour-report.txt","start":36,"end":79}]}
{"id":"q-01","system":"dreamer","query":"How much cargo did Port Lindow handle in 2024?","answer":"Port Lindow handled 7 million tonnes.","citations":[{"doc":"yearbook.pdf","start":120,"end":188}],"tags":{"topic":"harbour"},"truth":[{"annotator":"ada","doc":"harbour-report.txt","start":36,"end":79}]}
{"id":"q-02","system":"pointer","query":"What did the new quay cost?","answer":"The quay cost 84 million crowns.","citations":[{"doc":"harbour-report.txt","start":85,"end":112}],"tags":{"topic":"harbour"},"truth":[{"annotator":"ada","doc":"harbour-report.txt","start":90,"end":112},{"annotator":"ben","doc":"harbour-report.txt","start":81,"end":112}]}
{"id":"q-02","system":"careful","query":"What did the new quay cost?","answer":"It cost 84 million crowns, all of it.","citations":[{"doc":"harbour-report.txt","start":85,"end":112},{"doc":"tea.txt","start":0,"end":9,"cited_text":"no such words"}],"tags":{"topic":"harbour"},"truth":[{"annotator":"ada","doc":"harbour-report.txt","start":81,"end":112}]}
{"id":"q-02","system":"dreamer","query":"What did the new quay cost?","answer":"Nothing, it was a gift of the king.","citations":[{"doc":"harbour-report.txt","start":900,"end":960}],"tags":{"topic":"harbour"},"truth":[{"annotator":"ada","doc":"harbour-report.txt","start":81,"end":112}]}
{"doc":"harbour-report.txt","text":"The harbour of Port Lindow, by all, handled 4.2 million tonnes of cargo in 2024. The quay cost 84 million crowns. Nobody was hurt."}
{"doc":"tea.txt","text":"Tea is a drink of leaves and hot water; it is old."}
`

// judgedPage is the report of harbour with verdicts.
func judgedPage(t testing.TB, kind string) string {
	t.Helper()
	return made(t, "judged by "+kind, func(dir string) string {
		imported(t, dir, harbour)
		run(t, dir, "run", "rows.parquet", "--documents", "docs.parquet", "--judge", "none", "--id", "judged", "-q")
		judge(t, filepath.Join(dir, "runs", "judged"), kind)
		run(t, dir, "report", "runs/judged", "-o", "report.html")
		return filepath.Join(dir, "report.html")
	})
}

// imported makes a dataset and its documents of JSON Lines.
func imported(t testing.TB, dir, lines string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "import", "jsonl", "rows.jsonl", "-o", "rows.parquet", "--docs", "docs.parquet")
}

// TestOpens opens the page from the disk.
func TestOpens(t *testing.T) {
	plain, calibrated := samplePage(t), calibratedPage(t)
	for _, tt := range []struct {
		page string
		view view
	}{
		{plain, desktop}, {plain, phone}, {plain, view{1440, 1000, true}}, {calibrated, desktop}, {calibrated, phone}, {calibrated, view{900, 800, false}},
	} {
		t.Run(fmt.Sprintf("%d wide, dark %v", tt.view.width, tt.view.dark), func(t *testing.T) {
			b := open(t, tt.page, "", tt.view)
			if n := b.number(shownRows); n == 0 {
				t.Error("no rows")
			}
			b.eval(`for (const d of document.querySelectorAll("details")) d.open = true`, nil)
			b.fits()
			b.quiet()
		})
	}
}

// TestWithoutScript looks at what stands on the page before any script.
func TestWithoutScript(t *testing.T) {
	html, err := os.ReadFile(samplePage(t))
	if err != nil {
		t.Fatal(err)
	}
	static, _, _ := strings.Cut(string(html), `<script type="application/octet-stream"`)
	for _, want := range []string{`id="h-verdict"`, `class="standing"`, `<svg class="strip`, `id="systems"`, `id="method"`, "SHA-256", "<noscript>"} {
		if !strings.Contains(static, want) {
			t.Errorf("without a script the page lacks %s", want)
		}
	}
	if n := strings.Count(static, `<td class="state">`); n < 20 {
		t.Errorf("%d rows stand on the page", n)
	}
}

func TestSortFilterSearch(t *testing.T) { onBoth(t, sortFilterSearch) }

func sortFilterSearch(t *testing.T, v view) {
	b := open(t, judgedPage(t, "openrouter"), "", v)
	all := b.number(shownRows)

	if v.narrow() { // there are no headers to click on
		b.choose("sort", "id")
		b.wait(`location.hash === "#s=id" && ` + firstID + `.includes("q-01")`)
		b.choose("sort", "-char_f1")
		b.wait(`location.hash === "#s=-char_f1"`)
		if best := b.number(`Number(document.querySelector("#table tr.row td.metric").textContent) * 1000`); best != 1000 {
			t.Errorf("by F1, the best first, the first has %d thousandths", best)
		}
	} else {
		b.click(`#table thead th[data-sort="id"] button`)
		b.wait(`location.hash === "#s=id"`)
		first := b.text(firstID)
		b.click(`#table thead th[data-sort="id"] button`)
		b.wait(`document.querySelector('th[data-sort="id"]').getAttribute("aria-sort") === "descending"`)
		if last := b.text(firstID); last <= first {
			t.Errorf("descending starts with %s, ascending with %s", last, first)
		}
	}
	b.fits()

	b.eval(`document.querySelector("#controls input[type=search]").focus()`, nil)
	b.do(chromedp.KeyEvent("quay"))
	b.wait(`location.hash.includes("q=quay")`)
	if n := b.number(shownRows); n == 0 || n >= all {
		t.Errorf("the search finds %d of %d rows", n, all)
	}
	b.click(`.chips button`)
	b.wait(shownRows + ` === ` + fmt.Sprint(all))

	b.eval(`for (const d of document.querySelectorAll("#why details")) d.open = true`, nil)
	b.click(`#why a[href='#f=outcome%3Acontradicted']`)
	b.wait(`location.hash.includes("outcome%3Acontradicted")`)
	if n, claims := b.number(shownRows), b.text(`[...document.querySelectorAll("#why tr")].find((r) => r.querySelector("a[href='#f=outcome%3Acontradicted']")).querySelector("td.num").textContent`); fmt.Sprint(n) != claims {
		t.Errorf("%d rows for a bar of %s", n, claims)
	}
	if s := b.text(`document.querySelector("#status").textContent`); !strings.Contains(s, "outcome: contradicted") {
		t.Errorf("status = %q", s)
	}
	b.fits()
	b.eval(`history.back()`, nil)
	b.wait(`!location.hash.includes("outcome") && ` + shownRows + ` === ` + fmt.Sprint(all))
	b.choose("some citation is", "document_not_found")
	b.wait(`location.hash.includes("status%3Adocument_not_found") && ` + shownRows + ` === 1`)
	b.quiet()
}

// TestBinsAgree compares each count of what fails most with the rows that its link
// shows.
func TestBinsAgree(t *testing.T) {
	for name, page := range map[string]func(testing.TB) string{"scores": samplePage, "counts": countsPage} {
		t.Run(name, func(t *testing.T) { binsAgree(t, page(t)) })
	}
}

// countsPage is the report of a run of which only what has no upper bound is
// known, such as how many sources answers cite.
func countsPage(t testing.TB) string {
	t.Helper()
	return made(t, "counts", func(dir string) string {
		imported(t, dir, `{"id":"1","query":"2 + 2?","answer":"Four.","citations":[{"doc":"a","start":0,"end":4}]}
{"id":"2","query":"2 + 3?","answer":"Five.","citations":[{"doc":"a","start":0,"end":4},{"doc":"b","start":0,"end":4}]}
{"doc":"a","text":"Two and two make four."}
{"doc":"b","text":"Two and three make five."}
`)
		run(t, dir, "run", "rows.parquet", "--documents", "docs.parquet", "--judge", "none", "--id", "counts", "-q")
		return filepath.Join(dir, "runs", "counts", "report.html")
	})
}

func binsAgree(t *testing.T, page string) {
	b := open(t, page, "", desktop)
	var bad []string
	b.eval(`(async () => {
		const bad = [];
		for (const table of document.querySelectorAll("#why table")) for (const a of table.caption.textContent.startsWith("What fails most") ? table.querySelectorAll("th a") : []) {
			location.hash = a.getAttribute("href");
			await new Promise((r) => setTimeout(r, 30));
			const want = a.closest("tr").cells[1].textContent, got = String(order.length);
			if (want !== got) bad.push(a.getAttribute("href") + ": " + got + " rows, bar of " + want);
		}
		return bad;
	})()`, &bad, awaited)
	for _, text := range bad {
		t.Error(text)
	}
	b.quiet()
}

func TestDeepLinkAndBack(t *testing.T) { onBoth(t, deepLinkAndBack) }

func deepLinkAndBack(t *testing.T, v view) {
	b := open(t, judgedPage(t, "openrouter"), "#row=q-02/careful", v)
	b.wait(opened)
	b.fits()
	text := b.text(`document.querySelector(".row-detail").textContent`)
	for _, want := range []string{"What did the new quay cost", "Answer", "Citations", "Sources", "harbour-report.txt", "row as JSON"} {
		if !strings.Contains(text, want) {
			t.Errorf("the row lacks %q", want)
		}
	}
	if strings.Contains(text, "[object") || strings.Contains(text, "undefined") && !strings.Contains(text, "Undefined, by reason") {
		t.Errorf("the row shows what is no text: %q", text)
	}
	if n := b.number(`document.querySelectorAll(".row-detail .source mark").length`); n == 0 {
		t.Error("nothing is marked in the sources")
	}
	b.click(`.row-detail .bar-top button:last-child`)
	b.wait(closed)
	b.eval(`history.back()`, nil)
	b.wait(opened)
	b.eval(`location.hash = "#row=q-01/pointer"`, nil)
	b.wait(opened + ` && !location.hash.includes("q-02/careful")`)
	b.eval(`history.back()`, nil)
	b.wait(opened + ` && location.hash === "#row=q-02/careful"`)
	b.quiet()
}

// TestEveryRowOpens opens all rows of the sample, the error row among them.
func TestEveryRowOpens(t *testing.T) {
	b := open(t, samplePage(t), "", desktop)
	var bad []string
	b.eval(`(async () => {
		const bad = [];
		for (const key of index.keys) {
			location.hash = "#row=" + key;
			for (let n = 0; n < 100 && !document.querySelector("#table .row-detail"); n++) await new Promise((r) => setTimeout(r, 10));
			const text = document.querySelector("#table td.detail")?.textContent ?? "";
			if (!document.querySelector("#table .row-detail") || text.includes("[object")) bad.push(key + ": " + text.slice(0, 200));
			location.hash = "#s=id";
			for (let n = 0; n < 100 && document.querySelector("#table td.detail"); n++) await new Promise((r) => setTimeout(r, 10));
		}
		return bad;
	})()`, &bad, awaited)
	for _, text := range bad {
		t.Error(text)
	}
	b.quiet()
}

// TestMarks compares the marks of a row with its record.
func TestMarks(t *testing.T) {
	b := open(t, judgedPage(t, "openrouter"), "#row=q-01/pointer", desktop)
	b.wait(opened)
	if got, want := b.text(`[...document.querySelectorAll(".source mark.p")].map((m) => [...m.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("")).join("")`),
		"handled 4.2 million tonnes of cargo in 2024"; got != want {
		t.Errorf("the cited text is %q, want %q", got, want)
	}
	if b.number(`document.querySelectorAll(".source mark.t").length`) == 0 || b.number(`document.querySelectorAll(".source mark.s").length`) == 0 {
		t.Error("truth or the judge's evidence is not marked")
	}
	if s := b.text(`document.querySelector(".legend").textContent`); !strings.Contains(s, "the judge's evidence") {
		t.Errorf("legend = %q", s)
	}
	b.quiet()
}

// TestRowHoldsAll: of every row that is opened, what people look for is there: the
// claim with its citations, places and what is marked around them, status,
// outcome, verdict, reason, whether the cache answered, and the cost.
func TestRowHoldsAll(t *testing.T) {
	b := open(t, judgedPage(t, "openrouter"), "#row=q-01/careful", desktop)
	b.wait(opened)
	contains := func(selector string, wants ...string) {
		t.Helper()
		text := b.text(fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.textContent).join(' / ')", ".row-detail "+selector))
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s of %s lacks %q: %q", selector, b.text("location.hash"), want, text)
			}
		}
	}
	contains(".claims > li", "contradicted", "About 4.2 million tonnes")
	contains(".claims .cite", "1")
	contains(".cites > li", "place exists", "contradicts", "harbour-report.txt [30, 75)", "It overlaps what ada marked", "Reason: the source gives another number")
	contains("> p", "some/model", "from the cache", "$0.00000")
	contains(".legend", "cited", "marked as true", "both", "tolerance")
	if s := b.text(`[...document.querySelectorAll(".source mark.o")].map((e) => e.textContent).join("|")`); s != "Lindow, by|. The " {
		t.Errorf("the tolerance is marked at %q", s)
	}
	b.eval(`location.hash = "#row=q-01/pointer"`, nil)
	b.wait(opened + ` && document.querySelector(".row-detail .question").textContent.includes("cargo") && document.querySelector(".row-detail mark.s") !== null`)
	contains("> p", "$0.00120", "1.2 s")
	contains(".source mark.s", "led 4.2 million tonnes of cargo in 2024")
	b.quiet()
}

// TestLongDocument: of a long text what is near a mark is seen at once, the rest on
// request.
func TestLongDocument(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("Nothing of note is said in here. ", 200)
	imported(t, dir, fmt.Sprintf(`{"id":"q","query":"?","answer":"a","citations":[{"doc":"d","start":100,"end":120}],"truth":[{"doc":"d","start":6000,"end":6020}]}
{"doc":"d","text":%q}
`, text))
	run(t, dir, "run", "rows.parquet", "--documents", "docs.parquet", "--judge", "none", "--id", "long", "-q")
	b := open(t, filepath.Join(dir, "runs", "long", "report.html"), "#row=q/default", phone)
	b.wait(opened)
	shown := `document.querySelector(".source .text").textContent.length`
	if n := b.number(shown); n < 800 || n > 2000 {
		t.Errorf("%d characters are seen at once", n)
	}
	if n := b.number(`document.querySelectorAll(".source mark.p, .source mark.t").length`); n != 2 {
		t.Errorf("%d marks are seen", n)
	}
	b.eval(`for (const f of document.querySelectorAll(".source .fold")) f.click()`, nil)
	if n := b.number(shown); n < len(text) {
		t.Errorf("on request %d of %d characters are seen", n, len(text))
	}
	b.fits()
	b.quiet()
}

func TestBaselineIsNamed(t *testing.T) {
	b := open(t, judgedPage(t, "lexical"), "#row=q-01/pointer", desktop)
	b.wait(opened)
	if s := b.text(`document.querySelector(".row-detail").textContent`); !strings.Contains(s, "Lexical judge: full support") || !strings.Contains(s, "lexical judge evidence") {
		t.Errorf("a row does not say whose verdicts it shows: %q", s)
	}
	b.quiet()
}

func TestKeys(t *testing.T) { onBoth(t, keys) }

func keys(t *testing.T, v view) {
	b := open(t, samplePage(t), "", v)
	press := func(keys string) { b.do(chromedp.KeyEvent(keys)) }
	press("j")
	press("j")
	press("k")
	if at := b.number(`[...document.querySelectorAll("#table tr.row")].findIndex((r) => r.classList.contains("at"))`); at != 0 {
		t.Errorf("j j k is at row %d", at)
	}
	press(kb.Enter)
	b.wait(opened)
	b.fits()
	press(kb.Escape)
	b.wait(closed)
	press("/")
	b.wait(`document.activeElement.type === "search"`)
	press("jk1[]?")
	// The driver types a key even if the page has taken it, so the slash is there.
	if v := b.text(`document.activeElement.value`); !strings.HasSuffix(v, "jk1[]?") {
		t.Errorf("while typing, keys write %q", v)
	}
	if b.number(`document.querySelectorAll("#table tr.at, dialog[open]").length`) != 0 || b.text(`document.activeElement.type`) != "search" {
		t.Error("keys do what they do although somebody is typing")
	}
	press(kb.Escape)
	b.eval(`document.querySelector(".chips button")?.click()`, nil)
	press("?")
	b.wait(`document.querySelector("#help").open`)
	press(kb.Escape)
	b.wait(`!document.querySelector("#help").open`)
	// A digit goes to the section of that number.
	press(b.text(`String([...document.querySelectorAll("main > section")].findIndex((s) => s.id === "rows") + 1)`))
	b.wait(`document.activeElement.id === "h-rows"`)
	// Everything is also reached by Tab: the next stop is in the section.
	press(kb.Tab)
	b.wait(`document.activeElement.closest("#rows") !== null && document.activeElement.matches("input, select, button, a, [tabindex]")`)
	b.quiet()
}

func TestPages(t *testing.T) { onBoth(t, turnPages) }

func turnPages(t *testing.T, v view) {
	b := open(t, manyPage(t), "", v)
	each, pages := 100, 3
	if v.narrow() { // rows are cards, one below the other
		each, pages = 25, 10
	}
	if n := b.number(shownRows); n != each {
		t.Fatalf("a page has %d rows, want %d", n, each)
	}
	for p := 2; p <= pages; p++ {
		b.do(chromedp.KeyEvent("]"))
		b.wait(fmt.Sprintf(`location.hash === "#p=%d"`, p))
	}
	if n := b.number(shownRows); n != 250-each*(pages-1) {
		t.Errorf("the last page has %d rows", n)
	}
	b.do(chromedp.KeyEvent("["))
	b.wait(fmt.Sprintf(`location.hash === "#p=%d"`, pages-1))
	b.eval(`location.hash = "#p=2"`, nil)
	b.click(`#pager button:last-child`)
	b.wait(`location.hash === "#p=3"`)
	b.fits()
	b.eval(`history.back()`, nil)
	b.wait(`location.hash === "#p=2"`)
	b.eval(`location.hash = "#row=q-249/default"`, nil)
	b.wait(opened)
	if q := b.text(`document.querySelector(".row-detail .question").textContent`); q != "question 249" {
		t.Errorf("the link opens %q", q)
	}
	b.quiet()
}

// manyPage is the report of 250 rows.
func manyPage(t testing.TB) string {
	t.Helper()
	var lines strings.Builder
	for i := range 250 {
		fmt.Fprintf(&lines, `{"id":"q-%d","query":"question %d","answer":"answer %d","citations":[{"doc":"d","start":%d,"end":%d}],"truth":[{"doc":"d","start":5,"end":25}]}`+"\n", i, i, i, i%40, i%40+10)
	}
	fmt.Fprintf(&lines, `{"doc":"d","text":%q}`+"\n", strings.Repeat("some words of a text ", 10))
	return made(t, "many", func(dir string) string {
		imported(t, dir, lines.String())
		run(t, dir, "run", "rows.parquet", "--documents", "docs.parquet", "--judge", "none", "--id", "many", "-q")
		run(t, dir, "report", "runs/many", "-o", "report.html")
		return filepath.Join(dir, "report.html")
	})
}

// TestTenThousandRows is about a page that is still quick to use.
func TestTenThousandRows(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 10,000 rows")
	}
	page, size := largePage(t, 10_000)
	b := open(t, page, "", desktop)
	ready, heap := b.number(`Math.round(performance.getEntriesByName("ready")[0].startTime)`), b.number(`Math.round(performance.memory.usedJSHeapSize / 1e6)`)
	filter := b.number(`(() => { const t = performance.now(); go({ query: "q-000099" }); return Math.round(performance.now() - t); })()`)
	t.Logf("%.1f MB, ready after %d ms, heap %d MB, a search takes %d ms", float64(size)/1e6, ready, heap, filter)
	if size > 15e6 || heap > 250 {
		t.Error("the page is large")
	}
	// The goal is 1,500 ms; a machine that does much else gets several times that.
	if ready > 9000 || filter > 4500 {
		t.Error("the page is slow")
	}
	b.quiet()
}

func TestTheme(t *testing.T) {
	b := open(t, samplePage(t), "", desktop)
	background := `getComputedStyle(document.documentElement).backgroundColor`
	light := b.text(background)
	b.click(`#theme`)
	b.click(`#theme`)
	b.wait(`location.hash === "#t=dark"`)
	if dark := b.text(background); dark == light {
		t.Errorf("dark and light are both %s", dark)
	}
	b.do(chromedp.Reload())
	b.wait(`document.documentElement.dataset.theme === "dark"`)
	b.quiet()
}

// TestClaimsBySources opens a row of which one claim cites two places and both claims cite
// one: what was said of each is in a table, and what was not asked is blank.
func TestClaimsBySources(t *testing.T) {
	page := made(t, "claims by sources", func(dir string) string {
		imported(t, dir, `{"id":"m","query":"What of the quay?","answer":"The quay is old. The quay cost 84 million crowns.","claims":[{"claim_id":"a","text":"The quay is old."},{"claim_id":"b","text":"The quay cost 84 million crowns."}],"citations":[{"doc":"d","start":0,"end":16,"claim_id":"a"},{"doc":"d","start":17,"end":49,"claim_id":"b"},{"doc":"d","start":0,"end":49,"claim_id":"b"}],"documents":[{"doc":"d","text":"The quay is old. The quay cost 84 million crowns. It rained."}]}
`)
		run(t, dir, "run", "rows.parquet", "--judge", "lexical", "--id", "m", "-q")
		return filepath.Join(dir, "runs", "m", "report.html")
	})
	onBoth(t, func(t *testing.T, v view) {
		b := open(t, page, "#row=m/default", v)
		b.wait(opened)
		got := b.text(`[...document.querySelectorAll('.row-detail [aria-label="Claims by sources"] tr')].map((tr) => [...tr.children].map((c) => c.textContent).join("|")).join(" / ")`)
		if want := "claim|[1]|[2]|[3]|together|elsewhere / 1|full|||full|full / 2||full|full|full|undecided"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if n := b.number(`[...document.querySelectorAll('.row-detail [aria-label="Claims by sources"] tr')].filter((tr) => [...tr.children].some((c) => Math.abs(c.getBoundingClientRect().top - tr.getBoundingClientRect().top) > 1)).length`); n != 0 {
			t.Errorf("%d lines of the matrix are no lines", n)
		}
		b.fits()
		b.quiet()
	})
}
