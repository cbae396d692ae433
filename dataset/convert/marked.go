package convert

import (
	"ibid/dataset"
	"ibid/metrics/token"
)

// A markedSpan is a place that an annotator marked in a text, as given.
type markedSpan struct {
	quote    quote // its offsets, and what is said to stand there
	evidence evidence
}

// gatherMarks examines what was marked in one text, leaves with each mark what it
// says, and counts it.
func (p *proof) gatherMarks(text *token.Text, marks []*markedSpan) {
	var tested []quote
	var quoting []*markedSpan
	for _, m := range marks {
		switch {
		case degenerateAnyhow(m.quote.start, m.quote.end):
			m.evidence = evidence{degenerate: true}
			p.count(&m.quote, &m.evidence)
		case !isQuote(m.quote.text):
			p.withoutQuote++
		default:
			tested, quoting = append(tested, m.quote), append(quoting, m)
		}
	}
	for i, e := range p.gather(text, tested) {
		quoting[i].evidence = e
		p.count(&quoting[i].quote, &e)
	}
}

// verdict says what the reading of the file makes of a mark. One without a quote
// is taken at its word.
func (m *markedSpan) verdict(reading int) verdict {
	kind := m.evidence.kind(&m.quote)
	if !isQuote(m.quote.text) && !kind.degenerate {
		return proved
	}
	return kind.verdict(reading)
}

// place is where the mark is, under the reading of the file. Truth has no status
// and no quote, so a place where the quote was found replaces the given one.
func (m *markedSpan) place(text *token.Text, reading int) (start, end dataset.NullInt, unit string) {
	if m.verdict(reading) == repaired {
		return integer(m.evidence.lo), integer(m.evidence.hi), ""
	}
	return m.evidence.placed(text, &m.quote, reading)
}

// markReasons say what is wrong with truth that is not where its quote is: every
// system is measured against it.
var markReasons = map[verdict]string{
	repaired:   "truth moved to where its quote is",
	mismatched: "the document does not hold the quote of this truth exactly once; its offsets are kept",
	degenerate: "the offsets of this truth make no span",
}
