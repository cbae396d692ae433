package convert

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ibid"
	"ibid/metrics/token"
)

// shared returns a path in the shared material beside the project, and skips
// the test where there is none.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	root := filepath.Join("..", "..", "..", "shared")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no folder %s", root)
	}
	return filepath.Join(append([]string{root}, elem...)...)
}

func importPath(t *testing.T, format, path string, o Options) (*memory, Report) {
	t.Helper()
	var m memory
	report, err := Convert(t.Context(), format, []string{path}, o, &m)
	if err != nil {
		t.Fatalf("Convert(%s, %s): %v", format, path, err)
	}
	return &m, report
}

// TestEvidenceInferencePublished converts the published subset and compares it
// with figures of an independent program.
func TestEvidenceInferencePublished(t *testing.T) {
	var want struct {
		Rows, Articles, Prompts int64
		Aligned                 map[string]int64 `json:"rows_aligned_under_each_reading"`
		Annotators              map[string]int64 `json:"annotators_per_prompt"`
	}
	data, err := os.ReadFile(shared(t, "expected", "evidence-inference-v2.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	dir := shared(t, "data", "evidence-inference-v2")

	m, all := importPath(t, "evidence-inference", dir, Options{Docs: true})
	for theirs, ours := range map[string]Reading{
		"code_point_exclusive": {},
		"code_point_inclusive": {Inclusive: true},
		"utf8_byte_exclusive":  {Unit: token.Byte},
		"utf16_unit_exclusive": {Unit: token.UTF16},
	} {
		if got := all.Aligned[ours.String()]; got != want.Aligned[theirs] {
			t.Errorf("aligned under %s: %d, want %d", ours, got, want.Aligned[theirs])
		}
	}
	if all.Spans != want.Rows || all.Proved != want.Rows || all.Readings["codepoint_exclusive"] != want.Rows || len(all.Readings) != 1 {
		t.Errorf("report: %+v; want %d spans, all proved as codepoint_exclusive", all, want.Rows)
	}
	if all.Records != want.Prompts || all.Rows != want.Prompts || all.Failed != 0 || all.LeftOut != 0 || all.Citations != 0 {
		t.Errorf("report: %+v; want %d records and rows", all, want.Prompts)
	}
	if all.Documents != want.Articles || int64(len(m.documents)) != want.Articles {
		t.Errorf("%d documents, want %d", all.Documents, want.Articles)
	}
	for i := range m.rows {
		if r := &m.rows[i]; r.HasCitations || !r.HasTruth || r.QueryNull || r.AnswerNull {
			t.Fatalf("row %d: %+v", i, r)
		}
	}

	zero := "0"
	m, one := importPath(t, "evidence-inference", dir, Options{TruthAnnotator: &zero})
	if one.Rows != want.Annotators["2"] || one.LeftOut != want.Annotators["1"] || one.Records != want.Prompts || one.Failed != 0 {
		t.Errorf("report: %+v; want %d rows, %d left out", one, want.Annotators["2"], want.Annotators["1"])
	}
	if one.Documents != 0 || len(m.documents) != 0 {
		t.Errorf("%d documents without a place for them", one.Documents)
	}
	checkQuotes(t, dir, m)
}

// checkQuotes slices the articles at every citation.
func checkQuotes(t *testing.T, dir string, m *memory) {
	t.Helper()
	systems := map[string]int{}
	for _, r := range m.rows {
		systems[r.System]++
		if !r.HasCitations || len(r.Citations) == 0 || len(r.Truth) == 0 {
			t.Fatalf("row %s: %d citations, %d truth", r.ID, len(r.Citations), len(r.Truth))
		}
		for _, c := range r.Citations {
			text, err := os.ReadFile(filepath.Join(dir, "txt", c.Doc+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			if got := string([]rune(string(text))[c.Start.Value:c.End.Value]); got != c.CitedText {
				t.Errorf("row %s: the text at %d is %q, want %q", r.ID, c.Start.Value, got, c.CitedText)
			}
		}
		if slices.ContainsFunc(r.Truth, func(x ibid.Mark) bool { return x.Annotator != "0" }) {
			t.Errorf("row %s: truth of another annotator: %+v", r.ID, r.Truth)
		}
	}
	// From char_f1_by_second_annotator of the expected figures.
	for name, n := range map[string]int{"1": 55, "3": 68, "5": 27, "6": 63, "7": 71} {
		if systems[name] != n {
			t.Errorf("%d rows of annotator %s, want %d", systems[name], name, n)
		}
	}
}
