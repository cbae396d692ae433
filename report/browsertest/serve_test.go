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
	cmd := exec.Command(ibid, "report", "--serve", dir)
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
		t.Fatalf("ibid report --serve said %q: %v", said, err)
	}
	return address
}

// TestServe goes through the pages of a folder of runs: the list, and the page of a run.
func TestServe(t *testing.T) { onBoth(t, serveFolder) }

func serveFolder(t *testing.T, v view) {
	address := viewed(t, runsFolder(t))
	b := openAt(t, address, v)
	b.wait(`document.querySelector("h1").textContent === "3 runs in 2 series"`)
	if n := b.number(`document.querySelectorAll(".chart g").length`); n < 3 {
		t.Errorf("%d lines", n)
	}
	if s := b.text(`document.querySelector("table tbody").textContent`); !strings.Contains(s, "pass") {
		t.Errorf("the table of runs says %q", s)
	}
	b.fits()
	b.click(`table a[href="tuesday/index.html"]`)
	b.wait(`document.title === "ibid · tuesday" && ` + ready)
	b.click(`nav a`)
	b.wait(`document.querySelector("h1")?.textContent === "3 runs in 2 series"`)
	b.quiet()
}

// TestServeRows looks at answers that are read when they are asked for: a search goes over all
// of them, and each has a link.
func TestServeRows(t *testing.T) { onBoth(t, serveRows) }

func serveRows(t *testing.T, v view) {
	address := viewed(t, runsFolder(t)) + "many/"
	b := openAt(t, address+"rows", v)
	b.wait(ready)
	b.fits()
	if s := b.text(`document.querySelector("h1").textContent`); s != "240 answers of many" {
		t.Errorf("the page is of %q", s)
	}
	b.eval(`document.querySelector("form[action=rows] input").value = "fine 11"; document.querySelector("form[action=rows]").requestSubmit()`, nil)
	b.wait(`location.search === "?q=fine+11" && ` + ready)
	if s := b.text(`document.querySelector("h1").textContent`); s != "34 answers of many" { // ids and numbers of quays
		t.Errorf("the search finds %q", s)
	}
	b.eval(`order.at(-1).link.click()`, nil)
	b.wait(opened)
	if s := b.text(`document.querySelector("#row").textContent`); !strings.Contains(s, "84 million crowns") && !strings.Contains(s, "handled 4.2 million") {
		t.Errorf("the opened answer lacks the text of its document: %.300q", s)
	}
	link := b.text(`location.href`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link)) // a link to an answer
	b.wait(opened)
	b.quiet()
}

// TestServeAccessible finds no violation on the pages that are served, in both themes and on
// a phone, nor on the list that is written as a file.
func TestServeAccessible(t *testing.T) {
	script := axe(t)
	dir := runsFolder(t)
	site := t.TempDir()
	run(t, dir, "report", ".", "-o", site, "-q")
	address := viewed(t, dir)
	for _, page := range []string{address, address + "many/rows", "file://" + filepath.Join(site, "index.html")} {
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
	b.click(`table a`)
	b.wait(`document.querySelector("nav a") !== null && ` + ready) // the index has no such link
	b.click(`nav a`)
	b.wait(`document.querySelector("h1")?.textContent === "3 runs in 2 series"`)
}
