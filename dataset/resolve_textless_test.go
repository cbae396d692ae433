package dataset

import (
	"math"
	"math/rand/v2"
	"testing"

	"ibid/metrics/span"
	"ibid/metrics/token"
)

// A place without a text comes out as it does by the way of all others.
func TestTextlessIsResolve(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	edges := []int64{0, 1, -1, 20, 21, span.MaxEnd - 1, span.MaxEnd, span.MaxEnd + 1, math.MaxInt32, math.MaxInt32 + 1, math.MinInt32 - 1, math.MaxInt64, math.MinInt64}
	draw := func() NullInt {
		if rng.IntN(5) == 0 {
			return NullInt{}
		}
		return NullInt{edges[rng.IntN(len(edges))], true}
	}
	units := []string{"", "", "codepoint", "page"}
	short := 0
	for range 200_000 {
		conv := Conventions{
			OffsetUnit: token.Unit(rng.IntN(3) / 2), SpanEnd: SpanEnd(rng.IntN(2)), OffsetBase: OffsetBase(rng.IntN(2)),
			MaxSpanLength: int64(rng.IntN(2) * 20),
		}
		if rng.IntN(2) == 0 {
			conv.Checks = AllChecks
		}
		c := Citation{Doc: "d", DocNull: rng.IntN(8) == 0, Page: draw(), Start: draw(), End: draw(), Unit: units[rng.IntN(len(units))]}
		if rng.IntN(2) == 0 {
			c.CitedText = "a quote"
		}
		r := NewResolver(nil, conv)
		r.row = &Row{}
		var got span.Place
		if !r.textless(&got, c.Doc, c.DocNull, c.Page, c.Start, c.End, c.Unit) {
			continue
		}
		short++
		var want span.Place
		var repaired Interval
		q := &r.query
		q.doc, q.docNull, q.page, q.start, q.end = c.Doc, c.DocNull, c.Page, c.Start, c.End
		q.unit, q.quote, q.place, q.repaired = c.Unit, c.CitedText, &want, &repaired
		if err := q.resolve(); err != nil {
			t.Fatalf("%+v under %+v: %v", c, conv, err)
		}
		if got != want || repaired != (Interval{}) {
			t.Fatalf("%+v under %+v:\ngot  %+v\nwant %+v, repaired %+v", c, conv, got, want, repaired)
		}
	}
	if short < 1000 {
		t.Errorf("only %d places were resolved in short", short)
	}
}
