package harness_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
)

func asked(t *testing.T, e *harness.Evidence, gate string) string {
	t.Helper()
	g, err := configs.ParseGate(gate)
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.Ask([]configs.Gate{g})
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
	e := &harness.Evidence{MinCoverage: 0.98, Summary: []runs.SummaryRow{
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
		if got := asked(t, e, tt.gate); got != tt.want {
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
		e.Signs, e.Accept = []runs.Sign{s}, tt.accept
		if got := asked(t, e, tt.gate); got != tt.want {
			t.Errorf("%s with %+v: %s, want %s", tt.gate, s, got, tt.want)
		}
	}
}

// TestVerdict: a gate that failed wins over one without a verdict and over a judge that could
// not answer, wherever it stands; too many error rows win over all.
func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		asked, unanswered int64
		coverage          float64
		gates             string
		want              runs.Verdict
		lacks             string
	}{
		{0, 0, 1, "", runs.Passed, ""},
		{0, 0, 1, "pass", runs.Passed, ""},
		{0, 0, 1, "pass fail pass", runs.Failed, ""},
		{0, 0, 1, "fail none", runs.Failed, ""},
		{0, 0, 1, "none fail", runs.Failed, ""},
		{100, 2, 1, "fail", runs.Failed, ""},
		{100, 3, 1, "fail", runs.Failed, "the judge could not answer 3 of 100 claims: coverage 0.970 is below min_coverage 0.98"},
		{0, 0, 1, "pass none", runs.NoVerdict, ""},
		{100, 3, 1, "pass", runs.NoVerdict, "the judge could not answer 3 of 100 claims: coverage 0.970 is below min_coverage 0.98"},
		{0, 0, 0.98, "pass", runs.Passed, ""},
		{0, 0, 0.97, "fail", runs.NoVerdict, "3 of 100 rows are error rows: coverage 0.970 is below min_coverage 0.98"},
	} {
		m := &runs.Manifest{Rows: 100, Errors: 3, Coverage: &tt.coverage}
		m.Judge.Asked, m.Judge.Unanswered = tt.asked, tt.unanswered
		out := &harness.Outcome{Manifest: m}
		for word := range strings.FieldsSeq(tt.gates) {
			out.Gates = append(out.Gates, runs.GateResult{Verdict: map[string]runs.Verdict{"pass": runs.Passed, "fail": runs.Failed, "none": runs.NoVerdict}[word]})
		}
		if got := out.Verdict(0.98); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
		if got := strings.Join(out.Lacks(0.98), "; "); got != tt.lacks {
			t.Errorf("lacks %q, want %q", got, tt.lacks)
		}
	}
}

