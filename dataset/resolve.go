package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid"
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
//     but none of that name, and [Conventions.Complete] says that these are all
//  3. page_not_found: the document has pages, but not the one given; under
//     [FromDocument] a page that is only shown is checked, too
//  4. quote_repaired instead of span_out_of_bounds, if the quote tells the place
//  5. span_out_of_bounds: past the end of the text, of the page under [FromPage],
//     of the blocks, or of what [span.MaxEnd] allows
//  6. span_too_long; only spans given by offsets have a limit
//  7. quote_repaired, quote_ambiguous, quote_mismatch; of a place without start and
//     end quote_located, quote_ambiguous, quote_not_found
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
// The span, pages, blocks or document of a citation or of truth must hold its
// cited_text, as package quote says. If it does not, the text of the key is searched:
// found in one place, or in several of which one is clearly the nearest, the quote
// moves the citation (quote_repaired); else it stays (quote_ambiguous), and so it does
// where the quote is nowhere (quote_mismatch). A place without start and end is where
// its quote stands, if that is one place. See [QuotedSpans].
type Resolver struct {
	conv   Conventions
	view   *View // nil if the run has no documents
	row    *ibid.Answer
	inline inline
	query  query // the place being resolved; kept so that its parts are not copied about
	bad    error // of the row at hand, see Resolve
	err    error
}

// NewResolver returns a resolver for documents, which may be nil.
func NewResolver(documents *View, c Conventions) *Resolver {
	r := &Resolver{conv: c, view: documents}
	r.query.r = r
	return r
}

// fail records what is wrong with element i of a list, unless err is nil or
// something was wrong before it. Its column is a name within the list.
func (r *Resolver) fail(list string, i int, err *ibid.Error) {
	if err != nil && r.bad == nil {
		r.bad = &ibid.Error{Column: list + "." + err.Column, Err: fmt.Errorf("element %d: %w", i, err.Err)}
	}
}

// Resolve fills in where the citations and marks of row point, and the extents of
// citations and claims in the answer. The strings of the places are those of row.
// Offsets in the answer are converted but not checked: one that lies outside the
// answer still does so.
//
// The error is the first value of the row that cannot be understood: the row gets
// status "error". It names the column and the element. Every other place of the row
// is resolved all the same. See [Resolver.Err] for texts that cannot be read.
func (r *Resolver) Resolve(row *ibid.Answer) error {
	r.row, r.bad = row, nil
	if i, err := r.inline.reset(row.Documents); err != nil {
		r.fail("documents", i, err)
	}
	for i := range row.Citations {
		c := &row.Citations[i]
		c.Place = ibid.Place{}
		q := &r.query
		q.ofCitation(c)
		r.fail("citations", i, q.resolve())
		c.Given, c.Repaired, c.Held = q.given, q.repaired, q.held
	}
	for i := range row.Truth {
		t := &row.Truth[i]
		t.Place = ibid.Place{}
		q := &r.query
		q.ofMark(t)
		r.fail("truth", i, q.resolve())
		if t.Place.Status == ibid.StatusQuoteMismatch {
			t.Place.Excluded = true // no answer is measured against a quote that is nowhere
		}
	}
	r.resolveAnswer(row)
	return r.bad
}

// Err returns the first error of reading a document's text. Everything that was
// resolved since is of no use.
func (r *Resolver) Err() error { return r.err }

// resolveAnswer converts the offsets in the answer.
func (r *Resolver) resolveAnswer(row *ibid.Answer) {
	text, unit := r.answerUnit(row)
	for i := range row.Citations {
		c := &row.Citations[i]
		if c.Method != "" { // the place of a mark, which an import counts in code points
			c.Extent = r.answerInterval(nil, token.CodePoint, c.AnswerStart, c.AnswerEnd)
			continue
		}
		c.Extent = r.answerInterval(text, unit, c.AnswerStart, c.AnswerEnd)
	}
	for i := range row.Claims {
		c := &row.Claims[i]
		c.Extent = r.answerInterval(text, unit, c.Start, c.End)
	}
}

