package dataset

// Text returns the text of the key (doc, page): of the document, or of one page
// of it when offsets count from pages. ok is false if it is not known.
func (r *Resolver) Text(doc string, page int32) (text string, ok bool) {
	reg, ok := r.regionOf(doc, page)
	if !ok {
		return "", false
	}
	return reg.slice(0, reg.len()), true
}

// Excerpt returns the code points [start, end) of the text of the key, as far as
// it goes. ok is false if the text is not known.
func (r *Resolver) Excerpt(doc string, page int32, start, end int64) (text string, ok bool) {
	reg, ok := r.regionOf(doc, page)
	if !ok {
		return "", false
	}
	return reg.slice(start, end), true
}

func (r *Resolver) regionOf(doc string, page int32) (*region, bool) {
	var s source
	r.find(doc, &s)
	return r.region(&s, page)
}
