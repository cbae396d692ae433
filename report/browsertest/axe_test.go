package browsertest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// axe reads the accessibility audit, axe-core's axe.min.js, from the file that
// IBID_AXE names. Tests fetch nothing; without it the test is skipped, unless
// IBID_REQUIRE_BROWSER says that it must run.
func axe(t *testing.T) string {
	t.Helper()
	path := os.Getenv("IBID_AXE")
	if path == "" {
		missing(t, "IBID_AXE names no axe.min.js (npm: axe-core)")
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// missing skips a test that lacks what it needs, or fails it where everything has
// to be there.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("IBID_REQUIRE_BROWSER") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// TestAccessible finds no violation on the page, with a row open.
func TestAccessible(t *testing.T) {
	script := axe(t)
	plain, judged, calibrated := samplePage(t), judgedPage(t, "lexical"), calibratedPage(t)
	nights, two := nightsPage(t, 14), twoNightsPage(t)
	for _, tt := range []struct {
		name, page, hash string
		view             view
	}{
		{"light", plain, "", desktop},
		{"dark", plain, "", view{1440, 1000, true}},
		{"row, light", judged, "#row=q-01/pointer", desktop},
		{"row, dark", judged, "#row=q-01/pointer", view{1440, 1000, true}},
		{"bad row", judged, "#row=q-02/dreamer", desktop},
		{"calibrated", calibrated, "", desktop},
		{"calibrated, narrow, dark", calibrated, "", view{390, 844, true}},
		{"narrow", judged, "#row=q-01/pointer", phone},
		{"narrow, dark", judged, "", view{390, 844, true}},
		{"nights", nights, "", desktop},
		{"nights, narrow, dark", nights, "", view{390, 844, true}},
		{"two nights, light", two, "", desktop},
		{"two nights, row", two, "#row=q-03/tuesday%2Fpointer", desktop},
		{"two nights, narrow, dark", two, "#row=q-03/tuesday%2Fpointer", view{390, 844, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := open(t, tt.page, tt.hash, tt.view)
			if strings.Contains(tt.hash, "row=") {
				b.wait(opened)
			}
			b.audit(script, "document")
		})
	}
}

// audit fails the test if axe finds a violation in the context, all of it unfolded.
func (b *tab) audit(script, context string) {
	b.t.Helper()
	b.eval(`for (const d of document.querySelectorAll("details")) d.open = true`, nil)
	b.eval(script, nil)
	var result string
	b.eval(`axe.run(`+context+`, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations.map((v) =>
		({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " :: " + n.failureSummary.slice(0, 300))}))))`, &result, awaited)
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(result), &violations); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range violations {
		b.t.Errorf("%s: %s\n  %s", v.ID, v.Help, strings.Join(v.Nodes, "\n  "))
	}
}
