package compare

import (
	"fmt"
	"testing"

	"ibid/configs"
	"ibid/dataset/runs"
)

func verdictText(t *testing.T, e *evidence, gate string) string {
	t.Helper()
	g, err := configs.ParseGate(gate)
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.ask([]configs.Gate{g})
	if err != nil || len(all) != 1 || all[0].Gate != g.String() {
		t.Fatalf("%s: %+v, %v", gate, all, err)
	}
	out := string(all[0].Verdict)
	if all[0].Value != nil {
		out += fmt.Sprintf(" %v", *all[0].Value)
	}
	if all[0].Reason != "" {
		out += ": " + all[0].Reason
	}
	return out
}

// TestGatesOfRows asks gates of a summary by hand: which row each looks at, which of its
// values, and what takes its verdict.
func TestGatesOfRows(t *testing.T) {
	row := func(system, slice, metric, agg string, estimate float64) runs.SummaryRow {
		return runs.SummaryRow{System: system, Slice: slice, Metric: metric, Agg: agg, N: 9, Estimate: &estimate, Low: new(estimate - 0.1), High: new(estimate + 0.1)}
	}
	alone := row("", "", "char_jaccard", runs.Macro, 0.5)
	alone.Low, alone.High = nil, nil
	nothing := row("", "", "token_f1", runs.Macro, 0)
	nothing.Estimate, nothing.Low, nothing.High, nothing.N, nothing.Undefined = nil, nil, nil, 2, 7
	judged, half := row("", "", "hallucination_rate", runs.Macro, 0.5), row("", "", "supported_completeness", runs.Macro, 0.5)
	judged.Coverage, half.Coverage = new(0.98), new(0.97)
	e := &evidence{minCoverage: 0.98, summary: []runs.SummaryRow{
		row("", "", "char_f1", runs.Macro, 0.75), row("", "", "char_f1", runs.Micro, 0.5), row("a", "", "char_f1", runs.Macro, 0.25),
		row("a", "lang=de", "char_f1", runs.Macro, 0.125), row("", "lang=de", "char_f1", runs.Macro, 0.375), alone, nothing, judged, half,
	}}
	tests := []struct{ gate, want string }{
		{"char_f1 >= 0.75", "pass 0.75"},
		{"char_dice >= 0.75", "pass 0.75"},
		{"char_f1 > 0.75", "fail 0.75"},
		{"lo(char_f1) >= 0.65", "pass 0.65"},
		{"hi(char_f1) <= 0.84", "fail 0.85"},
		{"micro(char_f1) < 0.6", "pass 0.5"},
		{"hi(micro(char_f1)) < 0.6", "fail 0.6"},
		{"char_f1[system=a] >= 0.3", "fail 0.25"},
		{"char_f1[lang=de] >= 0.3", "pass 0.375"},
		{"char_f1[lang=de][system=a] >= 0.125", "pass 0.125"},
		{"char_f1[lang=fr][system=a] >= 0", "no verdict: the run has no rows of a lang=fr"},
		{"char_f1[system=b] >= 0", "no verdict: the run has no rows of b"},
		{"char_f1[lang=de][topic=x] >= 0", "no verdict: more than one system or slice"},
		{"char_jaccard >= 0.5", "pass 0.5"},
		{"lo(char_jaccard) >= 0.5", "no verdict: an estimate over 9 rows, without an interval"},
		{"exact_match >= 0", "no verdict: the run has no rows of exact_match"},
		{"token_f1 >= 0", "no verdict: no value: undefined in 7 of 9 rows"},
		{"hallucination_rate >= 0.5", "pass 0.5"},
		{"supported_completeness >= 0.5", "no verdict 0.5: coverage 0.970 is below min_coverage 0.98"},
	}
	for _, tt := range tests {
		if got := verdictText(t, e, tt.gate); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.gate, got, tt.want)
		}
	}
	// A sign of the run, or of the system that a gate names, takes the verdict, unless it is
	// accepted. The one of rows that are not defined is asked anew.
	sign := runs.Sign{Name: "citations_null", System: "a", Text: "nothing is cited", Metrics: []string{"char_f1"}}
	for _, tt := range []struct {
		sign   func(s *runs.Sign)
		accept []string
		gate   string
		want   string
	}{
		{func(*runs.Sign) {}, nil, "char_f1[system=a] >= 0", "no verdict 0.25: sign citations_null, system a: nothing is cited; accept: [citations_null] gives a verdict all the same"},
		{func(*runs.Sign) {}, nil, "char_f1[system=a][lang=de] >= 0", "no verdict 0.125: sign citations_null, system a: nothing is cited; accept: [citations_null] gives a verdict all the same"},
		{func(*runs.Sign) {}, nil, "char_jaccard >= 0", "pass 0.5"},
		{func(*runs.Sign) {}, []string{"citations_null"}, "char_f1[system=a] >= 0", "pass 0.25"},
		{func(s *runs.Sign) { s.System = "b" }, nil, "char_f1[system=a] >= 0", "pass 0.25"},
		{func(s *runs.Sign) { s.Note = true }, nil, "char_f1[system=a] >= 0", "pass 0.25"},
		{func(s *runs.Sign) { s.Name = "min_defined" }, nil, "char_f1[system=a] >= 0", "pass 0.25"},
	} {
		s := sign
		tt.sign(&s)
		e.signs, e.accept = []runs.Sign{s}, tt.accept
		if got := verdictText(t, e, tt.gate); got != tt.want {
			t.Errorf("%s with %+v: %s, want %s", tt.gate, s, got, tt.want)
		}
	}
}
