package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"ibid/dataset/runs"

	"github.com/google/go-cmp/cmp"
)

// hostileSummary is a summary whose texts are markup in every format.
func hostileSummary() *Summary {
	estimate := 0.25
	m := &runs.Manifest{ID: "a|b", Status: runs.StatusComplete, Rows: 1234}
	return NewSummary(m, []runs.SummaryRow{
		{System: "x|<b>,\"y\"", Metric: "char_f1", Agg: runs.Macro, N: 3, Estimate: &estimate, Level: 0.95, Warnings: []string{"*one*", "two"}},
		{System: "x|<b>,\"y\"", Metric: "exact_match", Agg: runs.Macro, Undefined: 3, Level: 0.95},
	}, []runs.GateResult{{Gate: "char_f1[system=x|<b>] > 1", Verdict: runs.NoVerdict, Reason: "a|b"}})
}

func TestMarkdownIsNoMarkup(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, hostileSummary(), "markdown", TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`## a\|b: 1,234 answers.`,
		`Gates: 1 of 1 has no verdict.`,
		`| x\|&lt;b>,"y" | 0.250¹˒² | 3 |`,
		`| char\_f1\[system=x\|&lt;b>\] > 1 | NONE | – |`,
		`### x\|&lt;b>,"y"`,
		`| char\_f1 | 0.250 | 3 | 0¹˒² |`,
		`¹ \*one\*`,
	} {
		if !strings.Contains(out.String(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, &out)
		}
	}
	if strings.Contains(out.String(), "exact_match") {
		t.Errorf("a metric that is undefined everywhere is shown:\n%s", &out)
	}
}

// CSV reads back as it was, and what is undefined is empty.
func TestCSV(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, hostileSummary(), "csv", TextOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"system", "slice", "metric", "agg", "n", "num", "den", "undefined", "unscored", "coverage", "estimate", "ci_low", "ci_high", "level", "method", "clusters", "bound_low", "bound_high", "corrected", "corrected_low", "corrected_high", "corrected_method", "warnings", "defined_share", "se", "df", "design_effect", "given", "reason", "reasons", "undecided"},
		{"x|<b>,\"y\"", "", "char_f1", "macro", "3", "", "", "0", "0", "", "0.25", "", "", "0.95", "", "0", "", "", "", "", "", "", "*one*; two", "", "", "", "", "0", "", "", "0"},
		{"x|<b>,\"y\"", "", "exact_match", "macro", "0", "", "", "3", "0", "", "", "", "", "0.95", "", "0", "", "", "", "", "", "", "", "", "", "", "", "0", "", "", "0"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// JSON has null for what is undefined and [] for what is empty.
func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, hostileSummary(), "json", TextOptions{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema   string
		Summary  []map[string]any
		Warnings []any
		Gates    []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != "ibid.summary/v1" || len(got.Summary) != 2 || got.Warnings == nil || len(got.Gates) != 1 {
		t.Fatalf("got %s", &out)
	}
	if v, ok := got.Summary[1]["estimate"]; !ok || v != nil {
		t.Errorf("undefined estimate is %v (there: %t), want null", v, ok)
	}
	if list, ok := got.Summary[1]["warnings"].([]any); !ok || len(list) != 0 {
		t.Errorf("no warnings are %v, want []", got.Summary[1]["warnings"])
	}
}
