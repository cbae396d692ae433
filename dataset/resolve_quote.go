package dataset

import (
	"math"
	"strings"

	"ibid/metrics/span"
)

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
		*q.repaired = Interval{NullInt{start, true}, NullInt{end, true}}
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
