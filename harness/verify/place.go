package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid"
	"ibid/configs"
)

// A pointer is what a citation or a mark points at, as given.
type pointer struct {
	doc        string
	docNull    bool
	page       ibid.Integer
	start, end ibid.Integer
	unit       string
	quote      string
}

// A spot is where a pointer points, and what its quote says.
type spot struct {
	ibid.Place
	given, repaired ibid.Interval
	held            bool
}

// A resolver finds the places of one row.
type resolver struct {
	in   *inputs
	s    *configs.Settings
	row  *ibid.Answer
	own  map[string]*document
	docs bool // documents are known: the run's, or a list in the row
}

func newResolver(in *inputs, s *configs.Settings, row *ibid.Answer) (*resolver, error) {
	r := &resolver{in: in, s: s, row: row, own: make(map[string]*document), docs: in.given || row.HasDocuments}
	for i := range row.Documents {
		d := &row.Documents[i]
		if first, taken := r.own[d.Doc]; !taken {
			r.own[d.Doc] = newDocument(d)
		} else if a, b := &first.Document, d; a.HasText != b.HasText || a.Text != b.Text || a.HasPages != b.HasPages || a.HasBlocks != b.HasBlocks ||
			strings.Join(a.Pages, "\x00") != strings.Join(b.Pages, "\x00") || len(a.Pages) != len(b.Pages) ||
			strings.Join(a.Blocks, "\x00") != strings.Join(b.Blocks, "\x00") || len(a.Blocks) != len(b.Blocks) {
			return r, fmt.Errorf("documents[%d] differs from another of its name", i)
		}
	}
	return r, nil
}

// complete reports whether a document of that name that is not there was invented.
func (r *resolver) complete(name string) bool {
	switch r.s.DocumentsComplete {
	case "true":
		return true
	case "false":
		return false
	}
	return !strings.HasPrefix(name, "http://") && !strings.HasPrefix(name, "https://")
}

// resolve finds where p points, in steps that do not know of each other: where its numbers
// aim, the first of the faults that they have, and what its quote says. The error is a value
// that means nothing: the row is an error row.
func (r *resolver) resolve(p *pointer) (spot, error) {
	at := spot{Place: ibid.Place{Doc: p.doc, Level: ibid.LevelNowhere, Status: ibid.StatusUnchecked}}
	f := &finder{r: r, p: p, at: &at, unit: p.unit, malformed: ibid.StatusUnchecked, byPage: r.in.base == "page"}
	if f.unit == "" {
		f.unit = r.in.unit
	}
	switch {
	case !slices.Contains([]string{"codepoint", "utf16", "byte", "page", "block", "document"}, f.unit):
		return at, fmt.Errorf("unit %q", f.unit)
	case p.start.Known() != p.end.Known():
		return at, fmt.Errorf("one of start and end is null")
	case p.page.Known() && p.page.Value != int64(int32(p.page.Value)):
		return at, fmt.Errorf("page %d", p.page.Value)
	}
	if r.s.QualityControl.ValidationChecks.DocumentExistenceCheck && r.docs && (p.docNull || r.document(p.doc) == nil) && r.complete(p.doc) {
		at.Status = ibid.StatusDocumentNotFound
	}
	if p.docNull {
		return at, nil
	}
	f.d = r.document(p.doc)
	f.text = f.d != nil && f.d.hasText
	f.aim()
	at.Status = f.fault()
	f.quote()
	if f.text && f.unit != "document" && at.Level == ibid.LevelCharacters && len(f.d.text) > ibid.WholeChars {
		at.Whole = float64(lengthOf(&at.Place)) >= ibid.WholeShare*float64(len(f.d.text))
	}
	return at, nil
}

// lengthOf is how many code points a place has.
func lengthOf(p *ibid.Place) (n int64) {
	for _, s := range partsOf(p) {
		n += s.end - s.start
	}
	return n
}

func partsOf(p *ibid.Place) []stretch {
	if p.Pieces == nil {
		return []stretch{{p.Start, p.End}}
	}
	var out []stretch
	for _, s := range p.Pieces {
		out = append(out, stretch{s.Start, s.End})
	}
	return out
}

