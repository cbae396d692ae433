package dataset

import (
	"fmt"

	"ibid/metrics/token"
)

// A SpanEnd says whether the end of a span belongs to it.
type SpanEnd uint8

const (
	Exclusive SpanEnd = iota // [start, end)
	Inclusive                // [start, end]
)

var spanEndNames = [...]string{"exclusive", "inclusive"}

// ParseSpanEnd returns the convention of that name: "exclusive" or "inclusive".
func ParseSpanEnd(name string) (SpanEnd, error) {
	for e, n := range spanEndNames {
		if n == name {
			return SpanEnd(e), nil
		}
	}
	return 0, fmt.Errorf("span end %q: not one of exclusive, inclusive", name)
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
	for b, n := range offsetBaseNames {
		if n == name {
			return OffsetBase(b), nil
		}
	}
	return 0, fmt.Errorf("offset base %q: not one of document, page", name)
}

// String returns the name that [ParseOffsetBase] takes.
func (b OffsetBase) String() string { return offsetBaseNames[b] }

// Conventions say what the numbers of a dataset mean, and which checks a
// citation has to pass. The zero value has code points, exclusive ends, offsets
// from the start of the document, word tokens, no limit and no check.
type Conventions struct {
	OffsetUnit       token.Unit // of source offsets whose row gives no unit
	AnswerOffsetUnit token.Unit // of offsets in the answer
	SpanEnd          SpanEnd    // of source and answer offsets; pages and blocks always end exclusively
	OffsetBase       OffsetBase
	MaxSpanLength    int64      // code points of a span given by offsets; 0 means no limit
	Tokenizer        token.Kind // of [Resolver.Tokens]
	Checks           Checks
}

// Checks say which of a citation's statuses can be given. A check that is off
// lets the citation have the next status that holds, ok or unchecked in the end.
type Checks struct {
	Existence bool // document_not_found, page_not_found
	Bounds    bool // span_out_of_bounds for a span past the end of its text
	Text      bool // quote_mismatch, quote_repaired
}

// AllChecks are the checks that a run makes unless it is told otherwise.
var AllChecks = Checks{Existence: true, Bounds: true, Text: true}

// NeedDocuments reports whether source offsets cannot be understood without
// documents, so that a run that has none is a mistake.
func (c *Conventions) NeedDocuments() bool { return c.OffsetUnit != token.CodePoint }
