package convert

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid"
)

// A recorded citation is what an independent program says of one positioned
// citation of a recording.
type recordedCitation struct {
	File  string `json:"file"`
	Kind  string `json:"kind"`
	Start *int64 `json:"start"`
	End   *int64 `json:"end"`
	Want  string `json:"want"`
	Slice string `json:"code_point_slice"`

	Document  *int64  `json:"document_index"`
	Result    *int64  `json:"search_result_index"`
	FromPage  *int64  `json:"start_page_number"`
	ToPage    *int64  `json:"end_page_number"`
	FromBlock *int64  `json:"start_block_index"`
	ToBlock   *int64  `json:"end_block_index"`
	Chunks    []int64 `json:"chunks"`
	Sources   []string
}

// recordingRequest is the request of recordings that come without one: their
// document is known from where they were made.
const recordingRequest = `{"messages":[{"role":"user","content":[{"type":"document","title":"All aboout the grass and the sky",
 "source":{"type":"text","media_type":"text/plain","data":"The grass is green. The sky is blue."}}]}]}`

// TestRecordings imports every recorded response and finds each of its positioned
// citations at the place and under the unit that the recording gives it.
func TestRecordings(t *testing.T) {
	root := shared(t, "data", "provider-recordings")
	data, err := os.ReadFile(shared(t, "expected", "provider-recordings.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Citations int
		List      []recordedCitation
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	request := filepath.Join(t.TempDir(), "request.json")
	if err := os.WriteFile(request, []byte(recordingRequest), 0o600); err != nil {
		t.Fatal(err)
	}
	var proved, found int
	for at := 0; at < len(expected.List); {
		file, end := expected.List[at].File, at
		for end < len(expected.List) && expected.List[end].File == file {
			end++
		}
		var o Options
		if strings.HasPrefix(file, "prism/anthropic.generate-text-with-text-document") {
			o.Request = request
		}
		format, _, _ := strings.Cut(expected.List[at].Kind, ".")
		format = strings.TrimSuffix(format, "-chat")
		m, report := importPath(t, format, filepath.Join(root, file), o)
		if len(m.rows) != 1 || report.Failed != 0 || report.Repaired+report.Mismatched+report.Degenerate != 0 {
			t.Fatalf("%s: %d rows; report: %+v", file, len(m.rows), report)
		}
		proved += int(report.Proved)
		r := &m.rows[0]
		left := slices.Clone(r.Citations)
		for _, want := range expected.List[at:end] {
			citations := max(1, len(want.Chunks), len(want.Sources))
			for range citations {
				k := slices.IndexFunc(left, func(c ibid.Citation) bool { return want.is(r, &c) })
				if k < 0 {
					t.Fatalf("%s: no citation is %+v", file, want)
				}
				left = slices.Delete(left, k, k+1)
			}
			found++
		}
		if len(left) != 0 {
			t.Errorf("%s: citations that nobody recorded: %+v", file, left)
		}
		at = end
	}
	if found != expected.Citations || found != 51 {
		t.Errorf("found %d positioned citations, want %d", found, expected.Citations)
	}
	// All but blocks without a request and the web, of which no text is known: 5
	// characters, 1 block, 3 pages of PDFs, 6 + 14 + 7 of answers.
	if proved != 36 {
		t.Errorf("%d pairs of offsets are proved, want 36", proved)
	}
	t.Logf("%d positioned citations, %d pairs of offsets proved by their text", found, proved)
}

// is reports whether c is the recorded citation.
func (want *recordedCitation) is(r *ibid.Answer, c *ibid.Citation) bool {
	span := func(unit string, from, to *int64) bool {
		return c.Unit == unit && c.Start == integer(*from) && c.End == integer(*to)
	}
	inAnswer := func(text string) bool {
		return c.AnswerStart.Known() && passage(r.Answer, c.AnswerStart.Value, c.AnswerEnd.Value) == text
	}
	switch want.Kind {
	case "anthropic.char_location":
		d := documentOf(r, c.Doc)
		return span("", want.Start, want.End) && d != nil && passage(d.Text, c.Start.Value, c.End.Value) == want.Want && c.CitedText == want.Want
	case "anthropic.page_location":
		return span("page", want.FromPage, want.ToPage)
	case "anthropic.content_block_location", "anthropic.search_result_location":
		return span("block", want.FromBlock, want.ToBlock)
	case "anthropic.web_search_result_location":
		return !c.Start.Known() && strings.HasPrefix(c.Doc, "https://") && c.CitedText != ""
	case "cohere.citation":
		return inAnswer(want.Want) && slices.Contains(want.Sources, c.Doc)
	case "gemini.segment":
		return inAnswer(want.Want)
	}
	return inAnswer(want.Slice) && c.AnswerStart == integer(*want.Start) && c.AnswerEnd == integer(*want.End)
}

// TestRecordedStreams imports the recorded streams, and what has no independent
// figures: their citations stand where their quotes say.
func TestRecordedStreams(t *testing.T) {
	root := shared(t, "data", "provider-recordings", "ruby_llm")
	for name, want := range map[string]struct {
		format            string
		citations, proved int64
	}{
		"anthropic.stream.0.response.sse":         {"anthropic", 1, 1},
		"cohere.stream.0.response.sse":            {"cohere", 2, 2},
		"bedrock.text_document.0.response.json":   {"bedrock", 1, 1},
		"bedrock.search_result.1.response.json":   {"bedrock", 1, 1},
		"bedrock.pdf_pages.0.response.json":       {"bedrock", 3, 3},
		"bedrock.nova_web.0.response.json":        {"bedrock", 3, 0},
		"perplexity.sonar.0.response.json":        {"perplexity", 10, 0},
		"openrouter.openai.0.response.json":       {"openai", 1, 1},
		"anthropic.search_result.0.response.json": {"anthropic", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m, report := importPath(t, want.format, filepath.Join(root, name), Options{})
			if len(m.rows) != 1 || report.Citations != want.citations || report.Proved != want.proved || report.Failed+report.Warned+report.Mismatched != 0 {
				t.Fatalf("%d rows; report: %+v", len(m.rows), report)
			}
			if m.rows[0].Query == "" {
				t.Errorf("no query, and the request lies beside the response")
			}
		})
	}
}
