package metrics

import (
	"cmp"
	"slices"
	"sort"
)

// An Anchor is what a citation says about the claim it belongs to.
type Anchor struct {
	ClaimID string // "" if it names none

	// Start and End are the half-open code points of the answer that the
	// citation covers or, of a marker, takes up. Start = End is a point, which
	// stands for the code point before it.
	Start, End  int64
	HasPosition bool // false: Start and End mean nothing
}

// A Linker links citations and claims. It keeps its memory from one row to the
// next; the zero Linker is ready, and is not safe for concurrent use.
type Linker struct {
	byStart []int32          // claims that have an extent, by start and then index
	last    []int32          // last[i] is the one of byStart[:i+1] that ends last
	ids     map[string]int32 // the first claim of each id

	ofCitation [][]int32
	unlinked   []bool
	links      []int32 // what ofCitation holds
	counts     []int32 // links of each claim
	linked     []int32 // what the claims' Citations hold
}

// Link sets the Citations of every claim and returns the claims of every
// citation, as ascending indices, and which citations are unlinked.
//
//   - A citation with a claim id is linked to the claim of that id, whatever its
//     position; to none if there is no such claim. Of two claims with one id the
//     first has it.
//   - One with a position is linked to the claims that its interval overlaps. If
//     there is none, it belongs to the claim before: of those that end at or
//     before its start, the one that ends last (of these the one that starts
//     last, then the first). Before all claims, it belongs to the one that starts
//     first. Claims whose extent is not known or empty are not looked at, so that it
//     is linked to none if no other claim is there.
//   - One without either is linked to every claim, and is unlinked.
//
// A position that is negative or ends before it starts is none. A citation that
// is linked to no claim is unscored. What Link returns and sets is valid until
// the next call.
func (l *Linker) Link(claims []Claim, citations []Anchor) (ofCitation [][]int32, unlinked []bool) {
	l.reset(claims, len(citations))
	for i := range citations {
		a := &citations[i]
		from := len(l.links)
		switch {
		case a.ClaimID != "":
			if c, ok := l.ids[a.ClaimID]; ok {
				l.links = append(l.links, c)
			}
		case a.HasPosition && 0 <= a.Start && a.Start <= a.End:
			l.place(claims, a.Start, a.End)
		default:
			l.unlinked[i] = true
			for c := range claims {
				l.links = append(l.links, int32(c))
			}
		}
		l.counts = append(l.counts, int32(len(l.links)-from))
	}
	l.cut()
	l.fill(claims)
	return l.ofCitation, l.unlinked
}

func (l *Linker) reset(claims []Claim, citations int) {
	l.links, l.counts = l.links[:0], l.counts[:0]
	l.unlinked = slices.Grow(l.unlinked[:0], citations)[:citations]
	clear(l.unlinked)
	if l.ids == nil {
		l.ids = map[string]int32{}
	}
	clear(l.ids)
	l.byStart, l.last = l.byStart[:0], l.last[:0]
	sorted := true
	for i := range claims {
		c := &claims[i]
		if _, taken := l.ids[c.ID]; !taken {
			l.ids[c.ID] = int32(i)
		}
		if c.HasExtent && c.Start < c.End {
			if n := len(l.byStart); n > 0 && claims[l.byStart[n-1]].Start > c.Start {
				sorted = false
			}
			l.byStart = append(l.byStart, int32(i))
		}
	}
	if !sorted {
		slices.SortStableFunc(l.byStart, func(a, b int32) int { return cmp.Compare(claims[a].Start, claims[b].Start) })
	}
	for i, c := range l.byStart {
		last := c
		if i > 0 && !endsLater(&claims[c], &claims[l.last[i-1]]) {
			last = l.last[i-1]
		}
		l.last = append(l.last, last)
	}
}

// endsLater orders the claims before a marker: it reports whether a, which
// starts no earlier than b, is nearer to the marker.
func endsLater(a, b *Claim) bool {
	return a.End > b.End || a.End == b.End && a.Start > b.Start
}

// place links a citation whose interval of the answer is [start, end).
func (l *Linker) place(claims []Claim, start, end int64) {
	if len(l.byStart) == 0 {
		return
	}
	if start == end && start > 0 {
		start--
	}
	n := sort.Search(len(l.byStart), func(i int) bool { return claims[l.byStart[i]].Start >= end })
	from := len(l.links)
	for i := n - 1; i >= 0 && claims[l.last[i]].End > start; i-- {
		if c := l.byStart[i]; claims[c].End > start {
			l.links = append(l.links, c)
		}
	}
	switch {
	case len(l.links) > from:
		slices.Sort(l.links[from:])
	case n > 0:
		l.links = append(l.links, l.last[n-1])
	default:
		l.links = append(l.links, l.byStart[0])
	}
}

// cut divides links among the citations.
func (l *Linker) cut() {
	l.ofCitation = l.ofCitation[:0]
	from := int32(0)
	for _, n := range l.counts {
		l.ofCitation = append(l.ofCitation, l.links[from:from+n:from+n])
		from += n
	}
}

// fill gives the claims their citations.
func (l *Linker) fill(claims []Claim) {
	counts := slices.Grow(l.counts[:0], len(claims))[:len(claims)]
	clear(counts)
	for _, c := range l.links {
		counts[c]++
	}
	linked := slices.Grow(l.linked[:0], len(l.links))[:len(l.links)]
	from := int32(0)
	for i := range claims {
		claims[i].Citations = linked[from : from : from+counts[i]]
		from += counts[i]
	}
	for i, of := range l.ofCitation {
		for _, c := range of {
			claims[c].Citations = append(claims[c].Citations, int32(i))
		}
	}
	l.counts, l.linked = counts, linked
}
