package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ledongthuc/pdf"
)

// Limits of a PDF. A page that is read here has so much content that its text, and what
// the library keeps while it reads, stay within mostText.
const (
	mostPages   = 10_000
	mostText    = 64 << 20 // bytes
	mostContent = 16 << 20 // bytes of the content of a page, uncompressed
	mostMap     = 8 << 20  // bytes of a font's map from codes to characters
)

// library is what reads a PDF where pdftotext is not installed.
const library = "ledongthuc/pdf"

// PDFReader is what reads PDFs on this machine: poppler's pdftotext with its version, such
// as "pdftotext 22.12.0", where it is installed, else "ledongthuc/pdf". The two give other
// texts.
func PDFReader() string {
	if v := pdfToTextVersion(); v != "" {
		return v
	}
	return library
}

// readPDF reads the pages with [PDFReader]. The title is what the library says, or "".
func readPDF(ctx context.Context, data []byte) (Text, error) {
	if len(data) < 100 || !bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")) {
		return Text{}, errors.New("not a PDF file")
	}
	if pdfToTextVersion() == "" {
		t, err := inTime(ctx, func() (Text, error) { return libraryPages(ctx, data) })
		if err != nil {
			err = fmt.Errorf("%w (pdftotext, which may manage, is not installed)", err)
		}
		return t, err
	}
	pages, err := pdfToText(ctx, data)
	if err != nil {
		return Text{}, err
	}
	t, _ := inTime(ctx, func() (Text, error) { // a PDF without a title is read all the same
		r, err := openPDF(ctx, data)
		if err != nil {
			return Text{}, err
		}
		return Text{Title: titleOf(r)}, nil
	})
	t.Pages, t.Reader = pages, pdfToTextVersion()
	return t, nil
}

func titleOf(r *pdf.Reader) string { return oneLine(r.Trailer().Key("Info").Key("Title").Text()) }

// openPDF opens a PDF of which the numbers are within the limits of its size.
func openPDF(ctx context.Context, data []byte) (*pdf.Reader, error) {
	if err := checkNumbers(data); err != nil {
		return nil, err
	}
	in := trimmedPDF(data)
	return pdf.NewReader(&boundedReader{ctx: ctx, data: in, left: 64*int64(len(in)) + 64<<20}, int64(len(in)))
}

// libraryPages reads the pages with the library: the strings of each page in the order in
// which they are drawn, without the forms in it.
func libraryPages(ctx context.Context, data []byte) (Text, error) {
	r, err := openPDF(ctx, data)
	if err != nil {
		return Text{}, err
	}
	t := Text{Title: titleOf(r), Reader: library}
	var pages []pdf.Value
	nodes := 0
	listPages(r.Trailer().Key("Root").Key("Pages"), 0, &nodes, &pages)
	if len(pages) == 0 {
		return t, errors.New("it has no pages")
	}
	if len(pages) > mostPages {
		return t, fmt.Errorf("it has over %d pages", mostPages)
	}
	length := 0
	for i, v := range pages {
		if ctx.Err() != nil {
			return t, timeLimit(ctx)
		}
		text, err := pageText(v)
		if length += len(text); err == nil && length > mostText {
			err = errTooMuchText
		}
		if err != nil {
			return t, fmt.Errorf("page %d: %w", i+1, err)
		}
		t.Pages = append(t.Pages, text)
	}
	if length == 0 {
		return t, ErrNoText
	}
	return t, nil
}

var errTooMuchText = fmt.Errorf("over %d bytes of text", mostText)

// listPages appends the leaves of the tree of pages, in order. nodes counts what was visited.
func listPages(node pdf.Value, depth int, nodes *int, pages *[]pdf.Value) {
	if *nodes++; depth > 64 || *nodes > 4*mostPages || len(*pages) > mostPages {
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
		listPages(kids.Index(i), depth+1, nodes, pages)
	}
}

