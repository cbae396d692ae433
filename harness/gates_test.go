package harness_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
)

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
	out, err := harness.SavedOutcome(dir, m, config, "", "")
	if err != nil || len(out.Gates) != 2 || out.Gates[0].Verdict != runs.Passed || out.Gates[1].Verdict != runs.Passed {
		t.Errorf("%+v, %v", out, err)
	}
	if err := os.RemoveAll(base); err != nil {
		t.Fatal(err)
	}
	saved, err := compare.AskGates(dir, m, config, m.Baseline, "")
	if err != nil || len(saved) != 2 || saved[0].Verdict != runs.NoVerdict || !strings.HasPrefix(saved[0].Reason, "the run that it is compared with, "+base+", is gone: ibid history ") || saved[1].Verdict != runs.Passed {
		t.Errorf("%+v, %v", saved, err)
	}
	m.Baseline = ""
	if saved, err := compare.AskGates(dir, m, config, m.Baseline, ""); err != nil || saved[0].Verdict != runs.NotAsked || saved[1].Verdict != runs.Passed {
		t.Errorf("%+v, %v", saved, err)
	}
}
