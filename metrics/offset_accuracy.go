package metrics

import (
	"strings"

	"ibid"
)

// OfSpans reports whether the metric compares the places that are cited with truth, to
// the character or the token: it depends on where quotes that do not stand at their
// offsets are counted.
func (d *Definition) OfSpans() bool {
	switch d.Group {
	case "characters", "tokens", "best matches", "matched spans":
		return true
	}
	return d.Name == "span_accuracy_score"
}

var offsetDefinitions = map[Metric]Definition{
	OffsetAccuracy: {
		Name: "offset_accuracy", Group: "citations", Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
		Summary:       "share of citations whose given offsets hold what they quote",
		Formula:       "citations with a quote whose given offsets hold it / citations with a quote and offsets; a place that does not exist holds nothing, and citations whose quote was not compared with a text are left out. Offsets hold a quote if the span contains it, but for white space, typography and punctuation at its ends",
		UndefinedWhen: "no citation has a quote and offsets (no_citations), or no text is known to compare one with (no_documents)",
		Source:        "this project",
		Num:           term(OffsetsHeld), Den: term(OffsetsChecked), Derived: true,
	},
}

// scoreOffsets counts the citations whose offsets hold their quotes.
func (s *Scorer) scoreOffsets(r *Row, out *Scores) {
	held, given, why := int64(0), int64(0), ibid.NoCitations
	for _, i := range s.counted {
		c := &r.Citations[i]
		if !c.Start.Known() || !c.End.Known() || strings.TrimSpace(c.CitedText) == "" {
			continue
		}
		switch c.Place.Status {
		case ibid.StatusOK, ibid.StatusUnchecked, ibid.StatusTooLong:
			if !c.Held { // the quote was not compared
				why = ibid.NoDocuments
				continue
			}
			held++
		}
		given++
	}
	out.ratio(OffsetAccuracy, held, given, why)
	if given > 0 || why == ibid.NoCitations {
		out.count(OffsetsHeld, held)
		out.count(OffsetsChecked, given)
	}
}
