package convert

import (
	"math"

	"ibid/metrics/token"
)

// A Reading is one way to understand a pair of foreign offsets into a text.
// The zero Reading is ours: code points, zero-based, end exclusive.
type Reading struct {
	Unit      token.Unit
	Inclusive bool // the end is the last unit of the span, not the one after it
	OneBased  bool // the first unit of the text has number 1
}

// Readings returns the readings that are tried, ours first, in the order of
// preference among those that give the same spans.
func Readings() []Reading { return append([]Reading(nil), readings[:]...) }

var readings = [...]Reading{
	{token.CodePoint, false, false},
	{token.UTF16, false, false},
	{token.Byte, false, false},
	{token.CodePoint, true, false},
	{token.UTF16, true, false},
	{token.Byte, true, false},
	{token.CodePoint, false, true},
	{token.UTF16, false, true},
	{token.Byte, false, true},
	{token.CodePoint, true, true},
	{token.UTF16, true, true},
	{token.Byte, true, true},
}

// A readingSet holds one bit for each of readings.
type readingSet uint16

const allReadings readingSet = 1<<len(readings) - 1

// String returns a name such as "codepoint_exclusive" or
// "byte_inclusive_1based".
func (r Reading) String() string {
	s := r.Unit.String()
	if r.Inclusive {
		s += "_inclusive"
	} else {
		s += "_exclusive"
	}
	if r.OneBased {
		s += "_1based"
	}
	return s
}

// units returns the half-open, zero-based span that r takes the offsets for,
// in r.Unit. It may be empty, inverted or negative.
func (r Reading) units(start, end int64) (int64, int64) {
	if r.OneBased {
		start, end = start-1, end-1
	}
	if r.Inclusive {
		end++
	}
	return start, end
}

// Span returns the half-open span of code points of text that r takes the
// offsets for. ok is false if they make no span of the text: if they are not
// 0 <= start < end <= length, or divide a code point.
func (r Reading) Span(text *token.Text, start, end int64) (lo, hi int, ok bool) {
	// No text is longer, and the arithmetic below cannot overflow.
	if start < 0 || end < 0 || start > math.MaxInt32+1 || end > math.MaxInt32+1 {
		return 0, 0, false
	}
	start, end = r.units(start, end)
	if start < 0 || start >= end || end > int64(text.Units(r.Unit)) {
		return 0, 0, false
	}
	lo, first := text.CodePoint(r.Unit, int(start))
	hi, last := text.CodePoint(r.Unit, int(end))
	return lo, hi, first && last
}
