package metrics

import "ibid"

// countPlaces counts what became of the places of citations.
func countPlaces(citations []ibid.Citation, out *Scores) {
	var valid, moved, missing, quoted, misplaced, placed, whole int64
	for i := range citations {
		c, p := &citations[i], &citations[i].Place
		if p.Status.Valid() {
			valid++
		}
		if c.Repaired.Known() {
			moved++
		}
		switch p.Status {
		case ibid.StatusDocumentNotFound:
			missing++
			continue
		case ibid.StatusUnchecked:
			continue
		case ibid.StatusQuoteMismatch, ibid.StatusQuoteRepaired, ibid.StatusQuoteAmbiguous, ibid.StatusQuoteNotFound:
			quoted++
			misplaced++
		case ibid.StatusQuoteLocated:
			quoted++
		default:
			if c.Held {
				quoted++
			}
		}
		if p.Level == ibid.LevelCharacters && p.Status.Usable() {
			placed++
			if p.Whole {
				whole++
			}
		}
	}
	out.count(Citations, int64(len(citations)))
	out.count(ValidCitations, valid)
	out.count(MovedCitations, moved)
	out.count(MissingCitations, missing)
	out.count(QuotedCitations, quoted)
	out.count(MisplacedQuotes, misplaced)
	out.count(PlacedCitations, placed)
	out.count(WholeCitations, whole)
}

// countMarks counts what became of the places of marks. A mark without a document says
// that somebody marked nothing.
func countMarks(marks []ibid.Mark, out *Scores) {
	var all, moved, lost, outside int64
	for i := range marks {
		if marks[i].DocNull {
			continue
		}
		all++
		switch p := &marks[i].Place; {
		case p.Status == ibid.StatusQuoteRepaired:
			moved++
		case misplaced(p):
			lost++
		}
		if marks[i].Place.Status == ibid.StatusOutOfBounds {
			outside++
		}
	}
	out.count(MovedTruth, moved)
	out.count(LostTruth, lost)
	out.count(TruthMarks, all)
	out.count(OutOfBoundsTruth, outside)
}
