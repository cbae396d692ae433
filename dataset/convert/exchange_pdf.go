package convert

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"ibid/dataset"
	"ibid/dataset/documents"
)

// A pdfReader reads the PDFs of requests. One that several requests have is read
// once, as long as there are few.
type pdfReader struct {
	ctx    context.Context
	report *Report
	last   []readPDF // the one read last at the end
}

type readPDF struct {
	digest [sha256.Size]byte
	text   documents.Text
	err    error
}

// keptPDFs is how many PDFs are kept.
const keptPDFs = 8

func (r *pdfReader) read(encoded string) (documents.Text, error) {
	digest := sha256.Sum256([]byte(encoded))
	i := slices.IndexFunc(r.last, func(p readPDF) bool { return p.digest == digest })
	if i >= 0 {
		return r.last[i].text, r.last[i].err
	}
	p := readPDF{digest: digest}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		p.err = fmt.Errorf("no base64: %w", err)
	} else {
		p.text, p.err = documents.Read(r.ctx, documents.PDF, "", data)
		if p.err == nil {
			r.report.PDFReader = p.text.Reader
		}
	}
	if len(r.last) == keptPDFs {
		r.last = slices.Delete(r.last, 0, 1)
	}
	r.last = append(r.last, p)
	return p.text, p.err
}

// readPDF gives s the pages of a PDF that the request has in base64, or says why
// it has none. A document that has a text keeps it.
func (q *request) readPDF(s *source, encoded string) {
	if s.HasText || s.HasPages || s.HasBlocks || encoded == "" {
		return
	}
	t, err := q.pdfs.read(encoded)
	if err != nil {
		s.problem = fmt.Sprintf("the PDF of document %s: %v", quoted(s.Doc), err)
		return
	}
	title := s.Title
	dataset.FillDocument(&s.Document, &t)
	s.Title = title // what the answer was given
}
