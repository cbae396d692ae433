package convert

import (
	"strings"

	"ibid"
	quoting "ibid/metrics/quote"
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

// newExchangeProof begins the proof of a file in a format.
func newExchangeProof(p *program) exchangeProof {
	answer := proof{documented: p.answer}
	return exchangeProof{source: proof{documented: p.source}, part: answer, whole: answer}
}

// examine examines the offsets of one exchange, and leaves with each what it says.
func (p *exchangeProof) examine(x *exchange) {
	p.examineCitations(x)
	p.examineAnswers(x)
}

func (p *exchangeProof) examineCitations(x *exchange) {
	bySource := make([][]*markedSpan, len(x.sources)) // whose quotes are tested
	for i := range x.citations {
		c := &x.citations[i]
		c.span.quote = quote{text: c.CitedText, start: c.Start.Value, end: c.End.Value}
		switch {
		case !c.Start.Known() || !c.End.Known():
			if isQuote(c.CitedText) {
				p.source.unproved++
			} else if x.collected {
				p.source.withoutQuote++
			}
		case degenerateAnyhow(c.Start.Value, c.End.Value) || !c.test && c.Start.Value == c.End.Value:
			c.span.evidence = noSpan
			p.source.count(&noSpan)
		case !isQuote(c.CitedText):
			p.source.withoutQuote++
		case c.source == noSource || x.sources[c.source].searched() == nil:
			p.source.unproved++
		case c.test:
			bySource[c.source] = append(bySource[c.source], &c.span)
		case c.Unit == "page" && !x.sources[c.source].HasPages, c.Unit == "block" && !x.sources[c.source].HasBlocks:
			p.source.unproved++ // where its pages or blocks begin is not known
		default:
			c.span.evidence = coarseEvidence(x.sources[c.source], &c.Citation)
			p.source.count(&c.span.evidence)
		}
	}
	for i := range x.truth {
		if t := &x.truth[i]; t.source != noSource {
			t.span.counted = x.again
			bySource[t.source] = append(bySource[t.source], &t.span)
		}
	}
	for i, quoted := range bySource {
		s := x.sources[i]
		if s.standoff {
			s.counted = countedAs(quoted, s.Text, s.marked)
		}
		if len(quoted) > 0 {
			p.source.examineMarks(s.searched(), quoted)
		}
	}
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
	byPart := make([][]*markedSpan, len(x.parts))
	var inWhole []*markedSpan
	var ofNoPart []*answerMark
	for i := range x.marks {
		m := &x.marks[i]
		m.inPart.quote = m.quote
		if m.point {
			m.inPart.quote = quote{start: m.start, end: m.start}
		}
		m.inWhole.quote = m.inPart.quote
		inWhole = append(inWhole, &m.inWhole)
		if m.part == wholeAnswer {
			ofNoPart = append(ofNoPart, m)
		} else {
			byPart[m.part] = append(byPart[m.part], &m.inPart)
		}
	}
	for part, marks := range byPart {
		if len(marks) > 0 {
			p.part.examineMarks(newSearched(x.partText(part)), marks)
		}
	}
	if len(inWhole) == 0 {
		return
	}
	p.whole.examineMarks(newSearched(x.answer()), inWhole)
	for _, m := range ofNoPart {
		m.inPart = m.inWhole
		p.part.countMark(&m.inPart)
	}
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
