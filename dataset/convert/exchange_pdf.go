package convert

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"ibid/dataset"
	"ibid/dataset/documents"
)

// A pdfText is what was read of a PDF.
type pdfText struct {
	text documents.Text
	err  error
}

// keptPDFs is how many PDFs are kept.
const keptPDFs = 8

// pdf reads a PDF in base64. One that several requests have is read once, as long as there are few.
func (c *exchangeReader) pdf(encoded string) (documents.Text, error) {
	digest := sha256.Sum256([]byte(encoded))
	p, known := c.pdfs[digest]
	if known {
		return p.text, p.err
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		p.err = fmt.Errorf("no base64: %w", err)
	} else if p.text, p.err = documents.Read(c.ctx, documents.PDF, "", data); p.err == nil {
		c.report.PDFReader = p.text.Reader
	}
	if len(c.pdfs) == keptPDFs || c.pdfs == nil {
		c.pdfs = map[[sha256.Size]byte]pdfText{}
	}
	c.pdfs[digest] = p
	return p.text, p.err
}

// readPDF gives s the pages of a PDF that the request has in base64, or says why
// it has none. A document that has a text keeps it.
func (c *exchangeReader) readPDF(s *source, encoded string) {
	if s.HasText || s.HasPages || s.HasBlocks || encoded == "" {
		return
	}
	t, err := c.pdf(encoded)
	if err != nil {
		s.problem = fmt.Sprintf("the PDF of document %s: %v", quoted(s.Doc), err)
		return
	}
	title := s.Title
	dataset.FillDocument(&s.Document, &t)
	s.Title = title // what the answer was given
}
