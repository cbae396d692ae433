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
	b.wait(`location.hash.endsWith("bicycle%20jk!")`)
	if got := b.text(`document.activeElement.value`); !strings.HasSuffix(got, "bicycle jk!") { // the driver types the slash even if the page has taken it
		t.Errorf("the search holds %q", got)
	}
	b.quiet()
}

// TestNothingFound: a search without an answer says so, and offers all.
func TestNothingFound(t *testing.T) {
	onBoth(t, func(t *testing.T, v view) {
		b := open(t, samplePage(t), "#f=system%3Acareful&q=no%20such%20word", v)
		if got, want := b.text(status), "0 of 72 answers careful show all"; got != want {
			t.Errorf("the list says %q, want %q", got, want)
		}
		b.fits()
		b.click(`#status a`)
		b.wait(shownRows + ` === 72`)
		b.quiet()
	})
}

// TestPhoneIsShort: on a narrow screen lines are short, and a page is not as long as a book.
func TestPhoneIsShort(t *testing.T) {
	b := open(t, samplePage(t), "", phone)
	if tall := b.number(`document.documentElement.scrollHeight`); tall > 20*int(phone.height) {
		t.Errorf("the page is %d screens long", tall/int(phone.height))
	}
	if tall := b.number(`Math.max(...[...document.querySelectorAll(".answers tbody tr")].map((r) => Math.round(r.getBoundingClientRect().height)))`); tall > 120 {
		t.Errorf("a line is %d pixels high", tall)
	}
	// An answer is its sign alone: no word is cut, and readers of the screen hear all of it.
	const cut = `[...document.querySelectorAll(".answers td a > span")].filter((s) => {
		const text = document.createTreeWalker(s, NodeFilter.SHOW_TEXT).nextNode(), word = document.createRange();
		word.setStart(text, 2);
		word.setEnd(text, 3);
		return word.getBoundingClientRect().left < s.getBoundingClientRect().right;
	}).length`
	if n := b.number(cut); n > 0 {
		t.Errorf("%d answers show a part of a word", n)
	}
	b.quiet()
}
