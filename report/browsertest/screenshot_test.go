package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestScreenshots makes the pictures of the sample's report that the README shows,
// in the folder that IBID_SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("IBID_SCREENSHOTS")
	if dir == "" {
		t.Skip("set IBID_SCREENSHOTS to a folder to make pictures of the report")
	}
	page := samplePage(t)
	for _, s := range []struct {
		name, hash string
		view       view
		element    string // what to take a picture of, "" for the window
	}{
		{"report-light", "", view{1440, 1080, false}, ""},
		{"report-dark", "", view{1440, 1080, true}, ""},
		{"row-light", "#row=q-14/pointer", view{1440, 1000, false}, "#row"},
		{"row-dark", "#row=q-14/pointer", view{1440, 1000, true}, "#row"},
		{"compare-light", "", view{1440, 1000, false}, "#compare"},
		{"compare-dark", "", view{1440, 1000, true}, "#compare"},
	} {
		t.Run(s.name, func(t *testing.T) {
			b := open(t, page, s.hash, s.view)
			var png []byte
			if s.element == "" {
				b.do(chromedp.CaptureScreenshot(&png))
			} else {
				if s.hash != "" {
					b.wait(opened)
				}
				b.eval(`for (const e of document.querySelectorAll(".top")) e.style.position = "static"; document.querySelector("#compare").style.padding = "24px"`, nil)
				b.do(chromedp.Screenshot(s.element, &png, chromedp.ByQuery))
			}
			if err := os.WriteFile(filepath.Join(dir, s.name+".png"), png, 0o666); err != nil {
				t.Fatal(err)
			}
		})
	}
}
