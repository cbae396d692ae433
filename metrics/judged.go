package metrics

import (
	"ibid/metrics/dialect"
	"ibid/metrics/span"
)

// A CitationVerdict is what a judge says of one citation, over all claims that
// it is linked to. The zero CitationVerdict is unscored.
type CitationVerdict struct {
	Support   Support // the best over its claims
	Relevant  Flag    // Yes if it is for any of its claims
	Necessary Flag    // Yes if it is for any of its claims, see [PairVerdict]
}

// A PairVerdict is what a judge says of one claim and one citation of it. The
// zero PairVerdict is unscored.
type PairVerdict struct {
	Support  Support // by this citation alone
	Without  Support // by the other citations of the claim taken together
	Relevant Flag

	// Necessary: the citation is in at least one minimal sufficient set, a set
	// of the claim's citations that supports the claim and of which no smaller
	// part does. See [Necessity].
	Necessary Flag
}

// judgedScratch is the memory of the judged metrics.
type judgedScratch struct {
	claims       []claimItem
	textless     bool        // claims are unscored, each for want of the texts it cites
	spans, cited []span.Span // of claims in the answer
	table        dialect.Table
	citations    []dialect.Citation // of all statements of table
}

// What is undefined together.
var (
	citationMetrics = []Metric{CitationCorrectness, CitationRelevance, MeanSupportScore}
	claimMetrics    = []Metric{
		CitationCompleteness, SupportedCompleteness, CitedClaimPrecision, FactualConsistency,
		MeanConsistency, ConsistencyVariance, HallucinationRate, ContradictionRate, CitationCoverage,
	}
)

func (s *Scores) allUndefined(metrics []Metric, why Reason) {
	for _, m := range metrics {
		s.undefined(m, why)
	}
}

// scoreJudged measures what needs claims, and verdicts on them. Without a judge
// in the run it leaves the metrics as they are, undefined.
func (s *Scorer) scoreJudged(r *Row, out *Scores) {
	if r.HasClaims {
		out.count(Claims, int64(len(r.Claims)))
		if r.HasCitations {
			out.count(UnlinkedCitations, r.Unlinked)
		}
	}
	if !s.opt.JudgeComponents {
		return
	}
	s.readClaims(r, out)
	switch {
	case !r.HasCitations:
		out.allUndefined(citationMetrics, NoCitations)
	default:
		s.scoreCitations(r, out)
	}
	switch {
	case !r.HasClaims:
		out.allUndefined(claimMetrics, NoClaims)
	case !r.HasCitations:
		out.allUndefined(claimMetrics, NoCitations)
	default:
		s.scoreClaims(r, out)
		s.scoreCoverage(r, out)
	}
	s.scoreDialects(r, out)
}

// unjudged reports whether no verdict of the row may be read.
func (r *Row) unjudged() bool { return r.JudgeFailed || !r.Judged }

// counts reports whether verdicts on citation i count: those of a citation that
// is not valid do only if people gave them.
func (s *Scorer) counts(r *Row, i int32) bool {
	return s.opt.Human || r.Citations[i].Status.Valid()
}

// verdict returns the verdict on citation i as it counts.
func (s *Scorer) verdict(r *Row, i int) CitationVerdict {
	switch {
	case !s.counts(r, int32(i)):
		return CitationVerdict{Support: Support{Known: true}, Relevant: No, Necessary: No}
	case r.unjudged() || i >= len(r.Verdicts):
		return CitationVerdict{}
	}
	return r.Verdicts[i]
}

// whyOpen is the reason of a metric of which no item is scored; textless says
// that each of these lacks the text that a judge would have read.
func whyOpen(r *Row, textless bool) Reason {
	switch {
	case !r.HasClaims || len(r.Claims) == 0:
		return NoClaims
	case r.JudgeFailed:
		return JudgeFailed
	case !r.Judged:
		return NoJudge
	case textless:
		return NoDocuments
	}
	return JudgeFailed
}

// scoreCitations measures the support by single citations.
func (s *Scorer) scoreCitations(r *Row, out *Scores) {
	var relevant share
	var support mean
	var correct, consistent int64
	textless := !s.opt.Human
	for i := range r.Citations {
		v := s.verdict(r, i)
		support.add(v.Support)
		switch {
		case !v.Support.Known:
			textless = textless && r.Citations[i].Status == span.Unchecked
		case s.counts(r, int32(i)):
			if v.Support.Value >= s.opt.Supported {
				correct++
			}
			if v.Support.Value >= s.opt.Consistent {
				consistent++
			}
		}
		if v.Relevant == Unset {
			relevant.addOpen(false, true)
		} else {
			relevant.add(v.Relevant == Yes)
		}
	}
	out.count(CorrectCitations, correct)
	out.count(ConsistentCitations, consistent)
	out.count(ScoredCitations, support.scored)
	out.count(RelevantCitations, relevant.yes)
	out.count(RelevanceCitations, relevant.scored)
	out.sum(SumSupport, support.sum)
	why := lack{NoCitations, whyOpen(r, textless && support.open > 0), r.unjudged()}
	right := share{yes: correct, scored: support.scored, most: support.open, open: support.open}
	out.share(CitationCorrectness, right, why)
	out.mean(MeanSupportScore, support, why)
	out.share(CitationRelevance, relevant, why)
}
