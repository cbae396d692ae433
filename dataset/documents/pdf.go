package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/ledongthuc/pdf"
)

// A PageError is a page of a PDF whose text cannot be had.
type PageError struct {
	Page int // from 1
	Err  error
}

// Error reads: page 3: right-to-left text.
func (e *PageError) Error() string { return fmt.Sprintf("page %d: %v", e.Page, e.Err) }

func (e *PageError) Unwrap() error { return e.Err }

const mostPages = 20_000

// readPDF reads the pages here and, where that does not manage, lets pdftotext
// read them all if it is installed. Where neither can, the error says why it was
// not managed here.
func readPDF(ctx context.Context, data []byte) (Text, error) {
	t, err := inTime(ctx, func() (Text, error) { return pdfPages(ctx, data) })
	if err == nil {
		return t, nil
	}
	if ctx.Err() != nil {
		return Text{}, err
	}
	pages, outside := pdfToText(ctx, data)
	if outside != nil || strings.TrimSpace(strings.Join(pages, "")) == "" {
		return Text{}, err
	}
	return Text{Title: t.Title, Pages: pages, Reader: PDFToText()}, nil
}

func pdfPages(ctx context.Context, data []byte) (Text, error) {
	if err := checkNumbers(data); err != nil {
		return Text{}, err
	}
	in := trimmedPDF(data)
	r, err := pdf.NewReader(&boundedReader{ctx: ctx, data: in, left: 64*int64(len(in)) + 64<<20}, int64(len(in)))
	if err != nil {
		return Text{}, err
	}
	t := Text{Title: oneLine(r.Trailer().Key("Info").Key("Title").Text())}
	var pages []pdf.Value
	listPages(r.Trailer().Key("Root").Key("Pages"), 0, &pages)
	if len(pages) == 0 {
		return t, errors.New("it has no pages")
	}
	if len(pages) > mostPages {
		return t, fmt.Errorf("it has over %d pages", mostPages)
	}
	fonts := make(map[string]*font)
	said := false
	for i, v := range pages {
		p := &page{ctx: ctx, known: fonts}
		text, err := p.read(v)
		if err != nil {
			return t, &PageError{i + 1, err}
		}
		if text == "" && p.pictures {
			t.Pictures = append(t.Pictures, i+1)
		}
		said = said || text != ""
		t.Pages = append(t.Pages, text)
	}
	switch {
	case said:
		return t, nil
	case len(t.Pictures) > 0:
		return t, &PageError{t.Pictures[0], errors.New("a picture without text")}
	}
	return t, &PageError{1, ErrNoText}
}

// listPages appends the leaves of the tree of pages, in order.
func listPages(node pdf.Value, depth int, pages *[]pdf.Value) {
	if depth > 64 || len(*pages) > mostPages {
		return
	}
	kids := node.Key("Kids")
	if kids.Kind() != pdf.Array {
		if node.Kind() == pdf.Dict && node.Key("Type").Name() == "Page" {
			*pages = append(*pages, node)
		}
		return
	}
	for i := range kids.Len() {
		listPages(kids.Index(i), depth+1, pages)
	}
}

// trimmedPDF drops what comes before the header and after the last %%EOF, and
// writes the header as the library wants it: many good files have a byte order
// mark there, or a version of their own.
func trimmedPDF(data []byte) []byte {
	if i := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-")); i > 0 {
		data = data[i:]
	}
	if i := bytes.LastIndex(data, []byte("%%EOF")); i >= 0 {
		data = data[:i+len("%%EOF")]
	}
	if len(data) < 100 || !bytes.HasPrefix(data, []byte("%PDF-")) {
		return data
	}
	data = bytes.Clone(data)
	copy(data, "%PDF-1.7\n")
	return data
}

// A boundedReader ends with the context, and after so many bytes: a damaged file
// can send its reader in a circle.
type boundedReader struct {
	ctx  context.Context
	data []byte
	left int64
}

func (b *boundedReader) ReadAt(p []byte, at int64) (int, error) {
	if b.ctx.Err() != nil {
		return 0, timeLimit(b.ctx)
	}
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errors.New("damaged: its parts refer to each other in a circle")
	}
	if at < 0 || at >= int64(len(b.data)) {
		return 0, io.EOF
	}
	n := copy(p, b.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// checkNumbers refuses a file whose numbers would make the library set aside more
// memory than the file accounts for: the sizes of tables, and of the rows in them.
func checkNumbers(data []byte) error {
	objects := int64(len(data))*4 + 10_000 // many objects fit into one compressed stream
	s := scanner{data: data}
	for !s.ended() {
		t := s.next()
		switch {
		case t.kind == tokenName && (t.text == "Size" || t.text == "Prev"):
			if n := s.next(); n.kind == tokenNumber && !(n.number >= 0 && n.number <= float64(objects)) {
				return fmt.Errorf("damaged: %s %v in a file of %d bytes", t.text, n.number, len(data))
			}
		case t.kind == tokenName && (t.text == "W" || t.text == "Index") && s.peek().kind == tokenOpen:
			s.next()
			for n := s.next(); n.kind == tokenNumber; n = s.next() {
				if n.number < 0 || n.number > float64(objects) {
					return fmt.Errorf("damaged: %s %v in a file of %d bytes", t.text, n.number, len(data))
				}
			}
		case t.kind == tokenName && t.text == "Columns":
			if n := s.next(); n.kind == tokenNumber && !(n.number >= 0 && n.number <= 1<<20) {
				return fmt.Errorf("damaged: Columns %v", n.number)
			}
		case t.kind == tokenWord && t.text == "xref":
			// Sections of "first count", each with as many lines of "offset
			// generation kind".
			for s.peek().kind == tokenNumber {
				first, count := s.next(), s.next()
				if !(first.number >= 0 && count.number >= 0 && first.number+count.number <= float64(objects)) {
					return fmt.Errorf("damaged: %v objects in a file of %d bytes", first.number+count.number, len(data))
				}
				for range int(count.number) {
					s.next()
					s.next()
					if s.next().kind != tokenWord {
						break
					}
				}
			}
		}
	}
	return nil
}

// PDFToText is the version of poppler's pdftotext that is installed, such as
// "pdftotext 22.12.0", or "".
var PDFToText = sync.OnceValue(func() string {
	out, err := exec.Command("pdftotext", "-v").CombinedOutput()
	words := strings.Fields(string(out))
	if err != nil || len(words) < 3 || words[0] != "pdftotext" {
		return ""
	}
	return "pdftotext " + words[2]
})

// pdfToText lets pdftotext read data, which ends with ctx.
func pdfToText(ctx context.Context, data []byte) (pages []string, err error) {
	if PDFToText() == "" {
		return nil, exec.ErrNotFound
	}
	// It reads its standard input, so that nothing is left of a command that is killed.
	cmd := exec.CommandContext(ctx, "pdftotext", "-q", "-enc", "UTF-8", "-eol", "unix", "-", "-")
	cmd.Stdin = bytes.NewReader(data)
	out := &cappedBuffer{most: mostText}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	text := strings.ToValidUTF8(out.String(), "\ufffd")
	for p := range strings.SplitSeq(strings.TrimSuffix(text, "\f"), "\f") {
		pages = append(pages, strings.TrimSpace(p))
	}
	return pages, nil
}

// mostText is the longest text of a document that is read, in bytes.
const mostText = 256 << 20

// A cappedBuffer refuses what goes beyond a limit.
type cappedBuffer struct {
	bytes.Buffer
	most int
}

func (b *cappedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errors.New("too much text")
	}
	return b.Buffer.Write(p)
}
