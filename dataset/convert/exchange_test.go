package convert

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestResponses imports every sample of a provider's response and compares what
// comes of it with a golden file. A sample is called FORMAT.CASE.
func TestResponses(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "responses", "*"))
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, path := range paths {
		if isRequest(path) || strings.HasSuffix(path, ".golden") {
			continue
		}
		name := filepath.Base(path)
		format, _, _ := strings.Cut(name, ".")
		tested[format] = true
		t.Run(name, func(t *testing.T) {
			for _, docs := range []bool{false, true} {
				m, report := importPath(t, format, path, Options{Docs: docs})
				got := shown(m, &report)
				golden := path + ".golden"
				if docs {
					golden = path + ".docs.golden"
					got = shownDocuments(m.documents)
				}
				if *update {
					if err := os.WriteFile(golden, got, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s is stale; if the change is meant, run go test ./dataset/convert -update\ngot:\n%swant:\n%s", golden, got, want)
				}
			}
		})
	}
	for _, f := range Formats() {
		if slices.Contains(f.options, "request") && f.Name != "auto" && !tested[f.Name] {
			t.Errorf("no sample of format %s", f.Name)
		}
	}
}

// shown is what people check: rows with the texts that the offsets stand for, and
// the report.
func shown(m *memory, report *Report) []byte {
	var b bytes.Buffer
	for i := range m.rows {
		r := &m.rows[i]
		fmt.Fprintf(&b, "row %s system %s provider %s model %q query %q\nanswer %q\n", r.ID, r.System, r.Provider, r.Model, r.Query, r.Answer)
		for k := range r.Citations {
			showCitation(&b, r, &r.Citations[k])
		}
		for _, c := range r.Claims {
			fmt.Fprintf(&b, "claim %s %q", c.ClaimID, c.Text)
			if c.Start.Known() {
				fmt.Fprintf(&b, " at %q", passage(r.Answer, c.Start.Value, c.End.Value))
			}
			b.WriteByte('\n')
		}
		for _, l := range r.Labels {
			fmt.Fprintf(&b, "label %s of %s claim %q citation %q: %v\n", l.Kind, l.Annotator, l.ClaimID, l.CitationID, l.Value.Value)
		}
		b.Write(shownDocuments(r.Documents))
		for _, tag := range r.Tags {
			fmt.Fprintf(&b, "tag %s %s\n", tag.Key, tag.Value)
		}
		if r.SourceRecord != "" {
			fmt.Fprintf(&b, "record %s\n", r.SourceRecord)
		}
	}
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(report); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func showCitation(b *bytes.Buffer, r *ibid.Answer, c *ibid.Citation) {
	fmt.Fprintf(b, "citation of %q", c.Doc)
	if c.DocNull {
		b.WriteString(" (null)")
	}
	if c.Start.Known() {
		fmt.Fprintf(b, " %s[%d,%d)", c.Unit, c.Start.Value, c.End.Value)
		if d := documentOf(r, c.Doc); d != nil && c.Unit == "" {
			text, _ := textOf(d)
			fmt.Fprintf(b, " %q", passage(text, c.Start.Value, c.End.Value))
		}
	} else if c.Unit != "" {
		fmt.Fprintf(b, " whole %s", c.Unit)
	}
	if c.CitedText != "" {
		fmt.Fprintf(b, " quoting %q", c.CitedText)
	}
	if c.AnswerStart.Known() || c.AnswerEnd.Known() {
		fmt.Fprintf(b, " for [%d,%d) %q", c.AnswerStart.Value, c.AnswerEnd.Value, passage(r.Answer, c.AnswerStart.Value, c.AnswerEnd.Value))
	}
	fmt.Fprintf(b, "; title %q method %s", c.Title, c.Method)
	for _, f := range []struct {
		name  string
		value any
		given bool
	}{
		{"id", c.CitationID, c.CitationID != ""},
		{"type", c.SourceType, c.SourceType != ""},
		{"confidence", c.Confidence.Value, c.Confidence.Known()},
		{"relevance", c.Relevance.Value, c.Relevance.Known()},
		{"tokens", c.TokenContribution.Value, c.TokenContribution.Known()},
		{"reference", c.SourceReference, c.SourceReference != ""},
	} {
		if f.given {
			fmt.Fprintf(b, " %s %v", f.name, f.value)
		}
	}
	b.WriteByte('\n')
}

func shownDocuments(all []ibid.Document) []byte {
	var b bytes.Buffer
	for _, d := range all {
		fmt.Fprintf(&b, "document %q title %q type %q", d.Doc, d.Title, d.SourceType)
		if d.Partial {
			b.WriteString(" partial")
		}
		if d.HasText {
			fmt.Fprintf(&b, " text %q", d.Text)
		}
		if d.HasPages {
			fmt.Fprintf(&b, " pages %q", d.Pages)
		}
		if d.HasBlocks {
			fmt.Fprintf(&b, " blocks %q", d.Blocks)
		}
		if d.Metadata != "" {
			fmt.Fprintf(&b, " metadata %s", d.Metadata)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// TestUnquotedSegment places a segment whose text is not quoted: by what the API
// documents, and never into a thought.
func TestUnquotedSegment(t *testing.T) {
	const text = `{"candidates":[{"content":{"parts":[{"text":"thinking of Größe","thought":true},{"text":"Größe: 8 m."}]},"groundingMetadata":{
 "groundingChunks":[{"web":{"uri":"u"}}],"groundingSupports":[{"segment":{"endIndex":7},"groundingChunkIndices":[0]},{"segment":{"partIndex":1,"endIndex":7},"groundingChunkIndices":[0]}]}}]}`
	m, report := importText(t, "gemini", text, Options{})
	if len(m.rows) != 1 || report.WithoutQuote != 2 || report.Warned != 0 {
		t.Fatalf("report %+v", report)
	}
	for i, c := range m.rows[0].Citations {
		if got := passage(m.rows[0].Answer, c.AnswerStart.Value, c.AnswerEnd.Value); got != "Größe" {
			t.Errorf("citation %d is for %q", i, got)
		}
	}
}

// TestUnknownPages: a quote that the document holds proves no page of a document
// whose pages nobody knows.
func TestUnknownPages(t *testing.T) {
	const text = `{"id":"a","request":{"messages":[{"role":"user","content":[{"type":"document","title":"d","source":{"type":"base64","media_type":"application/pdf","data":""},"text":"One. Two."}]}]},
 "response":{"type":"message","content":[{"type":"text","text":"x","citations":[{"type":"page_location","cited_text":"Two.","document_index":0,"start_page_number":2,"end_page_number":3}]}]}}`
	m, report := importText(t, "anthropic", text, Options{})
	if len(m.rows) != 1 || report.Unproved != 1 || report.Spans != 1 || m.rows[0].Documents[0].Text != "One. Two." {
		t.Errorf("report %+v, rows %+v", report, m.rows)
	}
}

// TestGeminiStreamTruncated cuts a stream of Gemini before its end: it is reported with
// its place, for no event says how many there are to come.
func TestGeminiStreamTruncated(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "responses", "gemini.stream.sse"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "answer.sse")
	begin, _, _ := strings.Cut(string(data), "\n\n")
	if err := os.WriteFile(path, []byte(begin+"\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, report := importPath(t, "gemini", path, Options{})
	if len(m.rows) != 0 || report.Failed != 1 {
		t.Fatalf("%d rows; report: %+v", len(m.rows), report)
	}
	wantErrors(t, report.Errors, path+":1:7: truncated: the stream ends before a finishReason")
}

// TestBatchWithoutRequest: a line of a batch has no request in it, so what it asked is not known:
// what is cited is called as the citation calls it, and may be there.
func TestBatchWithoutRequest(t *testing.T) {
	m, report := importText(t, "anthropic", `{"custom_id":"q","result":{"type":"succeeded","message":{"type":"message","model":"m","content":[{"type":"text","text":"Grass is green.","citations":[`+
		`{"type":"char_location","cited_text":"green","document_index":0,"document_title":"Facts","start_char_index":13,"end_char_index":18}]}]}}}`, Options{})
	if len(m.rows) != 1 || m.rows[0].Citations[0].Doc != "Facts" || report.Warned != 0 {
		t.Errorf("rows %+v; report: %+v", m.rows, report)
	}
}
