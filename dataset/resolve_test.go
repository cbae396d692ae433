package dataset

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"ibid"
	"ibid/metrics/token"
)

// documentList yields its documents as a DOCUMENTS source would.
type documentList []ibid.Document

func (l documentList) read(_ context.Context, _ func(string) bool, yield func(*ibid.Document) error) error {
	for i := range l {
		doc := l[i]
		doc.File, doc.FileRow = "docs.parquet", int64(i)
		if err := yield(&doc); err != nil {
			return err
		}
	}
	return nil
}

// load keeps memory bytes of the texts in memory, the others in dir.
func (l documentList) load(t testing.TB, memory int64, dir string) (*Documents, error) {
	return newDocuments(memory, dir).addAll(t.Context(), nil, l.read)
}

// textOf is the text of a document, and behind it the pages that are not in it.
func textOf(v *View, name string) (text *token.Text, ok bool, err error) {
	n, ok := v.docs.numbers[name]
	if !ok || !v.docs.docs[n].hasText {
		return nil, false, nil
	}
	o, err := v.open(n)
	if err != nil {
		return nil, false, err
	}
	return o.text, true, nil
}

func loadView(t testing.TB, docs ...ibid.Document) *View {
	t.Helper()
	d, err := documentList(docs).load(t, textMemory, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d.View(1 << 20)
}

// allChecks are the checks that a run makes unless it is told otherwise.
var allChecks = Checks{Existence: true, Bounds: true, Text: true}

func some(n int64) ibid.Integer { return ibid.Some(n) }

func withText(name, text string) ibid.Document {
	return ibid.Document{Doc: name, Text: text, HasText: true}
}

func withPages(name string, pages ...string) ibid.Document {
	return ibid.Document{Doc: name, Pages: pages, HasPages: true}
}

// The documents of the tests below.
var (
	plainDoc   = withText("plain", "The grass is green. The sky is blue.") // 36 code points
	wideDoc    = withText("wide", "aé😀b 引用 c")                             // 9 code points, 11 UTF-16 units, 19 bytes
	pagedDoc   = withPages("paged", "First page. ", "Second page. ", "", "Fourth.")
	apartDoc   = ibid.Document{Doc: "apart", HasText: true, Text: "whole text", HasPages: true, Pages: []string{"other", "pages 😀 here"}}
	blockDoc   = ibid.Document{Doc: "blocks", HasText: true, Text: "One.\n\nTwo.\n\nThree.", HasBlocks: true, Blocks: []string{"One.", "Two.", "Three."}}
	bookDoc    = ibid.Document{Doc: "book", HasPages: true, Pages: []string{"A1 A2 ", "B1 B2"}, HasBlocks: true, Blocks: []string{"A1", "A2", "B1", "B2"}}
	namedDoc   = ibid.Document{Doc: "named"}
	emptyDoc   = withText("empty", "")
	quotesDoc  = withText("quotes", "He said  “it’s fine” — twice.\nHe said no. Then “yes”.")
	singleDoc  = withPages("single", "only page")
	testSource = []ibid.Document{plainDoc, wideDoc, pagedDoc, apartDoc, blockDoc, bookDoc, namedDoc, emptyDoc, quotesDoc, singleDoc}
)

// A cited is a citation that is easy to vary.
type cited ibid.Citation

// at is a citation of [start, end).
func at(doc string, start, end int64) cited {
	return cited{Doc: doc, Start: some(start), End: some(end)}
}

func (c cited) in(unit string) cited       { c.Unit = unit; return c }
func (c cited) onPage(page int64) cited    { c.Page = some(page); return c }
func (c cited) quoting(quote string) cited { c.CitedText = quote; return c }

func describeCitation(c *ibid.Citation) string {
	said := describe(c.Place, c.Given)
	if c.Held {
		said += " held"
	}
	return said
}

// describe renders a place, its pieces and what was given instead in short.
func describe(p ibid.Place, given ibid.Interval) string {
	var b strings.Builder
	b.WriteString(p.Status.String())
	switch p.Level {
	case ibid.LevelCharacters:
		fmt.Fprintf(&b, " key %d [%d,%d)", p.Page, p.Start, p.End)
	case ibid.LevelPages:
		b.WriteString(" pages")
	case ibid.LevelDocument:
		b.WriteString(" document")
	case ibid.LevelNowhere:
		b.WriteString(" nowhere")
	}
	if p.FirstPage != 0 || p.LastPage != 0 {
		fmt.Fprintf(&b, " p%d-%d", p.FirstPage, p.LastPage)
	}
	for _, piece := range p.Pieces {
		fmt.Fprintf(&b, " piece [%d,%d)", piece.Start, piece.End)
	}
	if given.Known() {
		fmt.Fprintf(&b, " given [%d,%d)", given.Start.Value, given.End.Value)
	}
	if p.Excluded {
		b.WriteString(" excluded")
	}
	return b.String()
}

type resolveCase struct {
	name string
	cite cited
	want string
}

func runCases(t *testing.T, r *Resolver, tests []resolveCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			row := ibid.Answer{Citations: []ibid.Citation{ibid.Citation(tt.cite)}}
			if err := r.Resolve(&row); err != nil {
				t.Fatalf("row error: %v", err)
			}
			if got := describeCitation(&row.Citations[0]); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if err := r.Err(); err != nil {
				t.Error(err)
			}
			c := tt.cite
			truth := ibid.Answer{Truth: []ibid.Mark{{Doc: c.Doc, DocNull: c.DocNull, Page: c.Page, Start: c.Start, End: c.End, Unit: c.Unit, CitedText: c.CitedText}}}
			if err := r.Resolve(&truth); err != nil {
				t.Fatalf("row error as truth: %v", err)
			}
			row.Citations[0].Place.Excluded = row.Citations[0].Place.Status == ibid.StatusQuoteMismatch
			if got := truth.Truth[0].Place; !reflect.DeepEqual(got, row.Citations[0].Place) {
				t.Errorf("as truth: got %+v, want %+v", got, row.Citations[0].Place)
			}
		})
	}
}

