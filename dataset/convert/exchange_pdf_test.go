package convert

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid/dataset/documents"
)

// TestRequestPDF: a PDF that a request has in base64 becomes pages, and a citation
// of a page is proved by its quote.
func TestRequestPDF(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "documents", "testdata", "groff.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	encoded := base64.StdEncoding.EncodeToString(data)
	const quote = "The mole was built of granite — blocks of three tons"
	said, err := json.Marshal(quote)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ format, record string }{
		{"anthropic", fmt.Sprintf(`{"id":"a","request":{"messages":[{"role":"user","content":[{"type":"document","title":"harbour.pdf","source":{"type":"base64","media_type":"application/pdf","data":%q}}]}]},
 "response":{"type":"message","content":[{"type":"text","text":"Granite.","citations":[{"type":"page_location","cited_text":%s,"document_index":0,"document_title":"harbour.pdf","start_page_number":2,"end_page_number":3}]}]}}`, encoded, said)},
		{"bedrock", fmt.Sprintf(`{"id":"a","request":{"modelId":"m","messages":[{"role":"user","content":[{"document":{"format":"pdf","name":"harbour.pdf","source":{"bytes":%q}}}]}]},
 "response":{"output":{"message":{"content":[{"citationsContent":{"content":[{"text":"Granite."}],"citations":[{"title":"harbour.pdf","sourceContent":[{"text":%s}],"location":{"documentPage":{"documentIndex":0,"start":2,"end":3}}}]}}]}}}}`, encoded, said)},
	}
	for _, tt := range tests {
		t.Run(tt.format, func(t *testing.T) {
			m, report := importText(t, tt.format, tt.record, Options{})
			if len(m.rows) != 1 || report.Failed != 0 || report.Warned != 0 {
				t.Fatalf("report %+v", report)
			}
			d := m.rows[0].Documents[0]
			if !d.HasPages || len(d.Pages) != 2 || !strings.Contains(d.Pages[1], "blocks of three tons") || d.Title != "harbour.pdf" {
				t.Errorf("document %+v", d)
			}
			if c := m.rows[0].Citations[0]; c.Unit != "page" || c.Doc != "harbour.pdf" {
				t.Errorf("citation %+v", c)
			}
			if report.PDFReader == "" || report.PDFReader != documents.PDFReader() {
				t.Errorf("PDFs read by %q, want %q", report.PDFReader, documents.PDFReader())
			}
			if report.Proved != 1 {
				t.Errorf("%d citations proved, want 1: %+v", report.Proved, report)
			}
		})
	}
}

// TestRequestPDFUnreadable: the answer is kept, and the report says why the text of
// the document is not known.
func TestRequestPDFUnreadable(t *testing.T) {
	for _, data := range []string{"JVBERi0=", "no base64!"} {
		text := fmt.Sprintf(`{"id":"a","request":{"messages":[{"role":"user","content":[{"type":"document","title":"d","source":{"type":"base64","media_type":"application/pdf","data":%q}}]}]},
 "response":{"type":"message","content":[{"type":"text","text":"x","citations":[]}]}}`, data)
		m, report := importText(t, "anthropic", text, Options{})
		if len(m.rows) != 1 || report.Failed != 0 || report.Warned != 1 {
			t.Fatalf("report %+v", report)
		}
		if m.rows[0].HasDocuments {
			t.Errorf("documents %+v", m.rows[0].Documents)
		}
		if got := report.Warnings[0].Reason; !strings.Contains(got, `the PDF of document "d": `) {
			t.Errorf("warning %q", got)
		}
	}
}
