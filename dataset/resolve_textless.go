package dataset

import (
	"math"

	"ibid/metrics/span"
	"ibid/metrics/token"
)

// textless sets the place to the code points [start, end) if nothing else can
// come out: the run and the row have no documents, and the offsets are in code
// points and make a span. It is what query.resolve does for such a place, which
// in a run without documents is nearly every one, without asking for the text.
func (r *Resolver) textless(p *span.Place, doc string, docNull bool, page, start, end NullInt, unit string) bool {
	c := &r.conv
	if docNull || unit != "" || c.OffsetUnit != token.CodePoint || !start.Valid || !end.Valid {
		return false
	}
	last := end.Value
	if c.SpanEnd == Inclusive && last < math.MaxInt64 {
		last++
	}
	if span.Check(start.Value, last) != span.OK || c.MaxSpanLength > 0 && last-start.Value > c.MaxSpanLength {
		return false
	}
	*p = span.Place{Doc: doc, Level: span.Characters, Status: span.Unchecked, Start: start.Value, End: last}
	if !page.Valid {
		return true
	}
	n := int32(page.Value)
	if int64(n) != page.Value {
		return false
	}
	if c.OffsetBase == FromPage {
		p.Page = n
	}
	if n > 0 {
		p.FirstPage, p.LastPage = n, n
	}
	return true
}
