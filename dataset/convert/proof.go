package convert

import (
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"

	"ibid"
	quoting "ibid/metrics/quote"
	"ibid/metrics/token"
)

// A Reading is one way to understand a pair of foreign offsets into a text.
// The zero Reading is ours: code points, zero-based, end exclusive.
type Reading struct {
	Unit      token.Unit
	Inclusive bool // the end is the last unit of the span, not the one after it
	OneBased  bool // the first unit of the text has number 1
}

// readings are those that are tried, ours first, in the order of preference among
// those that give the same spans.
var readings = [...]Reading{
	{token.CodePoint, false, false},
	{token.UTF16, false, false},
	{token.Byte, false, false},
	{token.CodePoint, true, false},
	{token.UTF16, true, false},
	{token.Byte, true, false},
	{token.CodePoint, false, true},
	{token.UTF16, false, true},
	{token.Byte, false, true},
	{token.CodePoint, true, true},
	{token.UTF16, true, true},
	{token.Byte, true, true},
}

// A readingSet holds one bit for each of readings.
type readingSet uint16

const allReadings readingSet = 1<<len(readings) - 1

// String returns a name such as "codepoint_exclusive" or
// "byte_inclusive_1based".
func (r Reading) String() string {
	s := r.Unit.String()
	if r.Inclusive {
		s += "_inclusive"
	} else {
		s += "_exclusive"
	}
	if r.OneBased {
		s += "_1based"
	}
	return s
}

// units returns the half-open, zero-based span that r takes the offsets for,
// in r.Unit. It may be empty, inverted or negative.
func (r Reading) units(start, end int64) (int64, int64) {
	if r.OneBased {
		start, end = start-1, end-1
	}
	if r.Inclusive {
		end++
	}
	return start, end
}

// Span returns the half-open span of code points of text that r takes the
// offsets for. ok is false if they make no span of the text: if they are not
// 0 <= start < end <= length, or divide a code point.
func (r Reading) Span(text *token.Text, start, end int64) (lo, hi int, ok bool) {
	// No text is longer, and the arithmetic below cannot overflow.
	if start < 0 || end < 0 || start > math.MaxInt32+1 || end > math.MaxInt32+1 {
		return 0, 0, false
	}
	start, end = r.units(start, end)
	if start < 0 || start >= end || end > int64(text.Units(r.Unit)) {
		return 0, 0, false
	}
	lo, first := text.CodePoint(r.Unit, int(start))
	hi, last := text.CodePoint(r.Unit, int(end))
	return lo, hi, first && last
}

// A quote is what a record says to stand at a pair of offsets: a text or, where
// none is quoted, a link in Markdown to a URL.
type quote struct {
	text       string
	start, end int64
	link       string // the URL; "" for a text
	open       bool   // only start is given: the end is where a text of this length ends
}

// span is the half-open span of code points that q has under r (see [Reading.Span]).
func (q *quote) span(text *token.Text, r Reading) (lo, hi int, ok bool) {
	return r.Span(text, q.start, q.endUnder(r))
}

// endUnder is the end of q under r.
func (q *quote) endUnder(r Reading) int64 {
	if !q.open {
		return q.end
	}
	return q.start + int64(token.NewText(q.text).Units(r.Unit))
}

// is reports whether text is exactly what q quotes.
func (q *quote) is(text string) bool {
	if q.link != "" {
		return isLink(text, q.link)
	}
	return text == q.text
}

// isLike reports whether text holds what q quotes, as package quote says.
func (q *quote) isLike(text string) bool {
	return q.link == "" && quoting.Holds(text, q.text)
}

// quotes reports whether q says what stands at its offsets.
func (q *quote) quotes() bool { return q.link != "" || isQuote(q.text) }

// isQuote reports whether s quotes anything.
func isQuote(s string) bool { return !quoting.Blank(s) }

// A searched text is one whose quotes are being examined.
type searched struct {
	text   *token.Text
	quotes *quoting.Text
}

func newSearched(text *token.Text) *searched {
	return &searched{text, quoting.NewText(text.String())}
}

// once returns where the text holds what q quotes, if it does so exactly once.
func (s *searched) once(q *quote) (lo, hi int64, ok bool) {
	if q.link != "" {
		return findLink(s.text.String(), q.link)
	}
	return onlyPlace(s.quotes, q.text)
}

// onlyPlace returns where a text holds a quote, if it does so exactly once.
func onlyPlace(text *quoting.Text, quote string) (lo, hi int64, ok bool) {
	place, ok := text.Once(quote)
	if !ok {
		return 0, 0, false
	}
	return place.Start(), place.End(), true
}

// An evidence is what one quote says about the readings of its offsets.
type evidence struct {
	evidenceKind
	lo, hi int64 // where the quote was found, in code points
}

