package browsertest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// axeVersion is the accessibility audit that is run.
const axeVersion = "4.14.1"

// axe fetches the audit by npm, for the time of the test, or skips the test.
func axe(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("no npm to fetch axe-core")
	}
	dir := t.TempDir()
	cmd := exec.Command(npm, "install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, "axe-core@"+axeVersion)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("axe-core cannot be fetched: %v\n%s", err, out)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// TestAccessible finds no violation on the page, with a row open.
func TestAccessible(t *testing.T) {
	script := axe(t)
	plain, judged := samplePage(t), judgedPage(t, "lexical")
	for _, tt := range []struct {
		name, page, hash string
		view             view
	}{
		{"light", plain, "", desktop},
		{"dark", plain, "", view{1440, 1000, true}},
		{"row, light", judged, "#row=q-01/pointer", desktop},
		{"row, dark", judged, "#row=q-01/pointer", view{1440, 1000, true}},
		{"bad row", judged, "#row=q-02/dreamer&f=system%3Adreamer", desktop},
		{"narrow", judged, "#row=q-01/pointer", view{390, 844, false}},
		{"narrow, dark", judged, "", view{390, 844, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := open(t, tt.page, tt.hash, tt.view)
			if strings.Contains(tt.hash, "row=") {
				b.wait(opened)
			}
			b.eval(`for (const d of document.querySelectorAll("details")) d.open = true`, nil)
			b.eval(script, nil)
			var result string
			b.eval(`axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations.map((v) =>
				({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " :: " + n.failureSummary.slice(0, 300))}))))`, &result, awaited)
			var violations []struct {
				ID, Help string
				Nodes    []string
			}
			if err := json.Unmarshal([]byte(result), &violations); err != nil {
				t.Fatal(err)
			}
			for _, v := range violations {
				t.Errorf("%s: %s\n  %s", v.ID, v.Help, strings.Join(v.Nodes, "\n  "))
			}
		})
	}
}
