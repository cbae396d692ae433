package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/harness"
)

// labelledRows are n rows with one claim each, of which a judge finds every second one
// supported. People agree with it in the rows that labels names.
func labelledRows(n int, labels func(i int) bool) []*ibid.Answer {
	var rows []*ibid.Answer
	for i := range n {
		text := fmt.Sprintf("The tower number %d is 120 metres high and built of granite.", i)
		claim, value := text, 1.0
		if i%2 == 1 {
			claim, value = "Lions sleep through most warm afternoons.", 0
		}
		r := &ibid.Answer{
			ID: fmt.Sprintf("q-%03d", i), Query: "What is it?", Answer: claim, HasCitations: true, HasDocuments: true, HasClaims: true, HasLabels: true,
			Claims:    []ibid.Claim{{ClaimID: "1", Text: claim}},
			Citations: []ibid.Citation{{CitationID: "c", ClaimID: "1", Doc: "d", Start: ibid.Some[int64](0), End: ibid.Some(int64(len(text)))}},
			Documents: []ibid.Document{{Doc: "d", Text: text, HasText: true}},
		}
		if labels(i) {
			for _, l := range []ibid.Label{{ClaimID: "1"}, {CitationID: "c"}} {
				l.Annotator, l.Kind, l.Value = "ada", "support", ibid.Some(value)
				r.Labels = append(r.Labels, l)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// toldOf writes what a judge says of labelled rows, and returns the settings of a run that
// reads it.
func toldOf(t *testing.T, rows []*ibid.Answer) []string {
	t.Helper()
	var told strings.Builder
	for _, r := range rows {
		support := 0
		if r.Claims[0].Text == r.Documents[0].Text {
			support = 1
		}
		for _, evidence := range []string{"joint", "citation:0"} {
			fmt.Fprintf(&told, `{"id": %q, "claim": 0, "evidence": %q, "support": %d}`+"\n", r.ID, evidence, support)
		}
	}
	path := filepath.Join(t.TempDir(), "told.jsonl")
	if err := os.WriteFile(path, []byte(told.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{"judge=recorded", "judge.file=" + path}
}

// calibrated runs rows by a judge and corrects the summary by labels.
func calibrated(t *testing.T, rows []*ibid.Answer) (dir string, summary []runs.SummaryRow, warnings []string) {
	t.Helper()
	dir = evaluate(t, writeRows(t, rows), toldOf(t, rows)...)
	summary, warnings = correct(t, dir)
	return dir, summary, warnings
}

func correct(t *testing.T, dir string) (summary []runs.SummaryRow, warnings []string) {
	t.Helper()
	m, err := runs.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	judged, err := harness.ReadJudged(t.Context(), dir, m)
	if err != nil {
		t.Fatal(err)
	}
	if summary, err = runs.Summary.Read(dir); err != nil {
		t.Fatal(err)
	}
	if warnings, err = annotations.CorrectByLabels(dir, judged.Rows, summary); err != nil {
		t.Fatal(err)
	}
	if err := runs.ReplaceSummary(dir, summary); err != nil {
		t.Fatal(err)
	}
	return summary, warnings
}

// correctionOf is how the macro value of citation_correctness was corrected.
func correctionOf(t *testing.T, summary []runs.SummaryRow) runs.SummaryRow {
	t.Helper()
	for _, r := range summary {
		if r.Metric == "citation_correctness" && r.Agg == runs.Macro && r.System == "" && r.Slice == "" {
			return r
		}
	}
	t.Fatal("no citation_correctness")
	return runs.SummaryRow{}
}

// TestLabelsThatWereChosen: labels of a random part correct quietly; where people
// labelled what the judge calls bad, the correction says that it may be biased.
func TestLabelsThatWereChosen(t *testing.T) {
	_, summary, warnings := calibrated(t, labelledRows(80, func(i int) bool { return i%5 == 0 }))
	r := correctionOf(t, summary)
	if r.Corrected == nil || *r.Corrected != 0.5 || r.CorrectedMethod != "ppi++, 16 of 80 rows labelled" || len(warnings) > 0 {
		t.Errorf("a random part: corrected %v by %q, warnings %q", r.Corrected, r.CorrectedMethod, warnings)
	}
	_, summary, warnings = calibrated(t, labelledRows(80, func(i int) bool { return i%2 == 1 && i < 30 || i == 0 }))
	r = correctionOf(t, summary)
	if !strings.HasSuffix(r.CorrectedMethod, "16 of 80 rows labelled, perhaps not at random") {
		t.Errorf("bad rows only: corrected by %q", r.CorrectedMethod)
	}
	if text := strings.Join(warnings, "\n"); !strings.Contains(text, "citation_correctness, all systems: labelled rows look chosen, not drawn: the judge gives them 0.062 on average, the others 0.609") {
		t.Errorf("warnings %q", text)
	}
}

// TestLabelsThatAreAlike: a mean of equal labels has an interval all the same.
func TestLabelsThatAreAlike(t *testing.T) {
	_, summary, _ := calibrated(t, labelledRows(80, func(i int) bool { return i%2 == 0 && i < 30 }))
	if r := correctionOf(t, summary); r.Corrected == nil || *r.Corrected != 1 || *r.CorrectedLow > 0.9 || *r.CorrectedHigh != 1 {
		t.Errorf("corrected %+v", r)
	}
}
