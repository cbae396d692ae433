package convert

import (
	"encoding/json"
	"os"
	"testing"
	"unicode"
)

// An expertTally counts one system's rows by what the importer made of them.
type expertTally struct {
	Answers   int            `json:"answers"`
	Claims    int            `json:"claims"`
	Support   map[string]int `json:"support"`
	Citations int            `json:"citations"`
	WithText  int            `json:"citations_with_passage_text"`
	Judged    int            `json:"judged"`
	Cited     int            `json:"cited"`
	Alignment map[string]int `json:"claim_in_answer_alignment"`
}

// TestExpertQAPublished converts the published file and compares it with the
// figures of an independent program.
func TestExpertQAPublished(t *testing.T) {
	var want struct {
		Records int64
		Systems map[string]expertTally
	}
	data, err := os.ReadFile(shared(t, "expected", "expertqa.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	m, report := importPath(t, "expertqa", shared(t, "data", "expertqa", "rand_test.jsonl"), Options{Docs: true})
	if report.Records != want.Records || report.Rows != want.Records || report.Failed != 0 || report.Warned != 0 || len(report.UnknownFields) != 0 {
		t.Errorf("report: %+v; want %d records and rows", report, want.Records)
	}
	texts := map[string]bool{} // document -> it has a text
	for _, d := range m.documents {
		if _, twice := texts[d.Doc]; twice {
			t.Errorf("document %s is written twice", d.Doc)
		}
		texts[d.Doc] = d.HasText
	}
	got := map[string]expertTally{}
	for i := range m.rows {
		r := &m.rows[i]
		tally := got[r.System]
		tally.Answers++
		tally.Claims += len(r.Claims)
		tally.Citations += len(r.Citations)
		cited := map[string]bool{}
		for _, c := range r.Citations {
			cited[c.ClaimID] = true
			hasText, known := texts[c.Doc]
			if !known || hasText != (c.Unit == "document") || c.Start.Known() || c.End.Known() {
				t.Errorf("row %s: citation %+v; its document is known: %t, has a text: %t", r.ID, c, known, hasText)
			}
			if hasText {
				tally.WithText++
			}
		}
		labels := map[string]string{}
		for _, l := range r.Labels {
			labels[l.ClaimID] = l.Kind
		}
		answer := []rune(r.Answer)
		for _, c := range r.Claims {
			// The claims without a label are those whose citation is missing.
			if labels[c.ClaimID] == "support" || labels[c.ClaimID] == "" {
				tally.Judged++
				if cited[c.ClaimID] {
					tally.Cited++
				}
			}
			if !c.Start.Known() || dense(string(answer[c.Start.Value:c.End.Value])) != dense(c.Text) {
				t.Errorf("row %s: claim %s is not where it is said to be: %+v", r.ID, c.ClaimID, c)
			}
		}
		got[r.System] = tally
	}
	for system, w := range want.Systems {
		g := got[system]
		if g.Answers != w.Answers || g.Claims != w.Claims || g.Citations != w.Citations || g.WithText != w.WithText || g.Judged != w.Judged || g.Cited != w.Cited {
			t.Errorf("%s: %+v, want %+v", system, g, w)
		}
	}
	if len(got) != len(want.Systems) {
		t.Errorf("%d systems, want %d", len(got), len(want.Systems))
	}
	checkSupport(t, m, func(system string) map[string]int { return want.Systems[system].Support })
}

// checkSupport compares the labels of every system with the counts of the words
// that the experts chose.
func checkSupport(t *testing.T, m *memory, want func(system string) map[string]int) {
	t.Helper()
	got := map[string]map[string]int{}
	words := map[float64]string{1: "Complete", 0.5: "Partial", 0: "Incomplete"}
	for _, r := range m.rows {
		if got[r.System] == nil {
			got[r.System] = map[string]int{}
		}
		got[r.System]["Missing"] += len(r.Claims) - len(r.Labels)
		for _, l := range r.Labels {
			switch {
			case l.Annotator == "" || l.CitationID != "" || !l.Value.Known():
				t.Errorf("row %s: label %+v", r.ID, l)
			case l.Kind == "needs_citation" && l.Value.Value == 0:
				got[r.System]["N/A"]++
			default:
				got[r.System][words[l.Value.Value]]++
			}
		}
	}
	for system, counts := range got {
		w := want(system)
		for _, word := range []string{"Complete", "Partial", "Incomplete", "Missing", "N/A"} {
			if counts[word] != w[word] {
				t.Errorf("%s: %d claims are %s, want %d", system, counts[word], word, w[word])
			}
		}
	}
}

// dense is s without white space.
func dense(s string) string {
	var out []rune
	for _, r := range s {
		if !unicode.IsSpace(r) {
			out = append(out, r)
		}
	}
	return string(out)
}
