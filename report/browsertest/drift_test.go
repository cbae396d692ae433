package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// driftPage is the report of two nights between which the judge moved on twelve
// anchors, which people labelled: it calls none supported any more.
func driftPage(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	var rows, before, after strings.Builder
	for i := range 12 {
		text := fmt.Sprintf("The pier is %d metres long.", 10+i)
		fmt.Fprintf(&rows, `{"id":"a%d","query":"How long is the pier?","answer":%q,"citations":[{"doc":"d","start":0,"end":27}],`+
			`"claims":[{"claim_id":"c","text":%[2]q,"start":0,"end":27}],"labels":[{"annotator":"ada","claim_id":"c","kind":"support","value":%d}],`+
			`"documents":[{"doc":"d","text":%[2]q}]}`+"\n", i, text, i%2)
		for label, file := range map[string]*strings.Builder{"full": &before, "none": &after} {
			fmt.Fprintf(file, `{"row":"a%d/default","reply":{"tampering":"none","claims":[{"id":"c1","kind":"factual","checks":[{"evidence_id":"e1",`+
				`"why":"","quote":"metres","support":%q,"relevant":"yes"}],"joint_why":"","joint":%[2]q,"elsewhere":"none","elsewhere_evidence_id":"","elsewhere_quote":""}]}}`+"\n", i, label)
		}
	}
	for name, text := range map[string]string{"rows.jsonl": rows.String(), "monday.jsonl": before.String(), "tuesday.jsonl": after.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "import", "jsonl", "rows.jsonl", "-o", "rows.parquet")
	for _, night := range []string{"monday", "tuesday"} {
		run(t, dir, "run", "rows.parquet", "--judge", "replay", "--set", "judge.replay="+night+".jsonl", "--set", "judge.anchors.dataset=rows.parquet", "--id", night, "-q")
	}
	run(t, dir, "report", "runs/monday", "runs/tuesday", "-o", "report.html")
	return filepath.Join(dir, "report.html")
}

// TestDrift: the judge's section says that the judge moved and lists what flipped,
// on a telephone, too.
func TestDrift(t *testing.T) {
	page := driftPage(t)
	for _, v := range []view{desktop, {390, 844, true}} {
		b := open(t, page, "#judge", v)
		if got := b.text(`document.querySelector("#judge .badge.bad").textContent.trim()`); !strings.HasSuffix(got, "moved") {
			t.Errorf("the badge says %q", got)
		}
		if n := b.number(`[...document.querySelectorAll("#judge details[open] tbody tr")].filter((r) => r.offsetHeight > 0).length`); n != 12 {
			t.Errorf("%d flipped verdicts are in sight", n)
		}
		if over := b.number(`document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("the page is %d pixels wider than a window of %d", over, v.width)
		}
		b.quiet()
	}
}
