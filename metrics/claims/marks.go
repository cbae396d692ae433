package claims

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid"
)

// An extent is a half-open interval of bytes of an answer.
type extent struct{ start, end int }

func (e extent) bounds() extent { return e }

func (e extent) empty() bool { return e.start >= e.end }

func (e extent) meets(o extent) bool { return e.start < o.end && o.start < e.end }

func (e extent) holds(o extent) bool { return e.start <= o.start && o.end <= e.end }

func (e extent) and(o extent) extent { return extent{max(e.start, o.start), min(e.end, o.end)} }

// A link is an address in the text, with the words that it has there, or a picture.
type link struct {
	extent
	label extent
	image bool
}

// findMarks fills the marks and links of the answer. sources are what its citations
// name; numbers may stand for others.
func (a *answer) findMarks(sources []Cited) {
	r := readMarks(a.s, sources, unnumbered)
	a.lists = append(a.lists, r.lists...)
	a.marks = append(a.marks, r.gone...)
	a.around = append(a.around, r.around...)
	a.codes = r.codes
	for _, w := range r.marks {
		a.seen = append(a.seen, w.at)
		a.addExcerpt(&w)
		if w.worded && w.keep == w.at {
			a.prose = append(a.prose, w.at)
		}
		if w.form == Link || w.form == URL {
			a.links = append(a.links, link{extent: w.at, label: w.keep})
		}
	}
	a.links = append(a.links, r.others...)
	for _, l := range r.others {
		if !l.image {
			a.around = append(a.around, extent{l.start, l.label.start}, extent{l.label.end, l.end})
		}
	}
	slices.SortFunc(a.links, func(x, y link) int { return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.end, x.end)) })
	a.mask()
}

// linksIn are the links that begin in e.
func (a *answer) linksIn(e extent) []link {
	from := sort.Search(len(a.links), func(i int) bool { return a.links[i].start >= e.start })
	to := sort.Search(len(a.links), func(i int) bool { return a.links[i].start >= e.end })
	return a.links[from:max(from, to)]
}

// addMarks adds the places of citations that are marks although they do not look
// like one. A link in running text stays text: its words are part of a sentence.
func (a *answer) addMarks(citations []placed) {
	before := len(a.marks)
	for i := range citations {
		c := &citations[i]
		if c.role == ibid.Marker && !c.at.empty() && !meeting(a.seen, c.at) && !meeting(a.marks, c.at) {
			a.marks = append(a.marks, c.at)
		}
	}
	if len(a.marks) > before {
		a.marks = united(a.marks)
		a.mask()
	}
}

// meeting reports whether one of all, which are sorted, meets e.
func meeting[T interface{ bounds() extent }](all []T, e extent) bool {
	i := sort.Search(len(all), func(i int) bool { return all[i].bounds().start >= e.end })
	return i > 0 && all[i-1].bounds().end > e.start
}

// brackets are what may enclose a mark.
var brackets = map[rune]rune{'(': ')', '[': ']', '（': '）', '［': '］', '【': '】'}

// isStop reports what a sentence ends with.
func isStop(r rune) bool {
	return strings.ContainsRune(".!?…。．！？", r) || r >= utf8.RuneSelf && unicode.Is(unicode.STerm, r)
}

// separates reports whether r may stand between two marks of one group.
func separates(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;，、；،", r) }

// united sorts extents and unites those that meet.
func united(all []extent) []extent {
	slices.SortFunc(all, func(x, y extent) int { return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end)) })
	n := 0
	for _, e := range all {
		if n > 0 && e.start < all[n-1].end {
			all[n-1].end = max(all[n-1].end, e.end)
			continue
		}
		all[n] = e
		n++
	}
	return all[:n]
}

// mask fills plain and cuts.
func (a *answer) mask() {
	a.cuts = append(a.cuts[:0], a.marks...)
	a.cuts = append(a.cuts, a.around...)
	for _, l := range a.links {
		if l.image {
			a.cuts = append(a.cuts, l.extent)
		}
	}
	a.cuts = append(a.cuts, a.gaps...)
	a.cuts = united(a.cuts)
	a.plain = append(a.plain[:0], a.s...)
	for _, c := range a.cuts {
		for i := c.start; i < c.end; i++ {
			a.plain[i] = ' '
		}
	}
}

// readsAsMark reports whether the text at e is made of marks, or is a link.
func (a *answer) readsAsMark(e extent) bool {
	bare := func(e extent) string { return strings.Trim(a.s[e.start:e.end], " ()[]") }
	if i := sort.Search(len(a.links), func(i int) bool { return a.links[i].end > e.start }); i < len(a.links) && bare(a.links[i].extent) == bare(e) {
		return true
	}
	some, at := false, e.start
	i := sort.Search(len(a.marks), func(i int) bool { return a.marks[i].end > e.start })
	for ; i < len(a.marks) && a.marks[i].start < e.end; i++ {
		m := a.marks[i]
		if strings.TrimFunc(a.s[at:max(at, m.start)], separates) != "" {
			return false
		}
		some, at = true, min(m.end, e.end)
	}
	return some && strings.TrimFunc(a.s[at:e.end], separates) == ""
}
