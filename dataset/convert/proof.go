package convert

import "ibid/metrics/token"

// An evidence is what one quote says about the readings of its offsets.
type evidence struct {
	exact readingSet // readings that reproduce it
	alike readingSet // readings that reproduce it but for white space, quotation marks and dashes; see proof.alike

	found      bool  // the text holds it exactly once; sought only if exact lacks the documented reading
	lo, hi     int64 // where, in code points
	degenerate bool  // the offsets make no span
	coarse     coarseUnit
	inPage     bool // the offsets count from the start of a page
	shifted    bool // all quotes of the document are off by the same number of units
	shift      Reading
}

// A proof gathers the evidence of one file and says how its offsets are to be
// read. Its size does not grow with the file.
//
// The zero proof takes our reading for the documented one.
type proof struct {
	documented int // index in readings: what the offsets are said to count, believed where nothing contradicts it

	tallies      map[evidenceKind]int64
	differ       [len(readings)]readingSet // readings that gave another span for some quote that both reproduce
	withoutQuote int64
	unproved     int64
}

// An evidenceKind is what of an evidence the verdict depends on.
type evidenceKind struct {
	exact, alike       readingSet
	unit               fixedUnit
	found, degenerate  bool
	coarse             coarseUnit
	inPage, hasShifted bool
	shift              Reading
}

// A coarseUnit is a unit in which places are counted that are no characters.
type coarseUnit uint8

const (
	noCoarse coarseUnit = iota
	coarsePage
	coarseBlock
)

func (u coarseUnit) String() string { return [...]string{"", "page", "block"}[u] }

// gather examines the quotes of one text and counts them. The result has one
// element for each.
func (p *proof) gather(text *token.Text, quotes []quote) []evidence {
	return p.gatherIn(newSearched(text), quotes)
}

func (p *proof) gatherIn(s *searched, quotes []quote) []evidence {
	all := make([]evidence, len(quotes))
	for i := range quotes {
		all[i] = p.examine(s, &quotes[i])
	}
	findShift(s.text, quotes, all)
	return all
}

// count adds the evidence of one quote to that of the file.
func (p *proof) count(q *quote, e *evidence) {
	if p.tallies == nil {
		p.tallies = map[evidenceKind]int64{}
	}
	p.tallies[e.kind(q)]++
}

// kind is what of e the verdict depends on.
func (e *evidence) kind(q *quote) evidenceKind {
	return evidenceKind{e.exact, e.alike, q.unit, e.found, e.degenerate, e.coarse, e.inPage, e.shifted, e.shift}
}

// examine tries every reading of one quote.
func (p *proof) examine(s *searched, q *quote) evidence {
	if degenerateAnyhow(q.start, q.end) {
		return evidence{degenerate: true}
	}
	var e evidence
	var spans [len(readings)][2]int
	for i, r := range readings {
		lo, hi, ok := q.read(r).Span(s.text, q.start, q.end)
		if ok && q.is(s.text.Slice(lo, hi)) {
			e.exact |= 1 << i
			spans[i] = [2]int{lo, hi}
		}
	}
	p.compare(e.exact, &spans)
	e.alike = p.alike(s, q, e.exact)
	if e.exact>>p.documented&1 == 0 {
		e.lo, e.hi, e.found = s.once(q)
	}
	e.degenerate = q.start == q.end && e.exact == 0 && e.alike == 0
	return e
}

// alike are the readings that reproduce a quote but for white space, quotation
// marks and dashes. A quote that some reading reproduces exactly has no say for
// others; but where the file falls back on the documented one, it may stand there.
func (p *proof) alike(s *searched, q *quote, exact readingSet) (set readingSet) {
	for i, r := range readings {
		if exact != 0 && (i != p.documented || exact>>i&1 == 1) {
			continue
		}
		if lo, hi, ok := q.read(r).Span(s.text, q.start, q.end); ok && q.isLike(s.text.Slice(lo, hi)) {
			set |= 1 << i
		}
	}
	return set
}

// degenerateAnyhow reports whether offsets make no span under any reading.
func degenerateAnyhow(start, end int64) bool { return start < 0 || end < 0 || start > end }

// compare remembers which readings disagree on where a quote is.
func (p *proof) compare(set readingSet, spans *[len(readings)][2]int) {
	for i := range readings {
		for j := range i {
			if (set>>i)&(set>>j)&1 == 1 && spans[i] != spans[j] {
				p.differ[i] |= 1 << j
				p.differ[j] |= 1 << i
			}
		}
	}
}

// findShift looks for a prefix that was taken off the text after the offsets
// were made: no reading reproduces any of its quotes, each is found exactly once,
// and two or more, at different places, lie before their offsets by the same
// number of units.
func findShift(text *token.Text, quotes []quote, all []evidence) {
	apart := false // two quotes at one place agree by themselves
	for i, e := range all {
		if e.exact != 0 || e.alike != 0 || !e.found || e.degenerate {
			return
		}
		apart = apart || quotes[i].start != quotes[0].start
	}
	if !apart {
		return
	}
	for _, r := range readings {
		if r.OneBased || !sameShift(text, quotes, all, r) {
			continue
		}
		for i := range all {
			all[i].shifted, all[i].shift = true, quotes[i].read(r)
		}
		return
	}
}

// sameShift reports whether, read as r, all quotes are off by the same number
// of units.
func sameShift(text *token.Text, quotes []quote, all []evidence, r Reading) bool {
	var shift int64
	for i := range quotes {
		r := quotes[i].read(r)
		start, end := r.units(quotes[i].start, quotes[i].end)
		lo, hi := int64(text.Offset(r.Unit, int(all[i].lo))), int64(text.Offset(r.Unit, int(all[i].hi)))
		if end-start != hi-lo || start <= lo || i > 0 && start-lo != shift {
			return false
		}
		shift = start - lo
	}
	return true
}
