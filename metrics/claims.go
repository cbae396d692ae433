package metrics

import "ibid/metrics/span"

// A claimItem is one claim as it counts.
type claimItem struct {
	cited          bool // has a citation, valid or not
	decided        bool // it is known whether it is factual and needs a citation; else both are taken to be so
	factual, needs bool
	backed         bool    // something it cites counts
	joint          Support // 0 if nothing it cites counts
	outcome        Outcome
}

func (s *Scorer) supported(c *claimItem) bool {
	return c.backed && c.joint.Known && c.joint.Value >= s.opt.Supported
}

func (c *claimItem) hallucinated() bool { return c.outcome == Contradicted || c.outcome == Unsupported }

// readClaims fills s.judged.claims and the outcomes. Without citations nothing
// is known of the support by them.
func (s *Scorer) readClaims(r *Row, out *Scores) {
	items := s.judged.claims[:0]
	if r.HasClaims {
		for i := range r.Claims {
			c := s.readClaim(r, &r.Claims[i])
			items = append(items, c)
			out.Outcomes = append(out.Outcomes, c.outcome)
		}
	}
	s.judged.claims = items
}

func (s *Scorer) readClaim(r *Row, c *Claim) claimItem {
	it := claimItem{cited: len(c.Citations) > 0, decided: !r.unjudged(), factual: true, needs: true}
	if it.decided {
		it.factual = c.Factual != No
		it.needs = c.NeedsCitation == Yes || c.NeedsCitation == Unset && it.factual
	}
	for _, i := range c.Citations {
		it.backed = it.backed || s.counts(r, i)
	}
	switch {
	case !r.HasCitations:
	case !it.backed:
		it.joint.Known = true
	case it.decided:
		it.joint = c.Joint
	}
	it.outcome = s.outcome(&it, c)
	return it
}

// outcome is the first that holds. People are not asked for support elsewhere;
// of another judge it is unscored where it is not known.
func (s *Scorer) outcome(it *claimItem, c *Claim) Outcome {
	switch contradicted := c.Contradicted && it.backed; {
	case !it.decided:
		return Unscored
	case !it.factual:
		return NotFactual
	case !it.joint.Known:
		return Unscored
	case s.supported(it) && !contradicted:
		return SupportedByCited
	case contradicted:
		return Contradicted
	case c.Elsewhere.Known && c.Elsewhere.Value >= s.opt.Supported:
		return SupportedElsewhere
	case !c.Elsewhere.Known && !s.opt.Human:
		return Unscored
	}
	return Unsupported
}

// claimShares are the items of the metrics over claims.
type claimShares struct {
	cited, supported, precise               share // of the claims that need a citation; precise: of those that have one
	consistent, hallucinated, contradictory share // of the factual claims
	joint                                   mean  // of the claims that have a citation
	unscored                                int64
}

// scoreClaims measures the support of claims, and the lack of it.
func (s *Scorer) scoreClaims(r *Row, out *Scores) {
	var all claimShares
	textless := !s.opt.Human
	for i := range s.judged.claims {
		it := &s.judged.claims[i]
		s.addClaim(&all, it, &r.Claims[i])
		if it.outcome == Unscored {
			all.unscored++
			textless = textless && s.lacksText(r, &r.Claims[i])
		}
	}
	s.countClaims(&all, r.unjudged(), out)

	s.judged.textless = textless && all.unscored > 0
	open := whyOpen(r, s.judged.textless)
	why := func(items Reason) lack { return lack{items, open, r.unjudged()} }
	toCite, cited := NoClaims, NoCitations
	if len(r.Claims) > 0 && len(r.Citations) == 0 {
		toCite = NothingToCite
	}
	if len(r.Claims) == 0 {
		cited = NoClaims
	}
	precise := cited
	if all.cited.scored+all.cited.open == 0 {
		precise = toCite
	}
	out.share(CitationCompleteness, all.cited, why(toCite))
	out.share(SupportedCompleteness, all.supported, why(toCite))
	out.share(CitedClaimPrecision, all.precise, why(precise))
	out.share(FactualConsistency, all.consistent, why(NoClaims))
	out.share(HallucinationRate, all.hallucinated, why(NoClaims))
	out.share(ContradictionRate, all.contradictory, why(NoClaims))
	out.mean(MeanConsistency, all.joint, why(cited))
	s.scoreVariance(all.joint, why(cited), out)
}

