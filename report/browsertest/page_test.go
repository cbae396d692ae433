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
	shownRows = `order.length`
	opened    = `document.querySelector("#row") !== null`
	closed    = `document.querySelector("#row") === null`
	status    = `document.querySelector("#status").textContent`
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
	for _, want := range []string{`id="h-verdict"`, `class="standing"`, `<svg class="strip`, `id="metrics"`, `id="method"`, "SHA-256"} {
		if !strings.Contains(static, want) {
			t.Errorf("without a script the page lacks %s", want)
		}
	}
	if n := strings.Count(static, ` data-f="`); n < 60 {
		t.Errorf("%d answers stand on the page", n)
	}
}

func TestSearchAndFilter(t *testing.T) { onBoth(t, searchAndFilter) }

func searchAndFilter(t *testing.T, v view) {
	b := open(t, judgedPage(t, "openrouter"), "", v)
	all := b.number(shownRows)
	b.fits()
	b.eval(`form.elements.q.focus()`, nil)
	b.do(chromedp.KeyEvent("quay"))
	b.wait(`location.hash.includes("q=quay")`)
	if n := b.number(shownRows); n == 0 || n >= all {
		t.Errorf("the search finds %d of %d answers", n, all)
	}
	b.eval(`document.querySelector("#status a").click()`, nil)
	b.wait(shownRows + ` === ` + fmt.Sprint(all))

	b.eval(`for (const d of document.querySelectorAll("#why details")) d.open = true`, nil)
	b.click(`#why a[href='#f=outcome%3Acontradicted']`)
	b.wait(`location.hash.includes("outcome%3Acontradicted") && ` + shownRows + ` < ` + fmt.Sprint(all))
	if n, claims := b.number(shownRows), b.text(`[...document.querySelectorAll("#why tr")].find((r) => r.querySelector("a[href='#f=outcome%3Acontradicted']")).querySelector("td.num").textContent`); fmt.Sprint(n) != claims {
		t.Errorf("%d answers for a bar of %s", n, claims)
	}
	if s := b.text(status); !strings.Contains(s, "contradicted") {
		t.Errorf("status = %q", s)
	}
	b.fits()
	b.eval(`history.back()`, nil)
	b.wait(`!location.hash.includes("outcome") && ` + shownRows + ` === ` + fmt.Sprint(all))
	b.choose("f", "is:failing")
	b.wait(`location.hash.includes("is%3Afailing") && ` + shownRows + ` < ` + fmt.Sprint(all))
	if n := b.number(`[...document.querySelectorAll(".answers tbody td")].filter((c) => getComputedStyle(c).visibility !== "hidden" && c.dataset.f && c.textContent.startsWith("✓")).length`); n != 0 {
		t.Errorf("%d answers that pass are seen among those that fail", n)
	}
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
	text := b.text(`document.querySelector("#row").textContent`)
	for _, want := range []string{"What did the new quay cost", "the whole answer", "harbour-report.txt", "scores", "pointer"} {
		if !strings.Contains(text, want) {
			t.Errorf("the row lacks %q", want)
		}
	}
	if n := b.number(`document.querySelectorAll("#row mark").length`); n == 0 {
		t.Error("nothing is marked in the sources")
	}
	if n := b.number(`[...document.querySelectorAll("main > section")].filter((s) => s.getClientRects().length).length`); n != 1 {
		t.Errorf("%d sections are seen beside the row", n-1)
	}
	b.click(`#row a`) // all answers
	b.wait(closed)
	b.eval(`history.back()`, nil)
	b.wait(opened)
	b.eval(`location.hash = "#row=q-01/pointer"`, nil)
	b.wait(opened + ` && document.querySelector("#row").textContent.includes("cargo")`)
	b.eval(`history.back()`, nil)
	b.wait(opened + ` && location.hash === "#row=q-02/careful" && document.querySelector("#row").textContent.includes("quay")`)
	b.eval(`location.hash = "#row=q-99/careful"`, nil)
	b.wait(closed + ` && ` + status + `.includes("does not hold the answer q-99/careful")`)
	b.quiet()
}

// TestEveryRowOpens opens all answers of the sample, the one that was not scored among them.
func TestEveryRowOpens(t *testing.T) {
	b := open(t, samplePage(t), "", desktop)
	var bad []string
	b.eval(`(async () => {
		const bad = [];
		for (const c of [...cells]) {
			location.hash = "#row=" + c.key;
			for (let n = 0; n < 100 && document.body.dataset.row !== c.key; n++) await new Promise((r) => setTimeout(r, 10));
			const text = document.querySelector("#row")?.textContent ?? "", [id, system] = c.key.split("/");
			if (!text.includes(id + "/" + system + " (#")) bad.push(c.key + ": " + text.slice(0, 200));
		}
		return bad;
	})()`, &bad, awaited)
	for _, text := range bad {
		t.Error(text)
	}
	b.quiet()
}