// An evidenceKind is what of an evidence the verdict depends on.
type evidenceKind struct {
	exact readingSet // readings that reproduce the quote
	alike readingSet // readings that reproduce it but for white space, quotation marks and dashes

	found      bool // the text holds it exactly once; sought only if exact lacks the documented reading
	degenerate bool // the offsets make no span
	coarse     coarseUnit
}

// noSpan is the evidence of offsets that make no span under any reading.
var noSpan = evidence{evidenceKind: evidenceKind{degenerate: true}}

// A proof gathers the evidence of one file and says how its offsets are to be
// read. Its size does not grow with the file.
//
// The zero proof takes our reading for the documented one.
type proof struct {
	documented int // index in readings: what the offsets are said to count, believed where nothing contradicts it

	tallies map[evidenceKind]int64
	differ  [len(readings)]readingSet // readings that gave another span for some quote that both reproduce

	withoutQuote int64
	unproved     int64
}

// A coarseUnit is a unit in which places are counted that are no characters.
type coarseUnit uint8

const (
	noCoarse coarseUnit = iota
	coarsePage
	coarseBlock
)

func (u coarseUnit) String() string { return [...]string{"", "page", "block"}[u] }

// countMark counts one mark. A link is looked for where the offsets point: that they
// point to something else disproves nothing.
func (p *proof) countMark(m *markedSpan) {
	q := &m.quote
	if !degenerateAnyhow(q.start, q.end) && (!q.quotes() || q.link != "" && m.evidence.exact == 0) {
		p.withoutQuote++
		return
	}
	p.count(&m.evidence)
}

// count adds the evidence of one quote to that of the file.
func (p *proof) count(e *evidence) {
	if p.tallies == nil {
		p.tallies = map[evidenceKind]int64{}
	}
	p.tallies[e.evidenceKind]++
}