// A finder is one pointer in the course of being resolved.
type finder struct {
	r      *resolver
	p      *pointer
	d      *document // nil if there is none of its name
	text   bool      // the text of the document is known
	byPage bool      // offsets count from pages
	at     *spot
	unit   string

	// What its numbers say.
	malformed   ibid.Status // of a start and end that make no interval, else unchecked
	pages       *stretch    // the first and the last page that must be there, from 1; nil if none
	units, have int64       // the end in code points or blocks, and how many there are; 0, 0 if unknown
	checked     bool        // all that the numbers aim at is known
}

func (f *finder) placed() bool { return f.p.start.Known() }

// aim sets the place that the numbers give, and what they say.
func (f *finder) aim() {
	f.at.Level = ibid.LevelDocument
	spoken := f.unit != "document" && (f.placed() || f.unit == "page" && f.p.page.Known())
	characters := spoken && f.unit != "page" && f.unit != "block"
	start, end := f.p.start.Value, f.p.end.Value
	if spoken && !f.placed() {
		start, end = f.p.page.Value, f.p.page.Value+1
	}
	if characters && f.r.in.end == "inclusive" && end < math.MaxInt64 {
		end++
	}
	if (characters || !spoken && f.unit != "document") && f.byPage && f.p.page.Known() {
		f.at.Page = int32(f.p.page.Value)
	}
	if spoken && f.placed() {
		for _, wrong := range []struct {
			is     bool
			status ibid.Status
		}{
			{min(f.p.start.Value, f.p.end.Value) < 0, ibid.StatusNegative},
			{start > end, ibid.StatusInverted},
			{start == end, ibid.StatusEmpty},
		} {
			if wrong.is {
				f.malformed, f.at.Start, f.at.End = wrong.status, start, end
				if characters {
					f.at.Level = ibid.LevelCharacters
				} else if f.unit == "page" {
					f.at.Level = ibid.LevelPages
				}
				return
			}
		}
	}
	switch {
	case spoken && f.unit == "page":
		f.pages = &stretch{start, end - 1}
	case f.unit != "document" && f.p.page.Known() || characters && f.byPage:
		f.pages = &stretch{f.p.page.Value, f.p.page.Value}
	}
	switch {
	case characters:
		f.aimCharacters(start, end)
	case !spoken && f.unit != "document":
		f.atPage()
		f.checked = f.text
	case f.unit == "page":
		f.aimPages(start, min(end-1, math.MaxInt32))
	case f.unit == "block":
		f.atPage()
		f.aimBlocks(start, end)
	default:
		f.aimDocument()
	}
}

// shown are the pages that [start, end) of a key stands on.
func (f *finder) shown(page int32, start, end int64) (first, last int32) {
	if page > 0 {
		return page, page
	}
	if !f.byPage {
		if first, last, known := f.d.touched(start, end); known {
			return first, last
		}
	}
	page = int32(max(f.p.page.Value, 0))
	return page, page
}

// atPage makes the place the page that is given, if one is, else the document.
func (f *finder) atPage() {
	f.at.Level = ibid.LevelDocument
	if f.p.page.Value > 0 {
		f.at.Level, f.at.FirstPage, f.at.LastPage = ibid.LevelPages, int32(f.p.page.Value), int32(f.p.page.Value)
	}
}

// stand makes the place [start, end) of a key, unless that is nothing.
func (f *finder) stand(page int32, start, end int64) {
	if start < end {
		f.at.Level, f.at.Page, f.at.Start, f.at.End = ibid.LevelCharacters, page, start, end
		f.at.FirstPage, f.at.LastPage = f.shown(page, start, end)
	}
}

