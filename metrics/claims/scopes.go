package claims

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/token"
)

// A placed is a citation and the text that it backs.
type placed struct {
	at     extent // where it stands in the answer; may be empty
	known  bool   // it stands somewhere
	role   ibid.Role
	widen  bool   // a segment whose provider cuts inside of sentences
	source string // what place it cites, for telling whether two cite the same

	scope []extent // ascending
}

// A piece is a stretch of a sentence that becomes a claim.
type piece struct {
	extent
	cites []int // the segments that it was cut at
}

const (
	joinWords  = 5 // stretches that cite the same and are less than so many words apart are one
	tailWords  = 7 // what stands behind the last segment is a claim from so many words on
	shortWords = 3 // a claim of fewer takes the rest of its sentence
)

// cutAtSegments fills pieces, of each sentence, and the scopes of segments.
func (c *Cutter) cutAtSegments() {
	a := &c.answer
	c.pieces = slices.Grow(c.pieces[:0], len(c.sentences))[:len(c.sentences)]
	clear(c.pieces)
	stretches := map[int][]piece{} // of a sentence
	for i := range c.placed {
		p := &c.placed[i]
		if !p.known || p.role != ibid.Segment {
			continue
		}
		k := sort.Search(len(c.sentences), func(k int) bool { return c.sentences[k].end > p.at.start })
		for ; k < len(c.sentences) && c.sentences[k].start < p.at.end; k++ {
			s := &c.sentences[k]
			at := a.pruned(p.at.and(s.extent))
			if s.kind == asking || s.kind == leading || !a.hasWord(at) {
				continue
			}
			s.cited = true
			if p.widen || a.units[s.unit].row != nil {
				at = s.extent
			}
			stretches[k] = append(stretches[k], piece{a.toSpaces(at, s.extent), []int{i}})
		}
	}
	for k := range c.sentences {
		if cut := stretches[k]; len(cut) > 0 {
			c.pieces[k] = c.cut(c.sentences[k].extent, cut)
			for _, p := range c.pieces[k] {
				for _, i := range p.cites {
					c.placed[i].scope = append(c.placed[i].scope, p.extent)
				}
			}
		}
	}
}

// cut cuts a sentence at the stretches of it that are cited.
func (c *Cutter) cut(s extent, stretches []piece) []piece {
	a := &c.answer
	slices.SortStableFunc(stretches, func(x, y piece) int { return x.start - y.start })
	var all []piece
	for _, p := range stretches {
		if n := len(all); n > 0 && (p.start < all[n-1].end || c.sameSources(all[n-1].cites, p.cites) && a.words(extent{all[n-1].end, p.start}) < joinWords) {
			last := &all[n-1]
			last.end = max(last.end, p.end)
			last.cites = append(last.cites, p.cites...)
			continue
		}
		all = append(all, p)
	}
	// What stands before a segment is context, or belongs to it.
	from := s.start
	for i := range all {
		p := &all[i]
		if before := (extent{from, p.start}); a.hasWord(before) && !a.isContext(before) {
			p.start = from
		}
		from = p.end
	}
	// What stands behind the last one is a claim of its own, or belongs to it.
	tail := extent{from, s.end}
	if n := len(all) - 1; a.words(tail) >= tailWords && !c.attribution.begins(a.without(tail)) {
		all = append(all, piece{extent: tail})
	} else {
		all[n].end = s.end
	}
	for i := range all {
		all[i].extent = a.pruned(all[i].extent)
		if a.words(all[i].extent) < shortWords && len(all) > 1 {
			whole := piece{extent: extent{all[0].start, s.end}}
			for _, p := range all {
				whole.cites = append(whole.cites, p.cites...)
			}
			whole.extent = a.pruned(whole.extent)
			return []piece{whole}
		}
	}
	return all
}

// sameSources reports whether two stretches cite the same places.
func (c *Cutter) sameSources(x, y []int) bool {
	within := func(x, y []int) bool {
		return !slices.ContainsFunc(x, func(i int) bool {
			return !slices.ContainsFunc(y, func(k int) bool { return c.placed[i].source == c.placed[k].source })
		})
	}
	return within(x, y) && within(y, x)
}

