package report

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// How much of a document a page holds, in code points.
const (
	wholeText  = 2500    // texts up to this are held whole in any case
	longWhole  = 200_000 // and up to this, as long as there is room
	aroundMark = 500     // else this much on either side of a mark
	seenAround = 200     // what is seen at once on either side of a mark
	leastFold  = 400     // and less than this is not hidden
	longMark   = 4000    // of a longer mark only both ends are held
	endOfMark  = 1200    // this much of each
	longAnswer = 20000   // of a longer answer only the beginning is held
)

// wholeBudget is how many code points of longer texts are held whole. Once it is
// used up, only the neighbourhoods of marks are held of further ones.
const wholeBudget = 6_000_000

// A textKey names a text: a document, or one page of it when offsets count from
// pages. run tells the documents of several runs apart.
type textKey struct {
	run  int
	doc  string
	page int32
}

// sources are the texts that rows point into, each held once.
type sources struct {
	byKey map[textKey]*sourceText
	left  int // of the budget for whole texts
}

// A sourceText is what is held of one text: pieces in order that neither overlap
// nor touch.
type sourceText struct {
	pieces []piece
	length int64 // code points of the whole text
	whole  bool  // it is held whole, as one piece
	number int   // in the order of the page, once it is settled
}

// A piece is the code points [start, end) of a text.
type piece struct {
	start, end int64
	text       string
}

// add holds the neighbourhoods of marks in a text.
func (s *sources) add(key textKey, text string, marks []mark) {
	if s.byKey == nil {
		s.byKey = make(map[textKey]*sourceText)
	}
	t := s.byKey[key]
	if t == nil {
		t = &sourceText{length: int64(utf8.RuneCountInString(text)), number: -1}
		s.byKey[key] = t
		t.whole = t.length <= wholeText || t.length <= min(longWhole, int64(s.left))
		if t.whole {
			t.pieces = []piece{{0, t.length, strings.Clone(shown(text))}}
			if t.length > wholeText {
				s.left -= int(t.length)
			}
		}
	}
	if t.whole {
		return
	}
	for _, w := range windowsOf(marks, t.length) {
		t.hold(text, w)
	}
}

// windowsOf are the stretches around marks, in order and apart.
func windowsOf(marks []mark, length int64) [][2]int64 {
	var all [][2]int64
	window := func(start, end int64) {
		start, end = max(0, start-aroundMark), min(length, end+aroundMark)
		if start < end {
			all = append(all, [2]int64{start, end})
		}
	}
	for _, m := range marks {
		if m.start >= length {
			continue
		}
		end := min(m.end, length)
		if end-m.start > longMark {
			window(m.start, m.start+endOfMark)
			window(end-endOfMark, end)
		} else {
			window(m.start, end)
		}
	}
	slices.SortFunc(all, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	var out [][2]int64
	for _, w := range all {
		if n := len(out); n > 0 && w[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], w[1])
		} else {
			out = append(out, w)
		}
	}
	return out
}

// hold makes sure that a window of the text is within one piece.
func (t *sourceText) hold(text string, w [2]int64) {
	lo := 0
	for lo < len(t.pieces) && t.pieces[lo].end < w[0] {
		lo++
	}
	hi := lo
	for hi < len(t.pieces) && t.pieces[hi].start <= w[1] {
		hi++
	}
	if lo < hi {
		if p := t.pieces[lo]; hi == lo+1 && p.start <= w[0] && w[1] <= p.end {
			return
		}
		w[0], w[1] = min(w[0], t.pieces[lo].start), max(w[1], t.pieces[hi-1].end)
	}
	at := bytesBefore(text, w[:])
	t.pieces = slices.Replace(t.pieces, lo, hi, piece{w[0], w[1], strings.Clone(shown(text[at[0]:at[1]]))})
}
