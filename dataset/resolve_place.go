package dataset

import (
	"math"
	"strings"

	"ibid/metrics/span"
	"ibid/metrics/token"
)

// A query is one place in the course of being resolved. Its place's Status is
// DocumentNotFound, or Unchecked as long as nothing else is known.
type query struct {
	*pointer
	r        *Resolver
	source   source
	place    span.Place
	repaired Interval
}

// settle gives the place a status unless it has one that comes first.
func (q *query) settle(s span.Status) {
	if q.place.Status == span.Unchecked {
		q.place.Status = s
	}
}

// checkPage settles PageNotFound if the document has pages, but not [first, last].
func (q *query) checkPage(first, last int64) {
	lay := q.source.layout
	if lay != nil && lay.hasPages && q.r.conv.Checks.Existence && (first < 1 || last > int64(len(lay.pages))) {
		q.settle(span.PageNotFound)
	}
}

// givenPage makes the page that is given the page touched, if there is one.
func (q *query) givenPage() {
	if q.page.Valid && q.page.Value > 0 {
		q.place.FirstPage, q.place.LastPage = int32(q.page.Value), int32(q.page.Value)
	}
}

// coarser makes the place one of its page, if that is given, or else of its
// document.
func (q *query) coarser() {
	q.place.Level = span.Document
	if q.givenPage(); q.place.FirstPage > 0 {
		q.place.Level = span.Pages
	}
}

// misplaced sets offsets that make no span, as they are given, and reports
// whether they are such.
func (q *query) misplaced(level span.Level, start, end int64) bool {
	s := span.Check(start, end)
	if q.start.Value < 0 || q.end.Value < 0 {
		s = span.Negative // an inclusive end of -1, too
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
	q.place.Level, q.place.Page = span.Characters, page
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
	if q.r.conv.OffsetBase == FromDocument || !q.page.Valid {
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
	if q.misplaced(span.Characters, start, end) {
		return
	}
	if q.page.Valid || q.r.conv.OffsetBase == FromPage {
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
		start, end = reg.codePoint(u, start, false), reg.codePoint(u, end, true)
	}
	q.setSpan(page, start, end)
	outside := end > span.MaxEnd || known && q.r.conv.Checks.Bounds && end > q.keyLen(page)
	tooLong := q.r.conv.MaxSpanLength > 0 && end-start > q.r.conv.MaxSpanLength
	switch {
	case q.place.Status != span.Unchecked:
	case outside:
		if known {
			q.findQuote(page)
		}
		if q.place.Status != span.QuoteRepaired {
			q.place.Status = span.OutOfBounds
		}
	case tooLong:
		q.place.Status = span.TooLong
	case known:
		q.checkQuote(page, start, end)
		q.settle(span.OK)
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
	if q.page.Valid {
		q.checkPage(q.page.Value, q.page.Value)
	}
	page := q.keyPage()
	q.place.Page = page
	if q.place.Status != span.Unchecked {
		return
	}
	if q.hasKey(page) {
		q.findQuote(page)
		q.settle(span.OK)
	} else if q.hasText() {
		q.checkContained(0, 0, math.MaxInt64)
		q.settle(span.OK)
	}
}

// hasText reports whether the text of the document is known.
func (q *query) hasText() bool { return q.source.layout != nil && q.source.layout.hasText }

// document resolves a place that is a whole document.
func (q *query) document() {
	q.place.Level = span.Document
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
		q.place.Level, q.place.FirstPage, q.place.LastPage = span.Pages, 1, n
	}
	q.checkContained(0, 0, math.MaxInt64)
	q.settle(span.OK)
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
	if !q.start.Valid {
		start, end = q.page.Value, q.page.Value+1
	} else if q.misplaced(span.Pages, start, end) {
		return
	}
	first, last := max(start, 0), min(end-1, math.MaxInt32)
	if first >= 1 && first <= last {
		q.place.Level, q.place.FirstPage, q.place.LastPage = span.Pages, int32(first), int32(last)
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
	q.settle(span.OK)
}

// blocks resolves a place given by block numbers.
func (q *query) blocks() {
	start, end := q.start.Value, q.end.Value
	if q.misplaced(span.Document, start, end) {
		return
	}
	q.coarser()
	if q.page.Valid {
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
			q.settle(span.OutOfBounds)
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
		q.place.Level, q.place.FirstPage, q.place.LastPage = span.Pages, first, last
	}
	q.checkCovered()
	q.settle(span.OK)
}

// checkCovered checks the quote against the code points that the place covers,
// or against the whole text where they are not known.
func (q *query) checkCovered() {
	if q.place.Level == span.Characters {
		q.checkContained(q.place.Page, q.place.Start, q.place.End)
	} else if q.hasText() {
		q.checkContained(0, 0, math.MaxInt64)
	}
}

// wantsQuote reports whether there is a quote to check and no status yet.
func (q *query) wantsQuote() bool {
	return q.r.conv.Checks.Text && q.place.Status == span.Unchecked && strings.TrimSpace(q.quote) != ""
}

// checkQuote compares the quote with the code points [start, end) of a key.
func (q *query) checkQuote(page int32, start, end int64) {
	if !q.wantsQuote() {
		return
	}
	if reg, ok := q.r.region(&q.source, page); ok && !sameQuote(reg.slice(start, end), q.quote) {
		q.repair(reg)
	}
}

// checkContained looks for the quote in the code points [start, end) of a key.
func (q *query) checkContained(page int32, start, end int64) {
	if !q.wantsQuote() {
		return
	}
	reg, ok := q.r.region(&q.source, page)
	if !ok {
		return
	}
	within := reg.slice(start, end)
	if strings.Contains(within, q.quote) || strings.Contains(q.normalized(reg, within), normalize(q.quote)) {
		return
	}
	if page == 0 && q.r.conv.OffsetBase == FromPage && q.source.layout.hasPages {
		q.place.Status = span.QuoteMismatch // a place in the whole text is none of a key
		return
	}
	q.repair(reg)
}

// findQuote gives a place without start and end the one where its quote stands.
func (q *query) findQuote(page int32) {
	if !q.wantsQuote() {
		return
	}
	if reg, ok := q.r.region(&q.source, page); ok {
		if q.repair(reg) > 1 {
			q.place.Status = span.OK
		}
	}
}

// repair searches the quote in a key and settles QuoteRepaired or
// QuoteMismatch. It returns how often the quote was found, up to 2.
func (q *query) repair(reg *region) int {
	text := q.normalized(reg, reg.slice(0, reg.len()))
	quote := normalize(q.quote)
	n, at := occurrences(text, quote)
	if n != 1 {
		q.place.Status = span.QuoteMismatch
	} else {
		q.place.Status = span.QuoteRepaired
		start, end := original(reg.slice(0, reg.len()), at, at+len(quote))
		q.repaired = Interval{NullInt{start, true}, NullInt{end, true}}
	}
	return n
}

// normalized returns the normalised form of a part of reg.
func (q *query) normalized(reg *region, part string) string {
	if len(part) < len(reg.slice(0, reg.len())) {
		return normalize(part)
	}
	text, bytes := reg.normalized()
	q.r.grew(&q.source, bytes)
	return text
}
