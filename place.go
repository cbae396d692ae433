package ibid

import "math"

// MaxEnd is the largest end that a span can have.
const MaxEnd = math.MaxInt32

// An Interval is a half-open interval of code points of which an end may be
// null.
type Interval struct{ Start, End Integer }

// Between is the interval [start, end).
func Between(start, end int64) Interval { return Interval{Some(start), Some(end)} }

// Known reports whether both ends are known.
func (i Interval) Known() bool { return i.Start.Known() && i.End.Known() }

// A Level is the finest unit in which the bounds of a [Place] are known.
type Level uint8

// The levels.
const (
	LevelCharacters Level = iota // Start and End are code points
	LevelPages                   // only whole pages are known: FirstPage and LastPage
	LevelDocument                // only the document is known
	LevelNowhere                 // not even a document is named
)

// A Place is where a citation or a mark points after its units have been
// resolved: a document, the pages it touches and, at level [LevelCharacters],
// the half-open interval [Start, End) of code points within the key (Doc, Page).
type Place struct {
	Doc  string // compared byte for byte
	Page int32  // part of the key: 0 when offsets count from the start of the document, else the page they count from

	Level      Level
	Status     Status
	Start, End int64 // code points; as given even if Status says they make no span

	FirstPage, LastPage int32 // pages touched, 1-based and inclusive; 0, 0 when no page is known

	// Pieces are the parts of [Start, End) that count, in order: those of a quote with
	// gaps. nil if all of it counts.
	Pieces []Stretch `json:",omitempty"`

	// Excluded says that the place counts in no span set: its quote was found elsewhere
	// than given and the run leaves such places out, or it is a mark whose quote is nowhere.
	Excluded bool `json:",omitempty"`

	// Whole says that the place was given by a start and an end and has at least
	// [WholeShare] of a document of more than [WholeChars] code points: as good as all of it.
	Whole bool `json:",omitempty"`
}

// A place is as good as a whole document from this share of its code points on, if the
// document has more than so many.
const (
	WholeShare = 0.8
	WholeChars = 2000
)

// Parts is how many parts the code points of the place have: 1, or its pieces.
func (p *Place) Parts() int { return max(1, len(p.Pieces)) }

// Part is part i of the code points of the place.
func (p *Place) Part(i int) Stretch {
	if p.Pieces == nil {
		return Stretch{p.Start, p.End}
	}
	return p.Pieces[i]
}

// Length is how many code points the place has, gaps left out.
func (p *Place) Length() int64 {
	var n int64
	for i := range p.Parts() {
		n += p.Part(i).End - p.Part(i).Start
	}
	return n
}

// A Stretch is the half-open interval [Start, End) of code points.
type Stretch struct{ Start, End int64 }

// InSets reports whether the place belongs to the span sets T and P of its row:
// its code points are known and make a span.
func (p *Place) InSets() bool {
	return p.Level == LevelCharacters && p.Status.Usable() && !p.Excluded
}

// A Status says what is known of one citation's place. No citation vanishes:
// each one has exactly one status.
type Status uint8

// The statuses, in the order of their numbers.
const (
	StatusOK               Status = iota // the place exists and, if there is a quote, holds it
	StatusUnchecked                      // no documents in the run, or the document is known without its text
	StatusDocumentNotFound               // no document of that name
	StatusPageNotFound                   // the document has no such page
	StatusOutOfBounds                    // the span ends after its document, its page or [MaxEnd]
	StatusTooLong                        // the span is longer than max_span_length
	StatusQuoteMismatch                  // the place does not hold cited_text, nor does the document
	StatusQuoteRepaired                  // cited_text was found elsewhere in the document, in one place or clearly nearest in one
	StatusQuoteLocated                   // no offsets were given; cited_text was found in one place of the document
	StatusQuoteAmbiguous                 // cited_text was found only elsewhere, and in several places that may be meant
	StatusQuoteNotFound                  // no offsets were given, and the document does not hold cited_text
	StatusEmpty                          // start = end
	StatusInverted                       // start > end
	StatusNegative                       // start or end below 0
	StatusNoClaim                        // the place is valid, and the citation backs no text of its answer; see [Citation.Status]

	// NumStatuses is the number of statuses: every Status is below it.
	NumStatuses
)

var statusNames = [NumStatuses]string{
	"ok", "unchecked", "document_not_found", "page_not_found", "span_out_of_bounds", "span_too_long",
	"quote_mismatch", "quote_repaired", "quote_located", "quote_ambiguous", "quote_not_found", "span_empty", "span_inverted", "span_negative", "no_claim",
}

// String returns the name used in files and reports, such as "quote_mismatch".
func (s Status) String() string { return statusNames[s] }

// Statuses returns all statuses in order.
func Statuses() []Status {
	all := make([]Status, NumStatuses)
	for i := range all {
		all[i] = Status(i)
	}
	return all
}

// Usable reports whether a span with this status belongs to the span sets.
// Only an empty, inverted or negative span does not: an invented document or a
// span past the end of the text costs precision.
func (s Status) Usable() bool { return s < StatusEmpty || s == StatusNoClaim }

// Valid reports whether a citation with this status counts as valid in
// citation-level metrics: ok, unchecked, quote_repaired, quote_located,
// quote_ambiguous and no_claim.
func (s Status) Valid() bool {
	switch s {
	case StatusOK, StatusUnchecked, StatusQuoteRepaired, StatusQuoteLocated, StatusQuoteAmbiguous, StatusNoClaim:
		return true
	}
	return false
}

// CheckSpan returns StatusNegative, StatusInverted or StatusEmpty for offsets
// that make no span, StatusOutOfBounds for an end above [MaxEnd], and StatusOK
// otherwise.
func CheckSpan(start, end int64) Status {
	switch {
	case start < 0 || end < 0:
		return StatusNegative
	case start == end:
		return StatusEmpty
	case start > end:
		return StatusInverted
	case end > MaxEnd:
		return StatusOutOfBounds
	}
	return StatusOK
}
