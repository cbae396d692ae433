package dataset

// Text returns the text of the key (doc, page): of the document, or of one page
// of it when offsets count from pages. ok is false if it is not known.
func (r *Resolver) Text(doc string, page int32) (text string, ok bool) {
	var s source
	r.find(doc, &s)
	reg, ok := r.region(&s, page)
	if !ok {
		return "", false
	}
	return reg.slice(0, reg.len()), true
}
