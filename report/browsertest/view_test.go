package browsertest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// manyRows are 240 answers by two systems over the harbour's documents: more than a page
// of rows has.
func manyRows() string {
	var b strings.Builder
	for i := range 240 {
		doc, start := "harbour-report.txt", i%40
		if i%7 == 0 {
			doc = "nowhere.pdf"
		}
		fmt.Fprintf(&b, `{"id":"r-%03d","system":%q,"query":"What of quay number %d?","answer":"It is quay %d, a fine one.","citations":[{"doc":%q,"start":%d,"end":%d}],"tags":{"topic":"t%d"},"truth":[{"annotator":"ada","doc":"harbour-report.txt","start":36,"end":79}]}`+"\n",
			i/2, []string{"careful", "pointer"}[i%2], i, i, doc, start, start+43, i%3)
	}
	_, documents, _ := strings.Cut(harbour, `{"doc":"harbour-report.txt","text"`)
	return b.String() + `{"doc":"harbour-report.txt","text"` + documents
}

// runsFolder is a folder with two runs of the sample and one with many rows.
func runsFolder(t testing.TB) string {
	t.Helper()
	return made(t, "a folder of runs", func(dir string) string {
		run(t, dir, "init", "sample", "-q")
		sample := filepath.Join(dir, "sample")
		run(t, sample, "run", "ibid.yaml", "--id", "monday", "-q")
		run(t, sample, "run", "ibid.yaml", "--set", "dataset=answers-2.parquet", "--id", "tuesday", "-q")
		imported(t, sample, manyRows())
		run(t, sample, "run", "rows.parquet", "--documents", "docs.parquet", "--id", "many", "-q")
		return filepath.Join(sample, "runs")
	})
}

// viewed serves a folder of runs and returns the address of its index.
func viewed(t testing.TB, dir string) string {
	t.Helper()
	cmd := exec.Command(ibid, "view", dir)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "IBID_") })
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait() // 130: it was interrupted
	})
	said, err := bufio.NewReader(out).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(said), "open ")
	if err != nil || !found {
		t.Fatalf("ibid view said %q: %v", said, err)
	}
	return address
}

const found = `document.querySelector("#status").firstChild.data`

// TestView goes through the pages of a folder of runs: the list, two runs side by side, a
// search over all, a row of a search.
func TestView(t *testing.T) { onBoth(t, viewFolder) }

func viewFolder(t *testing.T, v view) {
	address := viewed(t, runsFolder(t))
	b := openAt(t, address, v)
	b.wait(`document.querySelector("h1").textContent === "3 runs"`)
	if n := b.number(`document.querySelectorAll(".chart g").length`); n < 5 {
		t.Errorf("%d lines", n)
	}
	if s := b.text(`document.querySelector(".runlist tbody").textContent`); !strings.Contains(s, "4 of 4 passed") || !strings.Contains(s, "no gates") {
		t.Errorf("the table of runs says %q", s)
	}
	b.fits()
	b.click(`input[value="monday"]`)
	b.click(`input[value="tuesday"]`)
	b.click(`form[action="compare"] button`)
	b.wait(`document.querySelector("#compare") && ` + ready)
	if s := b.text(`document.title`); s != "ibid · monday, tuesday" {
		t.Errorf("title %q", s)
	}
	b.click(`nav a`)
	b.wait(`document.querySelector("h1")?.textContent === "3 runs"`)

	b.eval(`document.querySelector("input[type=search]").value = "quay number 203?"; document.querySelector("form[role=search]").requestSubmit()`, nil)
	b.wait(`document.querySelectorAll(".found a").length === 1`)
	b.fits()
	b.click(`.found a`)
	b.wait(ready + ` && ` + opened)
	if s := b.text(firstID); s != "r-101" {
		t.Errorf("the row that was found is %s", s)
	}
	b.quiet()
}

// TestViewRows looks at rows that are read when they are asked for: pages, filters, orders
// and searches are those of the page as one file, and each row has a link.
func TestViewRows(t *testing.T) { onBoth(t, viewRows) }

