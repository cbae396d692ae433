package dataset

import (
	"fmt"
	"math"
	"slices"

	"ibid"
	"ibid/metrics/token"
)

// marksOfElsewhere are the methods of marks that number what a turn of a conversation found, or
// parts of one text: that no document belongs to one does not say that it is invented.
var marksOfElsewhere = []string{"turn", "dagger", "one_text"}

// A query is one place in the course of being resolved.
type query struct {
	r *Resolver

	// As given.
	doc        string
	docNull    bool
	page       ibid.Integer
	start, end ibid.Integer
	unit       string
	quote      string
	elsewhere  bool // it is a mark that numbers what no file holds

	source source
	place  *ibid.Place // its Status is DocumentNotFound, or Unchecked as long as nothing else is known

	// What the quote says, as in [ibid.Citation].
	given, repaired ibid.Interval
	held            bool
}

func (q *query) ofCitation(c *ibid.Citation) {
	q.doc, q.docNull, q.page, q.start, q.end = c.Doc, c.DocNull, c.Page, c.Start, c.End
	q.unit, q.quote, q.elsewhere = c.Unit, c.CitedText, c.DocNull && slices.Contains(marksOfElsewhere, c.Method)
	q.place = &c.Place
}

func (q *query) ofMark(m *ibid.Mark) {
	q.doc, q.docNull, q.page, q.start, q.end = m.Doc, m.DocNull, m.Page, m.Start, m.End
	q.unit, q.quote, q.elsewhere = m.Unit, m.CitedText, false
	q.place = &m.Place
}

// resolve dispatches on what is given.
func (q *query) resolve() *ibid.Error {
	r := q.r
	q.place.Doc, q.place.Level, q.place.Status = q.doc, ibid.LevelNowhere, ibid.StatusUnchecked
	unit, coarse, err := r.unit(q.unit)
	switch {
	case err != nil:
		return err
	case q.start.Known() && !q.end.Known():
		return columnError("end", "", "null, but start is %d", q.start.Value)
	case q.end.Known() && !q.start.Known():
		return columnError("start", "", "null, but end is %d", q.end.Value)
	case q.page.Known() && (q.page.Value > math.MaxInt32 || q.page.Value < math.MinInt32):
		return columnError("page", "", "%d does not fit into 32 bits", q.page.Value)
	}
	q.source, q.given, q.repaired, q.held = source{}, ibid.Interval{}, ibid.Interval{}, false
	if !q.docNull {
		r.find(q.doc, &q.source)
		q.place.Level = ibid.LevelDocument
	}
	if r.conv.Checks.Existence && !q.elsewhere && q.source.missing(r) && r.conv.covers(q.doc) {
		q.place.Status = ibid.StatusDocumentNotFound
	}
	switch {
	case q.docNull:
	case coarse == "document":
		q.document()
	case !q.start.Known() && (coarse != "page" || !q.page.Known()):
		q.unplaced()
	case coarse == "page":
		q.pages()
	case coarse == "block":
		q.blocks()
	default:
		q.characters(unit)
	}
	q.notInPart()
	if lay := q.source.layout; lay != nil && lay.hasText && coarse != "document" && q.place.Level == ibid.LevelCharacters && lay.length > ibid.WholeChars {
		q.place.Whole = float64(q.place.Length()) >= ibid.WholeShare*float64(lay.length)
	}
	return nil
}

// notInPart takes back what was said of a document of which only a part is at hand: that it
// lacks the place or the quote.
func (q *query) notInPart() {
	if lay := q.source.layout; lay == nil || !lay.partial || q.place.End > ibid.MaxEnd {
		return
	}
	switch q.place.Status {
	case ibid.StatusPageNotFound, ibid.StatusOutOfBounds, ibid.StatusQuoteMismatch, ibid.StatusQuoteNotFound:
		q.place.Status = ibid.StatusUnchecked
	}
}

// unit returns the unit of offsets, or the name of a coarser unit.
func (r *Resolver) unit(name string) (u token.Unit, coarse string, err *ibid.Error) {
	switch name {
	case "":
		return r.conv.OffsetUnit, "", nil
	case "page", "block", "document":
		return 0, name, nil
	}
	u, unknown := token.ParseUnit(name)
	if unknown != nil {
		err = columnError("unit", "", "%q is not one of codepoint, utf16, byte, page, block, document", name)
	}
	return u, "", err
}