// answerUnit is what offsets into the answer of a row count, and the text to convert them
// by, nil if they count code points. It is the unit of source offsets, unless the texts of
// the row's claims stand at their offsets in another unit alone.
func (r *Resolver) answerUnit(row *ibid.Answer) (*token.Text, token.Unit) {
	if token.Points(row.Answer) == len(row.Answer) { // in ASCII all units are one
		return nil, token.CodePoint
	}
	stated := r.conv.OffsetUnit
	proves := func(c ibid.Claim) bool { return c.Text != "" && c.Start.Known() && c.End.Known() }
	if stated == token.CodePoint && !slices.ContainsFunc(row.Claims, proves) {
		return nil, token.CodePoint
	}
	text := token.NewText(row.Answer)
	for _, unit := range []token.Unit{stated, token.CodePoint, token.UTF16, token.Byte} {
		stand := 0
		for i := range row.Claims {
			c := &row.Claims[i]
			if !proves(*c) {
				continue
			}
			at := r.answerInterval(text, unit, c.Start, c.End)
			if at.Start.Value < 0 || at.End.Value > int64(text.Len()) || at.Start.Value > at.End.Value || text.Slice(int(at.Start.Value), int(at.End.Value)) != c.Text {
				stand = 0
				break
			}
			stand++
		}
		if stand > 0 {
			return text, unit
		}
	}
	return text, stated
}

// answerInterval converts one interval of the answer, whose text is needed unless it is in
// code points.
func (r *Resolver) answerInterval(text *token.Text, unit token.Unit, start, end ibid.Integer) ibid.Interval {
	if end.Known() && r.conv.SpanEnd == Inclusive && end.Value < math.MaxInt64 {
		end.Value++
	}
	if unit == token.CodePoint {
		return ibid.Interval{Start: start, End: end}
	}
	g := region{whole: text, end: text.Len()}
	convert := func(n ibid.Integer, up bool) ibid.Integer {
		if n.Known() && n.Value > 0 {
			n.Value = g.codePoint(unit, n.Value, up)
		}
		return n
	}
	return ibid.Interval{Start: convert(start, false), End: convert(end, true)}
}

// parseName returns the value of a convention that has a name.
func parseName[T ~uint8](what, name string, names []string) (T, error) {
	i := slices.Index(names, name)
	if i < 0 {
		return 0, fmt.Errorf("%s %q: not one of %s", what, name, strings.Join(names, ", "))
	}
	return T(i), nil
}

// A SpanEnd says whether the end of a span belongs to it.
type SpanEnd uint8

const (
	Exclusive SpanEnd = iota // [start, end)
	Inclusive                // [start, end]
)

var spanEndNames = [...]string{"exclusive", "inclusive"}

// ParseSpanEnd returns the convention of that name: "exclusive" or "inclusive".
func ParseSpanEnd(name string) (SpanEnd, error) {
	return parseName[SpanEnd]("span end", name, spanEndNames[:])
}

// String returns the name that [ParseSpanEnd] takes.
func (e SpanEnd) String() string { return spanEndNames[e] }

// An OffsetBase says where source offsets count from.
type OffsetBase uint8

const (
	FromDocument OffsetBase = iota // the start of the document
	FromPage                       // the start of the page that is given
)

var offsetBaseNames = [...]string{"document", "page"}

// ParseOffsetBase returns the convention of that name: "document" or "page".
func ParseOffsetBase(name string) (OffsetBase, error) {
	return parseName[OffsetBase]("offset base", name, offsetBaseNames[:])
}

// String returns the name that [ParseOffsetBase] takes.
func (b OffsetBase) String() string { return offsetBaseNames[b] }

// Conventions say what the numbers of a dataset mean, and which checks a
// citation has to pass. The zero value has code points, exclusive ends, offsets
// from the start of the document, no limit and no check.
type Conventions struct {
	OffsetUnit    token.Unit // of source offsets whose row gives no unit, and of offsets in the answer
	SpanEnd       SpanEnd    // of source and answer offsets; pages and blocks always end exclusively
	OffsetBase    OffsetBase
	MaxSpanLength int64 // code points of a span given by offsets; 0 means no limit
	Checks        Checks

	// Complete says whether a document that is not among those given was invented ("true"), or
	// merely is not at hand ("false"). "auto" and "": invented, unless its name begins with
	// http:// or https://.
	Complete string
}

// covers reports whether the documents given are all that may bear such a name.
func (c *Conventions) covers(name string) bool {
	web := strings.HasPrefix(name, "https://") || strings.HasPrefix(name, "http://")
	return c.Complete == "true" || c.Complete != "false" && !web
}

// Checks say which of a citation's statuses can be given. A check that is off
// lets the citation have the next status that holds, ok or unchecked in the end.
type Checks struct {
	Existence bool // document_not_found, page_not_found
	Bounds    bool // span_out_of_bounds for a span past the end of its text
	Text      bool // the statuses of quotes
}

// NeedDocuments reports whether source offsets cannot be understood without
// documents, so that a run that has none is a mistake.
func (c *Conventions) NeedDocuments() bool { return c.OffsetUnit != token.CodePoint }
