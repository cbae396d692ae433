package report

import (
	"slices"
	"unicode/utf8"
)

// surround is how many code points around a mark are shown.
const surround = 120

// A Mark is a stretch of a text, in half-open code points, that is predicted,
// true, or both.
type Mark struct {
	Start, End int64
	True       bool // else predicted
}

// A Run is a piece of text whose code points are marked alike.
type Run struct {
	Text      string
	Predicted bool
	True      bool
}

// A Passage is a part of a text around marks.
type Passage struct {
	Start, End int64 // code points
	Before     bool  // text was left out before it
	After      bool  // text was left out after it
	Runs       []Run
}

// Passages cuts the text into the neighbourhoods of its marks and splits those
// into runs. Marks outside the text are cut to it.
func Passages(text string, marks []Mark) []Passage {
	length := int64(utf8.RuneCountInString(text))
	var windows [][2]int64
	for _, m := range marks {
		if m.Start < length && m.End > m.Start && m.End > 0 {
			windows = append(windows, [2]int64{max(0, m.Start-surround), min(length, m.End+surround)})
		}
	}
	slices.SortFunc(windows, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	var out []Passage
	for _, w := range windows {
		if n := len(out); n > 0 && w[0] <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, w[1])
			continue
		}
		out = append(out, Passage{Start: w[0], End: w[1]})
	}
	for i := range out {
		p := &out[i]
		p.Before, p.After = p.Start > 0, p.End < length
		p.Runs = runsOf(text, p.Start, p.End, marks)
	}
	return out
}

// runsOf splits [start, end) where a mark begins or ends.
func runsOf(text string, start, end int64, marks []Mark) []Run {
	cuts := []int64{start, end}
	for _, m := range marks {
		for _, at := range []int64{m.Start, m.End} {
			if at > start && at < end {
				cuts = append(cuts, at)
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	offsets := byteOffsets(text, cuts)
	var out []Run
	for i := 0; i+1 < len(cuts); i++ {
		r := Run{Text: text[offsets[i]:offsets[i+1]]}
		for _, m := range marks {
			if m.Start <= cuts[i] && cuts[i+1] <= m.End {
				r.True = r.True || m.True
				r.Predicted = r.Predicted || !m.True
			}
		}
		out = append(out, r)
	}
	return out
}

// byteOffsets turns sorted code point positions into byte positions.
func byteOffsets(text string, at []int64) []int {
	out := make([]int, 0, len(at))
	position := int64(0)
	for i := range text {
		for len(out) < len(at) && at[len(out)] == position {
			out = append(out, i)
		}
		position++
	}
	for len(out) < len(at) {
		out = append(out, len(text))
	}
	return out
}