func (f *finder) aimCharacters(start, end int64) {
	text, known := f.d.key(f.at.Page, f.r.in.base)
	if f.unit != "codepoint" {
		if !known {
			f.at.Page = 0
			f.atPage()
			return
		}
		start, end = codePoint(text, f.unit, start, false), codePoint(text, f.unit, end, true)
	}
	f.stand(f.at.Page, start, end)
	f.checked, f.units, f.have = known, end, ibid.MaxEnd
	if known && f.r.s.QualityControl.ValidationChecks.SpanBoundsCheck {
		f.have = min(f.have, int64(len(text)))
	}
}

func (f *finder) aimPages(first, last int64) {
	f.at.Level = ibid.LevelDocument
	if 1 <= first && first <= last {
		f.at.Level, f.at.FirstPage, f.at.LastPage = ibid.LevelPages, int32(first), int32(last)
	}
	if !f.text || first < 1 || last > int64(len(f.d.pages)) {
		return
	}
	f.checked = true
	from, to := f.d.pages[first-1], f.d.pages[last-1]
	if f.byPage && first == last {
		f.stand(int32(first), 0, to.end-from.start)
	}
	if !f.byPage && !f.d.isApart {
		f.stand(0, from.start, to.end)
		f.at.FirstPage, f.at.LastPage = int32(first), int32(last) // empty ones, too
	}
}

func (f *finder) aimBlocks(start, end int64) {
	if !f.text || !f.d.hasBlocks {
		return
	}
	if f.r.s.QualityControl.ValidationChecks.SpanBoundsCheck {
		f.units, f.have = end, int64(len(f.d.blocks))
	}
	if end > int64(len(f.d.blocks)) {
		return
	}
	f.checked = true
	from, to := f.d.blocks[start].start, f.d.blocks[end-1].end
	if !f.byPage || !f.d.paged {
		f.stand(0, from, to)
		return
	}
	if first, last, known := f.d.touched(from, to); known {
		f.at.Level, f.at.FirstPage, f.at.LastPage = ibid.LevelPages, first, last
		if origin := f.d.pages[first-1].start; first == last {
			f.stand(first, from-origin, to-origin)
		}
	}
}

func (f *finder) aimDocument() {
	f.checked = f.text
	switch {
	case !f.text:
		f.at.FirstPage, f.at.LastPage = f.shown(0, 0, 0)
	case !f.byPage || !f.d.paged:
		f.stand(0, 0, int64(len(f.d.text)))
	case len(f.d.pages) == 1:
		f.stand(1, 0, f.d.pages[0].end-f.d.pages[0].start)
	case len(f.d.pages) > 1:
		f.at.Level, f.at.FirstPage, f.at.LastPage = ibid.LevelPages, 1, int32(len(f.d.pages))
	}
}

// fault is the first fault that the numbers have, else unchecked.
func (f *finder) fault() ibid.Status {
	checks, limit := &f.r.s.QualityControl.ValidationChecks, f.r.s.SpanMatching.MaxSpanLength
	characters := f.unit != "page" && f.unit != "block" && f.unit != "document" && f.placed()
	switch {
	case f.malformed != ibid.StatusUnchecked:
		return f.malformed
	case f.at.Status == ibid.StatusDocumentNotFound:
		return f.at.Status
	case f.pages != nil && checks.DocumentExistenceCheck && f.text && f.d.paged && (f.pages.start < 1 || f.pages.end > int64(len(f.d.pages))):
		return ibid.StatusPageNotFound
	case f.units > f.have:
		return ibid.StatusOutOfBounds
	case characters && f.at.Level == ibid.LevelCharacters && limit > 0 && f.at.End-f.at.Start > limit:
		return ibid.StatusTooLong
	}
	return ibid.StatusUnchecked
}

