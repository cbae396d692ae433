package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostileTexts are texts, as JSON escapes them, that try to be more than text.
var hostileTexts = []string{
	`<script>document.title='hacked'</script>`, `</script><script>document.title='hacked'</script>`, `<img src=x onerror=\"document.title='hacked'\">`,
	`javascript:document.title='hacked'`, `\" onmouseover=\"document.title='hacked'`, `a\u0000b`, `abc\u202edef\u2066ghi`, `{{.Title}}`, `#row=x&f=y`, `%zz`,
	`<svg onload=document.title='hacked'>`, `https://localhost/x.png`, strings.Repeat("long ", 1<<14), strings.Repeat("unbroken", 1<<10), // in all members a line of 1 MB
}

// surrogates are lines with half of a character in one member each. No text can
// hold it.
var surrogates = []string{
	`{"id":"x\ud800","query":"?","answer":"a"}`, `{"id":"x","system":"s\ud800","query":"?","answer":"a"}`, `{"id":"x","query":"?","answer":"a\udc00"}`,
	`{"id":"x","query":"?","answer":"a","citations":[{"doc":"d\ud800","start":0,"end":1}]}`,
	`{"id":"x","query":"?","answer":"a","citations":[{"doc":"d","title":"t\udfff","start":0,"end":1}]}`,
	`{"id":"x","query":"?","answer":"a","tags":{"t":"v\ud800"}}`, `{"doc":"d","text":"\ud83d"}`,
}

// hostilePage is the report of rows whose every text is hostile: of two systems,
// two annotators who disagree, a judge and what people make of it.
func hostilePage(t testing.TB) string {
	t.Helper()
	return made(t, "hostile", func(dir string) string {
		var lines, told strings.Builder
		for i, h := range hostileTexts {
			fmt.Fprintf(&lines, `{"id":"%s","system":"%s","query":"%s","answer":"%s","citations":[{"doc":"%s","title":"%s","start":0,"end":3,"cited_text":"%s","source_type":"%s","source_reference":"{\"asset_title\":\"<script>document.title=1</script>\",\"asset_version\":\"<b>\"}"}],`,
				h, hostileTexts[(i+1)%3], h, h, h, h, h, h)
			fmt.Fprintf(&lines, `"truth":[{"annotator":"%s","doc":"%s","start":1,"end":4},{"annotator":"ben","doc":"%s","start":0,"end":9}],`, h, h, h)
			fmt.Fprintf(&lines, `"claims":[{"claim_id":"%s","text":"%s"}],"labels":[{"annotator":"%s","claim_id":"%s","kind":"support","value":1},{"annotator":"ben","claim_id":"%s","kind":"support","value":0}],"tags":{"t":"%s"}}`+"\n", h, h, h, h, h, h)
			fmt.Fprintf(&lines, `{"doc":"%s","text":"%s and more text"}`+"\n", h, h)
			for _, evidence := range []string{"joint", "citation:0"} {
				fmt.Fprintf(&told, `{"id":"%s","system":"%s","claim":0,"evidence":"%s","support":%d,"quote":"%s","why":"%s"}`+"\n", h, hostileTexts[(i+1)%3], evidence, i%2, h, h)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(lines.String()+strings.Join(surrogates, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "told.jsonl"), []byte(told.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		// What cannot be read is said, line by line, and the rest goes on.
		out, code := attempt(t, dir, "import", "jsonl", "rows.jsonl", "-o", "rows.parquet", "--docs", "docs.parquet")
		if code != 4 {
			t.Fatalf("import ends with exit code %d\n%.2000s", code, out)
		}
		for k := range surrogates {
			if want := fmt.Sprintf("rows.jsonl:%d:", 2*len(hostileTexts)+k+1); !strings.Contains(out, want) {
				t.Errorf("import does not say that it left out line %s", want)
			}
		}
		if n := strings.Count(out, "invalid surrogate pair"); n != len(surrogates) {
			t.Errorf("import says %d times that half a character is missing, want %d", n, len(surrogates))
		}
		run(t, dir, "run", "rows.parquet", "--documents", "docs.parquet", "--judge", "recorded", "--replay", "told.jsonl", "--id", "hostile", "-q", "--set", "slices=[t]", "--set", "limits=256")
		run(t, dir, "calibrate", "runs/hostile", "-q")
		return filepath.Join(dir, "runs", "hostile", "report.html")
	})
}

// TestHostile opens rows whose every text is hostile: nothing runs, nothing is
// asked for, and the page keeps its shape.
func TestHostile(t *testing.T) {
	onBoth(t, func(t *testing.T, v view) {
		b := open(t, hostilePage(t), "", v)
		title := b.text(`document.title`)
		rows := b.number(shownRows)
		if rows != len(hostileTexts) {
			t.Errorf("%d rows of %d", rows, len(hostileTexts))
		}
		if n := b.number(`document.querySelectorAll("#agreement .passage").length`); n == 0 {
			t.Error("the disagreements are not there")
		}
		foreign := `document.querySelectorAll("main img, main script, main iframe, main a:not([href^='#']), main [onload], main [onerror], main [onmouseover], main [style]").length`
		for i := range rows {
			b.eval(fmt.Sprintf(`order[%d].link.click()`, i), nil)
			b.wait(opened)
			if n := b.number(foreign); n != 0 {
				t.Errorf("with row %d open the page holds %d elements of its texts' making", i, n)
			}
			b.fits()
			b.eval(`for (const d of document.querySelectorAll("#row details")) d.open = true`, nil)
			b.fits()
			b.click(`#row a`)
			b.wait(closed)
		}
		b.eval(`for (const d of document.querySelectorAll("details")) d.open = true`, nil)
		b.fits()
		if now := b.text(`document.title`); now != title {
			t.Errorf("something ran: the title is %q", now)
		}
		b.quiet()
	})
}
