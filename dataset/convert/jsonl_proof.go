package convert

import (
	"ibid/dataset"
	"ibid/metrics/token"
)

// A rowProof tests the quotes of a row's citations against the row's own
// documents. It changes nothing in the row.
type rowProof struct {
	proof
	texts map[string]*token.Text // by document; nil for one without a text
}

// row counts the evidence of every citation and truth span of the row.
func (p *rowProof) row(r *dataset.Row) {
	p.texts = nil
	for i := range r.Truth {
		if !r.Truth[i].DocNull {
			p.withoutQuote++
		}
	}
	var pending map[string][]int // citations with a quote to test, by document
	for i := range r.Citations {
		c := &r.Citations[i]
		switch {
		case c.Start.Valid && c.End.Valid && degenerateAnyhow(c.Start.Value, c.End.Value):
			p.count(&quote{}, &evidence{degenerate: true})
		case !isQuote(c.CitedText):
			p.withoutQuote++
		case !c.Start.Valid || !c.End.Valid || unitOf(c.Unit) < 0 || p.text(r, c.Doc) == nil:
			p.unproved++
		default:
			if pending == nil {
				pending = map[string][]int{}
			}
			pending[c.Doc] = append(pending[c.Doc], i)
		}
	}
	for doc, citations := range pending {
		p.test(r, doc, citations)
	}
}

// test examines the quotes from one document.
func (p *rowProof) test(r *dataset.Row, doc string, citations []int) {
	tested := make([]quote, len(citations))
	for k, i := range citations {
		c := &r.Citations[i]
		tested[k] = quote{text: c.CitedText, start: c.Start.Value, end: c.End.Value, unit: fixedUnit(unitOf(c.Unit))}
	}
	for k, e := range p.gather(p.texts[doc], tested) {
		if e.exact == 0 && e.alike == 0 {
			if in, ok := p.inPage(r, &r.Citations[citations[k]], &tested[k]); ok {
				e = in
			}
		}
		p.count(&tested[k], &e)
	}
}

// inPage examines a quote in the page that its citation names.
func (p *rowProof) inPage(r *dataset.Row, c *dataset.Citation, q *quote) (evidence, bool) {
	d := documentOf(r, c.Doc)
	if !c.Page.Valid || c.Page.Value < 1 || c.Page.Value > int64(len(d.Pages)) {
		return evidence{}, false
	}
	e := p.examine(newSearched(token.NewText(d.Pages[c.Page.Value-1])), q)
	e.inPage = true
	return e, e.exact != 0 || e.alike != 0
}

// text returns the text of one of the row's documents, nil if it has none.
func (p *rowProof) text(r *dataset.Row, doc string) *token.Text {
	if t, ok := p.texts[doc]; ok {
		return t
	}
	var t *token.Text
	if d := documentOf(r, doc); d != nil {
		if text, ok := textOf(d); ok {
			t = token.NewText(text)
		}
	}
	if p.texts == nil {
		p.texts = map[string]*token.Text{}
	}
	p.texts[doc] = t
	return t
}

func documentOf(r *dataset.Row, doc string) *dataset.Document {
	for i := range r.Documents {
		if r.Documents[i].Doc == doc {
			return &r.Documents[i]
		}
	}
	return nil
}

// unitOf returns the fixedUnit of a citation's own unit, 0 for none, and -1 for
// a unit that is not one of characters.
func unitOf(name string) int {
	if name == "" {
		return 0
	}
	u, err := token.ParseUnit(name)
	if err != nil {
		return -1
	}
	return int(u) + 1
}