func TestResolveFromDocument(t *testing.T) {
	r := NewResolver(loadView(t, testSource...), Conventions{MaxSpanLength: 30, Checks: allChecks})
	runCases(t, r, []resolveCase{
		{"plain", at("plain", 4, 9), "ok key 0 [4,9)"},
		{"given page is shown", at("plain", 4, 9).onPage(3), "ok key 0 [4,9) p3-3"},
		{"to the end", at("plain", 30, 36), "ok key 0 [30,36)"},
		{"past the end", at("plain", 30, 37), "span_out_of_bounds key 0 [30,37)"},
		{"past what a span may have", at("plain", 0, math.MaxInt64), "span_out_of_bounds key 0 [0,9223372036854775807)"},
		{"too long", at("plain", 0, 31), "span_too_long key 0 [0,31)"},
		{"longest", at("plain", 0, 30), "ok key 0 [0,30)"},
		{"too long and past the end", at("plain", 6, 37), "span_out_of_bounds key 0 [6,37)"},
		{"empty", at("plain", 4, 4), "span_empty key 0 [4,4)"},
		{"inverted", at("plain", 9, 4), "span_inverted key 0 [9,4)"},
		{"negative", at("plain", -1, 4), "span_negative key 0 [-1,4)"},
		{"negative end", at("plain", 3, -4), "span_negative key 0 [3,-4)"},
		{"empty in no document", at("none", 4, 4), "span_empty key 0 [4,4)"},
		{"no document", at("none", 4, 9), "document_not_found key 0 [4,9)"},
		{"no document, too long", at("none", 4, 99), "document_not_found key 0 [4,99)"},
		{"null document", cited{DocNull: true, Start: some(1), End: some(2)}, "document_not_found nowhere"},
		{"without text", at("named", 4, 9), "unchecked key 0 [4,9)"},
		{"without text, too long", at("named", 4, 99), "span_too_long key 0 [4,99)"},
		{"empty text", at("empty", 0, 1), "span_out_of_bounds key 0 [0,1)"},

		{"pages touched", at("paged", 3, 13), "ok key 0 [3,13) p1-2"},
		{"ends with a page", at("paged", 3, 12), "ok key 0 [3,12) p1-1"},
		{"over an empty page", at("paged", 20, 26), "ok key 0 [20,26) p2-4"},
		{"past the last page", at("paged", 20, 40), "span_out_of_bounds key 0 [20,40) p2-4"},
		{"wrong page shown", at("paged", 3, 9).onPage(2), "ok key 0 [3,9) p1-1"},
		{"no such page", at("paged", 3, 9).onPage(5), "page_not_found key 0 [3,9) p1-1"},
		{"page zero", at("paged", 3, 9).onPage(0), "page_not_found key 0 [3,9) p1-1"},
		{"pages not in the text", at("apart", 3, 9).onPage(2), "ok key 0 [3,9) p2-2"},

		{"page", at("paged", 2, 3).in("page"), "ok key 0 [12,25) p2-2"},
		{"pages", at("paged", 1, 3).in("page"), "ok key 0 [0,25) p1-2"},
		{"empty page", at("paged", 3, 4).in("page"), "ok pages p3-3"},
		{"page by its number alone", cited{Doc: "paged", Page: some(2), Unit: "page"}, "ok key 0 [12,25) p2-2"},
		{"page after the last", at("paged", 5, 6).in("page"), "page_not_found pages p5-5"},
		{"pages over the last", at("paged", 4, 6).in("page"), "page_not_found pages p4-5"},
		{"page 0", at("paged", 0, 1).in("page"), "page_not_found document"},
		{"pages inverted", at("paged", 3, 2).in("page"), "span_inverted pages"},
		{"page empty", at("paged", 3, 3).in("page"), "span_empty pages"},
		{"page of no document", at("none", 2, 4).in("page"), "document_not_found pages p2-3"},
		{"page of a text without pages", at("plain", 2, 4).in("page"), "unchecked pages p2-3"},
		{"page apart", at("apart", 2, 3).in("page"), "ok pages p2-2"},

		{"block", at("blocks", 1, 2).in("block"), "ok key 0 [6,10)"},
		{"blocks", at("blocks", 0, 2).in("block"), "ok key 0 [0,10)"},
		{"blocks of pages", at("book", 1, 3).in("block"), "ok key 0 [3,8) p1-2"},
		{"block after the last", at("blocks", 2, 4).in("block"), "span_out_of_bounds document"},
		{"block negative", at("blocks", -1, 1).in("block"), "span_negative document"},
		{"block without bounds", at("plain", 0, 1).in("block"), "unchecked document"},
		{"block without bounds on a page", at("plain", 0, 1).in("block").onPage(4), "unchecked pages p4-4"},

		{"document", cited{Doc: "plain", Unit: "document"}, "ok key 0 [0,36)"},
		{"document of pages", cited{Doc: "paged", Unit: "document"}, "ok key 0 [0,32) p1-4"},
		{"document without text", cited{Doc: "named", Unit: "document"}, "unchecked document"},
		{"empty document", cited{Doc: "empty", Unit: "document"}, "ok document"},
		{"no such document", cited{Doc: "none", Unit: "document"}, "document_not_found document"},
		{"without start and end", cited{Doc: "plain"}, "ok document"},
		{"without start and end on a page", cited{Doc: "paged", Page: some(2)}, "ok pages p2-2"},
		{"without start and end on no page", cited{Doc: "paged", Page: some(7)}, "page_not_found pages p7-7"},
		{"block without start and end", cited{Doc: "plain", Unit: "block"}, "ok document"},

		{"utf16", at("wide", 2, 4).in("utf16"), "ok key 0 [2,3)"},
		{"utf16 within", at("wide", 3, 4).in("utf16"), "ok key 0 [2,3)"},
		{"utf16 to the end", at("wide", 5, 10).in("utf16"), "ok key 0 [4,9)"},
		{"utf16 past the end", at("wide", 5, 12).in("utf16"), "span_out_of_bounds key 0 [4,11)"},
		{"byte", at("wide", 1, 7).in("byte"), "ok key 0 [1,3)"},
		{"byte within", at("wide", 2, 4).in("byte"), "ok key 0 [1,3)"},
		{"byte past the end", at("wide", 0, 1<<40).in("byte"), "span_out_of_bounds key 0 [0,1099511627768)"},
		{"byte without text", at("named", 1, 7).in("byte"), "unchecked document"},
		{"byte of no document", at("none", 1, 7).in("byte").onPage(2), "document_not_found pages p2-2"},
		{"byte inverted without text", at("named", 7, 1).in("byte"), "span_inverted key 0 [7,1)"},
	})
}

