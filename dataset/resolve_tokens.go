package dataset

import "ibid/metrics/token"

// longSpan is from how many code points on the whole text of a key is divided into
// tokens, which are kept: such spans come again, as whole pages and documents do.
const longSpan = 2048

// nearBy is how many bytes on either side of a span are read with it, so that its
// tokens are those of the whole text.
const nearBy = 128

// Tokens appends to x the tokens of the text of one key, for the row resolved last,
// that the code points [start, end) touch, and perhaps some around them; but none
// that begins before the last token of x ends. The key is the document if page is 0,
// else that page. ok is false if the text is not at hand.
//
// It takes as long as the span, not as the text, wherever the text has white space
// of ASCII before a letter or digit now and then.
func (r *Resolver) Tokens(x *token.Index, doc string, page, start, end int32) (ok bool) {
	var s source
	r.find(doc, &s)
	if s.layout == nil || page == 0 && r.conv.OffsetBase == FromPage && s.layout.hasPages {
		return false
	}
	of, ok := s.layout.key(page)
	if !ok {
		return false
	}
	start, end = max(start, 0), min(end, of.end-of.start)
	if start >= end {
		return true
	}
	if end-start < longSpan && s.inline == nil && r.tokensOfFile(x, &s, of, start, end) {
		return true
	}
	reg, ok := r.region(&s, page)
	if !ok {
		return false
	}
	if end-start < longSpan && reg.tokens == nil && reg.tokensAround(x, start, end) {
		return true
	}
	whole, bytes := reg.index()
	r.grew(&s, bytes)
	lo, hi := whole.Range(start, end)
	x.Append(whole, lo, hi)
	return true
}

// tokensOfFile is [Resolver.Tokens] without opening the document, which need not
// even be in memory: in an ASCII text, code points are bytes.
func (r *Resolver) tokensOfFile(x *token.Index, s *source, of stretch, start, end int32) bool {
	doc := &r.view.docs.docs[s.number]
	if doc.text.len != int(doc.extent()) {
		return false
	}
	from, to := max(of.start, of.start+start-nearBy), min(of.end, of.start+end+nearBy)
	text, err := r.view.docs.texts.get(doc.text, int(from), int(to))
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		return false
	}
	begin := from - of.start // of the excerpt in the key
	lo, hi, ok := token.Around(text, int(start-begin), int(end-begin))
	if !ok || lo == 0 && from > of.start || hi == len(text) && to < of.end {
		return false
	}
	token.AppendTo(x, text[lo:hi], begin+int32(lo))
	return true
}

// tokensAround appends the tokens of the region around a span; false if it has no
// seams there.
func (g *region) tokensAround(x *token.Index, start, end int32) bool {
	first := g.whole.Offset(token.Byte, g.start)
	text := g.whole.String()[first:g.whole.Offset(token.Byte, g.end)]
	from, to := g.whole.Offset(token.Byte, g.start+int(start))-first, g.whole.Offset(token.Byte, g.start+int(end))-first
	lo, hi, ok := token.Around(text, from, to)
	if ok {
		token.AppendTo(x, text[lo:hi], start-int32(token.Points(text[lo:from])))
	}
	return ok
}
