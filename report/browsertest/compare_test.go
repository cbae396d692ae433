package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPassagesSideBySide: beside the passage that is cited stands the one that
// should have been, and the other answers are a link away.
func TestPassagesSideBySide(t *testing.T) {
	b := open(t, made(t, "passages side by side", func(dir string) string {
		answer := `"query":"What do I pay?","answer":"A bicycle costs 4 crowns.","claims":[{"claim_id":"c1","text":"A bicycle costs 4 crowns."}],"citations":[{"doc":"old","start":0,"end":25,"claim_id":"c1"}]`
		imported(t, dir, `{"doc":"old","text":"A bicycle costs 3 crowns. Dogs travel free."}
{"doc":"new","text":"From January a bicycle costs 4 crowns. Dogs pay."}
{"id":"q","system":"pointer",`+answer+`}
{"id":"q","system":"careful",`+answer+`}
`)
		told := `{"id":"q","system":"pointer","claim":0,"evidence":"joint","support":0,"doc":"","start":null,"end":null}
{"id":"q","system":"pointer","claim":0,"evidence":"citation:0","support":0}
{"id":"q","system":"pointer","claim":0,"evidence":"elsewhere","support":1,"doc":"new","start":0,"end":38}
`
		if err := os.WriteFile(filepath.Join(dir, "told.jsonl"), []byte(told+strings.ReplaceAll(told, "pointer", "careful")), 0o666); err != nil {
			t.Fatal(err)
		}
		run(t, dir, "run", "rows.parquet", "--documents", "docs.parquet", "--judge", "recorded", "--replay", "told.jsonl", "--id", "sides", "-q")
		return filepath.Join(dir, "runs", "sides", "report.html")
	}), "#row=q/pointer", desktop)
	b.wait(opened)
	if got, want := b.text(`[...document.querySelectorAll("#row blockquote")][1].textContent`), "(cited: A bicycle costs 3 crowns.) Dogs travel free."; got != want {
		t.Errorf("cited is %q, want %q", got, want)
	}
	if got, want := b.text(`[...document.querySelectorAll("#row blockquote")][2].textContent`), "From January a bicycle costs 4 crowns"; !strings.HasPrefix(got, want) {
		t.Errorf("should have been cited is %q, want %q", got, want)
	}
	b.eval(`[...document.querySelectorAll("#row a")].find((a) => a.textContent.startsWith("careful")).click()`, nil)
	b.wait(`document.body.dataset.row === "q/careful"`)
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