func TestResolveFromPage(t *testing.T) {
	r := NewResolver(loadView(t, testSource...), Conventions{OffsetBase: FromPage, Checks: allChecks})
	runCases(t, r, []resolveCase{
		{"on a page", at("paged", 0, 6).onPage(2), "ok key 2 [0,6) p2-2"},
		{"past the end of the page", at("paged", 0, 14).onPage(2), "span_out_of_bounds key 2 [0,14) p2-2"},
		{"no such page", at("paged", 0, 6).onPage(9), "page_not_found key 9 [0,6) p9-9"},
		{"no page of a document with pages", at("paged", 0, 6), "page_not_found key 0 [0,6)"},
		{"no page of a document without", at("plain", 0, 6), "ok key 0 [0,6)"},
		{"page of a document without", at("plain", 0, 6).onPage(1), "unchecked key 1 [0,6) p1-1"},
		{"page of no document", at("none", 0, 6).onPage(1), "document_not_found key 1 [0,6) p1-1"},
		{"inverted", at("paged", 6, 0).onPage(2), "span_inverted key 2 [6,0)"},
		{"pages apart", at("apart", 6, 7).onPage(2), "ok key 2 [6,7) p2-2"},
		{"utf16 of a page", at("apart", 6, 8).onPage(2).in("utf16"), "ok key 2 [6,7) p2-2"},
		{"byte of a page", at("apart", 6, 11).onPage(2).in("byte"), "ok key 2 [6,8) p2-2"},
		{"byte past the page", at("apart", 5, 9).onPage(1).in("byte"), "span_out_of_bounds key 1 [5,9) p1-1"},
		{"byte of no page", at("apart", 5, 9).onPage(7).in("byte"), "page_not_found pages p7-7"},
		{"page", at("paged", 2, 3).in("page"), "ok key 2 [0,13) p2-2"},
		{"pages are several keys", at("paged", 1, 3).in("page"), "ok pages p1-2"},
		{"block on a page", at("book", 3, 4).in("block"), "ok key 2 [3,5) p2-2"},
		{"blocks of two pages", at("book", 1, 3).in("block"), "ok pages p1-2"},
		{"document of one page", cited{Doc: "single", Unit: "document"}, "ok key 1 [0,9) p1-1"},
		{"document of several", cited{Doc: "paged", Unit: "document"}, "ok pages p1-4"},
		{"document without pages", cited{Doc: "plain", Unit: "document"}, "ok key 0 [0,36)"},
		{"quote on the page", at("paged", 0, 3).onPage(2).quoting("page."), "quote_repaired key 2 [7,12) p2-2 given [0,3)"},
		{"quote on another page", at("paged", 0, 3).onPage(2).quoting("First"), "quote_mismatch key 2 [0,3) p2-2"},
		{"quote without a page", cited{Doc: "paged", CitedText: "Second page."}, "quote_located key 2 [0,12) p2-2"},
		{"wrong quote without a page", cited{Doc: "paged", CitedText: "Third"}, "quote_not_found document"},
	})
}