// pageText is what the library says of a page. It is an error where glyphs do not say which
// characters they are.
func pageText(v pdf.Value) (string, error) {
	content, streams := v.Key("Contents"), []pdf.Value{v.Key("Contents")}
	if content.Kind() == pdf.Array {
		streams = streams[:0]
		for i := range content.Len() {
			streams = append(streams, content.Index(i))
		}
	}
	size := int64(0)
	for _, s := range streams {
		if s.Kind() != pdf.Stream {
			continue
		}
		n, err := io.Copy(io.Discard, io.LimitReader(s.Reader(), mostContent-size+1))
		if err != nil {
			return "", fmt.Errorf("damaged: %w", err)
		}
		size += n
	}
	p := pdf.Page{V: v}
	longest := int64(1) // characters of a byte of content
	fonts := make(map[string]*pdf.Font)
	for _, name := range p.Fonts() {
		f := p.Font(name)
		fonts[name] = &f
		if m := f.V.Key("ToUnicode"); m.Kind() == pdf.Stream {
			n, err := longestString(m.Reader())
			if err != nil {
				return "", err
			}
			longest = max(longest, n/2)
		}
	}
	if size > mostContent || size*longest > mostText {
		return "", errors.New("it draws too much")
	}
	text, err := p.GetPlainText(fonts)
	if err != nil {
		return "", fmt.Errorf("damaged: %w", err)
	}
	text = strings.TrimSpace(ligatures.Replace(strings.ToValidUTF8(text, "\ufffd")))
	if strings.ContainsFunc(text, func(r rune) bool { return r == '\ufffd' || unicode.IsControl(r) && !unicode.IsSpace(r) }) {
		return "", errors.New("a glyph does not say which character it is")
	}
	return text, nil
}

// ligatures writes them as the letters that they are, as pdftotext does.
var ligatures = strings.NewReplacer("\ufb00", "ff", "\ufb01", "fi", "\ufb02", "fl", "\ufb03", "ffi", "\ufb04", "ffl", "\ufb05", "st", "\ufb06", "st")

