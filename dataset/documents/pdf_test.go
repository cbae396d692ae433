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

// TestPDF compares the pages with what poppler's pdftotext 22.12 says of them,
// stored beside the files. Four programs wrote them.
func TestPDF(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.pdf")
	check(t, err)
	if len(paths) < 4 {
		t.Fatalf("only %d files", len(paths))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			check(t, err)
			stored, err := os.ReadFile(strings.TrimSuffix(path, ".pdf") + ".txt")
			check(t, err)
			want := strings.Split(strings.TrimSuffix(string(stored), "\f"), "\f")
			got, err := pdfPages(t.Context(), data)
			check(t, err)
			if len(got.Pages) != len(want) {
				t.Fatalf("%d pages, want %d", len(got.Pages), len(want))
			}
			for i := range want {
				if a, b := oneLine(got.Pages[i]), oneLine(want[i]); a != b {
					t.Errorf("page %d:\n%s\nwant\n%s", i+1, a, b)
				}
			}
		})
	}
}

// TestPDFWithPDFToText reads a file that is not managed here, if the other program
// is there.
func TestPDFWithPDFToText(t *testing.T) {
	data := makePDF("", made{content: "BT /F 12 Tf 50 700 Td (Hello) Tj ET", font: symbolFont})
	got, err := readPDF(t.Context(), data)
	if PDFToText() == "" {
		var page *PageError
		if !errors.As(err, &page) {
			t.Errorf("error %v, want one of a page", err)
		}
		return
	}
	check(t, err)
	if !strings.HasPrefix(got.Reader, "pdftotext ") || len(got.Pages) != 1 {
		t.Errorf("got %+v", got)
	}
}

const (
	plainFont = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
	// The glyphs of these two do not say which characters they are.
	symbolFont  = "<</Type/Font/Subtype/Type1/BaseFont/Own/FontDescriptor<</Type/FontDescriptor/Flags 4>>>>"
	numbersFont = "<</Type/Font/Subtype/Type1/BaseFont/Own/Encoding<</Differences[72/g72/g73]>>>>"
	wideFont    = "<</Type/Font/Subtype/Type0/BaseFont/Wide/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2>>]>>"
	picture     = "<</Type/XObject/Subtype/Image/Width 1/Height 1/Length 1>>stream\nx\nendstream"
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

func TestPDFPages(t *testing.T) {
	text := func(s string) string { return "BT /F 10 Tf 50 700 Td " + s + " ET" }
	tests := []struct {
		name  string
		pages []made
		want  []string
		err   string
	}{
		{"words", []made{{content: text("(One) Tj 0 -12 Td (two \\(2\\) \\050\\223) Tj"), font: plainFont}}, []string{"One\ntwo (2) (“"}, ""},
		{"gaps", []made{{content: text("[(One) -400 (two) 20 (three)] TJ"), font: plainFont}}, []string{"One twothree"}, ""},
		{"a divided word", []made{{content: text("(light-) Tj 0 -12 Td (house, well-) Tj 0 -12 Td (Known) Tj"), font: plainFont}}, []string{"lighthouse, well-\nKnown"}, ""},
		{"a form", []made{{
			content: "/X Do", font: plainFont,
			object: "<</Type/XObject/Subtype/Form/Length 30>>stream\nBT /F 10 Tf (In a form) Tj ET \nendstream",
		}}, []string{"In a form"}, ""},
		{"a form in itself", []made{{content: "/X Do", font: plainFont, object: "<</Subtype/Form/Length 5>>stream\n/X Do\nendstream"}}, nil, "page 1: forms within forms"},
		{"a picture between pages of text", []made{{content: text("(One) Tj"), font: plainFont}, {content: "/X Do", font: plainFont, object: picture}}, []string{"One", ""}, ""},
		{"an inline picture", []made{{content: "BI /W 1 /H 1 ID (\x00) Tj EI " + text("(One) Tj"), font: plainFont}}, []string{"One"}, ""},
		{"only a picture", []made{{content: "/X Do", font: plainFont, object: picture}}, nil, "page 1: a picture without text"},
		{"nothing", []made{{content: " ", font: plainFont}}, nil, "page 1: there is no text in it"},
		{"an alphabet of its own", []made{{content: text("(One) Tj"), font: plainFont}, {content: text("(H) Tj"), font: symbolFont}}, nil, "page 2: font Own does not say"},
		{"glyphs without names", []made{{content: text("(HI) Tj"), font: numbersFont}}, nil, "page 1: a glyph does not say"},
		{"a wide font without a map", []made{{content: text("<00480049> Tj"), font: wideFont}}, nil, "page 1: font Wide does not say"},
		{"right to left", []made{{content: text("(a) Tj"), font: "<</Type/Font/Subtype/Type1/Encoding<</Differences[97/uni05D0]>>>>"}}, nil, "page 1: text that is written from right to left"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pdfPages(t.Context(), makePDF("", tt.pages...))
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
			if tt.name == "a picture between pages of text" && !slices.Equal(got.Pictures, []int{2}) {
				t.Errorf("pictures %v, want page 2", got.Pictures)
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
		{"nothing", nil},
		{"only the beginning", good[:60]},
		{"an empty page tree", replaced("/Kids[3 0 R]", "/Kids[     ]")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			got, err := inTime(ctx, func() (Text, error) { return pdfPages(ctx, tt.data) })
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
		got, err := inTime(ctx, func() (Text, error) { return pdfPages(ctx, data) })
		if err == nil && len(got.Pages) == 0 {
			t.Error("neither pages nor an error")
		}
		if ctx.Err() != nil {
			t.Errorf("it took too long: %v", err)
		}
	})
}
