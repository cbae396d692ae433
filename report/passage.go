package report

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/report/doc"
)

// surround is how many code points around a mark are shown.
const surround = 120

// A markedRun is a piece of text whose code points are marked alike.
type markedRun struct {
	Text      string
	Predicted bool
	True      bool
}

// A passage is a part of a text around marks.
type passage struct {
	Start, End int64 // code points
	Before     bool  // text was left out before it
	After      bool  // text was left out after it
	Runs       []markedRun
}

// A textKey names a text: a document, or one page of it when offsets count from pages.
type textKey struct {
	doc  string
	page int32
}

// keyOf is the text that a place is in.
func keyOf(p *ibid.Place) textKey { return textKey{p.Doc, p.Page} }

// A mark is a stretch of a text that somebody points at.
type mark struct {
	start, end int64 // code points
	kind       int32
}

// The kinds of marks.
const (
	markPredicted int32 = iota // cited
	markTrue                   // marked by an annotator
)

// passages cuts the text into the neighbourhoods of its marks and splits those
// into runs. Marks outside the text are cut to it.
func passages(text string, marks []mark) []passage {
	length := int64(utf8.RuneCountInString(text))
	ordered := slices.Clone(marks)
	slices.SortStableFunc(ordered, func(a, b mark) int { return cmp.Compare(a.start, b.start) })
	var out []passage
	for _, m := range ordered {
		start, end := max(0, m.start-surround), min(length, m.end+surround)
		switch n := len(out); {
		case m.start >= length || m.end <= max(m.start, 0):
		case n > 0 && start <= out[n-1].End:
			out[n-1].End = max(out[n-1].End, end)
		default:
			out = append(out, passage{Start: start, End: end})
		}
	}
	for i := range out {
		p := &out[i]
		p.Before, p.After = p.Start > 0, p.End < length
		p.Runs = runsOf(text, p.Start, p.End, marks)
	}
	return out
}

// markSpans are runs of a text with marks for what is cited, right, and both.
func markSpans(runs []markedRun, cited, right, both doc.Mark) (out doc.Text) {
	for _, r := range runs {
		span := doc.Span{Text: strings.Clone(shortStretch(r.Text))} // the text is gone once the next row is read
		switch {
		case r.Predicted && r.True:
			span.Mark = both
		case r.Predicted:
			span.Mark = cited
		case r.True:
			span.Mark = right
		}
		out = append(out, span)
	}
	return out
}

// runsOf splits [start, end) where a mark begins or ends.
func runsOf(text string, start, end int64, marks []mark) []markedRun {
	cuts := []int64{start, end}
	for _, m := range marks {
		for _, at := range []int64{m.start, m.end} {
			if at > start && at < end {
				cuts = append(cuts, at)
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	offsets := bytesBefore(text, cuts)
	var out []markedRun
	for i := 0; i+1 < len(cuts); i++ {
		r := markedRun{Text: text[offsets[i]:offsets[i+1]]}
		for _, m := range marks {
			if m.start <= cuts[i] && cuts[i+1] <= m.end {
				r.True = r.True || m.kind == markTrue
				r.Predicted = r.Predicted || m.kind == markPredicted
			}
		}
		out = append(out, r)
	}
	return out
}
