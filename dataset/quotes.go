package dataset

import (
	"sync"

	"ibid"
	"ibid/metrics/quote"
)

// wholeSearch is how many bytes of text a run's documents may have so that quotations are
// looked for in all of them.
const wholeSearch = 16 << 20

// A searched has the texts of small documents of a run, folded when one is first looked into.
type searched struct {
	names []string
	mu    sync.Mutex
	texts []*quote.Text
}

// Quotable returns the text of a document as quotations are looked for in it, nil if it is not
// known whole. exists is false if there is no such document.
func (r *Resolver) Quotable(doc string) (text *quote.Text, exists bool) {
	var s source
	if r.find(doc, &s); s.layout == nil {
		return nil, false
	}
	if s.inline == nil && r.view.docs.all != nil {
		all := r.view.docs.all
		all.mu.Lock()
		defer all.mu.Unlock()
		if all.texts[s.number] == nil {
			if reg, ok := r.region(&s, 0); ok {
				all.texts[s.number] = quote.NewText(reg.slice(0, reg.len())).Fold()
			}
		}
		return all.texts[s.number], true
	}
	reg, ok := r.region(&s, 0)
	if !ok || s.layout.pieces {
		return nil, true
	}
	if reg.quotes == nil {
		reg.quotes = quote.NewText(reg.slice(0, reg.len()))
	}
	if s.inline == nil && reg.quotes.Size() == 0 { // the view counts what it holds
		reg.quotes.Fold()
		r.grew(&s, reg.quotes.Size())
	}
	return reg.quotes, true
}

// Searchable are the names of the documents in which quotations of the row are looked for that
// it does not cite: those of its list, or those of the run if it has no list and they are small.
func (r *Resolver) Searchable() (names []string) {
	if !r.row.HasDocuments && r.view != nil && r.view.docs.all != nil {
		return r.view.docs.all.names
	}
	for i := range r.row.Documents {
		names = append(names, r.row.Documents[i].Doc)
	}
	return names
}

// KnowsText reports whether some text is known in which quotations of the row can stand.
func (r *Resolver) KnowsText() bool {
	hasText := func(doc string) bool {
		var s source
		r.find(doc, &s)
		return s.layout != nil && s.layout.hasText
	}
	for i := range r.row.Documents {
		if d := &r.row.Documents[i]; !d.NameOnly() || hasText(d.Doc) {
			return true
		}
	}
	if !r.row.HasDocuments && r.view != nil && r.view.docs.all != nil && len(r.view.docs.all.names) > 0 {
		return true
	}
	for i := range r.row.Citations {
		c := &r.row.Citations[i]
		if !c.DocNull && c.Place.Status != ibid.StatusDocumentNotFound && hasText(c.Doc) {
			return true
		}
	}
	return false
}