func TestResolveQuotes(t *testing.T) {
	r := NewResolver(loadView(t, testSource...), Conventions{MaxSpanLength: 40, Checks: allChecks})
	runCases(t, r, []resolveCase{
		{"exact", at("plain", 4, 9).quoting("grass"), "ok key 0 [4,9) held"},
		{"blank is no quote", at("plain", 4, 9).quoting(" \n"), "ok key 0 [4,9)"},
		{"normalised", at("quotes", 0, 29).quoting(`He said "it's fine" - twice. `), "ok key 0 [0,29) held"},
		{"white space at the ends", at("quotes", 7, 20).quoting(`“it’s fine”`), "ok key 0 [7,20) held"},
		{"letter case is free", at("plain", 4, 9).quoting("Grass"), "ok key 0 [4,9) held"},
		{"shifted", at("plain", 3, 8).quoting("grass"), "quote_repaired key 0 [4,9) given [3,8)"},
		{"elsewhere, normalised", at("quotes", 0, 4).quoting("fine\" – twice. He said  no"), "quote_repaired key 0 [15,40) given [0,4)"},
		{"found twice, one clearly nearer", at("quotes", 1, 4).quoting("He said"), "quote_repaired key 0 [0,7) given [1,4)"},
		{"overlapping finds are two", at("overlap", 4, 5).quoting("aba"), "document_not_found key 0 [4,5)"},
		{"not found", at("plain", 4, 9).quoting("water"), "quote_mismatch key 0 [4,9)"},
		{"out of bounds, found", at("plain", 30, 40).quoting("sky"), "quote_repaired key 0 [24,27) given [30,40)"},
		{"out of bounds, not found", at("plain", 30, 40).quoting("water"), "span_out_of_bounds key 0 [30,40)"},
		{"cut off at the end, found", at("plain", 31, 40).quoting("blue."), "quote_repaired key 0 [31,36) given [31,40)"},
		{"too long", at("quotes", 0, 45).quoting("no"), "span_too_long key 0 [0,45)"},
		{"inverted", at("plain", 9, 4).quoting("grass"), "span_inverted key 0 [9,4)"},
		{"without text", at("named", 4, 9).quoting("grass"), "unchecked key 0 [4,9)"},
		{"page contains it", at("paged", 2, 3).in("page").quoting("page."), "ok key 0 [12,25) p2-2 held"},
		{"page does not", at("paged", 2, 3).in("page").quoting("First"), "quote_repaired key 0 [0,5) p1-1 given [12,25)"},
		{"page does not, nor the rest", at("paged", 2, 3).in("page").quoting("Third"), "quote_mismatch key 0 [12,25) p2-2"},
		{"page without bounds, contained", at("plain", 2, 3).in("page").quoting("sky"), "unchecked pages p2-2"},
		{"page without bounds, not contained", at("plain", 2, 3).in("page").quoting("water"), "quote_mismatch pages p2-2"},
		{"block", at("blocks", 1, 2).in("block").quoting("Two."), "ok key 0 [6,10) held"},
		{"other block", at("blocks", 1, 2).in("block").quoting("Three."), "quote_repaired key 0 [12,18) given [6,10)"},
		{"document", cited{Doc: "plain", Unit: "document", CitedText: "sky"}, "ok key 0 [0,36) held"},
		{"document without it", cited{Doc: "plain", Unit: "document", CitedText: "sea"}, "quote_mismatch key 0 [0,36)"},
		{"no span, found once", cited{Doc: "plain", CitedText: "sky"}, "quote_located key 0 [24,27)"},
		{"no span, found twice", cited{Doc: "plain", CitedText: "The"}, "quote_ambiguous document"},
		{"no span, not found", cited{Doc: "plain", CitedText: "sea"}, "quote_not_found document"},
		{"found twice, none clearly nearer", at("quotes", 15, 20).quoting("He said"), "quote_ambiguous key 0 [15,20)"},
		{"holds more than the quote", at("plain", 0, 36).quoting("sky is"), "ok key 0 [0,36) held"},
		{"holds it but for a full stop", at("plain", 20, 35).quoting("The sky is blue."), "ok key 0 [20,35) held"},
		{"cut down to an excerpt", at("plain", 0, 19).quoting(`"The grass..."`), "ok key 0 [0,19) held"},
		{"an excerpt of elsewhere", at("plain", 0, 19).quoting("The sky…"), "quote_repaired key 0 [20,27) given [0,19)"},
		{"pieces", at("plain", 0, 3).quoting("grass [...] green ... blue"), "quote_repaired key 0 [4,35) piece [4,9) piece [13,18) piece [31,35) given [0,3)"},
		{"nothing but a gap", at("plain", 0, 3).quoting("…"), "ok key 0 [0,3)"},
		{"no span, on the page that is given", cited{Doc: "paged", Page: some(2), CitedText: "page."}, "quote_located key 0 [19,24) p2-2"},
		{"no span, not on the page that is given", cited{Doc: "paged", Page: some(2), CitedText: "First"}, "quote_located key 0 [0,5) p1-1"},
		{"no span, pieces", cited{Doc: "plain", CitedText: "grass … green"}, "quote_located key 0 [4,18) piece [4,9) piece [13,18)"},
		{"astral before", at("wide", 0, 1).quoting("用"), "quote_repaired key 0 [6,7) given [0,1)"},
	})
}