// isContext reports whether what stands before a segment ends in a comma or a colon
// and no number stands in it.
func (a *answer) isContext(e extent) bool {
	s := strings.TrimRightFunc(a.without(e), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_", r) })
	last, _ := lastRune(s)
	return strings.ContainsRune(",:，：、،", last) && !strings.ContainsFunc(s, unicode.IsNumber)
}

// pruned is e without white space, commas and marks at its ends, and without a full
// stop or the like at its start.
func (a *answer) pruned(e extent) extent {
	for !e.empty() {
		before := e
		for _, m := range meetingAll(a.cuts, extent{e.start, e.start + 1}) {
			e.start = max(e.start, m.end)
		}
		for _, m := range meetingAll(a.cuts, extent{e.end - 1, e.end}) {
			e.end = min(e.end, m.start)
		}
		if e.empty() {
			break
		}
		if r, size := utf8.DecodeRuneInString(a.s[e.start:e.end]); unicode.IsSpace(r) || strings.ContainsRune(",;:.!?)]}，。；：、…", r) || r == '\u200b' {
			e.start += size
		}
		if r, size := lastRune(a.s[e.start:e.end]); unicode.IsSpace(r) {
			e.end -= size
		}
		if e == before {
			break
		}
	}
	return extent{e.start, max(e.start, e.end)}
}

// maxWord is how far, in bytes, the end of a segment moves out to white space.
const maxWord = 256

// toSpaces moves the ends of e out to white space, within s and not past marks. In
// scripts that write no spaces they stay between two letters.
func (a *answer) toSpaces(e, s extent) extent {
	stops := func(r rune, at int) bool {
		return unicode.IsSpace(r) || token.Unspaced(r) || meeting(a.marks, extent{at, at + 1})
	}
	s = s.and(extent{e.start - maxWord, e.end + maxWord})
	for e.start > s.start {
		r, size := lastRune(a.s[s.start:e.start])
		if stops(r, e.start-1) {
			break
		}
		e.start -= size
	}
	for e.end < s.end {
		r, size := utf8.DecodeRuneInString(a.s[e.end:s.end])
		if stops(r, e.end) {
			break
		}
		e.end += size
	}
	return e
}

// meetingAll are those of all, which are sorted and disjoint, that meet e.
func meetingAll(all []extent, e extent) []extent {
	from := sort.Search(len(all), func(i int) bool { return all[i].end > e.start })
	to := from
	for to < len(all) && all[to].start < e.end {
		to++
	}
	return all[from:to]
}

// findMarkScopes fills the scopes of markers.
func (c *Cutter) findMarkScopes() {
	a := &c.answer
	c.stops = append(c.stops[:0], a.marks...)
	for i := range c.placed {
		if p := &c.placed[i]; p.known && p.role == ibid.Marker && !meeting(a.marks, p.at) {
			stop := extent{p.at.end, p.at.end}
			if meeting(a.prose, p.at) {
				stop = p.at
			}
			c.stops = append(c.stops, stop)
		}
	}
	slices.SortFunc(c.stops, func(x, y extent) int { return x.start - y.start })
	for i := range c.placed {
		if p := &c.placed[i]; p.known && p.role == ibid.Marker {
			p.scope = c.markScope(p.at)
		}
	}
}

// markScope is the text that the mark at backs.
func (c *Cutter) markScope(at extent) []extent {
	a := &c.answer
	if len(a.lines) > 0 {
		i := max(sort.Search(len(a.lines), func(i int) bool {
			return a.bulletStart(&a.lines[i]) > at.start || a.lines[i].start > at.start && a.lines[i].start >= at.end
		})-1, 0)
		if l := &a.lines[i]; l.start <= at.start && at.start < max(l.end, l.start+1) || l.extent.holds(at) {
			switch l.kind {
			case headerLine:
				return c.columnScope(l, at)
			case referenceLine, otherLine:
				return nil
			}
		} else if l.kind == referenceLine && at.start >= a.bulletStart(l) && at.end <= l.end {
			return nil
		}
	}
	for _, in := range a.introductions {
		if in.holds(at) {
			return c.textsOf(in.from, in.to)
		}
	}
	k := sort.Search(len(c.sentences), func(k int) bool {
		return c.sentences[k].start >= max(at.end, at.start+1) || at.empty() && c.sentences[k].start >= at.start
	}) - 1
	if k < 0 {
		return nil
	}
	s := &c.sentences[k]
	if s.kind == leading && s.end <= at.start { // a mark in a line of its own behind a lead-in
		for _, in := range a.introductions {
			if in.extent == s.extent {
				return c.textsOf(in.from, in.to)
			}
		}
	}
	if s.kind == asking || s.kind == leading {
		return nil
	}
	s.cited = true
	if row := a.units[s.unit].row; row != nil {
		for _, cell := range row {
			if cell.holds(at) && a.hasWord(cell.extent) {
				return []extent{a.pruned(cell.extent)}
			}
		}
		return []extent{a.pruned(s.extent)}
	}
	if c.markScopes == ParagraphScope {
		if all := c.paragraphScope(k, at); all != nil {
			return all
		}
	}
	end := s.end
	if at.start > end {
		end = at.end
	}
	if e := c.chunk(extent{s.start, end}, at); !e.empty() {
		return []extent{e}
	}
	return nil
}

// chunk is the text between the group of marks before at and at itself, within a
// sentence. Where that is nothing, or only says whose words follow, it is the text
// up to the next group.
func (c *Cutter) chunk(s, at extent) extent {
	a := &c.answer
	stops := meetingOrAt(c.stops, s)
	i := sort.Search(len(stops), func(i int) bool { return stops[i].end >= at.end })
	if i == len(stops) {
		return a.pruned(s)
	}
	to := stops[i].start
	first := i // of the group
	for first > 0 && !a.hasWord(extent{stops[first-1].end, stops[first].start}) {
		first--
	}
	if first < i || stops[i].start > s.start {
		to = stops[first].start
	}
	from := s.start
	if first > 0 {
		from = stops[first-1].end
	}
	before := a.pruned(extent{from, max(from, to)})
	last := i
	for last+1 < len(stops) && !a.hasWord(extent{stops[last].end, stops[last+1].start}) {
		last++
	}
	rest := extent{stops[last].end, s.end}
	if last+1 < len(stops) {
		rest.end = stops[last+1].start
	}
	said := a.hasWord(before)
	attributed := said && c.attribution.begins(a.without(before)) && !strings.ContainsAny(a.without(before), ",，") &&
		strings.HasPrefix(strings.TrimLeft(a.s[rest.start:max(rest.start, rest.end)], " "), ",")
	if (!said && !at.empty() || attributed) && a.hasWord(rest) {
		return a.pruned(rest)
	}
	if !said {
		return extent{}
	}
	return before
}

// meetingOrAt are those of all, sorted by start, that begin or end in s.
func meetingOrAt(all []extent, s extent) []extent {
	from := sort.Search(len(all), func(i int) bool { return all[i].end >= s.start && all[i].start >= s.start })
	to := sort.Search(len(all), func(i int) bool { return all[i].start > s.end })
	return all[from:max(from, to)]
}

// textsOf are the sentences of the units [from, to) that claim something.
func (c *Cutter) textsOf(from, to int) []extent {
	var all []extent
	for k := range c.sentences {
		if s := &c.sentences[k]; from <= s.unit && s.unit < to && (s.kind == claiming || s.kind == phrased || s.kind == abstaining) {
			s.cited = true
			all = append(all, c.answer.pruned(s.extent))
		}
	}
	return all
}

// columnScope are the cells below the one of the header that holds at.
func (c *Cutter) columnScope(header *line, at extent) []extent {
	a := &c.answer
	var all []extent
	for _, h := range header.cells {
		if !h.holds(at) {
			continue
		}
		for _, u := range a.units {
			for _, cell := range u.row {
				if cell.header == h.extent && a.hasWord(cell.extent) {
					all = append(all, a.pruned(cell.extent))
				}
			}
		}
	}
	return all
}

// paragraphScope is the text between at and the group of marks before it in the
// paragraph or list of sentence k, nil if at is not at its end.
func (c *Cutter) paragraphScope(k int, at extent) []extent {
	a := &c.answer
	region := a.units[c.sentences[k].unit].block
	for b := region; b >= 0; b = a.blocks[b].parent {
		if a.blocks[b].kind == listBlock {
			region = b
		}
	}
	unit := c.sentences[k].unit
	in := func(k int) bool {
		u := c.sentences[k].unit
		return u == unit || region >= 0 && a.within(a.units[u].block, region)
	}
	last := k
	for last+1 < len(c.sentences) && in(last+1) {
		last++
	}
	if a.hasWord(extent{at.end, max(at.end, c.sentences[last].end)}) {
		return nil
	}
	var all []extent
	from := c.chunk(extent{c.sentences[k].start, max(c.sentences[k].end, at.end)}, at)
	for n := k; n >= 0 && in(n); n-- {
		s := c.sentences[n]
		e := s.extent
		if n == k {
			e = from
		} else if stops := meetingOrAt(c.stops, s.extent); len(stops) > 0 {
			e.start = stops[len(stops)-1].end
		}
		if s.kind != asking && s.kind != leading && a.hasWord(e) {
			all = append(all, a.pruned(e))
		}
		if e.start > s.start && (n < k || a.hasWord(extent{s.start, e.start})) {
			break // another group of marks backs what stands before
		}
	}
	slices.Reverse(all)
	return all
}
