package acts

import (
	"errors"
	"fmt"
	"sort"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"ibid/metrics/token"
)

// longestRun is the most code points of a run, unless a grapheme goes on.
const longestRun = 800

// A Run is a stretch of a document of at most one sentence, as a page shows it. The runs
// of a document make up its whole text.
type Run struct {
	Start int64  `json:"start"` // code points before it
	Text  string `json:"text"`
	// Words are the lengths, in UTF-16 code units, of what is between words and of words,
	// by turns: the first word begins after Words[0] and is Words[1] long.
	Words []int `json:"words"`
	// Joins are the places, in UTF-16 code units, between the code points of one grapheme:
	// no mark begins or ends there. CR and LF are one grapheme.
	Joins []int `json:"joins,omitempty"`
}

// A Position is a place in a page's text: a run, and UTF-16 code units in it.
type Position [2]int

// A Text is a document cut into runs. It is safe for concurrent use.
type Text struct {
	Runs []Run
}

// NewText cuts a document into runs. What is no UTF-8 is U+FFFD, one for each byte.
func NewText(document string) *Text {
	points := []rune(document)
	inside := insideGraphemes(string(points), len(points))
	cuts := []int{0}
	cut := func(at int) {
		for at < len(points) && inside[at] {
			at++
		}
		for last := cuts[len(cuts)-1]; at-last > longestRun; last = cuts[len(cuts)-1] {
			next := last + longestRun
			for k := next; k > last+longestRun/2; k-- {
				if points[k-1] == ' ' && !inside[k] {
					next = k
					break
				}
			}
			for next < at && inside[next] {
				next++
			}
			cuts = append(cuts, next)
		}
		if at > cuts[len(cuts)-1] {
			cuts = append(cuts, at)
		}
	}
	for i, s := range token.Sentences(string(points), nil) {
		if i > 0 { // what is before the first sentence belongs to it
			cut(int(s.Start))
		}
	}
	cut(len(points))

	words := token.Words(string(points))
	t := &Text{Runs: make([]Run, 0, len(cuts)-1)}
	for i := range len(cuts) - 1 {
		t.Runs = append(t.Runs, newRun(points, cuts[i], cuts[i+1], inside, words))
	}
	return t
}

// insideGraphemes says of each code point whether the grapheme of the one before goes on.
func insideGraphemes(text string, n int) []bool {
	inside := make([]bool, n+1)
	at := 0
	for g := graphemes.FromString(text); g.Next(); {
		for k := range utf8.RuneCountInString(g.Value()) {
			inside[at] = k > 0
			at++
		}
	}
	return inside
}

func newRun(points []rune, from, to int, inside []bool, words *token.Index) Run {
	r := Run{Start: int64(from), Text: string(points[from:to]), Words: []int{}}
	units, last := 0, 0
	word, end := words.Range(int32(from), int32(to))
	for at := from; at <= to; at++ {
		if word < end && at == max(from, int(words.Starts[word])) {
			r.Words, last = append(r.Words, units-last), units
		}
		if word < end && at == min(to, int(words.Ends[word])) {
			r.Words, last = append(r.Words, units-last), units
			if word++; word < end && at == int(words.Starts[word]) {
				r.Words = append(r.Words, 0)
			}
		}
		if at == to {
			break
		}
		if at > from && inside[at] {
			r.Joins = append(r.Joins, units)
		}
		units += utf16.RuneLen(points[at])
	}
	return r
}

// Span is the interval of code points between two places of a page, widened to whole
// graphemes. A place that is not in the text, one between the halves of a surrogate pair,
// and an interval without text are errors.
func (t *Text) Span(from, to Position) (start, end int64, err error) {
	if start, err = t.point(from); err != nil {
		return 0, 0, err
	}
	if end, err = t.point(to); err != nil {
		return 0, 0, err
	}
	if start >= end {
		return 0, 0, errors.New("a mark without text")
	}
	for t.joined(start) {
		start--
	}
	for t.joined(end) {
		end++
	}
	return start, end, nil
}

// point is the code point at a place of a page.
func (t *Text) point(p Position) (int64, error) {
	if p[0] < 0 || p[0] >= len(t.Runs) {
		return 0, fmt.Errorf("the text has no run %d", p[0])
	}
	r := &t.Runs[p[0]]
	point, units := r.Start, 0
	for _, c := range r.Text {
		if units >= p[1] {
			break
		}
		units += utf16.RuneLen(c)
		point++
	}
	switch {
	case p[1] < 0 || units < p[1]:
		return 0, fmt.Errorf("run %d has no offset %d", p[0], p[1])
	case units > p[1]:
		return 0, fmt.Errorf("run %d: offset %d is between the halves of a surrogate pair", p[0], p[1])
	}
	return point, nil
}

// joined reports whether a code point belongs to the grapheme of the one before.
func (t *Text) joined(point int64) bool {
	i := sort.Search(len(t.Runs), func(i int) bool { return t.Runs[i].Start > point }) - 1
	if i < 0 {
		return false
	}
	r := &t.Runs[i]
	at, units := r.Start, 0
	for _, c := range r.Text {
		if at == point {
			k := sort.SearchInts(r.Joins, units)
			return k < len(r.Joins) && r.Joins[k] == units
		}
		units += utf16.RuneLen(c)
		at++
	}
	return false
}

// Holds reports whether [start, end) is a stretch of the text that no grapheme crosses.
func (t *Text) Holds(start, end int64) bool {
	return 0 <= start && start < end && end <= t.length() && !t.joined(start) && !t.joined(end)
}

func (t *Text) length() int64 {
	if len(t.Runs) == 0 {
		return 0
	}
	last := &t.Runs[len(t.Runs)-1]
	return last.Start + int64(utf8.RuneCountInString(last.Text))
}
