package dataset

import (
	"math"

	"ibid/metrics/span"
)

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
