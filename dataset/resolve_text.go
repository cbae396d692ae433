package dataset

import (
	"math"
	"slices"

	"ibid"
	"ibid/metrics/quote"
)

// A source is the document that a place names, of the row itself or of the run;
// layout is nil if there is none.
type source struct {
	layout *layout
	inline *opened // of the row
	number int32   // of the run's documents, if inline is nil
}

// find sets s, which must be the zero source, to the document of that name; the
// row's own win, but for one that is a name alone, or a part where the run has the whole.
func (r *Resolver) find(name string, s *source) {
	var own *opened
	if len(r.inline.docs) > 0 {
		own = r.inline.find(name)
	}
	if r.view != nil && (own == nil || !own.layout.hasText || own.layout.partial) {
		if n, ok := r.view.docs.numbers[name]; ok && (own == nil || !own.layout.hasText || r.view.docs.docs[n].whole()) {
			s.layout, s.number = &r.view.docs.docs[n].layout, n
			return
		}
	}
	if own != nil {
		s.layout, s.inline = own.layout, own
	}
}

// missing reports whether the documents are known and s is none of them.
func (s *source) missing(r *Resolver) bool {
	return s.layout == nil && (r.view != nil || r.row.HasDocuments)
}

// region returns the text of a key of s. ok is false if it is not at hand.
func (r *Resolver) region(s *source, page int32) (reg *region, ok bool) {
	if s.layout == nil {
		return nil, false
	}
	if s.inline != nil {
		return s.inline.key(page)
	}
	if _, ok := s.layout.key(page); !ok {
		return nil, false
	}
	o, err := r.view.open(s.number)
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		return nil, false
	}
	return o.key(page)
}

// grew tells the view that the regions of s take n more bytes.
func (r *Resolver) grew(s *source, n int64) {
	if n > 0 && s.layout != nil && s.inline == nil {
		r.view.grew(s.number, n)
	}
}

// inline are the documents of one row. They are laid out when first asked for:
// many rows carry more documents than their answers cite.
type inline struct {
	docs   []ibid.Document
	opened []*opened // by index in docs; nil until asked for
	byName map[string]int32
}

// maxKeptNames is the size up to which the map of names is kept for the next
// row: clearing a map costs what it once held, and one huge row must not slow
// down all that follow.
const maxKeptNames = 256

// reset takes the documents of the next row. Two of one name must be equal, or one be a part
// of the other, which counts; the error is that of document bad, the first that is not.
func (n *inline) reset(docs []ibid.Document) (bad int, err *ibid.Error) {
	if len(docs) == 0 && len(n.docs) == 0 {
		return 0, nil
	}
	n.docs = docs
	n.opened = slices.Grow(n.opened[:0], len(docs))[:len(docs)]
	clear(n.opened)
	if len(n.byName) > maxKeptNames {
		n.byName = nil
	}
	clear(n.byName)
	if len(docs) > 0 && n.byName == nil {
		n.byName = make(map[string]int32)
	}
	for i := range docs {
		first, taken := n.byName[docs[i].Doc]
		if !taken || docs[first].Partial && docs[i].HasText && !docs[i].Partial {
			n.byName[docs[i].Doc] = int32(i)
		} else if docs[i].Partial && docs[first].HasText && !docs[first].Partial {
			continue
		} else if err == nil && !sameDocument(&docs[first], &docs[i]) {
			bad, err = i, columnError("doc", "", "%q differs from element %d of the same name", docs[i].Doc, first)
		}
	}
	return bad, err
}

func sameDocument(a, b *ibid.Document) bool {
	return a.HasText == b.HasText && a.Text == b.Text &&
		a.HasPages == b.HasPages && slices.Equal(a.Pages, b.Pages) &&
		a.HasBlocks == b.HasBlocks && slices.Equal(a.Blocks, b.Blocks)
}

// find returns the document of that name, nil if there is none.
func (n *inline) find(name string) *opened {
	i, ok := n.byName[name]
	if !ok {
		return nil
	}
	if n.opened[i] == nil {
		lay, text, _ := layOut(&n.docs[i], math.MaxInt64)
		n.opened[i] = newOpened(&lay, text)
	}
	return n.opened[i]
}

// Text returns the text of the key (doc, page): of the document, or of one page
// of it when offsets count from pages. ok is false if it is not known.
func (r *Resolver) Text(doc string, page int32) (text string, ok bool) {
	return r.Excerpt(doc, page, 0, math.MaxInt64)
}

// Partial reports whether the text of a document is a part of it.
func (r *Resolver) Partial(doc string) bool {
	var s source
	r.find(doc, &s)
	return s.layout != nil && s.layout.partial
}

