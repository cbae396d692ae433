package metrics

import (
	"cmp"
	"slices"
	"sort"

	"ibid"
)

// A Linker links citations and claims. It keeps its memory from one row to the
// next; the zero Linker is ready, and is not safe for concurrent use.
type Linker struct {
	byStart []int32          // claims that have an extent, by start and then index
	last    []int32          // last[i] is the one of byStart[:i+1] that ends last
	ids     map[string]int32 // the first claim of each id

	ofCitation [][]int32
	links      []int32 // what ofCitation holds
	counts     []int32 // links of each claim
	linked     []int32 // what the claims' Citations hold
}

// Link sets the Citations of every claim and returns the claims of every
// citation, as ascending indices. Claim ids of
// citations are read only with ids: where claims are not those of the dataset, its
// ids mean other claims. scopes are the stretches of the answer that each citation
// backs, or nil if it stands nowhere in the answer.
//
//   - A citation with a claim id is linked to the claim of that id, whatever its
//     position; to none if there is no such claim. Of two claims with one id the
//     first has it.
//   - One with a scope is linked to the claims that it overlaps. Each stretch that
//     overlaps none belongs to the claim before: of those that end at or before its
//     start, the one that ends last (of these the one that starts last, then the
//     first). Before all claims, it belongs to the one that starts first. Claims whose
//     extent is not known or empty are not looked at, so that it is linked to none if
//     no other claim is there. One with an empty scope backs no text and is linked to
//     none.
//   - One without either is linked to every claim.
//
// A citation that is linked to no claim is unscored, unless it backs no text. What
// Link returns and sets is valid until the next call.
func (l *Linker) Link(claims []ibid.Claim, citations []ibid.Citation, scopes [][]ibid.Interval, ids bool) (ofCitation [][]int32) {
	l.reset(claims)
	for i := range citations {
		from := len(l.links)
		switch {
		case ids && citations[i].ClaimID != "":
			if c, ok := l.ids[citations[i].ClaimID]; ok {
				l.links = append(l.links, c)
			}
		case i < len(scopes) && scopes[i] != nil:
			for _, s := range scopes[i] {
				l.place(claims, s.Start.Value, s.End.Value)
			}
			slices.Sort(l.links[from:])
			l.links = l.links[:from+len(slices.Compact(l.links[from:]))]
		default:
			for c := range claims {
				l.links = append(l.links, int32(c))
			}
		}
		l.counts = append(l.counts, int32(len(l.links)-from))
	}
	l.ofCitation = l.ofCitation[:0]
	from := int32(0)
	for _, n := range l.counts {
		l.ofCitation = append(l.ofCitation, l.links[from:from+n:from+n])
		from += n
	}
	l.fill(claims)
	return l.ofCitation
}

func (l *Linker) reset(claims []ibid.Claim) {
	l.links, l.counts = l.links[:0], l.counts[:0]
	if l.ids == nil {
		l.ids = map[string]int32{}
	}
	clear(l.ids)
	l.byStart, l.last = l.byStart[:0], l.last[:0]
	sorted := true
	for i := range claims {
		c := &claims[i]
		if _, taken := l.ids[c.ClaimID]; !taken {
			l.ids[c.ClaimID] = int32(i)
		}
		if c.Extent.Known() && startOf(c) < endOf(c) {
			if n := len(l.byStart); n > 0 && startOf(&claims[l.byStart[n-1]]) > startOf(c) {
				sorted = false
			}
			l.byStart = append(l.byStart, int32(i))
		}
	}
	if !sorted {
		slices.SortStableFunc(l.byStart, func(a, b int32) int { return cmp.Compare(startOf(&claims[a]), startOf(&claims[b])) })
	}
	for i, c := range l.byStart {
		last := c
		if i > 0 {
			// c starts no earlier than the one before. Of two that end together the one
			// that starts last is nearer to a marker behind them.
			x, before := &claims[c], &claims[l.last[i-1]]
			if endOf(x) < endOf(before) || endOf(x) == endOf(before) && startOf(x) == startOf(before) {
				last = l.last[i-1]
			}
		}
		l.last = append(l.last, last)
	}
}

func startOf(c *ibid.Claim) int64 { return c.Extent.Start.Value }
func endOf(c *ibid.Claim) int64   { return c.Extent.End.Value }

// place links a citation that backs [start, end) of the answer; a point stands for
// the code point before it.
func (l *Linker) place(claims []ibid.Claim, start, end int64) {
	if len(l.byStart) == 0 {
		return
	}
	if start == end && start > 0 {
		start--
	}
	n := sort.Search(len(l.byStart), func(i int) bool { return startOf(&claims[l.byStart[i]]) >= end })
	from := len(l.links)
	for i := n - 1; i >= 0 && endOf(&claims[l.last[i]]) > start; i-- {
		if c := l.byStart[i]; endOf(&claims[c]) > start {
			l.links = append(l.links, c)
		}
	}
	switch {
	case len(l.links) > from:
	case n > 0:
		l.links = append(l.links, l.last[n-1])
	default:
		l.links = append(l.links, l.byStart[0])
	}
}

// fill gives the claims their citations.
func (l *Linker) fill(claims []ibid.Claim) {
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
