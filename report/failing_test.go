package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid/dataset"
	"ibid/dataset/runs"
)

func TestNewFailingRow(t *testing.T) {
	counts := func(pairs map[string]int64) runs.Record {
		row := make(runs.Record)
		for _, name := range WhyColumns {
			n, known := pairs[name]
			row[name] = dataset.Cell{Null: !known, Int: n}
		}
		return row
	}
	tests := []struct {
		name string
		key  runs.RowKey
		row  runs.Record
		want []string
	}{
		{"error row", runs.RowKey{Error: "answer: null"}, counts(nil), []string{"not scored: answer: null"}},
		{"nothing known", runs.RowKey{}, counts(nil), []string{}},
		{"nothing wrong", runs.RowKey{}, counts(map[string]int64{"citations": 2, "valid_citations": 2, "truth_spans": 1, "matched_spans": 1}), []string{}},
		{"no citations", runs.RowKey{}, counts(map[string]int64{"citations": 0, "valid_citations": 0}), []string{"cites nothing"}},
		{"truth without matching", runs.RowKey{}, counts(map[string]int64{"truth_spans": 3}), []string{}},
		{
			"everything",
			runs.RowKey{},
			counts(map[string]int64{
				"citations": 3, "valid_citations": 1, "truth_spans": 2, "matched_spans": 1, "claims_needing_citation": 4, "cited_claims": 2,
				"contradicted_claims": 1, "hallucinated_claims": 3, "unscored_claims": 1,
			}),
			[]string{
				"2 citations not valid", "1 true span missed", "2 claims without citation", "1 claim contradicted", "2 claims unsupported",
				"1 claim not judged",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, NewFailingRow(tt.key, nil, tt.row).Why); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Names of rows are neither commands to a terminal nor markup.
func TestFailingIsNoMarkup(t *testing.T) {
	f := &Failing{Run: &runs.Manifest{ID: "r\x1b", Rows: 1}, Gate: "char_f1 >= 0.5", Metric: "char_f1", Rows: []FailingRow{
		{Row: 0, ID: "a\x1b[2J\n|<b>", System: "s", Why: []string{"not scored: a\nb"}},
	}}
	for format, want := range map[string]string{
		"text":     "#0   a␛[2J␊|<b>/s  –        not scored: a␊b",
		"markdown": `| 0 | a␛\[2J␊\|&lt;b> | s | – | not scored: a␊b |`,
	} {
		var out bytes.Buffer
		if err := f.Write(&out, format, nil); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "\n"+want+"\n") {
			t.Errorf("%s: no line %s in\n%s", format, want, &out)
		}
	}
}