func TestResolveWithoutDocuments(t *testing.T) {
	runCases(t, NewResolver(nil, Conventions{MaxSpanLength: 50, Checks: allChecks}), []resolveCase{
		{"span", at("a", 4, 9), "unchecked key 0 [4,9)"},
		{"span on a page", at("a", 4, 9).onPage(3), "unchecked key 0 [4,9) p3-3"},
		{"quote", at("a", 4, 9).quoting("grass"), "unchecked key 0 [4,9)"},
		{"null document", cited{DocNull: true}, "unchecked nowhere"},
		{"too long", at("a", 4, 99), "span_too_long key 0 [4,99)"},
		{"past what a span may have", at("a", math.MaxInt32-9, math.MaxInt32+1), "span_out_of_bounds key 0 [2147483638,2147483648)"},
		{"last possible", at("a", math.MaxInt32-9, math.MaxInt32), "unchecked key 0 [2147483638,2147483647)"},
		{"block", at("a", 4, 9).in("block"), "unchecked document"},
		{"document", cited{Doc: "a", Unit: "document", Page: some(2)}, "unchecked document p2-2"},
	})
}

func TestResolveInclusive(t *testing.T) {
	r := NewResolver(loadView(t, testSource...), Conventions{SpanEnd: Inclusive, Checks: allChecks})
	runCases(t, r, []resolveCase{
		{"span", at("plain", 4, 8).quoting("grass"), "ok key 0 [4,9) held"},
		{"one code point", at("plain", 4, 4), "ok key 0 [4,5)"},
		{"last", at("plain", 30, 35), "ok key 0 [30,36)"},
		{"empty", at("plain", 4, 3), "span_empty key 0 [4,4)"},
		{"inverted", at("plain", 4, 2), "span_inverted key 0 [4,3)"},
		{"negative end", at("plain", 0, -1), "span_negative key 0 [0,0)"},
		{"largest end", at("plain", 4, math.MaxInt64), "span_out_of_bounds key 0 [4,9223372036854775807)"},
		{"last byte", at("wide", 1, 6).in("byte"), "ok key 0 [1,3)"},
		{"first byte of the last", at("wide", 1, 3).in("byte"), "ok key 0 [1,3)"},
		{"pages stay exclusive", at("paged", 2, 3).in("page"), "ok key 0 [12,25) p2-2"},
	})
}