// addClaim enters one claim. Where its joint support is open, it can turn out
// either way; where only that it is factual and needs a citation is open, it is
// taken to be so.
func (s *Scorer) addClaim(all *claimShares, it *claimItem, c *Claim) {
	scored := it.decided && it.joint.Known
	enter := func(h *share, known, yes, possibly bool) {
		if known {
			h.add(yes)
		} else {
			h.addOpen(false, possibly)
		}
	}
	if it.needs {
		if it.decided {
			all.cited.add(it.cited)
		} else {
			all.cited.addOpen(it.cited, it.cited)
		}
		enter(&all.supported, scored, s.supported(it), !it.joint.Known)
		if it.cited {
			enter(&all.precise, scored, s.supported(it), !it.joint.Known)
		}
	}
	if it.factual {
		contradicted := it.backed && c.Contradicted
		consistent := it.backed && !contradicted && it.joint.Value >= s.opt.Consistent
		enter(&all.consistent, scored, consistent, !it.joint.Known)
		enter(&all.contradictory, scored, it.outcome == Contradicted, !it.joint.Known)
		if it.outcome == Unscored {
			all.hallucinated.addOpen(it.joint.Known && s.opt.Human, true)
		} else {
			all.hallucinated.add(it.hallucinated())
		}
	}
	if it.cited {
		all.joint.add(it.joint)
	}
}

// lacksText reports whether the support of a claim could not be judged for want
// of the texts that it cites.
func (s *Scorer) lacksText(r *Row, c *Claim) bool {
	lacks := false
	for _, i := range c.Citations {
		switch status := r.Citations[i].Status; {
		case status == span.Unchecked:
			lacks = true
		case status.Valid():
			return false
		}
	}
	return lacks
}

// countClaims counts. What depends on which claims are factual and need a
// citation is not known of an unjudged row.
func (s *Scorer) countClaims(all *claimShares, unjudged bool, out *Scores) {
	items := s.judged.claims
	out.count(UnscoredClaims, all.unscored)
	out.count(ConsistencyClaims, all.joint.scored)
	out.count(UnscoredConsistencyClaims, all.joint.open)
	out.sum(SumConsistency, all.joint.sum)
	var undecided, undecidedCited int64
	for i := range items {
		if !items[i].decided {
			undecided++
			if items[i].cited {
				undecidedCited++
			}
		}
	}
	out.count(UndecidedClaims, undecided)
	out.count(UndecidedCitedClaims, undecidedCited)
	if unjudged && len(items) > 0 {
		return
	}
	out.count(FactualClaims, all.consistent.scored+all.consistent.open)
	out.count(ClaimsNeedingCitation, all.cited.scored)
	out.count(CitedClaims, all.cited.yes)
	out.count(SupportedClaims, all.supported.yes)
	out.count(ConsistentClaims, all.consistent.yes)
	out.count(ContradictedClaims, all.contradictory.yes)
	out.count(HallucinatedClaims, all.hallucinated.yes)
	out.count(UnscoredNeedingClaims, all.supported.open)
	out.count(UnscoredFactualClaims, all.consistent.open)
}

// scoreVariance measures how much joined support differs between claims.
func (s *Scorer) scoreVariance(joint mean, why lack, out *Scores) {
	switch {
	case joint.open > 0 && (joint.scored < 2 || why.failed):
		out.undefined(ConsistencyVariance, why.scored)
		return
	case joint.scored < 2:
		out.undefined(ConsistencyVariance, why.items)
		return
	}
	center := joint.sum / float64(joint.scored)
	var squares float64
	for i := range s.judged.claims {
		if it := &s.judged.claims[i]; it.cited && it.joint.Known {
			d := it.joint.Value - center
			squares += d * d
		}
	}
	out.quotient(ConsistencyVariance, squares, float64(joint.scored-1), Defined)
}

// scoreCoverage measures how much of the claims' text carries a citation.
func (s *Scorer) scoreCoverage(r *Row, out *Scores) {
	all, cited := s.judged.spans[:0], s.judged.cited[:0]
	for i := range r.Claims {
		c := &r.Claims[i]
		if !c.HasExtent {
			out.undefined(CitationCoverage, NoClaims)
			return
		}
		if span.Check(c.Start, c.End) != span.OK {
			continue
		}
		x := span.Span{Start: int32(c.Start), End: int32(c.End)}
		all = append(all, x)
		if len(c.Citations) > 0 {
			cited = append(cited, x)
		}
	}
	s.judged.spans, s.judged.cited = all, cited
	z := s.compare.Sizes(cited, all, 0)
	out.count(CitedAnswerChars, z.Truth)
	out.count(ClaimAnswerChars, z.Pred)
	out.ratio(CitationCoverage, z.Truth, z.Pred, NoClaims)
}