func viewRows(t *testing.T, v view) {
	dir := runsFolder(t)
	address := viewed(t, dir) + "run/many/"
	b := openAt(t, address+"rows", v)
	b.wait(ready)
	b.fits()
	b.choose("some citation is", "document_not_found")
	b.wait(`location.search === "?f=status%3Adocument_not_found" && ` + ready)
	if s := b.text(found); !strings.HasPrefix(s, "35 of 240 rows") {
		t.Errorf("the filter finds %q", s)
	}
	b.eval(`history.back()`, nil)
	b.wait(`location.search === "" && ` + ready)
	b.click(`#pager button:last-child`)
	b.wait(`location.search === "?p=2" && ` + ready)
	b.click(`#table tr.row .id button`)
	b.wait(opened)
	if s := b.text(`document.querySelector("#table .row-detail").textContent`); !strings.Contains(s, "The quay cost 84 million crowns") && !strings.Contains(s, "handled 4.2 million") {
		t.Errorf("the opened row lacks the text of its document: %.300q", s)
	}
	link := b.text(`location.href`)
	b.do(chromedp.Navigate(address + "rows"))
	b.wait(ready)
	b.do(chromedp.Navigate(link)) // a link to a row, on its page
	b.wait(opened)
	b.do(chromedp.Navigate(address + "rows?p=3"))
	b.wait(ready)
	id, system := b.text(`[...document.querySelectorAll("#table tr.row .id")].at(-1).textContent`), b.text(`[...document.querySelectorAll("#table tr.row .sys")].at(-1).textContent`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"rows#row="+id+"/"+system)) // and one that has lost its page
	b.wait(`location.search.startsWith("?row=") && ` + ready + ` && ` + opened)
	if s := b.text(`document.querySelector("#table tr.row.open .id").textContent`); s != id {
		t.Errorf("the link to %s leads to %s", id, s)
	}
	b.quiet()

	one := open(t, filepath.Join(dir, "many", "report.html"), "", v)
	for _, state := range []string{"", "s=-char_f1", "s=char_f1&p=2", "s=-id", "s=cited", "s=system&f=is%3Afailing", "f=char_f1%3A0.2..0.6", "f=tag%3Atopic%3Dt1&f=system%3Apointer", "q=r-01", "f=problem%3Adocument_not_found&s=-row", "f=char_f1%3Aundefined"} {
		order := `[...document.querySelectorAll("#table tr.row")].map((r) => r.querySelector(".id").textContent + "/" + r.querySelector(".sys").textContent).slice(0, 25).join(" ")`
		one.eval(fmt.Sprintf(`location.hash = %q`, state), nil)
		one.do(chromedp.Navigate("file://" + filepath.Join(dir, "many", "report.html") + "?" + fmt.Sprint(len(state)) + "#" + state))
		one.wait(ready)
		b.do(chromedp.Navigate(address + "rows?" + state))
		b.wait(ready)
		if state == "s=char_f1&p=2" && v.narrow() {
			continue // a page of the file has fewer rows on a narrow screen
		}
		if got, want := b.text(order), one.text(order); got != want {
			t.Errorf("%s: served %s\nin one file %s", state, got, want)
		}
		if got, want := strings.Split(b.text(found), " · ")[0], strings.Split(one.text(found), " · ")[0]; got != want {
			t.Errorf("%s: served %s, in one file %s", state, got, want)
		}
	}
}

// TestViewAccessible finds no violation on the pages that are served, in both themes and on
// a phone, nor on the list that is written as a file.
func TestViewAccessible(t *testing.T) {
	script := axe(t)
	dir := runsFolder(t)
	site := t.TempDir()
	run(t, dir, "report", ".", "-o", site, "-q")
	address := viewed(t, dir)
	for _, page := range []string{address, address + "search?q=quay", address + "run/many/rows", "file://" + filepath.Join(site, "index.html")} {
		for _, v := range []view{desktop, {1440, 1000, true}, phone, {390, 844, true}} {
			b := openAt(t, page, v)
			b.wait(`document.readyState === "complete"`)
			if strings.HasSuffix(page, "rows") {
				b.wait(ready)
			}
			b.fits()
			b.audit(script, "document")
		}
	}
	b := openAt(t, "file://"+filepath.Join(site, "index.html"), desktop)
	b.click(`.runlist a`)
	b.wait(ready)
	b.click(`nav a`)
	b.wait(`document.querySelector("h1")?.textContent === "3 runs"`)
}
