package dataset

import "ibid/metrics/quote"

// wholeSearch is how many bytes of text a run's documents may have so that quotations are
// looked for in all of them.
const wholeSearch = 16 << 20

// Quotable returns the text of a document as quotations are looked for in it, nil if it is not
// known whole. exists is false if there is no such document.
func (r *Resolver) Quotable(doc string) (text *quote.Text, exists bool) {
	var s source
	if r.find(doc, &s); s.layout == nil {
		return nil, false
	}
	reg, ok := r.region(&s, 0)
	if !ok || s.layout.pieces {
		return nil, true
	}
	if reg.quotes == nil {
		reg.quotes = quote.NewText(reg.slice(0, reg.len()))
	}
	if s.inline == nil {
		r.searched = append(r.searched, searchedText{s.number, reg.quotes, reg.quotes.Size()})
	}
	return reg.quotes, true
}

// A searchedText is a text of the run, and the memory that it took before a search.
type searchedText struct {
	number int32
	text   *quote.Text
	before int64
}

// Searched tells the view what searches in the texts of [Resolver.Quotable] took.
func (r *Resolver) Searched() {
	for _, s := range r.searched {
		if grown := s.text.Size() - s.before; grown > 0 {
			r.view.grew(s.number, grown)
		}
	}
	r.searched = r.searched[:0]
}

// Searchable are the names of the documents in which quotations of the row are looked for that
// it does not cite: its own, or those of the run if it lists none and they are small.
func (r *Resolver) Searchable() []string {
	if len(r.row.Documents) > 0 || r.view == nil {
		names := make([]string, len(r.row.Documents))
		for i := range names {
			names[i] = r.row.Documents[i].Doc
		}
		return names
	}
	return r.view.docs.order
}
