package metrics

import (
	"context"
	"errors"
	"testing"

	"ibid"
	"ibid/metrics/presence"
)

// Two claims that need a citation, one that has none; the second citation
// serves both, but supports only the first.
func dialectRow() *Row {
	bare := says(0)
	bare.NeedsCitation = ibid.No
	row := judgedRow([]float64{0.5, 1}, says(1, 0, 1), says(0, 1), bare)
	row.Verdicts[0].Relevant = ibid.No
	row.Pairs = [][]PairVerdict{
		{{Support: known(0.5), Without: known(1), Relevant: ibid.No, Necessary: ibid.No}, {Support: known(1), Without: known(0), Relevant: ibid.Yes, Necessary: ibid.Yes}},
		{{Support: known(0), Relevant: ibid.Yes, Necessary: ibid.No}},
		nil,
	}
	return row
}

func TestDialectColumns(t *testing.T) {
	o := judgedOptions()
	s := score(t, o, dialectRow())
	for m, want := range map[Metric]float64{
		ALCERecall: 1.0 / 3, LongCiteRecall: 2.0 / 3, LongCitePrecision: 2.0 / 3, LongCiteF1: 2.0 / 3,
		TRECWeightedPrecision: 0.5, TRECWeightedRecall: 0.5 / 3, DRBAccuracy: 1.0 / 3, DRBEffectiveCitations: 1,
	} {
		wantValue(t, s, m, want)
	}
	wantReason(t, s, ibid.NoJudge, ALCEPrecision, NecessityShared)
	o.Necessity = true
	s = score(t, o, dialectRow())
	wantValue(t, s, ALCEPrecision, 1.0/3)
	wantValue(t, s, NecessityShared, 0.5)
}

// Without verdicts on pairs, what holds of a citation holds for its claims.
func TestDialectsOfCitations(t *testing.T) {
	row := dialectRow()
	row.Pairs = nil
	s := score(t, judgedOptions(), row)
	wantValue(t, s, TRECWeightedPrecision, 2.5/3)
	wantValue(t, s, DRBAccuracy, 2.0/3)
}

// A document that does not exist is a citation that dangles; other citations
// that are not valid support nothing. The labels of people count all the same.
func TestDialectsOfInvalidCitations(t *testing.T) {
	row := judgedRow([]float64{1, 1}, says(1, 0, 1))
	o := judgedOptions()
	for status, want := range map[ibid.Status][2]float64{ // alce_recall, trec_weighted_precision
		ibid.StatusOK: {1, 1}, ibid.StatusDocumentNotFound: {0, 0.5}, ibid.StatusOutOfBounds: {1, 0.5},
	} {
		row.Citations[1].Place.Status = status
		o.Human = false
		s := score(t, o, row)
		wantValue(t, s, ALCERecall, want[0])
		wantValue(t, s, TRECWeightedPrecision, want[1])
		o.Human = true
		s = score(t, o, row)
		wantValue(t, s, ALCERecall, 1)
		wantValue(t, s, TRECWeightedPrecision, 1)
	}
}

func TestDialectsUndefined(t *testing.T) {
	uncited := judgedRow(nil, says(0))
	failed := judgedRow([]float64{1}, says(1, 0))
	failed.JudgeFailed = true
	tests := []struct {
		name string
		row  *Row
		want [4]ibid.Reason // alce_recall, longcite_precision, trec_weighted_precision, drb_effective_citations
	}{
		{"no claim", judgedRow(nil), [4]ibid.Reason{ibid.NoClaims, ibid.NoClaims, ibid.NoClaims, ibid.NoClaims}},
		{"no citation", uncited, [4]ibid.Reason{ibid.Defined, ibid.NoCitations, ibid.NoCitations, ibid.Defined}},
		{"judge failed", failed, [4]ibid.Reason{ibid.JudgeFailed, ibid.JudgeFailed, ibid.JudgeFailed, ibid.JudgeFailed}},
		{"unsure", judgedRow([]float64{-1}, says(-1, 0)), [4]ibid.Reason{ibid.JudgeFailed, ibid.Defined, ibid.JudgeFailed, ibid.JudgeFailed}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := score(t, judgedOptions(), tt.row)
			for i, m := range []Metric{ALCERecall, LongCitePrecision, TRECWeightedPrecision, DRBEffectiveCitations} {
				if s.Reasons[m] != tt.want[i] {
					t.Errorf("reason of %v = %q, want %q", m, s.Reasons[m], tt.want[i])
				}
			}
		})
	}
	s := score(t, judgedOptions(), uncited)
	wantValue(t, s, DRBEffectiveCitations, 0)
	s = score(t, judgedOptions(), failed)
	wantBounds(t, s, ALCERecall, 0, 1)
	wantBounds(t, s, LongCiteF1, 0, 1)
}

