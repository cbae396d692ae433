package convert

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"ibid"
)

// seed reads one of the documents that the project was created from.
func seed(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(shared(t, "seeds", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// importJSON imports a response given as a value, with its request unless that is
// nil.
func importJSON(t *testing.T, format string, response, request any) (*memory, Report) {
	t.Helper()
	dir := t.TempDir()
	for name, v := range map[string]any{"a.response.json": response, "a.request.json": request} {
		if v == nil {
			continue
		}
		data, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			data = string(b)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return importPath(t, format, filepath.Join(dir, "a.response.json"), Options{})
}

// pythonBlocks are the python blocks of a document that are JSON but for comments,
// True and the names of variables.
func pythonBlocks(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(text, -1) {
		block := regexp.MustCompile(`(?m)\s+#.*$`).ReplaceAllString(m[1], "")
		block = strings.NewReplacer(`: True`, `: true`, `base64_encoded_pdf_data`, `"JVBERi0="`).Replace(block)
		block = regexp.MustCompile(`,(\s*})`).ReplaceAllString(block, "$1")
		all = append(all, block)
	}
	return all
}

// TestClaudeDocument imports every example of the Claude document: its response
// against the document of its request, its citations against its documents, its
// stream.
func TestClaudeDocument(t *testing.T) {
	text := seed(t, "claude-citations.md")
	body := regexp.MustCompile(`(?s)-d '(\{.*?\n {2}\})'`).FindStringSubmatch(text)
	blocks := pythonBlocks(text)
	if body == nil || len(blocks) != 8 {
		t.Fatalf("%d python blocks, request %t", len(blocks), body != nil)
	}
	m, report := importJSON(t, "anthropic", blocks[6], body[1])
	if len(m.rows) != 1 || report.Proved != 2 || report.Spans != 2 {
		t.Fatalf("the response: report %+v", report)
	}
	r := &m.rows[0]
	if r.Query != "What color is the grass and sky?" || r.Model != "claude-3-7-sonnet-20250219" || r.Answer != "According to the document, the grass is green and the sky is blue" {
		t.Errorf("row %+v", r)
	}
	// The first quote ends one character before its span does.
	for i, want := range []struct{ source, answer string }{{"The grass is green. ", "the grass is green"}, {"The sky is blue.", "the sky is blue"}} {
		c := &r.Citations[i]
		if got := passage(r.Documents[0].Text, c.Start.Value, c.End.Value); got != want.source {
			t.Errorf("citation %d is %q, want %q", i, got, want.source)
		}
		if got := passage(r.Answer, c.AnswerStart.Value, c.AnswerEnd.Value); got != want.answer {
			t.Errorf("citation %d is for %q, want %q", i, got, want.answer)
		}
	}
	// A document, and a citation of it, three times: characters, page, block.
	for i, unit := range []string{"", "page", "block"} {
		request := `{"messages":[{"role":"user","content":[` + blocks[2*i] + `]}]}`
		response := `{"type":"message","content":[{"type":"text","text":"x","citations":[` + blocks[2*i+1] + `]}]}`
		m, report := importJSON(t, "anthropic", response, request)
		// The PDF of the example is none, which is said.
		if len(m.rows) != 1 || report.Failed != 0 || (report.Warned != 0) != (unit == "page") {
			t.Fatalf("example %d: report %+v", i, report)
		}
		c := &m.rows[0].Citations[0]
		if c.Doc != "Document Title" || c.Unit != unit || !c.Start.Known() || c.CitedText != "The exact text being cited" {
			t.Errorf("example %d: %+v", i, c)
		}
	}
	// The stream leaves out with three points what is not of interest.
	stream := strings.NewReplacer(`"message_start", ...`, `"message_start", "message": {}`, `"index": 0, ...}`, `"index": 0, "content_block": {"type": "text", "text": ""}}`,
		"\"document_index\": 0,\n                     ...", `"document_index": 0, "start_char_index": 0, "end_char_index": 3`).Replace(blocks[7])
	stream = regexp.MustCompile(`\n {7,}`).ReplaceAllString(stream, " ")
	path := filepath.Join(t.TempDir(), "stream.sse")
	if err := os.WriteFile(path, []byte(stream), 0o600); err != nil {
		t.Fatal(err)
	}
	m, report = importPath(t, "anthropic", path, Options{})
	if len(m.rows) != 1 || m.rows[0].Answer != "According to..." || len(m.rows[0].Citations) != 1 {
		t.Errorf("the stream: report %+v, rows %+v", report, m.rows)
	}
}

// TestKeeptrustsDocument imports every example of the Keeptrusts document: its
// response as it is, and each reference and span in a citation of its own.
func TestKeeptrustsDocument(t *testing.T) {
	text := strings.ReplaceAll(seed(t, "keeptrusts-citation-display.txt"), "\r", "")
	var responses, references, spans []string
	for at := 0; ; {
		n := strings.Index(text[at:], "\n{\n")
		if n < 0 {
			break
		}
		at += n + 1
		end := valueEnd([]byte(text), at)
		example := text[at:end]
		at = end
		switch {
		case strings.Contains(example, `"response"`):
			responses = append(responses, example)
		case strings.Contains(example, `"source_reference"`):
			references = append(references, example)
		default:
			spans = append(spans, example)
		}
	}
	if len(responses) != 1 || len(references) != 2 || len(spans) != 1 {
		t.Fatalf("%d responses, %d references, %d spans", len(responses), len(references), len(spans))
	}
	m, report := importJSON(t, "keeptrusts", responses[0], nil)
	if len(m.rows) != 1 || report.Failed != 0 || len(report.UnknownFields) != 0 {
		t.Fatalf("report %+v", report)
	}
	want := []ibid.Citation{
		{
			Doc: "asset-uuid", Title: "Session Management Policy", AnswerStart: integer(0), AnswerEnd: integer(45), AnswerRole: ibid.Segment, CitationID: "cit-uuid-1",
			SourceType: "knowledge_base", Relevance: ibid.Some[float64](0.92), TokenContribution: integer(856),
			SourceReference: `{"asset_id":"asset-uuid","asset_title":"Session Management Policy","asset_version":3,"promotion_status":"active"}`,
		},
		{
			Doc: "src/auth/session.ts", Title: "validateSession", AnswerStart: integer(46), AnswerEnd: integer(189), AnswerRole: ibid.Segment, CitationID: "cit-uuid-2",
			SourceType: "codebase_context_fabric", Relevance: ibid.Some[float64](0.88), TokenContribution: integer(234),
			SourceReference: `{"workspace_id":"ws-uuid","file_path":"src/auth/session.ts","symbol":"validateSession","last_indexed_at":"2026-04-30T13:45:00Z"}`,
		},
	}
	if !reflect.DeepEqual(m.rows[0].Citations, want) {
		t.Errorf("got  %+v\nwant %+v", m.rows[0].Citations, want)
	}
	for _, example := range references {
		response := `{"response":"` + strings.Repeat("x", 300) + `","citations":[` + strings.TrimSuffix(example, "}") + `,"text_span":` + spans[0] + `}]}`
		m, report := importJSON(t, "keeptrusts", response, nil)
		if len(m.rows) != 1 || report.Failed+report.Warned != 0 || len(report.UnknownFields) != 0 {
			t.Fatalf("report %+v", report)
		}
		var given struct {
			Type      string          `json:"source_type"`
			Reference json.RawMessage `json:"source_reference"`
		}
		if err := json.Unmarshal([]byte(example), &given); err != nil {
			t.Fatal(err)
		}
		c := &m.rows[0].Citations[0]
		if c.SourceType != given.Type || c.SourceReference != compact(given.Reference) || c.AnswerStart != integer(142) || c.AnswerEnd != integer(287) {
			t.Errorf("%s\ngives %+v", example, c)
		}
	}
}

// TestCiteformerVectors imports every result of the vectors.
func TestCiteformerVectors(t *testing.T) {
	data, err := os.ReadFile(shared(t, "vectors", "citeformer.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name, Kind string
		JSON       json.RawMessage
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	type result struct {
		Text      string
		Citations []struct {
			Span     [2]int64
			SourceID int64 `json:"source_id"`
			Verified bool
			Score    *float64 `json:"entailment_score"`
			Cited    *string  `json:"cited_text"`
			Source   *[2]int64
			At       *[2]int64 `json:"source_span"`
			Title    *string   `json:"document_title"`
		}
		Sources []struct {
			Metadata struct{ ID, Title string }
			Content  string
		}
	}
	results := 0
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			m, report := importJSON(t, "citeformer", string(v.JSON), nil)
			switch v.Kind {
			case "VerificationReport":
				if len(m.rows) != 0 || report.Failed != 1 || !strings.Contains(report.Errors[0].Reason, "import the GenerationResult") {
					t.Errorf("report %+v", report)
				}
				return
			case "rules":
				if len(m.rows) != 0 || report.Failed != 1 {
					t.Errorf("rules are no result: report %+v", report)
				}
				return
			}
			results++
			var want result
			if err := json.Unmarshal(v.JSON, &want); err != nil {
				t.Fatal(err)
			}
			if len(m.rows) != 1 || report.Failed+report.Repaired+report.Mismatched+report.Warned != 0 || len(report.UnknownFields) != 0 {
				t.Fatalf("report %+v", report)
			}
			r := &m.rows[0]
			if r.Answer != want.Text || len(r.Citations) != len(want.Citations) {
				t.Fatalf("row %+v", r)
			}
			for i, w := range want.Citations {
				c := &r.Citations[i]
				if c.AnswerStart != integer(w.Span[0]) || c.AnswerEnd != integer(w.Span[1]) {
					t.Errorf("citation %d: marker at %v-%v, want %v", i, c.AnswerStart, c.AnswerEnd, w.Span)
				}
				if (w.Cited == nil) != (c.CitedText == "") || w.Cited != nil && c.CitedText != *w.Cited {
					t.Errorf("citation %d: cited_text %q", i, c.CitedText)
				}
				if (w.At == nil) == c.Start.Known() || w.At != nil && (c.Start.Value != w.At[0] || c.End.Value != w.At[1]) {
					t.Errorf("citation %d: source_span %v-%v", i, c.Start, c.End)
				}
				if w.Title != nil && c.Title != *w.Title {
					t.Errorf("citation %d: document_title %q", i, c.Title)
				}
				if w.Verified && !strings.Contains(c.SourceReference, `"verified":true`) {
					t.Errorf("citation %d: source_reference %s", i, c.SourceReference)
				}
				if len(want.Sources) > 0 {
					source := want.Sources[w.SourceID-1]
					if d := documentOf(r, c.Doc); d == nil || d.Doc != source.Metadata.ID || d.Text != source.Content {
						t.Errorf("citation %d: document %+v", i, d)
					}
				}
			}
		})
	}
	if results != 5 {
		t.Errorf("%d results, want 5", results)
	}
}
