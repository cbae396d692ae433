package metrics

import "ibid"

// RowReasons are the reasons for which whole groups of metrics of a row have no value, Defined
// where they may have one. They, and which counts are 0, say why most metrics are undefined.
type RowReasons struct {
	Row   ibid.Reason // of all: RowError
	Span  ibid.Reason // of what compares citations with truth
	Judge ibid.Reason // of what needs verdicts
}

// emptyReasons are the reasons of metrics whose denominator is 0. The others of judged claims
// have no_claims.
var emptyReasons = func() map[string]ibid.Reason {
	all := map[string]ibid.Reason{
		"citation_presence": ibid.NotFetched, "abstention_correct": ibid.NoTruth, "overall_citation_accuracy": ibid.NothingToCite, "over_citation": ibid.NoCitations,
		"boundary_error_start": ibid.NoCitations, "boundary_error_end": ibid.NoCitations, "offset_accuracy": ibid.NoCitations, "citation_density": ibid.NoCitations,
		"exact_match": ibid.NothingToCite, "any_overlap": ibid.NothingToCite, "char_jaccard": ibid.NothingToCite, "token_jaccard": ibid.NothingToCite,
	}
	for _, o := range []overlap{charOverlap, tokenOverlap, pageOverlap, docOverlap, spanOverlap} {
		for m, why := range map[Metric]ibid.Reason{o.precision: ibid.NoCitations, o.recall: ibid.NoTruth, o.f1: ibid.NothingToCite} {
			all[m.String()] = why
		}
	}
	for i := range definitions {
		d := &definitions[i]
		_, has := all[d.Name]
		switch {
		case has:
		case d.OfSpans():
			all[d.Name] = ibid.NoTruth
		case d.Group == "citations" || d.Name == "citation_quality_score":
			all[d.Name] = ibid.NoCitations
		default:
			all[d.Name] = ibid.NoClaims
		}
	}
	return all
}()

// UsualReason is the reason for which the metric of a row has no value, unless the row names
// another. known says whether the counts that it follows from are known.
func (d *Definition) UsualReason(of RowReasons, known bool) ibid.Reason {
	switch {
	case of.Row != ibid.Defined:
		return of.Row
	case of.Span != ibid.Defined && d.ComparesTruth():
		return of.Span
	case of.Judge != ibid.Defined && d.Judged:
		return of.Judge
	case !known && (d.Group == "tokens" || d.Group == "pages" || d.Name == "offset_accuracy"):
		return ibid.NoDocuments
	}
	return emptyReasons[d.Name]
}

// Of are the reasons of whole groups in the row that s has the scores of.
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