func TestNecessity(t *testing.T) {
	citations := []int32{2, 4, 7}
	tests := []struct {
		name    string
		sets    [][]int32
		needed  [3]ibid.Tri
		without [3]float64
	}{
		{"not supported", nil, [3]ibid.Tri{ibid.No, ibid.No, ibid.No}, [3]float64{0, 0, 0}},
		{"one alone", [][]int32{{4}}, [3]ibid.Tri{ibid.No, ibid.Yes, ibid.No}, [3]float64{1, 0, 1}},
		{"two together", [][]int32{{2, 4}}, [3]ibid.Tri{ibid.Yes, ibid.Yes, ibid.No}, [3]float64{0, 0, 1}},
		{"redundant to each other", [][]int32{{2}, {4}}, [3]ibid.Tri{ibid.Yes, ibid.Yes, ibid.No}, [3]float64{1, 1, 1}},
		{"one in all sets", [][]int32{{2, 4}, {2, 7}}, [3]ibid.Tri{ibid.Yes, ibid.Yes, ibid.Yes}, [3]float64{0, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pairs := make([]PairVerdict, 3)
			Necessity(pairs, citations, tt.sets)
			for i, p := range pairs {
				if p.Necessary != tt.needed[i] || p.Without != known(tt.without[i]) {
					t.Errorf("citation %d: %+v, want %v, %v", citations[i], p, tt.needed[i], tt.without[i])
				}
			}
		})
	}
}

// Of two citations that make each other redundant both are needed; ALCE holds
// neither to be irrelevant only because each supports alone.
func TestRedundantCitationsAreNotPunished(t *testing.T) {
	row := judgedRow([]float64{1, 1}, says(1, 0, 1))
	row.Pairs = [][]PairVerdict{{{Support: known(1), Relevant: ibid.Yes}, {Support: known(1), Relevant: ibid.Yes}}}
	Necessity(row.Pairs[0], row.Claims[0].Citations, [][]int32{{0}, {1}})
	o := judgedOptions()
	o.Necessity = true
	s := score(t, o, row)
	wantValue(t, s, NecessityShared, 1)
	wantValue(t, s, ALCEPrecision, 1)
}

func TestPresenceColumn(t *testing.T) {
	section, err := presence.New(presence.Options{Mode: presence.ResourceSection})
	if err != nil {
		t.Fatal(err)
	}
	const link = "See https://example.org/a."
	tests := []struct {
		name     string
		row      Row
		detector *presence.Detector
		want     float64
	}{
		{"empty", Row{}, nil, 0},
		{"no source", Row{Answer: ibid.Answer{Answer: "Wages rose [1]."}}, nil, 0},
		{"URL", Row{Answer: ibid.Answer{Answer: link}}, nil, 1},
		{"place", Row{Answer: ibid.Answer{Answer: "Wages rose [a.pdf:5:12-20]."}}, nil, 1},
		{"assistant messages come first", Row{Answer: ibid.Answer{Answer: link, Messages: []ibid.Message{{Role: "assistant", Content: "Wages rose."}}}}, nil, 0},
		{"messages of a user", Row{Answer: ibid.Answer{Answer: "Wages rose.", Messages: []ibid.Message{{Role: "user", Content: link}}}}, nil, 0},
		{"no section", Row{Answer: ibid.Answer{Answer: link}}, section, 0},
		{"a section", Row{Answer: ibid.Answer{Answer: "Wages rose.\n\nSources:\nhttps://example.org/a"}}, section, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := DefaultOptions()
			o.Presence = tt.detector
			wantValue(t, score(t, o, &tt.row), CitationPresence, tt.want)
		})
	}
}

type noNetwork struct{}

var errNoNetwork = errors.New("no network")

func (noNetwork) Live(context.Context, string) (bool, error) { return false, errNoNetwork }

func TestPresenceThatCannotBeDecided(t *testing.T) {
	strict, err := presence.New(presence.Options{Strict: true, URLs: noNetwork{}})
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Presence = strict
	s := score(t, o, &Row{Answer: ibid.Answer{Answer: "See https://example.org/a."}})
	wantReason(t, s, ibid.RowError, CitationPresence)
	if !errors.Is(s.PresenceErr, errNoNetwork) {
		t.Errorf("error = %v", s.PresenceErr)
	}
}
