package convert

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
)

// metadataTags are the tags of a row of testdata/expertqa.jsonl.
func metadataTags(field, specific, kind, reference string) []ibid.Tag {
	return []ibid.Tag{
		{Key: "field", Value: field},
		{Key: "question_type", Value: kind},
		{Key: "source_reference", Value: reference},
		{Key: "specific_field", Value: specific},
	}
}

// listed returns documents with a name and no text, as a row lists documents that --docs has.
func listed(names ...string) (all []ibid.Document) {
	for _, name := range names {
		all = append(all, ibid.Document{Doc: name})
	}
	return all
}

func TestExpertQA(t *testing.T) {
	m, report := importPath(t, "expertqa", filepath.Join("testdata", "expertqa.jsonl"), Options{Docs: true})
	wantRows := []ibid.Answer{
		{
			ID: "1", Query: "How do tides arise?", System: "reader",
			Answer:       "The Moon pulls the sea [1].\n\nSo does\nthe Sun [1][2]. Bon  voyage! Bon voyage!",
			HasCitations: true, HasClaims: true, HasLabels: true, HasDocuments: true, Documents: listed("https://tides.example/a", "https://tides.example/a#2"),
			Citations: []ibid.Citation{
				{ClaimID: "0", Doc: "https://tides.example/a", Unit: "document", SourceReference: `{"marker":"[1]"}`},
				{ClaimID: "1", Doc: "https://tides.example/a", Unit: "document", SourceReference: `{"marker":"[1]"}`},
				{ClaimID: "1", Doc: "https://tides.example/a#2", Unit: "document", SourceReference: `{"marker":"[2]"}`},
			},
			Claims: []ibid.Claim{
				{ClaimID: "0", Text: "The Moon pulls the sea [1].", Start: some(0), End: some(27)},
				{ClaimID: "1", Text: "So does the Sun [1][2].", Start: some(29), End: some(52)},
				{ClaimID: "2", Text: "Bon voyage!"},
			},
			Labels: []ibid.Label{
				{Annotator: "ann", ClaimID: "0", Kind: "support", Value: real(1)},
				{Annotator: "ann", ClaimID: "1", Kind: "support", Value: real(0.5)},
				{Annotator: "ann", ClaimID: "2", Kind: "needs_citation", Value: real(0)},
			},
			Tags: metadataTags("Physics", "Oceans", "Directed question",
				`{"attribution":["[1] https://tides.example/a"],"claims[0].reliability":"Reliable","claims[1].revised_evidence":["x"],"usefulness":"Useful"}`),
		},
		{
			ID: "2", Query: "Is it blue?", System: "bare", Answer: "Ja, blå [1]. Nein. Nie.",
			HasCitations: true, HasClaims: true, HasLabels: true, HasDocuments: true, Documents: listed("https://blue.example", "https://tides.example/a#3"),
			Citations: []ibid.Citation{
				{ClaimID: "0", Doc: "https://blue.example", SourceReference: `{"marker":"[1]"}`},
				{ClaimID: "0", Doc: "https://tides.example/a#3", SourceReference: `{"marker":"[7]"}`},
			},
			Claims: []ibid.Claim{
				{ClaimID: "0", Text: "Ja, blå [1].", Start: some(0), End: some(12)},
				{ClaimID: "1", Text: "Nein.", Start: some(13), End: some(18)},
				{ClaimID: "2", Text: "Never."},
			},
			Labels: []ibid.Label{
				{Annotator: "bob", ClaimID: "0", Kind: "support", Value: real(0)},
				{Annotator: "bob", ClaimID: "2", Kind: "needs_citation", Value: real(0)},
			},
			Tags: metadataTags("Art", "Paint", "Other", `{"note":{"a":[1]},"annotator_id":"ann"}`),
		},
		{
			ID: "2", Query: "Is it blue?", System: "other", Answer: "",
			HasCitations: true, HasClaims: true, HasLabels: true,
			Tags: metadataTags("Art", "Paint", "Other", `{"note":{"a":[1]},"annotator_id":"ann"}`),
		},
		{
			ID: "4", Query: "q", System: "reader", Answer: "A. B.",
			HasCitations: true, HasClaims: true, HasLabels: true, HasDocuments: true, Documents: listed("https://tides.example/a#2#2", "https://tides.example/a"),
			Citations: []ibid.Citation{
				{ClaimID: "0", Doc: "https://tides.example/a#2#2", Unit: "document"},
				{ClaimID: "0", Doc: "https://tides.example/a", Unit: "document", SourceReference: `{"marker":"[3]"}`},
				{ClaimID: "0", DocNull: true, CitedText: "An orphan.", SourceReference: `{"marker":"[4]"}`},
			},
			Claims: []ibid.Claim{{ClaimID: "0", Text: "B.", Start: some(3), End: some(5)}},
		},
	}
	if diff := cmp.Diff(wantRows, m.rows, ignorePosition, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	wantDocs := []ibid.Document{
		{Doc: "https://tides.example/a", Text: "The Moon pulls.\n\nAnd pulls.", HasText: true},
		{Doc: "https://tides.example/a#2", Text: "The Sun pulls too.", HasText: true},
		{Doc: "https://blue.example"},
		{Doc: "https://tides.example/a#3"},
		{Doc: "https://tides.example/a#2#2", Text: "The Sun pulls too.", HasText: true},
	}
	if diff := cmp.Diff(wantDocs, m.documents); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if report.Records != 4 || report.Rows != 4 || report.Failed != 1 || report.Citations != 8 || report.Documents != 5 || report.Spans != 8 || report.WithoutQuote != 7 || report.Unproved != 1 {
		t.Errorf("report: %+v", report)
	}
	if diff := cmp.Diff(map[string]int64{"note": 1}, report.UnknownFields); diff != "" {
		t.Errorf("unknown fields (-want +got):\n%s", diff)
	}
	wantErrors(t, report.Errors, "testdata/expertqa.jsonl:3:1: answers: no system has answered")
	wantErrors(t, report.Warnings, "testdata/expertqa.jsonl:4:1: claim 0 cites evidence and its support is Missing: it has no label")
}

// wantErrors compares what was reported.
func wantErrors(t *testing.T, got []RecordError, want ...string) {
	t.Helper()
	var lines []string
	for _, e := range got {
		lines = append(lines, filepath.ToSlash(e.Error()))
	}
	if diff := cmp.Diff(want, lines, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
}

// TestExpertQAOwnDocuments: without a place for documents a row carries its own,
// under the same names.
func TestExpertQAOwnDocuments(t *testing.T) {
	m, report := importPath(t, "expertqa", filepath.Join("testdata", "expertqa.jsonl"), Options{})
	if report.Documents != 0 || len(m.documents) != 0 {
		t.Fatalf("%d documents without a place for them", len(m.documents))
	}
	want := [][]ibid.Document{
		{
			{Doc: "https://tides.example/a", Text: "The Moon pulls.\n\nAnd pulls.", HasText: true},
			{Doc: "https://tides.example/a#2", Text: "The Sun pulls too.", HasText: true},
		},
		{{Doc: "https://blue.example"}, {Doc: "https://tides.example/a#3"}},
		nil,
		{
			{Doc: "https://tides.example/a#2#2", Text: "The Sun pulls too.", HasText: true},
			{Doc: "https://tides.example/a", Text: "The Moon pulls.\n\nAnd pulls.", HasText: true},
		},
	}
	for i := range want {
		r := &m.rows[i]
		if diff := cmp.Diff(want[i], r.Documents, cmpopts.EquateEmpty()); diff != "" || r.HasDocuments != (want[i] != nil) {
			t.Errorf("row %d, known %t: documents (-want +got):\n%s", i, r.HasDocuments, diff)
		}
	}
}

func TestExpertQAErrors(t *testing.T) {
	const claim = `{"claim_string":"a","evidence":[],"support":null}`
	good := `{"question":"q","answers":{"s":{"answer_string":"a","claims":[` + claim + `]}}}`
	tests := []struct{ name, line, want string }{
		{"empty line", ``, `-:2:1: empty line`},
		{"byte order mark", "\ufeff" + good, `-:2:1: the line begins with a byte order mark`},
		{"not an object", `[]`, `-:2:1: want an object, got a list`},
		{"question missing", `{"answers":{"s":{"answer_string":"a","claims":[]}}}`, `-:2:1: question: missing`},
		{"question null", `{"question":null}`, `-:2:13: question: null, but it must be given`},
		{"answers missing", `{"question":"é"}`, `-:2:1: answers: missing`},
		{"answer missing", `{"question":"é","answers":{"s":{"claims":[]}}}`, `-:2:32: answers.s.answer_string: missing`},
		{"claims missing", `{"question":"q","answers":{"s": {"answer_string":"a"}}}`, `-:2:33: answers.s.claims: missing`},
		{"support missing", `{"question":"q","answers":{"s":{"answer_string":"a","claims":[{"claim_string":"a","evidence":[]}]}}}`, `-:2:63: answers.s.claims[0].support: missing`},
		{"unknown support", strings.Replace(good, "null", `"complete"`, 1), `-:2:107: answers.s.claims[0].support: unknown value "complete", did you mean Complete?`},
		{"evidence of another type", strings.Replace(good, `[],"support`, `[7],"support`, 1), `-:2:95: answers.s.claims[0].evidence[0]: want a string, got a number`},
		{"two records", good + good, `-:2:116: something follows the record on its line`},
		{"truncated", good[:40], `-:2:41: answers.s: truncated: the text ends before its object does`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "expertqa", good+"\n"+tt.line+"\n"+good+"\n", Options{})
			if len(m.rows) != 2 || report.Rows != 2 || report.Records != 3 || report.Failed != 1 {
				t.Fatalf("%d rows; report: %+v; want the two good records", len(m.rows), report)
			}
			if m.rows[1].ID != "3" {
				t.Errorf("the record on line 3 has id %s", m.rows[1].ID)
			}
			if got := report.Errors[0].Error(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestExpertQAPaths(t *testing.T) {
	path := filepath.Join("testdata", "expertqa.jsonl")
	_, err := Convert(t.Context(), "expertqa", []string{path, path}, Options{}, &memory{})
	if e, ok := err.(*ibid.Error); !ok || !e.Usage || e.Error() != "format expertqa takes one file" {
		t.Errorf("two files: %v", err)
	}
}
