package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestScreenshots makes pictures of the sample's report in the folder that
// IBID_SCREENSHOTS names, to be looked at.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("IBID_SCREENSHOTS")
	if dir == "" {
		t.Skip("set IBID_SCREENSHOTS to a folder to make pictures of the report")
	}
	page := samplePage(t)
	judged := judgedPage(t, "openrouter")
	for _, s := range []struct {
		name, page, hash string
		view             view
		whole            bool
	}{
		{"wide-light", page, "", view{1440, 1000, false}, true},
		{"wide-dark", page, "", view{1440, 1000, true}, true},
		{"narrow-light", page, "", view{390, 844, false}, true},
		{"row-light", page, "#row=q-02/careful", view{1440, 1100, false}, false},
		{"row-dark", page, "#row=q-02/careful", view{1440, 1100, true}, false},
		{"row-narrow", page, "#row=q-02/careful", view{390, 2200, false}, false},
		{"judged-light", judged, "", view{1440, 1000, false}, true},
		{"judged-row-light", judged, "#row=q-01/pointer", view{1440, 1100, false}, false},
		{"judged-row-dark", judged, "#row=q-01/dreamer", view{1440, 1100, true}, false},
	} {
		t.Run(s.name, func(t *testing.T) {
			b := open(t, s.page, s.hash, s.view)
			var png []byte
			if s.whole {
				b.do(chromedp.FullScreenshot(&png, 100))
			} else {
				b.do(chromedp.CaptureScreenshot(&png))
			}
			if err := os.WriteFile(filepath.Join(dir, s.name+".png"), png, 0o666); err != nil {
				t.Fatal(err)
			}
		})
	}
}
