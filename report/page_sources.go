package report

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
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
	for _, w := range windowsOf(marks, t.length, aroundMark, longMark) {
		t.hold(text, w)
	}
}

// windowsOf are the stretches of a text that reach so far around marks, in order and
// apart. Of marks longer than longest, they have both ends.
func windowsOf(marks []mark, length, around, longest int64) [][2]int64 {
	var all [][2]int64
	window := func(start, end int64) {
		all = append(all, [2]int64{max(0, start-around), min(length, end+around)})
	}
	for _, m := range marks {
		if m.start >= length || m.end <= max(m.start, 0) {
			continue
		}
		start, end := max(m.start, 0), min(m.end, length)
		if end-start > longest {
			window(start, start+endOfMark)
			window(end-endOfMark, end)
		} else {
			window(start, end)
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

// A mark is a stretch of a text that somebody points at.
type mark struct {
	start, end int64 // code points
	kind       int32 // one of the kinds below
	of         int32 // the number of the citation, of the truth or, where evidence is elsewhere, of the claim
}

// Kinds of marks and other states of a stretch of text; a stretch can be of
// several. The script of the page knows these numbers.
const (
	markPredicted = 1 << iota // cited
	markTrue                  // marked by an annotator
	markSupport               // the judge's evidence
	markElsewhere             // evidence that should have been cited
	stretchFolded             // context, seen on request
	markTolerance             // so near to what is cited that it counts as the same place
)

// A pieceView is one piece of a text as a row sees it, split into stretches that
// are marked alike.
type pieceView struct {
	Piece  int       `json:"piece"`
	Head   string    `json:"head"`             // where in the text
	Runs   []int32   `json:"runs"`             // start, end (UTF-16 units of the piece) and state of each stretch
	Notes  []runNote `json:"notes,omitempty"`  // what begins and ends
	Marks  []int32   `json:"marks,omitempty"`  // kind, number, first and last stretch of each mark
	Before bool      `json:"before,omitempty"` // text is left out before the piece
	After  bool      `json:"after,omitempty"`  // and after it
}

// A runNote says what begins before and what ends after a stretch.
type runNote struct {
	Run   int     `json:"run"`
	Open  string  `json:"open,omitempty"`  // for those who do not see marks
	Close string  `json:"close,omitempty"` //
	Cites []int32 `json:"cites,omitempty"` // citations that begin here
}

// view splits the pieces that hold marks.
func (t *sourceText) view(marks []mark) []pieceView {
	var out []pieceView
	for i := range t.pieces {
		p := &t.pieces[i]
		var here []mark
		for _, m := range marks {
			if m.start < p.end && m.end > p.start {
				here = append(here, m)
			}
		}
		if len(here) == 0 {
			continue
		}
		v := splitPiece(p, here)
		v.Piece, v.Before, v.After = i, p.start > 0, p.end < t.length
		v.Head = "[" + Thousands(p.start) + ", " + Thousands(p.end) + ") of " + Thousands(t.length) + " characters"
		if !v.Before && !v.After {
			v.Head = Thousands(t.length) + " characters, whole text"
		}
		out = append(out, v)
	}
	return out
}

// splitPiece cuts a piece where marks begin and end, and folds what is far from
// all of them. It takes O(n log n) steps for n marks.
func splitPiece(p *piece, marks []mark) pieceView {
	cuts := []int64{p.start, p.end}
	for _, m := range marks {
		cuts = append(cuts, min(max(m.start, p.start), p.end), min(max(m.end, p.start), p.end))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	cuts = foldCuts(cuts, statesOf(cuts, marks, p), p)
	states := statesOf(cuts, marks, p)
	relative := make([]int64, len(cuts))
	for i, c := range cuts {
		relative[i] = c - p.start
	}
	units := unitsBefore(p.text, relative)
	opens := slices.SortedStableFunc(slices.Values(marks), func(a, b mark) int { return cmp.Compare(a.start, b.start) })
	closes := slices.SortedStableFunc(slices.Values(marks), func(a, b mark) int { return cmp.Compare(a.end, b.end) })
	startOf, endOf := func(m mark) int64 { return m.start }, func(m mark) int64 { return m.end }
	touched := func(at int64) bool { return len(marksAt(opens, startOf, at))+len(marksAt(closes, endOf, at)) > 0 }
	var v pieceView
	for i := 0; i+1 < len(cuts); i++ {
		state := states[i]
		if state == 0 && cuts[i+1]-cuts[i] >= leastFold-2*wordEnd && !touched(cuts[i]) && !touched(cuts[i+1]) {
			state = stretchFolded
		}
		v.Runs = append(v.Runs, units[i], units[i+1], state)
		if note, ok := noteOf(i, marksAt(opens, startOf, cuts[i]), marksAt(closes, endOf, cuts[i+1])); ok {
			v.Notes = append(v.Notes, note)
		}
	}
	for _, m := range marks {
		if m.kind != markTolerance {
			first, _ := slices.BinarySearch(cuts, max(m.start, p.start))
			end, _ := slices.BinarySearch(cuts, min(m.end, p.end))
			v.Marks = append(v.Marks, m.kind, m.of, int32(first), int32(end-1))
		}
	}
	return v
}

// marksAt are those of marks in the order of a position that have it at one place.
func marksAt(marks []mark, position func(m mark) int64, at int64) []mark {
	first := sort.Search(len(marks), func(i int) bool { return position(marks[i]) >= at })
	end := first
	for end < len(marks) && position(marks[end]) == at {
		end++
	}
	return marks[first:end]
}

// kindsOfMarks is how many bits the kind of a mark has.
const kindsOfMarks = 6

// statesOf are the kinds of the marks over each stretch between two cuts. Marks begin
// and end at cuts, or outside the piece.
func statesOf(cuts []int64, marks []mark, p *piece) []int32 {
	steps := make([][kindsOfMarks]int32, len(cuts)) // how many more marks of a kind there are from a cut on
	for _, m := range marks {
		first, _ := slices.BinarySearch(cuts, max(m.start, p.start))
		end, _ := slices.BinarySearch(cuts, min(m.end, p.end))
		if first < end {
			for kind := range kindsOfMarks {
				if m.kind&(1<<kind) != 0 {
					steps[first][kind]++
					steps[end][kind]--
				}
			}
		}
	}
	states := make([]int32, len(cuts))
	var now [kindsOfMarks]int32
	for i := range cuts {
		for kind := range now {
			if now[kind] += steps[i][kind]; now[kind] > 0 {
				states[i] |= 1 << kind
			}
		}
	}
	return states
}

// foldCuts adds cuts within unmarked stretches, so that only what is near a mark
// is seen at once.
func foldCuts(cuts []int64, states []int32, p *piece) []int64 {
	out := []int64{cuts[0]}
	for i := 0; i+1 < len(cuts); i++ {
		from, to := cuts[i], cuts[i+1]
		if states[i] == 0 {
			if from > p.start {
				from += seenAround
			}
			if to < p.end {
				to -= seenAround
			}
			if to-from >= leastFold {
				if from > cuts[i] {
					out = append(out, p.afterWord(from))
				}
				if to < cuts[i+1] {
					out = append(out, p.afterWord(to))
				}
			}
		}
		out = append(out, cuts[i+1])
	}
	return out
}

// wordEnd is how far a cut moves so as not to break a word.
const wordEnd = 20

// afterWord moves a cut to behind the next white space, if there is some near.
func (p *piece) afterWord(cut int64) int64 {
	at := bytesBefore(p.text, []int64{cut - p.start})[0]
	n := int64(0)
	for _, r := range p.text[at:] {
		if n++; unicode.IsSpace(r) {
			return cut + n
		}
		if n == wordEnd {
			break
		}
	}
	return cut
}

// noteOf says what begins and what ends at the ends of a stretch.
func noteOf(run int, opens, closes []mark) (runNote, bool) {
	n := runNote{Run: run}
	var open, closed []string
	for _, m := range opens {
		if m.kind == markTolerance {
			continue
		}
		open = append(open, markName(m)+" starts")
		if m.kind == markPredicted {
			n.Cites = append(n.Cites, m.of)
		}
	}
	for _, m := range closes {
		if m.kind != markTolerance {
			closed = append(closed, markName(m)+" ends")
		}
	}
	slices.Sort(open)
	slices.Sort(closed)
	n.Open, n.Close = list(slices.Compact(open)), list(slices.Compact(closed))
	return n, n.Open != "" || n.Close != ""
}

func markName(m mark) string {
	switch m.kind {
	case markPredicted:
		return "citation " + count(int64(m.of)+1)
	case markTrue:
		return "true span"
	case markSupport:
		return "judge's evidence"
	}
	return "evidence not cited"
}
