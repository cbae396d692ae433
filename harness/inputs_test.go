package harness_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
)

// annotatedRows are two rows: two people marked the same document, and one of the
// citations names a document that is not there.
func annotatedRows() []*ibid.Answer {
	at := func(n int64) ibid.Integer { return ibid.Some(n) }
	mark := func(who string, start, end int64) ibid.Mark {
		return ibid.Mark{Annotator: who, Doc: "coffee", Start: at(start), End: at(end)}
	}
	return []*ibid.Answer{
		{
			ID: "q-1", System: "s", Query: "q", Answer: "an answer", HasCitations: true, HasTruth: true,
			Citations: []ibid.Citation{{Doc: "coffee", Start: at(0), End: at(4)}},
			Truth:     []ibid.Mark{mark("ada", 0, 7), mark("bob", 0, 7), mark("cyd", 5, 9)},
		},
		{
			ID: "q-2", System: "s", Query: "q", Answer: "an answer", HasCitations: true, HasTruth: true,
			Citations: []ibid.Citation{{Doc: "cofee", Start: at(0), End: at(4)}},
			Truth:     []ibid.Mark{mark("ada", 0, 4), mark("bob", 8, 14)},
		},
	}
}

func planOf(t *testing.T, set ...string) *harness.Plan {
	t.Helper()
	config, err := configs.Load(configs.Options{Set: append([]string{"judge=none", "out=" + t.TempDir()}, set...)})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&harness.Job{Config: config, Source: "run.yaml"}).Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestCheck counts statuses, and names what is wrong and what was probably meant.
func TestCheck(t *testing.T) {
	out := t.TempDir()
	plan := planOf(t, "dataset="+writeRows(t, annotatedRows()), "documents="+documentsOf(t, "coffee", "tea"), "out="+out)
	c, _, err := plan.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Rows != 2 || c.Errors != 0 || c.Citations["ok"] != 1 || c.Citations["document_not_found"] != 1 || c.Truth["ok"] != 5 || c.Coverage() != 1 {
		t.Errorf("got %+v", c)
	}
	if len(c.Problems) != 1 || !strings.HasSuffix(c.Problems[0].String(), `did you mean "coffee"?`) {
		t.Errorf("problems are %v", c.Problems)
	}
	if left, _ := os.ReadDir(out); len(left) > 0 {
		t.Errorf("a check leaves %v", left)
	}
}

// TestTexts reads one row again, with the texts that it points into.
func TestTexts(t *testing.T) {
	m := manifestOf(t, writeRows(t, annotatedRows()), documentsOf(t, "coffee", "tea"))
	texts, err := harness.OpenTexts(t.Context(), t.TempDir(), m)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	err = texts.Each(t.Context(), []string{"tea"}, []int64{1}, func(row *ibid.Answer, text func(string, int32) (string, bool)) error {
		read++
		if row.ID != "q-2" || row.Citations[0].Place.Status != ibid.StatusDocumentNotFound || row.Truth[1].Place.End != 14 {
			t.Errorf("the row is %+v", row)
		}
		for _, name := range []string{"coffee", "tea"} {
			if got, _ := text(name, 0); got != "text of "+name {
				t.Errorf("the text of %s is %q", name, got)
			}
		}
		if meant, err := texts.Meant(t.Context(), row); err != nil || meant["cofee"] != "coffee" {
			t.Errorf("meant %v, %v", meant, err)
		}
		if signals, err := texts.Presence(t.Context(), row); err != nil || signals.PassesPresenceCheck {
			t.Errorf("presence %+v, %v", signals, err)
		}
		return nil
	})
	if err != nil || read != 1 {
		t.Errorf("%d rows, %v", read, err)
	}
	if _, err := harness.ReadPrompts(t.Context(), t.TempDir(), m, 1); err == nil || !strings.Contains(err.Error(), "asks no model") {
		t.Errorf("prompts of a run without a judge: %v", err)
	}
}

// TestAnnotated tells how far people agree, and who is not counted.
func TestAnnotated(t *testing.T) {
	plan := planOf(t, "dataset="+writeRows(t, annotatedRows()), "documents="+documentsOf(t, "coffee"))
	a, err := plan.Annotated(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if a.MinAnnotators() != 2 {
		t.Errorf("an item needs %d annotators, want 2", a.MinAnnotators())
	}
	if w := a.Warnings(); len(w) != 0 {
		t.Errorf("warnings of marks that all have a place: %q", w)
	}
}

// TestBaselineGates: a gate on a difference compares with the run that the outcome is
// asked against, or with another system of the run.
func TestBaselineGates(t *testing.T) {
	data := writeRows(t, questions(40, "a", "b"))
	base, dir, wider := evaluate(t, data), evaluate(t, data, "id=new"), evaluate(t, data, "span_matching.tolerance_chars=20")
	m, err := runs.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	gates := func(gate string) *configs.Config {
		c, err := configs.Load(configs.Options{Set: []string{"dataset=" + data, "judge=none", "gates=[" + gate + "]"}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	out, err := harness.SavedOutcome(dir, m, gates(`"diff(char_f1) >= -0.01"`), base, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Gates) != 1 || out.Gates[0].Verdict != runs.Passed {
		t.Errorf("the same answers: %+v", out.Gates)
	}
	out, err = harness.SavedOutcome(dir, m, gates(`"diff(char_f1) >= -0.01"`), wider, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Gates) != 1 || out.Gates[0].Verdict != runs.NoVerdict || !strings.Contains(out.Gates[0].Reason, "span_matching.tolerance_chars") {
		t.Errorf("runs with other settings: %+v", out.Gates)
	}
	out, err = harness.SavedOutcome(dir, m, gates(`"diff(char_f1)[system=b] >= 0.9"`), "", "a")
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Gates) != 1 || out.Gates[0].Verdict != runs.Failed {
		t.Errorf("b is not better than a by 0.9: %+v", out.Gates)
	}
	out, err = harness.SavedOutcome(dir, m, gates(`"diff(char_f1) >= 0"`), "", "")
	if err != nil || out.Gates[0].Verdict != runs.NotAsked || out.Verdict(0.9) != runs.Passed {
		t.Errorf("the first run of a series: %+v, %v", out, err)
	}
}

// TestForecastWithoutModels: a judge that asks no models is forecast no calls.
func TestForecastWithoutModels(t *testing.T) {
	_, f, err := planOf(t, "dataset="+writeRows(t, judgedRows(3)), "judge=lexical").DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f.Time != 0 || f.Cache != "" {
		t.Errorf("got %+v", f)
	}
}

// TestProgress counts what was done, and says nothing of the time that is left
// before anything was.
func TestProgress(t *testing.T) {
	start := time.Unix(1000, 0)
	p := harness.Progress{Done: 20, Of: 40, Since: start}
	if rate := p.Rate(start.Add(10 * time.Second)); rate != 2 {
		t.Errorf("20 rows in 10 seconds are %v a second", rate)
	}
	if left, ok := p.Left(start.Add(10 * time.Second)); !ok || left != 10*time.Second {
		t.Errorf("20 rows at 2 a second take %v, %v", left, ok)
	}
	if left, ok := p.Left(start); ok {
		t.Errorf("at the start %v are left", left)
	}
}

// TestDryRunCountsErrors: a row that cannot be read is counted and named.
func TestDryRunCountsErrors(t *testing.T) {
	c, _, err := planOf(t, "dataset="+writeRows(t, broken(questions(4, "a")))).DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Errors == 0 || c.Coverage() >= 1 || len(c.Problems) == 0 {
		t.Errorf("got %+v", c)
	}
}