// longestString is at least the length in bytes of the longest string, (…) or <…>, in a font's
// map.
func longestString(r io.Reader) (longest int64, err error) {
	data, err := io.ReadAll(io.LimitReader(r, mostMap+1))
	if err != nil || len(data) > mostMap {
		return 0, errors.New("a font has too long a map of characters")
	}
	for at := 0; at < len(data); at++ {
		from := at
		switch {
		case bytes.HasPrefix(data[at:], []byte("<<")):
			at++
		case data[at] == '%':
			for at < len(data) && data[at] != '\r' && data[at] != '\n' {
				at++
			}
		case data[at] == '<':
			for at < len(data) && data[at] != '>' {
				at++
			}
			longest = max(longest, int64(at-from)/2)
		case data[at] == '(':
			for depth := 1; depth > 0 && at+1 < len(data); {
				switch at++; data[at] {
				case '(':
					depth++
				case ')':
					depth--
				case '\\':
					at++
				}
			}
			longest = max(longest, int64(at-from))
		}
	}
	return longest, nil
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

// What a PDF says of sizes, with white space and comments between, see [checkNumbers].
//
// Source: ISO 32000-1, 7.2 and 7.5.4.
const (
	pdfGap    = `(?:[\x00\t\n\f\r ]|%[^\r\n]*[\r\n])`
	pdfNumber = pdfGap + `+([-+.0-9]+)`
)

var (
	pdfSizes   = regexp.MustCompile(`/(Size|Prev|Columns)` + pdfNumber)
	pdfLists   = regexp.MustCompile(`/(W|Index)` + pdfGap + `*\[([^\]]*)`)
	pdfXref    = regexp.MustCompile(`xref((?:` + pdfNumber + `|` + pdfGap + `+[nf]\b)*)`)
	pdfSection = regexp.MustCompile(`^` + pdfNumber + pdfNumber + `(` + pdfGap + `+[nf]\b)?`) // first and count, or an entry
	pdfEscape  = regexp.MustCompile(`#[0-9a-fA-F]{2}`)
)

// checkNumbers refuses a file whose numbers would make the library set aside more
// memory than the file accounts for: the sizes of tables, and of the rows in them.
func checkNumbers(data []byte) (err error) {
	size := len(data)
	objects := float64(size)*4 + 10_000  // many objects fit into one compressed stream
	if bytes.IndexByte(data, '#') >= 0 { // in names
		data = pdfEscape.ReplaceAllFunc(data, func(b []byte) []byte {
			n, _ := strconv.ParseUint(string(b[1:]), 16, 8)
			return []byte{byte(n)}
		})
	}
	check := func(what string, most float64, numbers ...[]byte) {
		sum := 0.0
		for _, number := range numbers {
			n, bad := strconv.ParseFloat(string(number), 64)
			if sum += n; bad == nil && !(n >= 0 && sum <= most) {
				err = fmt.Errorf("damaged: %s %v in a file of %d bytes", what, n, size)
			}
		}
	}
	eachMatch(pdfSizes, data, func(m [][]byte) {
		most := objects
		if string(m[1]) == "Columns" {
			most = 1 << 20
		}
		check(string(m[1]), most, m[2])
	})
	eachMatch(pdfLists, data, func(m [][]byte) {
		for number := range bytes.FieldsSeq(m[2]) {
			check(string(m[1]), objects, number)
		}
	})
	eachMatch(pdfXref, data, func(m [][]byte) {
		eachMatch(pdfSection, m[1], func(m [][]byte) {
			if m[3] == nil {
				check("objects up to", objects, m[1], m[2])
			}
		})
	})
	return err
}

// eachMatch calls yield with the groups of each match, one after the other.
func eachMatch(of *regexp.Regexp, data []byte, yield func(groups [][]byte)) {
	for at := of.FindSubmatchIndex(data); at != nil; at = of.FindSubmatchIndex(data) {
		groups := make([][]byte, len(at)/2)
		for k := range groups {
			if at[2*k] >= 0 {
				groups[k] = data[at[2*k]:at[2*k+1]]
			}
		}
		yield(groups)
		data = data[at[1]:]
	}
}

// pdfToTextVersion is the version of poppler's pdftotext that is installed, such as
// "pdftotext 22.12.0", or "".
var pdfToTextVersion = sync.OnceValue(func() string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := pdfToTextCommand(ctx, "-v").CombinedOutput()
	words := strings.Fields(string(out))
	if err != nil || len(words) < 3 || words[0] != "pdftotext" {
		return ""
	}
	return "pdftotext " + words[2]
})

// pdfToTextCommand is a call without the environment of this process, in which keys are.
func pdfToTextCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "pdftotext", args...)
	cmd.Env = []string{"LC_ALL=C"}
	cmd.WaitDelay = time.Second
	return cmd
}

// pdfToText lets pdftotext read data, which ends with ctx. It reads standard input: no name
// of a file becomes an argument, and nothing is left of a command that is killed.
func pdfToText(ctx context.Context, data []byte) (pages []string, err error) {
	cmd := pdfToTextCommand(ctx, "-q", "-enc", "UTF-8", "-eol", "unix", "-l", strconv.Itoa(mostPages+1), "-", "-")
	cmd.Stdin = bytes.NewReader(data)
	out := new(cappedBuffer)
	cmd.Stdout = out
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, timeLimit(ctx)
	case out.full:
		return nil, errTooMuchText
	case err != nil:
		return nil, fmt.Errorf("pdftotext cannot read this PDF: %w", err)
	}
	text := strings.ToValidUTF8(out.String(), "\ufffd")
	said := false
	for p := range strings.SplitSeq(strings.TrimSuffix(text, "\f"), "\f") {
		p = strings.TrimSpace(p)
		said = said || p != ""
		pages = append(pages, p)
	}
	switch {
	case len(pages) > mostPages:
		return nil, fmt.Errorf("it has over %d pages", mostPages)
	case !said:
		return nil, ErrNoText
	}
	return pages, nil
}

// A cappedBuffer refuses what goes beyond mostText.
type cappedBuffer struct {
	bytes.Buffer
	full bool
}

func (b *cappedBuffer) Write(p []byte) (int, error) {
	if b.full = b.Len()+len(p) > mostText; b.full {
		return 0, errTooMuchText
	}
	return b.Buffer.Write(p)
}