func TestResolveChecksOff(t *testing.T) {
	r := NewResolver(loadView(t, testSource...), Conventions{})
	runCases(t, r, []resolveCase{
		{"existence", at("none", 4, 9), "unchecked key 0 [4,9)"},
		{"page existence", at("paged", 4, 9).onPage(9), "ok key 0 [4,9) p1-1"},
		{"null document", cited{DocNull: true}, "unchecked nowhere"},
		{"bounds", at("plain", 4, 99), "ok key 0 [4,99)"},
		{"bounds of blocks", at("blocks", 2, 9).in("block"), "unchecked document"},
		{"what a span may have", at("plain", 4, 1<<31), "span_out_of_bounds key 0 [4,2147483648)"},
		{"text", at("plain", 4, 9).quoting("water"), "ok key 0 [4,9)"},
		{"no limit", at("plain", 0, 36), "ok key 0 [0,36)"},
		{"inverted stays", at("plain", 9, 4), "span_inverted key 0 [9,4)"},
	})
}

func TestResolveRowErrors(t *testing.T) {
	r := NewResolver(loadView(t, testSource...), Conventions{Checks: allChecks})
	good := at("plain", 4, 9)
	tests := []struct {
		name string
		row  ibid.Answer
		want string
	}{
		{"null start", ibid.Answer{Citations: []ibid.Citation{ibid.Citation(good), {Doc: "plain", End: some(4)}}}, "citations.start: element 1: null, but end is 4"},
		{"null end", ibid.Answer{Truth: []ibid.Mark{{Doc: "plain", Start: some(4)}}}, "truth.end: element 0: null, but start is 4"},
		{"unit", ibid.Answer{Citations: []ibid.Citation{ibid.Citation(good.in("chars"))}}, `citations.unit: element 0: "chars" is not one of codepoint, utf16, byte, page, block, document`},
		{"page", ibid.Answer{Citations: []ibid.Citation{ibid.Citation(good.onPage(1 << 31))}}, "citations.page: element 0: 2147483648 does not fit into 32 bits"},
		{
			"two documents of one name",
			ibid.Answer{Documents: []ibid.Document{withText("a", "x"), withText("b", ""), withText("a", "y")}, HasDocuments: true},
			`documents.doc: element 2: "a" differs from element 0 of the same name`,
		},
		{"the same document twice", ibid.Answer{Documents: []ibid.Document{withText("a", "x"), withText("a", "x")}, HasDocuments: true}, ""},
		{"first error wins", ibid.Answer{Citations: []ibid.Citation{ibid.Citation(good.in("x")), ibid.Citation(good.in("y"))}}, `citations.unit: element 0: "x" is not one of codepoint, utf16, byte, page, block, document`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := r.Resolve(&tt.row); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestResolveInlineDocuments(t *testing.T) {
	r := NewResolver(loadView(t, testSource...), Conventions{Checks: allChecks})
	own := ibid.Answer{
		Citations:    []ibid.Citation{ibid.Citation(at("plain", 0, 4)), ibid.Citation(at("plain", 0, 5)), ibid.Citation(at("wide", 0, 9)), ibid.Citation(at("none", 0, 1))},
		Documents:    []ibid.Document{withText("plain", "mine")},
		HasDocuments: true,
	}
	r.Resolve(&own)
	for i, want := range []string{"ok key 0 [0,4)", "span_out_of_bounds key 0 [0,5)", "ok key 0 [0,9)", "document_not_found key 0 [0,1)"} {
		if got := describeCitation(&own.Citations[i]); got != want {
			t.Errorf("citation %d: got %s, want %s", i, got, want)
		}
	}
	if x, ok := allTokens(r, "plain", 0); !ok || x.Len() != 1 {
		t.Errorf("Tokens of the row's own document = %v, %v, want 1 token", x, ok)
	}
	next := ibid.Answer{Citations: []ibid.Citation{ibid.Citation(at("plain", 0, 5))}}
	r.Resolve(&next)
	if got, want := describeCitation(&next.Citations[0]), "ok key 0 [0,5)"; got != want {
		t.Errorf("next row: got %s, want %s", got, want)
	}

	without := NewResolver(nil, Conventions{Checks: allChecks})
	row := ibid.Answer{Citations: []ibid.Citation{ibid.Citation(at("a", 0, 1))}, HasDocuments: true}
	without.Resolve(&row)
	if got, want := row.Citations[0].Place.Status, ibid.StatusDocumentNotFound; got != want {
		t.Errorf("row known to have no documents: %v, want %v", got, want)
	}
	row = ibid.Answer{Citations: []ibid.Citation{{DocNull: true, Method: "numbered"}, {DocNull: true, Method: "turn"}}, HasDocuments: true}
	without.Resolve(&row)
	if a, b := row.Citations[0].Place.Status, row.Citations[1].Place.Status; a != ibid.StatusDocumentNotFound || b != ibid.StatusUnchecked {
		t.Errorf("marks without a document: %v and %v", a, b)
	}
}

func TestResolveAnswer(t *testing.T) {
	row := ibid.Answer{
		Answer: "é😀 yes",
		Citations: []ibid.Citation{
			{AnswerStart: some(2), AnswerEnd: some(6)},
			{AnswerStart: some(3), AnswerEnd: some(99)},
			{AnswerStart: some(-2)},
			{},
		},
		Claims: []ibid.Claim{{Start: some(0), End: some(2)}, {}},
	}
	tests := []struct {
		name   string
		conv   Conventions
		answer []ibid.Interval
		claims []ibid.Interval
	}{
		{
			"code points",
			Conventions{},
			[]ibid.Interval{{Start: some(2), End: some(6)}, {Start: some(3), End: some(99)}, {Start: some(-2)}, {}},
			[]ibid.Interval{{Start: some(0), End: some(2)}, {}},
		},
		{
			"bytes",
			Conventions{OffsetUnit: token.Byte},
			[]ibid.Interval{{Start: some(1), End: some(2)}, {Start: some(1), End: some(95)}, {Start: some(-2)}, {}},
			[]ibid.Interval{{Start: some(0), End: some(1)}, {}},
		},
		{
			"utf16 inclusive",
			Conventions{OffsetUnit: token.UTF16, SpanEnd: Inclusive},
			[]ibid.Interval{{Start: some(1), End: some(6)}, {Start: some(2), End: some(99)}, {Start: some(-2)}, {}},
			[]ibid.Interval{{Start: some(0), End: some(2)}, {}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			NewResolver(nil, tt.conv).Resolve(&row)
			for i, want := range tt.answer {
				if got := row.Citations[i].Extent; got != want {
					t.Errorf("extent of citation %d = %v, want %v", i, got, want)
				}
			}
			for i, want := range tt.claims {
				if got := row.Claims[i].Extent; got != want {
					t.Errorf("extent of claim %d = %v, want %v", i, got, want)
				}
			}
		})
	}
}

// A textKey is a document, or a page of it.
type textKey struct {
	doc  string
	page int32
}

func TestTokens(t *testing.T) {
	r := NewResolver(loadView(t, testSource...), Conventions{})
	r.Resolve(&ibid.Answer{})
	tests := []struct {
		doc  string
		page int32
		want int // tokens; -1 if there is no text
	}{
		{"plain", 0, 8},
		{"plain", 1, -1},
		{"paged", 0, 5},
		{"paged", 2, 2},
		{"paged", 3, 0},
		{"paged", 9, -1},
		{"apart", 2, 2},
		{"named", 0, -1},
		{"none", 0, -1},
		{"empty", 0, 0},
	}
	for _, tt := range tests {
		x, ok := allTokens(r, tt.doc, tt.page)
		if ok != (tt.want >= 0) || ok && x.Len() != tt.want {
			t.Errorf("Tokens(%q, %d) = %v, %v, want %d tokens", tt.doc, tt.page, x, ok, tt.want)
		}
	}
	// Where offsets count from pages, a document that has pages is no key.
	onPages := NewResolver(loadView(t, testSource...), Conventions{OffsetBase: FromPage})
	onPages.Resolve(&ibid.Answer{})
	for key, want := range map[textKey]bool{{"paged", 0}: false, {"paged", 2}: true, {"plain", 0}: true} {
		if _, ok := allTokens(onPages, key.doc, key.page); ok != want {
			t.Errorf("tokens of %v are known: %v, want %v", key, ok, want)
		}
	}
	if x, _ := allTokens(r, "paged", 2); x.Starts[0] != 0 {
		t.Errorf("the first token of page 2 starts at %d, want 0: offsets count from the page", x.Starts[0])
	}
}

func TestConventionNames(t *testing.T) {
	for _, e := range []SpanEnd{Exclusive, Inclusive} {
		if got, err := ParseSpanEnd(e.String()); got != e || err != nil {
			t.Errorf("ParseSpanEnd(%q) = %v, %v", e, got, err)
		}
	}
	for _, b := range []OffsetBase{FromDocument, FromPage} {
		if got, err := ParseOffsetBase(b.String()); got != b || err != nil {
			t.Errorf("ParseOffsetBase(%q) = %v, %v", b, got, err)
		}
	}
	if _, err := ParseSpanEnd("open"); err == nil {
		t.Error(`ParseSpanEnd("open") succeeds`)
	}
	if _, err := ParseOffsetBase("pages"); err == nil {
		t.Error(`ParseOffsetBase("pages") succeeds`)
	}
}

// Offsets into the answer are in the unit in which the texts of all claims stand there: the
// stated one if that will do. The places of marks are in code points.
func TestAnswerUnit(t *testing.T) {
	const answer = "é😀 yes. Né."
	for _, tt := range []struct {
		name   string
		stated token.Unit
		claims [][2]int64 // of "yes." and "Né."
		want   [2]ibid.Interval
	}{
		{"as stated", token.CodePoint, [][2]int64{{3, 7}, {8, 11}}, [2]ibid.Interval{ibid.Between(3, 7), ibid.Between(8, 11)}},
		{"bytes", token.CodePoint, [][2]int64{{7, 11}, {12, 16}}, [2]ibid.Interval{ibid.Between(3, 7), ibid.Between(8, 11)}},
		{"code points under bytes", token.Byte, [][2]int64{{3, 7}, {8, 11}}, [2]ibid.Interval{ibid.Between(3, 7), ibid.Between(8, 11)}},
		{"utf16", token.Byte, [][2]int64{{4, 8}, {9, 12}}, [2]ibid.Interval{ibid.Between(3, 7), ibid.Between(8, 11)}},
		{"two units", token.CodePoint, [][2]int64{{3, 7}, {12, 16}}, [2]ibid.Interval{ibid.Between(3, 7), ibid.Between(12, 16)}},
	} {
		row := ibid.Answer{Answer: answer, Citations: []ibid.Citation{{Method: "numbered", AnswerStart: some(3), AnswerEnd: some(7)}}}
		for i, text := range []string{"yes.", "Né."} {
			row.Claims = append(row.Claims, ibid.Claim{Text: text, Start: some(tt.claims[i][0]), End: some(tt.claims[i][1])})
		}
		NewResolver(nil, Conventions{OffsetUnit: tt.stated}).Resolve(&row)
		if got := [2]ibid.Interval{row.Claims[0].Extent, row.Claims[1].Extent}; got != tt.want {
			t.Errorf("%s: claims at %v, want %v", tt.name, got, tt.want)
		}
		if got, want := row.Citations[0].Extent, ibid.Between(3, 7); got != want {
			t.Errorf("%s: mark at %v, want %v", tt.name, got, want)
		}
	}
}

func TestNeedDocuments(t *testing.T) {
	for unit, want := range map[token.Unit]bool{token.CodePoint: false, token.UTF16: true, token.Byte: true} {
		c := Conventions{OffsetUnit: unit}
		if got := c.NeedDocuments(); got != want {
			t.Errorf("NeedDocuments() with unit %v = %v, want %v", unit, got, want)
		}
	}
}
