package report

import (
	"bytes"
	"errors"
	"slices"
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
			if diff := cmp.Diff(tt.want, NewFailingRow(&tt.row, nil).Why); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Rows that are streamed are written as those in memory.
func TestFailingStream(t *testing.T) {
	all := []FailingRow{
		{Row: 2, ID: "a<b", System: "s", Because: "error", Problem: metrics.ProblemError, Why: []string{"not scored: x"}},
		{Row: 0, ID: "c", System: "s", Value: new(0.25), Why: []string{}},
		{Row: 1, ID: "d", System: "s", Value: new(0.0), Why: []string{"cites nothing", "1 claim not judged"}},
	}
	for _, n := range []int{0, 1, 3} {
		for _, limit := range []int{0, 1, 2} {
			memory, streamed := &Failing{Run: &runs.Manifest{ID: "r", Rows: 9}, Failing: 5, Metric: "char_f1"}, &Failing{Run: &runs.Manifest{ID: "r", Rows: 9}, Failing: 5, Metric: "char_f1"}
			memory.Rows = slices.Clone(all[:n])
			for _, r := range all[:n] {
				memory.Count(r.System, r.Problem)
				streamed.Count(r.System, r.Problem)
			}
			if limit > 0 {
				memory.Keep(limit)
			}
			if n > 0 {
				streamed.Stream(int64(limit), func(limit int64, yield func(*FailingRow) error) error {
					for i := range all[:limit] {
						if err := yield(&all[i]); err != nil {
							return err
						}
					}
					return nil
				})
			}
			for _, format := range []string{"text", "markdown", "csv", "json"} {
				var want, got bytes.Buffer
				if err := errors.Join(memory.Write(&want, format, TextOptions{}), streamed.Write(&got, format, TextOptions{})); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.String(), got.String()); diff != "" {
					t.Errorf("%d rows, limit %d, %s: -memory +streamed\n%s", n, limit, format, diff)
				}
				if format != "json" {
					continue
				}
				var rows bytes.Buffer
				whole := failingJSON{"ibid.failing/v1", runOf(memory.Run), memory.Failing, "", 0, memory.Left, append([]failingReason{}, memory.Reasons...), append([]FailingRow{}, memory.Rows...)}
				if err := WriteJSON(&rows, whole); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(rows.String(), got.String()); diff != "" {
					t.Errorf("%d rows, limit %d: not what WriteJSON writes\n%s", n, limit, diff)
				}
			}
		}
	}
}

// Names of rows are neither commands to a terminal nor markup.
func TestFailingIsNoMarkup(t *testing.T) {
	f := &Failing{Run: &runs.Manifest{ID: "r\x1b", Rows: 1}, Gate: "char_f1 >= 0.5", Metric: "char_f1", Rows: []FailingRow{
		{Row: 0, ID: "a\x1b[2J\n|<b>", System: "s", Problem: metrics.ProblemError, Why: []string{"not scored: a\nb"}},
	}}
	for format, want := range map[string]string{
		"text":     "a [2J |<b>/s   #0  could not be scored        –  not scored: a b",
		"markdown": `| a \[2J \|&lt;b>/s | could not be scored | – | not scored: a b |`,
	} {
		var out bytes.Buffer
		if err := f.Write(&out, format, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "\n"+want+"\n") {
			t.Errorf("%s: no line %s in\n%s", format, want, &out)
		}
	}
}
