package convert

import (
	"strings"

	"ibid/dataset"
	"ibid/metrics/token"
)

// A quote is what a record says to stand at a pair of offsets.
type quote struct {
	text       string
	start, end int64
	unit       fixedUnit
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
