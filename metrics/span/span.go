// Package span does arithmetic on half-open intervals of text.
//
// Every offset counts Unicode code points, zero-based; package dataset converts
// bytes, UTF-16 units, pages and blocks at the edge. The package knows neither
// texts nor files: a [Span] is three integers, and sets of code points are
// always intervals, never sets of characters.
package span

import "math"

// MaxEnd is the largest end a span can have.
const MaxEnd = math.MaxInt32

// A Span is the half-open interval [Start, End) of code points in the place
// that Key stands for.
//
// Key is a small code that the caller assigns to each distinct (document, page)
// of one comparison; only its equality and order matter. A Span with
// Start >= End is empty.
type Span struct {
	Key, Start, End int32
}

// Len is the number of code points in s, 0 if s is empty.
func (s Span) Len() int64 { return max(0, int64(s.End)-int64(s.Start)) }
