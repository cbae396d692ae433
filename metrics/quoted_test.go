package metrics

import (
	"testing"

	"ibid"
)

// marked is a row with one citation and one mark of the same document.
func marked(citation, mark ibid.Place) *Row {
	var row Row
	row.HasCitations, row.HasTruth = true, true
	row.Citations = []ibid.Citation{{Place: citation}}
	row.Truth = []ibid.Mark{{Place: mark}}
	return &row
}

func withStatus(p ibid.Place, s ibid.Status) ibid.Place {
	p.Status = s
	return p
}

func TestTruthNotFound(t *testing.T) {
	excluded := withStatus(at("a", 0, 5), ibid.StatusQuoteRepaired)
	excluded.Excluded = true
	for name, tt := range map[string]struct {
		mark ibid.Place
		want ibid.Reason
	}{
		"as given":      {withStatus(at("a", 0, 5), ibid.StatusQuoteMismatch), ibid.Defined},
		"not found":     {ibid.Place{Doc: "a", Level: ibid.LevelDocument, Status: ibid.StatusQuoteNotFound}, ibid.TruthNotFound},
		"beyond":        {withStatus(at("a", 5, ibid.MaxEnd+1), ibid.StatusOutOfBounds), ibid.TruthNotFound},
		"left out":      {excluded, ibid.TruthNotFound},
		"moved":         {withStatus(at("a", 0, 5), ibid.StatusQuoteRepaired), ibid.Defined},
		"ambiguous":     {withStatus(at("a", 0, 5), ibid.StatusQuoteAmbiguous), ibid.Defined},
		"past the text": {withStatus(at("a", 0, 5), ibid.StatusOutOfBounds), ibid.Defined},
	} {
		s := score(t, DefaultOptions(), marked(at("a", 0, 5), tt.mark))
		for _, m := range []Metric{CharF1, CharPrecision, SpanF1, MeanSnappedJaccard, DocF1} {
			if s.Reasons[m] != tt.want {
				t.Errorf("%s: %v is undefined because of %q, want %q", name, m, s.Reasons[m], tt.want)
			}
		}
		wantCount(t, s, PredChars, 5)
	}
}

// TestPieces: a quote with gaps covers its pieces, and not the gaps.
func TestPieces(t *testing.T) {
	p := withStatus(at("a", 10, 40), ibid.StatusQuoteRepaired)
	p.Pieces = []ibid.Stretch{{Start: 10, End: 20}, {Start: 35, End: 40}}
	s := score(t, DefaultOptions(), marked(p, at("a", 10, 20)))
	wantCount(t, s, PredChars, 15)
	wantCount(t, s, PredSpans, 2)
	wantValue(t, s, CharPrecision, 10.0/15)
	wantValue(t, s, SpanPrecision, 0.5)
	if c := s.Citations[0]; c.Exact != 1 || c.BestTruth != 0 {
		t.Errorf("the citation is not its best piece: %+v", c)
	}
	s = score(t, DefaultOptions(), marked(at("a", 10, 20), p))
	wantCount(t, s, TruthChars, 15)
}

// TestBeyondTheLimit: spans that no text can have cost precision by their own length.
func TestBeyondTheLimit(t *testing.T) {
	const far = ibid.MaxEnd + 1000
	row := marked(withStatus(at("a", far, far+30), ibid.StatusOutOfBounds), at("a", 0, 10))
	row.Citations = append(row.Citations, row.Citations[0])
	row.Citations = append(row.Citations, ibid.Citation{Place: withStatus(at("a", far+5, far+15), ibid.StatusOutOfBounds)}, ibid.Citation{Place: at("a", 0, 10)})
	s := score(t, DefaultOptions(), row)
	wantCount(t, s, PredChars, 10+30+10)
	wantValue(t, s, CharPrecision, 10.0/50)
	wantValue(t, s, CharRecall, 1)
	wantValue(t, s, SpanPrecision, 1.0/3)
	wantCount(t, s, PredSpans, 4)
	wantValue(t, s, OverCitation, 0.75)
	wantValue(t, s, CharJaccard, 10.0/50)

	s = score(t, DefaultOptions(), marked(withStatus(at("a", ibid.MaxEnd-10, ibid.MaxEnd+20), ibid.StatusOutOfBounds), at("a", 0, 10)))
	wantCount(t, s, PredChars, 30) // cut at the limit, and as long as it was
	wantCount(t, s, PredSpans, 1)
	wantValue(t, s, CharPrecision, 0)

	// Two at the limit do not meet.
	s = score(t, DefaultOptions(), marked(withStatus(at("a", far, far+30), ibid.StatusOutOfBounds), at("a", ibid.MaxEnd-1, ibid.MaxEnd)))
	wantValue(t, s, CharF1, 0)
}

// TestQuoteNotFound: a quote that is nowhere is a predicted span without characters.
func TestQuoteNotFound(t *testing.T) {
	row := marked(at("a", 0, 10), at("a", 0, 10))
	nowhere := ibid.Place{Doc: "a", Level: ibid.LevelDocument, Status: ibid.StatusQuoteNotFound}
	for _, quote := range []string{"one", "one", "two"} {
		row.Citations = append(row.Citations, ibid.Citation{Doc: "a", CitedText: quote, Place: nowhere})
	}
	s := score(t, DefaultOptions(), row)
	wantCount(t, s, PredSpans, 4)
	wantCount(t, s, PredChars, 10)
	wantCount(t, s, ValidCitations, 1)
	wantValue(t, s, CharPrecision, 1)
	wantValue(t, s, SpanPrecision, 1.0/3) // the same quote twice is one span
}
