package harness

import (
	"unicode/utf8"

	"ibid/dataset"
	"ibid/judge"
	"ibid/metrics/span"
)

// An evidenceKind says how much of a cited place the judge sees.
type evidenceKind uint8

const (
	spanEvidence     evidenceKind = iota // the cited span
	windowEvidence                       // the span and its surroundings
	documentEvidence                     // the whole text of its key
)

var evidenceKinds = map[string]evidenceKind{"span": spanEvidence, "window": windowEvidence, "document": documentEvidence}

// evidenceWindow is how many code points a window adds on either side.
const evidenceWindow = 300

// An excerpt is the text that a citation points to.
type excerpt struct {
	text       string
	known      bool // the judge can read something
	missing    bool // there is a place, but its text is not at hand
	placed     bool // start and end say where in the text of its key
	doc        string
	page       int32
	start, end int32 // code points
}

// excerptOf is the text of citation i: what is at its place, repaired if it had
// to be; where no text is at hand, what the answer says it quotes.
func (j *judging) excerptOf(in *dataset.Row, places *dataset.Resolved, i int) excerpt {
	p := &places.Citations[i]
	if !p.Status.Valid() {
		return excerpt{}
	}
	if e, ok := j.excerptAt(places, i, p); ok {
		return e
	}
	if quote := in.Citations[i].CitedText; quote != "" {
		return excerpt{text: quote, known: true}
	}
	return excerpt{missing: true}
}

// excerptAt is the text at a place; ok is false if it is not at hand.
func (j *judging) excerptAt(places *dataset.Resolved, i int, p *span.Place) (e excerpt, ok bool) {
	if p.Level == span.Nowhere {
		return excerpt{}, false
	}
	text, ok := j.resolver.Text(p.Doc, p.Page)
	if !ok {
		return excerpt{}, false
	}
	length := int64(utf8.RuneCountInString(text))
	start, end := p.Start, p.End
	if r := &places.Repaired[i]; p.Status == span.QuoteRepaired && r.Start.Valid && r.End.Valid {
		start, end = r.Start.Value, r.End.Value
	}
	whole := p.Level != span.Characters && p.Status != span.QuoteRepaired
	if whole || j.evidence == documentEvidence {
		start, end = 0, length
	} else if j.evidence == windowEvidence {
		start, end = start-evidenceWindow, end+evidenceWindow
	}
	start, end = min(max(start, 0), length), min(max(end, 0), length)
	if start >= end {
		return excerpt{}, false
	}
	piece, ok := j.resolver.Excerpt(p.Doc, p.Page, start, end)
	return excerpt{text: piece, known: ok, placed: true, doc: p.Doc, page: p.Page, start: int32(start), end: int32(end)}, ok
}

// elsewhere is the place of the best support that a claim does not cite, nil if
// there is none or nobody knows where it is.
func (j *judging) elsewhere(v *judge.ClaimVerdict) *judge.Place {
	if !v.Elsewhere.Known || v.Elsewhere.Score == 0 {
		return nil
	}
	if v.ElsewherePlace != nil || v.ElsewhereEvidence < 0 || v.ElsewhereAt.End <= v.ElsewhereAt.Start {
		return v.ElsewherePlace
	}
	i := j.request.Evidence[v.ElsewhereEvidence].Citation
	at := &j.checks[i].text
	if !at.placed {
		return nil
	}
	return &judge.Place{
		Doc: at.doc, Page: at.page, Start: at.start + v.ElsewhereAt.Start, End: at.start + v.ElsewhereAt.End,
	}
}