// TestGatesRefused: gates that the run cannot have stop before any work, with a hint.
func TestGatesRefused(t *testing.T) {
	path := writeRows(t, questions(3, "a"))
	for _, tt := range []struct{ gate, want, hint string }{
		{"char_fi >= 0.5", "no metric of that name", "did you mean char_f1?"},
		{"char_dic >= 0.5", "no metric of that name", "did you mean char_dice?"},
		{"zebra_crossing >= 0.5", "no metric of that name", "ibid help metrics lists them all"},
		{"micro(consistency_variance) >= 1", "consistency_variance has no micro value", "leave micro() out"},
		{"micro(exact_match) >= 0.5", "", ""},
		{"sum(missing_citations) <= 1000", "", ""},
		{"missing_citations <= 0", "", ""},
		{"sum(char_f1) <= 1", "char_f1 is no count", "sum() is the total of a count"},
		{"lo(missing_citations) <= 0", "missing_citations is a count: it has no interval", "sum(missing_citations), the total"},
		{"pred_docs <= 1", "no summary has pred_docs", "rows.parquet"},
		{"diff(char_f1) >= 0", "", ""}, // of the first run of a series it is not asked
		{"char_f1 >= 1", "", ""},
		{"char_f1 >= 0", "", ""},
		{"char_f1 >= 1.01", "1.01 is beyond the values that it can have, [0, 1]", "shares are fractions"},
		{"char_f1 >= -0.01", "-0.01 is beyond the values that it can have, [0, 1]", "shares are fractions"},
		{"char_f1[lang=de] >= 0", "", ""},
		{"char_f1[topic=x] >= 0.5", "topic is not among the slices of the run", "a gate can name one system and one of the slices"},
		{"char_f1[lang=de][kind=x] >= 0", "more than one system or slice", ""},
	} {
		refuse(t, path, "", tt.gate, tt.want, tt.hint)
	}
	refuse(t, path, harness.NoBaseline, "diff(char_f1) >= 0", "diff() compares with another run", "--baseline RUN")
	base := evaluate(t, path)
	for _, tt := range []struct{ gate, want, hint string }{
		{"diff(char_f1) >= -1", "", ""},
		{"diff(char_f1) <= 1", "", ""},
		{"diff(char_f1) >= -1.01", "-1.01 is beyond the values that it can have, [-1, 1]", ""},
		{"diff(char_f1) <= 1.01", "1.01 is beyond the values that it can have, [-1, 1]", ""},
		{"hi(diff(char_f1)) >= 0", "", ""},
		{"lo(diff(char_f1)) <= 1.01", "1.01 is beyond the values that it can have, [-1, 1]", ""},
		{"hi(diff(citations)) >= 0", "", ""},
	} {
		refuse(t, path, base, tt.gate, tt.want, tt.hint)
	}
}

func refuse(t *testing.T, path, baseline, gate, want, hint string) {
	t.Helper()
	set := []string{"dataset=" + path, "judge=none", "slices=[lang, kind]", "out=" + t.TempDir()}
	config, err := configs.Load(configs.Options{Set: set, Gates: []string{gate}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = (&harness.Job{Config: config, Baseline: baseline}).Plan(t.Context())
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", gate, err)
	case want != "":
		e, is := errors.AsType[*configs.Error](err)
		if !is || !strings.HasSuffix(err.Error(), ": "+want) || !strings.Contains(e.Hint, hint) {
			t.Errorf("%s: %v (%+v), want %q with the hint %q", gate, err, e, want, hint)
		}
	}
	for _, name := range []string{"char_f1", "char_dice", "claims"} {
		if !slices.Contains(harness.MetricNames(), name) {
			t.Errorf("gates do not take the name %s", name)
		}
	}
}

// TestSavedBaseline: a finished run is asked again against the run that it was compared
// with. Without that run, gates on differences have no verdict.
func TestSavedBaseline(t *testing.T) {
	path := writeRows(t, questions(40, "a"))
	base, dir := evaluate(t, path), evaluate(t, path, "id=new")
	config, err := configs.Load(configs.Options{Set: []string{"dataset=" + path, "judge=none"}, Gates: []string{"diff(char_f1) >= -0.01", "char_f1 >= 0"}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := runs.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Baseline = base
	out, err := harness.SavedOutcome(dir, m, config, "")
	if err != nil || len(out.Gates) != 2 || out.Gates[0].Verdict != runs.Passed || out.Gates[1].Verdict != runs.Passed {
		t.Errorf("%+v, %v", out, err)
	}
	if err := os.RemoveAll(base); err != nil {
		t.Fatal(err)
	}
	saved, err := harness.SavedGates(dir, m, config)
	if err != nil || len(saved) != 2 || saved[0].Verdict != runs.NoVerdict || !strings.HasPrefix(saved[0].Reason, "the run that it is compared with, "+base+", is gone: ibid history ") || saved[1].Verdict != runs.Passed {
		t.Errorf("%+v, %v", saved, err)
	}
	m.Baseline = ""
	if saved, err := harness.SavedGates(dir, m, config); err != nil || saved[0].Verdict != runs.NotAsked || saved[1].Verdict != runs.Passed {
		t.Errorf("%+v, %v", saved, err)
	}
}
