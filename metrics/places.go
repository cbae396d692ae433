package metrics

import "ibid"

// Places counts what became of the places that some rows cite, and of those that people marked
// in them. It says whether the input is right, not the system.
type Places struct {
	Quoted    int64 `json:"quoted_citations"`    // citations whose quote was compared with a text
	Misplaced int64 `json:"misplaced_quotes"`    // of these, those whose quote is not where they say: moved, ambiguous or not found
	Placed    int64 `json:"placed_citations"`    // citations with a place in a text that is known
	Whole     int64 `json:"whole_citations"`     // of these, those that are as good as a whole long document
	Marks     int64 `json:"truth_marks"`         // truth spans of all annotators, duplicates counted
	Missing   int64 `json:"missing_truth"`       // of these, those of documents that are not there
	Outside   int64 `json:"out_of_bounds_truth"` // of these, those that end after their document or page
	Moved     int64 `json:"moved_truth"`         // of these, those whose quote is elsewhere than their offsets say
	Lost      int64 `json:"lost_truth"`          // of these, those that are nowhere: the quote is not found, or the offsets are beyond 2^31-1

	// Citations of a row's own documents whose text tells which of three documents it came from: the one that is
	// cited, or its neighbours in the row's list.
	AsCited  int64 `json:"citations_as_cited"`
	AsBefore int64 `json:"citations_of_document_before"`
	AsNext   int64 `json:"citations_of_next_document"`
}

// Add adds other places.
func (p *Places) Add(other *Places) {
	p.Quoted, p.Misplaced, p.Placed, p.Whole = p.Quoted+other.Quoted, p.Misplaced+other.Misplaced, p.Placed+other.Placed, p.Whole+other.Whole
	p.Marks, p.Missing, p.Outside = p.Marks+other.Marks, p.Missing+other.Missing, p.Outside+other.Outside
	p.Moved, p.Lost = p.Moved+other.Moved, p.Lost+other.Lost
	p.AsCited, p.AsBefore, p.AsNext = p.AsCited+other.AsCited, p.AsBefore+other.AsBefore, p.AsNext+other.AsNext
}

// AddRow adds those of a row whose places were resolved. A mark without a document says that
// somebody marked nothing.
func (p *Places) AddRow(r *ibid.Answer) {
	if r.HasCitations {
		for i := range r.Citations {
			p.addCitation(&r.Citations[i])
		}
	}
	if !r.HasTruth {
		return
	}
	for i := range r.Truth {
		if r.Truth[i].DocNull {
			continue
		}
		p.Marks++
		switch at := &r.Truth[i].Place; {
		case at.Status == ibid.StatusDocumentNotFound:
			p.Missing++
		case at.Status == ibid.StatusQuoteRepaired:
			p.Moved++
		case misplaced(at):
			p.Lost++
		}
		if r.Truth[i].Place.Status == ibid.StatusOutOfBounds {
			p.Outside++
		}
	}
}

func (p *Places) addCitation(c *ibid.Citation) {
	switch c.Place.Status {
	case ibid.StatusDocumentNotFound, ibid.StatusUnchecked:
		return
	case ibid.StatusQuoteMismatch, ibid.StatusQuoteRepaired, ibid.StatusQuoteAmbiguous, ibid.StatusQuoteNotFound:
		p.Quoted++
		p.Misplaced++
	case ibid.StatusQuoteLocated:
		p.Quoted++
	default:
		if c.Held {
			p.Quoted++
		}
	}
	if c.Place.Level == ibid.LevelCharacters && c.Place.Status.Usable() {
		p.Placed++
		if c.Place.Whole {
			p.Whole++
		}
	}
}

// countPlaces counts the citations that are valid, and those of documents that are not there.
func (s *Scorer) countPlaces(r *Row, out *Scores) {
	var valid int64
	for _, i := range s.counted {
		if r.Citations[i].Place.Status.Valid() {
			valid++
		}
	}
	out.count(Citations, int64(len(s.counted)))
	out.count(ValidCitations, valid)
}
