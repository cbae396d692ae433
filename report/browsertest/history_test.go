package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid/dataset/runs"
)

// nightsPage is the report of the last of n nights, which fall after the twelfth.
// The earlier ones have the name of a script that reads backwards.
func nightsPage(t testing.TB, n int) string {
	t.Helper()
	const hostile = "<script>document.title='hacked'</script>\u202eabc"
	dir := t.TempDir()
	for night := range n {
		var lines strings.Builder
		for q := range 4 {
			end := 20 - night%2 - q
			if night >= 12 {
				end -= 8
			}
			fmt.Fprintf(&lines, `{"id":"q-%d","query":"?","answer":"!","citations":[{"doc":"d","start":0,"end":%d}],"truth":[{"doc":"d","start":0,"end":20}]}`+"\n", q, end)
		}
		fmt.Fprintln(&lines, `{"doc":"d","text":"twenty words of a text that goes on for some time"}`)
		if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(lines.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("night-%d", night+1)
		settings := []string{"--set", "span_matching.tolerance_chars=5"}
		if night < 2 {
			settings[1] = "span_matching.tolerance_chars=6"
		}
		run(t, dir, "import", "jsonl", "rows.jsonl", "-o", "rows.parquet", "--docs", "docs.parquet")
		run(t, dir, append([]string{"run", "rows.parquet", "--documents", "docs.parquet", "--judge", "none", "--id", id, "-q"}, settings...)...)
		if night+1 < n {
			changeManifest(t, filepath.Join(dir, "runs", id), func(m *runs.Manifest) { m.ID = hostile })
		}
	}
	run(t, dir, "report", fmt.Sprintf("runs/night-%d", n), "-o", "report.html")
	return filepath.Join(dir, "report.html")
}

func changeManifest(t testing.TB, dir string, change func(*runs.Manifest)) {
	t.Helper()
	m, err := runs.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	if err := m.Write(dir); err != nil {
		t.Fatal(err)
	}
}

// TestHistory looks at the charts at both widths and in both themes.
func TestHistory(t *testing.T) {
	page := nightsPage(t, 20)
	for _, v := range []view{desktop, {390, 844, false}, {1440, 1000, true}, {390, 844, true}} {
		t.Run(fmt.Sprintf("%d wide, dark %v", v.width, v.dark), func(t *testing.T) {
			b := open(t, page, "", v)
			b.wait(`document.querySelector("#history .chart")`)
			b.eval(`for (const d of document.querySelectorAll("#history details")) d.open = true`, nil)
			if over := b.number(`document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("the page is %d pixels wider than the window", over)
			}
			if marks, rows := b.number(`document.querySelectorAll("#history .chart:first-of-type circle").length`), b.number(`document.querySelector("#history table").tBodies[0].rows.length`); marks < 20 || rows != 20 {
				t.Errorf("%d marks and %d lines of 20 nights", marks, rows)
			}
			// Whatever the width, marks keep their size and lie inside of their chart.
			var outside []string
			b.eval(`[...document.querySelectorAll(".chart > svg")].flatMap((c) => {
				const box = c.getBoundingClientRect();
				return [...c.querySelectorAll("circle, text, line")].filter((m) => {
					const r = m.getBoundingClientRect();
					return r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 5;
				}).map((m) => m.outerHTML.slice(0, 120));
			})`, &outside)
			for _, m := range outside {
				t.Errorf("outside of its chart: %s", m)
			}
			if size := b.text(`(() => { const r = document.querySelector(".chart circle").getBoundingClientRect(); return Math.round(r.width) + " × " + Math.round(r.height); })()`); size != "7 × 7" {
				t.Errorf("a night is %s pixels", size)
			}
			if got := b.text(`document.title`); got != "ibid · night-20" {
				t.Errorf("something ran: the title is %q", got)
			}
			if n := b.number(`document.querySelectorAll("#history img, #history script").length`); n != 0 {
				t.Errorf("names of runs made %d elements", n)
			}
			if text := b.text(`document.querySelector("#history").textContent`); strings.Contains(text, "\u202e") || !strings.Contains(text, "<script>document.title='hacked'</script>␣abc") {
				t.Errorf("the section does not name the runs as they are: %.300q", text)
			}
			b.quiet()
		})
	}
}
