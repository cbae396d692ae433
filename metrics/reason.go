package metrics

import "ibid"

// RowReasons are the reasons for which whole groups of metrics of a row have no value, Defined
// where they may have one. They, and which counts are 0, say why most metrics are undefined.
type RowReasons struct {
	Row   ibid.Reason // of all: RowError
	Span  ibid.Reason // of what compares citations with truth
	Judge ibid.Reason // of what needs verdicts
}

// A usualReason is how the reason of a metric without a value follows from the row.
type usualReason struct {
	span, judge, counts bool        // it is one of RowReasons.Span, of RowReasons.Judge, or no_documents where its counts are not known
	empty               ibid.Reason // where its denominator is 0
}

var usualReasons = func() (all [NumMetrics]usualReason) {
	for m := range definitions {
		d := &definitions[m]
		u := &all[m]
		u.span, u.judge = d.ComparesTruth(), d.Judged
		_, u.counts = Metric(m).Needs()
		switch {
		case d.OfSpans():
			u.empty = ibid.NoTruth
		case d.Group == "citations" || Metric(m) == CitationQualityScore:
			u.empty = ibid.NoCitations
		default:
			u.empty = ibid.NoClaims
		}
	}
	for _, o := range []overlap{charOverlap, tokenOverlap, pageOverlap, docOverlap, spanOverlap} {
		all[o.precision].empty, all[o.recall].empty, all[o.f1].empty = ibid.NoCitations, ibid.NoTruth, ibid.NothingToCite
	}
	for m, why := range map[Metric]ibid.Reason{
		CitationPresence: ibid.NotFetched, AbstentionCorrect: ibid.NoTruth, WrongAbstention: ibid.NoTruth, OverallCitationAccuracy: ibid.NothingToCite, OverCitation: ibid.NoCitations,
		BoundaryErrorStart: ibid.NoCitations, BoundaryErrorEnd: ibid.NoCitations, CitationDensity: ibid.NoClaims,
		ExactMatch: ibid.NothingToCite, AnyOverlap: ibid.NothingToCite, CharJaccard: ibid.NothingToCite, TokenJaccard: ibid.NothingToCite,
		QuoteFidelity: ibid.NoQuotations, MisattributedRate: ibid.NoQuotations, QuoteFabricationRate: ibid.NoQuotations,
	} {
		all[m].empty = why
	}
	return all
}()

// Needs is the count that is not known where the metric of a row has no value for want of a text.
// Most metrics have none.
func (m Metric) Needs() (c Count, ok bool) {
	switch group := definitions[m].Group; {
	case group == "tokens":
		return OverlapTokens, true
	case group == "pages":
		return OverlapPages, true
	case group == "quotations":
		return AllQuotations, true
	case m == OffsetAccuracy:
		return OffsetsChecked, true
	case m == FabricatedCitationRate:
		return CheckedCitations, true
	case m == CitationDensity:
		return CitedChars, true
	}
	return 0, false
}

// UsualReason is the reason for which the metric of a row has no value, unless the row names
// another. known says whether the counts that it follows from are known.
func (m Metric) UsualReason(of RowReasons, known bool) ibid.Reason {
	switch u := &usualReasons[m]; {
	case of.Row != ibid.Defined:
		return of.Row
	case u.span && of.Span != ibid.Defined:
		return of.Span
	case u.judge && of.Judge != ibid.Defined:
		return of.Judge
	case u.counts && !known:
		return ibid.NoDocuments
	default:
		return u.empty
	}
}

// RowReasons are the reasons of whole groups in the row that s has the scores of.
func (s *Scores) RowReasons() (of RowReasons) {
	if s.Reasons[CitationDensity] == ibid.RowError {
		of.Row = ibid.RowError
		return of
	}
	if why := s.Reasons[DocF1]; why != ibid.NothingToCite {
		of.Span = why
	}
	count := [256]int{}
	for m := range definitions {
		d := &definitions[m]
		switch why := s.Reasons[m]; {
		case !d.Judged || !d.ReadsTexts():
		case why == ibid.Defined:
			of.Judge = ibid.Defined
			return of
		default:
			if count[why]++; of.Judge == ibid.Defined || count[why] > count[of.Judge] {
				of.Judge = why
			}
		}
	}
	return of
}
