package browsertest

import (
	"path/filepath"
	"strings"
	"testing"
)

// twoNightsPage is the report of two nights of the sample, side by side.
func twoNightsPage(t testing.TB) string {
	t.Helper()
	return made(t, "two nights", func(dir string) string {
		run(t, dir, "init", "demo")
		run(t, dir, "run", "demo/ibid.yaml", "--out", "runs", "--id", "monday", "-q")
		run(t, dir, "run", "demo/ibid-2.yaml", "--out", "runs", "--id", "tuesday", "-q")
		run(t, dir, "report", "runs/monday", "runs/tuesday", "-o", "report.html")
		return filepath.Join(dir, "report.html")
	})
}

// TestTwoNights looks at the first screen of two nights, and at the lists of what changed.
func TestTwoNights(t *testing.T) {
	onBoth(t, func(t *testing.T, v view) {
		b := open(t, twoNightsPage(t), "", v)
		if got, want := b.text(`document.querySelector("h1").textContent`), "pointer is worse in tuesday than in monday: "; !strings.HasPrefix(got, want) {
			t.Errorf("the page begins with %q", got)
		}
		var cards []string
		b.eval(`[...document.querySelectorAll(".cards > li")].map((c) => c.querySelector(".name").textContent + " " + c.querySelector(".first .change").textContent)`, &cards)
		if got := strings.Join(cards, ", "); got != "careful +0.019 ~, pointer −0.132 worse, dreamer =" {
			t.Errorf("cards = %s", got)
		}
		if text := b.text(`document.querySelector("main").textContent`); strings.Count(text, "understands nothing") != 1 || strings.Count(strings.ToLower(text), "baseline") != 1 {
			t.Error("what a baseline judge is stands not once on the page")
		} else if strings.Contains(strings.ToLower(text), "hallucination score") {
			t.Error("the hallucination score is shown beside the rate")
		}
		b.fits()

		b.click(`.standing a[href="#changes"]`)
		b.wait(`document.activeElement.id === "h-changes"`)
		list := func(n int) string {
			return b.text(`[...document.querySelectorAll("#changes details")][` + string(rune('0'+n)) + `].querySelector("summary").textContent`)
		}
		if got := list(0) + "; " + b.text(`document.querySelector("#changes .none").textContent`) + "; " + list(1); got !=
			"New failures: 8 answers that fail in tuesday and not in monday; Fixed: 0 answers that fail in monday and not in tuesday; Still failing: 39 answers that fail in both" {
			t.Errorf("lists = %s", got)
		}
		if n := b.number(`document.querySelectorAll("#changes details:first-of-type .changed a").length`); n != 8 {
			t.Errorf("%d new failures are linked", n)
		}
		b.click(`#changes a[href="#f=since%3Anew"]`)
		b.wait(`location.hash === "#f=since%3Anew" && ` + shownRows + ` === 8`)
		b.eval(`history.back()`, nil)
		b.click(`#changes details:first-of-type .changed a`)
		b.wait(opened + ` && location.hash.startsWith("#row=q-03/tuesday%2Fpointer")`)
		b.fits()
		b.quiet()
	})
}
