package browsertest

import (
	"os"
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
		if got, want := b.text(`document.querySelector("h1").textContent`), "Since monday: pointer is worse on overall by 0.127 (p 0.0"; !strings.HasPrefix(got, want) {
			t.Errorf("the page begins with %q", got)
		}
		var changes []string
		b.eval(`[...document.querySelectorAll("table.standing tbody tr")].map((r) => r.cells[0].textContent + " " + r.cells[2].textContent)`, &changes)
		if got := strings.Join(changes, ", "); got != "careful +0.019 tied, pointer -0.127 worse, dreamer =" {
			t.Errorf("changes = %s", got)
		}
		if text := b.text(`document.querySelector("main").textContent`); strings.Contains(strings.ToLower(text), "hallucination score") {
			t.Error("the hallucination score is shown beside the rate")
		}
		b.fits()

		b.click(`.top nav a[href="#changes"]`)
		b.wait(`document.activeElement.id === "h-changes"`)
		var lists []string
		b.eval(`[...document.querySelectorAll("#changes li")].map((li) => li.textContent)`, &lists)
		if got := strings.Join(lists, "; "); got != "new failures: 8 (q-03/pointer, q-05/pointer, q-07/pointer, q-11/pointer, q-15/pointer, q-17/pointer, q-20/pointer, q-23/pointer); "+
			"fixed: 0; still failing: 39 (q-01/dreamer, q-01/pointer, q-02/dreamer, …)" {
			t.Errorf("lists = %s", got)
		}
		b.click(`#changes a[href="#f=since%3Anew"]`)
		b.wait(`location.hash === "#f=since%3Anew" && ` + shownRows + ` === 8`)
		b.eval(`history.back()`, nil)
		b.click(`#changes li a[href^="#row="]`)
		b.wait(opened + ` && location.hash.startsWith("#row=q-03/tuesday%2Fpointer")`)
		b.fits()
		b.quiet()
	})
}

// TestSideBySide opens an answer of two nights: both stand beside each other, and words and
// citations that only one of them has are marked. Nothing of the data becomes an element.
func TestSideBySide(t *testing.T) {
	page := made(t, "side by side", func(dir string) string {
		for night, answer := range map[string]string{
			"monday":  `The <b>old</b> quay cost 84 million crowns.","citations":[{"doc":"d","start":0,"end":16},{"doc":"d","start":17,"end":49}`,
			"tuesday": `The <b>new</b> quay cost 84 million crowns, they say.","citations":[{"doc":"d","start":17,"end":49},{"doc":"d","start":17,"end":49}`,
		} {
			data := filepath.Join(dir, night)
			if err := os.Mkdir(data, 0o777); err != nil {
				t.Fatal(err)
			}
			imported(t, data, `{"id":"q","query":"What did it cost?","answer":"`+answer+`],"truth":[{"doc":"d","start":17,"end":49}]}
{"id":"only-`+night+`","query":"?","answer":"!"}
{"id":"same","query":"What?","answer":"Nothing.","citations":[{"doc":"d","start":17,"end":49}],"truth":[{"doc":"d","start":17,"end":49}]}
{"doc":"d","text":"The quay is old. The quay cost 84 million crowns. It rained."}
`)
			run(t, dir, "run", night+"/rows.parquet", "--documents", night+"/docs.parquet", "--judge", "none", "--id", night, "-q")
		}
		run(t, dir, "report", "runs/monday", "runs/tuesday", "-o", "report.html")
		return filepath.Join(dir, "report.html")
	})
	onBoth(t, func(t *testing.T, v view) {
		b := open(t, page, "#row=q/tuesday%2Fdefault", v)
		b.wait(opened)
		side := func(k int, what string) string {
			return b.text(`[...[...document.querySelectorAll("#row .compare")].at(-1).children[` + string(rune('0'+k)) + `].querySelectorAll("` + what + `")].map((e) => e.textContent.replace(/\((gone|new): |\)/g, "")).join("|")`)
		}
		for k, want := range []string{"The <b>old</b> quay cost 84 million crowns.", "The <b>new</b> quay cost 84 million crowns, they say."} {
			if got := side(k, "blockquote"); got != want {
				t.Errorf("side %d says %q, want %q", k, got, want)
			}
		}
		if got := side(0, "del") + " / " + side(1, "ins") + " / " + side(0, "p"); got != "<b>old</b>|crowns. / <b>new</b>|crowns, they say. / cites d [0, 16" {
			t.Errorf("marked are %q", got)
		}
		if n := b.number(`document.querySelectorAll("#row blockquote b").length`); n != 0 {
			t.Error("an answer made an element")
		}
		b.fits()
		b.eval(`location.hash = "#row=only-tuesday/tuesday%2Fdefault"`, nil)
		b.wait(`document.body.dataset.row === "only-tuesday/tuesday%2Fdefault" && !document.querySelector("#row").textContent.includes("Since monday")`)
		b.quiet()
	})
}