// settle gives the place a status unless it has one that comes first.
func (q *query) settle(s ibid.Status) {
	if q.place.Status == ibid.StatusUnchecked {
		q.place.Status = s
	}
}

// checkPage settles PageNotFound if the document has pages, but not [first, last].
func (q *query) checkPage(first, last int64) {
	lay := q.source.layout
	if lay != nil && lay.hasPages && q.r.conv.Checks.Existence && (first < 1 || last > int64(len(lay.pages))) {
		q.settle(ibid.StatusPageNotFound)
	}
}

// givenPage makes the page that is given the page touched, if there is one.
func (q *query) givenPage() {
	if q.page.Known() && q.page.Value > 0 {
		q.place.FirstPage, q.place.LastPage = int32(q.page.Value), int32(q.page.Value)
	}
}

// coarser makes the place one of its page, if that is given, or else of its
// document.
func (q *query) coarser() {
	q.place.Level = ibid.LevelDocument
	if q.givenPage(); q.place.FirstPage > 0 {
		q.place.Level = ibid.LevelPages
	}
}

// misplaced sets offsets that make no span, as they are given, and reports
// whether they are such.
func (q *query) misplaced(level ibid.Level, start, end int64) bool {
	s := ibid.CheckSpan(start, end)
	if q.start.Value < 0 || q.end.Value < 0 {
		s = ibid.StatusNegative // an inclusive end of -1, too
	}
	if s.Usable() {
		return false
	}
	q.place.Level, q.place.Status = level, s
	q.place.Start, q.place.End = start, end
	return true
}

// setSpan makes the place the code points [start, end) of the key page.
func (q *query) setSpan(page int32, start, end int64) {
	q.place.Level, q.place.Page = ibid.LevelCharacters, page
	q.place.Start, q.place.End = start, end
	if page > 0 {
		q.place.FirstPage, q.place.LastPage = page, page
		return
	}
	if q.source.layout != nil && q.r.conv.OffsetBase == FromDocument {
		if first, last, ok := q.source.layout.touched(start, end); ok {
			q.place.FirstPage, q.place.LastPage = first, last
			return
		}
	}
	q.givenPage()
}

// keyPage is the page that the offsets of q count from.
func (q *query) keyPage() int32 {
	if q.r.conv.OffsetBase == FromDocument || !q.page.Known() {
		return 0
	}
	return int32(q.page.Value)
}

// characters resolves a span given by offsets of u.
func (q *query) characters(u token.Unit) {
	start, end := q.start.Value, q.end.Value
	if q.r.conv.SpanEnd == Inclusive && end < math.MaxInt64 {
		end++
	}
	page := q.keyPage()
	q.place.Page = page
	if q.misplaced(ibid.LevelCharacters, start, end) {
		return
	}
	if q.page.Known() || q.r.conv.OffsetBase == FromPage {
		q.checkPage(q.page.Value, q.page.Value)
	}
	known := q.hasKey(page)
	if u != token.CodePoint {
		reg, ok := q.r.region(&q.source, page)
		if !known || !ok {
			q.place.Page = 0
			q.coarser()
			return
		}
		if q.source.layout.pieces && q.r.err == nil {
			q.r.err = fmt.Errorf("offsets of unit %s cannot be counted in the pieces that are kept of document %q", u, q.doc)
		}
		start, end = reg.codePoint(u, start, false), reg.codePoint(u, end, true)
	}
	q.setSpan(page, start, end)
	outside := end > ibid.MaxEnd || known && q.r.conv.Checks.Bounds && end > q.keyLen(page)
	tooLong := q.r.conv.MaxSpanLength > 0 && end-start > q.r.conv.MaxSpanLength
	switch {
	case q.place.Status != ibid.StatusUnchecked:
	case outside:
		if reg, ok := q.r.region(&q.source, page); known && ok && q.wantsQuote() {
			q.repair(reg, page, start)
		}
		if q.place.Status != ibid.StatusQuoteRepaired {
			q.place.Status = ibid.StatusOutOfBounds
		}
	case tooLong:
		q.place.Status = ibid.StatusTooLong
	case known:
		q.checkQuote(page, start, end)
		q.settle(ibid.StatusOK)
	}
}

