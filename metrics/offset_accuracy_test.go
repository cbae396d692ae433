package metrics

import (
	"testing"

	"ibid"
)

func TestOffsetAccuracy(t *testing.T) {
	quoting := func(status ibid.Status, held bool) ibid.Citation {
		p := at("a", 0, 9)
		p.Status = status
		return ibid.Citation{Doc: "a", Start: ibid.Some(int64(0)), End: ibid.Some(int64(9)), CitedText: "the quote", Place: p, Held: held}
	}
	holds, moved := quoting(ibid.StatusOK, true), quoting(ibid.StatusQuoteRepaired, false)
	quoteless, blank, placeless, endless := holds, holds, holds, holds
	quoteless.CitedText, quoteless.Held = "", false
	blank.CitedText, blank.Held = " \n", false
	placeless.Start, placeless.End = ibid.Integer{}, ibid.Integer{}
	endless.End = ibid.Integer{}
	tests := []struct {
		name      string
		citations []ibid.Citation
		num, den  float64
		reason    ibid.Reason
	}{
		{"none", nil, 0, 0, ibid.NoCitations},
		{"no quote, no offsets", []ibid.Citation{quoteless, blank, placeless, endless}, 0, 0, ibid.NoCitations},
		{"no text", []ibid.Citation{quoteless, quoting(ibid.StatusUnchecked, false)}, 0, 0, ibid.NoDocuments},
		{"not compared", []ibid.Citation{quoting(ibid.StatusOK, false), quoting(ibid.StatusTooLong, false)}, 0, 0, ibid.NoDocuments},
		{"holds", []ibid.Citation{holds}, 1, 1, ibid.Defined},
		{"moved", []ibid.Citation{moved}, 0, 1, ibid.Defined},
		{"nowhere to be found", []ibid.Citation{holds, quoting(ibid.StatusQuoteMismatch, false)}, 1, 2, ibid.Defined},
		{"an invented document", []ibid.Citation{holds, quoting(ibid.StatusDocumentNotFound, false)}, 1, 2, ibid.Defined},
		{"an invented page", []ibid.Citation{holds, quoting(ibid.StatusPageNotFound, false)}, 1, 2, ibid.Defined},
		{"past the end", []ibid.Citation{quoting(ibid.StatusOutOfBounds, false)}, 0, 1, ibid.Defined},
		{"no span", []ibid.Citation{quoting(ibid.StatusInverted, false), quoting(ibid.StatusEmpty, false)}, 0, 2, ibid.Defined},
		{"the rest is left out", []ibid.Citation{holds, holds, moved, quoteless, quoting(ibid.StatusUnchecked, false), quoting(ibid.StatusTooLong, false)}, 2, 3, ibid.Defined},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := score(t, DefaultOptions(), &Row{Answer: ibid.Answer{HasCitations: true, Citations: tt.citations}})
			if tt.reason != ibid.Defined {
				wantReason(t, s, tt.reason, OffsetAccuracy)
				return
			}
			wantValue(t, s, OffsetAccuracy, tt.num/tt.den)
			wantCount(t, s, OffsetsHeld, int64(tt.num))
			wantCount(t, s, OffsetsChecked, int64(tt.den))
		})
	}
}
