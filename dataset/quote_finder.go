package dataset

import "strings"

// SameQuote reports whether quote is the text of a span, as a [Resolver] has it:
// white space, quotation marks and dashes may differ in form, and white space at
// both ends does not count.
func SameQuote(text, quote string) bool { return sameQuote(text, quote) }

// HoldsQuote reports whether text holds quote anywhere, compared as [SameQuote]
// does. Every text holds a quote of nothing but white space.
func HoldsQuote(text, quote string) bool {
	return strings.Contains(normalize(text), normalize(quote))
}

// A QuoteFinder finds quotes in one text, compared as [SameQuote] does. It
// normalises the text once, on the first search.
type QuoteFinder struct {
	text, normal string
	ready        bool
}

// NewQuoteFinder returns a finder of quotes in text.
func NewQuoteFinder(text string) *QuoteFinder { return &QuoteFinder{text: text} }

// Once returns the half-open span of code points where the text holds quote. ok
// is false if it does so nowhere or more than once, and for a quote of nothing
// but white space.
func (f *QuoteFinder) Once(quote string) (start, end int64, ok bool) {
	quote = normalize(quote)
	if quote == "" {
		return 0, 0, false
	}
	if !f.ready {
		f.normal, f.ready = normalize(f.text), true
	}
	n, at := occurrences(f.normal, quote)
	if n != 1 {
		return 0, 0, false
	}
	start, end = original(f.text, at, at+len(quote))
	return start, end, true
}