// examine tries every reading of one quote.
func (p *proof) examine(s *searched, q *quote) evidence {
	if degenerateAnyhow(q.start, q.end) {
		return noSpan
	}
	var e evidence
	var spans [len(readings)][2]int
	var inside readingSet // readings that give a span of the text
	for i, r := range readings {
		lo, hi, ok := q.span(s.text, r)
		if !ok {
			continue
		}
		spans[i] = [2]int{lo, hi}
		inside |= 1 << i
		if q.is(s.text.Slice(lo, hi)) {
			e.exact |= 1 << i
		}
	}
	p.compare(e.exact, &spans)
	if e.exact != 0 { // other readings have no say; but the file may fall back on the documented one
		inside &= 1 << p.documented &^ e.exact
	}
	for i, span := range spans {
		if inside>>i&1 == 1 && q.isLike(s.text.Slice(span[0], span[1])) {
			e.alike |= 1 << i
		}
	}
	if e.exact>>p.documented&1 == 0 {
		e.lo, e.hi, e.found = s.once(q)
	}
	e.degenerate = q.start == q.end && e.exact == 0 && e.alike == 0
	return e
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

// A verdict is what is said of one quote once the reading of its file is known.
type verdict uint8

const (
	proved verdict = iota
	repaired
	mismatched
	degenerate
)

// reading returns the reading of the file: the one that reproduces every quote
// that any reading reproduces. Where several do and give the same spans it is
// the first of them; the documented one, where it is among them. Without one it
// is the documented one: the quotes that it does not reproduce are then searched
// for. voted reports whether any quote decided it.
func (p *proof) reading() (chosen int, voted bool) {
	common := allReadings
	for k := range p.tallies {
		if k.exact != 0 && k.coarse == noCoarse {
			common &= k.exact
			voted = true
		}
	}
	if !voted || common == 0 || common>>p.documented&1 == 1 {
		return p.documented, voted && common != 0
	}
	for set := common; set != 0; set &= set - 1 {
		if p.differ[bits.TrailingZeros16(uint16(set))]&common != 0 {
			return p.documented, false
		}
	}
	return bits.TrailingZeros16(uint16(common)), true
}

// verdict says what the reading of the file makes of one kind of evidence.
func (k *evidenceKind) verdict(reading int) verdict {
	switch {
	case k.degenerate:
		return degenerate
	case k.coarse != noCoarse && k.exact != 0:
		return proved
	case (k.exact|k.alike)>>reading&1 == 1:
		return proved
	case k.found:
		return repaired
	}
	return mismatched
}

// name is the reading of proved evidence as the report has it.
func (k *evidenceKind) name(reading int) string {
	if k.coarse != noCoarse {
		return k.coarse.String()
	}
	return readings[reading].String()
}

// settle adds the verdicts to the report and returns the reading.
func (p *proof) settle(report *Report) int {
	chosen, _ := p.reading()
	o := p.offsets()
	report.add(&o)
	for k, n := range p.tallies {
		if k.verdict(chosen) == proved {
			report.Readings[k.name(chosen)] += n
		}
		for i := range readings {
			if k.exact>>i&1 == 1 && k.coarse == noCoarse {
				report.Aligned[readings[i].String()] += n
			}
		}
	}
	return chosen
}

// offsets counts the verdicts under the reading of the file.
func (p *proof) offsets() Offsets {
	chosen, voted := p.reading()
	o := Offsets{
		Reading: readings[chosen].String(), Fitted: voted,
		Quotes: Quotes{WithoutQuote: p.withoutQuote, Unproved: p.unproved},
	}
	for k, n := range p.tallies {
		switch k.verdict(chosen) {
		case proved:
			o.Proved += n
		case repaired:
			o.Repaired += n
		case mismatched:
			o.Mismatched += n
		case degenerate:
			o.Degenerate += n
		}
	}
	return o
}

// placed returns q's offsets as ours under the reading of the file. unit is "",
// or the unit that the offsets had to be left in, because they make no span of
// the text, which may not be known, and so have no place in code points.
func (q *quote) placed(in *searched, chosen int) (start, end ibid.Integer, unit string) {
	r := readings[chosen]
	if in != nil {
		if lo, hi, ok := q.span(in.text, r); ok {
			return integer(int64(lo)), integer(int64(hi)), ""
		}
	}
	lo, hi := r.units(q.start, q.endUnder(r))
	if r.Unit != token.CodePoint {
		unit = r.Unit.String()
	}
	return integer(lo), integer(hi), unit
}

func integer(n int64) ibid.Integer { return ibid.Some(n) }

// A markedSpan is a place in a text as given, such as one that an annotator marked, and
// what its quote says.
type markedSpan struct {
	quote    quote // its offsets, and what is said to stand there
	evidence evidence
	counted  bool // already: it is examined again
}

// examineMarks examines what was marked in one text, leaves with each mark what it
// says, and counts it.
func (p *proof) examineMarks(in *searched, marks []*markedSpan) {
	for _, m := range marks {
		if q := &m.quote; q.quotes() || degenerateAnyhow(q.start, q.end) {
			m.evidence = p.examine(in, q)
		}
		if !m.counted {
			p.countMark(m)
		}
	}
}

// verdict says what the reading of the file makes of a mark. One without a quote, or
// with a link that is not there, is taken at its word.
func (m *markedSpan) verdict(reading int) verdict {
	kind := &m.evidence
	if !isQuote(m.quote.text) && (m.quote.link == "" || kind.exact == 0) && !kind.degenerate {
		return proved
	}
	return kind.verdict(reading)
}

// place is where the mark is, under the reading of the file. Truth has no status
// and no quote, so a place where the quote was found replaces the given one.
func (m *markedSpan) place(in *searched, reading int) (start, end ibid.Integer, unit string) {
	if m.verdict(reading) == repaired {
		return integer(m.evidence.lo), integer(m.evidence.hi), ""
	}
	return m.quote.placed(in, reading)
}

// markReasons say what is wrong with truth that is not where its quote is: every
// system is measured against it.
var markReasons = map[verdict]string{
	repaired:   "truth moved to where its quote is",
	mismatched: "the document does not hold the quote of this truth exactly once; its offsets are kept",
	degenerate: "the offsets of this truth make no span",
}

// quotedReasons say the same of truth that keeps its quote.
var quotedReasons = map[verdict]string{
	repaired:   "the quote of this truth is elsewhere, and counts there",
	mismatched: "the document does not hold the quote of this truth exactly once",
	degenerate: markReasons[degenerate],
}

// isLink reports whether text is a link in Markdown to url, [title](url), or one
// in parentheses: what a web search leaves in an answer where it cites.
func isLink(text, url string) bool {
	text, ok := strings.CutSuffix(text, "]("+url+")")
	if !ok {
		if text, ok = strings.CutSuffix(text, "]("+url+"))"); !ok {
			return false
		}
		if text, ok = strings.CutPrefix(text, "("); !ok {
			return false
		}
	}
	title, ok := strings.CutPrefix(text, "[")
	return ok && !strings.ContainsAny(title, "[]\n")
}

// findLink returns where text holds the only link to url, its parentheses
// included, as half-open code points.
func findLink(text, url string) (lo, hi int64, ok bool) {
	target := "](" + url + ")"
	at := strings.Index(text, target)
	if at < 0 || strings.Contains(text[at+1:], target) {
		return 0, 0, false
	}
	start, end := strings.LastIndexByte(text[:at], '['), at+len(target)
	if start < 0 || !isLink(text[start:end], url) {
		return 0, 0, false
	}
	if start > 0 && text[start-1] == '(' && strings.HasPrefix(text[end:], ")") {
		start, end = start-1, end+1
	}
	lo = int64(utf8.RuneCountInString(text[:start]))
	return lo, lo + int64(utf8.RuneCountInString(text[start:end])), true
}
