package browsertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestCellsAreOneLine: what a row of the table shows stands beside each other, and under
// its header.
func TestCellsAreOneLine(t *testing.T) {
	b := open(t, samplePage(t), "", desktop)
	var bad []string
	b.eval(`[...document.querySelectorAll("#table tr.row")].flatMap((r) => [...r.cells].flatMap((c, k) => {
		const a = c.getBoundingClientRect(), row = r.getBoundingClientRect(), head = document.querySelector("#table thead").rows[0].cells[k].getBoundingClientRect();
		return Math.abs(a.top - row.top) > 1 || Math.abs(a.height - row.height) > 1 || Math.abs(a.left - head.left) > 1 ? [r.dataset.row + ": " + c.className] : [];
	}))`, &bad)
	if len(bad) > 0 {
		t.Errorf("cells that are not in their row and column: %s", strings.Join(bad, ", "))
	}
	b.quiet()
}

// TestLinksToParts: an address that names a part of the page opens there, although the
// rows that come before it are drawn later, and folded parts unfold.
func TestLinksToParts(t *testing.T) {
	for _, part := range []string{"method", "m-char_f1"} {
		b := open(t, samplePage(t), "#"+part, desktop)
		atEnd := b.number(`Number(scrollY + innerHeight >= document.documentElement.scrollHeight - 1)`) == 1
		if top := b.number(fmt.Sprintf(`Math.round(document.getElementById(%q).getBoundingClientRect().top)`, part)); top < 0 || top > 120 && !atEnd {
			t.Errorf("#%s is %d pixels below the top of the window", part, top)
		}
		b.quiet()
	}
}

// TestSearchBeforeRows: letters that are typed after / while the page is still reading its
// rows are not lost.
func TestSearchBeforeRows(t *testing.T) {
	b := open(t, samplePage(t), "", desktop)
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`const text = Response.prototype.text, released = new Promise((r) => { window.goOn = r; });
			Response.prototype.text = async function () { await released; return text.call(this); };`).Do(ctx)
		return err
	}), chromedp.Reload())
	b.do(chromedp.KeyEvent("/bicx"), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent("ycle jk"))
	b.eval(`goOn()`, nil)
	b.wait(`document.documentElement.dataset.ready === "1"`)
	b.do(chromedp.KeyEvent("!"))
	b.wait(`location.hash === "#q=bicycle%20jk!"`)
	if got := b.text(`document.activeElement.value`); got != "bicycle jk!" {
		t.Errorf("the search holds %q", got)
	}
	b.quiet()
}

// TestNothingFound: a search without a row says so, what was asked, and offers all rows.
func TestNothingFound(t *testing.T) {
	onBoth(t, func(t *testing.T, v view) {
		b := open(t, samplePage(t), "#f=system%3Acareful&q=no%20such%20word", v)
		if got, want := b.text(`document.querySelector("#table tbody").textContent`), "No row has all of this: “no such word” in id, question, system or document; system: careful.show all rows"; got != want {
			t.Errorf("the table says %q, want %q", got, want)
		}
		b.fits()
		b.click(`#table tr.nothing button`)
		b.wait(`location.hash === "" && ` + shownRows + ` > 20`)
		b.quiet()
	})
}

// TestPhoneIsShort: on a narrow screen rows are cards of a few lines, and a page is not as
// long as a book.
func TestPhoneIsShort(t *testing.T) {
	b := open(t, samplePage(t), "", phone)
	if tall := b.number(`document.documentElement.scrollHeight`); tall > 25*int(phone.height) {
		t.Errorf("the page is %d screens long", tall/int(phone.height))
	}
	if tall := b.number(`Math.max(...[...document.querySelectorAll("#table tr.row")].map((r) => Math.round(r.getBoundingClientRect().height)))`); tall > 100 {
		t.Errorf("a row is %d pixels high", tall)
	}
	b.quiet()
}
