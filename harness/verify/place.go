package verify

import (
	"fmt"
	"math"
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

// resolve finds where p points. The error is a value that means nothing: the row is an
// error row.
func (r *resolver) resolve(p *pointer) (spot, error) {
	at := spot{Place: ibid.Place{Doc: p.doc, Level: ibid.LevelNowhere, Status: ibid.StatusUnchecked}}
	unit := p.unit
	if unit == "" {
		unit = r.in.unit
	}
	switch unit {
	case "codepoint", "utf16", "byte", "page", "block", "document":
	default:
		return at, fmt.Errorf("unit %q", unit)
	}
	if p.start.Known() != p.end.Known() {
		return at, fmt.Errorf("one of start and end is null")
	}
	if p.page.Known() && (p.page.Value > math.MaxInt32 || p.page.Value < math.MinInt32) {
		return at, fmt.Errorf("page %d", p.page.Value)
	}
	checks := &r.s.QualityControl.ValidationChecks
	var d *document
	if !p.docNull {
		at.Level = ibid.LevelDocument
		d = r.document(p.doc)
	}
	if checks.DocumentExistenceCheck && d == nil && r.docs && r.complete(p.doc) {
		at.Status = ibid.StatusDocumentNotFound
	}
	f := &finder{r: r, p: p, d: d, at: &at, unit: unit}
	switch {
	case p.docNull:
	case unit == "document":
		f.document()
	case !p.start.Known() && !(unit == "page" && p.page.Known()):
		f.unplaced()
	case unit == "page":
		f.pages()
	case unit == "block":
		f.blocks()
	default:
		f.characters()
	}
	if d != nil && d.hasText && unit != "document" && at.Level == ibid.LevelCharacters && len(d.text) > ibid.WholeChars {
		at.Whole = float64(lengthOf(&at.Place)) >= ibid.WholeShare*float64(len(d.text))
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
	r    *resolver
	p    *pointer
	d    *document
	at   *spot
	unit string
}

// settle gives the place a status unless it has one that comes first.
func (f *finder) settle(s ibid.Status) {
	if f.at.Status == ibid.StatusUnchecked {
		f.at.Status = s
	}
}

func (f *finder) byPage() bool { return f.r.in.base == "page" }

// keyPage is the page that offsets count from.
func (f *finder) keyPage() int32 {
	if !f.byPage() || !f.p.page.Known() {
		return 0
	}
	return int32(f.p.page.Value)
}

// needPages settles page_not_found if the document has pages, but not these.
func (f *finder) needPages(first, last int64) {
	if f.d != nil && f.d.hasText && f.d.paged && f.r.s.QualityControl.ValidationChecks.DocumentExistenceCheck && (first < 1 || last > int64(len(f.d.pages))) {
		f.settle(ibid.StatusPageNotFound)
	}
}

func (f *finder) showPage() {
	if f.p.page.Known() && f.p.page.Value > 0 {
		f.at.FirstPage, f.at.LastPage = int32(f.p.page.Value), int32(f.p.page.Value)
	}
}

// coarse makes the place one of its page, if that is given, else of its document.
func (f *finder) coarse() {
	f.at.Level = ibid.LevelDocument
	if f.showPage(); f.at.FirstPage > 0 {
		f.at.Level = ibid.LevelPages
	}
}

// malformed settles offsets that make no span.
func (f *finder) malformed(level ibid.Level, start, end int64) bool {
	status := ibid.StatusOK
	switch {
	case f.p.start.Value < 0 || f.p.end.Value < 0:
		status = ibid.StatusNegative
	case start > end:
		status = ibid.StatusInverted
	case start == end:
		status = ibid.StatusEmpty
	default:
		return false
	}
	f.at.Level, f.at.Status, f.at.Start, f.at.End = level, status, start, end
	return true
}

// set makes the place [start, end) of a key.
func (f *finder) set(page int32, start, end int64) {
	f.at.Level, f.at.Page, f.at.Start, f.at.End = ibid.LevelCharacters, page, start, end
	if page == 0 && !f.byPage() && f.d != nil {
		if first, last, known := f.d.touched(start, end); known {
			f.at.FirstPage, f.at.LastPage = first, last
			return
		}
	}
	if page > 0 {
		f.at.FirstPage, f.at.LastPage = page, page
		return
	}
	f.showPage()
}

func (f *finder) characters() {
	start, end := f.p.start.Value, f.p.end.Value
	if f.r.in.end == "inclusive" && end < math.MaxInt64 {
		end++
	}
	page := f.keyPage()
	f.at.Page = page
	if f.malformed(ibid.LevelCharacters, start, end) {
		return
	}
	if f.p.page.Known() || f.byPage() {
		f.needPages(f.p.page.Value, f.p.page.Value)
	}
	text, known := f.d.key(page, f.r.in.base)
	if f.unit != "codepoint" {
		if !known {
			f.at.Page = 0
			f.coarse()
			return
		}
		start, end = codePoint(text, f.unit, start, false), codePoint(text, f.unit, end, true)
	}
	f.set(page, start, end)
	outside := end > ibid.MaxEnd || known && f.r.s.QualityControl.ValidationChecks.SpanBoundsCheck && end > int64(len(text))
	switch limit := f.r.s.SpanMatching.MaxSpanLength; {
	case f.at.Status != ibid.StatusUnchecked:
	case outside:
		if known && f.quoted() {
			f.search(text, page, start)
		}
		if f.at.Status != ibid.StatusQuoteRepaired {
			f.at.Status = ibid.StatusOutOfBounds
		}
	case limit > 0 && end-start > limit:
		f.at.Status = ibid.StatusTooLong
	case known:
		if f.quoted() {
			if f.at.held = holds(cut(text, start, end), f.p.quote); !f.at.held {
				f.search(text, page, start)
			}
		}
		f.settle(ibid.StatusOK)
	}
}

// unplaced is a pointer without start and end.
func (f *finder) unplaced() {
	f.coarse()
	if f.p.page.Known() {
		f.needPages(f.p.page.Value, f.p.page.Value)
	}
	f.at.Page = f.keyPage()
	if f.at.Status != ibid.StatusUnchecked || f.d == nil || !f.d.hasText {
		return
	}
	if f.quoted() {
		f.locate()
	}
	f.settle(ibid.StatusOK)
}

// locate gives the pointer the place where its quote stands, if that is one place.
func (f *finder) locate() {
	keys := []int32{f.keyPage()}
	if _, known := f.d.key(keys[0], f.r.in.base); !known {
		keys = nil
		for i := range f.d.pages {
			keys = append(keys, int32(i+1))
		}
	}
	var all, onPage [][]stretch
	var key int32
	some := false
	for _, k := range keys {
		text, known := f.d.key(k, f.r.in.base)
		if !known {
			continue
		}
		places, many := findQuote(string(text), f.p.quote)
		some = some || many
		for _, p := range places {
			key = k
			all = append(all, p)
			first, last, ok := f.d.touched(p[0].start, p[len(p)-1].end)
			if ok && k == 0 && f.p.page.Known() && int64(first) <= f.p.page.Value && f.p.page.Value <= int64(last) {
				onPage = append(onPage, p)
			}
		}
	}
	if len(onPage) == 1 {
		all = onPage
	}
	switch {
	case len(all) == 1 && !some:
		f.move(key, all[0], ibid.StatusQuoteLocated)
	case len(all) > 0 || some:
		f.at.Status = ibid.StatusQuoteAmbiguous
	default:
		f.at.Status = ibid.StatusQuoteNotFound
	}
}

// cover makes the place [start, end), unless that is nothing.
func (f *finder) cover(page int32, start, end int64) {
	if start < end {
		f.set(page, start, end)
	}
}

func (f *finder) pages() {
	start, end := f.p.start.Value, f.p.end.Value
	if !f.p.start.Known() {
		start, end = f.p.page.Value, f.p.page.Value+1
	} else if f.malformed(ibid.LevelPages, start, end) {
		return
	}
	first, last := start, min(end-1, math.MaxInt32)
	if first >= 1 && first <= last {
		f.at.Level, f.at.FirstPage, f.at.LastPage = ibid.LevelPages, int32(first), int32(last)
	}
	f.needPages(start, end-1)
	if f.d == nil || !f.d.hasText {
		return
	}
	if first < 1 || last > int64(len(f.d.pages)) {
		f.contains(0, 0, math.MaxInt64)
		return
	}
	from, to := f.d.pages[first-1], f.d.pages[last-1]
	switch {
	case f.byPage() && first == last:
		f.cover(int32(first), 0, to.end-from.start)
	case !f.byPage() && !f.d.isApart:
		f.cover(0, from.start, to.end)
		f.at.FirstPage, f.at.LastPage = int32(first), int32(last)
	}
	f.containsCovered()
	f.settle(ibid.StatusOK)
}

func (f *finder) blocks() {
	start, end := f.p.start.Value, f.p.end.Value
	if f.malformed(ibid.LevelDocument, start, end) {
		return
	}
	f.coarse()
	if f.p.page.Known() {
		f.needPages(f.p.page.Value, f.p.page.Value)
	}
	switch {
	case f.d == nil || !f.d.hasText:
		return
	case !f.d.hasBlocks:
		f.contains(0, 0, math.MaxInt64)
		return
	case end > int64(len(f.d.blocks)):
		if f.r.s.QualityControl.ValidationChecks.SpanBoundsCheck {
			f.settle(ibid.StatusOutOfBounds)
		}
		return
	}
	from, to := f.d.blocks[start].start, f.d.blocks[end-1].end
	first, last, paged := f.d.touched(from, to)
	switch {
	case !f.byPage() || !f.d.paged:
		f.cover(0, from, to)
	case paged && first == last:
		origin := f.d.pages[first-1].start
		f.cover(first, from-origin, to-origin)
	case paged:
		f.at.Level, f.at.FirstPage, f.at.LastPage = ibid.LevelPages, first, last
	}
	f.containsCovered()
	f.settle(ibid.StatusOK)
}

// quoted reports whether there is a quote to check, and no status that comes first.
func (f *finder) quoted() bool {
	return f.r.s.QualityControl.ValidationChecks.TextExtractionValidation && f.at.Status == ibid.StatusUnchecked && !blank(f.p.quote)
}

// containsCovered checks the quote of pages or blocks against the code points that they
// are, or against the whole text where these are not known.
func (f *finder) containsCovered() {
	if f.at.Level == ibid.LevelCharacters {
		f.contains(f.at.Page, f.at.Start, f.at.End)
		return
	}
	f.contains(0, 0, math.MaxInt64)
}

// contains checks the quote of a place that is no span of its own.
func (f *finder) contains(page int32, start, end int64) {
	if !f.quoted() {
		return
	}
	text, known := f.d.key(page, f.r.in.base)
	if !known && page == 0 {
		text = f.d.text
	}
	if start <= 0 && end >= int64(len(text)) {
		if places, many := findQuote(string(text), f.p.quote); many || len(places) > 0 {
			f.at.held = f.at.Level == ibid.LevelCharacters
			return
		}
	} else if holds(cut(text, start, end), f.p.quote) {
		f.at.held = true
		return
	}
	if page == 0 && f.byPage() && f.d.paged {
		f.at.Status = ibid.StatusQuoteMismatch
		return
	}
	f.search(text, page, start)
}

// search looks for a quote that the place does not hold in the whole key.
func (f *finder) search(text []rune, page int32, start int64) {
	places, many := findQuote(string(text), f.p.quote)
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

// move makes the place the one where the quote was found, unless places count as given.
func (f *finder) move(page int32, to []stretch, s ibid.Status) {
	f.at.Status = s
	if f.r.s.QuotedSpans == "given" {
		return
	}
	f.at.FirstPage, f.at.LastPage = 0, 0
	f.set(page, to[0].start, to[len(to)-1].end)
	if len(to) > 1 {
		f.at.Pieces = nil
		for _, p := range to {
			f.at.Pieces = append(f.at.Pieces, ibid.Stretch{Start: p.start, End: p.end})
		}
	}
	f.at.Excluded = s == ibid.StatusQuoteRepaired && f.r.s.QuotedSpans == "exclude"
}
