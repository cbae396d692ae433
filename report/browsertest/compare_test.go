package browsertest

import (
	"strings"
	"testing"
)

// TestRowsThatChanged: the links of a comparison show as many rows as they say.
func TestRowsThatChanged(t *testing.T) {
	b := open(t, samplePage(t), "", desktop)
	var links []struct {
		Href string
		Said int
	}
	b.eval(`[...document.querySelectorAll("#compare .flips a")].map((a) => ({href: a.getAttribute("href"), said: parseInt(a.textContent, 10)}))`, &links)
	if len(links) == 0 {
		t.Fatal("the comparison links no rows")
	}
	for _, link := range links {
		b.eval("location.hash = "+quoted(link.Href), nil)
		b.wait("location.hash === " + quoted(link.Href) + " && document.querySelector('.chips') !== null")
		if got := b.number("order.length"); got != link.Said {
			t.Errorf("%s shows %d rows, says %d", link.Href, got, link.Said)
		}
	}
	b.quiet()
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

// TestPassagesSideBySide: beside the passage that is cited stands the one that
// should have been, and the other answers are a link away.
func TestPassagesSideBySide(t *testing.T) {
	b := open(t, samplePage(t), "#row=q-14/pointer", desktop)
	b.wait(opened)
	if got, want := b.text(`document.querySelector(".row-detail .passage.got blockquote").textContent`), "A bicycle costs 3 crowns."; got != want {
		t.Errorf("cited is %q, want %q", got, want)
	}
	if got, want := b.text(`document.querySelector(".row-detail .passage.want blockquote").textContent`), "From January a bicycle costs 4 crowns"; !strings.HasPrefix(got, want) {
		t.Errorf("should have been cited is %q, want %q", got, want)
	}
	b.eval(`[...document.querySelectorAll(".row-detail a")].find((a) => a.textContent === "careful").click()`, nil)
	b.wait(opened + ` && location.hash === "#row=q-14/careful"`)
	b.quiet()
}

// TestPolicy: the page's own policy lets nothing run that is not its script.
func TestPolicy(t *testing.T) {
	b := open(t, samplePage(t), "", desktop)
	b.eval(`window.violations = 0; document.addEventListener("securitypolicyviolation", () => violations++)`, nil)
	b.eval(`(() => {
		const script = document.createElement("script");
		script.textContent = "document.title = 'hacked'";
		document.body.append(script);
		const image = document.createElement("img");
		image.setAttribute("onerror", "document.title = 'hacked'");
		image.src = "https://localhost/x.png";
		document.body.append(image);
		const style = document.createElement("style");
		style.textContent = "body { display: none }";
		document.head.append(style);
	})()`, nil)
	b.wait(`violations >= 3`)
	if title := b.text(`document.title`); title != "ibid · sample" {
		t.Errorf("a script ran: the title is %q", title)
	}
	if display := b.text(`getComputedStyle(document.body).display`); display == "none" {
		t.Error("a style was applied")
	}
}
