package convert

import (
	"strings"

	"ibid/dataset"
	"ibid/metrics/token"
)

// A quote is what a record says to stand at a pair of offsets: a text or, where
// none is quoted, a link in Markdown to a URL.
type quote struct {
	text       string
	start, end int64
	unit       fixedUnit
	link       string // the URL; "" for a text
}

// A fixedUnit is a unit that the record states for itself, plus one; 0 leaves
// the unit to the reading of the file.
type fixedUnit uint8

// read returns the reading of q under r.
func (q *quote) read(r Reading) Reading {
	if q.unit > 0 {
		r.Unit = token.Unit(q.unit - 1)
	}
	return r
}

// is reports whether text is exactly what q quotes.
func (q *quote) is(text string) bool {
	if q.link != "" {
		return isLink(text, q.link)
	}
	return text == q.text
}

// isLike reports the same but for white space, quotation marks and dashes.
func (q *quote) isLike(text string) bool {
	return q.link == "" && dataset.SameQuote(text, q.text)
}

// isQuote reports whether s quotes anything.
func isQuote(s string) bool { return strings.TrimSpace(s) != "" }

// A searched text is one whose quotes are being examined.
type searched struct {
	text   *token.Text
	finder *dataset.QuoteFinder
}

func newSearched(text *token.Text) *searched {
	return &searched{text, dataset.NewQuoteFinder(text.String())}
}

// once returns where the text holds what q quotes, if it does so exactly once.
func (s *searched) once(q *quote) (lo, hi int64, ok bool) {
	if q.link != "" {
		return findLink(s.text.String(), q.link)
	}
	return s.finder.Once(q.text)
}
