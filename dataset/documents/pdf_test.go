package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPDF compares the pages with what poppler's pdftotext 22.12 says of them, stored beside
// the files. Four programs wrote them. The library has the same characters, but not the
// white space between lines, and leaves hyphens there.
func TestPDF(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.pdf")
	check(t, err)
	if len(paths) < 4 {
		t.Fatalf("only %d files", len(paths))
	}
	dense := func(s string) string {
		return strings.ReplaceAll(strings.Join(strings.Fields(s), ""), "-", "")
	}
	for _, way := range []struct {
		name, reader string
		same         func(string) string
	}{
		{"pdftotext", pdfToTextVersion(), oneLine},
		{"library", "", dense},
	} {
		for _, path := range paths {
			t.Run(way.name+"/"+filepath.Base(path), func(t *testing.T) {
				if way.name == "pdftotext" {
					needPDFToText(t)
				}
				installed(t, way.reader)
				data, err := os.ReadFile(path)
				check(t, err)
				stored, err := os.ReadFile(strings.TrimSuffix(path, ".pdf") + ".txt")
				check(t, err)
				want := strings.Split(strings.TrimSuffix(string(stored), "\f"), "\f")
				got, err := Read(t.Context(), PDF, "", data)
				check(t, err)
				if len(got.Pages) != len(want) || got.Reader != PDFReader() {
					t.Fatalf("%d pages by %s, want %d by %s", len(got.Pages), got.Reader, len(want), PDFReader())
				}
				for i := range want {
					if a, b := way.same(got.Pages[i]), way.same(want[i]); a != b {
						t.Errorf("page %d:\n%s\nwant\n%s", i+1, a, b)
					}
				}
				if title := "Notes on lighthouses"; strings.HasSuffix(path, "chromium.pdf") && got.Title != title {
					t.Errorf("title %q, want %q", got.Title, title)
				}
			})
		}
	}
}

func needPDFToText(t *testing.T) {
	t.Helper()
	if pdfToTextVersion() == "" {
		t.Skip("pdftotext is not installed (Debian: poppler-utils)")
	}
}

// installed has the test see a version of pdftotext, or none if that is "".
func installed(t *testing.T, version string) {
	before := pdfToTextVersion
	pdfToTextVersion = func() string { return version }
	t.Cleanup(func() { pdfToTextVersion = before })
}

// TestPDFUnreadable: either way says which it is and why there is no text.
func TestPDFUnreadable(t *testing.T) {
	damaged, empty := []byte("%PDF-1.4 nothing"+strings.Repeat("\n", 100)), makePDF("", made{content: " ", font: plainFont})
	version := pdfToTextVersion()
	installed(t, "")
	for _, data := range [][]byte{damaged, empty} {
		if _, err := Read(t.Context(), PDF, "", data); err == nil || !strings.HasSuffix(err.Error(), "(pdftotext, which may manage, is not installed)") {
			t.Errorf("%.20q: %v", data, err)
		}
	}
	installed(t, version)
	needPDFToText(t)
	if _, err := Read(t.Context(), PDF, "", damaged); err == nil || !strings.HasPrefix(err.Error(), "pdftotext cannot read this PDF: ") {
		t.Errorf("damaged: %v", err)
	}
	if _, err := Read(t.Context(), PDF, "", empty); !errors.Is(err, ErrNoText) {
		t.Errorf("empty: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, PDF, "", empty); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestCappedBuffer: what goes beyond the limit is refused whole.
func TestCappedBuffer(t *testing.T) {
	b := new(cappedBuffer)
	piece := make([]byte, mostText/4)
	for i := range 5 {
		if n, err := b.Write(piece); (err != nil) != (i == 4) || b.full != (i == 4) || err != nil && n > 0 {
			t.Errorf("piece %d: %d, %v", i, n, err)
		}
	}
}

// TestAbandoned: functions that run on after their time are counted, and with eight of them
// no document is read.
func TestAbandoned(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	stop := make(chan struct{})
	hang := func() (Text, error) { <-stop; return Text{}, nil }
	for range mostAbandoned {
		if _, err := inTime(ended, hang); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	read := func() (Text, error) { return Text{Text: "a"}, nil }
	if _, err := inTime(t.Context(), read); err == nil || !strings.Contains(err.Error(), "8 documents before it") {
		t.Errorf("with eight: %v", err)
	}
	close(stop)
	for abandoned.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := inTime(t.Context(), read); err != nil {
		t.Errorf("when they have ended: %v", err)
	}
}

const (
	plainFont = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
	// The glyphs of this one do not say which characters they are.
	wideFont = "<</Type/Font/Subtype/Type0/BaseFont/Wide/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2>>]>>"
	picture  = "<</Type/XObject/Subtype/Image/Width 1/Height 1/Length 1>>stream\nx\nendstream"
)

// made is a page of a made PDF.
type made struct{ content, font, object string }

// makePDF writes a small PDF; extra goes into its trailer.
func makePDF(extra string, pages ...made) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	object := func(body string) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 3+3*i))
	}
	object(fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), strings.Join(kids, " ")))
	for i, p := range pages {
		n := 3 + 3*i
		object(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F %s>>/XObject<</X %d 0 R>>>>/Contents %d 0 R>>", p.font, n+2, n+1))
		object(fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(p.content), p.content))
		object(cmpOr(p.object, "null"))
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, extra, at)
	return b.Bytes()
}

func cmpOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// TestLibraryPages: what the library reads, and what is refused rather than guessed.
func TestLibraryPages(t *testing.T) {
	text := func(s string) string { return "BT /F 10 Tf 50 700 Td " + s + " ET" }
	long := "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00><ff> endcodespacerange 1 beginbfchar <61><" + strings.Repeat("0061", 100_000) + "> endbfchar endcmap end"
	mapped := "<</Type/Font/Subtype/Type1/BaseFont/Own/ToUnicode 5 0 R>>"
	tests := []struct {
		name  string
		pages []made
		want  []string
		err   string
	}{
		{"words", []made{{content: text("(One) Tj T* (two \\(2\\) \\050\\223) Tj"), font: plainFont}}, []string{"One\ntwo (2) (“"}, ""},
		{"a picture between pages of text", []made{{content: text("(One) Tj"), font: plainFont}, {content: "/X Do", font: plainFont, object: picture}}, []string{"One", ""}, ""},
		{"a ligature", []made{{content: text("(\256) Tj"), font: "<</Type/Font/Subtype/Type1/Encoding<</Differences[174/fi]>>>>"}}, []string{"fi"}, ""},
		{"only a picture", []made{{content: "/X Do", font: plainFont, object: picture}}, nil, "there is no text in it"},
		{"nothing", []made{{content: " ", font: plainFont}}, nil, "there is no text in it"},
		{"a wide font without a map", []made{{content: text("(One) Tj"), font: plainFont}, {content: text("<00480049> Tj"), font: wideFont}}, nil, "page 2: a glyph does not say"},
		{"letters that are long texts", []made{{
			content: text("(" + strings.Repeat("a", 1000) + ") Tj"), font: mapped,
			object: fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(long), long),
		}}, nil, "page 1: it draws too much"},
		{"much to draw", []made{{content: strings.Repeat("0 ", mostContent/2+1), font: plainFont}}, nil, "page 1: it draws too much"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := libraryPages(t.Context(), makePDF("", tt.pages...))
			switch {
			case tt.err != "":
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
			case err != nil:
				t.Error(err)
			case !slices.Equal(got.Pages, tt.want):
				t.Errorf("pages %q, want %q", got.Pages, tt.want)
			}
		})
	}
}

// TestPDFDamaged reads files that are made to lead a reader astray. What is asked
// is an error, soon, and no more memory than the file accounts for.
func TestPDFDamaged(t *testing.T) {
	good := makePDF("", made{content: "BT /F 10 Tf (One) Tj ET", font: plainFont})
	at := bytes.Index(good, []byte("xref\n"))
	replaced := func(old, with string) []byte { return bytes.Replace(good, []byte(old), []byte(with), 1) }
	tests := []struct {
		name string
		data []byte
	}{
		{"many objects", replaced("xref\n0 ", "xref\n4000000000 ")},
		{"a large size", replaced("/Size 6", "/Size 99999999999")},
		{"a large size, disguised", replaced("/Size 6", "/S#69ze%\n99999999999")},
		{"a circle of tables", makePDF(fmt.Sprintf("/Prev %d", at), made{content: "BT ET", font: plainFont})},
		{"a large table in a stream", []byte("%PDF-1.5\n1 0 obj\n<</Type/XRef/Size 3/W[1 2 1]/Index[4000000000 1]/Length 4>>stream\n\x01\x00\x09\x00\nendstream\nendobj\nstartxref\n9\n%%EOF" + strings.Repeat("\n", 100))},
		{"long rows of a table", []byte("%PDF-1.5\n1 0 obj\n<</Type/XRef/Size 3/W[1 99999999999 1]/Length 4>>stream\n\x01\x00\x09\x00\nendstream\nendobj\nstartxref\n9\n%%EOF" + strings.Repeat("\n", 100))},
		{"pages in a circle", replaced("/Kids[3 0 R]", "/Kids[2 0 R]")},
		{"pages in many circles", bytes.Replace(makePDF("", made{content: "BT ET", font: plainFont}, made{content: "BT ET", font: plainFont}), []byte("/Kids[3 0 R 6 0 R]"), []byte("/Kids[2 0 R 2 0 R]"), 1)},
		{"nothing", nil},
		{"only the beginning", good[:60]},
		{"an empty page tree", replaced("/Kids[3 0 R]", "/Kids[     ]")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			got, err := inTime(ctx, func() (Text, error) { return libraryPages(ctx, tt.data) })
			if err == nil {
				t.Errorf("no error, but %q", got.Pages)
			}
			if ctx.Err() != nil {
				t.Error("it took too long")
			}
		})
	}
}

// FuzzPDF damages real files: whatever is in them, reading ends with pages or an
// error.
func FuzzPDF(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.pdf")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, at := range []uint32{0, 9, uint32(len(data) - 40), uint32(len(data) - 400), uint32(len(data) / 2)} {
			f.Add(path, at, []byte("<</Size 9>>"))
			f.Add(path, at, []byte(" 0 R"))
		}
	}
	f.Fuzz(func(t *testing.T, path string, at uint32, with []byte) {
		if !slices.Contains(paths, path) {
			return
		}
		data, err := os.ReadFile(path)
		check(t, err)
		copy(data[min(int(at), len(data)):], with)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		got, err := inTime(ctx, func() (Text, error) { return libraryPages(ctx, data) })
		if err == nil && len(got.Pages) == 0 {
			t.Error("neither pages nor an error")
		}
		if ctx.Err() != nil {
			t.Errorf("it took too long: %v", err)
		}
	})
}
