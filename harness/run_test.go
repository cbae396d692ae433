package harness_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
)

// broken makes one of the rows one that cannot be scored: a start without an end.
func broken(rows []*ibid.Answer) []*ibid.Answer {
	rows[1].Citations = []ibid.Citation{{Doc: "doc", Start: ibid.Some[int64](4)}}
	return rows
}

// TestErrorRows: a row that cannot be scored is recorded, the run goes on, and
// running again evaluates what failed and ends in the same bytes.
func TestErrorRows(t *testing.T) {
	path := writeRows(t, broken(questions(20, "a")))
	out := t.TempDir()
	run := func() *harness.Outcome {
		config, err := configs.Load(configs.Options{Set: []string{"dataset=" + path, "judge=none", "out=" + out}})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := (&harness.Job{Config: config, Source: path, ID: "run"}).Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o, err := plan.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	first := run()
	if m := first.Manifest; m.Status != runs.StatusPartial || m.Rows != 20 || m.Errors != 1 || first.Verdict(0.98) != runs.NoVerdict {
		t.Errorf("status %s, rows %d, errors %d, verdict %v", m.Status, m.Rows, m.Errors, first.Verdict(0.98))
	}
	before := results(t, first.Dir)
	found, err := runs.Rows().Read(first.Dir)
	found = slices.DeleteFunc(found, func(r runs.Row) bool { return r.Error == "" })
	if err != nil || len(found) != 1 || found[0].ID != "q-001" || !strings.Contains(found[0].Error, "citations") {
		t.Errorf("error rows %+v, %v", found, err)
	}
	second := run()
	if !second.Existed {
		t.Error("a run with error rows, whose data are the same, was evaluated again")
	}
	for name, data := range results(t, second.Dir) {
		if data != before[name] {
			t.Errorf("%s changed when the run was asked for again", name)
		}
	}
	if log := readFile(t, filepath.Join(first.Dir, harness.LogFile)); strings.Count(log, "msg=started") != 1 || !strings.Contains(log, "error rows") {
		t.Errorf("log:\n%s", log)
	}
	if _, err := os.Stat(filepath.Join(first.Dir, "parts")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("parts are still there: %v", err)
	}
}

func results(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, name := range []string{runs.RowsFile, runs.CitationsFile, runs.SummaryFile} {
		out[name] = readFile(t, filepath.Join(dir, name))
	}
	return out
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestLimitAndOnly(t *testing.T) {
	path := writeRows(t, questions(30, "a"))
	config, err := configs.Load(configs.Options{Set: []string{"dataset=" + path, "judge=none", "out=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	job := &harness.Job{Config: config, Limit: 10, Only: map[string]string{"lang": "de"}}
	plan, err := job.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := runs.Rows().Read(out.Dir)
	if err != nil || len(found) != 5 || found[4].Row != 8 {
		t.Errorf("rows %+v, %v; want the five even ones of the first ten", found, err)
	}
	whole, err := (&harness.Job{Config: config}).Plan(t.Context())
	if err != nil || whole.Fingerprint == plan.Fingerprint {
		t.Errorf("a part of the rows has the fingerprint of all of them (%v)", err)
	}
}

// TestFewDocumentsAreSaid: intervals that rest on few documents are warned of, with the setting for
// results about these documents; a run with that setting has no warning.
func TestFewDocumentsAreSaid(t *testing.T) {
	path := writeRows(t, questions(30, "a"))
	for cluster, want := range map[string]int{"id": 0, "question": 0, "auto": 1} {
		m, err := runs.ReadManifest(evaluate(t, path, "statistics.cluster="+cluster))
		if err != nil || len(m.Warnings) != want || want > 0 && !strings.HasPrefix(m.Warnings[0], "intervals rest on few documents") {
			t.Errorf("cluster %s: warnings %q, %v", cluster, m.Warnings, err)
		}
	}
}

func TestGates(t *testing.T) {
	dir := evaluate(t, writeRows(t, questions(60, "a", "b")), "slices=[lang]")
	m, err := runs.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		gate string
		want runs.Verdict
	}{
		{"char_f1 >= 0", runs.Passed},
		{"char_dice >= 0", runs.Passed}, // an alias
		{"char_f1 >= 0.99", runs.Failed},
		{"hi(char_f1) >= 0.99", runs.Failed},
		{"lo(micro(char_f1))[lang=de] >= 0", runs.Passed},
		{"char_f1[system=b][lang=en] < 2", runs.Passed},
		{"micro(exact_match) <= 1", runs.Passed},
		{"char_f1[system=nobody] >= 0", runs.NoVerdict},
		{"token_f1 >= 0", runs.NoVerdict}, // no documents, so undefined everywhere
	}
	for _, tt := range tests {
		c, err := configs.Load(configs.Options{Gates: []string{tt.gate}})
		if err != nil {
			t.Fatal(err)
		}
		all, err := compare.AskGates(dir, m, c, "", "")
		if err != nil {
			t.Fatal(err)
		}
		got := all[0]
		if got.Verdict != tt.want {
			t.Errorf("%s: %s (%s), want %s", tt.gate, got.Verdict, got.Reason, tt.want)
		}
	}
}

func TestGatesThatCannotBe(t *testing.T) {
	path := writeRows(t, questions(3, "a"))
	for gate, want := range map[string]string{
		"char_f2 >= 0.5":                   "no metric of that name",
		"micro(consistency_variance) >= 1": "no micro value",
		"char_f1[topic=x] >= 0.5":          "not among the slices",
	} {
		config, err := configs.Load(configs.Options{Set: []string{"dataset=" + path, "judge=none"}, Gates: []string{gate}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = (&harness.Job{Config: config}).Plan(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", gate, err, want)
		}
	}
}

// TestNothingBeyondTheEnd: a place behind the end of its document holds no text, also where a
// sentence ends near it. The quote stands elsewhere, but quotes are not looked for.
func TestNothingBeyondTheEnd(t *testing.T) {
	text := "The tower is 300 metres high. It stands."
	n := int64(len(text))
	row := &ibid.Answer{
		ID: "q", System: "s", Query: "how high?", Answer: "The tower is 300 metres high.", HasCitations: true, HasDocuments: true,
		Citations: []ibid.Citation{{Doc: "d", Start: ibid.Some(n + 1), End: ibid.Some(n + 3), CitedText: "300 metres", Method: "located"}},
		Documents: []ibid.Document{{Doc: "d", Text: text, HasText: true}},
	}
	dir := evaluate(t, writeRows(t, []*ibid.Answer{row}), "judge=lexical", "quality_control.validation_checks.text_extraction_validation=false", "quality_control.validation_checks.span_bounds_check=false", "span_matching.tolerance_chars=20")
	outcomes := ""
	err := runs.Claims.Scan(dir, nil, func(_ int64, c *runs.Claim) error {
		outcomes += c.Outcome
		return nil
	})
	if err != nil || outcomes != "no_text" {
		t.Errorf("%s, %v", outcomes, err)
	}
}
