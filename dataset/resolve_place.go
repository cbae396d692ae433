package dataset

import (
	"fmt"
	"math"

	"ibid/metrics/span"
	"ibid/metrics/token"
)

// A query is one place in the course of being resolved.
type query struct {
	r *Resolver

	// As given.
	doc        string
	docNull    bool
	page       NullInt
	start, end NullInt
	unit       string
	quote      string

	source   source
	place    *span.Place // its Status is DocumentNotFound, or Unchecked as long as nothing else is known
	repaired *Interval   // nil if there is no quote
}

// resolve dispatches on what is given.
func (q *query) resolve() *badValue {
	r := q.r
	q.place.Doc, q.place.Level, q.place.Status = q.doc, span.Nowhere, span.Unchecked
	unit, coarse, err := r.unit(q.unit)
	switch {
	case err != nil:
		return err
	case q.start.Valid && !q.end.Valid:
		return &badValue{"end", fmt.Sprintf("null, but start is %d", q.start.Value)}
	case q.end.Valid && !q.start.Valid:
		return &badValue{"start", fmt.Sprintf("null, but end is %d", q.end.Value)}
	case q.page.Valid && (q.page.Value > math.MaxInt32 || q.page.Value < math.MinInt32):
		return &badValue{"page", fmt.Sprintf("%d does not fit into 32 bits", q.page.Value)}
	}
	q.source = source{}
	if !q.docNull {
		r.find(q.doc, &q.source)
		q.place.Level = span.Document
	}
	if r.conv.Checks.Existence && q.source.missing(r) {
		q.place.Status = span.DocumentNotFound
	}
	switch {
	case q.docNull:
	case coarse == "document":
		q.document()
	case !q.start.Valid && (coarse != "page" || !q.page.Valid):
		q.unplaced()
	case coarse == "page":
		q.pages()
	case coarse == "block":
		q.blocks()
	default:
		q.characters(unit)
	}
	return nil
}

// unit returns the unit of offsets, or the name of a coarser unit.
func (r *Resolver) unit(name string) (u token.Unit, coarse string, err *badValue) {
	switch name {
	case "":
		return r.conv.OffsetUnit, "", nil
	case "page", "block", "document":
		return 0, name, nil
	}
	u, unknown := token.ParseUnit(name)
	if unknown != nil {
		err = &badValue{"unit", fmt.Sprintf("%q is not one of codepoint, utf16, byte, page, block, document", name)}
	}
	return u, "", err
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
