package report

import (
	"bytes"
	"strings"
	"testing"

	"ibid/dataset/runs"
	"ibid/metrics"

	"github.com/google/go-cmp/cmp"
)

func TestNewFailingRow(t *testing.T) {
	counts := func(numbers map[string]float64) runs.Row { return runs.Row{Numbers: numbers} }
	tests := []struct {
		name string
		row  runs.Row
		want []string
	}{
		{"error row", runs.Row{Error: "answer: null"}, []string{"not scored: answer: null"}},
		{"nothing known", counts(nil), []string{}},
		{"nothing wrong", counts(map[string]float64{"citations": 2, "valid_citations": 2, "truth_spans": 1, "matched_spans": 1}), []string{}},
		{"no citations", counts(map[string]float64{"citations": 0, "valid_citations": 0}), []string{"cites nothing"}},
		{"truth without matching", counts(map[string]float64{"truth_spans": 3}), []string{}},
		{
			"everything",
			runs.Row{Open: map[string]int64{"unscored_factual": 1, "no_text_factual": 2}, Numbers: map[string]float64{
				"citations": 3, "valid_citations": 1, "truth_spans": 2, "matched_spans": 1, "needing_claims": 4, "cited_claims": 2,
				"contradicted_claims": 1, "hallucinated_claims": 3,
			}},
			[]string{
				"2 citations not valid", "1 true span missed", "2 claims without citation", "1 claim contradicted", "2 claims unsupported",
				"1 claim not judged",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, newFailingRow(&tt.row).Why); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestReadFailing: the worst rows come first, and those that nobody asked for are counted.
func TestReadFailing(t *testing.T) {
	run := large(40, 3).run(t)
	all, err := ReadFailing(run.Dir, run.Manifest, 0)
	if err != nil || all.Failing < 10 || int64(len(all.Rows)) != all.Failing || all.Left != 0 {
		t.Fatalf("%d of %d rows, %d left, %v", len(all.Rows), all.Failing, all.Left, err)
	}
	if last := all.Rows[len(all.Rows)-1]; last.Value != nil && *last.Value < *all.Rows[0].Value {
		t.Errorf("the worst is %+v, the last %+v", all.Rows[0], last)
	}
	some, err := ReadFailing(run.Dir, run.Manifest, 9)
	if err != nil || some.Failing != all.Failing || some.Left != all.Failing-9 {
		t.Fatalf("%d rows fail, %d are left, %v", some.Failing, some.Left, err)
	}
	if diff := cmp.Diff(all.Rows[:9], some.Rows); diff != "" {
		t.Errorf("the worst of all, and of nine: -all +nine\n%s", diff)
	}
}

// Names of rows are neither commands to a terminal nor markup.
func TestFailingIsNoMarkup(t *testing.T) {
	f := &Failing{Run: &runs.Manifest{ID: "r\x1b", Rows: 1}, Rows: []FailingRow{
		{Row: 0, ID: "a\x1b[2J\n|<b>", System: "s", Problem: metrics.ProblemError, Why: []string{"not scored: a\nb"}},
	}}
	for format, want := range map[string]string{
		"text":     "a [2J |<b>/s   #0  could not be scored        –  not scored: a b",
		"markdown": `| a \[2J \|&lt;b>/s | could not be scored | – | not scored: a b |`,
	} {
		var out bytes.Buffer
		if err := Write(&out, f, format, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "\n"+want+"\n") {
			t.Errorf("%s: no line %s in\n%s", format, want, &out)
		}
	}
}
