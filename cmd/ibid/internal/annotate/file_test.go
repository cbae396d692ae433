package annotate_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"ibid/annotations"
	"ibid/annotations/acts"
	"ibid/cmd/ibid/internal/annotate"
)

// writePage writes the page of one file.
func writePage(t testing.TB, items []annotations.BlindItem) string {
	t.Helper()
	var b bytes.Buffer
	if err := annotate.WriteFile(&b, items, annotate.Options{Purpose: "both", Seed: "1", Share: acts.Share{Index: 1, Of: 1}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "annotate.html")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// annotateAll does the same in every page: marks a sentence of each item, less the last
// word in every second, and labels its claims. from is how many places are done.
func annotateAll(b *tab, n, from, to int) {
	for i := from; i < to; i++ {
		if i >= n {
			b.press("1", "4")
			if i == n { // typing goes to the note until Esc
				b.press("t", "c", "n", "o", "\u00e9", "Escape")
			}
			b.press("Enter")
			continue
		}
		b.press("]")
		b.press(b.hintOf("The new quay")...)
		if i%2 == 1 {
			b.press("ArrowLeft")
		}
		b.press("Enter")
	}
}

// TestOneFile: the page of one file does what the served one does. It is opened from disk
// without a network, loaded again on the way, and gives a file that is the same as the one
// of the program.
func TestOneFile(t *testing.T) {
	const n = 3
	items := portItems(n)
	dir := t.TempDir()
	sampleOf(t, dir, items...)
	s := serve(t, dir, annotate.Options{Annotator: "ada", Purpose: "both", Share: acts.Share{Index: 1, Of: 1}, Seed: "1"}, false)
	b := open(t, s.url, desktop)
	annotateAll(b, n, 0, 2*n)
	s.close()
	want, err := os.ReadFile(filepath.Join(dir, "ada.jsonl"))
	if err != nil {
		t.Fatal(err)
	}

	if !strings.Contains(string(want), `"note":"noé","flag":true`) {
		t.Errorf("no note in\n%s", want)
	}
	page := writePage(t, items)
	url := "file://" + page
	b = open(t, url, desktop)
	b.do(network.EmulateNetworkConditions(true, 0, 0, 0))
	annotateAll(b, n, 0, n+1)
	b.screenshot("one-file")
	b.do(chromedp.Reload())
	b.wait(`document.documentElement.dataset.ready === "1"`)
	annotateAll(b, n, n+1, 2*n)
	b.quiet(url)
	folder := t.TempDir()
	b.do(cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(folder))
	b.eval(`document.getElementById("download").click()`, nil)
	got := waitFile(t, filepath.Join(folder, "filled.jsonl"))
	if got != string(want) {
		t.Errorf("the downloaded file:\n%s\nthe program's:\n%s", got, want)
	}
	// Another window of the same file cannot go on from what it has not seen.
	other := open(t, url, desktop)
	b.press("b", "t")
	other.press("b", "t")
	if said := other.text(`document.getElementById("message").textContent`); !strings.Contains(said, "another window") {
		t.Errorf("a second window says %q", said)
	}
	if all := other.text(`(async () => String((await store.open()).acts.length - setup.acts.length))()`); all != "1" {
		t.Errorf("%s acts were added, want 1", all)
	}
}

func waitFile(t testing.TB, path string) string {
	t.Helper()
	for range 200 {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			return string(text)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", path)
	return ""
}
