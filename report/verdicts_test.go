package report

import (
	"encoding/json"
	"strings"
	"testing"

	"ibid/dataset/runs"
	"ibid/report/doc"
)

// TestVerdictTable: claims by sources, with blanks for what was not asked; votes and
// labels do not count.
func TestVerdictTable(t *testing.T) {
	claim := func(k int32) *int32 { return &k }
	half, one := 0.5, 1.0
	vote, person := int32(0), "ann"
	verdicts := []runs.Judgment{
		{Claim: claim(0), Evidence: "claim"},
		{Claim: claim(0), Evidence: "joint", Support: &one, Label: "full"},
		{Claim: claim(0), Evidence: "citation:2", Support: &one, Label: "full"},
		{Claim: claim(0), Evidence: "citation:0", Support: &half, Label: "partial"},
		{Claim: claim(0), Evidence: "citation:0", Support: &one, Label: "full", Vote: &vote},
		{Claim: claim(0), Evidence: "citation:0", Support: &one, Annotator: &person},
		{Claim: claim(1), Evidence: "citation:2", Label: "unsure"},
		{Claim: claim(1), Evidence: "joint", Support: &half, Label: "unsure"}, // a number without a word
		{Claim: claim(1), Evidence: "elsewhere", Support: new(0.0), Label: "none"},
		{Evidence: "citation:2", Support: &one},
	}
	m := newVerdictTable(verdicts)
	text := doc.FormatText(doc.TextOptions{}, m.table())
	for _, want := range []string{"claim  [1]      [3]     together  elsewhere", "1      partial  full    full", "2               unsure  0.500     none"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	data, err := json.Marshal(m)
	if want := `{"claim":1,"cells":[null,{"support":null,"label":"unsure"}],"joint":{"support":0.5,"label":"unsure"},"elsewhere":{"support":0,"label":"none"}}`; err != nil || !strings.Contains(string(data), want) {
		t.Errorf("%s, %v; want %s", data, err, want)
	}
	if m := newVerdictTable(nil); m != nil || len(m.table().Rows) > 0 {
		t.Errorf("%+v", m)
	}
	if one := newVerdictTable(verdicts[:4]); len(one.table().Rows) > 0 {
		t.Error("a table of one claim")
	}
}
