package convert

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"ibid/dataset"
	"ibid/dataset/documents"
)

// A pdfReader reads the PDFs of requests. One that several requests have is read
// once, as long as there are few.
type pdfReader struct {
	ctx    context.Context
	report *Report
	read   map[[sha256.Size]byte]readPDF
}

type readPDF struct {
	text documents.Text
	err  error
}

// keptPDFs is how many PDFs are kept.
const keptPDFs = 8

// of reads a PDF in base64.
func (r *pdfReader) of(encoded string) (documents.Text, error) {
	digest := sha256.Sum256([]byte(encoded))
	p, known := r.read[digest]
	if known {
		return p.text, p.err
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		p.err = fmt.Errorf("no base64: %w", err)
	} else if p.text, p.err = documents.Read(r.ctx, documents.PDF, "", data); p.err == nil {
		r.report.PDFReader = p.text.Reader
	}
	if len(r.read) == keptPDFs || r.read == nil {
		r.read = map[[sha256.Size]byte]readPDF{}
	}
	r.read[digest] = p
	return p.text, p.err
}

// readPDF gives s the pages of a PDF that the request has in base64, or says why
// it has none. A document that has a text keeps it.
func (q *request) readPDF(s *source, encoded string) {
	if s.HasText || s.HasPages || s.HasBlocks || encoded == "" {
		return
	}
	t, err := q.pdfs.of(encoded)
	if err != nil {
		s.problem = fmt.Sprintf("the PDF of document %s: %v", quoted(s.Doc), err)
		return
	}
	title := s.Title
	dataset.FillDocument(&s.Document, &t)
	s.Title = title // what the answer was given
}