// TestRowHoldsAll: of every answer that is opened, what people look for is there: the claim
// with its citations, places and what is marked around them, status, outcome, verdict, reason,
// whether the cache answered, and the cost.
func TestRowHoldsAll(t *testing.T) {
	b := open(t, judgedPage(t, "openrouter"), "#row=q-01/careful", desktop)
	b.wait(opened)
	contains := func(wants ...string) {
		t.Helper()
		text := b.text(`document.querySelector("#row").textContent`)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q: %q", b.text("location.hash"), want, text)
			}
		}
	}
	contains("Claim 1", "contradicted", "the first thirty characters", "Cited [1]", "contradicts", "harbour-report.txt [30, 75)", "It overlaps what ada marked", "Reason: the source gives another number",
		"some/model", "from the cache", "$0.000000", "same question", "About 4.2 million tonnes")
	if got, want := b.text(`[...document.querySelectorAll("#row blockquote mark.p")].map((m) => [...m.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("")).join("")`), " all, handled 4.2 million tonnes of cargo in "; got != want {
		t.Errorf("the cited text is %q, want %q", got, want)
	}
	b.eval(`location.hash = "#row=q-01/pointer"`, nil)
	b.wait(`document.body.dataset.row === "q-01/pointer"`)
	contains("$0.001200", "1,200")
	b.quiet()
}

func TestKeys(t *testing.T) { onBoth(t, keys) }

func keys(t *testing.T, v view) {
	b := open(t, samplePage(t), "", v)
	press := func(keys string) { b.do(chromedp.KeyEvent(keys)) }
	press("j")
	press("j")
	press("k")
	if at := b.number(`[...document.querySelectorAll(".answers a")].indexOf(document.activeElement)`); at != 0 {
		t.Errorf("j j k is at answer %d", at)
	}
	press(kb.Enter)
	b.wait(opened)
	first := b.text(`document.body.dataset.row`)
	b.fits()
	press("j")
	b.wait(`document.body.dataset.row !== undefined && document.body.dataset.row !== ` + fmt.Sprintf("%q", first))
	press("k")
	b.wait(`document.body.dataset.row === ` + fmt.Sprintf("%q", first))
	press(kb.Escape)
	b.wait(closed)
	press("/")
	b.wait(`document.activeElement.type === "search"`)
	press("jk1[]?")
	if v := b.text(`document.activeElement.value`); !strings.HasSuffix(v, "jk1[]?") {
		t.Errorf("while typing, keys write %q", v)
	}
	press(kb.Escape)
	// Everything is also reached by Tab.
	b.eval(`document.querySelector("#h-answers").focus()`, nil)
	press(kb.Tab)
	b.wait(`document.activeElement.closest("#answers") !== null && document.activeElement.matches("input, select, button, a, [tabindex]")`)
	b.quiet()
}

// manyPage is the report of 250 answers.
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
		return filepath.Join(dir, "runs", "many", "report.html")
	})
}

// TestMore: of many answers some are shown at once, more on request, and all are found.
func TestMore(t *testing.T) {
	onBoth(t, func(t *testing.T, v view) {
		b := open(t, manyPage(t), "", v)
		lines := `document.querySelectorAll(".answers tbody tr").length`
		if n, all := b.number(lines), b.number(shownRows); n != 200 || all != 250 {
			t.Fatalf("%d of %d lines", n, all)
		}
		b.click(`#status button`)
		if n := b.number(lines); n != 250 {
			t.Errorf("%d lines after more", n)
		}
		b.fits()
		b.eval(`location.hash = "#q=249"`, nil)
		b.wait(shownRows + ` === 1`)
		b.click(`.answers td a`)
		b.wait(opened + ` && document.querySelector("#row h1").textContent === "question 249"`)
		b.quiet()
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
	search := func(q string) int {
		return b.number(fmt.Sprintf(`(() => { const t = performance.now(); chosen = { q: %q, f: [] }; list(); return Math.round(performance.now() - t); })()`, q))
	}
	first, next := search("q-000099"), search("q-000098")
	t.Logf("%.1f MB, ready after %d ms, heap %d MB, the first search takes %d ms, the next %d ms", float64(size)/1e6, ready, heap, first, next)
	if size > 15e6 || heap > 250 {
		t.Error("the page is large")
	}
	// The goals are 500, 100 and 20 ms; a machine that does much else gets several times that.
	if ready > 4500 || first > 900 || next > 300 {
		t.Error("the page is slow")
	}
	b.eval(`location.hash = "#row=q-003332/gamma"`, nil)
	b.wait(opened)
	b.quiet()
}

func TestTheme(t *testing.T) {
	b := open(t, samplePage(t), "", desktop)
	background := `getComputedStyle(document.documentElement).backgroundColor`
	light := b.text(background)
	b.click(`#theme`)
	b.wait(`location.hash === "#t=light"`)
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
		b.eval(`for (const d of document.querySelectorAll("#row details")) d.open = true`, nil)
		got := b.text(`[...document.querySelectorAll('#row [aria-label^="Claims and sources"] tr')].map((tr) => [...tr.children].map((c) => c.textContent).join("|")).join(" / ")`)
		if want := "claim|[1]|[2]|[3]|together|elsewhere / 1|full|||full|full / 2||full|full|full|undecided"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if n := b.number(`[...document.querySelectorAll('#row [aria-label^="Claims and sources"] tr')].filter((tr) => [...tr.children].some((c) => Math.abs(c.getBoundingClientRect().top - tr.getBoundingClientRect().top) > 1)).length`); n != 0 {
			t.Errorf("%d lines of the matrix are no lines", n)
		}
		b.fits()
		b.quiet()
	})
}
