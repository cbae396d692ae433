package harness

import (
	"fmt"
	"slices"
	"strings"

	"ibid"
	"ibid/metrics"
	"ibid/metrics/quote"
)

// comparedRows is about how many rows of a dataset compareMarks looks at.
const comparedRows = 5000

// sampleOf returns which rows of a dataset compareMarks looks at. That depends on the row number
// alone, so that ranges of rows look at the same rows as one run.
func sampleOf(rows int64) func(row int64) bool {
	every := uint64(max(1, rows/comparedRows))
	return func(row int64) bool { return uint64(row)*0x9E3779B97F4A7C15>>32%every == 0 }
}

const (
	heldShare = 0.4 // least share of the words of a claim that its source has
	heldLead  = 0.2 // by how much more of them a neighbour must have than the cited document
)

// compareMarks counts which documents the citations of a row seem to mean: the cited ones, or, where
// marks are off by one, their neighbours in the row's list of documents. It compares the words that a
// citation backs with the three texts, and takes a quotation that a neighbour has. It leaves out
// citations that back no stretch of the answer, and rows that list a document twice.
func (s *scorer) compareMarks(in *ibid.Answer, to *metrics.Places) {
	if len(in.Documents) < 2 || s.texts == nil || s.keptQuotations != nil || !s.comparesMarks(in.Pos) {
		return
	}
	scopes := s.row.Scopes
	if s.judging == nil {
		scopes = s.cutter.Cut(in).Scopes
	}
	number := make(map[string]int, len(in.Documents))
	for i := range in.Documents {
		if _, twice := number[in.Documents[i].Doc]; twice {
			return
		}
		number[in.Documents[i].Doc] = i
	}
	answer := []rune(in.Answer)
	for i := range in.Citations {
		n, listed := number[in.Citations[i].Place.Doc]
		if !listed || i >= len(scopes) || len(scopes[i]) == 0 {
			continue
		}
		var words strings.Builder
		for _, at := range scopes[i] {
			words.WriteString(string(answer[at.Start.Value:at.End.Value]) + "\n")
		}
		share := func(n int) float64 {
			if n < 0 || n >= len(in.Documents) || n != number[in.Citations[i].Place.Doc] && s.citesToo(in, scopes, i, in.Documents[n].Doc) {
				return 0
			}
			text, _ := s.resolver.Quotable(in.Documents[n].Doc)
			if text == nil {
				return 0
			}
			return text.Share(words.String())
		}
		own, before, next := share(n), share(n-1), share(n+1)
		switch {
		case before >= max(heldShare, own+heldLead) && before > next:
			to.AsBefore++
		case next >= max(heldShare, own+heldLead) && next > before:
			to.AsNext++
		case own >= heldShare:
			to.AsCited++
		}
	}
	for i := range s.quotations {
		q := &s.quotations[i]
		if q.Outcome != quote.Elsewhere || len(q.cites) != 1 {
			continue
		}
		cited, listed := number[q.cites[0]]
		switch found, ok := number[q.Places[0].Doc]; {
		case !listed || !ok:
		case found == cited-1:
			to.AsBefore++
		case found == cited+1:
			to.AsNext++
		}
	}
}

// citesToo reports whether another citation with the scope of citation i cites doc.
func (s *scorer) citesToo(in *ibid.Answer, scopes [][]ibid.Interval, i int, doc string) bool {
	for k := range in.Citations {
		if k != i && in.Citations[k].Place.Doc == doc && k < len(scopes) && slices.Equal(scopes[k], scopes[i]) {
			return true
		}
	}
	return false
}

// fewestShifted is the least number of citations, of which a document is known that they mean, for
// the sign marks_shifted.
const fewestShifted = 10

// marksShifted is the sign marks_shifted.
func marksShifted(s *systemSums) seen {
	p := &s.places
	all := p.AsCited + p.AsBefore + p.AsNext
	for _, to := range []struct {
		source string
		n      int64
	}{{"n+1", p.AsNext}, {"n-1", p.AsBefore}} {
		if all >= fewestShifted && isShare(to.n, all, 0.5) {
			return seen{fmt.Sprintf("[n] seems to mean source %s: %d of %d citations", to.source, to.n, all), to.n, all, nil}
		}
	}
	return seen{}
}
