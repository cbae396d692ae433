package convert

import (
	"strings"

	"ibid"
	quoting "ibid/metrics/quote"
	"ibid/metrics/token"
)

// An exchangeProof gathers what the quotes of one file say, on both sides. Its
// size does not grow with the file.
type exchangeProof struct {
	source proof // offsets into the sources

	// Offsets into the answer, taken from the start of their part and from the
	// start of the whole answer: the base that proves more is the file's.
	part, whole proof
	parts       bool // some answer has more than one part

	chosen       int  // reading of the source side
	chosenAnswer int  // reading of the answer side
	fromAnswer   bool // offsets count from the start of the answer
}

// newExchangeProof begins the proof of a file whose format documents readings.
func newExchangeProof(source, answer Reading) exchangeProof {
	return exchangeProof{
		source: proof{documented: indexOf(source)},
		part:   proof{documented: indexOf(answer)},
		whole:  proof{documented: indexOf(answer)},
	}
}

// indexOf is r's index in readings.
func indexOf(r Reading) int {
	for i := range readings {
		if readings[i] == r {
			return i
		}
	}
	panic("convert: not a reading: " + r.String())
}

// examine examines the offsets of one exchange, and leaves with each what it says.
func (p *exchangeProof) examine(x *exchange) {
	p.examineCitations(x)
	p.examineAnswers(x)
}

func (p *exchangeProof) examineCitations(x *exchange) {
	bySource := make([][]int, len(x.sources)) // citations whose quotes are tested
	for i := range x.citations {
		c := &x.citations[i]
		switch {
		case !c.Start.Known() || !c.End.Known():
			if isQuote(c.CitedText) {
				p.source.unproved++
			}
		case degenerateAnyhow(c.Start.Value, c.End.Value) || !c.test && c.Start.Value == c.End.Value:
			c.proof = noSpan
			p.source.count(&c.proof)
		case !isQuote(c.CitedText):
			p.source.withoutQuote++
		case c.source == noSource || x.sources[c.source].searched() == nil:
			p.source.unproved++
		case c.test:
			bySource[c.source] = append(bySource[c.source], i)
		case c.Unit == "page" && !x.sources[c.source].HasPages, c.Unit == "block" && !x.sources[c.source].HasBlocks:
			p.source.unproved++ // where its pages or blocks begin is not known
		default:
			c.proof = coarseEvidence(x.sources[c.source], &c.Citation)
			p.source.count(&c.proof)
		}
	}
	for s, citations := range bySource {
		if len(citations) > 0 {
			p.examineQuotes(x, x.sources[s], citations)
		}
	}
}

// examineQuotes examines the quotes from one source.
func (p *exchangeProof) examineQuotes(x *exchange, s *source, citations []int) {
	quotes := make([]quote, len(citations))
	for k, i := range citations {
		quotes[k] = x.citations[i].quote()
	}
	for k, e := range p.source.examineAll(s.searched(), quotes) {
		x.citations[citations[k]].proof = e
		p.source.count(&e)
	}
}

// quote is what the citation quotes from its source.
func (c *foundCitation) quote() quote {
	return quote{text: c.CitedText, start: c.Start.Value, end: c.End.Value}
}

// coarseEvidence says whether the pages or blocks that a citation names, which are
// known, hold what it quotes.
func coarseEvidence(s *source, c *ibid.Citation) evidence {
	e := evidence{evidenceKind: evidenceKind{coarse: coarseBlock}}
	all, first := s.Blocks, c.Start.Value
	if c.Unit == "page" {
		e.coarse, all, first = coarsePage, s.Pages, c.Start.Value-1
	}
	last := first + c.End.Value - c.Start.Value
	if 0 <= first && last <= int64(len(all)) {
		named := all[first:last]
		if quoting.Holds(strings.Join(named, ""), c.CitedText) || quoting.Holds(strings.Join(named, "\n"), c.CitedText) {
			e.exact = 1
			return e
		}
	}
	e.lo, e.hi, e.found = onlyPlace(s.searched().quotes, c.CitedText)
	return e
}

func (p *exchangeProof) examineAnswers(x *exchange) {
	p.parts = p.parts || len(x.parts) > 1
	byPart := make([][]int, len(x.parts))
	var inWhole []int
	for i := range x.marks {
		m := &x.marks[i]
		switch {
		case m.given == givenPart || m.given == givenSpan:
		case m.given == givenPoint && m.start >= 0:
			p.count(func(side *proof) { side.withoutQuote++ })
		case m.given == givenPoint || degenerateAnyhow(m.start, m.end):
			m.inPart, m.inWhole = noSpan, noSpan
			p.count(func(side *proof) { side.count(&m.inPart) })
		case !isQuote(m.text) && m.link == "":
			p.count(func(side *proof) { side.withoutQuote++ })
		default:
			if m.part != wholeAnswer {
				byPart[m.part] = append(byPart[m.part], i)
			}
			inWhole = append(inWhole, i)
		}
	}
	for part, marks := range byPart {
		if len(marks) > 0 {
			p.examineText(&p.part, x, x.partText(part), marks, func(m *answerMark) *evidence { return &m.inPart })
		}
	}
	if len(inWhole) == 0 {
		return
	}
	p.examineText(&p.whole, x, x.answer(), inWhole, func(m *answerMark) *evidence { return &m.inWhole })
	for _, i := range inWhole {
		if m := &x.marks[i]; m.part == wholeAnswer {
			m.inPart = m.inWhole
			p.countMark(&p.part, m, &m.inPart)
		}
	}
}

// count counts on both bases of the answer side.
func (p *exchangeProof) count(on func(*proof)) {
	on(&p.part)
	on(&p.whole)
}

// examineText examines the quotes from one text of the answer side.
func (p *exchangeProof) examineText(side *proof, x *exchange, text *token.Text, marks []int, into func(*answerMark) *evidence) {
	quotes := make([]quote, len(marks))
	for k, i := range marks {
		quotes[k] = x.marks[i].quote
	}
	for k, e := range side.examineAll(newSearched(text), quotes) {
		m := &x.marks[marks[k]]
		*into(m) = e
		p.countMark(side, m, &e)
	}
}

// countMark counts one mark. A link is looked for where the offsets point: that
// they point to something else disproves nothing.
func (p *exchangeProof) countMark(side *proof, m *answerMark, e *evidence) {
	if m.link != "" && e.exact == 0 {
		side.withoutQuote++
		return
	}
	side.count(e)
}

// settle decides on the readings of the file and reports what became of its
// offsets.
func (p *exchangeProof) settle(report *Report, file, format string) {
	entry := FileReport{File: file, Format: format}
	if o := p.source.offsets(); o.pairs() > 0 {
		p.chosen = p.source.settle(report)
		entry.Source = &o
	}
	answer, whole := p.part.offsets(), p.whole.offsets()
	side := &p.part
	if p.fromAnswer = whole.Proved > answer.Proved; p.fromAnswer {
		side, answer = &p.whole, whole
	}
	if answer.pairs() > 0 {
		p.chosenAnswer = side.settle(report)
		if p.parts {
			answer.Within = "part"
			if p.fromAnswer {
				answer.Within = "answer"
			}
		}
		entry.Answer = &answer
	}
	report.file(entry)
}
