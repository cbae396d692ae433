package dataset

import (
	"fmt"
	"math"
	"slices"

	"ibid/metrics/span"
	"ibid/metrics/token"
)

// A Resolver turns the places of a row, given in whatever unit, into
// [span.Place] values: half-open code points where they can be known, with the
// status of each. It belongs to one worker and is not safe for concurrent use.
//
// # Status
//
// A place gets the first status that holds, in this order:
//
//  1. span_negative, span_inverted, span_empty: the offsets make no span
//  2. document_not_found: there are documents (the run's, or a list in the row),
//     but none of that name
//  3. page_not_found: the document has pages, but not the one given; under
//     [FromDocument] a page that is only shown is checked, too
//  4. quote_repaired instead of span_out_of_bounds, if the quote tells the place
//  5. span_out_of_bounds: past the end of the text, of the page under [FromPage],
//     of the blocks, or of what [span.MaxEnd] allows
//  6. span_too_long; only spans given by offsets have a limit
//  7. quote_repaired, quote_mismatch
//  8. ok if the text of the place is at hand, else unchecked
//
// # Units
//
// A span whose byte or UTF-16 offsets fall inside a code point covers the whole
// code point. In a document whose text is not at hand such offsets cannot be
// converted, and the place is known to the level of the page or the document
// only. Unit page, block and document become the code points of those pages or
// blocks or of the document where the bounds are known; under [FromPage] only
// when they are part of one page, because a place lies in one key. A place
// without start and end is one of its page, or else of its document, and does
// not become code points.
//
// Under [FromPage] a place without a page has the key 0: it counts from the
// start of a document without pages, and exists in no other.
//
// # Quotes
//
// cited_text is compared with the text of a span given by offsets, as it is or
// else normalised (white space, quotation marks, dashes). It must be contained
// in the pages, blocks or document of a coarser place. If it is not, it is
// searched in the text of the key; found exactly once it repairs the citation.
// A place without start and end whose quote is found exactly once is repaired
// in the same way, and is ok if it is found more often.
type Resolver struct {
	conv   Conventions
	view   *View // nil if the run has no documents
	row    *Row
	inline inline
	query  query // the place being resolved; kept so that its parts are not copied about
	err    error
}

// NewResolver returns a resolver for documents, which may be nil.
func NewResolver(documents *View, c Conventions) *Resolver {
	r := &Resolver{conv: c, view: documents}
	r.query.r = r
	return r
}

// Resolved are the places of one row. Its slices are parallel to those of the
// row.
type Resolved struct {
	Citations []span.Place
	Repaired  []Interval // where a quote was found, in code points of the citation's key; null unless quote_repaired
	Answer    []Interval // the citations' answer_start and answer_end
	Truth     []span.Place
	Claims    []Interval // the claims' start and end

	// Err is the first value of the row that cannot be understood, if any: the
	// row gets status "error". It names the column and the element. Every other
	// place of the row is resolved all the same.
	Err error
}

// reset gives every list the length of the row's.
func (o *Resolved) reset(row *Row) {
	o.Citations = resize(o.Citations, len(row.Citations)) // set one by one
	o.Repaired = sized(o.Repaired, len(row.Citations))
	o.Answer = sized(o.Answer, len(row.Citations))
	o.Truth = resize(o.Truth, len(row.Truth))
	o.Claims = sized(o.Claims, len(row.Claims))
	o.Err = nil
}

// sized returns s with n zero elements.
func sized[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// fail records what is wrong with element i of a list, unless err is nil or
// something was wrong before it.
func (o *Resolved) fail(list string, i int, err *badValue) {
	if err != nil && o.Err == nil {
		o.Err = &Error{Row: -1, Column: list + "." + err.column, Err: fmt.Errorf("element %d: %s", i, err.what)}
	}
}

// A badValue is a value that cannot be understood; column is its name within
// the list.
type badValue struct{ column, what string }

// An Interval is a half-open interval of code points of which an end may be
// null.
type Interval struct{ Start, End NullInt }

// Resolve resolves the places of row into out, whose slices it reuses. The
// strings of the places are those of row. Offsets in the answer are converted
// but not checked: one that lies outside the answer still does so.
func (r *Resolver) Resolve(row *Row, out *Resolved) {
	out.reset(row)
	r.row = row
	textless := r.view == nil && !row.HasDocuments && len(row.Documents) == 0
	if i, err := r.inline.reset(row.Documents); err != nil {
		out.fail("documents", i, err)
	}
	for i := range row.Citations {
		c := &row.Citations[i]
		if textless && r.textless(&out.Citations[i], c.Doc, c.DocNull, c.Page, c.Start, c.End, c.Unit) {
			continue
		}
		out.Citations[i] = span.Place{}
		q := &r.query
		q.doc, q.docNull, q.page, q.start, q.end = c.Doc, c.DocNull, c.Page, c.Start, c.End
		q.unit, q.quote = c.Unit, c.CitedText
		q.place, q.repaired = &out.Citations[i], &out.Repaired[i]
		out.fail("citations", i, q.resolve())
	}
	for i := range row.Truth {
		t := &row.Truth[i]
		if textless && r.textless(&out.Truth[i], t.Doc, t.DocNull, t.Page, t.Start, t.End, t.Unit) {
			continue
		}
		out.Truth[i] = span.Place{}
		q := &r.query
		q.doc, q.docNull, q.page, q.start, q.end = t.Doc, t.DocNull, t.Page, t.Start, t.End
		q.unit, q.quote = t.Unit, ""
		q.place, q.repaired = &out.Truth[i], nil
		out.fail("truth", i, q.resolve())
	}
	r.resolveAnswer(row, out)
}

// Err returns the first error of reading a document's text. Everything that was
// resolved since is of no use.
func (r *Resolver) Err() error { return r.err }

// Tokens returns the tokens of the text of one key for the row resolved last:
// of the document if page is 0, else of that page. ok is false if the text is
// not at hand. The index may be used after later calls, too.
func (r *Resolver) Tokens(doc string, page int32) (x *token.Index, ok bool) {
	var s source
	r.find(doc, &s)
	reg, ok := r.region(&s, page)
	if !ok {
		return nil, false
	}
	x, bytes := reg.index(r.conv.Tokenizer)
	r.grew(&s, bytes)
	return x, true
}

// resolveAnswer converts the offsets in the answer.
func (r *Resolver) resolveAnswer(row *Row, out *Resolved) {
	var text *token.Text
	if r.conv.AnswerOffsetUnit != token.CodePoint {
		text = token.NewText(row.Answer)
	}
	for i := range row.Citations {
		c := &row.Citations[i]
		out.Answer[i] = r.answerInterval(text, c.AnswerStart, c.AnswerEnd)
	}
	for i := range row.Claims {
		c := &row.Claims[i]
		out.Claims[i] = r.answerInterval(text, c.Start, c.End)
	}
}

// answerInterval converts one interval of the answer; text is nil if it is in
// code points.
func (r *Resolver) answerInterval(text *token.Text, start, end NullInt) Interval {
	if end.Valid && r.conv.SpanEnd == Inclusive && end.Value < math.MaxInt64 {
		end.Value++
	}
	if text == nil {
		return Interval{start, end}
	}
	g := region{whole: text, end: text.Len()}
	convert := func(n NullInt, up bool) NullInt {
		if n.Valid && n.Value > 0 {
			n.Value = g.codePoint(r.conv.AnswerOffsetUnit, n.Value, up)
		}
		return n
	}
	return Interval{convert(start, false), convert(end, true)}
}
