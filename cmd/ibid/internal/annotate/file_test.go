package annotate_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"ibid/annotations/round"
	"ibid/cmd/ibid/internal/annotate"
)

// writePage writes the page of one file.
func writePage(t testing.TB, items []round.Item) string {
	t.Helper()
	var b bytes.Buffer
	h := round.Header{Purpose: round.Both, Taken: []string{"Old"}}
	if err := round.WriteItems(io.Discard, &h, items); err != nil {
		t.Fatal(err)
	}
	if err := annotate.WriteFile(&b, &h, items); err != nil {
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

// openFile opens the page of one file under a name.
func openFile(t testing.TB, url, name string) *tab {
	t.Helper()
	b := openTab(t, url, desktop)
	b.wait(`!document.getElementById("ask-name").hidden`)
	b.name(name)
	return b
}

// name gives the page of one file a name.
func (b *tab) name(name string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`document.getElementById("name").value = %q; document.getElementById("ask-name").requestSubmit()`, name), nil)
	b.wait(`document.documentElement.dataset.ready === "1"`)
}

// TestOneFile: the page of one file does what the served one does. It asks for a name, is
// opened from disk without a network, loaded again on the way, and gives a file with the same
// states as that of the program.
func TestOneFile(t *testing.T) {
	const n = 3
	items := portItems(n)
	dir := t.TempDir()
	sampleOf(t, dir, items...)
	s := serve(t, dir, "ada", false)
	b := open(t, s.url, desktop)
	annotateAll(b, n, 0, 2*n)
	s.close()
	path := filepath.Join(dir, "ada.jsonl")
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(want), `"note":"noé"`) {
		t.Errorf("no note in\n%s", want)
	}
	page := writePage(t, items)
	url := "file://" + page
	b = openTab(t, url, desktop)
	for name, wrong := range map[string]string{"../x": "Letters", "old": "already", "key": "Letters"} {
		b.eval(fmt.Sprintf(`document.getElementById("name").value = %q; document.getElementById("ask-name").requestSubmit()`, name), nil)
		b.wait(fmt.Sprintf(`document.getElementById("name-wrong").textContent.includes(%q)`, wrong))
	}
	b.name("ada")
	b.do(network.EmulateNetworkConditions(true, 0, 0, 0))
	annotateAll(b, n, 0, n+1)
	b.screenshot("one-file")
	b.do(chromedp.Reload())
	b.wait(`!document.getElementById("ask-name").hidden`)
	b.name("Ada")
	annotateAll(b, n, n+1, 2*n)
	b.quiet(url)
	folder := t.TempDir()
	b.do(cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(folder))
	b.eval(`document.getElementById("download").click()`, nil)
	got := waitFile(t, filepath.Join(folder, "Ada.jsonl"))
	// Both files in one folder are one person's, who says the same in both.
	if err := os.WriteFile(filepath.Join(dir, "other.jsonl"), []byte(got), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := round.Open(dir)
	if err != nil {
		t.Fatalf("the downloaded file:\n%s\nthe program's:\n%s\n%v", got, want, err)
	}
	if len(r.People) != 1 || r.Counts()[0].Done != 2*n || strings.Count(got, "\n") != strings.Count(string(want), "\n") {
		t.Errorf("%+v", r.Counts())
	}
	// Another window of the same file cannot go on from what it has not seen.
	other := openFile(t, url, "ada")
	b.press("b", "t")
	other.press("b", "t")
	if said := other.text(`document.getElementById("message").textContent`); !strings.Contains(said, "another window") {
		t.Errorf("a second window says %q", said)
	}
	if all := other.text(`(async () => String((await store.read()).length - setup.states.length))()`); all != "1" {
		t.Errorf("%s states were added, want 1", all)
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