// Excerpt returns the code points [start, end) of the text of the key, as far as
// it goes. ok is false if the text is not known.
func (r *Resolver) Excerpt(doc string, page int32, start, end int64) (text string, ok bool) {
	var s source
	r.find(doc, &s)
	reg, ok := r.region(&s, page)
	if !ok {
		return "", false
	}
	return reg.slice(start, end), true
}

// checkCovered checks the quote against the code points that the place covers,
// or against the whole text where they are not known.
func (q *query) checkCovered() {
	if q.place.Level == ibid.LevelCharacters {
		q.checkContained(q.place.Page, q.place.Start, q.place.End)
	} else if q.hasText() {
		q.checkContained(0, 0, math.MaxInt64)
	}
}

// wantsQuote reports whether there is a quote to check and no status yet.
func (q *query) wantsQuote() bool {
	return q.r.conv.Checks.Text && q.place.Status == ibid.StatusUnchecked && !quote.Blank(q.quote)
}

// checkQuote checks the quote against the code points [start, end) of a key.
func (q *query) checkQuote(page int32, start, end int64) {
	if !q.wantsQuote() {
		return
	}
	reg, ok := q.r.region(&q.source, page)
	if !ok {
		return
	}
	if q.held = quote.Holds(reg.slice(start, end), q.quote); !q.held {
		q.repair(reg, page, start)
	}
}

// checkContained looks for the quote in the code points [start, end) of a key that a
// coarser place covers.
func (q *query) checkContained(page int32, start, end int64) {
	if !q.wantsQuote() {
		return
	}
	reg, ok := q.r.region(&q.source, page)
	if !ok {
		return
	}
	if start <= 0 && end >= reg.len() {
		if places, many := q.find(reg); many || len(places) > 0 {
			q.held = q.place.Level == ibid.LevelCharacters // else the whole was searched, not the place
			return
		}
	} else if quote.Holds(reg.slice(start, end), q.quote) {
		q.held = true
		return
	}
	if page == 0 && q.r.conv.OffsetBase == FromPage && q.source.layout.hasPages {
		q.place.Status = ibid.StatusQuoteMismatch // a place in the whole text is none of a key
		return
	}
	q.repair(reg, page, start)
}

// repair looks for the quote in a key, because the place, which begins at start, does
// not hold it, and moves the place there if it is clear where.
func (q *query) repair(reg *region, page int32, start int64) {
	places, many := q.find(reg)
	place, ok := quote.Nearest(places, start)
	switch {
	case ok:
		q.repaired = ibid.Between(place.Start(), place.End())
		if q.place.Level == ibid.LevelCharacters {
			q.given = ibid.Between(q.place.Start, q.place.End)
		}
		q.move(page, place, ibid.StatusQuoteRepaired)
	case many || len(places) > 0:
		q.place.Status = ibid.StatusQuoteAmbiguous
	default:
		q.place.Status = ibid.StatusQuoteMismatch
	}
}

// locate gives a place without start and end the one where its quote stands: in the
// document or, if there are several, on the page that is given.
func (q *query) locate() {
	if !q.wantsQuote() {
		return
	}
	pages := []int32{q.keyPage()}
	if !q.hasKey(pages[0]) { // offsets count from pages, and none is given
		pages = pages[:0]
		for i := range q.source.layout.pages {
			pages = append(pages, int32(i+1))
		}
	}
	var key int32
	var found, onPage []quote.Place
	anyMany := false
	for _, page := range pages {
		reg, ok := q.r.region(&q.source, page)
		if !ok {
			continue
		}
		places, many := q.find(reg)
		if anyMany = anyMany || many; len(places) > 0 {
			key = page
		}
		for _, p := range places {
			found = append(found, p)
			if first, last, ok := q.source.layout.touched(p.Start(), p.End()); ok && page == 0 &&
				q.page.Known() && int64(first) <= q.page.Value && q.page.Value <= int64(last) {
				onPage = append(onPage, p)
			}
		}
	}
	if len(onPage) == 1 {
		found = onPage
	}
	switch {
	case len(found) == 1 && !anyMany:
		q.move(key, found[0], ibid.StatusQuoteLocated)
	case len(found) > 0 || anyMany:
		q.place.Status = ibid.StatusQuoteAmbiguous
	default:
		q.place.Status = ibid.StatusQuoteNotFound
	}
}

// move makes the place the one where its quote was found.
func (q *query) move(page int32, to quote.Place, s ibid.Status) {
	q.place.Status = s
	q.place.FirstPage, q.place.LastPage = 0, 0
	q.setSpan(page, to.Start(), to.End())
	if len(to) > 1 {
		q.place.Pieces = make([]ibid.Stretch, len(to))
		for i, piece := range to {
			q.place.Pieces[i] = ibid.Stretch(piece)
		}
	}
}

// find returns where the quote stands in reg.
func (q *query) find(reg *region) (places []quote.Place, many bool) {
	places, many, bytes := reg.find(q.quote)
	q.r.grew(&q.source, bytes)
	return places, many
}
