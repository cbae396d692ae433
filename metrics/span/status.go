package span

// A Status says what is known of one citation's place. No citation vanishes:
// each one has exactly one status.
type Status uint8

// The statuses, in the order of their numbers.
const (
	OK               Status = iota // the place exists and, if there is a quote, holds it
	Unchecked                      // no documents in the run, or the document is known without its text
	DocumentNotFound               // no document of that name
	PageNotFound                   // the document has no such page
	OutOfBounds                    // the span ends after its document, its page or [MaxEnd]
	TooLong                        // the span is longer than max_span_length
	QuoteMismatch                  // cited_text is not the text there, nor found exactly once elsewhere
	QuoteRepaired                  // cited_text was found exactly once elsewhere in the document
	Empty                          // start = end
	Inverted                       // start > end
	Negative                       // start or end below 0
)

var statusNames = [...]string{
	"ok", "unchecked", "document_not_found", "page_not_found", "span_out_of_bounds", "span_too_long",
	"quote_mismatch", "quote_repaired", "span_empty", "span_inverted", "span_negative",
}

// String returns the name used in files and reports, such as "quote_mismatch".
func (s Status) String() string { return statusNames[s] }

// Statuses returns all statuses in order.
func Statuses() []Status {
	all := make([]Status, len(statusNames))
	for i := range all {
		all[i] = Status(i)
	}
	return all
}

// Usable reports whether a span with this status belongs to the span sets.
// Only an empty, inverted or negative span does not: an invented document or a
// span past the end of the text costs precision.
func (s Status) Usable() bool { return s < Empty }

// Valid reports whether a citation with this status counts as valid in
// citation-level metrics: ok, unchecked and quote_repaired.
func (s Status) Valid() bool { return s == OK || s == Unchecked || s == QuoteRepaired }

// Check returns Negative, Inverted or Empty for offsets that make no span,
// OutOfBounds for an end above [MaxEnd], and OK otherwise.
func Check(start, end int64) Status {
	switch {
	case start < 0 || end < 0:
		return Negative
	case start == end:
		return Empty
	case start > end:
		return Inverted
	case end > MaxEnd:
		return OutOfBounds
	}
	return OK
}
