package dataset

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/token"
)

// slowCodePoint is the code point that unit number off of u belongs to, or with
// up the first at or after it.
func slowCodePoint(text string, u token.Unit, off int64, up bool) int64 {
	at, n := int64(0), int64(0)
	for _, r := range text {
		width := int64(1)
		switch u {
		case token.Byte:
			width = int64(utf8.RuneLen(r))
		case token.UTF16:
			width = int64(len(utf16.Encode([]rune{r})))
		}
		if off < at+width {
			if up && off > at {
				n++
			}
			return n
		}
		at += width
		n++
	}
	return n + off - at
}

// FuzzResolve compares spans in any unit, on a document or a page, with a walk
// through the text.
func FuzzResolve(f *testing.F) {
	f.Add("aé😀b\f引用 c", uint8(1), int64(1), int64(7), int64(1), uint8(0))
	f.Add("First page.\fSecond.", uint8(2), int64(3), int64(9), int64(2), uint8(3))
	f.Add("", uint8(0), int64(0), int64(1), int64(1), uint8(1))
	f.Fuzz(func(t *testing.T, text string, unit uint8, start, end, page int64, flags uint8) {
		if !utf8.ValidString(text) {
			return
		}
		u := token.Unit(unit % 3)
		conv := Conventions{OffsetUnit: u, SpanEnd: SpanEnd(flags & 1), OffsetBase: OffsetBase(flags >> 1 & 1), Checks: allChecks}
		pages := strings.SplitAfter(text, "\f")
		page = page&3 + 1
		doc := withPages("d", pages...)
		row := ibid.Answer{Documents: []ibid.Document{doc}, HasDocuments: true, Citations: []ibid.Citation{ibid.Citation(at("d", start, end).onPage(page))}}
		r := NewResolver(nil, conv)
		r.Resolve(&row)
		got := row.Citations[0].Place

		last := end
		if conv.SpanEnd == Inclusive && last < 1<<63-1 {
			last++
		}
		if start < 0 || end < 0 || start >= last {
			if got.Status.Usable() {
				t.Errorf("[%d,%d): status %v", start, last, got.Status)
			}
			return
		}
		within := text
		if conv.OffsetBase == FromPage {
			if page > int64(len(pages)) {
				if got.Status != ibid.StatusPageNotFound {
					t.Errorf("page %d of %d: status %v", page, len(pages), got.Status)
				}
				return
			}
			within = pages[page-1]
		}
		wantStart, wantEnd := slowCodePoint(within, u, start, false), slowCodePoint(within, u, last, true)
		if got.Start != wantStart || got.End != wantEnd || got.Level != ibid.LevelCharacters {
			t.Fatalf("%v [%d,%d) of %q = %+v, want [%d,%d)", u, start, last, within, got, wantStart, wantEnd)
		}
		outside := wantEnd > int64(utf8.RuneCountInString(within))
		if page <= int64(len(pages)) && outside != (got.Status == ibid.StatusOutOfBounds) {
			t.Errorf("[%d,%d) of %q: status %v", wantStart, wantEnd, within, got.Status)
		}
		checkTouched(t, got, pages, conv.OffsetBase)
	})
}

// checkTouched compares the pages of a place with a walk over all pages. White
// space between pages does not occur here: the pages make up the text.
func checkTouched(t *testing.T, got ibid.Place, pages []string, base OffsetBase) {
	t.Helper()
	if base == FromPage {
		if got.FirstPage != got.Page || got.LastPage != got.Page {
			t.Errorf("%+v: not its own page", got)
		}
		return
	}
	first, last, at := int32(0), int32(0), int64(0)
	for i, p := range pages {
		n := int64(utf8.RuneCountInString(p))
		if n > 0 && at < got.End && got.Start < at+n {
			if first == 0 {
				first = int32(i + 1)
			}
			last = int32(i + 1)
		}
		at += n
	}
	if got.End > at { // past the end counts to the last page
		last = int32(len(pages))
		if got.Start >= at {
			first = last
		}
	}
	if got.FirstPage != first || got.LastPage != last {
		t.Errorf("%+v touches pages %d to %d of %q, want %d to %d", got, got.FirstPage, got.LastPage, pages, first, last)
	}
}

func benchmarkRow() *ibid.Answer {
	row := &ibid.Answer{HasCitations: true, HasTruth: true}
	for i := range int64(3) {
		c := at("plain", 4+i, 9+i).onPage(1)
		row.Citations = append(row.Citations, ibid.Citation(c))
		row.Truth = append(row.Truth, ibid.Mark{Doc: c.Doc, Page: c.Page, Start: c.Start, End: c.End})
	}
	return row
}

func TestResolveDoesNotAllocate(t *testing.T) {
	quoting := benchmarkRow()
	for i := range quoting.Citations {
		c := &quoting.Citations[i]
		c.CitedText = plainDoc.Text[c.Start.Value:c.End.Value]
	}
	tests := []struct {
		name string
		view *View
		row  *ibid.Answer
	}{
		{"no documents", nil, benchmarkRow()},
		{"documents", loadView(t, testSource...), benchmarkRow()},
		{"quotes that are there", loadView(t, testSource...), quoting},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewResolver(tt.view, Conventions{Checks: allChecks})
			var x token.Index
			if n := testing.AllocsPerRun(100, func() {
				r.Resolve(tt.row)
				x.Reset()
				r.Tokens(&x, "plain", 0, 0, 5)
			}); n != 0 {
				t.Errorf("%v allocations per row", n)
			}
		})
	}
}

func BenchmarkResolve(b *testing.B) {
	quoting := benchmarkRow()
	for i := range quoting.Citations {
		c := &quoting.Citations[i]
		c.CitedText = plainDoc.Text[c.Start.Value:c.End.Value]
	}
	lost := at("plain", 4, 9).quoting("sky")
	tests := []struct {
		name string
		view *View
		conv Conventions
		row  *ibid.Answer
	}{
		{"documents=none", nil, Conventions{Checks: allChecks}, benchmarkRow()},
		{"documents=yes", loadView(b, testSource...), Conventions{Checks: allChecks}, benchmarkRow()},
		{"documents=yes/unit=byte", loadView(b, testSource...), Conventions{OffsetUnit: token.Byte, Checks: allChecks}, benchmarkRow()},
		{"documents=yes/quotes=there", loadView(b, testSource...), Conventions{Checks: allChecks}, quoting},
		{"documents=yes/quotes=lost", loadView(b, testSource...), Conventions{Checks: allChecks}, &ibid.Answer{Citations: []ibid.Citation{ibid.Citation(lost)}}},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			r := NewResolver(tt.view, tt.conv)
			b.ReportAllocs()
			for b.Loop() {
				r.Resolve(tt.row)
			}
		})
	}
}
