package harness

import (
	"fmt"
	"slices"
	"strings"

	"ibid"
	"ibid/metrics"
	"ibid/metrics/quote"
)

// comparedRows is in about how many rows of a dataset the neighbours of cited documents are
// looked at.
const comparedRows = 5000

// sampleOf says which rows of a dataset are looked at: by their numbers alone, so that ranges of
// rows make the same sample.
func sampleOf(rows int64) func(row int64) bool {
	every := uint64(max(1, rows/comparedRows))
	return func(row int64) bool { return uint64(row)*0x9E3779B97F4A7C15>>32%every == 0 }
}

const (
	heldShare = 0.4 // of the words of a claim, from which it came from a document
	heldLead  = 0.2 // by which a neighbour has to have more of them than the document that is cited
)

// compareMarks counts which documents the citations of a row seem to mean: those that they cite,
// or their neighbours in the row's list, where marks are off by one. What a citation backs says
// so by its words, and a quotation by where it stands. A citation that backs no stretch of the
// answer, or whose document the list has twice, says nothing.
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

// citesToo reports whether another citation of what citation i backs is of a document.
func (s *scorer) citesToo(in *ibid.Answer, scopes [][]ibid.Interval, i int, doc string) bool {
	for k := range in.Citations {
		if k != i && in.Citations[k].Place.Doc == doc && k < len(scopes) && slices.Equal(scopes[k], scopes[i]) {
			return true
		}
	}
	return false
}

// fewestShifted is how many citations have to say which document they mean.
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