// hasKey reports whether the text of the key is known. Under FromPage a document
// that has pages has no key 0.
func (q *query) hasKey(page int32) bool {
	lay := q.source.layout
	if lay == nil || page == 0 && q.r.conv.OffsetBase == FromPage && lay.hasPages {
		return false
	}
	_, ok := lay.key(page)
	return ok
}

func (q *query) keyLen(page int32) int64 {
	s, _ := q.source.layout.key(page)
	return int64(s.end - s.start)
}

// unplaced resolves a place without start and end.
func (q *query) unplaced() {
	q.coarser()
	if q.page.Known() {
		q.checkPage(q.page.Value, q.page.Value)
	}
	q.place.Page = q.keyPage()
	if q.place.Status == ibid.StatusUnchecked && (q.hasKey(q.place.Page) || q.hasText()) {
		q.locate()
		q.settle(ibid.StatusOK)
	}
}

// hasText reports whether the text of the document is known.
func (q *query) hasText() bool { return q.source.layout != nil && q.source.layout.hasText }

// document resolves a place that is a whole document.
func (q *query) document() {
	q.place.Level = ibid.LevelDocument
	if !q.hasText() {
		q.givenPage()
		return
	}
	lay := q.source.layout
	n := int32(len(lay.pages))
	switch {
	case q.r.conv.OffsetBase == FromDocument || !lay.hasPages:
		q.cover(0, 0, int64(lay.length))
	case n == 1:
		q.cover(1, 0, q.keyLen(1))
	case n > 1:
		q.place.Level, q.place.FirstPage, q.place.LastPage = ibid.LevelPages, 1, n
	}
	q.checkContained(0, 0, math.MaxInt64)
	q.settle(ibid.StatusOK)
}

// cover makes the place the code points [start, end), unless that is none: a
// page, block or document without text is still cited.
func (q *query) cover(page int32, start, end int64) {
	if start < end {
		q.setSpan(page, start, end)
	}
}

// pages resolves a place given by page numbers, or by a page alone.
func (q *query) pages() {
	start, end := q.start.Value, q.end.Value
	if !q.start.Known() {
		start, end = q.page.Value, q.page.Value+1
	} else if q.misplaced(ibid.LevelPages, start, end) {
		return
	}
	first, last := max(start, 0), min(end-1, math.MaxInt32)
	if first >= 1 && first <= last {
		q.place.Level, q.place.FirstPage, q.place.LastPage = ibid.LevelPages, int32(first), int32(last)
	}
	q.checkPage(start, end-1)
	lay := q.source.layout
	if lay == nil || first < 1 || last > int64(len(lay.pages)) {
		if lay != nil && lay.hasText {
			q.checkContained(0, 0, math.MaxInt64)
		}
		return
	}
	from, to := lay.pages[first-1], lay.pages[last-1]
	switch {
	case q.r.conv.OffsetBase == FromPage && first == last:
		q.cover(int32(first), 0, int64(to.end-from.start))
	case q.r.conv.OffsetBase == FromDocument && !lay.apart:
		q.cover(0, int64(from.start), int64(to.end))
		q.place.FirstPage, q.place.LastPage = int32(first), int32(last)
	}
	q.checkCovered()
	q.settle(ibid.StatusOK)
}

// blocks resolves a place given by block numbers.
func (q *query) blocks() {
	start, end := q.start.Value, q.end.Value
	if q.misplaced(ibid.LevelDocument, start, end) {
		return
	}
	q.coarser()
	if q.page.Known() {
		q.checkPage(q.page.Value, q.page.Value)
	}
	lay := q.source.layout
	switch {
	case lay == nil:
		return
	case !lay.hasBlocks:
		if lay.hasText {
			q.checkContained(0, 0, math.MaxInt64)
		}
		return
	case end > int64(len(lay.blocks)):
		if q.r.conv.Checks.Bounds {
			q.settle(ibid.StatusOutOfBounds)
		}
		return
	}
	from, to := int64(lay.blocks[start].start), int64(lay.blocks[end-1].end)
	first, last, paged := lay.touched(from, to)
	switch {
	case q.r.conv.OffsetBase == FromDocument || !lay.hasPages:
		q.cover(0, from, to)
	case paged && first == last:
		origin := int64(lay.pages[first-1].start)
		q.cover(first, from-origin, to-origin)
	case paged:
		q.place.Level, q.place.FirstPage, q.place.LastPage = ibid.LevelPages, first, last
	}
	q.checkCovered()
	q.settle(ibid.StatusOK)
}
