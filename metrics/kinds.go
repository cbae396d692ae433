package metrics

import (
	"slices"
)

// CitationCounts are the counts of citations, whatever the answer and its claims are.
var CitationCounts = []Count{
	Citations, ValidCitations, MissingCitations, CheckedCitations, OffsetsChecked, OffsetsHeld,
	CorrectCitations, RelevantCitations, ScoredCitations, RelevanceCitations,
}

// CitationMetrics are the metrics that follow from single citations.
var CitationMetrics = []Metric{
	CitationCorrectness, CitationRelevance, MeanSupportScore, OffsetAccuracy, FabricatedCitationRate, CitationQualityScore,
}

// CitationOpen are the counts of citations without a verdict.
var CitationOpen = slices.Concat(allCitations.Open(), relevantCitations.Open())

// OfCitations reports whether the number is over citations: in a slice by source_type or
// source_status it counts those of that kind alone. Others, of claims, answers, spans, quotations
// and statements of papers, are of the whole row in each of its slices.
func (d *Definition) OfCitations() bool {
	c, count := CountByName(d.Name)
	return count && slices.Contains(CitationCounts, c) || slices.ContainsFunc(CitationMetrics, func(m Metric) bool { return m.String() == d.Name })
}

// ScoreKind scores some citations of r, given by ascending indices, as if the answer had no others.
// It fills the numbers over citations ([Definition.OfCitations]) of out. r must be the row that s
// scored last, and all its scores.
func (s *Scorer) ScoreKind(r *Row, all *Scores, citations []int32, out *Scores) {
	out.reset(&s.reasons)
	out.Citations = all.Citations
	s.counted = append(s.counted[:0], citations...)
	s.countPlaces(r, out)
	s.countMissing(r.Citations, out)
	s.scoreOffsets(r, out)
	s.matchRepeats(r)
	if s.opt.JudgeComponents {
		s.scoreCitations(r, out)
		if !s.opt.Compat {
			s.scoreQuality(r, out)
		}
	}
	s.withholdUndecided(out)
	s.withholdUnread(r, out)
	if s.opt.Compat {
		s.copyComponents(out)
		s.fillComponents(out)
	}
	out.Citations = nil
}
