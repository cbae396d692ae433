package browsertest

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// paperWidth is the width of a sheet between its margins, in pixels: US letter,
// with the margins that Chromium takes.
const paperWidth = 739

// TestPrint prints a page that is dark on the screen, with a row open.
func TestPrint(t *testing.T) {
	b := open(t, judgedPage(t, "openrouter"), "#row=q-02/careful&t=dark", view{width: 1440, height: 1000, dark: true})
	b.wait(opened)
	background := `getComputedStyle(document.documentElement).backgroundColor`
	if dark := b.text(background); dark == "rgb(255, 255, 255)" {
		t.Fatal("the page is light on the screen already")
	}
	b.view.width = paperWidth
	b.do(emulation.SetDeviceMetricsOverride(paperWidth, 1000, 1, false), b.view.media("print"))
	if light := b.text(background); light != "rgb(255, 255, 255)" {
		t.Errorf("paper is %s", light)
	}
	for _, selector := range []string{".top", "#find", "#theme"} {
		if n := b.number(fmt.Sprintf(`[...document.querySelectorAll(%q)].filter((e) => e.offsetParent !== null || e.getClientRects().length).length`, selector)); n != 0 {
			t.Errorf("%d of %s are printed", n, selector)
		}
	}
	if b.number(`document.querySelector("#row mark").getClientRects().length`) == 0 {
		t.Error("the open row is not printed")
	}
	var bad []string
	b.eval(`[...document.querySelectorAll("main *")].flatMap((e) => {
		if (!e.getClientRects().length || e.closest("svg, .sr") || e.matches("bdi, .sr, select")) return [];
		const s = getComputedStyle(e), name = e.tagName + "." + e.className + ": " + e.textContent.slice(0, 40), bad = [];
		if (s.overflowY !== "visible" && e.scrollHeight > e.clientHeight + 1) bad.push(name + " is cut below");
		if (s.overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1) bad.push(name + " is cut at its right");
		if (s.position === "sticky" || s.position === "fixed") bad.push(name + " hangs over the page");
		return bad;
	}).slice(0, 10)`, &bad)
	for _, text := range bad {
		t.Error(text)
	}
	b.fits()
	if n := sheets(b); n == 0 {
		t.Error("the PDF has no pages")
	}
	b.quiet()
}

// sheets prints the page and counts the pages of the PDF.
func sheets(b *tab) int {
	b.t.Helper()
	var pdf []byte
	b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().WithPrintBackground(true).Do(ctx)
		return err
	}))
	return len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(pdf, -1))
}

// TestPrintsWhole: what people open before they print is on the paper, too.
func TestPrintsWhole(t *testing.T) {
	b := open(t, calibratedPage(t), "", desktop)
	folded := sheets(b)
	b.eval(`for (const d of document.querySelectorAll("details")) d.open = true`, nil)
	if whole := sheets(b); whole <= folded {
		t.Errorf("%d pages folded, %d unfolded", folded, whole)
	}
	b.view.width = paperWidth
	b.do(emulation.SetDeviceMetricsOverride(paperWidth, 1000, 1, false), b.view.media("print"))
	b.fits()
	b.quiet()
}