// quote sets what the quote says of a place without a fault, or of a span beyond the end of
// a text, which may have been meant elsewhere.
func (f *finder) quote() {
	span := f.placed() && f.unit != "page" && f.unit != "block" && f.unit != "document"
	beyond := span && f.at.Status == ibid.StatusOutOfBounds
	if f.at.Status != ibid.StatusUnchecked && !beyond {
		return
	}
	asked := f.r.s.QualityControl.ValidationChecks.TextExtractionValidation && !blank(f.p.quote)
	switch {
	case !f.text || span && !f.checked || f.unit == "block" && f.placed() && f.d.hasBlocks && !f.checked:
		return
	case asked && !f.placed() && !(f.unit == "page" && f.p.page.Known()) && f.unit != "document":
		f.locate()
	case asked:
		f.hold(span)
	}
	switch {
	case beyond && f.at.Status != ibid.StatusQuoteRepaired:
		f.at.Status = ibid.StatusOutOfBounds
	case f.at.Status == ibid.StatusUnchecked && f.checked:
		f.at.Status = ibid.StatusOK
	}
}

// hold checks that the place holds the quote: the text between its ends, or the whole
// text where a coarser place has none. A span may have been meant where the quote stands.
func (f *finder) hold(span bool) {
	text := f.d.text
	page, start, end := int32(0), int64(0), int64(len(text))
	if f.at.Level == ibid.LevelCharacters && f.unit != "document" {
		page, start, end = f.at.Page, f.at.Start, f.at.End
		text, _ = f.d.key(page, f.r.in.base)
	}
	places, many := findQuote(string(text), f.p.quote)
	if all := start <= 0 && end >= int64(len(text)); all && !span {
		if many || len(places) > 0 {
			f.at.held = f.at.Level == ibid.LevelCharacters
			return
		}
	} else if f.at.Status == ibid.StatusUnchecked && holds(cut(text, start, end), f.p.quote) {
		f.at.held = true
		return
	}
	place, clear := nearest(places, start)
	switch {
	case clear && !many:
		f.at.repaired = ibid.Between(place[0].start, place[len(place)-1].end)
		if f.at.Level == ibid.LevelCharacters {
			f.at.given = ibid.Between(f.at.Start, f.at.End)
		}
		f.move(page, place, ibid.StatusQuoteRepaired)
	case len(places) > 0 || many:
		f.at.Status = ibid.StatusQuoteAmbiguous
	default:
		f.at.Status = ibid.StatusQuoteMismatch
	}
}

// locate gives the pointer the place where its quote stands, if that is one place: of all
// keys that it may mean, or of the page that is given.
func (f *finder) locate() {
	type standing struct {
		key    int32
		place  []stretch
		onPage bool
	}
	var all []standing
	doubt := false
	_, own := f.d.key(f.at.Page, f.r.in.base)
	for key := range int32(len(f.d.pages) + 1) {
		text, known := f.d.key(key, f.r.in.base)
		if !known || own && key != f.at.Page || !own && key == 0 {
			continue
		}
		places, many := findQuote(string(text), f.p.quote)
		doubt = doubt || many
		for _, p := range places {
			first, last, ok := f.d.touched(p[0].start, p[len(p)-1].end)
			page := f.p.page.Value
			all = append(all, standing{key, p, ok && key == 0 && page > 0 && int64(first) <= page && page <= int64(last)})
		}
	}
	pick := slices.DeleteFunc(slices.Clone(all), func(s standing) bool { return !s.onPage })
	if len(pick) != 1 {
		pick = all
	}
	switch {
	case len(pick) == 1 && !doubt:
		f.move(pick[0].key, pick[0].place, ibid.StatusQuoteLocated)
	case len(pick) > 0 || doubt:
		f.at.Status = ibid.StatusQuoteAmbiguous
	default:
		f.at.Status = ibid.StatusQuoteNotFound
	}
}

// move makes the place the one where the quote was found, unless places count as given.
func (f *finder) move(page int32, to []stretch, s ibid.Status) {
	f.at.Status = s
	if f.r.s.QuotedSpans == "given" {
		return
	}
	f.stand(page, to[0].start, to[len(to)-1].end)
	if len(to) > 1 {
		f.at.Pieces = nil
		for _, p := range to {
			f.at.Pieces = append(f.at.Pieces, ibid.Stretch{Start: p.start, End: p.end})
		}
	}
	f.at.Excluded = s == ibid.StatusQuoteRepaired && f.r.s.QuotedSpans == "exclude"
}
